//! Regression along an order: the causes of each variable among those before it.
//!
//! Given an order, the parents of a variable are among its predecessors. Candidates are its neighbours in Θ, which are
//! known already. But where the effects of several paths cancel, Θ has a zero between a cause and its effect; a regression
//! on all predecessors still finds the cause, by a partial correlation for each, at the cost of one factorisation of Θ.
//! Least squares on the candidates alone has smaller errors than on all predecessors; candidates that are not worth their
//! penalty are dropped, the weakest first. If a parent reduces the residual sum of squares to RSS by ΔRSS,
//! `n log(1 + ΔRSS/RSS)` is its gain in twice the log-likelihood: comparing it with a penalty is BIC, and a partial F-test.

use super::elimination::{Columns, DenseTheta, Factor, Rule};
use crate::algebra::check::{check_shape, check_square, check_variances};
use crate::algebra::least_squares::LeastSquares;
use crate::algebra::permutation::{check_order, inverse};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::score::Score;
use crate::sem::Fitted;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::CsMatView;

/// Fisher's z, in standard errors, from which a predecessor is a candidate. Lenient, because candidates are tested again.
const SCREEN: f64 = 2.5;
/// Largest expected number of false candidates of a variable: a regression on k candidates takes k³.
const BY_CHANCE: f64 = 30.0;

/// A covariance matrix, with the score and the background knowledge for graphs fitted to it.
#[derive(Debug, Clone, Copy)]
pub struct Regression<'a> {
    covariance: ArrayView2<'a, f64>,
    score: Score<'a>,
    knowledge: &'a Knowledge,
}

/// Fit a graph along the order in which a rule eliminates Θ, the inverse of the covariance, with parents among all
/// predecessors.
///
/// # Errors
/// When Θ is singular, not symmetric or of another size than the covariance, when the order contradicts a required edge,
/// or when interrupted.
pub fn regress_along(
    data: &Regression,
    theta: &ArrayView2<f64>,
    rule: Rule,
    interrupt: &Interrupt,
) -> Result<Fitted, IcidError> {
    data.check("theta", theta.dim())?;
    let factor = DenseTheta::new(theta, rule)?.factorise(interrupt)?;
    data.knowledge.check_places(&inverse(&factor.order().collect::<Vec<_>>()))?;
    let mut candidates = candidates(&factor, data.score.samples, screen(theta.nrows()).min(data.score.penalty.sqrt()));
    candidates.reverse();
    let eliminated: Vec<u32> = factor.order().rev().collect();
    drop(factor);
    for (&effect, causes) in eliminated.iter().zip(&mut candidates) {
        data.respect(effect, causes);
    }
    data.fit_each(&eliminated, candidates, interrupt)
}

