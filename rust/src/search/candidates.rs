//! Pairs of variables that an edge may join.

/// For each variable the others that may be its parents or children: symmetric lists, ascending.
#[derive(Debug)]
pub(super) struct Candidates {
    lists: Vec<Vec<u32>>,
    /// Pairs that were joined tentatively.
    tentative: Vec<(u32, u32)>,
}

impl Candidates {
    pub fn new(lists: Vec<Vec<u32>>) -> Self {
        Self { lists, tentative: Vec::new() }
    }

    pub fn of(&self, variable: u32) -> &[u32] {
        &self.lists[variable as usize]
    }

    pub fn contains(&self, one: u32, two: u32) -> bool {
        self.of(one).binary_search(&two).is_ok()
    }

    /// Make two variables candidates of each other.
    pub fn join(&mut self, one: u32, two: u32) {
        for (one, two) in [(one, two), (two, one)] {
            let list = &mut self.lists[one as usize];
            if let Err(slot) = list.binary_search(&two) {
                list.insert(slot, two);
            }
        }
    }

    /// Make two variables candidates that were none, until [`Self::keep`] or [`Self::undo`].
    pub fn join_tentatively(&mut self, one: u32, two: u32) {
        self.join(one, two);
        self.tentative.push((one, two));
    }

    /// Keep the pairs that were joined tentatively.
    pub fn keep(&mut self) {
        self.tentative.clear();
    }

    /// Separate the pairs that were joined tentatively.
    pub fn undo(&mut self) {
        for (one, two) in self.tentative.drain(..) {
            self.lists[one as usize].retain(|&i| i != two);
            self.lists[two as usize].retain(|&i| i != one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_joined_tentatively_can_be_separated_again() {
        let mut candidates = Candidates::new(vec![vec![2], vec![], vec![0]]);
        candidates.join(0, 1);
        candidates.join_tentatively(2, 1);
        assert_eq!([candidates.of(0), candidates.of(1), candidates.of(2)], [&[1, 2][..], &[0, 2], &[0, 1]]);
        candidates.undo();
        assert_eq!([candidates.of(0), candidates.of(1), candidates.of(2)], [&[1, 2][..], &[0], &[0]]);
        candidates.join_tentatively(2, 1);
        candidates.keep();
        candidates.undo();
        assert!(candidates.contains(1, 2) && candidates.contains(2, 1));
    }
}
