//! The extension module `icid_rs._core`: arrays in, arrays out.

// Arguments of Python functions are made for the call and given away to it.
#![allow(clippy::needless_pass_by_value)]

mod convert;
mod errors;
mod long_call;
mod moments;
mod neighbours;

use crate::error::IcidError;
use crate::knowledge::Knowledge;
use crate::model::{AugmentedLagrangian, KernelChoice, Smooth};
use crate::order::{Elimination, Fit, Noise, Regression, Rule};
use crate::problem::Problem;
use crate::search::{Budget, Evidence, NoiseModel};
use crate::solver::{Schedule, Settings};
use convert::to_solution_parts;
use convert::{
    CsrArrays, CsrParts, KnowledgeArrays, SolutionParts, from_matrix, kernel_choice, schedule_choice, signed,
    to_knowledge, to_matrix, unsigned,
};
use long_call::LongCall;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sprs::CsMat;
use std::time::{Duration, Instant};

/// The compiled core of `icid_rs`. Private: its names may change with any release.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::errors::NumericalError;
    #[pymodule_export]
    use super::moments::Accumulator;
    #[pymodule_export]
    use super::neighbours::{correlations, eliminate_sinks, refit, scaled_lasso, stepwise};
    #[pymodule_export]
    use super::{
        arrange, available_memory, decompose, eliminate, eliminate_dense, equivalence_class, evaluate,
        heaviest_acyclic, regress_along, regress_within, search,
    };
}

/// Bytes that a computation may allocate now, if anyone knows.
#[pyfunction]
fn available_memory() -> Option<u64> {
    crate::memory::available()
}

/// Copies of what a problem is made of, to be put together without the interpreter's lock.
struct Given {
    theta: CsMat<f64>,
    noise_variances: Option<Vec<f64>>,
    skewness: Option<(CsMat<f64>, f64)>,
    forbidden: Option<CsMat<f64>>,
}

impl Given {
    fn new(
        theta: &CsrArrays,
        noise_variances: Option<PyReadonlyArray1<f64>>,
        skewness: Option<(CsrArrays, f64)>,
        forbidden: Option<CsrArrays>,
    ) -> PyResult<Self> {
        Ok(Self {
            theta: to_matrix(theta)?,
            noise_variances: noise_variances.map(|v| v.as_array().to_vec()),
            skewness: skewness.map(|(matrix, weight)| Ok::<_, PyErr>((to_matrix(&matrix)?, weight))).transpose()?,
            forbidden: forbidden.as_ref().map(to_matrix).transpose()?,
        })
    }

    /// About `Σ_j |N_j|²`.
    fn pairs(&self) -> usize {
        self.theta.outer_iterator().map(|row| row.nnz().saturating_mul(row.nnz())).sum()
    }

    fn problem(&self) -> Result<Problem, IcidError> {
        let mut problem = Problem::new(self.theta.view(), self.noise_variances.as_deref())?;
        if let Some(edges) = &self.forbidden {
            problem = problem.with_forbidden(edges.view())?;
        }
        match &self.skewness {
            Some((matrix, weight)) => problem.with_skewness(matrix.view(), *weight),
            None => Ok(problem),
        }
    }
}

/// O-ICID: Algorithms 1 and 2 of the paper.
#[pyfunction]
#[pyo3(signature = (theta, *, noise_variances, skewness, forbidden, l1_weight, max_alm_iter, max_fista_iter, tol, fista_tol,
                    schedule, kernel, callback, n_threads))]
#[allow(clippy::too_many_arguments)]
fn decompose<'py>(
    py: Python<'py>,
    theta: CsrArrays<'py>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    skewness: Option<(CsrArrays<'py>, f64)>,
    forbidden: Option<CsrArrays<'py>>,
    l1_weight: f64,
    max_alm_iter: usize,
    max_fista_iter: usize,
    tol: f64,
    fista_tol: f64,
    schedule: &str,
    kernel: &str,
    callback: Option<Py<PyAny>>,
    n_threads: Option<usize>,
) -> PyResult<SolutionParts<'py>> {
    let given = Given::new(&theta, noise_variances, skewness, forbidden)?;
    let schedule: Schedule = schedule_choice(schedule)?;
    let kernel = kernel_choice(kernel)?;
    let settings = Settings { l1_weight, max_alm_iter, max_fista_iter, tol, fista_tol, schedule, kernel };
    let call = LongCall::new(n_threads, given.pairs(), callback)?;
    let solution = call.run(py, |monitor| crate::solver::decompose(&given.problem()?, &settings, monitor))?;
    to_solution_parts(py, solution, call.threads())
}

