//! The parents of a variable among its predecessors: forward selection, then backward elimination.
//!
//! Forward selection is a Cholesky factorisation that picks its pivots: each candidate has its covariance with the
//! variable and its own variance, both given the parents so far, and each pick updates all candidates in one pass.

use super::evidence::Evidence;
use super::parents::{COLLINEAR, Parents, Room, weights};
use crate::algebra::hash::{HashedMap, scramble};
use crate::algebra::least_squares::LeastSquares;
use pulp::Arch;
use std::collections::HashMap;
use std::sync::Arc;

/// Rounds of forward selection and backward elimination; most variables need one.
const MAX_ROUNDS: usize = 10;
/// Bytes that each search may use to store results.
const MEMORY: usize = 1 << 24;

/// Buffers, and stored results: of regressions, and of gains by shape, each of which needs a pass over the data.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// Covariance of each candidate with the variable, and its variance, given the picks.
    covariance: Vec<f64>,
    variance: Vec<f64>,
    /// A row of entries for each pick, one for each candidate.
    entries: Vec<f64>,
    picked: Vec<u32>,
    /// As in [`Parents`].
    steps: Vec<f64>,
    /// Picks of the last round that were not dropped.
    kept: Vec<u32>,
    /// Variables picked in any round.
    touched: Vec<u32>,
    buffer: Vec<f64>,
    pub scratch: Vec<f64>,
    pub room: Room,
    shape_gains: HashMap<(u32, Vec<u32>), f64>,
    /// Former results, by a hash of the variable and its predecessors.
    known: HashedMap<Arc<Parents>>,
    known_size: usize,
}

impl Workspace {
    /// Find the parents of a variable among these predecessors. Results are stored, because trials that are undone
    /// return to the same orders again and again.
    pub fn find(&mut self, evidence: &Evidence, variable: u32, before: &[u32]) -> Arc<Parents> {
        let key =
            before.iter().fold(!scramble(u64::from(variable)), |sum, &i| sum.wrapping_add(scramble(u64::from(i))));
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let found = Arc::new(self.select(evidence, variable, before));
        self.known_size += found.size();
        if self.known_size > MEMORY {
            self.known.clear();
            self.known_size = found.size();
        }
        self.known.insert(key, Arc::clone(&found));
        found
    }

    fn select(&mut self, evidence: &Evidence, variable: u32, before: &[u32]) -> Parents {
        self.kept.clear();
        self.kept.extend_from_slice(evidence.knowledge.required_parents(variable));
        self.touched.clear();
        let mut left = self.grow(evidence, variable, before);
        // Each round lowers the score, so this ends.
        for _ in 1..MAX_ROUNDS {
            if !self.shrink(evidence, variable, left) {
                break;
            }
            for pick in &self.picked {
                if !self.touched.contains(pick) {
                    self.touched.push(*pick);
                }
            }
            left = self.grow(evidence, variable, before);
        }
        let mut score = evidence.score.misfit_of(variable, left) + evidence.score.penalty * self.picked.len() as f64;
        if evidence.has_values() {
            score -= self.shape_gain(evidence, variable);
        }
        let dropped = self.touched.iter().copied().filter(|i| !self.picked.contains(i));
        Parents::new(&self.picked, dropped, &self.steps, score)
    }

    /// Begin with the picks that were kept, then add the best candidate, one after another, while it is worth its
    /// penalty. Returns the share of the variance that is left unexplained.
    fn grow(&mut self, evidence: &Evidence, variable: u32, before: &[u32]) -> f64 {
        Arch::new().dispatch(
            #[inline(always)]
            || self.grow_vectorised(evidence, variable, before),
        )
    }

