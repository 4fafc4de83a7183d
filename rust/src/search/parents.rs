//! The causes of a variable among those before it: grow by the best, then shrink by the worst.
//!
//! Growing is a Cholesky factorisation that picks its pivots: each candidate carries its covariance with the variable
//! and its own variance, both given the causes so far, and one pick updates all candidates in one pass.

use super::score::Evidence;
use crate::order::Spd;
use crate::problem::numbering::scramble;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, OnceLock};

/// Share of its variance below which a candidate is a combination of the causes so far.
const COLLINEAR: f64 = 1e-8;
/// Rounds of growing and shrinking.
const MAX_ROUNDS: usize = 5;
/// Bytes that each search may spend on remembering.
const MEMORY: usize = 1 << 24;

/// A variable's causes, how they were found, and what they are worth.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parents {
    /// All that were ever picked: without the others the result would be the same.
    pub touched: Vec<u32>,
    /// Picked one after another in the last round.
    picked: Vec<u32>,
    /// Rows of the Cholesky factor of the picks' correlations, one after another, up to the diagonal.
    factor: Vec<f64>,
    /// Covariance of each pick with the variable, given the earlier ones, over the pick's own deviation.
    slopes: Vec<f64>,
    /// Those picked that are still worth their penalty.
    pub kept: Vec<u32>,
    pub score: f64,
    /// See [`Self::further`].
    further: OnceLock<Vec<u32>>,
}

impl Parents {
    /// About the bytes it takes.
    fn size(&self) -> usize {
        size_of::<Self>() + 8 * (self.factor.len() + 3 * self.touched.len()) + 64
    }

    /// Regression weights of the picks.
    fn weights(&self) -> Vec<f64> {
        let size = self.picked.len();
        let mut weights = self.slopes.clone();
        // Back substitution, row by row from the last.
        for i in (0..size).rev() {
            let start = i * (i + 1) / 2;
            let row = &self.factor[start..=start + i];
            weights[i] /= row[i];
            let (head, tail) = weights.split_at_mut(i);
            for (w, l) in head.iter_mut().zip(row) {
                *w -= l * tail[0];
            }
        }
        weights
    }

    /// Would a newcomer be picked?
    pub fn would_pick(&self, evidence: &Evidence, variable: u32, newcomer: u32, scratch: &mut Vec<f64>) -> bool {
        if !evidence.knowledge.allows(newcomer, variable) {
            return false;
        }
        let own = evidence.correlation.row(newcomer as usize);
        let (mut covariance, mut variance, mut left) = (own[variable as usize], 1.0, 1.0);
        scratch.clear();
        let mut start = 0;
        for (s, (&pick, &slope)) in self.picked.iter().zip(&self.slopes).enumerate() {
            if covariance * covariance > slope * slope * variance {
                return true;
            }
            let factor = &self.factor[start..=start + s];
            let known: f64 = factor[..s].iter().zip(&*scratch).map(|(a, b)| a * b).sum();
            let entry = (own[pick as usize] - known) / factor[s];
            scratch.push(entry);
            covariance -= entry * slope;
            variance -= entry * entry;
            left -= slope * slope;
            start += s + 1;
        }
        variance > COLLINEAR && gain(evidence, variable, covariance * covariance / variance, left) > evidence.penalty
    }
}

impl Parents {
    /// All variables, wherever they are, that may be worth a penalty on top of the picks.
    pub fn further(&self, evidence: &Evidence, variable: u32, left_over: &mut Vec<f64>) -> &[u32] {
        self.further.get_or_init(|| {
            let row = |i: u32| evidence.correlation.row(i as usize).to_slice().expect("correlations by rows");
            // Covariances of what the picks leave of the variable with all others.
            left_over.clear();
            left_over.extend_from_slice(row(variable));
            for (&pick, weight) in self.picked.iter().zip(self.weights()) {
                for (entry, c) in left_over.iter_mut().zip(row(pick)) {
                    *entry -= weight * c;
                }
            }
            let worth = evidence.worth(variable, left_over[variable as usize]);
            let large = |&(&covariance, &least): &(&f64, &f64)| covariance * covariance >= worth * least;
            let found = left_over.iter().zip(&evidence.least).enumerate().filter(|(_, pair)| large(pair));
            found.map(|(other, _)| other as u32).filter(|&other| evidence.knowledge.allows(other, variable)).collect()
        })
    }

