//! Neighbourhood selection: the scaled lasso proposes neighbours, and stepwise tests choose among them.

use super::check::{check_correlations, check_samples};
use super::{Standardised, Test, scaled_lasso, stepwise};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use sprs::{CsMat, CsMatView};

/// The symmetric pattern of neighbours, with ones for entries and without a diagonal.
///
/// The scaled lasso with the penalty [`lasso_level`] proposes neighbours of each variable, and
/// [`Test::extended_bic`] chooses among them. Two variables are neighbours if either regression selects the other: where
/// a cause has many effects, its own regression needs more samples to detect one of them.
///
/// With sparse correlations (see [`correlations`](super::correlations())), pairs that they lack count as uncorrelated.
///
/// # Errors
/// [`IcidError::Samples`] with fewer than five samples; [`IcidError::Copies`] if two variables are the same up to scale;
/// [`IcidError::Shape`] if the correlations belong to other variables; [`IcidError::Interrupted`].
///
/// # Examples
/// ```
/// use icid_rs::neighbours::{Standardised, select_neighbours, standardise};
/// use ndarray::array;
///
/// // Two variables that are nearly the same, and one that is orthogonal to both.
/// let values = array![
///     [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0],
///     [1.0, 1.0, 1.0, 0.9, -1.0, -1.0, -1.0, -0.9],
///     [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
/// ];
/// let (values, _) = standardise(values)?;
/// let data = Standardised::new(&values.view())?;
/// let pattern = select_neighbours(data, 8, None, &icid_rs::Interrupt::default())?;
/// assert_eq!((pattern.nnz(), pattern.get(0, 1), pattern.get(0, 2)), (2, Some(&1.0), None));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
pub fn select_neighbours(
    data: Standardised,
    samples: usize,
    correlations: Option<CsMatView<f64>>,
    interrupt: &Interrupt,
) -> Result<CsMat<f64>, IcidError> {
    check_samples(samples)?;
    check_correlations(data, correlations)?;
    let d = data.variables();
    if d == 1 {
        return Ok(CsMat::zero((1, 1)));
    }
    let (proposed, copies) = scaled_lasso(data, correlations, lasso_level(samples, d), interrupt)?;
    if let Some((first, second)) = copies {
        return Err(IcidError::Copies { first: first.min(second), second: first.max(second) });
    }
    let test = Test::extended_bic(samples, d)?;
    let (chosen, _) = stepwise(data, correlations, proposed.view(), None, test, interrupt)?;
    Ok(symmetric_pattern(&chosen))
}

/// `λ₀ = √(log d / n)`: the penalty of the scaled lasso in units of the noise. It selects too many rather than too few.
#[must_use]
pub fn lasso_level(samples: usize, d: usize) -> f64 {
    ((d as f64).ln() / samples as f64).sqrt()
}

/// Ones where a matrix or its transpose has an entry.
fn symmetric_pattern(matrix: &CsMat<f64>) -> CsMat<f64> {
    let ones = matrix.map(|_| 1.0);
    (&ones + &ones.transpose_view().to_csr()).map(|_| 1.0)
}
