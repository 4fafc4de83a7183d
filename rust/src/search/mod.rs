//! Search over orders for the graph with the best score.
//!
//! A descent improves an order by moving one variable at a time to its best place. Then come trials: a few neighbouring
//! variables are moved at random, the variables affected are moved to their best places again, and the result is kept
//! unless it is worse. Two chains of trials run in parallel and exchange the parts of the graph that they improved.
//!
//! Along a wrong order the best graph has edges that the true graph lacks, and the search has to pass through such
//! orders. So the candidates for edges are not only neighbours in Θ but also pairs that are marginally dependent. And
//! most trials begin near triangles, of which a sparse true graph has few.

mod candidates;
mod check;
mod descent;
mod evidence;
mod exact;
mod growth;
mod journal;
mod options;
mod parents;
mod places;
mod prepared;
mod queue;
mod searcher;
mod share;
mod state;
mod trials;
mod wide;

pub use evidence::Evidence;
pub use exact::{Cost, Exact, ExactOptions, Margin, Optimum, exact, exact_up_to_scale};
pub use options::{Among, Budget, OrderFit, Proposer, Report, SearchOptions, Searched};
#[cfg(feature = "python")]
pub(crate) use searcher::Cache;
pub use searcher::Searcher;
pub use wide::{WidePrecision, WideSearcher, WideTable, wide_precision};

use crate::algebra::hash::Random;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
#[cfg(doc)]
use crate::knowledge::Knowledge;
use rayon::prelude::*;
use share::share;
use state::State;
use std::time::Instant;
use trials::make_trials;

/// Chains of trials, whatever the number of threads.
const CHAINS: usize = 2;
/// Chains exchange their improvements this often while each makes one trial per variable.
const ROUNDS: usize = 8;
/// The fewest trials of a chain between two exchanges.
const SHORTEST: usize = 25;
/// If variables times starts is at most this, all starts are descended from; otherwise only the best, one per chain.
const FEW: usize = 1000;

/// The best order that a search has found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The causes of each variable.
    pub causes: Vec<Vec<usize>>,
    /// How the search went.
    pub report: Report,
}

/// Search from several start orders, causes first. The candidates for edges are symmetric lists, ascending.
///
/// Required edges must be among the candidates, and the orders must respect them ([`Knowledge::arrange`]).
///
/// # Errors
/// When there is no start; when candidates or starts are not those of the variables, or contradict prior knowledge; when
/// interrupted.
pub fn search(
    evidence: &Evidence,
    candidates: &[Vec<u32>],
    starts: &[Vec<u32>],
    budget: Budget,
    interrupt: &Interrupt,
) -> Result<Found, IcidError> {
    check::check(evidence, candidates, starts)?;
    let begin = Instant::now();
    let in_time = || !interrupt.is_raised() && budget.time.is_none_or(|time| begin.elapsed() < time);
    let (mut states, start_scores, descent) = descend_from(evidence, candidates, starts, &in_time);
    exchange(&mut states, &in_time);
    // Further chains begin with the best order; their trials differ.
    for _ in states.len()..CHAINS {
        let mut state = State::new(evidence, candidates.to_vec(), &states[0].order());
        descend_fully(&mut state, &in_time);
        states.push(state);
    }
    let mut randoms: Vec<Random> =
        (0..CHAINS).map(|chain| Random::new(budget.seed.wrapping_add(chain as u64))).collect();
    let (mut made, mut improvements) = (0, 0);
    let (mut best, mut improved) = (states[0].rank(), budget.patience);
    while made < budget.trials.min(improved.saturating_add(budget.patience)) && in_time() && evidence.dim() > 1 {
        let round = (evidence.dim() / ROUNDS).max(SHORTEST).min((budget.trials - made).div_ceil(CHAINS));
        let counts: Vec<(usize, usize)> = states
            .par_iter_mut()
            .zip(&mut randoms)
            .map(|(state, random)| make_trials(state, round, random, &in_time))
            .collect();
        for (tried, better) in counts {
            made += tried;
            improvements += better;
        }
        exchange(&mut states, &in_time);
        let rank = best_of(&states).rank();
        if rank < best {
            (best, improved) = (rank, improved.max(made));
        }
    }
    interrupt.check()?;
    let best = best_of(&states);
    Ok(Found {
        order: best.order().into_iter().map(|i| i as usize).collect(),
        causes: (0..evidence.dim() as u32).map(|i| best.causes(i).iter().map(|&c| c as usize).collect()).collect(),
        report: Report { score: best.score(), start_scores, trials: made, improvements, descent },
    })
}

fn best_of<'s, 'a, 'e>(states: &'s [State<'a, 'e>]) -> &'s State<'a, 'e> {
    states.iter().min_by(|a, b| a.rank().total_cmp(&b.rank())).expect("at least one chain")
}

/// Descend from start orders; returns the best states, the scores of all starts, and the moves and the seconds of the
/// best state's first descent.
fn descend_from<'a, 'e>(
    evidence: &'a Evidence<'e>,
    candidates: &[Vec<u32>],
    starts: &[Vec<u32>],
    in_time: &(impl Fn() -> bool + Sync),
) -> (Vec<State<'a, 'e>>, Vec<f64>, (usize, f64)) {
    let begin = |(start, order): (usize, &Vec<u32>)| (start, State::new(evidence, candidates.to_vec(), order));
    let mut states: Vec<(usize, State)> = starts.par_iter().enumerate().map(begin).collect();
    let mut scores: Vec<f64> = states.iter().map(|(_, state)| state.score()).collect();
    states.sort_by(|(_, a), (_, b)| a.rank().total_cmp(&b.rank()));
    states.truncate(CHAINS.max(FEW / evidence.dim().max(1)));
    let descents: Vec<(usize, f64)> = states
        .par_iter_mut()
        .map(|(_, state)| {
            // Parents that are missing at the start would mislead the descent.
            while in_time() && state.add_missing_parents() {}
            let start = Instant::now();
            state.descend(in_time);
            let descent = (state.moves, start.elapsed().as_secs_f64());
            descend_fully(state, in_time);
            descent
        })
        .collect();
    for (start, state) in &states {
        scores[*start] = state.score();
    }
    states.sort_by(|(_, a), (_, b)| a.rank().total_cmp(&b.rank()));
    states.truncate(CHAINS);
    (states.into_iter().map(|(_, state)| state).collect(), scores, descents[0])
}

/// Combine the best parts of all graphs, and descend from the result.
fn exchange(states: &mut [State], in_time: &(impl Fn() -> bool + Sync)) {
    share(states);
    states.par_iter_mut().for_each(|state| descend_fully(state, in_time));
}

/// Descend, and add candidates for parents that are missing, until nothing changes.
fn descend_fully(state: &mut State, in_time: &impl Fn() -> bool) {
    state.descend(in_time);
    while in_time() && state.add_missing_parents() {
        state.descend(in_time);
    }
    state.keep();
}
