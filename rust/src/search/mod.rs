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
use descent::State;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// How long to search.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Trials.
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
    /// Trials made, and those that were kept because they were better.
    pub trials: usize,
    /// Trials that improved the score.
    pub improvements: usize,
}

/// Search from several start orders, causes first.
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
    let mut states: Vec<State> = starts
        .par_iter()
        .map(|order| {
            let mut state = State::new(evidence, candidates.to_vec(), order);
            state.descend(&mut || in_time());
            while in_time() && state.widen() > 0 {
                state.descend(&mut || in_time());
            }
            state.keep();
            state
        })
        .collect();
    let start_scores: Vec<f64> = states.iter().map(State::score).collect();
    let best = (0..states.len()).min_by(|&a, &b| start_scores[a].total_cmp(&start_scores[b])).expect("a start");
    let mut state = states.swap_remove(best);
    drop(states);

    let mut random = Random(budget.seed);
    let d = evidence.dim();
    let (mut trials, mut improvements) = (0, 0);
    while trials < budget.trials && in_time() && d > 1 {
        trials += 1;
        if trials % d == 0 && state.widen() > 0 {
            state.descend(&mut || in_time());
            state.keep();
        }
        let first = random.below(d) as u32;
        state.jump(first, &mut |n| random.below(n));
        for _ in 0..random.below(3) {
            let near = state.candidates(first);
            if near.is_empty() {
                break;
            }
            let other = near[random.below(near.len())];
            state.jump(other, &mut |n| random.below(n));
        }
        state.descend(&mut || in_time());
        let change = state.change();
        if change < 1e-7 {
            improvements += usize::from(change < -1e-7);
            state.keep();
        } else {
            state.undo();
        }
    }
    if interrupt.is_raised() {
        return Err(IcidError::Interrupted);
    }
    Ok(Found {
        order: state.order().into_iter().map(|i| i as usize).collect(),
        causes: (0..d as u32).map(|i| state.causes(i).iter().map(|&c| c as usize).collect()).collect(),
        score: state.score(),
        start_scores,
        trials,
        improvements,
    })
}

/// The `SplitMix64` generator of Steele, Lea and Flood (2014).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }
}
