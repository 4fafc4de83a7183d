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

mod correlations;
mod lasso;
mod refit;
mod rounds;
mod sinks;
mod stepwise;

pub use correlations::correlations;
pub use lasso::{Copies, scaled_lasso};
pub use refit::refit;
pub use sinks::eliminate_sinks;
pub use stepwise::{Test, stepwise};

use crate::error::IcidError;
use ndarray::ArrayView2;
use sprs::CsMat;

/// Correlation from which two columns are the same up to scale.
const SAME: f64 = 1.0 - 1e-10;

/// Variables in rows, centred and of length one, so that inner products are correlations.
#[derive(Debug, Clone, Copy)]
pub struct Standardised<'a>(ArrayView2<'a, f64>);

impl<'a> Standardised<'a> {
    /// Take rows that lie in memory one after another.
    ///
    /// # Errors
    /// When there are none, or something is not finite.
    pub fn new(values: &ArrayView2<'a, f64>) -> Result<Self, IcidError> {
        if values.is_empty() || !values.is_standard_layout() {
            return Err(IcidError::Empty { what: "the table of standardised variables" });
        }
        for ((row, column), &value) in values.indexed_iter() {
            if !value.is_finite() {
                return Err(IcidError::NotFinite { what: "the table of standardised variables", row, column, value });
            }
        }
        Ok(Self(*values))
    }

    /// Number of variables d.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.0.nrows()
    }

    fn of(&self, variable: u32) -> &'a [f64] {
        let width = self.0.ncols();
        let start = variable as usize * width;
        &self.0.to_slice().expect("the layout was checked")[start..start + width]
    }

    fn correlation(&self, i: u32, j: u32) -> f64 {
        dot(self.of(i), self.of(j))
    }

    /// What is left of a variable when others, with their weights, are taken out.
    fn residual(&self, variable: u32, others: impl Iterator<Item = (u32, f64)>, out: &mut [f64]) {
        out.copy_from_slice(self.of(variable));
        for (other, weight) in others {
            for (out, value) in out.iter_mut().zip(self.of(other)) {
                *out -= weight * value;
            }
        }
    }
}

/// Sums of eight at a time, which the compiler can keep in registers; their order depends on the length alone.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (wide_a, wide_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = wide_a.remainder().iter().zip(wide_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in wide_a.zip(wide_b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// A matrix from its rows, each in any order.
fn from_rows(rows: Vec<Vec<(u32, f64)>>) -> CsMat<f64> {
    let d = rows.len();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for mut row in rows {
        row.sort_unstable_by_key(|&(column, _)| column);
        for (column, value) in row {
            indices.push(column as usize);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    CsMat::new((d, d), offsets, indices, values)
}