/// An acyclic part of a graph, by decreasing weight: its (offsets, indices, values), and the nodes, causes first.
#[pyfunction]
fn heaviest_acyclic<'py>(py: Python<'py>, b: CsrArrays<'py>) -> PyResult<(CsrParts<'py>, Bound<'py, PyArray1<i64>>)> {
    let b = to_matrix(&b)?;
    let projection = py.detach(|| crate::order::heaviest_acyclic(b.view())).map_err(errors::to_python)?;
    Ok((from_matrix(py, projection.graph), signed(py, projection.order)))
}

/// The class of graphs with the same independences as an acyclic one: (offsets, indices, values) of its pattern.
#[pyfunction]
fn equivalence_class<'py>(
    py: Python<'py>,
    b: CsrArrays<'py>,
    order: PyReadonlyArray1<'py, i64>,
) -> PyResult<CsrParts<'py>> {
    let (b, order) = (to_matrix(&b)?, unsigned(&order)?);
    let pattern = py.detach(|| crate::order::equivalence_class(b.view(), &order));
    Ok(from_matrix(py, pattern))
}

/// The order closest to a given one that respects what is known.
#[pyfunction]
fn arrange<'py>(
    py: Python<'py>,
    order: PyReadonlyArray1<'py, i64>,
    knowledge: KnowledgeArrays<'py>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let order: Vec<u32> = unsigned(&order)?.into_iter().map(|i| i as u32).collect();
    let knowledge = to_knowledge(Some(knowledge), order.len())?;
    let arranged = knowledge.arrange(&order);
    Ok(signed(py, arranged.into_iter().map(|i| i as usize).collect()))
}

/// B, order, noise variances.
type EliminationParts<'py> = (CsrParts<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

fn from_elimination(py: Python<'_>, elimination: Elimination) -> EliminationParts<'_> {
    let Elimination { b, order, noise_variances } = elimination;
    (from_matrix(py, b), signed(py, order), noise_variances.into_pyarray(py))
}

/// Copies of what settles the next variable to be eliminated: a causal order, or noise variances if they are known.
struct GivenRule {
    order: Option<Vec<usize>>,
    noise_variances: Option<Vec<f64>>,
    knowledge: Knowledge,
}

impl GivenRule {
    fn new(
        order: Option<PyReadonlyArray1<i64>>,
        noise_variances: Option<PyReadonlyArray1<f64>>,
        knowledge: Knowledge,
    ) -> PyResult<Self> {
        Ok(Self {
            order: order.map(|order| unsigned(&order)).transpose()?,
            noise_variances: noise_variances.map(|v| v.as_array().to_vec()),
            knowledge,
        })
    }

    fn rule(&self) -> Rule<'_> {
        let noise_variances = self.noise_variances.as_deref();
        match &self.order {
            Some(order) => Rule::Along(order),
            None if self.knowledge.is_trivial() => Rule::SmallestPivot { noise_variances },
            None => Rule::Respecting { noise_variances, knowledge: &self.knowledge },
        }
    }
}

/// Order elimination of a sparse Θ: (B, order, noise variances).
#[pyfunction]
#[pyo3(signature = (theta, *, order, noise_variances, drop, n_threads))]
fn eliminate<'py>(
    py: Python<'py>,
    theta: CsrArrays<'py>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    drop: f64,
    n_threads: Option<usize>,
) -> PyResult<EliminationParts<'py>> {
    let theta = to_matrix(&theta)?;
    let given = GivenRule::new(order, noise_variances, Knowledge::none(theta.rows()))?;
    let call = LongCall::new(n_threads, theta.nnz(), None)?;
    let result =
        call.run(py, |monitor| crate::order::eliminate(theta.view(), given.rule(), drop, monitor.interrupt()))?;
    Ok(from_elimination(py, result))
}

/// Order elimination of a dense Θ, which must not change meanwhile: (B, order, noise variances).
#[pyfunction]
#[pyo3(signature = (theta, *, order, noise_variances, drop, knowledge=None, n_threads=None))]
fn eliminate_dense<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    drop: f64,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<EliminationParts<'py>> {
    let theta = theta.as_array();
    let given = GivenRule::new(order, noise_variances, to_knowledge(knowledge, theta.nrows())?)?;
    let call = LongCall::new(n_threads, theta.len(), None)?;
    let result =
        call.run(py, |monitor| crate::order::eliminate_dense(&theta, given.rule(), drop, monitor.interrupt()))?;
    Ok(from_elimination(py, result))
}

