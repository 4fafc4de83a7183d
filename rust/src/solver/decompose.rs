//! The whole decomposition, one connected component of Θ at a time.
//!
//! Each component has its own steps, momentum and ρ, so that a block-diagonal Θ decomposes as its blocks do, up to the
//! tolerances, and components that converge fast do not wait for others. The paper's schedule takes Θ as a whole, as printed.

use super::alm::{Minimum, minimise};
use super::monitor::Monitor;
use super::settings::{Schedule, Settings};
use super::solution::{Info, Round, Solution, Status};
use crate::error::IcidError;
use crate::problem::Problem;
use rayon::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Components with fewer clique pairs are solved side by side; larger ones share their own work among threads.
const SMALL_PAIRS: u128 = 1 << 14;

/// Decompose `Θ = (I − B) D (I − B)ᵀ`.
///
/// # Errors
/// When a setting is out of range, the problem does not fit into memory, the objective leaves the finite numbers, or
/// the solve was interrupted.
pub fn decompose(problem: &Problem, settings: &Settings, monitor: &Monitor) -> Result<Solution, IcidError> {
    settings.validate()?;
    let start = Instant::now();
    let parts = match settings.schedule {
        Schedule::Restart => connected_parts(problem),
        Schedule::Paper => std::iter::once(0..problem.dim()).collect(),
    };
    let minima = minimise_parts(problem, &parts, settings, monitor)?;

    let mut b = vec![0.0; problem.support().len()];
    for (part, minimum) in parts.iter().zip(&minima) {
        b[problem.component_entries(part)].copy_from_slice(&minimum.b);
    }
    let history = combine_rounds(&minima, settings);
    // Variables without neighbours have no parents: their part of the residual is fixed.
    let alone = lone_residual(problem, &parts);
    let (residual, optimality) =
        history.last().map_or((alone, 0.0), |last| (last.residual.hypot(alone), last.optimality));
    let status = if monitor.has_stopped() {
        Status::Interrupted
    } else if residual <= settings.tol {
        Status::Converged
    } else if optimality > settings.fista_tol {
        Status::MaxFistaIter
    } else if minima.is_empty() || minima.iter().any(|minimum| minimum.stalled) {
        Status::Stalled
    } else {
        Status::MaxAlmIter
    };
    let setup_time: Duration = minima.iter().map(|minimum| minimum.setup_time).sum();
    Ok(Solution {
        b: problem.to_matrix(&b)?,
        status,
        residual,
        info: Info {
            iterations: history.iter().map(|round| round.iterations).sum(),
            evaluations: minima.iter().map(|minimum| minimum.evaluations).max().unwrap_or(0),
            rho: history.last().map_or(1.0 / settings.l1_weight, |round| round.rho),
            optimality,
            kernel: minima.first().map_or(settings.kernel.resolve(problem), |minimum| minimum.kernel),
            components: problem.components().len(),
            support: problem.support().len() - problem.dim(),
            pairs: problem.support().pairs(),
            indefinite_pair: problem.indefinite_pair(),
            setup_time,
            solve_time: start.elapsed().saturating_sub(setup_time),
        },
        history,
    })
}

/// The connected components with at least one edge, largest first.
fn connected_parts(problem: &Problem) -> Vec<Range<usize>> {
    let mut parts: Vec<_> = problem.components().filter(|variables| variables.len() > 1).collect();
    parts.sort_by_key(|variables| std::cmp::Reverse(problem.component_entries(variables).len()));
    parts
}

fn minimise_parts(
    problem: &Problem,
    parts: &[Range<usize>],
    settings: &Settings,
    monitor: &Monitor,
) -> Result<Vec<Minimum>, IcidError> {
    let entries = |part: &Range<usize>| problem.component_entries(part).len() as f64;
    let total: f64 = parts.iter().map(entries).sum();
    let solve = |part: &Range<usize>| {
        let whole = part.len() == problem.dim();
        let own = if whole { None } else { Some(problem.component(part.clone())?) };
        let problem = own.as_ref().unwrap_or(problem);
        if monitor.has_stopped() {
            return Ok(Minimum::untouched(problem, settings));
        }
        // Shares whose squares add up to one, so that the whole meets its tolerances if the parts do.
        let share = (problem.support().len() as f64 / total).sqrt();
        let own_settings = Settings { tol: settings.tol * share, ..settings.clone() };
        minimise(problem, &own_settings, settings.fista_tol * share, monitor)
    };
    let pairs = |part: &Range<usize>| part.clone().map(|j| (problem.support().degree(j) as u128).pow(2)).sum::<u128>();
    let large = parts.iter().position(|part| pairs(part) < SMALL_PAIRS).unwrap_or(parts.len());
    let (large, small) = parts.split_at(large);
    let mut minima = large.iter().map(solve).collect::<Result<Vec<_>, _>>()?;
    let rest: Result<Vec<_>, _> = if small.iter().map(pairs).sum::<u128>() < SMALL_PAIRS {
        small.iter().map(solve).collect()
    } else {
        small.par_iter().map(solve).collect()
    };
    minima.extend(rest?);
    Ok(minima)
}

/// The records of the parts, round by round; a part that has ended stays as it was.
fn combine_rounds(minima: &[Minimum], settings: &Settings) -> Vec<Round> {
    let last = minima.iter().map(|minimum| minimum.rounds.len()).max().unwrap_or(0);
    let rho = 1.0 / settings.l1_weight;
    let combine = |round: usize| {
        let start = Round { round, rho, iterations: 0, objective: 0.0, optimality: 0.0, residual: 0.0 };
        let latest = minima.iter().filter_map(|minimum| minimum.rounds.get(round - 1).or(minimum.rounds.last()));
        latest.fold(start, |sum, part| Round {
            round,
            rho: sum.rho.max(part.rho),
            iterations: if part.round == round { sum.iterations.max(part.iterations) } else { sum.iterations },
            objective: sum.objective + part.objective,
            optimality: sum.optimality.hypot(part.optimality),
            residual: sum.residual.hypot(part.residual),
        })
    };
    (1..=last).map(combine).collect()
}

fn lone_residual(problem: &Problem, parts: &[Range<usize>]) -> f64 {
    if parts.iter().map(Range::len).sum::<usize>() == problem.dim() {
        return 0.0;
    }
    let lone = problem.components().filter(|variables| variables.len() == 1).map(|variables| variables.start);
    let gap = |j: usize| problem.theta()[problem.support().diagonal(j)] - problem.noise_precision()[j];
    lone.map(|j| gap(j).powi(2)).sum::<f64>().sqrt()
}
