//! The regression of a variable on its parents, updated when a parent comes or goes.
//!
//! For every variable that might become a parent it holds its covariance with the variable and its own variance, both
//! given the parents. So it is known at once which of them would be worth an edge. A new parent costs one pass over the
//! rows of the factor, and so does one that goes.

use super::columns::{Columns, members};
use super::evidence::Evidence;
use pulp::Arch;

/// A variable with a smaller share of its variance left is a linear combination of the parents.
pub(crate) const COLLINEAR: f64 = 1e-12;
/// After so many updates a regression is computed anew, so that rounding errors do not add up.
const MOST_UPDATES: u32 = 40;
/// Parents for which there is room at first.
const ROOM: usize = 8;

/// A variable's regression on its parents. Variables are scaled to unit variance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    pub variable: u32,
    /// Number of variables covered, and the slot of the variable itself among them.
    width: usize,
    own: usize,
    pub parents: Vec<u32>,
    /// Rows of `L⁻¹ C[parents, covered]`, where L is the Cholesky factor of the correlations C of the parents.
    rows: Vec<f64>,
    /// Rows of `L⁻¹`, each with `room` entries.
    inverse: Vec<f64>,
    room: usize,
    /// Covariance of each variable covered with this one, and its variance, given the parents.
    covariance: Vec<f64>,
    variance: Vec<f64>,
    /// Share of the variance that the parents leave unexplained.
    pub left: f64,
    /// The local score, set by whoever chose the parents.
    pub score: f64,
    updates: u32,
    /// Slots of the variables, wherever they are in the order, that may be worth an edge, as bits.
    pub wants: Vec<u64>,
}

impl Fit {
    /// Begin again, with a variable that has no parents.
    pub fn reset(&mut self, evidence: &Evidence, columns: &Columns, variable: u32) {
        self.variable = variable;
        self.width = columns.len(variable);
        self.own = columns.slot(variable, variable).expect("a variable covers itself");
        self.parents.clear();
        self.rows.clear();
        self.inverse.clear();
        self.room = ROOM;
        self.covariance.clear();
        evidence.read_correlations(variable, columns.list(variable), &mut self.covariance);
        self.variance.clear();
        self.variance.resize(self.width, 1.0);
        self.left = 1.0;
        self.updates = 0;
        self.wants.clear();
        self.wants.resize(self.width.div_ceil(64), 0);
    }

