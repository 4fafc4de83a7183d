//! The causes of a variable, and what they say about others.

use super::evidence::Evidence;
use pulp::Arch;
use std::sync::OnceLock;

/// Share of its variance below which a candidate is a combination of the causes so far.
pub(super) const COLLINEAR: f64 = 1e-8;

/// A variable's causes, how they were found, and what they are worth.
///
/// There are many of these, so they are kept small.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    /// The causes in the order in which they were picked, then what was picked and dropped again. Without the other
    /// predecessors the result would be the same.
    touched: Box<[u32]>,
    /// How many of them are causes.
    count: usize,
    /// For each cause the row of the Cholesky factor of their correlations, up to the diagonal, and then its slope.
    steps: Box<[f64]>,
    pub score: f64,
    /// See [`Self::further`].
    further: OnceLock<Box<[(u32, f64)]>>,
}

/// What a pick adds to those before it.
pub(super) struct Step<'a> {
    pub pick: u32,
    /// Its row of the Cholesky factor, before the diagonal and on it.
    row: &'a [f64],
    root: f64,
    /// Its covariance with the variable, given the earlier picks, over its own deviation.
    slope: f64,
}

/// Walk through picks and the numbers that belong to them.
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

/// Room to look for further causes.
#[derive(Debug, Default)]
pub(crate) struct Room {
    left_over: Vec<f64>,
    others: Vec<u32>,
    variances: Vec<f64>,
    entries: Vec<f64>,
}

impl Parents {
    pub(super) fn new(picked: &[u32], dropped: impl Iterator<Item = u32>, steps: &[f64], score: f64) -> Self {
        let touched = picked.iter().copied().chain(dropped).collect();
        Self { touched, count: picked.len(), steps: steps.into(), score, further: OnceLock::new() }
    }

    pub fn causes(&self) -> &[u32] {
        &self.touched[..self.count]
    }

    /// Was a predecessor ever picked?
    pub fn depend_on(&self, other: u32) -> bool {
        self.touched.contains(&other)
    }

    /// About the bytes it takes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + 8 * self.steps.len() + 4 * self.touched.len() + 64
    }

    /// Would a newcomer be picked?
    pub fn would_pick(&self, evidence: &Evidence, variable: u32, newcomer: u32, scratch: &mut Vec<f64>) -> bool {
        if !evidence.knowledge.allows(newcomer, variable) {
            return false;
        }
        let own = evidence.row(newcomer);
        let (mut covariance, mut variance, mut left) = (own[variable as usize], 1.0, 1.0);
        scratch.clear();
        for Step { pick, row, root, slope } in steps(self.causes(), &self.steps) {
            if covariance * covariance > slope * slope * variance {
                return true;
            }
            let known: f64 = row.iter().zip(&*scratch).map(|(a, b)| a * b).sum();
            let entry = (own[pick as usize] - known) / root;
            scratch.push(entry);
            covariance -= entry * slope;
            variance -= entry * entry;
            left -= slope * slope;
        }
        variance > COLLINEAR
            && evidence.score.gain(variable, covariance * covariance / variance, left) > evidence.score.penalty
    }

    /// All variables, wherever they are, that are worth a penalty on top of the causes, and the shares they would explain.
    pub fn further(&self, evidence: &Evidence, variable: u32, room: &mut Room) -> &[(u32, f64)] {
        self.further.get_or_init(|| {
            Arch::new().dispatch(
                #[inline(always)]
                || self.look_further(evidence, variable, room),
            )
        })
    }

    // Vectorised for the machine at hand only where it is inlined.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn look_further(&self, evidence: &Evidence, variable: u32, room: &mut Room) -> Box<[(u32, f64)]> {
        let Room { left_over, others, variances, entries } = room;
        // Covariances of what the causes leave of the variable with all others.
        left_over.clear();
        left_over.extend_from_slice(evidence.row(variable));
        for (&cause, weight) in self.causes().iter().zip(weights(self.causes(), &self.steps)) {
            for (entry, c) in left_over.iter_mut().zip(evidence.row(cause)) {
                *entry -= weight * c;
            }
        }
        let left = left_over[variable as usize];
        let worth = evidence.score.worth(variable, left);
        // First those that would be worth it if all variables together explained them.
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
