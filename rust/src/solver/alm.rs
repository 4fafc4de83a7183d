//! The augmented Lagrangian method (the paper's Algorithm 1): descents in B, ascents in Λ.

use super::fista::Fista;
use super::monitor::{Monitor, Progress};
use super::settings::Settings;
use super::solution::{Info, Round, Solution, Status};
use crate::error::IcidError;
use crate::model::{AugmentedLagrangian, L1, Smooth};
use crate::problem::Problem;
use std::time::Instant;

/// A round must bring the residual below this share of the last one …
const ENOUGH_DECREASE: f64 = 0.95;
/// … or the equation gets this much more weight, and the descent goes on …
const RHO_GROWTH: f64 = 1.2;
/// … at most so often: the residual cannot fall where D does not fit Θ.
const MAX_DESCENTS: usize = 10;

/// Decompose `Θ = (I − B) D (I − B)ᵀ`.
///
/// # Errors
/// When a setting is out of range, the problem does not fit into memory, the objective leaves the finite numbers, or
/// the solve was interrupted before it began.
pub fn decompose(problem: &Problem, settings: &Settings, monitor: &mut Monitor) -> Result<Solution, IcidError> {
    settings.validate()?;
    let start = Instant::now();
    let rho = 1.0 / settings.l1_weight;
    let mut model = AugmentedLagrangian::new(problem, rho, settings.kernel, monitor.interrupt())?;
    let mut run = Run {
        fista: Fista::new(model.len()),
        history: Vec::with_capacity(settings.max_alm_iter.min(64) * MAX_DESCENTS),
        iterations: 0,
        evaluations: 0,
        settings,
        monitor,
    };
    let setup_time = start.elapsed();
    let start = Instant::now();
    let status = run.minimise(&mut model)?;
    let last = run.history.last();
    Ok(Solution {
        b: problem.to_matrix(run.fista.point()),
        status,
        residual: last.map_or(f64::NAN, |round| round.residual),
        info: Info {
            iterations: run.iterations,
            evaluations: run.evaluations,
            rho: model.rho(),
            optimality: last.map_or(f64::NAN, |round| round.optimality),
            kernel: model.kernel(),
            support: problem.support().len() - problem.dim(),
            pairs: problem.support().pairs(),
            indefinite_pair: problem.indefinite_pair(),
            setup_time,
            solve_time: start.elapsed(),
        },
        history: run.history,
    })
}

struct Run<'a, 'm> {
    fista: Fista,
    history: Vec<Round>,
    iterations: usize,
    evaluations: usize,
    settings: &'a Settings,
    monitor: &'a mut Monitor<'m>,
}

impl Run<'_, '_> {
    fn minimise(&mut self, model: &mut AugmentedLagrangian) -> Result<Status, IcidError> {
        let mut previous = f64::INFINITY;
        let mut finished = true;
        for round in 1..=self.settings.max_alm_iter {
            for _ in 0..MAX_DESCENTS {
                finished = self.descend(model, round)?;
                let residual = self.residual();
                if self.monitor.interrupt().is_raised() {
                    return Ok(Status::Interrupted);
                }
                if residual <= self.settings.tol {
                    return Ok(Status::Converged);
                }
                if residual <= ENOUGH_DECREASE * previous {
                    break;
                }
                model.set_rho(RHO_GROWTH * model.rho());
            }
            previous = self.residual();
            if round < self.settings.max_alm_iter {
                model.update_multiplier(self.fista.point());
            }
        }
        Ok(if finished { Status::MaxAlmIter } else { Status::MaxFistaIter })
    }

    fn residual(&self) -> f64 {
        self.history.last().map_or(f64::INFINITY, |round| round.residual)
    }

    /// One descent in B, written into the history; did it reach its tolerance?
    fn descend(&mut self, model: &mut AugmentedLagrangian, round: usize) -> Result<bool, IcidError> {
        let Settings { schedule, fista_tol, max_fista_iter, .. } = *self.settings;
        let (before, rho, monitor) = (self.iterations, model.rho(), &mut *self.monitor);
        let descent = self.fista.descend(model, &L1, schedule, fista_tol, max_fista_iter, |step| {
            if step.number.is_multiple_of(Monitor::EVERY) {
                let (objective, optimality) = (step.objective, step.mapping);
                let iteration = before + step.number;
                monitor.report(&Progress { round, iteration, objective, step: step.step, optimality, rho });
            }
            !monitor.interrupt().is_raised()
        });
        self.iterations += descent.iterations;
        self.evaluations += descent.evaluations;
        let interrupted = self.monitor.interrupt().is_raised();
        if !descent.objective.is_finite() && !interrupted {
            let value = descent.objective;
            return Err(IcidError::Numerical { value, round, iteration: self.iterations });
        }
        self.history.push(Round {
            round,
            rho,
            iterations: descent.iterations,
            objective: descent.objective,
            optimality: descent.optimality,
            residual: if interrupted { f64::NAN } else { model.residual_norm(self.fista.point()) },
        });
        Ok(descent.converged)
    }
}
