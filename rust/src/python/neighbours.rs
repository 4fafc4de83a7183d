//! Neighbourhood selection for Python: each call estimates Θ, or fits a graph, from standardised values.
//!
//! `values` is C-contiguous, of shape (d, m): variables in rows, centred and of length one. Arrays must not change during
//! a call.

use super::convert::{CsrParts, Indices, Matrix, Numbers, OwnedCsr, dict, from_matrix, own_matrix};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::neighbours::{self, Standardised, Test};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    icid_rs,
    CopiesError,
    PyValueError,
    "Two columns are the same up to scale; the arguments are their numbers."
);

/// Θ without any matrix of size d × d, and the correlations that it was estimated from.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct WidePrecision {
    /// The inverse covariance in the units of the data.
    theta: OwnedCsr,
    /// Correlations above the cut, without the diagonal.
    correlations: OwnedCsr,
    /// Seconds of each stage.
    timings: Py<PyDict>,
}

/// Θ by neighbourhood selection and maximum likelihood, in the units of the data, and the seconds of each stage.
#[pyfunction]
#[pyo3(signature = (values, deviations, samples, *, n_threads=None))]
pub(super) fn neighbourhood_precision<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    deviations: Numbers,
    samples: usize,
    n_threads: Option<usize>,
) -> PyResult<(CsrParts<'py>, Bound<'py, PyDict>)> {
    let found = run(py, &values, n_threads, |data, interrupt| {
        neighbours::neighbourhood_precision(data, &deviations.0, samples, interrupt)
    })?;
    let timings = dict!(py, { "support": found.support_time.as_secs_f64(), "inverse": found.fit_time.as_secs_f64() });
    Ok((from_matrix(py, found.theta), timings))
}

/// Θ of very many variables, without any matrix of size d × d.
#[pyfunction]
#[pyo3(signature = (values, variances, samples, *, n_threads=None))]
pub(super) fn wide_precision<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    variances: Numbers,
    samples: usize,
    n_threads: Option<usize>,
) -> PyResult<WidePrecision> {
    let wide = run(py, &values, n_threads, |data, interrupt| {
        neighbours::wide_precision(data, &variances.0, samples, interrupt)
    })?;
    let timings = dict!(py, {
        "covariance": wide.correlation_time.as_secs_f64(),
        "support": wide.support_time.as_secs_f64(),
        "inverse": wide.fit_time.as_secs_f64(),
    });
    Ok(WidePrecision {
        theta: own_matrix(py, wide.theta),
        correlations: own_matrix(py, wide.correlations),
        timings: timings.unbind(),
    })
}

/// B and the noise variances, in the units of the data, of regressions along an order, causes first.
#[pyfunction]
#[pyo3(signature = (values, correlations, start, order, *, deviations, samples, penalty, n_threads=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub(super) fn regress_on_rows<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    correlations: Matrix,
    start: Matrix,
    order: Indices,
    deviations: Numbers,
    samples: usize,
    penalty: f64,
    n_threads: Option<usize>,
) -> PyResult<(CsrParts<'py>, Bound<'py, PyArray1<f64>>)> {
    let test = Test::new(samples, penalty).map_err(to_python)?;
    let (b, noise_variances) = run(py, &values, n_threads, |data, interrupt| {
        let (correlations, start) = (correlations.0.view(), start.0.view());
        neighbours::regress_on_rows(data, correlations, &deviations.0, start, &order.0, test, interrupt)
    })?;
    Ok((from_matrix(py, b), noise_variances.into_pyarray(py)))
}

/// Run a step on standardised values; copies of columns become an exception that the caller can give names to.
fn run<T: Send>(
    py: Python<'_>,
    values: &PyReadonlyArray2<'_, f64>,
    n_threads: Option<usize>,
    step: impl FnOnce(Standardised, &Interrupt) -> Result<T, IcidError> + Send,
) -> PyResult<T> {
    let data = Standardised::new(&values.as_array()).map_err(to_python)?;
    // A round costs a few operations for each pair of variables.
    let pairs = data.variables().saturating_mul(data.variables());
    let call = LongCall::new(n_threads, pairs, None)?;
    let outcome = call.run(py, |monitor| match step(data, monitor.interrupt()) {
        Err(IcidError::Copies { first, second }) => Ok(Err((first, second))),
        result => result.map(Ok),
    })?;
    outcome.map_err(CopiesError::new_err)
}
