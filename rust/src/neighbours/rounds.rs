//! Regressions of all variables, each on a small active set that grows in rounds.
//!
//! Between rounds the residual's inner products with all variables show whether another one should enter the set. For a
//! block of regressions they are one matrix product; where there are too many variables for that, they are computed from
//! the rows of sparse correlations.

use super::Standardised;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::{Array2, linalg::general_mat_mul, s};
use rayon::prelude::*;
use sprs::CsMatView;

/// Regressions that share a matrix product: enough for its full speed, few enough that all threads have work.
const BLOCK: usize = 64;
/// Rounds of a regression, at most.
const ROUNDS: usize = 50;

/// The regression of one variable on a few others.
pub(super) trait Regression: Send {
    /// The variable.
    fn variable(&self) -> u32;

    /// The others, with their weights.
    fn fitted(&self) -> impl Iterator<Item = (u32, f64)>;

    /// Add the variables that the gradient asks for, the inner products of all variables with the residual; true if
    /// there were any.
    fn improve(&mut self, data: Standardised, gradient: &[f64]) -> bool;
}

/// Improve the regression of each variable until no other variable should enter it, and collect the results.
///
/// Regressions are created and dropped block by block: they need much more memory than their results.
///
/// # Errors
/// When interrupted.
pub(super) fn run_rounds<R: Regression, T: Send>(
    data: Standardised,
    sparse: Option<CsMatView<f64>>,
    begin: impl Fn(u32) -> R + Sync,
    end: impl Fn(R) -> T + Sync,
    interrupt: &Interrupt,
) -> Result<Vec<T>, IcidError> {
    let d = data.variables();
    let run_block = |start: usize| {
        let mut block: Vec<R> = (start..(start + BLOCK).min(d)).map(|variable| begin(variable as u32)).collect();
        match sparse {
            Some(correlations) => run_by_correlations(data, correlations, &mut block, interrupt)?,
            None => run_by_products(data, &mut block, interrupt)?,
        }
        Ok(block.into_iter().map(&end).collect())
    };
    let blocks = (0..d).into_par_iter().step_by(BLOCK).map(run_block).collect::<Result<Vec<Vec<T>>, IcidError>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

fn run_by_products<R: Regression>(data: Standardised, block: &mut [R], interrupt: &Interrupt) -> Result<(), IcidError> {
    let mut residuals = Array2::zeros((block.len(), data.0.ncols()));
    let mut gradients = Array2::zeros((block.len(), data.variables()));
    let mut open: Vec<usize> = (0..block.len()).collect();
    for _ in 0..ROUNDS {
        let count = open.len();
        for (&which, mut residual) in open.iter().zip(residuals.rows_mut()) {
            let residual = residual.as_slice_mut().expect("rows are contiguous");
            data.residual(block[which].variable(), block[which].fitted(), residual);
        }
        let mut part = gradients.slice_mut(s![..count, ..]);
        general_mat_mul(1.0, &residuals.slice(s![..count, ..]), &data.0.t(), 0.0, &mut part);
        let mut kept = Vec::with_capacity(count);
        for (&which, gradient) in open.iter().zip(part.rows()) {
            interrupt.check()?;
            if block[which].improve(data, gradient.as_slice().expect("rows are contiguous")) {
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

fn run_by_correlations<R: Regression>(
    data: Standardised,
    correlations: CsMatView<f64>,
    block: &mut [R],
    interrupt: &Interrupt,
) -> Result<(), IcidError> {
    let mut gradient = vec![0.0; data.variables()];
    for regression in block {
        for _ in 0..ROUNDS {
            interrupt.check()?;
            gradient.fill(0.0);
            for (other, weight) in regression.fitted().chain([(regression.variable(), -1.0)]) {
                let row = correlations.outer_view(other as usize);
                for (i, &r) in row.iter().flat_map(|row| row.iter()) {
                    gradient[i] -= weight * r;
                }
            }
            if !regression.improve(data, &gradient) {
                break;
            }
        }
    }
    Ok(())
}

/// The `most` variables with the largest gradient above a bound, except skipped ones; ties go to smaller numbers.
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
