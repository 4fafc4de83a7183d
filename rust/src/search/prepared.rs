//! What all searches of a table share: a numbering of its variables, correlations, and candidates for edges.

use crate::algebra::permutation::inverse;
use crate::error::IcidError;
use crate::knowledge::Knowledge;
use crate::support::{discoveries, renumbered_correlations};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use sprs::CsMatView;

/// Two variables count as dependent if Fisher's z exceeds this: lenient, but rarely exceeded by chance.
const DEPENDENT: f64 = 4.0;
/// At most this many marginally dependent variables, the strongest, are candidates. The search adds missing ones.
const MOST: usize = 60;
/// Without an inverse, when samples are few, there must be this many of them for each candidate.
const ROWS_PER_CANDIDATE: usize = 8;
/// With a larger share of nonzeros, the support of Θ hardly restricts the edges.
pub(super) const DENSE_SHARE: f64 = 0.1;
/// False discovery rate of the partial correlations that replace such a support.
const ALPHA: f64 = 0.05;

/// Estimated second moments of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    pub covariance: ArrayView2<'a, f64>,
    pub theta: CsMatView<'a, f64>,
    pub inverse: Option<ArrayView2<'a, f64>>,
}

impl Table<'_> {
    pub fn dim(&self) -> usize {
        self.covariance.nrows()
    }
}

/// A table renumbered for searches.
///
/// Variables are numbered by how well the others explain them, so that the random trials do not depend on the order of
/// the columns.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The caller's number of each variable.
    pub names: Vec<u32>,
    /// The number of each of the caller's variables.
    pub numbers: Vec<u32>,
    pub correlation: Array2<f64>,
    /// Candidates for edges, as symmetric lists, ascending.
    pub candidates: Vec<Vec<u32>>,
    /// Share of each variance that all other variables leave unexplained; unknown without an inverse.
    pub shares: Option<Vec<f64>>,
    pub knowledge: Knowledge,
}

impl Prepared {
    pub fn new(table: &Table, samples: usize, knowledge: &Knowledge) -> Result<Self, IcidError> {
        let d = table.dim();
        let precision = |i: usize| match &table.inverse {
            Some(inverse) => inverse[[i, i]],
            None => table.theta.get(i, i).copied().unwrap_or(0.0),
        };
        let inflation: Vec<f64> = (0..d).map(|i| table.covariance[[i, i]] * precision(i)).collect();
        let mut names: Vec<u32> = (0..d as u32).collect();
        names.sort_by(|&i, &j| inflation[i as usize].total_cmp(&inflation[j as usize]));
        let numbers = inverse(&names);
        let correlation = renumbered_correlations(table.covariance, &names)?;
        let knowledge = knowledge.renumbered(&numbers);
        let mut candidates = dependent(&correlation, samples, table.inverse.is_some());
        let mut join = |i: u32, j: u32| {
            if i != j {
                candidates[i as usize].push(j);
                candidates[j as usize].push(i);
            }
        };
        for (i, j) in neighbours(table, samples)? {
            join(numbers[i as usize], numbers[j as usize]);
        }
        for effect in 0..d as u32 {
            knowledge.required_parents(effect).iter().for_each(|&cause| join(cause, effect));
        }
        for list in &mut candidates {
            list.sort_unstable();
            list.dedup();
        }
        let shares = table.inverse.map(|_| names.iter().map(|&i| 1.0 / inflation[i as usize]).collect());
        Ok(Self { names, numbers, correlation, candidates, shares, knowledge })
    }

    /// The candidates in the caller's numbers.
    pub fn candidates_by_name(&self) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); self.names.len()];
        for (list, &name) in self.candidates.iter().zip(&self.names) {
            lists[name as usize] = list.iter().map(|&j| self.names[j as usize]).collect();
        }
        lists
    }
}

/// The absolute correlation above which two variables count as dependent.
pub(super) fn least_dependence(samples: usize) -> f64 {
    (DEPENDENT / (samples.max(4) as f64 - 3.0).sqrt()).tanh()
}

/// How many of the variables on which a variable depends are its candidates, at most.
pub(super) fn most_candidates(samples: usize, many_samples: bool) -> usize {
    if many_samples { MOST } else { MOST.min((samples / ROWS_PER_CANDIDATE).max(1)) }
}

/// Pairs of variables that are marginally dependent, as symmetric lists.
///
/// Nearly all true edges join neighbours in Θ. But along a wrong order the best graph has other edges too, and a search
/// has to pass through wrong orders.
fn dependent(correlation: &Array2<f64>, samples: usize, many_samples: bool) -> Vec<Vec<u32>> {
    let d = correlation.nrows();
    let (least, most) = (least_dependence(samples), most_candidates(samples, many_samples));
    let strongest = |i: usize| {
        let row = correlation.row(i);
        let size = |j: usize| if i == j { 0.0 } else { row[j].abs() };
        let cut = if d > most {
            let mut sizes: Vec<f64> = (0..d).map(size).collect();
            *sizes.select_nth_unstable_by(d - most, f64::total_cmp).1
        } else {
            0.0
        };
        (0..d).filter(|&j| size(j) > least && size(j) >= cut).map(|j| j as u32).collect::<Vec<_>>()
    };
    let one_sided: Vec<Vec<u32>> = (0..d).into_par_iter().map(strongest).collect();
    let mut lists = one_sided.clone();
    for (i, others) in one_sided.iter().enumerate() {
        for &j in others {
            lists[j as usize].push(i as u32);
        }
    }
    lists
}

/// Pairs in the support of Θ, in the caller's numbers; where Θ has hardly any zeros, pairs with significant partial
/// correlations.
fn neighbours(table: &Table, samples: usize) -> Result<Vec<(u32, u32)>, IcidError> {
    let d = table.dim();
    let is_dense = table.theta.nnz() as f64 > DENSE_SHARE * d as f64 * d as f64 + d as f64;
    match &table.inverse {
        Some(inverse) if is_dense && samples > d + 2 => discoveries(*inverse, samples - d - 1, ALPHA),
        _ => {
            let nonzero = table.theta.iter().filter(|&(&value, _)| value != 0.0);
            Ok(nonzero.map(|(_, (i, j))| (i as u32, j as u32)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;

    #[test]
    fn the_strongest_dependencies_are_kept_on_either_side() {
        let (d, samples) = (70, 100);
        let number = |k: usize| scramble(k as u64) as f64 / u64::MAX as f64 - 0.5;
        let correlation =
            Array2::from_shape_fn((d, d), |(i, j)| if i == j { 1.0 } else { 1.9 * number(i.max(j) * d + i.min(j)) });
        for many_samples in [true, false] {
            let most = if many_samples { 60 } else { 12 };
            let least = (4.0 / 97.0_f64.sqrt()).tanh();
            let is_strong = |i: usize, j: usize| {
                let size = correlation[[i, j]].abs();
                let stronger = (0..d).filter(|&k| k != i && correlation[[i, k]].abs() > size).count();
                i != j && size > least && stronger < most
            };
            let found = dependent(&correlation, samples, many_samples);
            for (i, list) in found.iter().enumerate() {
                for j in 0..d {
                    let expected = is_strong(i, j) || is_strong(j, i);
                    assert_eq!(list.contains(&(j as u32)), expected, "{i} {j}");
                }
            }
        }
    }
}
