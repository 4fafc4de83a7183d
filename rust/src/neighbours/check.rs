//! Checks of arguments against the data, before anything is computed.

use super::Standardised;
use crate::error::IcidError;
use sprs::CsMatView;

/// The fewest samples with which a correlation can be tested.
pub(super) const FEWEST: usize = 5;

pub(super) fn check_samples(samples: usize) -> Result<(), IcidError> {
    if samples < FEWEST {
        return Err(IcidError::Samples { found: samples, least: FEWEST });
    }
    Ok(())
}

/// Require a row and a column for each variable, stored by rows.
pub(super) fn check_pattern(what: &'static str, data: Standardised, matrix: CsMatView<f64>) -> Result<(), IcidError> {
    let (rows, columns) = matrix.shape();
    let expected = data.variables();
    if (rows, columns) != (expected, expected) {
        return Err(IcidError::Shape { what, rows, columns, expected });
    }
    if !matrix.is_csr() {
        return Err(IcidError::NotByRows { what });
    }
    Ok(())
}

/// The same, and for every entry (i, j) an entry (j, i), whatever their values.
pub(super) fn check_symmetric(what: &'static str, data: Standardised, matrix: CsMatView<f64>) -> Result<(), IcidError> {
    check_pattern(what, data, matrix)?;
    let transposed = matrix.transpose_view().to_csr();
    for (row, (own, mirrored)) in matrix.outer_iterator().zip(transposed.outer_iterator()).enumerate() {
        if own.indices() != mirrored.indices() {
            let missing = |column: &&usize| mirrored.indices().binary_search(column).is_err();
            let alone = own.indices().iter().find(missing);
            let place = alone.map(|&column| (row, column));
            // If no entry of this row is alone, an entry of its column is.
            let lacks = |column: &&usize| own.indices().binary_search(column).is_err();
            let (row, column) = place
                .or_else(|| mirrored.indices().iter().find(lacks).map(|&column| (column, row)))
                .unwrap_or((row, row));
            return Err(IcidError::OneSided { what, row, column });
        }
    }
    Ok(())
}

pub(super) fn check_correlations(data: Standardised, matrix: Option<CsMatView<f64>>) -> Result<(), IcidError> {
    let Some(matrix) = matrix else { return Ok(()) };
    check_pattern("correlations", data, matrix)?;
    match matrix.iter().find(|(value, _)| !value.is_finite()) {
        Some((&value, (row, column))) => Err(IcidError::NotFinite { what: "correlations", row, column, value }),
        None => Ok(()),
    }
}

pub(super) fn check_lengths(what: &'static str, found: usize, data: Standardised) -> Result<(), IcidError> {
    let expected = data.variables();
    if found == expected { Ok(()) } else { Err(IcidError::Size { what, expected, found }) }
}

pub(super) fn check_positive(what: &'static str, values: &[f64]) -> Result<(), IcidError> {
    match values.iter().enumerate().find(|&(_, &value)| !(value > 0.0 && value.is_finite())) {
        Some((index, &value)) => Err(IcidError::Positive { what, index, value }),
        None => Ok(()),
    }
}

/// Require the number of each variable once.
pub(super) fn check_permutation(what: &'static str, numbers: &[usize], data: Standardised) -> Result<(), IcidError> {
    check_lengths(what, numbers.len(), data)?;
    let mut seen = vec![false; numbers.len()];
    for &index in numbers {
        if index >= seen.len() || std::mem::replace(&mut seen[index], true) {
            return Err(IcidError::Order { index, dim: seen.len() });
        }
    }
    Ok(())
}
