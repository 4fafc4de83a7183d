//! The exact optimum of a table, in the caller's numbers and units.

use super::local::Local;
use super::{Cost, Margin, best, best_up_to_scale};
use crate::Blocks;
use crate::algebra::check::check_parameter_not_negative;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::score::Noise;
use crate::search::least_squares::LeastSquares;
use crate::search::{Evidence, Scoring, Searcher};
use crate::sem::LinearSem;
use ndarray::{Array2, ArrayView2};

/// Scores of every variable of a table given every set of parents.
///
/// Where shapes count, they take nearly all the time of an exact optimum. The penalty of an edge is added afterwards, so
/// that one table serves for many penalties.
#[derive(Debug)]
pub struct ExactTable {
    local: Local,
    is_equal: bool,
    covariance: Array2<f64>,
    samples: usize,
    is_class: bool,
    names: Vec<u32>,
    numbers: Vec<u32>,
    blocks: Option<Blocks>,
}

/// The graph with the best score of all.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Optimum {
    /// The graph with its least-squares weights.
    pub sem: LinearSem,
    /// Its score for variables scaled to unit variance; with equal noise variances, in the units of the covariance.
    pub score: f64,
    /// How clear each edge is, row by row as in the weights; empty unless wanted.
    pub margins: Vec<Margin>,
}

impl ExactTable {
    /// Score all sets of parents among blocks of columns, whose numbers are `names` to the caller.
    pub(in crate::search) fn of_blocks(
        evidence: &Evidence,
        correlation: ArrayView2<f64>,
        blocks: &Blocks,
        (names, numbers): (&[u32], &[u32]),
        interrupt: &Interrupt,
    ) -> Result<Self, IcidError> {
        Ok(Self {
            local: Local::new(evidence, interrupt)?,
            is_equal: false,
            covariance: correlation.to_owned(),
            samples: evidence.score.samples as usize,
            is_class: evidence.knowledge.is_trivial(),
            names: names.to_vec(),
            numbers: numbers.to_vec(),
            blocks: Some(blocks.clone()),
        })
    }

    /// Find the graph with the best score of all, where an edge must gain the penalty in twice the log-likelihood; and how
    /// clear each edge is, if that is wanted.
    ///
    /// # Errors
    /// When the penalty is negative or not finite, when the covariance is singular, or when interrupted.
    pub fn optimum(&self, penalty: f64, wants_margins: bool, interrupt: &Interrupt) -> Result<Optimum, IcidError> {
        check_parameter_not_negative("penalty", penalty)?;
        let best = if self.is_equal { best_up_to_scale } else { best };
        let found = best(&self.local, penalty, wants_margins, interrupt)?;
        let Self { samples, is_class, .. } = *self;
        let (covariance, blocks) = (self.covariance.view(), self.blocks.as_ref());
        let least_squares = LeastSquares { covariance, samples, names: &self.names, is_class, blocks };
        let sem = least_squares.fit(&found.order, &found.causes, interrupt)?;
        // A weight of zero is no edge any more. Reversible edges, of either direction, have the same margins.
        let is_margin = |margin: &&Margin, (i, j): (usize, usize)| {
            let (i, j) = (self.numbers[i] as usize, self.numbers[j] as usize);
            [(i, j), (j, i)].contains(&(margin.cause, margin.effect))
        };
        let margin = |(_, (cause, effect)): (&f64, (usize, usize))| {
            let margin = found.margins.iter().find(|margin| is_margin(margin, (cause, effect)))?;
            Some(Margin { cause, effect, ..*margin })
        };
        let margins = sem.b.iter().filter_map(margin).collect();
        Ok(Optimum { sem, score: found.score, margins })
    }
}

impl Searcher<'_> {
    /// Score all sets of parents, from which the graph with the best score of all follows: nothing is left to chance, and
    /// no start is needed.
    ///
    /// # Examples
    /// ```
    /// use icid_rs::score::Noise;
    /// use icid_rs::search::{Scoring, Searcher};
    /// use icid_rs::{Interrupt, Knowledge};
    /// use sprs::CsMat;
    ///
    /// // 0 → 2 ← 1 with weights 1, and noise of variance 1.
    /// let covariance = ndarray::array![[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 3.0]];
    /// let inverse = ndarray::array![[2.0, 1.0, -1.0], [1.0, 2.0, -1.0], [-1.0, -1.0, 1.0]];
    /// let theta = CsMat::csr_from_dense(inverse.view(), 0.0);
    /// let knowledge = Knowledge::none(3);
    /// let searcher = Searcher::new(covariance.view(), theta.view(), Some(inverse.view()), 1000, &knowledge)?;
    /// assert!(searcher.exact_cost(None).is_cheap());
    /// let interrupt = Interrupt::default();
    /// let table = searcher.exact_table(&Scoring::new(Noise::Unequal), &interrupt)?;
    /// let found = table.optimum(10.0, true, &interrupt)?;
    /// assert_eq!(found.sem.edges(), 2);
    /// // Reversing an edge would take a third one.
    /// assert!(found.margins.iter().all(|margin| margin.reversed > 10.0 - 1e-6));
    /// // No edge is worth this much.
    /// assert_eq!(table.optimum(1e4, false, &interrupt)?.sem.edges(), 0);
    /// # Ok::<(), icid_rs::IcidError>(())
    /// ```
    ///
    /// # Errors
    /// When there are too many variables or too little memory; when values are not those of the variables; when the
    /// covariance is singular, or when interrupted.
    pub fn exact_table(&self, scoring: &Scoring, interrupt: &Interrupt) -> Result<ExactTable, IcidError> {
        // The table has no penalties.
        self.with_evidence(0.0, scoring, |evidence, prepared| {
            Ok(ExactTable {
                local: Local::new(evidence, interrupt)?,
                is_equal: scoring.noise == Noise::Equal,
                covariance: self.table.covariance.to_owned(),
                samples: self.samples,
                is_class: self.scores_classes(scoring),
                names: prepared.names.clone(),
                numbers: prepared.numbers.clone(),
                blocks: None,
            })
        })
    }

    /// What an exact optimum costs, with this many rows if the shape of residuals counts.
    #[must_use]
    pub fn exact_cost(&self, rows: Option<usize>) -> Cost {
        Cost::new(self.knowledge, rows)
    }
}
