//! Regression along an order: the causes of each variable among those before it.
//!
//! An order leaves only the question which of a variable's predecessors are its causes. Its neighbours in Θ are
//! candidates, and cost nothing more. But where several paths cancel, Θ has a zero between a cause and its effect;
//! regressing a variable on all its predecessors finds the cause nevertheless, by a partial correlation for each, at the
//! price of one factorisation of Θ. Least squares on the candidates alone is sharper than on all predecessors, and a
//! candidate that does not earn its penalty there is dropped, the weakest first. With `ΔRSS` the gain of a cause,
//! `n log(1 + ΔRSS/RSS)` is the gain in twice the log-likelihood: comparing it with a penalty is BIC, and a partial
//! F-test.

use super::elimination::{Columns, DenseTheta, Elimination, Factor, Rule, check_order};
use super::small::Spd;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::problem::numbering::inverse;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// Deviations from zero, in standard errors, from which a cause is a candidate. Lenient: candidates are tested again.
const SCREEN: f64 = 2.5;
/// Candidates of a variable, at most, that chance may add: regressing on k of them takes k³.
const BY_CHANCE: f64 = 30.0;

/// What is supposed of the noise variances.
#[derive(Debug, Clone, Copy)]
pub enum Noise<'a> {
    /// They are equal and unknown.
    Equal,
    /// They are these.
    Known(&'a [f64]),
}

impl Noise<'_> {
    /// Twice the negative log-likelihood of n samples, up to a constant, given what is left of each variance.
    fn misfit(self, n: f64, left: &[f64]) -> f64 {
        match self {
            Self::Equal => {
                let d = left.len() as f64;
                n * d * (left.iter().sum::<f64>() / d).ln()
            }
            Self::Known(variances) => n * left.iter().zip(variances).map(|(l, v)| l / v).sum::<f64>(),
        }
    }
}

/// Data summed up, and what a cause must be worth.
#[derive(Debug, Clone, Copy)]
pub struct Regression<'a> {
    /// The covariance.
    pub covariance: ArrayView2<'a, f64>,
    /// Number of samples n.
    pub samples: usize,
    /// What a cause must gain in twice the log-likelihood.
    pub penalty: f64,
    /// How fits are scored.
    pub noise: Noise<'a>,
    /// What is known of the edges.
    pub knowledge: &'a Knowledge,
}

/// A graph fitted along an order.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Least-squares weights, `B[i, j] ≠ 0` for i → j.
    pub b: CsMat<f64>,
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// What the causes leave of each variance.
    pub noise_variances: Vec<f64>,
    /// Twice the negative log-likelihood up to a constant, plus the penalty of every edge.
    pub score: f64,
}

/// Fit a graph along an order that a rule finds in Θ, the inverse of the covariance, with causes among all predecessors.
///
/// # Errors
/// When Θ is singular or not symmetric, when the covariance is another's, or when interrupted.
pub fn regress_along(
    data: &Regression,
    theta: &ArrayView2<f64>,
    rule: Rule,
    interrupt: &Interrupt,
) -> Result<Fit, IcidError> {
    data.check(theta.nrows())?;
    let factor = DenseTheta::new(theta, rule)?.factorise(interrupt)?;
    let mut candidates = candidates(&factor, data.samples, screen(theta.nrows()).min(data.penalty.sqrt()));
    candidates.reverse();
    let eliminated: Vec<u32> = factor.order().rev().collect();
    drop(factor);
    for (&effect, causes) in eliminated.iter().zip(&mut candidates) {
        data.respect(effect, causes);
    }
    data.fit_each(&eliminated, candidates, interrupt)
}

