//! Pairs of variables that are no candidates, although one may be worth an edge to the other.
//!
//! A parent may be hardly correlated with its child, because paths cancel or because other parents dominate. It is
//! correlated with the residual of the child given these.

use super::state::State;
use rayon::prelude::*;

/// Pairs count from this share of what a parent must explain: the parents that the child has may explain a part of the
/// new one, which makes what is left of it worth more.
const LENIENCE: f64 = 0.5;

impl State<'_, '_> {
    /// Pairs that are no candidates: a variable, and one before it that may be worth an edge to it.
    pub fn missing_pairs(&self) -> Vec<(u32, u32)> {
        let (evidence, columns) = (self.setting.evidence, &self.setting.columns);
        if evidence.is_sparse() || columns.are_all() {
            return Vec::new();
        }
        let of_variable = |variable: u32| {
            let fit = self.fit(variable);
            let (mut weights, mut losses) = (Vec::new(), Vec::new());
            fit.weigh(&mut weights, &mut losses);
            let mut covariances = evidence.row(variable).to_vec();
            for (&parent, weight) in fit.parents.iter().zip(&weights) {
                for (c, r) in covariances.iter_mut().zip(evidence.row(parent)) {
                    *c -= weight * r;
                }
            }
            let least = LENIENCE * evidence.score.worth(variable, fit.left);
            let place = self.places.of(variable);
            let is_missing = |&(other, c): &(u32, f64)| {
                c * c > least && self.places.of(other) < place && columns.slot(variable, other).is_none()
            };
            let others = (0..).zip(covariances).filter(is_missing).map(|(other, _)| other);
            others.filter(|&other| evidence.knowledge.allows(other, variable)).map(|other| (variable, other)).collect()
        };
        (0..self.dim() as u32).into_par_iter().map(of_variable).collect::<Vec<Vec<_>>>().concat()
    }
}

/// Add pairs to symmetric lists.
pub(super) fn join(lists: &mut [Vec<u32>], pairs: &[(u32, u32)]) {
    for &(i, j) in pairs {
        for (one, two) in [(i, j), (j, i)] {
            let list = &mut lists[one as usize];
            if let Err(slot) = list.binary_search(&two) {
                list.insert(slot, two);
            }
        }
    }
}
