//! Gains by the shape of residuals, each of which takes a pass over the rows, and those known already.

use super::evidence::Evidence;
use super::fit::Fit;
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
fn key(fit: &Fit) -> u64 {
    fit.parents.iter().fold(!scramble(u64::from(fit.variable)), |sum, &i| sum.wrapping_add(scramble(u64::from(i))))
}

impl Shapes {
    /// The gain of a variable with its parents.
    pub fn gain(&mut self, evidence: &Evidence, fit: &Fit, weights: &mut Vec<f64>, losses: &mut Vec<f64>) -> f64 {
        let key = key(fit);
        self.look_up(key).unwrap_or_else(|| {
            fit.weigh(weights, losses);
            self.parents.clone_from(&fit.parents);
            self.compute(key, evidence, fit.variable, weights)
        })
    }

    /// The gain with one more parent, which is in this slot.
    pub fn gain_with(
        &mut self,
        evidence: &Evidence,
        fit: &Fit,
        (parent, slot): (u32, usize),
        weights: &mut Vec<f64>,
        losses: &mut Vec<f64>,
    ) -> f64 {
        let key = key(fit).wrapping_add(scramble(u64::from(parent)));
        self.look_up(key).unwrap_or_else(|| {
            fit.weigh(weights, losses);
            fit.weigh_with(slot, weights);
            self.parents.clone_from(&fit.parents);
            self.parents.push(parent);
            self.compute(key, evidence, fit.variable, weights)
        })
    }

    /// The gain without one of the parents.
    pub fn gain_without(
        &mut self,
        evidence: &Evidence,
        fit: &Fit,
        number: usize,
        weights: &mut Vec<f64>,
        losses: &mut Vec<f64>,
    ) -> f64 {
        let key = key(fit).wrapping_sub(scramble(u64::from(fit.parents[number])));
        self.look_up(key).unwrap_or_else(|| {
            fit.weigh(weights, losses);
            fit.weigh_without(number, weights);
            self.parents.clone_from(&fit.parents);
            self.parents.remove(number);
            self.compute(key, evidence, fit.variable, weights)
        })
    }

    fn look_up(&self, key: u64) -> Option<f64> {
        self.known.get(&key).copied()
    }

    fn compute(&mut self, key: u64, evidence: &Evidence, variable: u32, weights: &[f64]) -> f64 {
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let gain = evidence.shape_gain(variable, &self.parents, weights);
        self.known.insert(key, gain);
        gain
    }
}
