//! The augmented Lagrangian method (the paper's Algorithm 1): descents in B, ascents in Λ.

use super::fista::Fista;
use super::monitor::{Monitor, Progress};
use super::settings::Settings;
use super::solution::Round;
use crate::error::IcidError;
use crate::model::{AugmentedLagrangian, KernelChoice, L1, Smooth};
use crate::problem::Problem;
use std::time::{Duration, Instant};

/// A round must bring the residual below this share of the last one …
const ENOUGH_DECREASE: f64 = 0.95;
/// … or the equation gets this much more weight, and the descent goes on …
const RHO_GROWTH: f64 = 1.2;
/// … at most so often: then it cannot fall, at a local minimum or because D does not fit Θ.
const MAX_DESCENTS: usize = 10;

/// What the method found for one problem.
pub(super) struct Minimum {
    /// B on the support.
    pub(super) b: Vec<f64>,
    /// One record for each round.
    pub(super) rounds: Vec<Round>,
    /// Did the last descent reach its tolerance?
    pub(super) finished: bool,
    /// Did the residual stop falling, whatever the weight of the equation?
    pub(super) stalled: bool,
    pub(super) evaluations: usize,
    pub(super) kernel: KernelChoice,
    pub(super) setup_time: Duration,
}

/// Minimise ‖B‖₁ and the skewness term subject to `Θ = φ_D(B)`.
pub(super) fn minimise(problem: &Problem, settings: &Settings, monitor: &mut Monitor) -> Result<Minimum, IcidError> {
    let start = Instant::now();
    let rho = 1.0 / settings.l1_weight;
    let mut model = AugmentedLagrangian::new(problem, rho, settings.kernel, monitor.interrupt())?;
    let mut run = Run {
        fista: Fista::new(model.len()),
        rounds: Vec::new(),
        iterations: 0,
        evaluations: 0,
        finished: false,
        stalled: false,
        settings,
        monitor,
    };
    let setup_time = start.elapsed();
    run.alternate(&mut model)?;
    Ok(Minimum {
        b: run.fista.into_point(),
        rounds: run.rounds,
        finished: run.finished,
        stalled: run.stalled,
        evaluations: run.evaluations,
        kernel: model.kernel(),
        setup_time,
    })
}

struct Run<'a, 'm> {
    fista: Fista,
    rounds: Vec<Round>,
    iterations: usize,
    evaluations: usize,
    finished: bool,
    stalled: bool,
    settings: &'a Settings,
    monitor: &'a mut Monitor<'m>,
}

impl Run<'_, '_> {
    fn alternate(&mut self, model: &mut AugmentedLagrangian) -> Result<(), IcidError> {
        let mut previous = f64::INFINITY;
        for round in 1..=self.settings.max_alm_iter {
            let enough = self.settings.tol.max(ENOUGH_DECREASE * previous);
            let residual = self.descend_to(enough, model, round)?;
            self.stalled = residual > enough;
            if residual <= self.settings.tol || self.stalled || self.monitor.interrupt().is_raised() {
                break;
            }
            if round < self.settings.max_alm_iter {
                model.update_multiplier(self.fista.point());
            }
            previous = residual;
        }
        Ok(())
    }

    /// Descend, with a growing ρ, until the residual is small enough; return it.
    fn descend_to(&mut self, enough: f64, model: &mut AugmentedLagrangian, round: usize) -> Result<f64, IcidError> {
        let mut iterations = 0;
        let mut descents = 0;
        loop {
            let mut record = self.descend(model, round)?;
            iterations += record.iterations;
            descents += 1;
            record.iterations = iterations;
            let interrupted = self.monitor.interrupt().is_raised();
            if record.residual <= enough || descents == MAX_DESCENTS || interrupted {
                let residual = record.residual;
                self.rounds.push(record);
                return Ok(residual);
            }
            model.set_rho(RHO_GROWTH * model.rho());
        }
    }

    /// One descent in B.
    fn descend(&mut self, model: &mut AugmentedLagrangian, round: usize) -> Result<Round, IcidError> {
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
        self.finished = descent.converged;
        let interrupted = self.monitor.interrupt().is_raised();
        if !descent.objective.is_finite() && !interrupted {
            let value = descent.objective;
            return Err(IcidError::Numerical { value, round, iteration: self.iterations });
        }
        Ok(Round {
            round,
            rho,
            iterations: descent.iterations,
            objective: descent.objective,
            optimality: descent.optimality,
            residual: if interrupted { f64::NAN } else { model.residual_norm(self.fista.point()) },
        })
    }
}
