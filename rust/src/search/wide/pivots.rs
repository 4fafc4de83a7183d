//! A start order from which each variable is the one best explained by those before it.
//!
//! With all correlations stored this is a Cholesky factorisation that takes the smallest pivot each time
//! ([`Searcher::smallest_pivots`](crate::search::Searcher::smallest_pivots)). Here each variable is regressed on those of
//! its candidates that come before and explain enough, and a regression is updated when another candidate is placed.

use super::sparse::Sparse;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::score::Score;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A candidate with a smaller share of its variance left is a linear combination of the regressors.
const COLLINEAR: f64 = 1e-8;
/// A regressor is taken in from this share of the gain that is worth an edge.
const LENIENT: f64 = 0.5;

/// The regression of a variable on variables that come before it.
#[derive(Debug, Clone, Default)]
struct Growing {
    regressors: Vec<u32>,
    /// Rows of the Cholesky factor of their correlations, one after another, up to the diagonal.
    factor: Vec<f64>,
    /// Covariances with the variable of what each adds to those before it, per standard deviation.
    slopes: Vec<f64>,
    /// Share of the variance that is explained.
    explained: f64,
}

impl Growing {
    /// Take in a regressor if it explains at least a share of what is left; true if it does.
    fn take(&mut self, sparse: Sparse, variable: u32, other: u32, least: f64) -> bool {
        let mut row: Vec<f64> = Vec::with_capacity(self.regressors.len() + 1);
        let mut factor = &self.factor[..];
        for (k, &regressor) in self.regressors.iter().enumerate() {
            let (own, rest) = factor.split_at(k + 1);
            factor = rest;
            let known: f64 = own.iter().zip(&row).map(|(a, b)| a * b).sum();
            row.push((sparse.correlation(regressor, other) - known) / own[k]);
        }
        let variance = 1.0 - row.iter().map(|entry| entry * entry).sum::<f64>();
        let known: f64 = row.iter().zip(&self.slopes).map(|(entry, slope)| entry * slope).sum();
        let covariance = sparse.correlation(variable, other) - known;
        let left = 1.0 - self.explained;
        let share = covariance * covariance / variance.max(COLLINEAR);
        if variance <= COLLINEAR || share < least * left || share >= left {
            return false;
        }
        row.push(variance.sqrt());
        self.slopes.push(covariance / variance.sqrt());
        self.factor.extend(row);
        self.regressors.push(other);
        self.explained += share;
        true
    }
}

/// Order the variables, in the numbers of the table.
pub(super) fn smallest_pivots(
    sparse: Sparse,
    candidates: &[Vec<u32>],
    score: &Score,
    interrupt: &Interrupt,
) -> Result<Vec<u32>, IcidError> {
    let d = candidates.len();
    let least = LENIENT * -(-score.penalty / score.samples).exp_m1();
    let mut fits = vec![Growing::default(); d];
    // Positive numbers have the order of their bits. A variable is placed by the entry in which most is explained.
    let entry = |variable: u32, explained: f64| (explained.to_bits(), Reverse(variable));
    let mut heap: BinaryHeap<_> = (0..d as u32).map(|variable| entry(variable, 0.0)).collect();
    let mut is_placed = vec![false; d];
    let mut order = Vec::with_capacity(d);
    while let Some((_, Reverse(variable))) = heap.pop() {
        if std::mem::replace(&mut is_placed[variable as usize], true) {
            continue;
        }
        interrupt.check()?;
        order.push(variable);
        for &other in candidates[variable as usize].iter().filter(|&&other| !is_placed[other as usize]) {
            let fit = &mut fits[other as usize];
            if fit.take(sparse, other, variable, least) {
                heap.push(entry(other, fit.explained));
            }
        }
        fits[variable as usize] = Growing::default();
    }
    Ok(order)
}
