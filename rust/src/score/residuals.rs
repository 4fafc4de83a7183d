//! Residuals of a linear model, block by block of the rows.

use super::shape::BLOCK_ROWS;
use crate::algebra::check::{check_finite_sparse, check_not_empty, check_shape, check_size};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// Variables whose residuals one task computes.
const VARIABLES: usize = 64;

/// The residuals of a table given a model. Rows may be in single or double precision; they are never copied as a whole.
pub(super) struct Residuals<'a, T> {
    rows: ArrayView2<'a, T>,
    location: &'a [f64],
    /// Column j holds the weights of the parents of j.
    pub parents: CsMat<f64>,
}

impl<'a, T: Copy + Into<f64> + Sync> Residuals<'a, T> {
    /// `location` holds the means, `b` the weights, `b[i, j] ≠ 0` for i → j.
    pub fn new(rows: ArrayView2<'a, T>, location: &'a [f64], b: CsMatView<f64>) -> Result<Self, IcidError> {
        let (n, d) = rows.dim();
        check_not_empty("the table of rows", n)?;
        check_size("location", location.len(), d)?;
        check_shape("B", b.shape(), d)?;
        check_finite_sparse("B", b)?;
        Ok(Self { rows, location, parents: b.to_csc() })
    }

    /// The mean square of each residual; an error unless all are positive and finite.
    pub fn variances(&self, interrupt: &Interrupt) -> Result<Vec<f64>, IcidError> {
        let (n, d) = self.rows.dim();
        let mut squares = vec![0.0; d];
        self.for_each(&mut squares, interrupt, |_, residual, _, sum| {
            *sum += residual.iter().map(|r| r * r).sum::<f64>();
        })?;
        for (index, &value) in squares.iter().enumerate() {
            if !value.is_finite() {
                return Err(self.not_finite().unwrap_or(IcidError::Overflow { index, value }));
            }
            if value == 0.0 {
                return Err(IcidError::Constant { index, value: self.location[index] });
            }
        }
        Ok(squares.into_iter().map(|sum| sum / n as f64).collect())
    }

    /// Update a sum of each variable by its residuals, block by block of the rows. The centred variables of the block come
    /// with them, one after another.
    pub fn for_each<S: Send>(
        &self,
        sums: &mut [S],
        interrupt: &Interrupt,
        update: impl Fn(usize, &[f64], &[f64], &mut S) + Sync,
    ) -> Result<(), IcidError> {
        let Self { rows, location, parents } = self;
        let (n, d) = rows.dim();
        // Variables in rows: `centred[j * height + k]` is row k of the block.
        let mut centred = vec![0.0; d * BLOCK_ROWS.min(n)];
        for start in (0..n).step_by(BLOCK_ROWS) {
            interrupt.check()?;
            let height = BLOCK_ROWS.min(n - start);
            let centred = &mut centred[..d * height];
            centred.par_chunks_mut(VARIABLES * height).enumerate().for_each(|(task, columns)| {
                let first = task * VARIABLES;
                let width = columns.len() / height;
                for k in 0..height {
                    for c in 0..width {
                        columns[c * height + k] = rows[[start + k, first + c]].into() - location[first + c];
                    }
                }
            });
            let centred = &*centred;
            sums.par_chunks_mut(VARIABLES).enumerate().for_each(|(task, sums)| {
                let mut buffer = [0.0; BLOCK_ROWS];
                for (j, sums) in (task * VARIABLES..).zip(sums) {
                    let residual = &mut buffer[..height];
                    residual.copy_from_slice(&centred[j * height..(j + 1) * height]);
                    for (i, &weight) in parents.outer_view(j).iter().flat_map(|column| column.iter()) {
                        for (r, x) in residual.iter_mut().zip(&centred[i * height..(i + 1) * height]) {
                            *r -= weight * x;
                        }
                    }
                    update(j, residual, centred, sums);
                }
            });
        }
        Ok(())
    }

    /// The first row or mean that is not finite, if there is one.
    fn not_finite(&self) -> Option<IcidError> {
        let Self { rows, location, .. } = self;
        let mean = location.iter().enumerate().map(|(column, &value)| ("location", (0, column), value));
        let entries = rows.indexed_iter().map(|(place, &value)| ("the table of rows", place, value.into()));
        let (what, (row, column), value) = mean.chain(entries).find(|(_, _, value)| !value.is_finite())?;
        Some(IcidError::NotFinite { what, row, column, value })
    }
}
