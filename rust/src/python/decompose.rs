//! The decomposition of Θ, and its objective for tests and benches.

use super::convert::{CsrArrays, SolutionParts, kernel_choice, schedule_choice, to_matrix, to_solution_parts};
use super::long_call::LongCall;
use crate::error::IcidError;
use crate::model::{AugmentedLagrangian, KernelChoice, Smooth};
use crate::problem::Problem;
use crate::solver::{Schedule, Settings};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sprs::CsMat;
use std::time::Instant;

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
pub(super) fn decompose<'py>(
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
pub(super) fn evaluate<'py>(
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
    Ok((value, PyArray1::from_vec(py, gradient), curvature, residual, seconds))
}
