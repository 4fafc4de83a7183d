//! The steps of neighbourhood selection one by one, until Python no longer calls them: see `neighbours`.

use super::convert::{CsrArrays, CsrParts, from_matrix, signed, to_matrix, unsigned};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::neighbours::{self, Standardised, Test};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sprs::CsMat;

/// A few for each pair of variables: what a round costs.
fn work(values: &Standardised) -> usize {
    values.variables().saturating_mul(values.variables())
}

/// Correlations larger than a cut.
#[pyfunction]
#[pyo3(signature = (values, *, cut, n_threads))]
pub(super) fn correlations<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    cut: f64,
    n_threads: Option<usize>,
) -> PyResult<CsrParts<'py>> {
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    let found = call.run(py, |monitor| neighbours::correlations(data, cut, monitor.interrupt()))?;
    Ok(from_matrix(py, found))
}

/// Row j: the weights of the scaled lasso that predict variable j; and two variables that are the same. Variables are in
/// rows, centred and of length one, and must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (values, sparse, *, level, n_threads))]
pub(super) fn scaled_lasso<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    sparse: Option<CsrArrays<'py>>,
    level: f64,
    n_threads: Option<usize>,
) -> PyResult<(CsrParts<'py>, Option<(usize, usize)>)> {
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    let sparse = to_correlations(data, sparse)?;
    let sparse = sparse.as_ref().map(CsMat::view);
    let call = LongCall::new(n_threads, work(&data), None)?;
    let (weights, same) = call.run(py, |monitor| neighbours::scaled_lasso(data, sparse, level, monitor.interrupt()))?;
    Ok((from_matrix(py, weights), same))
}

/// Row j: the neighbours of variable j that stand a test, with their least-squares weights; and what is left of each
/// variance. Given places in an order, only those before count.
#[pyfunction]
#[pyo3(signature = (values, sparse, start, *, places, samples, penalty, n_threads))]
#[allow(clippy::too_many_arguments)]
pub(super) fn stepwise<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    sparse: Option<CsrArrays<'py>>,
    start: CsrArrays<'py>,
    places: Option<PyReadonlyArray1<'py, i64>>,
    samples: usize,
    penalty: f64,
    n_threads: Option<usize>,
) -> PyResult<(CsrParts<'py>, Bound<'py, PyArray1<f64>>)> {
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    let start = to_matrix(&start)?;
    check(data, start.shape())?;
    let places = places.map(|places| unsigned(&places)).transpose()?;
    places.iter().try_for_each(|places| check(data, (places.len(), places.len())))?;
    let sparse = to_correlations(data, sparse)?;
    let sparse = sparse.as_ref().map(CsMat::view);
    let test = Test::new(samples, penalty).map_err(to_python)?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    let (weights, left) = call.run(py, |monitor| {
        neighbours::stepwise(data, sparse, start.view(), places.as_deref(), test, monitor.interrupt())
    })?;
    Ok((from_matrix(py, weights), left.into_pyarray(py)))
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
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    let support = to_matrix(&support)?;
    check(data, support.shape())?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    let theta = call.run(py, |monitor| neighbours::refit(data, support.view(), shrinkage, monitor.interrupt()))?;
    Ok(from_matrix(py, theta))
}

/// Variables, causes first, by eliminating sinks among the neighbours in a symmetric pattern.
#[pyfunction]
#[pyo3(signature = (values, variances, pattern, *, samples, penalty, n_threads))]
pub(super) fn eliminate_sinks<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    variances: PyReadonlyArray1<'py, f64>,
    pattern: CsrArrays<'py>,
    samples: usize,
    penalty: f64,
    n_threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    let (pattern, variances) = (to_matrix(&pattern)?, variances.as_array().to_vec());
    check(data, pattern.shape())?;
    check(data, (variances.len(), variances.len()))?;
    let test = Test::new(samples, penalty).map_err(to_python)?;
    let call = LongCall::new(n_threads, work(&data), None)?;
    let order = call
        .run(py, |monitor| neighbours::eliminate_sinks(data, &variances, pattern.view(), test, monitor.interrupt()))?;
    Ok(signed(py, order))
}

fn to_correlations(data: Standardised, sparse: Option<CsrArrays>) -> PyResult<Option<CsMat<f64>>> {
    let sparse = sparse.as_ref().map(to_matrix).transpose()?;
    sparse.iter().try_for_each(|sparse| check(data, sparse.shape()))?;
    Ok(sparse)
}

fn check(data: Standardised, shape: (usize, usize)) -> PyResult<()> {
    let d = data.variables();
    if shape == (d, d) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("a pattern of {shape:?} does not fit {d} variables")))
}