/// Graph along an order, or along that of elimination: (B, order, noise variances), score.
///
/// Θ and the covariance must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (theta, covariance, *, samples, penalty, order, noise_variances, knowledge, n_threads))]
#[allow(clippy::too_many_arguments)]
fn regress_along<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    covariance: PyReadonlyArray2<'py, f64>,
    samples: usize,
    penalty: f64,
    order: Option<PyReadonlyArray1<'py, i64>>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<(EliminationParts<'py>, f64)> {
    let (theta, covariance) = (theta.as_array(), covariance.as_array());
    let given = GivenRule::new(order, noise_variances, to_knowledge(knowledge, theta.nrows())?)?;
    let noise = given.noise_variances.as_deref().map_or(Noise::Equal, Noise::Known);
    let data = Regression { covariance, samples, penalty, noise, knowledge: &given.knowledge };
    let call = LongCall::new(n_threads, theta.len(), None)?;
    let fit = call.run(py, |monitor| crate::order::regress_along(&data, &theta, given.rule(), monitor.interrupt()))?;
    Ok(from_fit(py, fit))
}

/// Graph along an order, with causes among the neighbours in a pattern: (B, order, noise variances), score.
///
/// The covariance must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (pattern, covariance, *, samples, penalty, order, noise_variances, knowledge, n_threads))]
#[allow(clippy::too_many_arguments)]
fn regress_within<'py>(
    py: Python<'py>,
    pattern: CsrArrays<'py>,
    covariance: PyReadonlyArray2<'py, f64>,
    samples: usize,
    penalty: f64,
    order: PyReadonlyArray1<'py, i64>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<(EliminationParts<'py>, f64)> {
    let (pattern, covariance) = (to_matrix(&pattern)?, covariance.as_array());
    let knowledge = to_knowledge(knowledge, pattern.rows())?;
    let (order, noise_variances) = (unsigned(&order)?, noise_variances.map(|v| v.as_array().to_vec()));
    let noise = noise_variances.as_deref().map_or(Noise::Equal, Noise::Known);
    let data = Regression { covariance, samples, penalty, noise, knowledge: &knowledge };
    let call = LongCall::new(n_threads, pattern.nnz(), None)?;
    let fit =
        call.run(py, |monitor| crate::order::regress_within(&data, &order, pattern.view(), monitor.interrupt()))?;
    Ok(from_fit(py, fit))
}

/// Order, parent lists as (offsets, parents), score, scores of the starts, trials, improvements, (moves, seconds) of a descent.
type FoundParts<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    f64,
    Vec<f64>,
    usize,
    usize,
    (usize, f64),
);

/// Search over orders.
#[pyfunction]
#[pyo3(signature = (correlation, values, candidates, starts, *, samples, penalty, least, noise_shares, knowledge,
                    trials, patience, seconds, seed, n_threads))]
#[allow(clippy::too_many_arguments)]
fn search<'py>(
    py: Python<'py>,
    correlation: PyReadonlyArray2<'py, f64>,
    values: Option<PyReadonlyArray2<'py, f64>>,
    candidates: CsrArrays<'py>,
    starts: Vec<PyReadonlyArray1<'py, i64>>,
    samples: f64,
    penalty: f64,
    least: PyReadonlyArray1<'py, f64>,
    noise_shares: Option<PyReadonlyArray1<'py, f64>>,
    knowledge: Option<KnowledgeArrays<'py>>,
    trials: usize,
    patience: Option<usize>,
    seconds: Option<f64>,
    seed: u64,
    n_threads: Option<usize>,
) -> PyResult<FoundParts<'py>> {
    let pattern = to_matrix(&candidates)?;
    let candidates: Vec<Vec<u32>> =
        pattern.outer_iterator().map(|row| row.indices().iter().map(|&j| j as u32).collect()).collect();
    let starts: Vec<Vec<u32>> = starts
        .iter()
        .map(|order| Ok(unsigned(order)?.into_iter().map(|i| i as u32).collect()))
        .collect::<PyResult<_>>()?;
    let noise = noise_shares.map_or(NoiseModel::Unequal, |shares| NoiseModel::Known(shares.as_array().to_vec()));
    let correlation = correlation.as_array();
    let values = values.as_ref().map(|values| values.as_array());
    let least = least.as_array().to_vec();
    let d = correlation.nrows();
    let is_order = |order: &Vec<u32>| {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..d as u32)
    };
    let fitting = correlation.ncols() == d
        && correlation.is_standard_layout()
        && candidates.len() == d
        && least.len() == d
        && values.is_none_or(|values| values.nrows() == d && values.is_standard_layout())
        && !matches!(&noise, NoiseModel::Known(shares) if shares.len() != d)
        && !starts.is_empty()
        && starts.iter().all(is_order);
    if !fitting {
        return Err(PyValueError::new_err("correlation, values, candidates, noise and starts do not fit together"));
    }
    // What is too long for a duration is as good as no limit.
    let time = match seconds {
        Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
            return Err(PyValueError::new_err(format!("seconds = {seconds}: it must be at least 0")));
        }
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => None,
    };
    let knowledge = to_knowledge(knowledge, d)?;
    let evidence = Evidence { correlation, values, samples, penalty, noise, least, knowledge: &knowledge };
    let budget = Budget { trials, patience: patience.unwrap_or(usize::MAX), time, seed };
    let call = LongCall::new(n_threads, correlation.len(), None)?;
    let found =
        call.run(py, |monitor| crate::search::search(&evidence, &candidates, &starts, budget, monitor.interrupt()))?;
    let mut offsets = vec![0];
    let mut parents = Vec::new();
    for causes in found.causes {
        parents.extend(causes);
        offsets.push(parents.len());
    }
    Ok((
        signed(py, found.order),
        signed(py, offsets),
        signed(py, parents),
        found.score,
        found.start_scores,
        found.trials,
        found.improvements,
        found.descent,
    ))
}

