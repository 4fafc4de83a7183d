//! Variables that are one column each.

use super::{COLLINEAR, Kernel};
use crate::algebra::vectors::vectorised;
use crate::search::columns::Columns;
use crate::search::evidence::Evidence;
use crate::search::factor::{Factor, subtract};

/// Covariances given the parents of a variable, all of which are one column each.
///
/// A new parent costs one pass over the rows of the factor, and so does one that goes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    variable: u32,
    /// The slot of the variable itself.
    own: usize,
    factor: Factor,
    /// Covariance of each variable covered with this one, and its variance, given the parents.
    covariance: Vec<f64>,
    variance: Vec<f64>,
}

impl Kernel for Column {
    fn reset(&mut self, evidence: &Evidence, columns: &Columns, variable: u32) {
        let width = columns.len(variable);
        self.variable = variable;
        self.own = columns.slot(variable, variable).expect("a variable covers itself");
        self.factor.reset(width);
        self.covariance.clear();
        evidence.read_correlations(variable, columns.list(variable), &mut self.covariance);
        self.variance.clear();
        self.variance.resize(width, 1.0);
    }

    fn copy_from(&mut self, other: &Self) {
        (self.variable, self.own) = (other.variable, other.own);
        self.factor.copy_from(&other.factor);
        self.covariance.clone_from(&other.covariance);
        self.variance.clone_from(&other.variance);
    }

    fn share(&self, slot: usize, left: f64) -> Option<f64> {
        let (covariance, variance) = (self.covariance[slot], self.variance[slot]);
        let share = covariance * covariance / variance;
        (variance > COLLINEAR && left - share > f64::EPSILON).then_some(share)
    }

    fn is_independent(&self, slot: usize, left: f64) -> bool {
        let (covariance, variance) = (self.covariance[slot], self.variance[slot]);
        variance > f64::EPSILON && left - covariance * covariance / variance > f64::EPSILON
    }

    fn mark(&self, evidence: &Evidence, _: &Columns, left: f64, part: f64, wants: &mut [u64]) {
        let score = &evidence.score;
        let share = score.worth(self.variable, left, part * score.penalty);
        vectorised(
            #[inline(always)]
            || self.mark_vectorised(left, share, wants),
        );
        wants[self.own / 64] &= !(1 << (self.own % 64));
    }

    fn add(&mut self, evidence: &Evidence, columns: &Columns, parent: u32, slot: usize) -> f64 {
        let list = columns.list(self.variable);
        self.factor.extend(|rows| evidence.read_correlations(parent, list, rows));
        vectorised(
            #[inline(always)]
            || self.add_vectorised(slot),
        );
        self.covariance[self.own]
    }

    fn remove(&mut self, columns: &Columns, remaining: &[u32], number: usize) -> Option<f64> {
        let slot = |q: usize| columns.slot(self.variable, remaining[q]).expect("parents are covered");
        self.factor.isolate(number, slot);
        let last = self.factor.newest();
        let slope = last[self.own];
        for ((c, v), entry) in self.covariance.iter_mut().zip(&mut self.variance).zip(last) {
            *c += slope * entry;
            *v += entry * entry;
        }
        self.factor.drop_newest(number);
        Some(self.covariance[self.own])
    }

    fn weigh(&self, _: f64, weights: &mut Vec<f64>, losses: &mut Vec<f64>) {
        let k = self.factor.len();
        weights.clear();
        weights.resize(k, 0.0);
        losses.clear();
        losses.resize(k, 0.0);
        for (row, inverse) in self.factor.rows() {
            let slope = row[self.own];
            for ((weight, square), entry) in weights.iter_mut().zip(&mut *losses).zip(inverse) {
                *weight += slope * entry;
                *square += entry * entry;
            }
        }
        // w² / [C⁻¹]_kk
        for (weight, loss) in weights.iter().zip(losses) {
            *loss = weight * weight / *loss;
        }
    }

    fn weigh_with(&self, slot: usize, weights: &mut Vec<f64>) {
        let weight = self.covariance[slot] / self.variance[slot];
        for (row, inverse) in self.factor.rows() {
            subtract(weights, weight * row[slot], inverse);
        }
        weights.push(weight);
    }

    fn weigh_without(&self, number: usize, weights: &mut Vec<f64>) {
        let square: f64 = self.factor.rows().map(|(_, inverse)| inverse[number].powi(2)).sum();
        let factor = weights[number] / square;
        for (_, inverse) in self.factor.rows() {
            subtract(weights, factor * inverse[number], inverse);
        }
        weights.remove(number);
    }

    fn visit_shares(&self, evidence: &Evidence, parents: &[u32], left: f64, mut visit: impl FnMut(u32, f64)) {
        let (mut weights, mut losses) = (Vec::new(), Vec::new());
        self.weigh(left, &mut weights, &mut losses);
        let mut covariances = evidence.row(self.variable).to_vec();
        for (&parent, weight) in parents.iter().zip(&weights) {
            for (c, r) in covariances.iter_mut().zip(evidence.row(parent)) {
                *c -= weight * r;
            }
        }
        (0..).zip(covariances).for_each(|(other, c)| visit(other, c * c));
    }
}

impl Column {
    // Vectorised for the machine at hand only where it is inlined.
    // Without branches, so that it can be.
    #[allow(clippy::inline_always, clippy::needless_bitwise_bool)]
    #[inline(always)]
    fn mark_vectorised(&self, left: f64, share: f64, wants: &mut [u64]) {
        let most = left - f64::EPSILON;
        let slots = self.covariance.chunks(64).zip(self.variance.chunks(64));
        for (word, (covariances, variances)) in wants.iter_mut().zip(slots) {
            let mut bits = 0;
            for (k, (c, v)) in covariances.iter().zip(variances).enumerate() {
                // Comparing products avoids a division.
                let is_wanted = (c * c > share * v) & (*v > COLLINEAR) & (c * c < most * v);
                bits |= u64::from(is_wanted) << k;
            }
            *word = bits;
        }
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn add_vectorised(&mut self, slot: usize) {
        let (new, scale) = self.factor.orthogonalise(slot);
        let slope = new[self.own] * scale;
        for ((c, v), entry) in self.covariance.iter_mut().zip(&mut self.variance).zip(new) {
            *entry *= scale;
            *c -= slope * *entry;
            *v -= *entry * *entry;
        }
    }
}
