//! Search over orders for the graph with the best score.
//!
//! A start order is improved by moving one variable at a time to its best place. Then trials: a few neighbouring
//! variables are thrown about, the variables that this concerns are improved again, and the result is kept unless it is
//! worse. Two chains of trials go on side by side, and share the regions that they improved.
//!
//! A wrong order needs causes that are none in the true graph. So candidates are not only neighbours in Θ but also whatever
//! is marginally dependent: the search may pass through wrong graphs. And most trials begin near triangles, of which a
//! sparse true graph has few.

mod check;
mod descent;
mod evidence;
mod growth;
mod parents;
mod prepared;
mod searcher;
mod share;
mod state;
mod trials;

pub use evidence::Evidence;
#[cfg(feature = "python")]
pub(crate) use searcher::Cache;
pub use searcher::{Among, OrderFit, Proposer, SearchOptions, Searched, Searcher};

use crate::algebra::hash::Random;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
#[cfg(doc)]
use crate::knowledge::Knowledge;
use rayon::prelude::*;
use share::share;
use state::State;
use std::time::{Duration, Instant};
use trials::perturb;

/// Searches that go on side by side, whatever the number of threads.
const CHAINS: usize = 2;
/// How often they share what they found while each makes a trial for each variable.
const ROUNDS: usize = 8;
/// The fewest trials of a chain between.
const SHORTEST: usize = 25;
/// Variables times starts up to which all starts are followed; otherwise one for each chain.
const FEW: usize = 1000;

/// How long to search.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Trials, of all chains together.
    pub trials: usize,
    /// Trials without improvement after which there will be none; twice as many at the beginning.
    pub patience: usize,
    /// Time, from the call on.
    pub time: Option<Duration>,
    /// Seed of the trials.
    pub seed: u64,
}

impl Budget {
    /// Trials for each variable, and the fewest of all, where the length of a search is not given.
    const TRIALS: (usize, usize) = (10, 5000);
    /// Variables for each trial without improvement that ends a search, and the fewest such trials.
    const PATIENCE: (usize, usize) = (2, 500);

    /// The budget of the main search, where none is given: no limit of time, and seed 0.
    #[must_use]
    pub fn for_variables(d: usize) -> Self {
        let trials = (Self::TRIALS.0 * d).max(Self::TRIALS.1);
        let patience = (d / Self::PATIENCE.0).max(Self::PATIENCE.1);
        Self { trials, patience, time: None, seed: 0 }
    }
}

/// The best order that was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The causes of each variable.
    pub causes: Vec<Vec<usize>>,
    /// How it was found.
    pub report: Report,
}

/// How a search went.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// Score of the best graph, for variables of unit variance.
    pub score: f64,
    /// Scores of the starts, after their descents if they were followed.
    pub start_scores: Vec<f64>,
    /// Trials made, of all chains together.
    pub trials: usize,
    /// Trials that improved the score.
    pub improvements: usize,
    /// Variables tried at all their places in the first descent of the best start, and the seconds that took.
    pub descent: (usize, f64),
}

/// Search from several start orders, causes first, among candidates that are given as symmetric lists, ascending.
///
/// Required edges must be among the candidates, and the orders must respect them ([`Knowledge::arrange`]).
///
/// # Errors
/// When there is no start; when candidates or starts are not those of the variables, or contradict what is known; when
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
    let (mut states, start_scores, descent) = follow(evidence, candidates, starts, &in_time);
    pool(&mut states, &in_time);
    // Chains without a start of their own take the best one; their trials differ.
    for _ in states.len()..CHAINS {
        let mut state = State::new(evidence, candidates.to_vec(), &states[0].order());
        settle(&mut state, &in_time);
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
            .map(|(state, random)| perturb(state, round, random, &in_time))
            .collect();
        for (tried, better) in counts {
            made += tried;
            improvements += better;
        }
        pool(&mut states, &in_time);
        let rank = states.iter().map(State::rank).fold(f64::INFINITY, f64::min);
        if rank < best {
            (best, improved) = (rank, improved.max(made));
        }
    }
    if interrupt.is_raised() {
        return Err(IcidError::Interrupted);
    }
    let best = states.iter().min_by(|a, b| a.rank().total_cmp(&b.rank())).expect("at least one chain");
    Ok(Found {
        order: best.order().into_iter().map(|i| i as usize).collect(),
        causes: (0..evidence.dim() as u32).map(|i| best.causes(i).iter().map(|&c| c as usize).collect()).collect(),
        report: Report { score: best.score(), start_scores, trials: made, improvements, descent },
    })
}

/// Improve start orders until nothing changes; the best states, the scores of all starts, and the moves and the seconds of
/// the first descent.
fn follow<'a, 'e>(
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
            // Causes that are missed now would lead the descent astray.
            while in_time() && state.look_further() {}
            let start = Instant::now();
            state.descend(in_time);
            let descent = (state.moves, start.elapsed().as_secs_f64());
            settle(state, in_time);
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

/// Let all go on from the best regions of each.
fn pool(states: &mut [State], in_time: &(impl Fn() -> bool + Sync)) {
    share(states);
    states.par_iter_mut().for_each(|state| settle(state, in_time));
}

/// Descend, and let candidates in that are missed, until nothing changes.
fn settle(state: &mut State, in_time: &impl Fn() -> bool) {
    state.descend(in_time);
    while in_time() && state.look_further() {
        state.descend(in_time);
    }
    state.keep();
}
