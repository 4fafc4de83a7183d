//! Neighbourhood selection for Python, from standardised values.
//!
//! `values` is C-contiguous, of shape (d, m): variables in rows, centred and of length one. Arrays must not change during
//! a call.

use super::convert::{CsrParts, Numbers, dict, from_matrix};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::neighbours::{self, Standardised};
use numpy::PyReadonlyArray2;
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

/// Run a step on standardised values; copies of columns become an exception that the caller can give names to.
pub(super) fn run<T: Send>(
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
