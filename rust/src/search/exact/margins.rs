//! How much worse the best graph without an edge is, or with the edge reversed.
//!
//! In an order with i before j, only j's parents can tell whether i and j are adjacent. So a constraint on one pair is a
//! constraint on the parents of whichever comes second, at the place where it comes: the best score before that place and
//! the best score after it are those without the constraint.

use super::limits::Mask;
use super::orders::{Orders, members, spread_to_supersets};
use rayon::prelude::*;

/// The best scores under constraints on one edge; infinite where background knowledge leaves no graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Constrained {
    /// The two variables are not adjacent.
    pub apart: f64,
    /// The edge leads the other way.
    pub reversed: f64,
}

/// Edges of a graph, as (cause, effect), by effect.
pub(super) fn edges(parents: &[Mask]) -> Vec<(usize, usize)> {
    let into = |(effect, &causes): (usize, &Mask)| members(causes).map(move |cause| (cause, effect));
    parents.iter().enumerate().flat_map(into).collect()
}

/// The best scores under constraints on each of some edges, given as (cause, effect).
pub(super) fn constrained(orders: &Orders, scores: &[f64], edges: &[(usize, usize)]) -> Vec<Constrained> {
    let before = orders.before();
    let d = scores.len() / before.len();
    // The best score of orders with one variable before another, which has this local score where it comes after a set.
    let best_through = |first: usize, second: usize, cost: &dyn Fn(usize) -> f64| {
        let sets = (0..before.len()).filter(|set| set >> first & 1 == 1 && set >> second & 1 == 0);
        sets.map(|set| before[set] + cost(set) + orders.after(set | 1 << second)).fold(f64::INFINITY, f64::min)
    };
    let under_constraints = |&(cause, effect): &(usize, usize)| {
        let without =
            |first: usize, second: usize| best_through(first, second, &|set| orders.best(second, set & !(1 << first)));
        let has_effect = |parents: usize| parents >> effect & 1 == 1;
        let score = |parents: usize| if has_effect(parents) { scores[parents * d + cause] } else { f64::INFINITY };
        let mut with_effect: Vec<f64> = (0..before.len()).map(score).collect();
        spread_to_supersets(&mut with_effect, 1);
        Constrained {
            apart: without(cause, effect).min(without(effect, cause)),
            reversed: best_through(effect, cause, &|set| with_effect[set]),
        }
    };
    edges.par_iter().map(under_constraints).collect()
}
