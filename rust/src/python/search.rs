//! The searcher: one object for each table, with its arrays and what all searches of it share.

use super::convert::{CsrParts, Indices, KnowledgeArrays, Matrix, Numbers, dict, from_matrix, signed, to_knowledge};
use super::errors::to_python;
use super::exact::ExactTable;
use super::long_call::LongCall;
use super::order::Sem;
use super::score::to_shape;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::score::Noise;
use crate::search::{
    self, Budget, Cache, Cost, Ended, Proposer, ResampleOptions, Scoring, SearchOptions, Searcher as CrateSearcher,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sprs::CsMat;
use std::time::Duration;

/// Default budget of a search among so many variables: trials, and trials in a row without improvement that end it.
#[pyfunction]
pub(super) fn search_budget(variables: usize) -> (usize, usize) {
    let budget = Budget::for_variables(variables);
    (budget.trials, budget.patience)
}

/// Fits and searches graphs along causal orders of a table's variables. The arrays must not change while it is used.
#[pyclass(frozen, module = "icid_rs._core")]
pub(super) struct Searcher {
    covariance: Py<PyArray2<f64>>,
    theta: CsMat<f64>,
    inverse: Option<Py<PyArray2<f64>>>,
    samples: usize,
    knowledge: Knowledge,
    threads: Option<usize>,
    cache: Cache,
}

/// The better of two orders, with the graph along it.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct OrderFit {
    sem: Py<Sem>,
    score: f64,
    /// `"elimination"` or `"decomposition"`.
    order: &'static str,
    /// The scores by which the two orders were compared.
    scores: Py<PyDict>,
}

/// The best graph of a search.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Searched {
    sem: Py<Sem>,
    /// Score of the graph, for variables scaled to unit variance.
    score: f64,
    start_scores: Vec<f64>,
    trials: usize,
    improvements: usize,
    /// Visits of variables in the descent from the best start, and its seconds.
    descent: (usize, f64),
    /// `"converged"`, `"out of trials"` or `"out of time"`.
    ended: &'static str,
}

impl OrderFit {
    pub(super) fn new(py: Python<'_>, fit: search::OrderFit) -> PyResult<Self> {
        let scores = dict!(py, { "elimination": fit.elimination_score, "decomposition": fit.decomposition_score });
        let order = match fit.proposer {
            Proposer::Elimination => "elimination",
            Proposer::Decomposition => "decomposition",
        };
        let sem = Py::new(py, Sem::new(py, fit.best.sem))?;
        Ok(Self { sem, score: fit.best.score, order, scores: scores.unbind() })
    }
}

impl Searched {
    pub(super) fn new(py: Python<'_>, found: search::Searched) -> PyResult<Self> {
        Ok(Self {
            sem: Py::new(py, Sem::new(py, found.sem))?,
            score: found.report.score,
            start_scores: found.report.start_scores,
            trials: found.report.trials,
            improvements: found.report.improvements,
            descent: found.report.descent,
            ended: match found.report.ended {
                Ended::Converged => "converged",
                Ended::OutOfTrials => "out of trials",
                Ended::OutOfTime => "out of time",
            },
        })
    }
}

/// How long to search, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct BudgetItems {
    trials: usize,
    patience: Option<usize>,
    seconds: Option<f64>,
    seed: u64,
}

impl BudgetItems {
    pub(super) fn budget(&self) -> PyResult<Budget> {
        let time = match self.seconds {
            Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
                return Err(PyValueError::new_err(format!("seconds = {seconds}: it must be at least 0")));
            }
            // More seconds than a duration can hold are no limit.
            Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            None => None,
        };
        Ok(Budget { trials: self.trials, patience: self.patience.unwrap_or(usize::MAX), time, seed: self.seed })
    }
}

/// The options of a search, from its keywords; noise variances that are not known are taken to be unequal.
pub(super) fn search_options<'a>(
    penalty: f64,
    noise_variances: Option<&'a Numbers>,
    values: Option<&'a PyReadonlyArray2<'_, f64>>,
    shape: &str,
    budget: &BudgetItems,
) -> PyResult<SearchOptions<'a>> {
    let noise = noise_variances.map_or(Noise::Unequal, |known| Noise::Known(&known.0));
    let values = values.map(|values| values.as_array());
    let scoring = Scoring::new(noise).with_values(values).with_shape(to_shape(shape)?);
    Ok(SearchOptions::new(penalty, scoring, budget.budget()?))
}

