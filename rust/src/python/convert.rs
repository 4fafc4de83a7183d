//! Sparse matrices and results across the border.

use super::errors::to_python;
use crate::knowledge::Knowledge;
use crate::model::KernelChoice;
use crate::solver::{Schedule, Solution};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sprs::CsMat;

/// Rows, columns, row offsets, column indices and values of a CSR matrix.
pub(super) type CsrArrays<'py> =
    (usize, usize, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// Row offsets, column indices and values of a CSR matrix on its way back.
pub(super) type CsrParts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Causes and effects of required edges, the same of forbidden ones, and tiers, negative for none.
pub(super) type KnowledgeArrays<'py> = (
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>),
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>),
    PyReadonlyArray1<'py, i64>,
);

/// B, status, residual, info, history.
pub(super) type SolutionParts<'py> = (CsrParts<'py>, &'static str, f64, Bound<'py, PyDict>, Vec<Bound<'py, PyDict>>);

/// A copy, which no other thread can change; its structure is checked.
pub(super) fn to_matrix(arrays: &CsrArrays) -> PyResult<CsMat<f64>> {
    let (rows, columns, offsets, indices, values) = arrays;
    let (offsets, indices) = (unsigned(offsets)?, unsigned(indices)?);
    CsMat::try_new((*rows, *columns), offsets, indices, values.as_array().to_vec())
        .map_err(|(_, _, _, error)| PyValueError::new_err(format!("not a valid CSR matrix: {error}")))
}

/// A copy of indices.
pub(super) fn unsigned(array: &PyReadonlyArray1<i64>) -> PyResult<Vec<usize>> {
    let convert = |&value: &i64| usize::try_from(value).map_err(|e| PyValueError::new_err(format!("{value}: {e}")));
    array.as_array().iter().map(convert).collect()
}

/// What is known of the edges between d variables.
pub(super) fn to_knowledge(arrays: Option<KnowledgeArrays>, d: usize) -> PyResult<Knowledge> {
    let Some((required, forbidden, tiers)) = arrays else { return Ok(Knowledge::none(d)) };
    let edges = |(causes, effects): &(PyReadonlyArray1<i64>, PyReadonlyArray1<i64>)| {
        let pairs = unsigned(causes)?.into_iter().zip(unsigned(effects)?);
        let number = |i: usize| u32::try_from(i).ok().filter(|_| i < d);
        let numbered: Option<Vec<_>> = pairs.map(|(i, j)| Some((number(i)?, number(j)?))).collect();
        numbered.ok_or_else(|| PyValueError::new_err(format!("knowledge of variables beyond the {d} there are")))
    };
    let tiers: Vec<_> = tiers.as_array().iter().map(|&tier| u32::try_from(tier).ok()).collect();
    if tiers.len() != d {
        return Err(PyValueError::new_err(format!("{} tiers for {d} variables", tiers.len())));
    }
    Knowledge::new(&edges(&required)?, &edges(&forbidden)?, tiers).map_err(to_python)
}

pub(super) fn signed(py: Python<'_>, values: Vec<usize>) -> Bound<'_, PyArray1<i64>> {
    values.into_iter().map(|i| i as i64).collect::<Vec<_>>().into_pyarray(py)
}

pub(super) fn from_matrix(py: Python<'_>, matrix: CsMat<f64>) -> CsrParts<'_> {
    let (offsets, indices, values) = matrix.into_raw_storage();
    (signed(py, offsets), signed(py, indices), values.into_pyarray(py))
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

pub(super) fn to_solution_parts(py: Python<'_>, solution: Solution, threads: usize) -> PyResult<SolutionParts<'_>> {
    let b = from_matrix(py, solution.b);
    let info = PyDict::new(py);
    info.set_item("iterations", solution.info.iterations)?;
    info.set_item("evaluations", solution.info.evaluations)?;
    info.set_item("rho", solution.info.rho)?;
    info.set_item("optimality", solution.info.optimality)?;
    info.set_item("kernel", solution.info.kernel.name())?;
    info.set_item("components", solution.info.components)?;
    info.set_item("support", solution.info.support)?;
    info.set_item("pairs", solution.info.pairs)?;
    info.set_item("indefinite_pair", solution.info.indefinite_pair)?;
    info.set_item("n_threads", threads)?;
    let timings = PyDict::new(py);
    timings.set_item("setup", solution.info.setup_time.as_secs_f64())?;
    timings.set_item("solve", solution.info.solve_time.as_secs_f64())?;
    info.set_item("timings", timings)?;

    let history = solution
        .history
        .iter()
        .map(|round| {
            let record = PyDict::new(py);
            record.set_item("round", round.round)?;
            record.set_item("rho", round.rho)?;
            record.set_item("iterations", round.iterations)?;
            record.set_item("objective", round.objective)?;
            record.set_item("optimality", round.optimality)?;
            record.set_item("residual", round.residual)?;
            Ok(record)
        })
        .collect::<PyResult<_>>()?;
    Ok((b, solution.status.name(), solution.residual, info, history))
}
