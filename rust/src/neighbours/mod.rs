//! Markov blankets from few samples: neighbourhood selection (Meinshausen and Bühlmann 2006).
//!
//! The neighbours of a variable in Θ are the variables with nonzero coefficients in its regression on all others. With
//! fewer samples than variables that regression has to be regularised. The scaled lasso (`lasso`; Sun and Zhang 2012)
//! has a penalty proportional to the estimated noise, so that nothing has to be cross-validated. It selects too many
//! neighbours, among which `stepwise` chooses by tests, with least squares estimates that are free of the lasso's bias.
//! `refit` is the maximum likelihood estimate of Θ with zeros elsewhere.
//!
//! Only `refit` stores matrices of size d × d, one for each connected component. Each regression works on a small set of
//! variables; `rounds` then tests all others, by a matrix product for a block of regressions, or by sparse
//! `correlations`.

mod check;
mod correlations;
mod lasso;
mod precision;
mod refit;
mod rounds;
mod select;
mod standardised;
mod stepwise;

pub(crate) use check::check_samples;
pub use correlations::correlations;
pub use lasso::{Copies, scaled_lasso};
pub use precision::{NeighbourhoodPrecision, neighbourhood_precision};
pub use refit::refit;
pub use select::{lasso_level, select_neighbours};
pub(crate) use standardised::dot;
pub use standardised::{Standardised, standardise};
pub use stepwise::{Test, stepwise};

use crate::algebra::csr::Csr;
use sprs::CsMat;

/// Absolute correlation above which two variables are the same up to scale.
pub(crate) const SAME: f64 = 1.0 - 1e-10;

/// A matrix from its rows, each in any order.
fn from_rows(rows: &[Vec<(u32, f64)>]) -> CsMat<f64> {
    let fill =
        |i: usize, row: &mut Vec<(usize, f64)>| row.extend(rows[i].iter().map(|&(j, value)| (j as usize, value)));
    Csr::from_rows(rows.iter().map(Vec::len), fill).into_square()
}
