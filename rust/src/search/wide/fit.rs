//! Least squares fits of a graph to the samples, and the correlations between its residuals.

use super::sparse::Sparse;
use crate::algebra::csr::from_entries;
use crate::algebra::least_squares::LeastSquares;
use crate::algebra::product::gram;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::neighbours::Standardised;
use crate::score::{chosen_variables, inflation};
use crate::sem::LinearSem;
use ndarray::Array2;
use rayon::prelude::*;
use sprs::CsMatView;

/// Fit a graph, given the causes of each variable and an order. `names` are the caller's numbers, in which the variances
/// and the result are.
pub(super) fn fit_graph(
    sparse: Sparse,
    names: &[u32],
    variances: &[f64],
    order: &[u32],
    causes: &[Vec<u32>],
    interrupt: &Interrupt,
) -> Result<LinearSem, IcidError> {
    let fits: Vec<(Vec<f64>, f64)> = causes
        .par_iter()
        .enumerate()
        .map(|(effect, causes)| {
            interrupt.check()?;
            let right: Vec<f64> = causes.iter().map(|&cause| sparse.correlation(cause, effect as u32)).collect();
            let entry = |a: usize, b: usize| sparse.correlation(causes[a], causes[b]);
            let fit = LeastSquares::solve(entry, &right, 1.0, Vec::new());
            // A linear combination of its parents has no residual variance, up to rounding.
            let (index, diagonal) = (names[effect] as usize, variances[names[effect] as usize]);
            match fit {
                Some(fit) if fit.left > f64::EPSILON => Ok((fit.weights, fit.left)),
                fit => Err(IcidError::Singular { index, pivot: fit.map_or(0.0, |fit| fit.left * diagonal), diagonal }),
            }
        })
        .collect::<Result<_, _>>()?;
    let d = names.len();
    let name = |i: usize| names[i] as usize;
    let edges = || {
        causes.iter().zip(&fits).enumerate().flat_map(|(effect, (causes, (weights, _)))| {
            let effect = name(effect);
            causes.iter().zip(weights).map(move |(&cause, weight)| {
                let cause = names[cause as usize] as usize;
                (cause, effect, weight * (variances[effect] / variances[cause]).sqrt())
            })
        })
    };
    let mut noise_variances = vec![0.0; d];
    for (number, (_, left)) in fits.iter().enumerate() {
        noise_variances[name(number)] = left * variances[name(number)];
    }
    let order = order.iter().map(|&i| name(i as usize)).collect();
    LinearSem { b: from_entries((d, d), edges), order, noise_variances }.in_range()
}

/// The inflation of the null: see [`null_inflation`](crate::score::null_inflation).
pub(super) fn residual_inflation(data: Standardised, variances: &[f64], b: CsMatView<f64>, samples: f64) -> f64 {
    let parents = b.to_csc();
    let chosen = chosen_variables(variances.iter().copied());
    let mut residuals = Array2::zeros((chosen.len(), data.samples()));
    for (&effect, mut row) in chosen.iter().zip(residuals.rows_mut()) {
        let column = parents.outer_view(effect);
        let causes = column
            .iter()
            .flat_map(|column| column.iter())
            .map(|(cause, weight)| (cause as u32, weight * (variances[cause] / variances[effect]).sqrt()));
        data.residual(effect as u32, causes, row.as_slice_mut().expect("rows are contiguous"));
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        row.mapv_inplace(|value| value / length);
    }
    let products = gram(residuals.view(), 1.0);
    let has_edge = |i: usize, j: usize| parents.get(i, j).is_some_and(|&weight| weight != 0.0);
    let mut squares = Vec::with_capacity(chosen.len() * chosen.len().saturating_sub(1) / 2);
    for (s, &one) in chosen.iter().enumerate() {
        for (r, &two) in chosen[..s].iter().enumerate() {
            if !has_edge(one, two) && !has_edge(two, one) {
                squares.push(products[[s, r]].powi(2));
            }
        }
    }
    inflation(squares, samples)
}
