//! The values of the variables, which show the shape of residuals.

use crate::algebra::check::{check_finite, check_not_empty};
use crate::algebra::vectors::vectorised;
use crate::error::IcidError;
use crate::score::{BLOCK_ROWS, Shape, Sums, is_continuous};
use ndarray::ArrayView2;

/// Standardised variables in rows, and the row of each variable.
#[derive(Debug, Clone)]
pub(super) struct Values<'a> {
    /// Row by row, `count` values each.
    entries: &'a [f64],
    count: usize,
    row_of: Vec<u32>,
    /// For each variable, whether its residuals can have a shape.
    is_continuous: Vec<bool>,
}

impl<'a> Values<'a> {
    /// Refer to values, of which variable i has the row `row_of[i]`.
    ///
    /// # Errors
    /// When there are no values, or rows are not stored one after another, or not finite.
    pub(super) fn new(rows: ArrayView2<'a, f64>, row_of: Vec<u32>) -> Result<Self, IcidError> {
        check_not_empty("values", rows.ncols())?;
        let entries = rows.to_slice().ok_or(IcidError::NotByRows { what: "values" })?;
        check_finite("values", &rows)?;
        let is_continuous = row_of.iter().map(|&i| is_continuous(rows.row(i as usize).iter().copied())).collect();
        Ok(Self { entries, count: rows.ncols(), row_of, is_continuous })
    }

    /// Values of each variable.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether the residuals of a variable can have a shape.
    pub(super) fn is_continuous(&self, variable: u32) -> bool {
        self.is_continuous[variable as usize]
    }

    /// The values of a variable.
    pub(super) fn of(&self, variable: u32) -> &[f64] {
        &self.entries[self.row_of[variable as usize] as usize * self.count..][..self.count]
    }

    /// The sums that a shape needs over the residuals of a variable, whose variance the correlations imply.
    pub(super) fn sums(&self, variable: u32, parents: &[u32], weights: &[f64], variance: f64, shape: Shape) -> Sums {
        let mut sums = Sums::default();
        vectorised(
            #[inline(always)]
            || {
                let mut buffer = [0.0; BLOCK_ROWS];
                for start in (0..self.count).step_by(BLOCK_ROWS) {
                    let len = BLOCK_ROWS.min(self.count - start);
                    let residual = &mut buffer[..len];
                    residual.copy_from_slice(&self.of(variable)[start..start + len]);
                    let of = |parent: u32| &self.of(parent)[start..start + len];
                    // Two at a time, which reads and writes the residuals half as often.
                    let (pairs, last) = parents.as_chunks::<2>();
                    for (&[one, other], weight) in pairs.iter().zip(weights.chunks(2)) {
                        for ((r, x), y) in residual.iter_mut().zip(of(one)).zip(of(other)) {
                            *r -= weight[0] * x;
                            *r -= weight[1] * y;
                        }
                    }
                    for (&parent, weight) in last.iter().zip(&weights[2 * pairs.len()..]) {
                        for (r, x) in residual.iter_mut().zip(of(parent)) {
                            *r -= weight * x;
                        }
                    }
                    shape.add(residual, variance, &mut sums);
                }
            },
        );
        sums
    }
}
