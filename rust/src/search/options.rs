//! What a search is asked for, and what it returns.

use crate::error::IcidError;
use crate::score::{Noise, Score, Shape};
use crate::sem::{Fitted, LinearSem};
use ndarray::ArrayView2;
use std::time::Duration;

/// How long to search.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Trials at most.
    pub trials: usize,
    /// Trials without improvement that end the search; twice as many at the beginning.
    pub patience: usize,
    /// Time limit.
    pub time: Option<Duration>,
    /// Seed of the trials.
    pub seed: u64,
}

impl Budget {
    /// Default number of trials for each variable, and the fewest in all.
    const TRIALS: (usize, usize) = (10, 5000);
    /// The default patience is the number of variables divided by the first number, and at least the second.
    const PATIENCE: (usize, usize) = (4, 300);

    /// The default budget: no time limit, and seed 0.
    #[must_use]
    pub fn for_variables(d: usize) -> Self {
        let trials = (Self::TRIALS.0 * d).max(Self::TRIALS.1);
        let patience = (d / Self::PATIENCE.0).max(Self::PATIENCE.1);
        Self { trials, patience, time: None, seed: 0 }
    }
}

/// The variables among which the parents of a variable are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Among {
    /// Neighbours in Θ that come before it; without an inverse, also variables that are marginally dependent on it.
    Support,
    /// All that come before it. Needs the inverse: where paths cancel, Θ is zero between a cause and its effect.
    Predecessors,
}

/// The order along which a graph was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proposer {
    /// Elimination, whose order follows from Θ.
    Elimination,
    /// The order of the decomposition, given by the caller.
    Decomposition,
}

/// The better of two orders, with its graph.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OrderFit {
    /// The graph along it.
    pub best: Fitted,
    /// Which of the two it is.
    pub proposer: Proposer,
    /// Score of the order of elimination when the two were compared.
    pub elimination_score: f64,
    /// Score of the order of the decomposition.
    pub decomposition_score: f64,
}

/// How graphs are scored, but for the penalty of an edge.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Scoring<'a> {
    /// Assumption about the noise variances; known ones are in the units of the covariance.
    pub noise: Noise<'a>,
    /// Standardised variables in rows, if the score includes the shape of their residuals.
    pub values: Option<ArrayView2<'a, f64>>,
    /// How the shape is measured, where there are values.
    pub shape: Shape,
}

impl<'a> Scoring<'a> {
    /// Score residuals as Gaussian.
    #[must_use]
    pub fn new(noise: Noise<'a>) -> Self {
        Self { noise, values: None, shape: Shape::default() }
    }

    /// Include the shape of residuals in the score, from standardised variables in rows.
    #[must_use]
    pub fn with_values(mut self, values: Option<ArrayView2<'a, f64>>) -> Self {
        self.values = values;
        self
    }

    /// Measure the shape of residuals in this way.
    #[must_use]
    pub fn with_shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// The score of graphs with this penalty for an edge.
    pub(super) fn score(&self, samples: usize, penalty: f64) -> Result<Score<'a>, IcidError> {
        Ok(Score { shape: self.shape, ..Score::new(samples as f64, penalty, self.noise)? })
    }
}

/// Options of a search.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SearchOptions<'a> {
    /// What an edge must gain in twice the log-likelihood.
    pub penalty: f64,
    /// How graphs are scored; noise variances must not be [`Noise::Equal`].
    pub scoring: Scoring<'a>,
    /// How long to search.
    pub budget: Budget,
}

impl<'a> SearchOptions<'a> {
    /// Search for the graph with the best score within a budget.
    #[must_use]
    pub fn new(penalty: f64, scoring: Scoring<'a>, budget: Budget) -> Self {
        Self { penalty, scoring, budget }
    }
}

/// The best graph of a search.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Searched {
    /// The graph with its least-squares weights.
    pub sem: LinearSem,
    /// How the search went. Scores are those of variables scaled to unit variance.
    pub report: Report,
}

/// How a search went.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// Score of the best graph, for variables of unit variance.
    pub score: f64,
    /// Scores of the starts after the descents from them.
    pub start_scores: Vec<f64>,
    /// Trials made.
    pub trials: usize,
    /// Trials that improved the score.
    pub improvements: usize,
    /// Visits of variables in the descent from the best start, and its seconds.
    pub descent: (usize, f64),
    /// Why the search ended.
    pub ended: Ended,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// So many trials in a row as the patience allows, or that of the default budget, did not improve the score.
    Converged,
    /// All trials were made.
    OutOfTrials,
    /// The time limit was reached.
    OutOfTime,
}

impl OrderFit {
    /// The fit with the smaller score, the first one if they are equal.
    pub(super) fn better(
        first: Fitted,
        other: Option<Fitted>,
        [elimination_score, decomposition_score]: [f64; 2],
    ) -> Self {
        let (best, proposer) = match other {
            Some(other) if other.score < first.score => (other, Proposer::Decomposition),
            _ => (first, Proposer::Elimination),
        };
        Self { best, proposer, elimination_score, decomposition_score }
    }
}
