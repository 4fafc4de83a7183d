//! Pairs of variables that are no candidates, although one may be worth an edge to the other.
//!
//! A parent may be hardly correlated with its child, because paths cancel or because other parents dominate. It is
//! correlated with the residual of the child given these.

use super::kernel::Kernel;
use super::state::State;
use rayon::prelude::*;

/// Pairs count from this share of what a parent must explain: the parents that the child has may explain a part of the
/// new one, which makes what is left of it worth more.
const LENIENCE: f64 = 0.5;

impl<K: Kernel> State<'_, '_, K> {
    /// Pairs that are no candidates: a variable, and one before it that may be worth an edge to it.
    pub fn missing_pairs(&self) -> Vec<(u32, u32)> {
        let (evidence, columns) = (self.setting.evidence, &self.setting.columns);
        if evidence.is_sparse() || columns.are_all() {
            return Vec::new();
        }
        let of_variable = |variable: u32| {
            let fit = self.fit(variable);
            let place = self.places.of(variable);
            let mut pairs = Vec::new();
            fit.visit_shares(evidence, |other, share| {
                if share > LENIENCE * evidence.worth(variable, other, fit.left, 1.0)
                    && self.places.of(other) < place
                    && columns.slot(variable, other).is_none()
                    && evidence.knowledge.allows(other, variable)
                {
                    pairs.push((variable, other));
                }
            });
            pairs
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
