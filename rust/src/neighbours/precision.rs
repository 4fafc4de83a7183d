//! The inverse covariance where there are few samples: neighbours first, then the fit on them.

use super::check::{check_lengths, check_positive};
use super::{Standardised, refit, select_neighbours};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::order::{Rule, eliminate_sparse};
use sprs::{CsMat, CsMatView};

/// Share of the off-diagonal entries that is taken off a Θ that is not positive definite, as often as it takes.
const SHRINKAGE: f64 = 0.05;

/// Θ by neighbourhood selection, in the units of the data: symmetric to the bit and positive definite.
///
/// [`select_neighbours`] finds the support, [`refit`] the Gaussian fit of greatest likelihood on it, to correlations
/// that are shrunk by `1 / samples`. A fit that has not quite converged may be indefinite; its off-diagonal entries are
/// then shrunk until it is not. `deviations` are the standard deviations of the variables.
///
/// # Errors
/// As [`select_neighbours`] and [`refit`]; [`IcidError::Length`] or [`IcidError::Positive`] for the deviations.
pub fn neighbourhood_precision(
    data: Standardised,
    deviations: &[f64],
    samples: usize,
    interrupt: &Interrupt,
) -> Result<CsMat<f64>, IcidError> {
    check_lengths("deviations", deviations.len(), data)?;
    check_positive("deviations", deviations)?;
    let support = select_neighbours(data, samples, None, interrupt)?;
    let theta = refit(data, support.view(), 1.0 / samples as f64, interrupt)?;
    let mut theta = symmetric_mean(theta);
    while !is_definite(theta.view(), interrupt)? {
        for (row, mut entries) in theta.outer_iterator_mut().enumerate() {
            entries.iter_mut().filter(|&(column, _)| column != row).for_each(|(_, entry)| *entry *= 1.0 - SHRINKAGE);
        }
    }
    for (row, mut entries) in theta.outer_iterator_mut().enumerate() {
        entries.iter_mut().for_each(|(column, entry)| *entry /= deviations[row] * deviations[column]);
    }
    Ok(without_zeros(&theta))
}

/// The mean of a matrix and its transpose, which has the same pattern.
fn symmetric_mean(mut theta: CsMat<f64>) -> CsMat<f64> {
    let mirrored = theta.transpose_view().to_csr();
    debug_assert_eq!(mirrored.indices(), theta.indices());
    for (entry, mirrored) in theta.data_mut().iter_mut().zip(mirrored.data()) {
        *entry = (*entry + mirrored) / 2.0;
    }
    theta
}

/// Can Θ be eliminated, variable by variable?
fn is_definite(theta: CsMatView<f64>, interrupt: &Interrupt) -> Result<bool, IcidError> {
    // No weights are wanted, so the largest number as the bound drops them all.
    match eliminate_sparse(theta, Rule::SmallestPivot { noise_variances: None }, f64::MAX, interrupt) {
        Ok(_) => Ok(true),
        Err(IcidError::Singular { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn without_zeros(matrix: &CsMat<f64>) -> CsMat<f64> {
    let rows = matrix.outer_iterator().map(|row| {
        row.iter().filter(|&(_, &value)| value != 0.0).map(|(column, &value)| (column as u32, value)).collect()
    });
    super::from_rows(&rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definite_is_what_has_positive_pivots() {
        let calm = Interrupt::default();
        let with = |entry: f64| CsMat::new_csc((2, 2), vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, entry, entry, 4.0]);
        for (entry, definite) in [(0.0, true), (1.99, true), (2.0, false), (-2.5, false)] {
            assert_eq!(is_definite(with(entry).view(), &calm), Ok(definite), "{entry}");
        }
    }

    #[test]
    fn the_mean_is_the_same_either_way() {
        let theta = CsMat::new((2, 2), vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, 0.5, 0.25, 3.0]);
        assert_eq!(symmetric_mean(theta).data(), [2.0, 0.375, 0.375, 3.0]);
    }
}
