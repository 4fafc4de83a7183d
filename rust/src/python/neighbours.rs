//! Neighbourhood selection across the border: few calls, each of which does the whole of a step of a fit.
//!
//! ```text
//! class CopiesError(ValueError): ...   # args == (first, second), numbers of columns that are the same up to scale
//!
//! def neighbourhood_support(values, samples, *, correlations=None, n_threads=None) -> CsrParts
//! def neighbourhood_precision(values, deviations, samples, *, n_threads=None) -> CsrParts
//! def wide_precision(values, variances, samples, *, n_threads=None) -> WidePrecision
//! def regress_on_rows(values, correlations, start, order, *, deviations, samples, penalty, n_threads=None)
//!     -> tuple[CsrParts, NDArray[float64]]
//!
//! class WidePrecision:        # frozen
//!     theta: CsrParts         # units of the data, symmetric to the bit
//!     correlations: CsrParts  # above sqrt(log d / n), both of each pair, without the diagonal
//! ```
//!
//! `values` is C-contiguous float64 of shape (d, m): variables in rows, centred and of length one. Matrices go in as
//! `(rows, columns, indptr, indices, data)` with sorted indices and come out as `(indptr, indices, data)`. Errors:
//! `CopiesError`; `ValueError` for fewer than five samples and for sizes that do not fit; `MemoryError`;
//! `KeyboardInterrupt`. Arrays must not change meanwhile.

use super::convert::{CsrArrays, CsrParts, from_matrix, to_matrix, unsigned};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::neighbours::{self, Standardised, Test};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sprs::CsMat;

create_exception!(
    icid_rs,
    CopiesError,
    PyValueError,
    "Two columns are the same up to scale; the arguments are their numbers."
);

/// The three arrays of a CSR matrix, kept alive.
type Kept = (Py<PyArray1<i64>>, Py<PyArray1<i64>>, Py<PyArray1<f64>>);

/// Row offsets, columns and values of Θ and of the correlations that were found on the way.
#[pyclass(frozen, module = "icid_rs._core")]
pub(super) struct WidePrecision {
    /// The inverse covariance in the units of the data.
    #[pyo3(get)]
    theta: Kept,
    /// Correlations above the cut, without the diagonal.
    #[pyo3(get)]
    correlations: Kept,
}

/// The symmetric pattern of neighbours; with sparse correlations, those stand for all.
#[pyfunction]
#[pyo3(signature = (values, samples, *, correlations=None, n_threads=None))]
pub(super) fn neighbourhood_support<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    samples: usize,
    correlations: Option<CsrArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<CsrParts<'py>> {
    let correlations = correlations.as_ref().map(to_matrix).transpose()?;
    let correlations = correlations.as_ref().map(CsMat::view);
    let pattern = run(py, &values, n_threads, |data, interrupt| {
        neighbours::select_neighbours(data, samples, correlations, interrupt)
    })?;
    Ok(from_matrix(py, pattern))
}

/// Θ by neighbourhood selection and a fit of greatest likelihood, in the units of the data.
#[pyfunction]
#[pyo3(signature = (values, deviations, samples, *, n_threads=None))]
pub(super) fn neighbourhood_precision<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    deviations: PyReadonlyArray1<'py, f64>,
    samples: usize,
    n_threads: Option<usize>,
) -> PyResult<CsrParts<'py>> {
    let deviations = deviations.as_array().to_vec();
    let theta = run(py, &values, n_threads, |data, interrupt| {
        neighbours::neighbourhood_precision(data, &deviations, samples, interrupt)
    })?;
    Ok(from_matrix(py, theta))
}

/// Θ of many variables, without any matrix of size d × d.
#[pyfunction]
#[pyo3(signature = (values, variances, samples, *, n_threads=None))]
pub(super) fn wide_precision<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    variances: PyReadonlyArray1<'py, f64>,
    samples: usize,
    n_threads: Option<usize>,
) -> PyResult<WidePrecision> {
    let variances = variances.as_array().to_vec();
    let wide = run(py, &values, n_threads, |data, interrupt| {
        neighbours::wide_precision(data, &variances, samples, interrupt)
    })?;
    let kept = |matrix| {
        let (offsets, indices, values) = from_matrix(py, matrix);
        (offsets.unbind(), indices.unbind(), values.unbind())
    };
    Ok(WidePrecision { theta: kept(wide.theta), correlations: kept(wide.correlations) })
}

/// B and the noise variances, in the units of the data, of regressions along an order, causes first.
#[pyfunction]
#[pyo3(signature = (values, correlations, start, order, *, deviations, samples, penalty, n_threads=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn regress_on_rows<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    correlations: CsrArrays<'py>,
    start: CsrArrays<'py>,
    order: PyReadonlyArray1<'py, i64>,
    deviations: PyReadonlyArray1<'py, f64>,
    samples: usize,
    penalty: f64,
    n_threads: Option<usize>,
) -> PyResult<(CsrParts<'py>, Bound<'py, PyArray1<f64>>)> {
    let (correlations, start, order) = (to_matrix(&correlations)?, to_matrix(&start)?, unsigned(&order)?);
    let deviations = deviations.as_array().to_vec();
    let test = Test::new(samples, penalty).map_err(to_python)?;
    let (b, noise_variances) = run(py, &values, n_threads, |data, interrupt| {
        let (correlations, start) = (correlations.view(), start.view());
        neighbours::regress_on_rows(data, correlations, &deviations, start, &order, test, interrupt)
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
