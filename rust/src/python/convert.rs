//! Sparse matrices, knowledge and named choices, from Python and back.

use super::errors::to_python;
use crate::knowledge::Knowledge;
use crate::model::KernelChoice;
use crate::solver::Schedule;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sprs::CsMat;

/// A copy of an array of numbers, which no other thread can change.
pub(super) struct Numbers(pub Vec<f64>);

/// A copy of an array of indices.
pub(super) struct Indices(pub Vec<usize>);

/// A copy of a CSR matrix, from its shape, row offsets, column indices and values.
pub(super) struct Matrix(pub CsMat<f64>);

/// Row offsets, column indices and values of a CSR matrix that is returned.
pub(super) type CsrParts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// The same, as the attribute of an object.
pub(super) type OwnedCsr = (Py<PyArray1<i64>>, Py<PyArray1<i64>>, Py<PyArray1<f64>>);

/// Causes and effects of edges.
type EdgeArrays = (Indices, Indices);

/// Required edges, forbidden edges, and the tier of each variable, negative for none.
pub(super) type KnowledgeArrays<'py> = (EdgeArrays, EdgeArrays, PyReadonlyArray1<'py, i64>);

/// A dict with these entries.
macro_rules! dict {
    ($py:expr, { $($key:literal: $value:expr),* $(,)? }) => {{
        let dict = pyo3::types::PyDict::new($py);
        $(dict.set_item($key, $value)?;)*
        dict
    }};
}
pub(super) use dict;

impl<'py> FromPyObject<'_, 'py> for Numbers {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArray1<f64> = object.extract()?;
        Ok(Self(array.as_array().to_vec()))
    }
}

impl<'py> FromPyObject<'_, 'py> for Indices {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArray1<i64> = object.extract()?;
        let convert = |&value: &i64| usize::try_from(value).map_err(|e| PyValueError::new_err(format!("{value}: {e}")));
        array.as_array().iter().map(convert).collect::<PyResult<_>>().map(Self)
    }
}

impl<'py> FromPyObject<'_, 'py> for Matrix {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (shape, Indices(offsets), Indices(indices), Numbers(values)) = object.extract()?;
        CsMat::try_new(shape, offsets, indices, values)
            .map(Self)
            .map_err(|(_, _, _, error)| PyValueError::new_err(format!("not a valid CSR matrix: {error}")))
    }
}

/// Prior knowledge of the edges between d variables.
pub(super) fn to_knowledge(arrays: Option<KnowledgeArrays>, d: usize) -> PyResult<Knowledge> {
    let Some((required, forbidden, tiers)) = arrays else { return Ok(Knowledge::none(d)) };
    let edges = |(Indices(causes), Indices(effects)): EdgeArrays| {
        let pairs = causes.into_iter().zip(effects);
        let number = |i: usize| u32::try_from(i).ok().filter(|_| i < d);
        let numbered: Option<Vec<_>> = pairs.map(|(i, j)| Some((number(i)?, number(j)?))).collect();
        numbered.ok_or_else(|| PyValueError::new_err(format!("knowledge of variables beyond the {d} there are")))
    };
    let tiers: Vec<_> = tiers.as_array().iter().map(|&tier| u32::try_from(tier).ok()).collect();
    if tiers.len() != d {
        return Err(PyValueError::new_err(format!("{} tiers for {d} variables", tiers.len())));
    }
    Knowledge::new(&edges(required)?, &edges(forbidden)?, tiers).map_err(to_python)
}

pub(super) fn signed(py: Python<'_>, values: Vec<usize>) -> Bound<'_, PyArray1<i64>> {
    values.into_iter().map(|i| i as i64).collect::<Vec<_>>().into_pyarray(py)
}

pub(super) fn from_matrix(py: Python<'_>, matrix: CsMat<f64>) -> CsrParts<'_> {
    let (offsets, indices, values) = matrix.into_raw_storage();
    (signed(py, offsets), signed(py, indices), values.into_pyarray(py))
}

pub(super) fn own_matrix(py: Python<'_>, matrix: CsMat<f64>) -> OwnedCsr {
    let (offsets, indices, values) = from_matrix(py, matrix);
    (offsets.unbind(), indices.unbind(), values.unbind())
}

pub(super) fn schedule_choice(name: &str) -> PyResult<Schedule> {
    match name {
        "restart" => Ok(Schedule::Restart),
        "paper" => Ok(Schedule::Paper),
        _ => Err(PyValueError::new_err(format!("schedule = {name:?}: it must be 'restart' or 'paper'"))),
    }
}

pub(super) fn kernel_choice(name: &str) -> PyResult<KernelChoice> {
    [KernelChoice::Auto, KernelChoice::Clique, KernelChoice::Dense]
        .into_iter()
        .find(|kernel| kernel.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("kernel = {name:?}: it must be 'auto', 'clique' or 'dense'")))
}
