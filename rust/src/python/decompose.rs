//! The decomposition of Θ, and its objective for tests and benches.

use super::convert::{Matrix, Numbers, OwnedCsr, dict, kernel_choice, own_matrix, schedule_choice};
use super::long_call::LongCall;
use crate::error::IcidError;
use crate::model::{AugmentedLagrangian, Smooth};
use crate::problem::Problem;
use crate::solver::{Settings, Solution};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;

/// The parts of a problem, from a dict, which can be assembled without the interpreter's lock; all but Θ may be left out.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct ProblemParts {
    theta: Matrix,
    #[pyo3(default)]
    noise_variances: Option<Numbers>,
    /// M̃ and its weight.
    #[pyo3(default)]
    skewness: Option<(Matrix, f64)>,
    #[pyo3(default)]
    forbidden: Option<Matrix>,
}

impl ProblemParts {
    /// About `Σ_j |N_j|²`.
    fn pairs(&self) -> usize {
        self.theta.0.outer_iterator().map(|row| row.nnz().saturating_mul(row.nnz())).sum()
    }

    fn assemble(&self) -> Result<Problem, IcidError> {
        let noise_variances = self.noise_variances.as_ref().map(|known| known.0.as_slice());
        let mut problem = Problem::new(self.theta.0.view(), noise_variances)?;
        if let Some(edges) = &self.forbidden {
            problem = problem.with_forbidden(edges.0.view())?;
        }
        match &self.skewness {
            Some((matrix, weight)) => problem.with_skewness(matrix.0.view(), *weight),
            None => Ok(problem),
        }
    }
}

/// The settings of the solver, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct SettingsItems {
    l1_weight: f64,
    max_alm_iter: usize,
    max_fista_iter: usize,
    tol: f64,
    fista_tol: f64,
    schedule: String,
    kernel: String,
}

impl SettingsItems {
    fn settings(&self) -> PyResult<Settings> {
        Ok(Settings {
            l1_weight: self.l1_weight,
            max_alm_iter: self.max_alm_iter,
            max_fista_iter: self.max_fista_iter,
            tol: self.tol,
            fista_tol: self.fista_tol,
            schedule: schedule_choice(&self.schedule)?,
            kernel: kernel_choice(&self.kernel)?,
        })
    }
}

/// The result of a decomposition.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Decomposed {
    b: OwnedCsr,
    status: &'static str,
    /// `‖Θ − φ_D(B)‖_F` relative to `‖Θ‖_F`.
    residual: f64,
    info: Py<PyDict>,
    /// A dict for each round of the augmented Lagrangian method.
    history: Vec<Py<PyDict>>,
}

impl Decomposed {
    fn new(py: Python<'_>, solution: Solution, threads: usize) -> PyResult<Self> {
        let info = &solution.info;
        let timings = dict!(py, { "setup": info.setup_time.as_secs_f64(), "solve": info.solve_time.as_secs_f64() });
        let info = dict!(py, {
            "iterations": info.iterations,
            "evaluations": info.evaluations,
            "rho": info.rho,
            "optimality": info.optimality,
            "kernel": info.kernel.name(),
            "components": info.components,
            "support": info.support,
            "pairs": info.pairs,
            "indefinite_pair": info.indefinite_pair,
            "n_threads": threads,
            "timings": timings,
        });
        let mut history = Vec::with_capacity(solution.history.len());
        for round in &solution.history {
            let record = dict!(py, {
                "round": round.round,
                "rho": round.rho,
                "iterations": round.iterations,
                "objective": round.objective,
                "optimality": round.optimality,
                "residual": round.residual,
            });
            history.push(record.unbind());
        }
        let (status, residual) = (solution.status.name(), solution.residual);
        Ok(Self { b: own_matrix(py, solution.b), status, residual, info: info.unbind(), history })
    }
}

/// O-ICID: Algorithms 1 and 2 of the paper.
#[pyfunction]
#[pyo3(signature = (problem, settings, *, callback, n_threads))]
pub(super) fn decompose(
    py: Python<'_>,
    problem: ProblemParts,
    settings: SettingsItems,
    callback: Option<Py<PyAny>>,
    n_threads: Option<usize>,
) -> PyResult<Decomposed> {
    let settings = settings.settings()?;
    let call = LongCall::new(n_threads, problem.pairs(), callback)?;
    let solution = call.run(py, |monitor| crate::solver::decompose(&problem.assemble()?, &settings, monitor))?;
    Decomposed::new(py, solution, call.threads())
}

/// The smooth part of the objective at B, and its derivatives.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Evaluation {
    value: f64,
    /// At the stored entries of B.
    gradient: Py<PyArray1<f64>>,
    /// The second derivative along Z.
    curvature: f64,
    /// `‖Θ − φ_D(B)‖_F`.
    residual: f64,
    /// Of each evaluation with its gradient.
    seconds: Vec<f64>,
}

/// Evaluate the objective at B, and its curvature along Z, for tests and benches.
///
/// The multiplier is ρ times the residual at `multiplier_at`, or zero. The evaluation is repeated to be timed.
#[pyfunction]
#[pyo3(signature = (problem, b, z, *, multiplier_at=None, rho=1.0, kernel="auto", repeat=1, n_threads=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub(super) fn evaluate(
    py: Python<'_>,
    problem: ProblemParts,
    b: Matrix,
    z: Matrix,
    multiplier_at: Option<Matrix>,
    rho: f64,
    kernel: &str,
    repeat: usize,
    n_threads: Option<usize>,
) -> PyResult<Evaluation> {
    let (Matrix(entries), Matrix(z), kernel) = (b, z, kernel_choice(kernel)?);
    let multiplier_at = multiplier_at.map(|at| at.0);
    let points = [Some(&entries), Some(&z), multiplier_at.as_ref()];
    if points.into_iter().flatten().any(|point| point.shape() != problem.theta.0.shape()) {
        return Err(PyValueError::new_err("all matrices must have the shape of theta"));
    }
    let call = LongCall::new(n_threads, problem.pairs(), None)?;
    let (value, gradient, curvature, residual, seconds) = call.run(py, |monitor| {
        let problem = problem.assemble()?;
        let (b, z) = (problem.gather(entries.view())?, problem.gather(z.view())?);
        let mut model = AugmentedLagrangian::new(&problem, rho, kernel, monitor.interrupt())?;
        if let Some(at) = multiplier_at {
            model.update_multiplier(&problem.gather(at.view())?);
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
        Ok((value, problem.to_matrix(&gradient)?, curvature, residual, seconds))
    })?;
    let at = |(_, (i, j)): (&f64, (usize, usize))| gradient.get(i, j).copied().unwrap_or(0.0);
    let gradient: Vec<f64> = entries.iter().map(at).collect();
    Ok(Evaluation { value, gradient: PyArray1::from_vec(py, gradient).unbind(), curvature, residual, seconds })
}