fn from_fit(py: Python<'_>, fit: Fit) -> (EliminationParts<'_>, f64) {
    let Fit { b, order, noise_variances, score } = fit;
    (from_elimination(py, Elimination { b, order, noise_variances }), score)
}

/// Value, gradient, curvature, residual norm, seconds.
type Evaluation<'py> = (f64, Bound<'py, PyArray1<f64>>, f64, f64, Vec<f64>);

/// Values and derivatives at B along Z for tests and benches: (value, gradient at the entries of B, curvature, residual
/// norm, seconds of each of `repeat` evaluations with gradient).
///
/// The multiplier is ρ times the residual at `multiplier_at`, or zero.
#[pyfunction]
#[pyo3(signature = (theta, b, z, *, noise_variances=None, skewness=None, multiplier_at=None, rho=1.0, kernel="auto",
                    repeat=1, n_threads=None))]
#[allow(clippy::too_many_arguments)]
fn evaluate<'py>(
    py: Python<'py>,
    theta: CsrArrays<'py>,
    b: CsrArrays<'py>,
    z: CsrArrays<'py>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    skewness: Option<(CsrArrays<'py>, f64)>,
    multiplier_at: Option<CsrArrays<'py>>,
    rho: f64,
    kernel: &str,
    repeat: usize,
    n_threads: Option<usize>,
) -> PyResult<Evaluation<'py>> {
    let given = Given::new(&theta, noise_variances, skewness, None)?;
    let kernel: KernelChoice = kernel_choice(kernel)?;
    let (entries, z) = (to_matrix(&b)?, to_matrix(&z)?);
    let multiplier_at = multiplier_at.as_ref().map(to_matrix).transpose()?;
    let points = [Some(&entries), Some(&z), multiplier_at.as_ref()];
    if points.into_iter().flatten().any(|point| point.shape() != given.theta.shape()) {
        return Err(PyValueError::new_err("all matrices must have the shape of theta"));
    }
    let call = LongCall::new(n_threads, given.pairs(), None)?;
    let (value, gradient, curvature, residual, seconds) = call.run(py, |monitor| {
        let problem = given.problem()?;
        let (b, z) = (problem.gather(entries.view()), problem.gather(z.view()));
        let mut model = AugmentedLagrangian::new(&problem, rho, kernel, monitor.interrupt())?;
        if let Some(at) = multiplier_at {
            model.update_multiplier(&problem.gather(at.view()));
        }
        let mut gradient = vec![0.0; b.len()];
        let mut value = f64::NAN;
        let seconds = (0..repeat)
            .map(|_| {
                let start = Instant::now();
                value = model.value_and_gradient(&b, &mut gradient);
                start.elapsed().as_secs_f64()
            })
            .collect();
        let (curvature, residual) = (model.curvature(&b, &z), model.residual_norm(&b));
        Ok((value, problem.to_matrix(&gradient), curvature, residual, seconds))
    })?;
    let at = |(_, (i, j)): (&f64, (usize, usize))| gradient.get(i, j).copied().unwrap_or(0.0);
    let gradient: Vec<f64> = entries.iter().map(at).collect();
    Ok((value, PyArray1::from_vec(py, gradient), curvature, residual, seconds))
}
