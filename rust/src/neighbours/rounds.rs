//! Regressions of all variables, each on a small set of others, and what is outside of it looked at in between.
//!
//! A regression that has settled on its set needs to know whether any other variable should be in it: the inner
//! products of its residual with all of them. For a block of regressions this is one matrix product.

use super::{SAME, Standardised};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::{Array2, linalg::general_mat_mul, s};
use rayon::prelude::*;

/// Regressions that share a matrix product: enough for its full speed, few enough to share among threads.
const BLOCK: usize = 64;
/// Rounds after which a regression is left as it is.
const ROUNDS: usize = 50;

/// The regression of one variable on a few others.
pub(super) trait Regression: Send {
    /// Take in what the gradient, the inner products of all variables with the residual, asks for.
    ///
    /// Writes the new residual and returns true, or returns false if there is nothing to do.
    fn improve(&mut self, data: Standardised, gradient: &[f64], residual: &mut [f64]) -> bool;

    /// The residual to begin with.
    fn begin(&mut self, data: Standardised, residual: &mut [f64]);
}

/// Improve regressions until no other variable asks to be let in.
///
/// # Errors
/// When interrupted.
pub(super) fn settle<R: Regression>(
    data: Standardised,
    mut regressions: Vec<R>,
    interrupt: &Interrupt,
) -> Result<Vec<R>, IcidError> {
    regressions.par_chunks_mut(BLOCK).try_for_each(|block| settle_block(data, block, interrupt))?;
    Ok(regressions)
}

fn settle_block<R: Regression>(data: Standardised, block: &mut [R], interrupt: &Interrupt) -> Result<(), IcidError> {
    let mut residuals = Array2::zeros((block.len(), data.0.ncols()));
    let mut gradients = Array2::zeros((block.len(), data.len()));
    for (regression, mut residual) in block.iter_mut().zip(residuals.rows_mut()) {
        regression.begin(data, residual.as_slice_mut().expect("rows are contiguous"));
    }
    let mut open: Vec<usize> = (0..block.len()).collect();
    for _ in 0..ROUNDS {
        // The residuals of those still open are kept in the first rows.
        let count = open.len();
        general_mat_mul(
            1.0,
            &residuals.slice(s![..count, ..]),
            &data.0.t(),
            0.0,
            &mut gradients.slice_mut(s![..count, ..]),
        );
        let mut kept = Vec::with_capacity(count);
        for (row, &which) in open.iter().enumerate() {
            if interrupt.is_raised() {
                return Err(IcidError::Interrupted);
            }
            let gradient = gradients.row(row);
            let mut residual = residuals.row_mut(row);
            let residual = residual.as_slice_mut().expect("rows are contiguous");
            if block[which].improve(data, gradient.as_slice().expect("rows are contiguous"), residual) {
                let to = kept.len();
                if to < row {
                    let moved = residuals.row(row).to_owned();
                    residuals.row_mut(to).assign(&moved);
                }
                kept.push(which);
            }
        }
        open = kept;
        if open.is_empty() {
            break;
        }
    }
    Ok(())
}

/// The `most` variables with the largest gradient above a bound, other than some; ties go to smaller numbers.
pub(super) fn strongest(gradient: &[f64], bound: f64, most: usize, skip: impl Fn(u32) -> bool) -> Vec<u32> {
    let before = |&a: &u32, &b: &u32| gradient[b as usize].abs().total_cmp(&gradient[a as usize].abs()).then(a.cmp(&b));
    let mut found: Vec<u32> =
        (0..gradient.len() as u32).filter(|&i| gradient[i as usize].abs() > bound && !skip(i)).collect();
    if found.len() > most {
        found.select_nth_unstable_by(most, before);
        found.truncate(most);
    }
    found.sort_unstable_by(before);
    found
}

/// Two variables that are the same up to scale, if there are any: the first in the order of rows.
///
/// # Errors
/// When interrupted.
pub fn duplicates(data: Standardised, interrupt: &Interrupt) -> Result<Option<(usize, usize)>, IcidError> {
    let starts: Vec<usize> = (0..data.len()).step_by(BLOCK).collect();
    let found = starts
        .into_par_iter()
        .map(|start| {
            if interrupt.is_raised() {
                return Err(IcidError::Interrupted);
            }
            let stop = (start + BLOCK).min(data.len());
            let products = data.0.slice(s![start..stop, ..]).dot(&data.0.slice(s![start.., ..]).t());
            let pairs = products.indexed_iter().filter(|((i, j), value)| j > i && value.abs() > SAME);
            Ok(pairs.map(|((i, j), _)| (start + i, start + j)).min())
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().flatten().min())
}
