//! The measurement layer: a linear model seen through hidden common causes and errors of measurement.
//!
//! What is measured is `x = z + Λ h + ε`: z follows the linear model `z = Bᵀ z + e`, h are a few hidden causes of variance
//! 1, and ε are errors with the variances T. With `A = I − B` its covariance is
//!
//! ```text
//! Σ = A⁻ᵀ Ω A⁻¹ + Λ Λᵀ + T = A⁻ᵀ K A⁻¹,   K = Ω + Aᵀ T A + Aᵀ Λ Λᵀ A.
//! ```
//!
//! As det A = 1, twice the negative log-likelihood of a row is, up to a constant, the [`deviance`]
//! `log det K + tr K⁻¹ Aᵀ C A − d`. Given B, Ω and T, the Λ that minimises it is known in closed form: with `K₀ = L Lᵀ` the
//! part of K without Λ, and `l_i`, `v_i` the leading eigenpairs of `L⁻¹ Aᵀ C A L⁻ᵀ`, its columns are `√(l_i − 1) A⁻ᵀ L v_i`.
//! [`settle`] takes turns between that and regressions on the covariance without the layer.

mod leading;
mod model;
mod refit;
mod root;

pub use model::{Deviance, Layer, deviance};

use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::sem::LinearSem;
use leading::{Leading, leading};
use model::Measured;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use refit::refit;

/// What is left of C − T, at least, in every direction, when Λ Λᵀ is taken out.
const LEAST_LEFT: f64 = 1e-3;

/// A model with a measurement layer, fitted to a graph.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settled {
    /// Weights and noise variances.
    pub sem: LinearSem,
    /// Loadings, by decreasing strength, and error variances.
    pub layer: Layer,
    /// Twice the negative log-likelihood of a row, up to a constant that all models share.
    pub deviance: f64,
    /// Leading eigenvalues of the whitened covariance, one more than there are hidden causes: those of the causes, and the
    /// largest of what is left.
    pub spectrum: Vec<f64>,
}

/// Fit weights, noise variances and loadings to a graph, in turns.
///
/// `correlation` is that of what was measured, and `inverse` is the inverse of it less the error variances. There may be
/// no inverse without hidden causes. The loadings of `layer` are where the turns start.
///
/// # Examples
/// ```
/// use icid_rs::measurement::{Layer, settle};
/// use icid_rs::{Interrupt, LinearSem};
/// use ndarray::{Array2, array};
/// use sprs::TriMat;
///
/// // 0 → 1 with half of the variance explained, and a fifth of both variances error.
/// let mut edges = TriMat::new((2, 2));
/// edges.add_triplet(0, 1, 1.0);
/// let graph = LinearSem::new(edges.to_csr(), vec![0, 1], vec![1.0, 1.0])?;
/// let correlation = array![[1.0, 0.8 * 0.5_f64.sqrt()], [0.8 * 0.5_f64.sqrt(), 1.0]];
/// let layer = Layer { loadings: Array2::zeros((2, 0)), errors: array![0.2, 0.2] };
/// let found = settle(correlation.view(), None, &graph, &layer, 1, &Interrupt::default())?;
/// assert!((found.sem.b.get(0, 1).unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
///
/// # Errors
/// When sizes do not fit together, when causes of a variable are collinear once the layer is taken out, or when interrupted.
pub fn settle(
    correlation: ArrayView2<f64>,
    inverse: Option<ArrayView2<f64>>,
    graph: &LinearSem,
    layer: &Layer,
    rounds: usize,
    interrupt: &Interrupt,
) -> Result<Settled, IcidError> {
    layer.check(&correlation, graph)?;
    let k = layer.loadings.ncols();
    if k > 0 && inverse.is_none() {
        return Err(IcidError::NoInverse { what: "a fit of hidden causes" });
    }
    let (mut sem, mut layer) = (graph.clone(), layer.clone());
    let mut last: Option<Leading> = None;
    // Without loadings nothing changes from turn to turn.
    let mut turns = if k == 0 { 1 } else { rounds.max(1) };
    loop {
        if interrupt.is_raised() {
            return Err(IcidError::Interrupted);
        }
        if let Some(inverse) = &inverse {
            shorten(&mut layer.loadings, inverse);
        }
        sem = refit(&correlation, &sem, &layer)?;
        let measured = Measured::new(&correlation, &sem, &layer.errors)?;
        let found = leading(measured.whitened.view(), k + 1, last.as_ref().map(|leading| &leading.vectors));
        layer.loadings = measured.loadings(&sem, found.first(k));
        turns -= 1;
        if turns == 0 {
            let spectrum: Vec<f64> = found.values.iter().take(k + 1).copied().collect();
            return Ok(Settled { deviance: measured.deviance(&spectrum[..k]), sem, layer, spectrum });
        }
        last = Some(found);
    }
}

/// Scale loadings down where Λ Λᵀ would take out more than C − T has in some direction.
fn shorten(loadings: &mut Array2<f64>, inverse: &ArrayView2<f64>) {
    if loadings.ncols() == 0 {
        return;
    }
    let share = loadings.t().dot(&inverse.dot(loadings));
    let largest = leading(share.view(), 1, None).values[0];
    if largest > 1.0 - LEAST_LEFT {
        *loadings *= ((1.0 - LEAST_LEFT) / largest).sqrt();
    }
}

/// The columns of A⁻ᵀ Q: effects of shocks Q on the variables.
fn propagate(sem: &LinearSem, mut shocks: Array2<f64>) -> Array2<f64> {
    let parents = sem.b.to_csc();
    for &j in &sem.order {
        let mut row: Array1<f64> = shocks.row(j).to_owned();
        for (i, &weight) in parents.outer_view(j).iter().flat_map(|column| column.iter()) {
            row.scaled_add(weight, &shocks.row(i));
        }
        shocks.index_axis_mut(Axis(0), j).assign(&row);
    }
    shocks
}

/// Aᵀ X for A = I − B.
fn difference(sem: &LinearSem, x: &ArrayView2<f64>) -> Array2<f64> {
    let mut result = x.to_owned();
    for (&weight, (cause, effect)) in &sem.b {
        result.slice_mut(s![effect, ..]).scaled_add(-weight, &x.row(cause));
    }
    result
}
