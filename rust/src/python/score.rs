//! Scores, statistics of residuals, and tests of pairs of variables.

use super::convert::{CsrArrays, to_matrix};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::score::{Noise, Score, Shape};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What an edge must gain in twice the log-likelihood: log n + 4 log d.
#[pyfunction]
pub(super) fn edge_penalty(samples: f64, variables: usize) -> f64 {
    crate::score::edge_penalty(samples, variables)
}

/// What is assumed about noise variances: a word, or the variances themselves.
#[derive(FromPyObject)]
pub(super) enum NoiseArgument<'py> {
    Known(PyReadonlyArray1<'py, f64>),
    Word(String),
}

/// Twice the negative log-likelihood up to a constant, plus the penalty of every edge.
#[pyfunction]
#[pyo3(signature = (residual_variances, edges, *, samples, penalty, noise))]
pub(super) fn score(
    residual_variances: PyReadonlyArray1<'_, f64>,
    edges: usize,
    samples: f64,
    penalty: f64,
    noise: NoiseArgument<'_>,
) -> PyResult<f64> {
    let known;
    let noise = match noise {
        NoiseArgument::Known(variances) => {
            known = variances.as_array().to_vec();
            Noise::Known(&known)
        }
        NoiseArgument::Word(word) if word == "equal" => Noise::Equal,
        NoiseArgument::Word(word) if word == "unequal" => Noise::Unequal,
        NoiseArgument::Word(word) => {
            let message = format!("noise = {word:?}: it must be 'equal', 'unequal' or an array of variances");
            return Err(PyValueError::new_err(message));
        }
    };
    let left = residual_variances.as_array().to_vec();
    Score::new(samples, penalty, noise).and_then(|score| score.total(&left, edges)).map_err(to_python)
}

/// Rows of a table, in single or double precision.
#[derive(FromPyObject)]
pub(super) enum Rows<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// What the shape of each variable's residuals adds to twice the log-likelihood. The rows must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (rows, location, b, *, n_threads))]
pub(super) fn shape_statistics<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    location: PyReadonlyArray1<'py, f64>,
    b: CsrArrays<'py>,
    n_threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (location, b, shape) = (location.as_array().to_vec(), to_matrix(&b)?, Shape::default());
    let found = match &rows {
        Rows::Double(rows) => {
            let rows = rows.as_array();
            LongCall::new(n_threads, rows.len(), None)?.run(py, |monitor| {
                crate::score::shape_statistics(shape, rows, &location, b.view(), monitor.interrupt())
            })
        }
        Rows::Single(rows) => {
            let rows = rows.as_array();
            LongCall::new(n_threads, rows.len(), None)?.run(py, |monitor| {
                crate::score::shape_statistics(shape, rows, &location, b.view(), monitor.interrupt())
            })
        }
    }?;
    Ok(found.into_pyarray(py))
}

/// Rows and columns of the pairs, i > j, whose partial correlation Benjamini and Hochberg find to differ from zero. Θ must
/// not change meanwhile.
#[pyfunction]
pub(super) fn discoveries<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    degrees: usize,
    alpha: f64,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
    let theta = theta.as_array();
    let call = LongCall::new(None, theta.len(), None)?;
    let pairs = call.run(py, |_| crate::support::discoveries(theta, degrees, alpha))?;
    let (rows, columns): (Vec<i64>, Vec<i64>) = pairs.iter().map(|&(i, j)| (i64::from(i), i64::from(j))).unzip();
    Ok((rows.into_pyarray(py), columns.into_pyarray(py)))
}

/// A covariance divided by standard deviations. It must not change meanwhile.
#[pyfunction]
pub(super) fn correlation_matrix<'py>(
    py: Python<'py>,
    covariance: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let covariance = covariance.as_array();
    let call = LongCall::new(None, covariance.len(), None)?;
    Ok(call.run(py, |_| crate::support::correlation_matrix(covariance))?.into_pyarray(py))
}
