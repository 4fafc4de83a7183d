//! The parents of a variable, and which other variables would improve on them.

use super::evidence::Evidence;
use super::wide::{self, Dependent, Sparse};
use pulp::Arch;
use std::sync::OnceLock;

/// A candidate with a smaller share of its variance left is a linear combination of the parents so far.
pub(super) const COLLINEAR: f64 = 1e-8;

/// A variable's parents, the steps of their selection, and their score.
///
/// Many of these are stored, so they are small.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    /// The parents in the order in which they were picked, then variables that were picked and dropped again. The
    /// other predecessors do not affect the result.
    touched: Box<[u32]>,
    /// How many of them are parents.
    count: usize,
    /// For each parent its row of the Cholesky factor of their correlations, up to the diagonal, and then its slope.
    steps: Box<[f64]>,
    pub score: f64,
    /// See [`Self::further`].
    further: OnceLock<Box<[(u32, f64)]>>,
}

/// A step of forward selection.
pub(super) struct Step<'a> {
    pub pick: u32,
    /// Its row of the Cholesky factor, before the diagonal and on it.
    row: &'a [f64],
    root: f64,
    /// Its covariance with the variable, given the earlier picks, divided by its standard deviation.
    slope: f64,
}

/// The steps of forward selection, from the picks and the numbers stored for them.
pub(super) fn steps<'a>(picks: &'a [u32], mut numbers: &'a [f64]) -> impl Iterator<Item = Step<'a>> {
    picks.iter().enumerate().map(move |(depth, &pick)| {
        let (step, rest) = numbers.split_at(depth + 2);
        numbers = rest;
        Step { pick, row: &step[..depth], root: step[depth], slope: step[depth + 1] }
    })
}

/// Regression weights of the picks.
pub(super) fn weights(picks: &[u32], mut numbers: &[f64]) -> Vec<f64> {
    let mut weights: Vec<f64> = steps(picks, numbers).map(|step| step.slope).collect();
    // Back substitution, row by row from the last.
    for i in (0..picks.len()).rev() {
        let (before, step) = numbers.split_at(numbers.len() - i - 2);
        numbers = before;
        weights[i] /= step[i];
        let (head, tail) = weights.split_at_mut(i);
        for (w, l) in head.iter_mut().zip(step) {
            *w -= l * tail[0];
        }
    }
    weights
}

/// Buffers for [`Parents::further`].
#[derive(Debug, Default)]
pub(crate) struct Room {
    left_over: Vec<f64>,
    others: Vec<u32>,
    variances: Vec<f64>,
    entries: Vec<f64>,
    sparse: wide::Room,
}

impl Parents {
    pub(super) fn new(picked: &[u32], dropped: impl Iterator<Item = u32>, steps: &[f64], score: f64) -> Self {
        let touched = picked.iter().copied().chain(dropped).collect();
        Self { touched, count: picked.len(), steps: steps.into(), score, further: OnceLock::new() }
    }

    pub fn causes(&self) -> &[u32] {
        &self.touched[..self.count]
    }

    /// Whether a predecessor was ever picked, so that the result depends on it.
    pub fn depend_on(&self, other: u32) -> bool {
        self.touched.contains(&other)
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + 8 * self.steps.len() + 4 * self.touched.len() + 64
    }

    /// Whether a newcomer among the predecessors would be picked.
    pub fn would_pick(&self, evidence: &Evidence, variable: u32, newcomer: u32, scratch: &mut Vec<f64>) -> bool {
        if !evidence.knowledge.allows(newcomer, variable) {
            return false;
        }
        let (mut covariance, mut variance, mut left) = (evidence.correlation(newcomer, variable), 1.0, 1.0);
        scratch.clear();
        for Step { pick, row, root, slope } in steps(self.causes(), &self.steps) {
            if covariance * covariance > slope * slope * variance {
                return true;
            }
            let known: f64 = row.iter().zip(&*scratch).map(|(a, b)| a * b).sum();
            let entry = (evidence.correlation(newcomer, pick) - known) / root;
            scratch.push(entry);
            covariance -= entry * slope;
            variance -= entry * entry;
            left -= slope * slope;
        }
        variance > COLLINEAR
            && evidence.score.gain(variable, covariance * covariance / variance, left) > evidence.score.penalty
    }

