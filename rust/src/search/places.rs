//! A causal order, and the place of each variable in it.

use std::ops::Range;

/// A causal order, causes first, and its inverse.
#[derive(Debug, Clone)]
pub(super) struct Places {
    order: Vec<u32>,
    /// The place of each variable.
    inverse: Vec<u32>,
    /// Places whose variables have changed since [`Self::take_changed`].
    changed: Range<usize>,
}

impl Places {
    pub fn new(order: &[u32]) -> Self {
        let mut places = Self { order: order.to_vec(), inverse: vec![0; order.len()], changed: 0..0 };
        places.renumber(0, order.len());
        places
    }

    /// The variables, causes first.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The place of a variable.
    pub fn of(&self, variable: u32) -> usize {
        self.inverse[variable as usize] as usize
    }

    /// The variable in a place.
    pub fn at(&self, place: usize) -> u32 {
        self.order[place]
    }

    /// Move a variable to a place; those between shift by one.
    pub fn shift(&mut self, variable: u32, to: usize) {
        let from = self.of(variable);
        if to > from {
            self.order[from..=to].rotate_left(1);
        } else {
            self.order[to..=from].rotate_right(1);
        }
        let (first, end) = (from.min(to), from.max(to) + 1);
        self.renumber(first, end);
        let changed = &mut self.changed;
        *changed = if changed.end == 0 { first..end } else { changed.start.min(first)..changed.end.max(end) };
    }

    /// The places whose variables have changed since this was last asked, and perhaps some between them.
    pub fn take_changed(&mut self) -> Range<usize> {
        std::mem::replace(&mut self.changed, 0..0)
    }

    /// Take over the variables in some places from another order, which has the same variables there.
    pub fn copy_from(&mut self, other: &Self, range: Range<usize>) {
        self.order[range.clone()].copy_from_slice(&other.order[range.clone()]);
        self.renumber(range.start, range.end);
    }

    fn renumber(&mut self, from: usize, to: usize) {
        for place in from..to {
            self.inverse[self.order[place] as usize] = place as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_moves_and_those_between_shift() {
        for (variable, to, expected) in [(2, 3, [0, 3, 1, 2]), (1, 0, [1, 2, 0, 3]), (0, 1, [2, 0, 3, 1])] {
            let start = Places::new(&[2, 0, 3, 1]);
            let mut places = start.clone();
            places.shift(variable, to);
            assert_eq!(places.order(), expected);
            assert!((0..4).all(|place| places.of(places.at(place)) == place));
            let range = places.take_changed();
            places.copy_from(&start, range);
            assert_eq!((places.order(), places.of(3)), (&[2, 0, 3, 1][..], 2));
        }
    }
}
