//! Checks of arguments that several modules share; each error names the argument and the place.

use crate::error::IcidError;
use ndarray::ArrayView2;
use sprs::CsMatView;

/// Check that a matrix is square; return its size.
pub(crate) fn check_square(what: &'static str, (rows, columns): (usize, usize)) -> Result<usize, IcidError> {
    if rows == columns { Ok(rows) } else { Err(IcidError::NotSquare { what, rows, columns }) }
}

/// Check that a matrix has a row and a column for each variable.
pub(crate) fn check_shape(
    what: &'static str,
    (rows, columns): (usize, usize),
    expected: usize,
) -> Result<(), IcidError> {
    let fits = (rows, columns) == (expected, expected);
    if fits { Ok(()) } else { Err(IcidError::Shape { what, rows, columns, expected }) }
}

/// Check that a part has the length that the others ask for.
pub(crate) fn check_size(what: &'static str, found: usize, expected: usize) -> Result<(), IcidError> {
    if found == expected { Ok(()) } else { Err(IcidError::Size { what, expected, found }) }
}

/// Check that an array has an entry for each variable of Θ.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), IcidError> {
    if found == expected { Ok(()) } else { Err(IcidError::Length { what, expected, found }) }
}

/// Check that a matrix or vector with this many entries is not empty.
pub(crate) fn check_not_empty(what: &'static str, entries: usize) -> Result<(), IcidError> {
    if entries > 0 { Ok(()) } else { Err(IcidError::Empty { what }) }
}

/// Check that a setting meets a requirement.
pub(crate) fn check_parameter(
    name: &'static str,
    value: f64,
    holds: bool,
    requirement: &'static str,
) -> Result<(), IcidError> {
    if holds { Ok(()) } else { Err(IcidError::Parameter { name, value, requirement }) }
}

/// Check that a number is positive and finite.
pub(crate) fn check_positive_parameter(name: &'static str, value: f64) -> Result<(), IcidError> {
    check_parameter(name, value, value > 0.0 && value.is_finite(), "positive and finite")
}

/// Check that a number is finite and not negative.
pub(crate) fn check_parameter_not_negative(name: &'static str, value: f64) -> Result<(), IcidError> {
    check_parameter(name, value, value >= 0.0 && value.is_finite(), "finite and >= 0")
}

/// Check that every number is positive and finite.
pub(crate) fn check_positive(what: &'static str, values: impl IntoIterator<Item = f64>) -> Result<(), IcidError> {
    match values.into_iter().enumerate().find(|(_, value)| !(*value > 0.0 && value.is_finite())) {
        Some((index, value)) => Err(IcidError::Positive { what, index, value }),
        None => Ok(()),
    }
}

/// Check that every number is finite and not negative.
pub(crate) fn check_not_negative(what: &'static str, values: &[f64]) -> Result<(), IcidError> {
    match values.iter().enumerate().find(|(_, value)| !(**value >= 0.0 && value.is_finite())) {
        Some((index, &value)) => Err(IcidError::Negative { what, index, value }),
        None => Ok(()),
    }
}

/// Check that the variances of a covariance matrix are positive and finite.
pub(crate) fn check_variances(covariance: &ArrayView2<f64>) -> Result<(), IcidError> {
    check_positive("the diagonal of the covariance", covariance.diag().iter().copied())
}

/// Check that every entry of a dense matrix is finite.
pub(crate) fn check_finite(what: &'static str, matrix: &ArrayView2<f64>) -> Result<(), IcidError> {
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(IcidError::NotFinite { what, row, column, value }),
        None => Ok(()),
    }
}

/// Check that every stored entry of a sparse matrix is finite.
pub(crate) fn check_finite_sparse(what: &'static str, matrix: CsMatView<f64>) -> Result<(), IcidError> {
    match matrix.iter().find(|(value, _)| !value.is_finite()) {
        Some((&value, (row, column))) => Err(IcidError::NotFinite { what, row, column, value }),
        None => Ok(()),
    }
}
