//! Checks of arguments against the data, before anything is computed.

use super::Standardised;
use crate::algebra::check::{check_finite_sparse, check_positive, check_shape, check_size};
use crate::algebra::permutation::check_order;
use crate::error::IcidError;
use sprs::CsMatView;

/// The fewest samples with which a correlation can be tested.
const FEWEST: usize = 5;

pub(crate) fn check_samples(samples: usize) -> Result<(), IcidError> {
    if samples >= FEWEST { Ok(()) } else { Err(IcidError::Samples { found: samples, least: FEWEST }) }
}

/// Require a row and a column for each variable, stored by rows.
pub(super) fn check_pattern(what: &'static str, data: Standardised, matrix: CsMatView<f64>) -> Result<(), IcidError> {
    check_shape(what, matrix.shape(), data.variables())?;
    if matrix.is_csr() { Ok(()) } else { Err(IcidError::NotByRows { what }) }
}

/// The same, and for every entry (i, j) an entry (j, i), whatever their values.
pub(super) fn check_symmetric(what: &'static str, data: Standardised, matrix: CsMatView<f64>) -> Result<(), IcidError> {
    check_pattern(what, data, matrix)?;
    match matrix.iter().find(|&(_, (row, column))| matrix.get(column, row).is_none()) {
        Some((_, (row, column))) => Err(IcidError::OneSided { what, row, column }),
        None => Ok(()),
    }
}

pub(super) fn check_correlations(data: Standardised, matrix: Option<CsMatView<f64>>) -> Result<(), IcidError> {
    let Some(matrix) = matrix else { return Ok(()) };
    check_pattern("correlations", data, matrix)?;
    check_finite_sparse("correlations", matrix)
}

/// Require a positive number for each variable.
pub(super) fn check_scales(what: &'static str, data: Standardised, values: &[f64]) -> Result<(), IcidError> {
    check_size(what, values.len(), data.variables())?;
    check_positive(what, values.iter().copied())
}

/// Require the number of each variable once.
pub(super) fn check_permutation(what: &'static str, data: Standardised, numbers: &[usize]) -> Result<(), IcidError> {
    check_size(what, numbers.len(), data.variables())?;
    check_order(numbers, numbers.len()).map(drop)
}
