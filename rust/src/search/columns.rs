//! The variables that the regression of each variable covers.

/// Up to so many variables, every regression covers all of them. On one sparse graph of 1000 variables (ER2, 10 000
/// samples) a descent took 6.7 s with all of them and 0.4 s with candidates, and 1000 trials led to the same score.
const MOST: usize = 300;

/// For each variable the others that may be its parents or children, and itself; all of them, or symmetric lists,
/// ascending.
#[derive(Debug)]
pub(crate) enum Columns {
    All(usize),
    Lists(Vec<Vec<u32>>),
}

impl Columns {
    /// All variables if they are not many, otherwise the candidates.
    pub fn new(candidates: &[Vec<u32>]) -> Self {
        let d = candidates.len();
        if d <= MOST { Self::All(d) } else { Self::lists(candidates) }
    }

    /// All of so many variables.
    pub fn all(d: usize) -> Self {
        Self::All(d)
    }

    /// The candidates.
    pub fn lists(candidates: &[Vec<u32>]) -> Self {
        let with_itself = |(i, list): (usize, &Vec<u32>)| {
            let mut list = list.clone();
            let slot = list.partition_point(|&j| (j as usize) < i);
            list.insert(slot, i as u32);
            list
        };
        Self::Lists(candidates.iter().enumerate().map(with_itself).collect())
    }

    /// Whether every regression covers all variables.
    pub fn are_all(&self) -> bool {
        matches!(self, Self::All(_))
    }

    /// The list of a variable, unless it is all variables.
    pub fn list(&self, variable: u32) -> Option<&[u32]> {
        match self {
            Self::All(_) => None,
            Self::Lists(lists) => Some(&lists[variable as usize]),
        }
    }

    /// How many variables the regression of a variable covers.
    pub fn len(&self, variable: u32) -> usize {
        match self {
            Self::All(d) => *d,
            Self::Lists(lists) => lists[variable as usize].len(),
        }
    }

    /// The variable in a slot of the list of another.
    pub fn at(&self, variable: u32, slot: usize) -> u32 {
        match self {
            Self::All(_) => slot as u32,
            Self::Lists(lists) => lists[variable as usize][slot],
        }
    }

    /// The slot of a variable in the list of another, if it is there.
    pub fn slot(&self, variable: u32, other: u32) -> Option<usize> {
        match self {
            Self::All(_) => Some(other as usize),
            Self::Lists(lists) => lists[variable as usize].binary_search(&other).ok(),
        }
    }
}

/// The members of a set that is stored as bits, ascending.
pub(crate) fn members(bits: &[u64]) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(k, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(64 * k + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_variables_are_each_others_inverse() {
        let candidates = [vec![2], vec![2, 3], vec![0, 1], vec![1]];
        for (columns, lens) in [(Columns::new(&candidates), [4; 4]), (Columns::lists(&candidates), [2, 3, 3, 2])] {
            for variable in 0..4 {
                assert_eq!(columns.len(variable), lens[variable as usize]);
                assert!(columns.slot(variable, variable).is_some());
                for slot in 0..columns.len(variable) {
                    assert_eq!(columns.slot(variable, columns.at(variable, slot)), Some(slot));
                }
            }
        }
        assert_eq!(Columns::lists(&candidates).slot(0, 1), None);
    }

    #[test]
    fn members_are_the_bits_that_are_set() {
        assert_eq!(members(&[0b1001, 0, 1 << 63]).collect::<Vec<_>>(), [0, 3, 191]);
        assert_eq!(members(&[]).count(), 0);
    }
}
