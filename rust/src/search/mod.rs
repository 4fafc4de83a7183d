//! Search over orders for the graph with the best score.
//!
//! A descent improves an order by moving one variable at a time to its best place, with parents chosen among all that come
//! before (Wienöbst, Henckel and Weichwald 2026, FLOP). Then come trials: a
//! few neighbouring variables are moved at random, the variables affected are moved to their best places again, and the
//! result is kept unless it is worse. Most trials begin near triangles, of which a sparse true graph has few.

mod bags;
mod blocks;
mod check;
mod columns;
mod descent;
mod evidence;
mod exact;
mod factor;
mod fit;
mod kernel;
mod least_squares;
mod links;
mod missing;
mod options;
mod parents;
mod places;
mod prepared;
mod queue;
mod resampled;
mod searcher;
mod shapes;
mod state;
#[cfg(test)]
mod test_cases;
#[cfg(test)]
mod tests;
mod trials;
mod values;
mod walk;
mod wide;

pub use blocks::{BlockSearcher, Coefficients};
pub use evidence::Evidence;
pub use exact::{Cost, Exact, ExactTable, Margin, Optimum, exact, exact_up_to_scale};
pub use options::{Among, Budget, Ended, OrderFit, Proposer, Report, Scoring, SearchOptions, Searched};
pub use resampled::{ResampleOptions, Resampled};
#[cfg(feature = "python")]
pub(crate) use searcher::Cache;
pub use searcher::Searcher;
pub use wide::{WidePrecision, WideSearcher, WideTable, wide_precision};

use crate::algebra::hash::Random;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
#[cfg(doc)]
use crate::knowledge::Knowledge;
use kernel::{Block, Column, Kernel};
use parents::Setting;
use rayon::prelude::*;
use state::State;
use std::borrow::Cow;
use std::time::Instant;
use trials::Trials;

/// Descents, each with the pairs as candidates that the one before it lacked.
const MOST_ROUNDS: usize = 4;

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

/// Search from several start orders, causes first. All of them are descended from, and the best is perturbed.
///
/// The candidates for edges are symmetric lists, ascending. They restrict the edges where variables are very many;
/// otherwise parents are sought among all predecessors. Required edges must be among the candidates,
/// and the orders must respect them ([`Knowledge::arrange`]).
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
    match evidence.blocks() {
        None => search_with::<Column>(evidence, candidates, starts, budget, interrupt),
        Some(_) => search_with::<Block>(evidence, candidates, starts, budget, interrupt),
    }
}

fn search_with<K: Kernel>(
    evidence: &Evidence,
    candidates: &[Vec<u32>],
    starts: &[Vec<u32>],
    budget: Budget,
    interrupt: &Interrupt,
) -> Result<Found, IcidError> {
    let begin = Instant::now();
    let in_time = || !interrupt.is_raised() && budget.time.is_none_or(|time| begin.elapsed() < time);
    let (mut lists, mut from) = (Cow::Borrowed(candidates), Cow::Borrowed(starts));
    let (mut start_scores, mut missing) = (None, Vec::new());
    for round in 1.. {
        let setting = Setting::new(evidence, &lists);
        let descended = descend_from::<K>(&setting, &from, &missing, budget.seed, &in_time);
        let start_scores = start_scores.get_or_insert(descended.start_scores);
        let state = descended.state;
        let go_on = budget.trials > 0 && round < MOST_ROUNDS && in_time();
        missing = if go_on { state.missing_pairs() } else { Vec::new() };
        if missing.is_empty() {
            return improve(state, std::mem::take(start_scores), descended.descent, &budget, &in_time, interrupt);
        }
        from = Cow::Owned(vec![state.order().to_vec()]);
        missing::join(lists.to_mut(), &missing);
    }
    unreachable!("the last round returns")
}

/// Perturb the best state until the budget is used up.
fn improve<K: Kernel>(
    mut state: State<K>,
    start_scores: Vec<f64>,
    descent: (usize, f64),
    budget: &Budget,
    in_time: &impl Fn() -> bool,
    interrupt: &Interrupt,
) -> Result<Found, IcidError> {
    let d = state.dim();
    let mut trials = Trials::default();
    let ended = loop {
        interrupt.check()?;
        // The first improvement may take as long as any later one, and the descent was none.
        let patience = trials.improved_after.max(budget.patience).saturating_add(budget.patience);
        if !in_time() {
            break Ended::OutOfTime;
        } else if d < 2 || trials.made >= patience {
            break Ended::Converged;
        } else if trials.made >= budget.trials {
            let is_converged = trials.made - trials.improved_after >= Budget::for_variables(d).patience;
            break if is_converged { Ended::Converged } else { Ended::OutOfTrials };
        }
        trials.make(&mut state, in_time);
    };
    interrupt.check()?;
    let report = Report {
        score: state.fresh_score(),
        start_scores,
        trials: trials.made,
        improvements: trials.improvements,
        descent,
        ended,
    };
    let causes = |i: u32| state.causes(i).iter().map(|&cause| cause as usize).collect();
    Ok(Found {
        order: state.order().iter().map(|&i| i as usize).collect(),
        causes: (0..d as u32).map(causes).collect(),
        report,
    })
}

/// The best of the states that descents from several starts have reached.
struct Descended<'a, 'e, K> {
    state: State<'a, 'e, K>,
    /// Scores of all starts after their descents.
    start_scores: Vec<f64>,
    /// Visits of the descent to the best state, and its seconds.
    descent: (usize, f64),
}

/// Descend from all start orders; or, if pairs have become candidates since the last descent, from the variables of these.
fn descend_from<'a, 'e, K: Kernel>(
    setting: &'a Setting<'a, 'e>,
    starts: &[Vec<u32>],
    new: &[(u32, u32)],
    seed: u64,
    in_time: &(impl Fn() -> bool + Sync),
) -> Descended<'a, 'e, K> {
    let descend = |(number, order): (usize, &Vec<u32>)| {
        let begin = Instant::now();
        let mut state = State::new(setting, order, Random::new(seed));
        if new.is_empty() {
            state.descend_fully(in_time);
        } else {
            state.descend_at(new.iter().flat_map(|&(i, j)| [i, j]), in_time);
        }
        let score = state.score();
        let descent = (state.visits, begin.elapsed().as_secs_f64());
        (vec![(number, score)], (state.rank(), number), state, descent)
    };
    // Only the better of two states is kept, so that memory does not grow with the number of starts.
    let better = |mut one: (Vec<_>, (f64, usize), State<'a, 'e, K>, _), mut two: (Vec<_>, _, _, _)| {
        let mut scores = std::mem::take(&mut one.0);
        scores.append(&mut two.0);
        let mut best = if two.1 < one.1 { two } else { one };
        best.0 = scores;
        best
    };
    let (mut scores, _, state, descent) =
        starts.par_iter().enumerate().map(descend).reduce_with(better).expect("at least one start");
    scores.sort_unstable_by_key(|&(number, _)| number);
    Descended { state, start_scores: scores.into_iter().map(|(_, score)| score).collect(), descent }
}
