//! Checks of candidates and start orders against the variables and prior knowledge.

use super::Evidence;
use crate::algebra::check::check_length;
use crate::algebra::permutation::{check_order, inverse};
use crate::error::IcidError;

pub(super) fn check(evidence: &Evidence, candidates: &[Vec<u32>], starts: &[Vec<u32>]) -> Result<(), IcidError> {
    let d = evidence.dim();
    if starts.is_empty() {
        return Err(IcidError::NoStart);
    }
    check_candidates(candidates, d)?;
    let required = (0..d as u32).flat_map(|j| evidence.knowledge.required_parents(j).iter().map(move |&i| (i, j)));
    for (cause, effect) in required {
        if candidates[cause as usize].binary_search(&effect).is_err() {
            let (row, column) = (cause as usize, effect as usize);
            return Err(IcidError::Missing { row, column });
        }
    }
    for start in starts {
        let order: Vec<usize> = start.iter().map(|&i| i as usize).collect();
        evidence.knowledge.check_places(&inverse(&check_order(&order, d)?))?;
    }
    Ok(())
}

/// Candidates are symmetric lists, ascending.
fn check_candidates(candidates: &[Vec<u32>], d: usize) -> Result<(), IcidError> {
    check_length("candidates", candidates.len(), d)?;
    for (row, list) in candidates.iter().enumerate() {
        let is_ascending = list.windows(2).all(|pair| pair[0] < pair[1]);
        let outside = list.iter().find(|&&i| i as usize >= d || i as usize == row);
        if let Some(&index) = outside.or(list.first().filter(|_| !is_ascending)) {
            return Err(IcidError::Candidates { row, index: index as usize });
        }
        for &column in list {
            if candidates[column as usize].binary_search(&(row as u32)).is_err() {
                return Err(IcidError::OneSided { what: "candidates", row, column: column as usize });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use crate::score::{Noise, Score};
    use ndarray::Array2;

    #[test]
    fn faults_are_named() {
        let (correlation, knowledge) = (Array2::eye(3), Knowledge::new(&[(0, 1)], &[], vec![None; 3]).unwrap());
        let score = Score::new(100.0, 5.0, Noise::Unequal).unwrap();
        let evidence = Evidence::new(correlation.view(), score, &knowledge).unwrap();
        let good = vec![vec![1], vec![0], vec![]];
        let check = |candidates: &[Vec<u32>], starts: &[Vec<u32>]| check(&evidence, candidates, starts);
        assert_eq!(check(&good, &[vec![2, 0, 1]]), Ok(()));
        assert_eq!(check(&good, &[]), Err(IcidError::NoStart));
        assert!(matches!(check(&good, &[vec![0, 1]]), Err(IcidError::Length { .. })));
        assert!(matches!(check(&good, &[vec![0, 1, 1]]), Err(IcidError::Order { .. })));
        assert!(matches!(check(&good, &[vec![1, 0, 2]]), Err(IcidError::Backwards { cause: 0, effect: 1 })));
        let start = [vec![0, 1, 2]];
        assert!(matches!(check(&good[..2], &start), Err(IcidError::Length { .. })));
        assert!(matches!(check(&[vec![], vec![], vec![]], &start), Err(IcidError::Missing { .. })));
        assert!(matches!(check(&[vec![1], vec![0], vec![0]], &start), Err(IcidError::OneSided { .. })));
        for list in [vec![0, 1], vec![1, 7], vec![2, 1]] {
            assert!(matches!(check(&[list, vec![0], vec![0]], &start), Err(IcidError::Candidates { row: 0, .. })));
        }
    }
}
