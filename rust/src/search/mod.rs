//! Search over orders for the graph with the best score.
//!
//! A start order is improved by moving one variable at a time to its best place. Then trials: a few neighbouring
//! variables are thrown about, the variables that this concerns are improved again, and the result is kept unless it is
//! worse. A wrong order needs causes that are none in the true graph, so candidates are not only neighbours in Θ but also
//! whatever is marginally dependent: the search may pass through wrong graphs.

mod descent;
mod parents;
mod score;

pub use score::{Evidence, NoiseModel};

use crate::error::IcidError;
use crate::interrupt::Interrupt;
#[cfg(doc)]
use crate::knowledge::Knowledge;
use descent::State;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Searches that go on side by side, whatever the number of threads; the best counts.
const CHAINS: usize = 2;

/// How long to search.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Trials, of all chains together.
    pub trials: usize,
    /// Time, from the call on.
    pub time: Option<Duration>,
    /// Seed of the trials.
    pub seed: u64,
}

/// The best order that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The causes of each variable.
    pub causes: Vec<Vec<usize>>,
    /// Its score.
    pub score: f64,
    /// Scores of the starts after their descents.
    pub start_scores: Vec<f64>,
    /// Trials made, of all chains together.
    pub trials: usize,
    /// Trials that improved the score.
    pub improvements: usize,
    /// Variables tried at all their places in the first descent of the first start, and the seconds that took.
    pub descent: (usize, f64),
}

/// Search from several start orders, causes first, among candidates that are given as symmetric lists, ascending.
///
/// Required edges must be among the candidates, and the orders must respect them ([`Knowledge::arrange`]).
///
/// # Errors
/// When interrupted.
///
/// # Panics
/// Without a start order.
pub fn search(
    evidence: &Evidence,
    candidates: &[Vec<u32>],
    starts: &[Vec<u32>],
    budget: Budget,
    interrupt: &Interrupt,
) -> Result<Found, IcidError> {
    let begin = Instant::now();
    let in_time = || !interrupt.is_raised() && budget.time.is_none_or(|time| begin.elapsed() < time);
    let (mut states, descents): (Vec<State>, Vec<(usize, f64)>) = starts
        .par_iter()
        .map(|order| {
            let mut state = State::new(evidence, candidates.to_vec(), order);
            // Causes that are missed now would lead the descent astray.
            while in_time() && state.look_further() {}
            let start = Instant::now();
            state.descend(&in_time);
            let descent = (state.moves, start.elapsed().as_secs_f64());
            settle(&mut state, &in_time);
            (state, descent)
        })
        .unzip();
    let start_scores: Vec<f64> = states.iter().map(State::score).collect();
    states.sort_by(|a, b| a.score().total_cmp(&b.score()));
    states.truncate(CHAINS);
    // Chains without a start of their own take the best one; their trials differ.
    for _ in states.len()..CHAINS {
        let mut state = State::new(evidence, candidates.to_vec(), &states[0].order());
        settle(&mut state, &in_time);
        states.push(state);
    }
    let trials = budget.trials.div_ceil(CHAINS);
    let chains: Vec<(State, usize, usize)> = states
        .into_par_iter()
        .enumerate()
        .map(|(chain, mut state)| {
            let random = Random(budget.seed.wrapping_add(chain as u64));
            let (made, improvements) = perturb(&mut state, trials, random, &in_time);
            (state, made, improvements)
        })
        .collect();
    if interrupt.is_raised() {
        return Err(IcidError::Interrupted);
    }
    let (made, improvements) = chains.iter().fold((0, 0), |(a, b), (_, made, better)| (a + made, b + better));
    let best = chains.iter().map(|(state, ..)| state).min_by(|a, b| a.score().total_cmp(&b.score()));
    let best = best.expect("at least one chain");
    Ok(Found {
        order: best.order().into_iter().map(|i| i as usize).collect(),
        causes: (0..evidence.dim() as u32).map(|i| best.causes(i).iter().map(|&c| c as usize).collect()).collect(),
        score: best.score(),
        start_scores,
        trials: made,
        improvements,
        descent: descents[0],
    })
}

/// Descend, and let candidates in that are missed, until nothing changes.
fn settle(state: &mut State, in_time: &impl Fn() -> bool) {
    state.descend(in_time);
    while in_time() && state.look_further() {
        state.descend(in_time);
    }
    state.keep();
}

/// Throw a few neighbours about, descend, and keep what is not worse; how many trials were made and how many were better.
fn perturb(state: &mut State, trials: usize, mut random: Random, in_time: &impl Fn() -> bool) -> (usize, usize) {
    let d = state.dim();
    let (mut made, mut improvements) = (0, 0);
    let tolerance = state.tolerance();
    while made < trials && in_time() && d > 1 {
        made += 1;
        if made % d == 0 {
            settle(state, in_time);
        }
        throw(state, &mut random);
        state.descend(in_time);
        let change = state.change();
        // An order as good as the last one is a way out of a plateau. Out of time, a descent may have been cut short.
        if change <= tolerance {
            improvements += usize::from(change < -tolerance);
            state.keep();
        } else {
            state.undo();
        }
    }
    (made, improvements)
}

/// Reverse an edge or move a variable, and with it up to two of its neighbours.
///
/// Where they come to lie they may need causes that are no candidates, because paths to them cancel out in Θ and in the
/// correlations alike.
fn throw(state: &mut State, random: &mut Random) {
    let first = random.below(state.dim()) as u32;
    let causes = state.causes(first);
    if !causes.is_empty() && random.below(2) == 0 {
        let cause = causes[random.below(causes.len())];
        state.reverse(cause, first);
    } else {
        state.jump(first, random);
    }
    state.look_back(first);
    for _ in 0..random.below(3) {
        let causes = state.causes(first);
        let near = if !causes.is_empty() && random.below(2) == 0 { causes } else { state.candidates(first) };
        if near.is_empty() {
            break;
        }
        let other = near[random.below(near.len())];
        state.jump(other, random);
        state.look_back(other);
    }
}

/// The `SplitMix64` generator of Steele, Lea and Flood (2014).
pub(crate) struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }
}
