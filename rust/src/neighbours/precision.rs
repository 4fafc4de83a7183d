//! Θ from few samples: first its support, by neighbourhood selection, then its maximum likelihood fit.

use super::check::check_scales;
use super::{Standardised, refit, select_neighbours};
use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::order::{Rule, eliminate_sparse};
use sprs::{CsMat, CsMatView};
use std::time::{Duration, Instant};

/// An indefinite Θ has its off-diagonal entries reduced by this share until it is positive definite.
const SHRINKAGE: f64 = 0.05;

/// An estimate of Θ by [`neighbourhood_precision`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NeighbourhoodPrecision {
    /// The inverse covariance in the units of the data, exactly symmetric and positive definite.
    pub theta: CsMat<f64>,
    /// Time spent on the support.
    pub support_time: Duration,
    /// Time spent on the fit.
    pub fit_time: Duration,
}

/// Estimate Θ by neighbourhood selection.
///
/// [`select_neighbours`] finds the support, [`refit`] the Gaussian maximum likelihood estimate on it, from correlations
/// that are shrunk by `1 / samples`. If the fit has not fully converged it may be indefinite; its off-diagonal entries
/// are then reduced until it is positive definite. `deviations` are the standard deviations of the variables.
///
/// # Errors
/// As [`select_neighbours`] and [`refit`]; [`IcidError::Length`] or [`IcidError::Positive`] for the deviations.
pub fn neighbourhood_precision(
    data: Standardised,
    deviations: &[f64],
    samples: usize,
    interrupt: &Interrupt,
) -> Result<NeighbourhoodPrecision, IcidError> {
    let begin = Instant::now();
    check_scales("deviations", data, deviations)?;
    let support = select_neighbours(data, samples, None, interrupt)?;
    let support_time = begin.elapsed();
    let theta = refit(data, support.view(), 1.0 / samples as f64, interrupt)?;
    let mut theta = symmetric_mean(&theta);
    while !is_definite(theta.view(), interrupt)? {
        for (row, mut entries) in theta.outer_iterator_mut().enumerate() {
            entries.iter_mut().filter(|&(column, _)| column != row).for_each(|(_, entry)| *entry *= 1.0 - SHRINKAGE);
        }
    }
    for (row, mut entries) in theta.outer_iterator_mut().enumerate() {
        entries.iter_mut().for_each(|(column, entry)| *entry /= deviations[row] * deviations[column]);
    }
    let nonzero = || theta.iter().filter(|&(&value, _)| value != 0.0).map(|(&value, (i, j))| (i, j, value));
    let theta = from_entries(theta.shape(), nonzero);
    Ok(NeighbourhoodPrecision { theta, support_time, fit_time: begin.elapsed().saturating_sub(support_time) })
}

/// The mean of a matrix and its transpose.
fn symmetric_mean(theta: &CsMat<f64>) -> CsMat<f64> {
    (theta + &theta.transpose_view().to_csr()).map(|sum| sum / 2.0)
}

/// Whether Θ is positive definite: whether elimination finds only positive pivots.
fn is_definite(theta: CsMatView<f64>, interrupt: &Interrupt) -> Result<bool, IcidError> {
    // Only the pivots matter: dropping all weights saves storing them.
    match eliminate_sparse(theta, Rule::SmallestPivot { noise_variances: None }, f64::MAX, interrupt) {
        Ok(_) => Ok(true),
        Err(IcidError::Singular { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_with_positive_pivots_is_definite() {
        let calm = Interrupt::default();
        let with = |entry: f64| CsMat::new_csc((2, 2), vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, entry, entry, 4.0]);
        for (entry, definite) in [(0.0, true), (1.99, true), (2.0, false), (-2.5, false)] {
            assert_eq!(is_definite(with(entry).view(), &calm), Ok(definite), "{entry}");
        }
    }

    #[test]
    fn the_mean_with_the_transpose_is_symmetric() {
        let theta = CsMat::new((2, 2), vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, 0.5, 0.25, 3.0]);
        assert_eq!(symmetric_mean(&theta).data(), [2.0, 0.375, 0.375, 3.0]);
    }
}