#[pymethods]
impl Searcher {
    #[new]
    #[pyo3(signature = (covariance, theta, inverse, *, samples, knowledge, n_threads))]
    fn new(
        covariance: Bound<'_, PyArray2<f64>>,
        theta: Matrix,
        inverse: Option<Bound<'_, PyArray2<f64>>>,
        samples: usize,
        knowledge: Option<KnowledgeArrays<'_>>,
        n_threads: Option<usize>,
    ) -> PyResult<Self> {
        LongCall::new(n_threads, 0, None)?;
        let Matrix(theta) = theta;
        let knowledge = to_knowledge(knowledge, theta.rows())?;
        let view = covariance.try_readonly()?;
        let inverse_view = inverse.as_ref().map(PyArrayMethods::try_readonly).transpose()?;
        let inverse_view = inverse_view.as_ref().map(|inverse| inverse.as_array());
        CrateSearcher::new(view.as_array(), theta.view(), inverse_view, samples, &knowledge).map_err(to_python)?;
        drop(view);
        let (covariance, inverse) = (covariance.unbind(), inverse.map(Bound::unbind));
        Ok(Self { covariance, theta, inverse, samples, knowledge, threads: n_threads, cache: Cache::default() })
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
        let fit = self.run(py, |searcher, interrupt| searcher.best_order(&proposed.0, penalty, noise, interrupt))?;
        OrderFit::new(py, fit)
    }

    /// Search for the graph with the best score, from orders of the variables, causes first.
    #[pyo3(signature = (starts, *, penalty, noise_variances, values, budget, shape="negentropy"))]
    #[allow(clippy::too_many_arguments)] // Keywords in Python.
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

