//! Scores, statistics of residuals, and tests of pairs of variables.

use super::convert::{Matrix, Numbers};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::neighbours::Standardised;
use crate::score::{Noise, Score, Shape};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sprs::CsMat;

/// What an edge must gain in twice the log-likelihood: log n + 4 log d.
#[pyfunction]
pub(super) fn edge_penalty(samples: f64, variables: usize) -> f64 {
    crate::score::edge_penalty(samples, variables)
}

/// The noise variances: equal, unequal, or known.
#[derive(FromPyObject)]
pub(super) enum NoiseArgument {
    Known(Numbers),
    Word(String),
}

/// Twice the negative log-likelihood up to a constant, plus the penalty of every edge.
#[pyfunction]
#[pyo3(signature = (residual_variances, edges, *, samples, penalty, noise))]
pub(super) fn score(
    residual_variances: Numbers,
    edges: usize,
    samples: f64,
    penalty: f64,
    noise: NoiseArgument,
) -> PyResult<f64> {
    let noise = match &noise {
        NoiseArgument::Known(Numbers(variances)) => Noise::Known(variances),
        NoiseArgument::Word(word) if word == "equal" => Noise::Equal,
        NoiseArgument::Word(word) if word == "unequal" => Noise::Unequal,
        NoiseArgument::Word(word) => {
            let message = format!("noise = {word:?}: it must be 'equal', 'unequal' or an array of variances");
            return Err(PyValueError::new_err(message));
        }
    };
    Score::new(samples, penalty, noise).and_then(|score| score.total(&residual_variances.0, edges)).map_err(to_python)
}

/// The shape of residuals with this name.
pub(super) fn to_shape(name: &str) -> PyResult<Shape> {
    let found = Shape::ALL.iter().find(|(known, _)| *known == name).map(|&(_, shape)| shape);
    found.ok_or_else(|| {
        let names: Vec<&str> = Shape::ALL.iter().map(|&(known, _)| known).collect();
        PyValueError::new_err(format!("shape = {name:?}: it must be one of {names:?}"))
    })
}

/// Rows of a table, in single or double precision.
#[derive(FromPyObject)]
pub(super) enum Rows<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// The gain in twice the log-likelihood from the non-Gaussian shape of each variable's residuals. The rows must not change
/// during the call.
#[pyfunction]
#[pyo3(signature = (rows, location, b, *, n_threads, shape="negentropy"))]
pub(super) fn shape_statistics<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    location: Numbers,
    b: Matrix,
    n_threads: Option<usize>,
    shape: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let shape = to_shape(shape)?;
    let found = match &rows {
        Rows::Double(rows) => statistics_of(py, shape, rows, &location.0, &b.0, n_threads),
        Rows::Single(rows) => statistics_of(py, shape, rows, &location.0, &b.0, n_threads),
    }?;
    Ok(found.into_pyarray(py))
}

fn statistics_of<T: numpy::Element + Copy + Into<f64>>(
    py: Python<'_>,
    shape: Shape,
    rows: &PyReadonlyArray2<'_, T>,
    location: &[f64],
    b: &CsMat<f64>,
    n_threads: Option<usize>,
) -> PyResult<Vec<f64>> {
    let rows = rows.as_array();
    LongCall::new(n_threads, rows.len(), None)?
        .run(py, |monitor| crate::score::shape_statistics(shape, rows, location, b.view(), monitor.interrupt()))
}

/// How far the residual of each edge's effect is from being independent of its cause, in the order of the entries of B.
/// The rows must not change during the call.
#[pyfunction]
#[pyo3(signature = (rows, location, b, *, n_threads))]
pub(super) fn dependence_statistics<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    location: Numbers,
    b: Matrix,
    n_threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    fn of<T: numpy::Element + Copy + Into<f64>>(
        py: Python<'_>,
        rows: &PyReadonlyArray2<'_, T>,
        location: &[f64],
        b: &CsMat<f64>,
        n_threads: Option<usize>,
    ) -> PyResult<Vec<f64>> {
        let rows = rows.as_array();
        LongCall::new(n_threads, rows.len(), None)?
            .run(py, |monitor| crate::score::dependence_statistics(rows, location, b.view(), monitor.interrupt()))
    }
    let found = match &rows {
        Rows::Double(rows) => of(py, rows, &location.0, &b.0, n_threads),
        Rows::Single(rows) => of(py, rows, &location.0, &b.0, n_threads),
    }?;
    Ok(found.into_pyarray(py))
}

