//! Searches among variables that are blocks of columns, for Python.

use super::convert::{CsrParts, Indices, KnowledgeArrays, Matrix, from_matrix, signed, to_knowledge};
use super::errors::to_python;
use super::exact::ExactTable;
use super::long_call::LongCall;
use super::search::{BudgetItems, Searched};
use crate::Blocks;
use crate::search::BlockSearcher as CrateSearcher;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;

/// Searches for graphs among variables that are blocks of columns, with unequal noise variances and Gaussian residuals.
/// The weights of graphs are the strengths of their edges, their noise variances are shares of generalised variances.
#[pyclass(frozen, module = "icid_rs._core")]
pub(super) struct BlockSearcher {
    searcher: CrateSearcher,
    columns: usize,
    threads: Option<usize>,
}

#[pymethods]
impl BlockSearcher {
    #[new]
    #[pyo3(signature = (covariance, inverse, offsets, is_category, *, samples, knowledge, n_threads))]
    #[allow(clippy::too_many_arguments)] // Keywords in Python.
    fn new<'py>(
        py: Python<'py>,
        covariance: PyReadonlyArray2<'py, f64>,
        inverse: Option<PyReadonlyArray2<'py, f64>>,
        offsets: Indices,
        is_category: PyReadonlyArray1<'py, bool>,
        samples: usize,
        knowledge: Option<KnowledgeArrays<'py>>,
        n_threads: Option<usize>,
    ) -> PyResult<Self> {
        let blocks = Blocks::new(&offsets.0).map_err(to_python)?;
        let knowledge = to_knowledge(knowledge, blocks.len())?;
        let (covariance, inverse) = (covariance.as_array(), inverse.as_ref().map(|inverse| inverse.as_array()));
        let is_category: Vec<bool> = is_category.as_array().to_vec();
        let call = LongCall::new(n_threads, covariance.len(), None)?;
        let searcher =
            call.run(py, |_| CrateSearcher::new(covariance, inverse, &blocks, &is_category, samples, &knowledge))?;
        Ok(Self { searcher, columns: blocks.columns(), threads: n_threads })
    }

    /// Search for the graph with the best score, from orders of the variables, causes first.
    #[pyo3(signature = (starts, *, penalty, budget))]
    fn search(&self, py: Python<'_>, starts: Vec<Indices>, penalty: f64, budget: BudgetItems) -> PyResult<Searched> {
        let starts: Vec<_> = starts.into_iter().map(|start| start.0).collect();
        let budget = budget.budget()?;
        let call = self.call(self.columns * self.columns)?;
        let found = call.run(py, |monitor| self.searcher.search(&starts, penalty, budget, monitor.interrupt()))?;
        Searched::new(py, found)
    }

    /// Score all sets of parents, for exact optima with any penalty.
    fn exact_table(&self, py: Python<'_>) -> PyResult<ExactTable> {
        let d = self.searcher.len();
        // Scores of all sets of parents; beyond so many variables, an error.
        let size = d << d.min(30);
        let table = self.call(size)?.run(py, |monitor| self.searcher.exact_table(monitor.interrupt()))?;
        Ok(ExactTable::new(table, size, self.threads))
    }

    /// About the operations and the bytes of an exact optimum, and whether that is cheap.
    fn exact_cost(&self) -> (f64, f64, bool) {
        let cost = self.searcher.exact_cost();
        (cost.operations, cost.bytes, cost.is_cheap())
    }

    /// How often the classes of resamples join two variables, and in how many a direction is compelled: two matrices as
    /// (offsets, indices, values). `counts` says how often each row comes in each resample.
    #[pyo3(signature = (rows, counts, order, *, penalty, budget))]
    fn search_resamples<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        counts: PyReadonlyArray2<'py, u16>,
        order: Indices,
        penalty: f64,
        budget: BudgetItems,
    ) -> PyResult<(CsrParts<'py>, CsrParts<'py>)> {
        let budget = budget.budget()?;
        let (rows, counts) = (rows.as_array(), counts.as_array());
        let call = self.call(rows.len().saturating_mul(counts.nrows()))?;
        let found = call.run(py, |monitor| {
            self.searcher.search_resamples(rows, counts, &order.0, penalty, budget, monitor.interrupt())
        })?;
        Ok((from_matrix(py, found.joined), from_matrix(py, found.directed)))
    }

    /// As `search_resamples`, given the covariance matrix of the columns of each resample.
    #[pyo3(signature = (covariances, order, *, penalty, budget))]
    fn search_covariances<'py>(
        &self,
        py: Python<'py>,
        covariances: PyReadonlyArray3<'py, f64>,
        order: Indices,
        penalty: f64,
        budget: BudgetItems,
    ) -> PyResult<(CsrParts<'py>, CsrParts<'py>)> {
        let (covariances, budget) = (covariances.as_array(), budget.budget()?);
        let found = self.call(covariances.len().saturating_mul(10))?.run(py, |monitor| {
            self.searcher.search_covariances(covariances, &order.0, penalty, budget, monitor.interrupt())
        })?;
        Ok((from_matrix(py, found.joined), from_matrix(py, found.directed)))
    }

    /// Order the variables so that each is the one that those before it explain best.
    fn smallest_pivots<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let order = self.call(self.columns * self.columns)?.run(py, |_| Ok(self.searcher.smallest_pivots()))?;
        Ok(signed(py, order))
    }

    /// The regressions of a graph in the units of the table, and the covariances of residuals within each variable: two
    /// matrices over columns as (offsets, indices, values).
    fn coefficients<'py>(&self, py: Python<'py>, b: Matrix) -> PyResult<(CsrParts<'py>, CsrParts<'py>)> {
        let found = self.call(self.columns * self.columns)?.run(py, |_| self.searcher.coefficients(b.0.view()))?;
        Ok((from_matrix(py, found.weights), from_matrix(py, found.residuals)))
    }

    /// Inflation of the null distribution: how much wider than by chance the correlations between residuals are spread.
    fn null_inflation(&self, py: Python<'_>, b: Matrix) -> PyResult<f64> {
        self.call(self.columns * self.columns)?.run(py, |_| self.searcher.null_inflation(b.0.view()))
    }
}

impl BlockSearcher {
    /// A call whose size decides about threads.
    fn call(&self, size: usize) -> PyResult<LongCall> {
        LongCall::new(self.threads, size, None)
    }
}