    /// Score all sets of parents, for exact optima with any penalty.
    #[pyo3(signature = (*, noise_variances, values, equal=false, shape="negentropy"))]
    fn exact_table<'py>(
        &self,
        py: Python<'py>,
        noise_variances: Option<Numbers>,
        values: Option<PyReadonlyArray2<'py, f64>>,
        equal: bool,
        shape: &str,
    ) -> PyResult<ExactTable> {
        let noise = match &noise_variances {
            Some(_) if equal => return Err(PyValueError::new_err("noise variances are either known or equal")),
            Some(variances) => Noise::Known(&variances.0),
            None if equal => Noise::Equal,
            None => Noise::Unequal,
        };
        let values = values.as_ref().map(|values| values.as_array());
        let scoring = Scoring::new(noise).with_values(values).with_shape(to_shape(shape)?);
        let d = self.theta.rows();
        // Scores of all sets of parents; beyond so many variables, an error.
        let size = d << d.min(30);
        let work = size.saturating_mul(values.map_or(1, |values| values.ncols()));
        let table = self.run_sized(py, work, |searcher, interrupt| searcher.exact_table(&scoring, interrupt))?;
        Ok(ExactTable::new(table, size, self.threads))
    }

    /// How often the graphs of resamples join two variables, and how many have a direction: two matrices as
    /// (offsets, indices, values). `counts` says how often each row comes in each resample. Without noise variances and
    /// shape, classes are found, and compelled directions are counted.
    #[pyo3(signature = (rows, counts, order, *, penalty, noise_variances, shape, removed, budget))]
    #[allow(clippy::too_many_arguments)] // Keywords in Python.
    fn search_resamples<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        counts: PyReadonlyArray2<'py, u16>,
        order: Indices,
        penalty: f64,
        noise_variances: Option<Numbers>,
        shape: Option<&str>,
        removed: Option<PyReadonlyArray2<'py, f64>>,
        budget: BudgetItems,
    ) -> PyResult<(CsrParts<'py>, CsrParts<'py>)> {
        let options = ResampleOptions {
            noise: noise_variances.as_ref().map_or(Noise::Unequal, |known| Noise::Known(&known.0)),
            shape: shape.map(to_shape).transpose()?,
            removed: removed.as_ref().map(|removed| removed.as_array()),
            ..ResampleOptions::new(&order.0, penalty, budget.budget()?)
        };
        let (rows, counts) = (rows.as_array(), counts.as_array());
        let size = rows.len().saturating_mul(counts.nrows());
        let found = self
            .run_sized(py, size, |searcher, interrupt| searcher.search_resamples(rows, counts, &options, interrupt))?;
        Ok((from_matrix(py, found.joined), from_matrix(py, found.directed)))
    }

    /// As `search_resamples`, given the covariance matrix of each resample, and without shapes.
    #[pyo3(signature = (covariances, order, *, penalty, noise_variances, removed, budget))]
    #[allow(clippy::too_many_arguments)] // Keywords in Python.
    fn search_covariances<'py>(
        &self,
        py: Python<'py>,
        covariances: PyReadonlyArray3<'py, f64>,
        order: Indices,
        penalty: f64,
        noise_variances: Option<Numbers>,
        removed: Option<PyReadonlyArray2<'py, f64>>,
        budget: BudgetItems,
    ) -> PyResult<(CsrParts<'py>, CsrParts<'py>)> {
        let options = ResampleOptions {
            noise: noise_variances.as_ref().map_or(Noise::Unequal, |known| Noise::Known(&known.0)),
            removed: removed.as_ref().map(|removed| removed.as_array()),
            ..ResampleOptions::new(&order.0, penalty, budget.budget()?)
        };
        let covariances = covariances.as_array();
        let size = covariances.len().saturating_mul(10);
        let found = self
            .run_sized(py, size, |searcher, interrupt| searcher.search_covariances(covariances, &options, interrupt))?;
        Ok((from_matrix(py, found.joined), from_matrix(py, found.directed)))
    }

    /// About the operations and the bytes of an exact optimum, with this many rows if the shape of residuals counts; and
    /// whether that is cheap.
    #[pyo3(signature = (*, rows))]
    fn exact_cost(&self, rows: Option<usize>) -> (f64, f64, bool) {
        let cost = Cost::new(&self.knowledge, rows);
        (cost.operations, cost.bytes, cost.is_cheap())
    }

    /// Order the variables so that each is the one that those before it explain best. Without an inverse, correlations
    /// are those of the model behind Θ, whose covariance is computed unless it is given.
    #[pyo3(signature = (model_covariance=None))]
    fn smallest_pivots<'py>(
        &self,
        py: Python<'py>,
        model_covariance: Option<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let model = model_covariance.as_ref().map(|covariance| covariance.as_array());
        let order = self.run(py, |searcher, interrupt| searcher.smallest_pivots(model, interrupt))?;
        Ok(signed(py, order))
    }

    /// Inflation of the null distribution: how much wider than by chance the correlations between residuals are spread.
    fn null_inflation(&self, py: Python<'_>, b: Matrix) -> PyResult<f64> {
        self.run(py, |searcher, _| searcher.null_inflation(b.0.view()))
    }
}

impl Searcher {
    /// Run a computation on views of the arrays.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&CrateSearcher, &Interrupt) -> Result<T, IcidError> + Send,
    ) -> PyResult<T> {
        self.run_sized(py, self.theta.rows() * self.theta.rows(), work)
    }

    /// As [`Self::run`], where the size of the work decides about threads.
    fn run_sized<T: Send>(
        &self,
        py: Python<'_>,
        size: usize,
        work: impl FnOnce(&CrateSearcher, &Interrupt) -> Result<T, IcidError> + Send,
    ) -> PyResult<T> {
        let covariance = self.covariance.bind(py).try_readonly()?;
        let inverse = self.inverse.as_ref().map(|inverse| inverse.bind(py).try_readonly()).transpose()?;
        let inverse = inverse.as_ref().map(|inverse| inverse.as_array());
        let searcher =
            CrateSearcher::new(covariance.as_array(), self.theta.view(), inverse, self.samples, &self.knowledge)
                .map_err(to_python)?
                .sharing(&self.cache);
        let call = LongCall::new(self.threads, size, None)?;
        call.run(py, |monitor| work(&searcher, monitor.interrupt()))
    }
}