/// Weights, and their variances.
type WeightErrors<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

fn to_arrays(py: Python<'_>, found: crate::score::WeightErrors) -> WeightErrors<'_> {
    (found.weights.into_pyarray(py), found.variances.into_pyarray(py))
}

/// Weights of least squares given a graph, and their variances times the degrees of freedom, one for each entry of B. The
/// covariance must not change during the call.
#[pyfunction]
#[pyo3(signature = (covariance, b, *, n_threads))]
pub(super) fn weight_errors<'py>(
    py: Python<'py>,
    covariance: PyReadonlyArray2<'py, f64>,
    b: Matrix,
    n_threads: Option<usize>,
) -> PyResult<WeightErrors<'py>> {
    let covariance = covariance.as_array();
    let call = LongCall::new(n_threads, b.0.nnz(), None)?;
    let found = call.run(py, |monitor| crate::score::weight_errors(covariance, b.0.view(), monitor.interrupt()))?;
    Ok(to_arrays(py, found))
}

/// The same for standardised variables in the rows of `values`, which must not change during the call.
#[pyfunction]
#[pyo3(signature = (values, b, *, n_threads))]
pub(super) fn wide_weight_errors<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    b: Matrix,
    n_threads: Option<usize>,
) -> PyResult<WeightErrors<'py>> {
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    let call = LongCall::new(n_threads, values.len()?, None)?;
    let found = call.run(py, |monitor| crate::score::wide_weight_errors(data, b.0.view(), monitor.interrupt()))?;
    Ok(to_arrays(py, found))
}

/// Weights of least squares given a graph, and their variances under unequal spread. The rows must not change during the
/// call.
#[pyfunction]
#[pyo3(signature = (rows, b, *, n_threads))]
pub(super) fn robust_weight_errors<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    b: Matrix,
    n_threads: Option<usize>,
) -> PyResult<WeightErrors<'py>> {
    let found = match &rows {
        Rows::Double(rows) => robust_errors_of(py, rows, &b.0, n_threads),
        Rows::Single(rows) => robust_errors_of(py, rows, &b.0, n_threads),
    }?;
    Ok(to_arrays(py, found))
}

fn robust_errors_of<T: numpy::Element + Copy + Into<f64>>(
    py: Python<'_>,
    rows: &PyReadonlyArray2<'_, T>,
    b: &CsMat<f64>,
    n_threads: Option<usize>,
) -> PyResult<crate::score::WeightErrors> {
    let rows = rows.as_array();
    LongCall::new(n_threads, rows.len(), None)?
        .run(py, |monitor| crate::score::robust_weight_errors(rows, b.view(), monitor.interrupt()))
}

/// Rows and columns of pairs of variables.
type Pairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Rows and columns of the pairs, i > j, whose partial correlation is significant by the procedure of Benjamini and
/// Hochberg. Θ must not change during the call.
#[pyfunction]
pub(super) fn discoveries<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    degrees: usize,
    alpha: f64,
) -> PyResult<Pairs<'py>> {
    let theta = theta.as_array();
    let call = LongCall::new(None, theta.len(), None)?;
    let pairs = call.run(py, |_| crate::support::discoveries(theta, degrees, alpha))?;
    let (rows, columns): (Vec<i64>, Vec<i64>) = pairs.iter().map(|&(i, j)| (i64::from(i), i64::from(j))).unzip();
    Ok((rows.into_pyarray(py), columns.into_pyarray(py)))
}

/// The correlation matrix of a covariance, which must not change during the call.
#[pyfunction]
pub(super) fn correlation_matrix<'py>(
    py: Python<'py>,
    covariance: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let covariance = covariance.as_array();
    let call = LongCall::new(None, covariance.len(), None)?;
    Ok(call.run(py, |_| crate::support::correlation_matrix(covariance))?.into_pyarray(py))
}