    /// Become the same as another regression, without allocating where there is room.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { variable, width, own, room, left, score, updates, .. } = *other;
        (self.variable, self.width, self.own, self.room) = (variable, width, own, room);
        (self.left, self.score, self.updates) = (left, score, updates);
        self.parents.clone_from(&other.parents);
        self.rows.clone_from(&other.rows);
        self.inverse.clone_from(&other.inverse);
        self.covariance.clone_from(&other.covariance);
        self.variance.clone_from(&other.variance);
        self.wants.clone_from(&other.wants);
    }

    pub fn has(&self, other: u32) -> bool {
        self.parents.contains(&other)
    }

    /// The share of the variance that the variable in a slot would explain in addition to the parents, if it is no
    /// linear combination of them and something would be left.
    pub fn share(&self, slot: usize) -> Option<f64> {
        let (covariance, variance) = (self.covariance[slot], self.variance[slot]);
        let share = covariance * covariance / variance;
        (variance > COLLINEAR && self.left - share > f64::EPSILON).then_some(share)
    }

    /// As [`Self::share`], of a variable wherever it is covered.
    pub fn share_of(&self, columns: &Columns, other: u32) -> Option<f64> {
        self.share(columns.slot(self.variable, other)?)
    }

    /// Whether the variable in a slot is no linear combination of the parents, to within rounding, and would not
    /// determine this one.
    pub fn is_independent(&self, slot: usize) -> bool {
        let (covariance, variance) = (self.covariance[slot], self.variance[slot]);
        variance > f64::EPSILON && self.left - covariance * covariance / variance > f64::EPSILON
    }

    /// The variables that may be worth an edge, wherever they are in the order.
    pub fn wanted(&self, columns: &Columns) -> impl Iterator<Item = u32> {
        members(&self.wants).map(|slot| columns.at(self.variable, slot))
    }

    /// Set [`Self::wants`] to the slots that explain at least `share` of the variance in addition to the parents.
    pub fn mark(&mut self, share: f64) {
        Arch::new().dispatch(
            #[inline(always)]
            || self.mark_vectorised(share),
        );
        self.wants[self.own / 64] &= !(1 << (self.own % 64));
    }

    // Vectorised for the machine at hand only where it is inlined.
    // Without branches, so that it can be.
    #[allow(clippy::inline_always, clippy::needless_bitwise_bool)]
    #[inline(always)]
    fn mark_vectorised(&mut self, share: f64) {
        let most = self.left - f64::EPSILON;
        let slots = self.covariance.chunks(64).zip(self.variance.chunks(64));
        for (word, (covariances, variances)) in self.wants.iter_mut().zip(slots) {
            let mut bits = 0;
            for (k, (c, v)) in covariances.iter().zip(variances).enumerate() {
                // Comparing products avoids a division.
                let is_wanted = (c * c > share * v) & (*v > COLLINEAR) & (c * c < most * v);
                bits |= u64::from(is_wanted) << k;
            }
            *word = bits;
        }
    }

    /// Take in a parent, which is in this slot.
    pub fn add(&mut self, evidence: &Evidence, columns: &Columns, parent: u32, slot: usize) {
        evidence.read_correlations(parent, columns.list(self.variable), &mut self.rows);
        self.make_room();
        self.parents.push(parent);
        self.updates += 1;
        Arch::new().dispatch(
            #[inline(always)]
            || self.add_vectorised(slot),
        );
        self.left = self.covariance[self.own];
    }

    /// As [`Self::add`], of a variable that is covered.
    pub fn take(&mut self, evidence: &Evidence, columns: &Columns, parent: u32) {
        let slot = columns.slot(self.variable, parent).expect("a variable that is covered");
        self.add(evidence, columns, parent, slot);
    }

    /// Append an empty row to the inverse factor.
    fn make_room(&mut self) {
        let (k, room) = (self.parents.len(), self.room);
        if k == room {
            self.room = 2 * room;
            self.inverse.resize(k * self.room, 0.0);
            for q in (0..k).rev() {
                self.inverse.copy_within(q * room..(q + 1) * room, q * self.room);
                self.inverse[q * self.room + room..(q + 1) * self.room].fill(0.0);
            }
        }
        self.inverse.resize((k + 1) * self.room, 0.0);
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn add_vectorised(&mut self, slot: usize) {
        let (k, room) = (self.parents.len() - 1, self.room);
        let (rows, new) = self.rows.split_at_mut(k * self.width);
        let (inverse, new_inverse) = self.inverse.split_at_mut(k * room);
        new_inverse[k] = 1.0;
        for (row, inverse) in rows.chunks_exact(self.width).zip(inverse.chunks_exact(room)) {
            let factor = row[slot];
            subtract(new, factor, row);
            subtract(new_inverse, factor, inverse);
        }
        let scale = 1.0 / new[slot].max(f64::EPSILON).sqrt();
        let slope = new[self.own] * scale;
        for entry in new_inverse {
            *entry *= scale;
        }
        for ((c, v), entry) in self.covariance.iter_mut().zip(&mut self.variance).zip(new) {
            *entry *= scale;
            *c -= slope * *entry;
            *v -= *entry * *entry;
        }
    }

    /// Drop the parent with this number.
    pub fn remove(&mut self, evidence: &Evidence, columns: &Columns, number: usize) {
        if self.updates >= MOST_UPDATES {
            let mut parents = std::mem::take(&mut self.parents);
            parents.remove(number);
            return self.refit(evidence, columns, parents);
        }
        self.updates += 1;
        self.parents.remove(number);
        let slots = |parent: u32| columns.slot(self.variable, parent).expect("parents are covered");
        for q in number..self.parents.len() {
            let slot = slots(self.parents[q]);
            let (upper, lower) = self.rows[q * self.width..(q + 2) * self.width].split_at_mut(self.width);
            let length = upper[slot].hypot(lower[slot]);
            let (c, s) = (upper[slot] / length, lower[slot] / length);
            let (upper_inverse, lower_inverse) =
                self.inverse[q * self.room..(q + 2) * self.room].split_at_mut(self.room);
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    rotate(upper, lower, c, s);
                    rotate(upper_inverse, lower_inverse, c, s);
                },
            );
        }
        self.drop_last_row(number);
        self.left = self.covariance[self.own];
    }

    /// After rotations, only the last row has anything of the parent that goes.
    fn drop_last_row(&mut self, number: usize) {
        let (k, room) = (self.parents.len(), self.room);
        let last = &self.rows[k * self.width..];
        let slope = last[self.own];
        for ((c, v), entry) in self.covariance.iter_mut().zip(&mut self.variance).zip(last) {
            *c += slope * entry;
            *v += entry * entry;
        }
        self.rows.truncate(k * self.width);
        self.inverse.truncate(k * room);
        for row in self.inverse.chunks_exact_mut(room) {
            row.copy_within(number + 1..=k, number);
            row[k] = 0.0;
        }
    }

    /// Compute the regression on these parents anew.
    pub fn refit(&mut self, evidence: &Evidence, columns: &Columns, parents: Vec<u32>) {
        let score = self.score;
        self.reset(evidence, columns, self.variable);
        for &parent in &parents {
            self.take(evidence, columns, parent);
        }
        (self.score, self.updates) = (score, 0);
    }

    /// Write the weights of the parents to `weights`, and what dropping each of them would add to the share that is
    /// left to `losses`.
    pub fn weigh(&self, weights: &mut Vec<f64>, losses: &mut Vec<f64>) {
        let k = self.parents.len();
        weights.clear();
        weights.resize(k, 0.0);
        losses.clear();
        losses.resize(k, 0.0);
        for (row, inverse) in self.rows.chunks_exact(self.width).zip(self.inverse.chunks_exact(self.room)) {
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

    /// Turn the weights of the parents into those with one more parent, which is in this slot.
    pub fn weigh_with(&self, slot: usize, weights: &mut Vec<f64>) {
        let weight = self.covariance[slot] / self.variance[slot];
        for (row, inverse) in self.rows.chunks_exact(self.width).zip(self.inverse.chunks_exact(self.room)) {
            subtract(weights, weight * row[slot], inverse);
        }
        weights.push(weight);
    }

    /// Turn the weights of the parents into those without one of them.
    pub fn weigh_without(&self, number: usize, weights: &mut Vec<f64>) {
        let square: f64 = self.inverse.chunks_exact(self.room).map(|inverse| inverse[number].powi(2)).sum();
        let factor = weights[number] / square;
        for inverse in self.inverse.chunks_exact(self.room) {
            subtract(weights, factor * inverse[number], inverse);
        }
        weights.remove(number);
    }
}

/// `y -= a x`
#[allow(clippy::inline_always)]
#[inline(always)]
fn subtract(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * x;
    }
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn rotate(upper: &mut [f64], lower: &mut [f64], c: f64, s: f64) {
    for (a, b) in upper.iter_mut().zip(lower) {
        (*a, *b) = (c * *a + s * *b, c * *b - s * *a);
    }
}

/// Regressions that are not in use, whose memory is.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Fit>);

impl Pool {
    pub fn copy(&mut self, fit: &Fit) -> Fit {
        let mut copy = self.0.pop().unwrap_or_default();
        copy.copy_from(fit);
        copy
    }

    pub fn give_back(&mut self, fit: Fit) {
        self.0.push(fit);
    }
}
