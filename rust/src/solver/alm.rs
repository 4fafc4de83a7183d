//! The augmented Lagrangian method (the paper's Algorithm 1): descents in B, ascents in Λ.

use super::fista::Fista;
use super::monitor::{Monitor, Progress};
use super::settings::Settings;
use super::solution::Round;
use crate::error::IcidError;
use crate::model::{AugmentedLagrangian, KernelChoice, L1, SeparablePenalty, Smooth};
use crate::problem::Problem;
use std::time::{Duration, Instant};

/// A round must bring the residual below this share of the last one …
const ENOUGH_DECREASE: f64 = 0.95;
/// … or the weight ρ of the constraint grows by this factor, and the descent continues …
const RHO_GROWTH: f64 = 1.2;
/// … at most this often: then the residual cannot fall, at a local minimum or because D does not fit Θ.
const MAX_DESCENTS: usize = 10;

/// The result for one problem.
pub(super) struct Minimum {
    /// B on the support.
    pub(super) b: Vec<f64>,
    /// One record for each round.
    pub(super) rounds: Vec<Round>,
    /// Whether the residual stopped falling, whatever the weight of the constraint.
    pub(super) stalled: bool,
    pub(super) evaluations: usize,
    pub(super) kernel: KernelChoice,
    pub(super) setup_time: Duration,
}

impl Minimum {
    /// B = 0, for a problem that was stopped before its first iteration.
    pub(super) fn untouched(problem: &Problem, settings: &Settings) -> Self {
        let (support, precision, rho) = (problem.support(), problem.noise_precision(), 1.0 / settings.l1_weight);
        let (mut residual, mut optimality) = (0.0, 0.0);
        for i in 0..problem.dim() {
            for (theta, &j) in problem.theta()[support.row(i)].iter().zip(support.neighbours(i)) {
                let j = j as usize;
                if i == j {
                    residual += (theta - precision[j]).powi(2);
                } else {
                    residual += theta * theta;
                    optimality += L1.distance(0.0, -2.0 * rho * theta * precision[j]).powi(2);
                }
            }
        }
        let objective = 0.5 * rho * residual;
        let (optimality, residual) = (f64::sqrt(optimality), f64::sqrt(residual));
        Self {
            b: vec![0.0; support.len()],
            rounds: vec![Round { round: 1, rho, iterations: 0, objective, optimality, residual }],
            stalled: false,
            evaluations: 0,
            kernel: settings.kernel.resolve(problem),
            setup_time: Duration::ZERO,
        }
    }
}

/// Minimise ‖B‖₁ and the skewness term subject to `Θ = φ_D(B)`; the last descent goes on until Δ(B) ≤ `final_tol`.
pub(super) fn minimise(
    problem: &Problem,
    settings: &Settings,
    final_tol: f64,
    monitor: &Monitor,
) -> Result<Minimum, IcidError> {
    let start = Instant::now();
    let rho = 1.0 / settings.l1_weight;
    let mut model = AugmentedLagrangian::new(problem, rho, settings.kernel, monitor.interrupt())?;
    let mut run = Run {
        fista: Fista::new(model.len()),
        rounds: Vec::new(),
        iterations: 0,
        evaluations: 0,
        stalled: false,
        settings,
        monitor,
    };
    let setup_time = start.elapsed();
    run.alternate(&mut model)?;
    run.finish(&mut model, final_tol)?;
    Ok(Minimum {
        b: run.fista.into_point(),
        rounds: run.rounds,
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
    stalled: bool,
    settings: &'a Settings,
    monitor: &'a Monitor<'m>,
}

impl Run<'_, '_> {
    fn alternate(&mut self, model: &mut AugmentedLagrangian) -> Result<(), IcidError> {
        let mut previous = f64::INFINITY;
        for round in 1..=self.settings.max_alm_iter {
            let enough = self.settings.tol.max(ENOUGH_DECREASE * previous);
            let residual = self.descend_to(enough, model, round)?;
            self.stalled = residual > enough && !self.monitor.has_stopped();
            if residual <= self.settings.tol || self.stalled || self.monitor.has_stopped() {
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
            let mut record = self.descend(model, round, self.settings.fista_tol)?;
            iterations += record.iterations;
            descents += 1;
            record.iterations = iterations;
            if record.residual <= enough || descents == MAX_DESCENTS || self.monitor.has_stopped() {
                let residual = record.residual;
                self.rounds.push(record);
                return Ok(residual);
            }
            model.set_rho(RHO_GROWTH * model.rho());
        }
    }

    /// Continue the last descent to a smaller tolerance.
    fn finish(&mut self, model: &mut AugmentedLagrangian, tol: f64) -> Result<(), IcidError> {
        let Some(last) = self.rounds.last() else { return Ok(()) };
        // A descent that ran out of iterations is not continued.
        if self.monitor.has_stopped() || last.optimality <= tol || last.optimality > self.settings.fista_tol {
            return Ok(());
        }
        let (round, iterations) = (last.round, last.iterations);
        let record = self.descend(model, round, tol)?;
        self.rounds.pop();
        self.rounds.push(Round { iterations: iterations + record.iterations, ..record });
        Ok(())
    }

    /// One descent in B.
    fn descend(&mut self, model: &mut AugmentedLagrangian, round: usize, tol: f64) -> Result<Round, IcidError> {
        let Settings { schedule, max_fista_iter, .. } = *self.settings;
        let (rho, monitor) = (model.rho(), self.monitor);
        let descent = self.fista.descend(model, &L1, schedule, tol, max_fista_iter, |step| {
            monitor.proceed(|iteration| {
                let (objective, optimality) = (step.objective, step.mapping);
                Progress { round, iteration, objective, step: step.step, optimality, rho }
            })
        });
        self.iterations += descent.iterations;
        self.evaluations += descent.evaluations;
        monitor.interrupt().check()?;
        if !descent.objective.is_finite() {
            let value = descent.objective;
            return Err(IcidError::Numerical { value, round, iteration: self.iterations });
        }
        Ok(Round {
            round,
            rho,
            iterations: descent.iterations,
            objective: descent.objective,
            optimality: descent.optimality,
            residual: model.residual_norm(self.fista.point()),
        })
    }
}