    /// What a newcomer would gain on top of all picks.
    pub fn gain_from(&self, evidence: &Evidence, variable: u32, newcomer: u32, scratch: &mut Vec<f64>) -> f64 {
        let own = evidence.correlation.row(newcomer as usize);
        let (mut covariance, mut variance, mut left) = (own[variable as usize], 1.0, 1.0);
        scratch.clear();
        let mut start = 0;
        for (s, (&pick, &slope)) in self.picked.iter().zip(&self.slopes).enumerate() {
            let factor = &self.factor[start..=start + s];
            let known: f64 = factor[..s].iter().zip(&*scratch).map(|(a, b)| a * b).sum();
            let entry = (own[pick as usize] - known) / factor[s];
            scratch.push(entry);
            covariance -= entry * slope;
            variance -= entry * entry;
            left -= slope * slope;
            start += s + 1;
        }
        let share = covariance * covariance / variance;
        if variance > COLLINEAR && share < left { gain(evidence, variable, share, left) } else { 0.0 }
    }
}

/// What explaining `share` of a variable gains when `left` is left of it.
fn gain(evidence: &Evidence, variable: u32, share: f64, left: f64) -> f64 {
    evidence.misfit(variable, left) - evidence.misfit(variable, left - share)
}

/// Room for the work, and memory of negentropies: they cost a pass over the data.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    covariance: Vec<f64>,
    variance: Vec<f64>,
    steps: Vec<f64>,
    buffer: Vec<f64>,
    pub scratch: Vec<f64>,
    pub left_over: Vec<f64>,
    negentropies: HashMap<(u32, Vec<u32>), f64>,
    /// What was found before, by a hash of the variable and its predecessors.
    known: HashMap<u64, Arc<Parents>, BuildHasherDefault<Hashed>>,
    known_size: usize,
}

