//! The whole decomposition, one connected component of Θ at a time.
//!
//! Components do not know of each other: each has its own steps, momentum and ρ, so that a block-diagonal Θ decomposes
//! exactly as its blocks do, and easy components do not wait for hard ones. The paper's schedule takes Θ whole, as printed.

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
const SMALL_PAIRS: u128 = 1 << 17;

/// Decompose `Θ = (I − B) D (I − B)ᵀ`.
///
/// # Errors
/// When a setting is out of range, the problem does not fit into memory, the objective leaves the finite numbers, or
/// the solve was interrupted before it began.
pub fn decompose(problem: &Problem, settings: &Settings, monitor: &mut Monitor) -> Result<Solution, IcidError> {
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
    let history = combine_rounds(problem, &parts, &minima);
    let (residual, optimality) = history.last().map_or((0.0, 0.0), |round| (round.residual, round.optimality));
    let status = if monitor.interrupt().is_raised() {
        Status::Interrupted
    } else if residual <= settings.tol {
        Status::Converged
    } else if minima.iter().any(|minimum| !minimum.finished) {
        Status::MaxFistaIter
    } else if minima.iter().any(|minimum| minimum.stalled) {
        Status::Stalled
    } else {
        Status::MaxAlmIter
    };
    let setup_time: Duration = minima.iter().map(|minimum| minimum.setup_time).sum();
    Ok(Solution {
        b: problem.to_matrix(&b),
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
    monitor: &mut Monitor,
) -> Result<Vec<Minimum>, IcidError> {
    let entries = |part: &Range<usize>| problem.component_entries(part).len() as f64;
    let total: f64 = parts.iter().map(entries).sum();
    let solve = |part: &Range<usize>, monitor: &mut Monitor| {
        // Shares whose squares add up to one, so that the whole meets its tolerances if the parts do.
        let share = (entries(part) / total).sqrt();
        let settings =
            Settings { tol: settings.tol * share, fista_tol: settings.fista_tol * share, ..settings.clone() };
        if part.len() == problem.dim() {
            minimise(problem, &settings, monitor)
        } else {
            minimise(&problem.component(part.clone())?, &settings, monitor)
        }
    };
    let pairs = |part: &Range<usize>| part.clone().map(|j| (problem.support().degree(j) as u128).pow(2)).sum::<u128>();
    // The first is watched in any case.
    let large = parts.iter().position(|part| pairs(part) < SMALL_PAIRS).map_or(parts.len(), |n| n.max(1));
    let (large, small) = parts.split_at(large.min(parts.len()));
    let mut minima = large.iter().map(|part| solve(part, monitor)).collect::<Result<Vec<_>, _>>()?;
    let interrupt = monitor.interrupt();
    let solve_unwatched = |part: &Range<usize>| solve(part, &mut Monitor::new(interrupt.clone(), None));
    let small_pairs: u128 = small.iter().map(pairs).sum();
    let rest: Result<Vec<_>, _> = if small_pairs < SMALL_PAIRS {
        small.iter().map(solve_unwatched).collect()
    } else {
        small.par_iter().map(solve_unwatched).collect()
    };
    minima.extend(rest?);
    Ok(minima)
}

/// The records of the parts, round by round; a part that has ended stays as it was.
fn combine_rounds(problem: &Problem, parts: &[Range<usize>], minima: &[Minimum]) -> Vec<Round> {
    let solved: usize = parts.iter().map(Range::len).sum();
    // Variables without neighbours: their part of the residual is what it is.
    let alone: f64 = if solved == problem.dim() {
        0.0
    } else {
        let lone = problem.components().filter(|variables| variables.len() == 1).map(|variables| variables.start);
        lone.map(|j| (problem.theta()[problem.support().diagonal(j)] - problem.noise_precision()[j]).powi(2)).sum()
    };
    let last = minima.iter().map(|minimum| minimum.rounds.len()).max().unwrap_or(0).max(1);
    let combine = |round: usize| {
        let start = Round { round, rho: 0.0, iterations: 0, objective: 0.0, optimality: 0.0, residual: alone };
        let latest = minima.iter().filter_map(|minimum| minimum.rounds.get(round - 1).or(minimum.rounds.last()));
        let sum = latest.fold(start, |sum, part| Round {
            round,
            rho: sum.rho.max(part.rho),
            iterations: if part.round == round { sum.iterations.max(part.iterations) } else { sum.iterations },
            objective: sum.objective + part.objective,
            optimality: sum.optimality + part.optimality.powi(2),
            residual: sum.residual + part.residual.powi(2),
        });
        Round { optimality: sum.optimality.sqrt(), residual: sum.residual.sqrt(), ..sum }
    };
    (1..=last).map(combine).collect()
}