/// Fit a graph along an order, causes first, with causes among the neighbours in a symmetric pattern.
///
/// # Errors
/// When the covariance is singular or another's, the order is not one of its variables, or when interrupted.
pub fn regress_within(
    data: &Regression,
    order: &[usize],
    pattern: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<Fit, IcidError> {
    let d = pattern.rows();
    data.check(d)?;
    let order = check_order(order, d)?;
    let places = inverse(&order);
    let before = |j: u32| {
        let earlier = |&&i: &&usize| places[i] < places[j as usize];
        let row = pattern.indptr().outer_inds_sz(j as usize);
        pattern.indices()[row].iter().filter(earlier).map(|&i| i as u32).collect()
    };
    let eliminated: Vec<u32> = order.iter().rev().copied().collect();
    let candidates = eliminated
        .iter()
        .map(|&j| {
            let mut causes: Vec<u32> = before(j);
            data.respect(j, &mut causes);
            causes
        })
        .collect();
    data.fit_each(&eliminated, candidates, interrupt)
}

/// Deviations from which one of d variables is a candidate: more than d exp(−z²/2) do not exceed z by chance.
fn screen(d: usize) -> f64 {
    SCREEN.max((2.0 * (d as f64 / BY_CHANCE).ln().max(0.0)).sqrt())
}

/// For each variable, causes first, those that may be its causes.
fn candidates(factor: &Factor, samples: usize, screen: f64) -> Vec<Vec<u32>> {
    // Fisher's z: the k-th variable has k predecessors, and each is tested given the others.
    let degrees = |k: usize| (samples as f64 - k as f64 - 2.0).max(1.0);
    let cuts: Vec<f64> = (0..factor.order().count()).map(|k| (screen / degrees(k).sqrt()).tanh().powi(2)).collect();
    factor.correlated_predecessors(&cuts)
}

/// The causes of a variable that earn their penalty.
struct LeastSquares {
    causes: Vec<u32>,
    weights: Vec<f64>,
    /// What they leave of its variance.
    left: f64,
}

impl Regression<'_> {
    fn check(&self, d: usize) -> Result<(), IcidError> {
        if self.covariance.dim() == (d, d) {
            return Ok(());
        }
        Err(IcidError::Length { what: "covariance", expected: d, found: self.covariance.nrows() })
    }

    /// Take forbidden causes out, and required ones in.
    fn respect(&self, effect: u32, causes: &mut Vec<u32>) {
        causes.retain(|&cause| self.knowledge.allows(cause, effect) && !self.knowledge.requires(cause, effect));
        causes.extend(self.knowledge.causes(effect));
    }

    /// Fit variables, effects first, each to its candidates.
    fn fit_each(&self, eliminated: &[u32], candidates: Vec<Vec<u32>>, interrupt: &Interrupt) -> Result<Fit, IcidError> {
        let d = eliminated.len();
        let fits: Vec<LeastSquares> = eliminated
            .par_iter()
            .zip(candidates)
            .map_init(Vec::new, |buffer, (&variable, causes)| {
                if interrupt.is_raised() { Err(IcidError::Interrupted) } else { self.fit(variable, causes, buffer) }
            })
            .collect::<Result<_, _>>()?;
        let mut columns = Columns::with_capacity(d, d);
        for (&variable, fit) in eliminated.iter().zip(fits) {
            columns.push(variable, 1.0 / fit.left, fit.causes.into_iter().zip(fit.weights));
        }
        let same: Vec<u32> = (0..d as u32).collect();
        let Elimination { b, order, noise_variances } = columns.into_elimination(&same, 0.0);
        let score = self.noise.misfit(self.samples as f64, &noise_variances) + self.penalty * b.nnz() as f64;
        Ok(Fit { b, order, noise_variances, score })
    }

    /// Of more candidates than least squares can tell apart, keep the required and the most correlated.
    fn limit(&self, variable: u32, causes: &mut Vec<u32>) {
        if causes.len() + 3 <= self.samples {
            return;
        }
        let j = variable as usize;
        let strength = |i: u32| self.covariance[[i as usize, j]].powi(2) / self.covariance[[i as usize, i as usize]];
        let key = |&i: &u32| (!self.knowledge.requires(i, variable), -strength(i), i);
        causes.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        causes.truncate(self.samples / 2);
    }

    /// Drop the weakest cause while it is not worth its penalty.
    fn fit(&self, variable: u32, mut causes: Vec<u32>, buffer: &mut Vec<f64>) -> Result<LeastSquares, IcidError> {
        let j = variable as usize;
        let variance = self.covariance[[j, j]];
        let n = self.samples as f64;
        self.limit(variable, &mut causes);
        causes.sort_unstable();
        let normal = |causes: &[u32], buffer: &mut Vec<f64>| {
            let entry = |a: usize, b: usize| self.covariance[[causes[a] as usize, causes[b] as usize]];
            Spd::factorise(causes.len(), entry, std::mem::take(buffer)).ok_or(IcidError::Singular {
                index: j,
                pivot: 0.0,
                diagonal: variance,
            })
        };
        let covariances = |causes: &[u32]| causes.iter().map(|&i| self.covariance[[i as usize, j]]).collect::<Vec<_>>();
        let solve = |causes: &[u32], buffer: &mut Vec<f64>| {
            let right = covariances(causes);
            let factor = normal(causes, buffer)?;
            let weights = factor.solve(right.clone());
            let explained: f64 = weights.iter().zip(&right).map(|(w, c)| w * c).sum();
            Ok::<_, IcidError>((factor, weights, variance - explained))
        };

        let (factor, mut weights, mut left) = solve(&causes, buffer)?;
        let mut inverse = factor.into_inverse();
        let before = causes.len();
        loop {
            let gain = |k: usize| weights[k] * weights[k] / inverse.get(k, k);
            let free = (0..causes.len()).filter(|&k| !self.knowledge.requires(causes[k], variable));
            let weakest = free.min_by(|&a, &b| gain(a).total_cmp(&gain(b)));
            let Some(weakest) = weakest.filter(|&k| n * (gain(k) / left).ln_1p() < self.penalty) else { break };
            left += gain(weakest);
            let share = weights[weakest] / inverse.get(weakest, weakest);
            for (k, weight) in weights.iter_mut().enumerate() {
                *weight -= inverse.get(k, weakest) * share;
            }
            inverse.remove(weakest);
            weights.remove(weakest);
            causes.remove(weakest);
        }
        *buffer = inverse.into_buffer();
        if causes.len() < before {
            // The updates have gathered rounding.
            let (factor, exact, rest) = solve(&causes, buffer)?;
            (weights, left) = (exact, rest);
            *buffer = factor.into_buffer();
        }
        // Nothing is left of a combination of its causes, or rounding.
        if left.is_nan() || left <= f64::EPSILON * variance {
            return Err(IcidError::Singular { index: j, pivot: left, diagonal: variance });
        }
        Ok(LeastSquares { causes, weights, left })
    }
}
