//! Gains by the shape of residuals, each of which takes a pass over the rows, and those known already.

use super::evidence::Evidence;
use super::fit::Fit;
use super::kernel::Kernel;
use crate::algebra::hash::{HashedMap, scramble};

/// Known gains are forgotten when there are so many, some ten megabytes of them.
const MOST_KNOWN: usize = 1 << 18;

/// Gains by the shape of residuals, by a hash of the variable and the set of its parents.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    known: HashedMap<f64>,
    parents: Vec<u32>,
}

/// A hash of a variable and the set of its parents.
fn key<K>(fit: &Fit<K>) -> u64 {
    fit.parents.iter().fold(!scramble(u64::from(fit.variable)), |sum, &i| sum.wrapping_add(scramble(u64::from(i))))
}

impl Shapes {
    /// The gain of a variable with its parents.
    pub fn gain<K: Kernel>(
        &mut self,
        evidence: &Evidence,
        fit: &Fit<K>,
        weights: &mut Vec<f64>,
        losses: &mut Vec<f64>,
    ) -> f64 {
        self.gain_after(evidence, fit, key(fit), (weights, losses), |_, _| {})
    }

    /// The gain with one more parent, which is in this slot.
    pub fn gain_with<K: Kernel>(
        &mut self,
        evidence: &Evidence,
        fit: &Fit<K>,
        (parent, slot): (u32, usize),
        weights: &mut Vec<f64>,
        losses: &mut Vec<f64>,
    ) -> f64 {
        let key = key(fit).wrapping_add(scramble(u64::from(parent)));
        self.gain_after(evidence, fit, key, (weights, losses), |parents, weights| {
            fit.weigh_with(slot, weights);
            parents.push(parent);
        })
    }

    /// The gain without one of the parents.
    pub fn gain_without<K: Kernel>(
        &mut self,
        evidence: &Evidence,
        fit: &Fit<K>,
        number: usize,
        weights: &mut Vec<f64>,
        losses: &mut Vec<f64>,
    ) -> f64 {
        let key = key(fit).wrapping_sub(scramble(u64::from(fit.parents[number])));
        self.gain_after(evidence, fit, key, (weights, losses), |parents, weights| {
            fit.weigh_without(number, weights);
            parents.remove(number);
        })
    }

    /// The gain after a change of parents and weights, looked up by the key of the new parents or computed.
    fn gain_after<K: Kernel>(
        &mut self,
        evidence: &Evidence,
        fit: &Fit<K>,
        key: u64,
        (weights, losses): (&mut Vec<f64>, &mut Vec<f64>),
        change: impl FnOnce(&mut Vec<u32>, &mut Vec<f64>),
    ) -> f64 {
        if let Some(&gain) = self.known.get(&key) {
            return gain;
        }
        fit.weigh(weights, losses);
        self.parents.clone_from(&fit.parents);
        change(&mut self.parents, weights);
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let gain = evidence.shape_gain(fit.variable, &self.parents, weights);
        self.known.insert(key, gain);
        gain
    }
}