/// For keys that are hashes themselves.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Workspace {
    /// Find the causes of a variable among these predecessors, or remember them: trials that are undone come back to the
    /// same places again and again.
    pub fn find(&mut self, evidence: &Evidence, variable: u32, before: &[u32]) -> Arc<Parents> {
        let key =
            before.iter().fold(!scramble(u64::from(variable)), |sum, &i| sum.wrapping_add(scramble(u64::from(i))));
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let found = Arc::new(self.work_out(evidence, variable, before));
        self.known_size += found.size();
        if self.known_size > MEMORY {
            self.known.clear();
            self.known_size = found.size();
        }
        self.known.insert(key, Arc::clone(&found));
        found
    }

    fn work_out(&mut self, evidence: &Evidence, variable: u32, before: &[u32]) -> Parents {
        let mut parents = Parents { kept: evidence.knowledge.causes(variable).to_vec(), ..Parents::default() };
        let mut weights = Vec::new();
        let mut left = 1.0;
        // Each round lowers the score, so this ends; most variables need one.
        for _ in 0..MAX_ROUNDS {
            left = self.grow(evidence, variable, before, &mut parents);
            parents.kept.clone_from(&parents.picked);
            for &pick in &parents.picked {
                if !parents.touched.contains(&pick) {
                    parents.touched.push(pick);
                }
            }
            if parents.kept.len() > 1 || evidence.values.is_some() {
                weights = parents.weights();
                let weakest = self.smallest_loss(evidence, variable, &parents, &weights);
                if parents.kept.len() < 2
                    || weakest.is_infinite()
                    || gain(evidence, variable, weakest, left + weakest) > evidence.penalty
                {
                    break;
                }
                (left, weights) = self.shrink(evidence, variable, &mut parents.kept, left, weights);
            }
            if parents.kept.len() == parents.picked.len() {
                break;
            }
        }
        parents.score = evidence.misfit(variable, left) + evidence.penalty * parents.kept.len() as f64;
        if evidence.values.is_some() {
            parents.score -= self.negentropy(evidence, variable, &parents.kept, &weights);
        }
        parents
    }

    /// Take over those kept, then pick the best, one after another, while they are worth their penalty; what is left.
    fn grow(&mut self, evidence: &Evidence, variable: u32, before: &[u32], parents: &mut Parents) -> f64 {
        let m = before.len();
        let target = evidence.correlation.row(variable as usize);
        self.covariance.clear();
        self.covariance.extend(before.iter().map(|&i| target[i as usize]));
        self.variance.clear();
        // What has no variance is never picked.
        let allowed = before.iter().map(|&i| f64::from(u8::from(evidence.knowledge.allows(i, variable))));
        self.variance.extend(allowed);
        self.steps.clear();
        let Parents { picked, factor, slopes, kept, .. } = parents;
        picked.clear();
        factor.clear();
        slopes.clear();
        let mut left = 1.0;
        loop {
            let depth = picked.len();
            let (share, pick) = if let Some(&old) = kept.get(depth) {
                let pick = before.iter().position(|&i| i == old).expect("a predecessor");
                let share = self.covariance[pick] * self.covariance[pick] / self.variance[pick];
                // What must be a cause is one, as long as there is anything left of it.
                let least = if evidence.knowledge.requires(old, variable) { f64::EPSILON } else { COLLINEAR };
                if self.variance[pick] <= least || share >= left {
                    kept.remove(depth);
                    continue;
                }
                (share, pick)
            } else {
                let mut best = (0.0, usize::MAX);
                for (k, (&c, &q)) in self.covariance.iter().zip(&self.variance).enumerate() {
                    let share = c * c;
                    // Compared as products: a division for each candidate would cost more than all the rest.
                    if share > best.0 * q && q > COLLINEAR {
                        best = (share / q, k);
                    }
                }
                let (share, pick) = best;
                if pick == usize::MAX || share >= left || gain(evidence, variable, share, left) <= evidence.penalty {
                    return left;
                }
                best
            };
            let root = self.variance[pick].sqrt();
            let slope = self.covariance[pick] / root;
            factor.extend((0..depth).map(|s| self.steps[s * m + pick]));
            factor.push(root);
            picked.push(before[pick]);
            slopes.push(slope);
            left -= share;

            let row = evidence.correlation.row(before[pick] as usize);
            self.steps.extend(before.iter().map(|&i| row[i as usize]));
            let (known, step) = self.steps.split_at_mut(depth * m);
            for earlier in known.chunks_exact(m) {
                let factor = earlier[pick];
                for (entry, e) in step.iter_mut().zip(earlier) {
                    *entry -= factor * e;
                }
            }
            let moments = self.covariance.iter_mut().zip(&mut self.variance);
            for (entry, (c, q)) in step.iter_mut().zip(moments) {
                *entry /= root;
                *c -= *entry * slope;
                *q -= *entry * *entry;
            }
            self.variance[pick] = 0.0;
        }
    }

    /// The share of the variable that would be left more without the weakest of the causes that may be dropped.
    fn smallest_loss(&mut self, evidence: &Evidence, variable: u32, parents: &Parents, weights: &[f64]) -> f64 {
        // `w_k² / [C⁻¹]_kk`, where `[C⁻¹]_kk` is the squared length of column k of the inverse factor.
        let size = weights.len();
        let mut smallest = f64::INFINITY;
        for k in (0..size).filter(|&k| !evidence.knowledge.requires(parents.picked[k], variable)) {
            let column = &mut self.scratch;
            column.clear();
            let mut start = k * (k + 1) / 2;
            let mut square = 0.0;
            for i in k..size {
                let row = &parents.factor[start + k..=start + i];
                let known: f64 = row.iter().zip(&*column).map(|(l, y)| l * y).sum();
                let entry = (f64::from(u8::from(i == k)) - known) / row[i - k];
                column.push(entry);
                square += entry * entry;
                start += i + 1;
            }
            smallest = smallest.min(weights[k] * weights[k] / square);
        }
        smallest
    }

    /// Drop causes that no longer earn their penalty, the weakest first; what is left, and the weights.
    fn shrink(
        &mut self,
        evidence: &Evidence,
        variable: u32,
        kept: &mut Vec<u32>,
        left: f64,
        weights: Vec<f64>,
    ) -> (f64, Vec<f64>) {
        let entry = |i: u32, j: u32| evidence.correlation[[i as usize, j as usize]];
        let factorise = |kept: &[u32], buffer: &mut Vec<f64>| {
            Spd::factorise(kept.len(), |a, b| entry(kept[a], kept[b]), std::mem::take(buffer))
        };
        let Some(factor) = factorise(kept, &mut self.buffer) else { return (left, weights) };
        let right: Vec<f64> = kept.iter().map(|&i| entry(i, variable)).collect();
        let mut weights = factor.solve(right.clone());
        let mut left = 1.0 - weights.iter().zip(&right).map(|(w, c)| w * c).sum::<f64>();
        let mut inverse = factor.into_inverse();
        while kept.len() > 1 {
            let loss = |k: usize| weights[k] * weights[k] / inverse.get(k, k);
            let free = (0..kept.len()).filter(|&k| !evidence.knowledge.requires(kept[k], variable));
            let Some(weakest) = free.min_by(|&a, &b| loss(a).total_cmp(&loss(b))) else { break };
            let share = loss(weakest);
            if gain(evidence, variable, share, left + share) > evidence.penalty {
                break;
            }
            left += share;
            let ratio = weights[weakest] / inverse.get(weakest, weakest);
            for (k, weight) in weights.iter_mut().enumerate() {
                *weight -= inverse.get(k, weakest) * ratio;
            }
            inverse.remove(weakest);
            weights.remove(weakest);
            kept.remove(weakest);
        }
        self.buffer = inverse.into_buffer();
        (left, weights)
    }

    fn negentropy(&mut self, evidence: &Evidence, variable: u32, kept: &[u32], weights: &[f64]) -> f64 {
        let mut causes = kept.to_vec();
        causes.sort_unstable();
        *self.negentropies.entry((variable, causes)).or_insert_with(|| evidence.negentropy(variable, kept, weights))
    }
}
