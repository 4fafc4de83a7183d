//! Exact optima: the scores of all sets of parents, and the best graph for a penalty.

use super::long_call::LongCall;
use super::order::Sem;
use crate::search::{ExactTable as CrateTable, Margin};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Scores of every variable given every set of parents, without penalties.
#[pyclass(frozen, module = "icid_rs._core")]
pub(super) struct ExactTable {
    table: CrateTable,
    /// Number of scores.
    size: usize,
    threads: Option<usize>,
}

/// The graph with the best score of all.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Optimum {
    sem: Py<Sem>,
    /// For variables of unit variance; with equal noise variances, in the units of the covariance.
    score: f64,
    /// For each edge, in the order of the weights: the score lost by the best graph in which the two are not adjacent, and
    /// by the best graph with the edge reversed. Empty unless asked for.
    absent: Py<PyArray1<f64>>,
    reversed: Py<PyArray1<f64>>,
}

impl ExactTable {
    pub(super) fn new(table: CrateTable, size: usize, threads: Option<usize>) -> Self {
        Self { table, size, threads }
    }
}

#[pymethods]
impl ExactTable {
    /// Find the graph with the best score of all, and how clear its edges are.
    #[pyo3(signature = (*, penalty, margins=false))]
    fn optimum(&self, py: Python<'_>, penalty: f64, margins: bool) -> PyResult<Optimum> {
        let call = LongCall::new(self.threads, self.size, None)?;
        let found = call.run(py, |monitor| self.table.optimum(penalty, margins, monitor.interrupt()))?;
        let column =
            |margin: fn(&Margin) -> f64| found.margins.iter().map(margin).collect::<Vec<_>>().into_pyarray(py).unbind();
        let (absent, reversed) = (column(|margin| margin.absent), column(|margin| margin.reversed));
        Ok(Optimum { sem: Py::new(py, Sem::new(py, found.sem))?, score: found.score, absent, reversed })
    }
}
