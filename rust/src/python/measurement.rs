//! The measurement layer: hidden common causes and errors of measurement.

use super::convert::{Indices, Matrix, Numbers};
use super::errors::to_python;
use super::long_call::LongCall;
use super::order::Sem;
use crate::measurement::{self, Layer};
use crate::sem::LinearSem;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

/// Weights, a causal order and noise variances.
type SemParts = (Matrix, Indices, Numbers);

/// A model with a measurement layer, fitted to a graph.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Settled {
    sem: Py<Sem>,
    /// d × k, the strongest hidden cause first.
    loadings: Py<PyArray2<f64>>,
    /// Twice the negative log-likelihood of a row, up to a constant.
    deviance: f64,
    /// Eigenvalues of the hidden causes, and the largest of what is left.
    spectrum: Vec<f64>,
}

fn to_sem((Matrix(b), Indices(order), Numbers(noise_variances)): SemParts) -> PyResult<LinearSem> {
    LinearSem::new(b, order, noise_variances).map_err(to_python)
}

fn to_layer(loadings: &PyReadonlyArray2<f64>, Numbers(errors): Numbers) -> Layer {
    Layer { loadings: loadings.as_array().as_standard_layout().into_owned(), errors: errors.into() }
}

/// Fit weights, noise variances and loadings to a graph, in turns. The arrays must not change during the call.
#[pyfunction]
#[pyo3(signature = (correlation, inverse, sem, loadings, errors, *, rounds, n_threads))]
#[allow(clippy::too_many_arguments)]
pub(super) fn settle(
    py: Python<'_>,
    correlation: PyReadonlyArray2<f64>,
    inverse: Option<PyReadonlyArray2<f64>>,
    sem: SemParts,
    loadings: PyReadonlyArray2<f64>,
    errors: Numbers,
    rounds: usize,
    n_threads: Option<usize>,
) -> PyResult<Settled> {
    let (sem, layer) = (to_sem(sem)?, to_layer(&loadings, errors));
    let (correlation, inverse) = (correlation.as_array(), inverse.as_ref().map(PyReadonlyArray2::as_array));
    let call = LongCall::new(n_threads, correlation.len(), None)?;
    let found =
        call.run(py, |monitor| measurement::settle(correlation, inverse, &sem, &layer, rounds, monitor.interrupt()))?;
    Ok(Settled {
        sem: Py::new(py, Sem::new(py, found.sem))?,
        loadings: found.layer.loadings.into_pyarray(py).unbind(),
        deviance: found.deviance,
        spectrum: found.spectrum,
    })
}

/// A deviance and its derivatives in loadings and error variances.
type Slopes<'py> = (f64, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Twice the negative log-likelihood of a row, up to a constant, and its derivatives in loadings and error variances.
#[pyfunction]
#[pyo3(signature = (correlation, sem, loadings, errors, *, n_threads))]
pub(super) fn deviance<'py>(
    py: Python<'py>,
    correlation: PyReadonlyArray2<f64>,
    sem: SemParts,
    loadings: PyReadonlyArray2<f64>,
    errors: Numbers,
    n_threads: Option<usize>,
) -> PyResult<Slopes<'py>> {
    let (sem, layer) = (to_sem(sem)?, to_layer(&loadings, errors));
    let correlation = correlation.as_array();
    let call = LongCall::new(n_threads, correlation.len(), None)?;
    let found = call.run(py, |_| measurement::deviance(correlation, &sem, &layer))?;
    Ok((found.value, found.by_loadings.into_pyarray(py), found.by_errors.into_pyarray(py)))
}