    /// All variables, whatever their place, that are worth an edge in addition to the parents, and the share of the
    /// variance that each would explain.
    pub fn further(&self, evidence: &Evidence, variable: u32, room: &mut Room) -> &[(u32, f64)] {
        self.further.get_or_init(|| {
            if let Some(sparse) = evidence.as_sparse() {
                return self.look_at_dependent(sparse, evidence, variable, room);
            }
            Arch::new().dispatch(
                #[inline(always)]
                || self.look_further(evidence, variable, room),
            )
        })
    }

    /// As [`Self::look_further`], among variables that depend marginally on the variable or its parents.
    fn look_at_dependent(
        &self,
        sparse: Sparse,
        evidence: &Evidence,
        variable: u32,
        room: &mut Room,
    ) -> Box<[(u32, f64)]> {
        let weights = weights(self.causes(), &self.steps);
        let left = sparse.residual_covariances(variable, self.causes(), &weights, &mut room.sparse);
        let worth = evidence.score.worth(variable, left);
        let Room { sparse: wide::Room { found, .. }, entries, .. } = room;
        let mut worthy = Vec::new();
        for &Dependent { variable: other, covariance, explained } in &*found {
            // The explained share is rough, since parents may be correlated: spare only what is clearly not worthwhile.
            let rough = (0.5 * (1.0 - explained)).max(evidence.least[other as usize]);
            let square = covariance * covariance;
            if square < worth * rough || !evidence.knowledge.allows(other, variable) {
                continue;
            }
            let variance = self.unexplained(evidence, other, entries);
            let share = square / variance;
            if variance > COLLINEAR && share > worth && share < left {
                worthy.push((other, share));
            }
        }
        worthy.into()
    }

    /// The share of another variable's variance that the parents leave unexplained.
    fn unexplained(&self, evidence: &Evidence, other: u32, scratch: &mut Vec<f64>) -> f64 {
        scratch.clear();
        for Step { pick, row, root, .. } in steps(self.causes(), &self.steps) {
            let known: f64 = row.iter().zip(&*scratch).map(|(a, b)| a * b).sum();
            scratch.push((evidence.correlation(other, pick) - known) / root);
        }
        1.0 - scratch.iter().map(|entry| entry * entry).sum::<f64>()
    }

    // Vectorised for the machine at hand only where it is inlined.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn look_further(&self, evidence: &Evidence, variable: u32, room: &mut Room) -> Box<[(u32, f64)]> {
        let Room { left_over, others, variances, entries, .. } = room;
        // Covariances of the residual with all variables.
        left_over.clear();
        left_over.extend_from_slice(evidence.row(variable));
        for (&cause, weight) in self.causes().iter().zip(weights(self.causes(), &self.steps)) {
            for (entry, c) in left_over.iter_mut().zip(evidence.row(cause)) {
                *entry -= weight * c;
            }
        }
        let left = left_over[variable as usize];
        let worth = evidence.score.worth(variable, left);
        // First discard variables that would not be worth an edge even if their unexplained share were at its bound.
        others.clear();
        let bounds = left_over.iter().zip(&evidence.least).zip(0..);
        others.extend(bounds.filter(|((c, least), _)| *c * *c >= worth * *least).map(|(_, other)| other));
        variances.clear();
        variances.resize(others.len(), 1.0);
        entries.clear();
        for (depth, Step { pick, row, root, .. }) in steps(self.causes(), &self.steps).enumerate() {
            let correlations = evidence.row(pick);
            entries.extend(others.iter().map(|&other| correlations[other as usize]));
            let (known, new) = entries.split_at_mut(depth * others.len());
            for (l, earlier) in row.iter().zip(known.chunks_exact(others.len().max(1))) {
                for (entry, e) in new.iter_mut().zip(earlier) {
                    *entry -= l * e;
                }
            }
            let scale = 1.0 / root;
            for (variance, entry) in variances.iter_mut().zip(new) {
                *entry *= scale;
                *variance -= *entry * *entry;
            }
        }
        let known = others.iter().zip(&*variances).filter(|(_, variance)| **variance > COLLINEAR);
        let shares = known.map(|(&other, &variance)| (other, left_over[other as usize].powi(2) / variance));
        let worthy = shares.filter(|&(other, share)| share > worth && share < left && other != variable);
        worthy.filter(|&(other, _)| evidence.knowledge.allows(other, variable)).collect()
    }
}
