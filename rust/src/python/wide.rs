//! Searches of very many variables for Python, from standardised values and sparse correlations.
//!
//! `values` is C-contiguous, of shape (d, n): variables in rows, centred and of length one. Arrays must not change while
//! they are used.

use super::convert::{Indices, KnowledgeArrays, Matrix, Numbers, OwnedCsr, dict, own_matrix, signed, to_knowledge};
use super::errors::to_python;
use super::long_call::LongCall;
use super::neighbours::run;
use super::search::{BudgetItems, OrderFit, Searched, search_options};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::neighbours::Standardised;
use crate::score::Noise;
use crate::search::{WideSearcher as CrateSearcher, WideTable, wide_precision as estimate};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sprs::CsMat;
use std::sync::OnceLock;

/// Θ without any matrix of size d × d, and the correlations that it was estimated from.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct WidePrecision {
    /// The inverse covariance in the units of the data.
    theta: OwnedCsr,
    /// Correlations above the cut, without the diagonal.
    correlations: OwnedCsr,
    /// Order of the graph behind Θ, causes first.
    order: Py<PyArray1<i64>>,
    /// Seconds of each stage.
    timings: Py<PyDict>,
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
    let wide = run(py, &values, n_threads, |data, interrupt| estimate(data, &variances.0, samples, interrupt))?;
    let timings = dict!(py, {
        "covariance": wide.correlation_time.as_secs_f64(),
        "support": wide.candidate_time.as_secs_f64(),
        "inverse": wide.fit_time.as_secs_f64(),
    });
    Ok(WidePrecision {
        theta: own_matrix(py, wide.theta),
        correlations: own_matrix(py, wide.correlations),
        order: signed(py, wide.sem.order).unbind(),
        timings: timings.unbind(),
    })
}

/// Fits and searches graphs along causal orders of very many variables.
#[pyclass(frozen, module = "icid_rs._core")]
pub(super) struct WideSearcher {
    values: Py<PyArray2<f64>>,
    variances: Vec<f64>,
    correlations: CsMat<f64>,
    theta: CsMat<f64>,
    samples: usize,
    knowledge: Knowledge,
    threads: Option<usize>,
    /// Candidates and the correlations between them, computed when a search first needs them.
    table: OnceLock<WideTable>,
}

#[pymethods]
impl WideSearcher {
    #[new]
    #[pyo3(signature = (values, variances, correlations, theta, *, samples, knowledge, n_threads))]
    #[allow(clippy::too_many_arguments)] // Keywords in Python.
    fn new(
        values: Bound<'_, PyArray2<f64>>,
        variances: Numbers,
        correlations: Matrix,
        theta: Matrix,
        samples: usize,
        knowledge: Option<KnowledgeArrays<'_>>,
        n_threads: Option<usize>,
    ) -> PyResult<Self> {
        LongCall::new(n_threads, 0, None)?;
        let knowledge = to_knowledge(knowledge, variances.0.len())?;
        Ok(Self {
            values: values.unbind(),
            variances: variances.0,
            correlations: correlations.0,
            theta: theta.0,
            samples,
            knowledge,
            threads: n_threads,
            table: OnceLock::new(),
        })
    }

    /// Fit graphs along the order of elimination and along a proposed one, and keep the better.
    #[pyo3(signature = (proposed, *, penalty, noise_variances))]
    fn best_order(
        &self,
        py: Python<'_>,
        proposed: Indices,
        penalty: f64,
        noise_variances: Option<Numbers>,
    ) -> PyResult<OrderFit> {
        let noise = noise_variances.as_ref().map_or(Noise::Equal, |known| Noise::Known(&known.0));
        let theta = self.theta.view();
        let fit =
            self.run(py, |searcher, interrupt| searcher.best_order(theta, &proposed.0, penalty, noise, interrupt))?;
        OrderFit::new(py, fit)
    }

    /// Search for the graph with the best score, from orders of the variables, causes first.
    #[pyo3(signature = (starts, *, penalty, noise_variances, values, budget, shape="negentropy"))]
    #[allow(clippy::too_many_arguments)]
    fn search<'py>(
        &self,
        py: Python<'py>,
        starts: Vec<Indices>,
        penalty: f64,
        noise_variances: Option<Numbers>,
        values: Option<PyReadonlyArray2<'py, f64>>,
        budget: BudgetItems,
        shape: &str,
    ) -> PyResult<Searched> {
        let starts: Vec<_> = starts.into_iter().map(|start| start.0).collect();
        let options = search_options(penalty, noise_variances.as_ref(), values.as_ref(), shape, &budget)?;
        let found = self.run(py, |searcher, interrupt| searcher.search(&starts, &options, interrupt))?;
        Searched::new(py, found)
    }

    /// Inflation of the null distribution: how much wider than by chance the correlations between residuals are spread.
    fn null_inflation(&self, py: Python<'_>, b: Matrix) -> PyResult<f64> {
        self.run(py, |searcher, _| searcher.null_inflation(b.0.view()))
    }
}

impl WideSearcher {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&CrateSearcher, &Interrupt) -> Result<T, IcidError> + Send,
    ) -> PyResult<T> {
        let values = self.values.bind(py).try_readonly()?;
        let data = Standardised::new(&values.as_array()).map_err(to_python)?;
        let call = LongCall::new(self.threads, data.variables().saturating_mul(data.variables()), None)?;
        call.run(py, |monitor| {
            let interrupt = monitor.interrupt();
            let table = if let Some(table) = self.table.get() {
                table
            } else {
                let (correlations, pattern) = (self.correlations.view(), self.theta.view());
                let table = WideTable::new(data, correlations, pattern, self.samples, interrupt)?;
                self.table.get_or_init(|| table)
            };
            let searcher = CrateSearcher::new(data, &self.variances, table, self.samples, &self.knowledge)?;
            work(&searcher, interrupt)
        })
    }
}
