//! The exact optimum of a table, in the caller's numbers and units.

use super::{Cost, Margin, exact, exact_up_to_scale};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::score::{Noise, Score, Shape};
use crate::search::prepared::Prepared;
use crate::search::{Evidence, Searcher};
use crate::sem::LinearSem;
use ndarray::ArrayView2;

/// How graphs are scored, and what is wanted besides the best.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ExactOptions<'a> {
    /// What an edge must gain in twice the log-likelihood.
    pub penalty: f64,
    /// What is assumed about the noise variances; known ones are in the units of the covariance.
    pub noise: Noise<'a>,
    /// Standardised variables in rows, if the shape of their residuals counts.
    pub values: Option<ArrayView2<'a, f64>>,
    /// How the shape is measured, where there are values.
    pub shape: Shape,
    /// Whether to find out how clear each edge is.
    pub wants_margins: bool,
}

impl<'a> ExactOptions<'a> {
    /// Options for residuals that count as Gaussian, without margins.
    #[must_use]
    pub fn new(penalty: f64, noise: Noise<'a>) -> Self {
        Self { penalty, noise, values: None, shape: Shape::default(), wants_margins: false }
    }

    /// Let the shape of residuals count, seen in standardised variables by rows.
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

    /// Find out how clear each edge is.
    #[must_use]
    pub fn with_margins(mut self, wants_margins: bool) -> Self {
        self.wants_margins = wants_margins;
        self
    }
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

impl Searcher<'_> {
    /// Find the graph with the best score of all: nothing is left to chance, and no start is needed.
    ///
    /// # Examples
    /// ```
    /// use icid_rs::score::Noise;
    /// use icid_rs::search::{ExactOptions, Searcher};
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
    /// let options = ExactOptions::new(10.0, Noise::Unequal).with_margins(true);
    /// let found = searcher.exact(&options, &Interrupt::default())?;
    /// assert_eq!(found.sem.edges(), 2);
    /// // Reversing an edge would take a third one.
    /// assert!(found.margins.iter().all(|margin| margin.reversed > 10.0 - 1e-6));
    /// # Ok::<(), icid_rs::IcidError>(())
    /// ```
    ///
    /// # Errors
    /// When there are too many variables or too little memory; when values are not those of the variables; when the
    /// covariance is singular, or when interrupted.
    pub fn exact(&self, options: &ExactOptions, interrupt: &Interrupt) -> Result<Optimum, IcidError> {
        let Prepared { names, numbers, correlation, knowledge, .. } = self.prepared()?;
        let mut score = Score::new(self.samples as f64, options.penalty, options.noise)?;
        score.shape = options.shape;
        score.check(names.len())?;
        let is_equal = options.noise == Noise::Equal;
        let shares = match options.noise {
            Noise::Unequal => None,
            Noise::Equal => Some(self.noise_shares(names, |_| 1.0)),
            Noise::Known(variances) => Some(self.noise_shares(names, |i| variances[i])),
        };
        let noise = shares.as_deref().map_or(Noise::Unequal, Noise::Known);
        let mut evidence = Evidence::new(correlation.view(), Score { noise, ..score }, knowledge)?;
        if let Some(values) = options.values {
            evidence = evidence.with_rows_of_values(values, names.clone())?;
        }
        let optimum = if is_equal { exact_up_to_scale } else { exact };
        let found = optimum(&evidence, options.wants_margins, interrupt)?;
        let sem = self.fit_member(&evidence, &found.order, &found.causes, names, interrupt)?;
        // A weight of zero is no edge any more. Reversible edges, of either direction, have the same margins.
        let is_margin = |margin: &&Margin, (i, j): (usize, usize)| {
            let (i, j) = (numbers[i] as usize, numbers[j] as usize);
            [(i, j), (j, i)].contains(&(margin.cause, margin.effect))
        };
        let margin = |(_, (cause, effect)): (&f64, (usize, usize))| {
            let margin = found.margins.iter().find(|margin| is_margin(margin, (cause, effect)))?;
            Some(Margin { cause, effect, ..*margin })
        };
        let margins = sem.b.iter().filter_map(margin).collect();
        Ok(Optimum { sem, score: found.score, margins })
    }

    /// What [`Self::exact`] costs, with this many rows if the shape of residuals counts.
    #[must_use]
    pub fn exact_cost(&self, rows: Option<usize>) -> Cost {
        Cost::new(self.knowledge, rows)
    }
}
