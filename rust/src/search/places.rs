//! A causal order, stored as one number for each variable.

/// The place of each variable in a causal order: variables with smaller numbers come first.
///
/// A variable moves between two others by taking the mean of their places, so that a move changes one number only.
#[derive(Debug, Clone)]
pub(super) struct Places(Vec<f64>);

impl Places {
    /// Number the variables of an order.
    pub fn new(order: &[u32]) -> Self {
        let mut places = Self(vec![0.0; order.len()]);
        places.renumber(order);
        places
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn of(&self, variable: u32) -> f64 {
        self.0[variable as usize]
    }

    pub fn set(&mut self, variable: u32, place: f64) {
        self.0[variable as usize] = place;
    }

    /// Give the variables of an order the places 0, 1, ….
    pub fn renumber(&mut self, order: &[u32]) {
        for (place, &i) in order.iter().enumerate() {
            self.set(i, place as f64);
        }
    }

    pub fn precedes(&self, a: u32, b: u32) -> bool {
        self.key(a) < self.key(b)
    }

    /// The variables, causes first.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        self.sort(&mut order);
        order
    }

    /// Put some variables in order.
    pub fn sort(&self, variables: &mut [u32]) {
        variables.sort_unstable_by(|&a, &b| self.key(a).partial_cmp(&self.key(b)).expect("places are numbers"));
    }

    /// A place between two variables, or beyond one of them.
    pub fn between(&self, before: Option<u32>, after: Option<u32>) -> Option<f64> {
        match (before, after) {
            (None, None) => None,
            (None, Some(after)) => Some(self.of(after) - 1.0),
            (Some(before), None) => Some(self.of(before) + 1.0),
            (Some(before), Some(after)) => Some(0.5 * (self.of(before) + self.of(after))),
        }
    }

    /// Equal places are ordered by the numbers of their variables.
    fn key(&self, variable: u32) -> (f64, u32) {
        (self.of(variable), variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_moves_between_others_and_beyond_them() {
        let order = |variable: u32, before: Option<u32>, after: Option<u32>| {
            let mut places = Places::new(&[2, 0, 3, 1]);
            let place = places.between(before, after).unwrap();
            places.set(variable, place);
            places.order()
        };
        assert_eq!(order(1, Some(2), Some(0)), [2, 1, 0, 3]);
        assert_eq!(order(1, None, Some(2)), [1, 2, 0, 3]);
        assert_eq!(order(2, Some(1), None), [0, 3, 1, 2]);
        assert_eq!(Places::new(&[0]).between(None, None), None);
    }

    #[test]
    fn equal_places_are_ordered_by_number() {
        let mut places = Places::new(&[2, 0, 1]);
        places.set(2, 1.0);
        assert_eq!(places.order(), [0, 2, 1]);
        assert!(places.precedes(0, 2) && !places.precedes(2, 0));
    }
}