    // Vectorised for the machine at hand only where it is inlined.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn grow_vectorised(&mut self, evidence: &Evidence, variable: u32, before: &[u32]) -> f64 {
        let m = before.len();
        let Self { covariance, variance, entries, picked, steps, kept, .. } = self;
        covariance.clear();
        evidence.gather(variable, before, covariance);
        variance.clear();
        // Without variance, a candidate is never picked.
        variance.extend(before.iter().map(|&i| f64::from(u8::from(evidence.knowledge.allows(i, variable)))));
        entries.clear();
        picked.clear();
        steps.clear();
        let mut left = 1.0;
        loop {
            let depth = picked.len();
            let (share, pick) = if let Some(&old) = kept.get(depth) {
                let pick = before.iter().position(|&i| i == old).expect("a predecessor");
                let share = covariance[pick] * covariance[pick] / variance[pick];
                // A required parent is dropped only if it is a linear combination of the others to within rounding.
                let least = if evidence.knowledge.requires(old, variable) { f64::EPSILON } else { COLLINEAR };
                if variance[pick] <= least || share >= left {
                    kept.remove(depth);
                    continue;
                }
                (share, pick)
            } else {
                let mut best = (0.0, usize::MAX);
                for (k, (&c, &q)) in covariance.iter().zip(&*variance).enumerate() {
                    let share = c * c;
                    // Comparing products avoids a division for each candidate, which would cost more than all the rest.
                    if share > best.0 * q && q > COLLINEAR {
                        best = (share / q, k);
                    }
                }
                let (share, pick) = best;
                if pick == usize::MAX
                    || share >= left
                    || evidence.score.gain(variable, share, left) <= evidence.score.penalty
                {
                    return left;
                }
                best
            };
            let root = variance[pick].sqrt();
            let (slope, scale) = (covariance[pick] / root, 1.0 / root);
            steps.extend((0..depth).map(|s| entries[s * m + pick]));
            steps.extend([root, slope]);
            picked.push(before[pick]);
            left -= share;

            evidence.gather(before[pick], before, entries);
            let (known, new) = entries.split_at_mut(depth * m);
            for earlier in known.chunks_exact(m) {
                let factor = earlier[pick];
                for (entry, e) in new.iter_mut().zip(earlier) {
                    *entry -= factor * e;
                }
            }
            for (entry, (c, q)) in new.iter_mut().zip(covariance.iter_mut().zip(&mut *variance)) {
                *entry *= scale;
                *c -= *entry * slope;
                *q -= *entry * *entry;
            }
            variance[pick] = 0.0;
        }
    }

    /// The smallest increase of the unexplained share of the variance from dropping one pick that is not required.
    fn smallest_loss(&mut self, evidence: &Evidence, variable: u32) -> f64 {
        // `w_k² / [C⁻¹]_kk`, where `[C⁻¹]_kk` is the squared length of column k of the inverse factor.
        let weights = weights(&self.picked, &self.steps);
        let column = &mut self.scratch;
        let mut smallest = f64::INFINITY;
        for (k, weight) in weights.iter().enumerate() {
            if evidence.knowledge.requires(self.picked[k], variable) {
                continue;
            }
            column.clear();
            // Row i has i + 2 entries.
            let mut start = k * (k + 3) / 2;
            let mut square = 0.0;
            for i in k..weights.len() {
                let row = &self.steps[start + k..=start + i];
                let known: f64 = row.iter().zip(&*column).map(|(l, y)| l * y).sum();
                let entry = (f64::from(u8::from(i == k)) - known) / row[i - k];
                column.push(entry);
                square += entry * entry;
                start += i + 2;
            }
            smallest = smallest.min(weight * weight / square);
        }
        smallest
    }

    /// Drop picks that are not worth their penalty, the weakest first; true if any was dropped.
    fn shrink(&mut self, evidence: &Evidence, variable: u32, left: f64) -> bool {
        if self.picked.len() < 2 {
            return false;
        }
        let weakest = self.smallest_loss(evidence, variable);
        if weakest.is_infinite() || evidence.score.gain(variable, weakest, left + weakest) > evidence.score.penalty {
            return false;
        }
        let Self { picked, kept, buffer, .. } = self;
        kept.clone_from(picked);
        let entry = |i: u32, j: u32| evidence.correlation(i, j);
        let right: Vec<f64> = kept.iter().map(|&i| entry(i, variable)).collect();
        let normal = |a: usize, b: usize| entry(kept[a], kept[b]);
        let Some(fit) = LeastSquares::solve(normal, &right, 1.0, std::mem::take(buffer)) else { return false };
        let may_drop = |cause: u32| !evidence.knowledge.requires(cause, variable);
        let is_worth =
            |share: f64, left: f64| evidence.score.gain(variable, share, left + share) > evidence.score.penalty;
        *buffer = fit.drop_weakest(kept, 1, may_drop, is_worth).buffer;
        kept.len() < picked.len()
    }

    fn shape_gain(&mut self, evidence: &Evidence, variable: u32) -> f64 {
        let mut causes = self.picked.clone();
        causes.sort_unstable();
        let Self { shape_gains, picked, steps, .. } = self;
        *shape_gains
            .entry((variable, causes))
            .or_insert_with(|| evidence.shape_gain(variable, picked, &weights(picked, steps)))
    }
}
