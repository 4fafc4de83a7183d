//! Markov blankets where there are few rows: neighbourhood selection (Meinshausen and Bühlmann 2006).
//!
//! The neighbours of a variable in Θ are those that its regression on all others needs. With no more rows than columns
//! that regression has to choose. `lasso` does, with a penalty that follows the noise (the scaled lasso of Sun and Zhang
//! 2012), so that nothing has to be cross-validated; it is lenient, and `stepwise` tests what it proposes by least
//! squares, without its bias. `refit` is the inverse covariance of greatest likelihood that is zero elsewhere; where
//! there are too many variables for that, [`eliminate_sinks`] finds an order, and `stepwise` a graph along it.
//!
//! Nothing of size d × d is made except by the refit. Each variable works on a small set of others; what is outside is
//! looked at in `rounds`, by a matrix product for a block of variables, or through sparse `correlations`.

mod check;
mod correlations;
mod lasso;
mod precision;
mod refit;
mod rounds;
mod select;
mod sinks;
mod standardised;
mod stepwise;
mod wide;

pub use correlations::correlations;
pub use lasso::{Copies, scaled_lasso};
pub use precision::neighbourhood_precision;
pub use refit::refit;
pub use select::{lasso_level, select_neighbours};
pub use sinks::eliminate_sinks;
pub use standardised::{Standardised, standardise};
pub use stepwise::{Test, stepwise};
pub use wide::{Wide, regress_on_rows, wide_precision};

use crate::algebra::csr::Csr;
use sprs::CsMat;

/// Correlation from which two columns are the same up to scale.
const SAME: f64 = 1.0 - 1e-10;

/// A matrix from its rows, each in any order.
fn from_rows(rows: &[Vec<(u32, f64)>]) -> CsMat<f64> {
    let fill =
        |i: usize, row: &mut Vec<(usize, f64)>| row.extend(rows[i].iter().map(|&(j, value)| (j as usize, value)));
    Csr::from_rows(rows.iter().map(Vec::len), fill).into_square()
}