/// Fit a graph along an order, causes first; row j of the pattern holds the candidates for parents of variable j.
///
/// # Errors
/// When the covariance is singular, the pattern has another size, the order is not a permutation of the variables or
/// contradicts a required edge, or when interrupted.
pub fn regress_within(
    data: &Regression,
    order: &[usize],
    pattern: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<Fitted, IcidError> {
    data.check("pattern", pattern.shape())?;
    let order = check_order(order, pattern.rows())?;
    let mut neighbours = vec![Vec::new(); pattern.rows()];
    for (_, (j, i)) in pattern {
        neighbours[j].push(i as u32);
    }
    regress_among(data, &order, neighbours, interrupt)
}

/// As [`regress_within`], with the neighbours of each variable in a list.
pub(crate) fn regress_among(
    data: &Regression,
    order: &[u32],
    mut neighbours: Vec<Vec<u32>>,
    interrupt: &Interrupt,
) -> Result<Fitted, IcidError> {
    let places = inverse(order);
    data.knowledge.check_places(&places)?;
    for (j, causes) in neighbours.iter_mut().enumerate() {
        causes.retain(|&i| places[i as usize] < places[j]);
        data.respect(j as u32, causes);
    }
    fit_graph(data, order, neighbours, interrupt)
}

/// Fit a given graph by least squares: the causes of each variable, and an order, causes first, that agrees with them.
pub(crate) fn fit_graph(
    data: &Regression,
    order: &[u32],
    mut causes: Vec<Vec<u32>>,
    interrupt: &Interrupt,
) -> Result<Fitted, IcidError> {
    let eliminated: Vec<u32> = order.iter().rev().copied().collect();
    let candidates = eliminated.iter().map(|&j| std::mem::take(&mut causes[j as usize])).collect();
    data.fit_each(&eliminated, candidates, interrupt)
}

/// Fisher's z from which one of d variables is a candidate: by chance, at most d exp(−z²/2) of them exceed z.
fn screen(d: usize) -> f64 {
    SCREEN.max((2.0 * (d as f64 / BY_CHANCE).ln().max(0.0)).sqrt())
}

/// For each variable, causes first, the predecessors that may be its parents.
fn candidates(factor: &Factor, samples: f64, screen: f64) -> Vec<Vec<u32>> {
    // Fisher's z: the k-th variable has k predecessors, and each is tested given the others.
    let degrees = |k: usize| (samples - k as f64 - 2.0).max(1.0);
    let cuts: Vec<f64> = (0..factor.order().count()).map(|k| (screen / degrees(k).sqrt()).tanh().powi(2)).collect();
    factor.correlated_predecessors(&cuts)
}

/// The parents of a variable that are worth their penalty.
struct Selected {
    causes: Vec<u32>,
    weights: Vec<f64>,
    /// The residual variance.
    left: f64,
}

impl<'a> Regression<'a> {
    /// Fit graphs to a covariance.
    ///
    /// # Errors
    /// When the covariance is not square, or the variances or the knowledge are those of another number of variables.
    pub fn new(covariance: ArrayView2<'a, f64>, score: Score<'a>, knowledge: &'a Knowledge) -> Result<Self, IcidError> {
        let rows = check_square("covariance", covariance.dim())?;
        check_variances(&covariance)?;
        score.check(rows)?;
        knowledge.check_dim(rows)?;
        Ok(Self { covariance, score, knowledge })
    }

    fn check(&self, what: &'static str, shape: (usize, usize)) -> Result<(), IcidError> {
        check_shape(what, shape, self.covariance.nrows())
    }

    /// Remove forbidden candidates and add required parents.
    fn respect(&self, effect: u32, causes: &mut Vec<u32>) {
        causes.retain(|&cause| self.knowledge.allows(cause, effect) && !self.knowledge.requires(cause, effect));
        causes.extend(self.knowledge.required_parents(effect));
    }

    /// Fit variables, effects first, each to its candidates.
    fn fit_each(
        &self,
        eliminated: &[u32],
        candidates: Vec<Vec<u32>>,
        interrupt: &Interrupt,
    ) -> Result<Fitted, IcidError> {
        let d = eliminated.len();
        let fits: Vec<Selected> = eliminated
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
        let sem = columns.into_sem(&same, 0.0).in_range()?;
        let score = self.score.total(&sem.noise_variances, sem.edges())?;
        Ok(Fitted { sem, score })
    }

    /// With about as many candidates as samples, keep only the required and the most correlated ones.
    fn limit(&self, variable: u32, causes: &mut Vec<u32>) {
        let samples = self.score.samples as usize;
        if causes.len() + 3 <= samples {
            return;
        }
        let j = variable as usize;
        let strength = |i: u32| self.covariance[[i as usize, j]].powi(2) / self.covariance[[i as usize, i as usize]];
        let key = |&i: &u32| (!self.knowledge.requires(i, variable), -strength(i), i);
        causes.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        causes.truncate(samples / 2);
    }

    /// Backward elimination: drop the weakest candidate while it is not worth its penalty.
    fn fit(&self, variable: u32, mut causes: Vec<u32>, buffer: &mut Vec<f64>) -> Result<Selected, IcidError> {
        let j = variable as usize;
        let variance = self.covariance[[j, j]];
        self.limit(variable, &mut causes);
        causes.sort_unstable();
        let solve = |causes: &[u32], buffer: &mut Vec<f64>| {
            let right: Vec<f64> = causes.iter().map(|&i| self.covariance[[i as usize, j]]).collect();
            let entry = |a: usize, b: usize| self.covariance[[causes[a] as usize, causes[b] as usize]];
            LeastSquares::solve(entry, &right, variance, std::mem::take(buffer)).ok_or(IcidError::Singular {
                index: j,
                pivot: 0.0,
                diagonal: variance,
            })
        };
        let before = causes.len();
        let may_drop = |cause: u32| !self.knowledge.requires(cause, variable);
        let fit = solve(&causes, buffer)?;
        let reduced = fit.drop_weakest(&mut causes, 0, may_drop, |share, left| self.score.is_significant(share, left));
        let (mut weights, mut left) = (reduced.weights, reduced.left);
        *buffer = reduced.buffer;
        if causes.len() < before {
            // Solve once more: the updates accumulate rounding errors.
            let exact = solve(&causes, buffer)?;
            left = exact.left;
            weights.clone_from(&exact.weights);
            *buffer = exact.into_buffer();
        }
        // A linear combination of its parents has no residual variance, up to rounding.
        if left.is_nan() || left <= f64::EPSILON * variance {
            return Err(IcidError::Singular { index: j, pivot: left, diagonal: variance });
        }
        Ok(Selected { causes, weights, left })
    }
}
