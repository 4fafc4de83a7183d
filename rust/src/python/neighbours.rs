//! Neighbourhood selection across the border.

use super::convert::{CsrArrays, CsrParts, from_matrix, to_matrix};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::neighbours::{self, Standardised, Test};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A few for each pair of variables: what a round costs.
fn work(values: &Standardised) -> usize {
    values.len().saturating_mul(values.len())
}

/// Row j: the weights of the scaled lasso that predict variable j. Variables are in rows, centred and of length one, and
/// must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (values, *, level, n_threads))]
pub(super) fn scaled_lasso<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    level: f64,
    n_threads: Option<usize>,
) -> PyResult<CsrParts<'py>> {
    let data = Standardised::new(values.as_array()).map_err(to_python)?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    let weights = call.run(py, |monitor| neighbours::scaled_lasso(data, level, monitor.interrupt()))?;
    Ok(from_matrix(py, weights))
}

/// Row j: the neighbours of variable j that stand a test, with their least-squares weights.
#[pyfunction]
#[pyo3(signature = (values, start, *, samples, penalty, n_threads))]
pub(super) fn stepwise<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    start: CsrArrays<'py>,
    samples: usize,
    penalty: f64,
    n_threads: Option<usize>,
) -> PyResult<CsrParts<'py>> {
    let data = Standardised::new(values.as_array()).map_err(to_python)?;
    let start = to_matrix(&start)?;
    check(data, start.shape())?;
    let test = Test { samples: samples as f64, penalty };
    let call = LongCall::new(n_threads, work(&data), None)?;
    let weights = call.run(py, |monitor| neighbours::stepwise(data, start.view(), test, monitor.interrupt()))?;
    Ok(from_matrix(py, weights))
}

/// The inverse correlation matrix with a given symmetric support; mirror images agree as far as the fit has converged.
#[pyfunction]
#[pyo3(signature = (values, support, *, shrinkage, n_threads))]
pub(super) fn refit<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    support: CsrArrays<'py>,
    shrinkage: f64,
    n_threads: Option<usize>,
) -> PyResult<CsrParts<'py>> {
    let data = Standardised::new(values.as_array()).map_err(to_python)?;
    let support = to_matrix(&support)?;
    check(data, support.shape())?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    let theta = call.run(py, |monitor| neighbours::refit(data, support.view(), shrinkage, monitor.interrupt()))?;
    Ok(from_matrix(py, theta))
}

/// Two variables that are the same up to scale, if there are any.
#[pyfunction]
#[pyo3(signature = (values, *, n_threads))]
pub(super) fn duplicates(
    py: Python<'_>,
    values: PyReadonlyArray2<'_, f64>,
    n_threads: Option<usize>,
) -> PyResult<Option<(usize, usize)>> {
    let data = Standardised::new(values.as_array()).map_err(to_python)?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    call.run(py, |monitor| neighbours::duplicates(data, monitor.interrupt()))
}

fn check(data: Standardised, shape: (usize, usize)) -> PyResult<()> {
    let d = data.len();
    if shape == (d, d) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("a pattern of {shape:?} does not fit {d} variables")))
}
