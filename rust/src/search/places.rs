//! A causal order, and the place of each variable in it.

/// A causal order, causes first, and its inverse.
#[derive(Debug, Clone)]
pub(super) struct Places {
    order: Vec<u32>,
    places: Vec<u32>,
}

impl Places {
    pub fn new(order: &[u32]) -> Self {
        let mut places = Self { order: order.to_vec(), places: vec![0; order.len()] };
        places.renumber(0, order.len());
        places
    }

    /// The variables, causes first.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The place of a variable.
    pub fn of(&self, variable: u32) -> usize {
        self.places[variable as usize] as usize
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
        self.renumber(from.min(to), from.max(to) + 1);
    }

    /// Become the same as other places of the same variables.
    pub fn copy_from(&mut self, other: &Self) {
        self.order.copy_from_slice(&other.order);
        self.places.copy_from_slice(&other.places);
    }

    fn renumber(&mut self, from: usize, to: usize) {
        for place in from..to {
            self.places[self.order[place] as usize] = place as u32;
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
            places.copy_from(&start);
            assert_eq!((places.order(), places.of(3)), (&[2, 0, 3, 1][..], 2));
        }
    }
}
