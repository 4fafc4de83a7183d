//! Weights of a graph by least squares, on the covariance of what the measurement layer leaves.

use super::model::Layer;
use crate::algebra::csr::from_entries;
use crate::algebra::least_squares::LeastSquares;
use crate::error::IcidError;
use crate::sem::LinearSem;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// A residual variance below this share of the variable's is taken for none.
const LEAST: f64 = 1e-9;

/// Weights of the parents of one variable, and its residual variance.
type Equation = (Vec<usize>, Vec<f64>, f64);

/// Regress each variable on its parents in C − Λ Λᵀ − T.
pub(super) fn refit(correlation: &ArrayView2<f64>, graph: &LinearSem, layer: &Layer) -> Result<LinearSem, IcidError> {
    let parents = graph.b.to_csc();
    let entry = |i: usize, j: usize| {
        let shared = layer.loadings.row(i).dot(&layer.loadings.row(j));
        correlation[[i, j]] - shared - if i == j { layer.errors[i] } else { 0.0 }
    };
    let fit = |j: usize| -> Result<Equation, IcidError> {
        let own: Vec<usize> = parents.outer_view(j).map_or_else(Vec::new, |column| column.indices().to_vec());
        let shared: Vec<f64> = own.iter().map(|&i| entry(i, j)).collect();
        let variance = entry(j, j);
        let singular = |pivot| IcidError::Singular { index: j, pivot, diagonal: correlation[[j, j]] };
        let fit = LeastSquares::solve(|a, b| entry(own[a], own[b]), &shared, variance, Vec::new())
            .ok_or_else(|| singular(0.0))?;
        if fit.left.is_nan() || fit.left <= LEAST * correlation[[j, j]] {
            return Err(singular(fit.left));
        }
        Ok((own, fit.weights, fit.left))
    };
    let equations: Vec<Equation> = (0..graph.dim()).into_par_iter().map(fit).collect::<Result<_, _>>()?;
    let weights = equations
        .iter()
        .enumerate()
        .flat_map(|(j, (parents, weights, _))| parents.iter().zip(weights).map(move |(&i, &weight)| (i, j, weight)));
    let entries: Vec<(usize, usize, f64)> = weights.collect();
    let b = from_entries((graph.dim(), graph.dim()), || entries.iter().copied());
    LinearSem::new(b, graph.order.clone(), equations.into_iter().map(|(_, _, left)| left).collect())
}
