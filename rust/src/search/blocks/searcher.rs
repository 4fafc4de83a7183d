//! Searches among variables that are blocks of columns.

use super::graph::{Coefficients, coefficients, residual_inflation, smallest_pivots};
use super::prepared::Prepared;
use super::whitening::{Layout, whitened_resample};
use crate::Blocks;
use crate::algebra::check::{check_finite, check_length, check_not_empty, check_parameter, check_shape, check_square};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::moments::{Missing, Moments};
use crate::score::{Noise, Score};
use crate::search::bags::Bags;
use crate::search::least_squares::LeastSquares;
use crate::search::resampled::{class_of, is_exact};
use crate::search::{Budget, Cost, Evidence, ExactTable, Resampled, Searched, search};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayView3, Axis};
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// Searches for graphs among variables that are blocks of columns, such as categories: the counterpart of
/// [`Searcher`](crate::search::Searcher), with unequal noise variances and Gaussian residuals.
///
/// # Examples
/// ```
/// use icid_rs::search::{BlockSearcher, Budget};
/// use icid_rs::{Blocks, Interrupt, Knowledge};
///
/// // A number, and a category of three levels that depends on it.
/// let covariance = ndarray::array![[1.0, 0.2, -0.1], [0.2, 0.25, -0.12], [-0.1, -0.12, 0.24]];
/// let (blocks, knowledge) = (Blocks::new(&[0, 1, 3])?, Knowledge::none(2));
/// let searcher = BlockSearcher::new(covariance.view(), None, &blocks, &[false, true], 500, &knowledge)?;
/// let found = searcher.search(&[vec![0, 1]], 10.0, Budget::for_variables(2), &Interrupt::default())?;
/// // The weight of an edge is its strength: the root of the share of variance that it explains.
/// assert!((found.sem.b.data()[0] - 0.4).abs() < 0.01);
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug)]
pub struct BlockSearcher {
    samples: usize,
    knowledge: Knowledge,
    prepared: Prepared,
}

impl BlockSearcher {
    /// Prepare a search from the covariance of the columns of so many samples, and its inverse if there is one. Of
    /// variables that are categories the correlations with others are shrunk as by one more row, so that none determines another.
    ///
    /// # Errors
    /// When sizes do not fit together, there are no samples, a column is constant, or one is a linear combination of others
    /// of its block.
    pub fn new(
        covariance: ArrayView2<f64>,
        inverse: Option<ArrayView2<f64>>,
        blocks: &Blocks,
        is_category: &[bool],
        samples: usize,
        knowledge: &Knowledge,
    ) -> Result<Self, IcidError> {
        let p = check_square("covariance", covariance.dim())?;
        check_not_empty("covariance", p)?;
        check_length("the columns of blocks", blocks.columns(), p)?;
        check_length("is_category", is_category.len(), blocks.len())?;
        check_shape("inverse", inverse.map_or((p, p), |inverse| inverse.dim()), p)?;
        knowledge.check_dim(blocks.len())?;
        check_parameter("samples", samples as f64, samples >= 1, "at least 1")?;
        let layout = Layout { blocks: blocks.clone(), is_category: is_category.to_vec() };
        let prepared = Prepared::new(covariance, inverse, &layout, samples, knowledge)?;
        Ok(Self { samples, knowledge: knowledge.clone(), prepared })
    }

    /// Search for the graph with the best score, from orders of the variables, causes first. The penalty is the price of an
    /// edge between two variables of one column; each further parameter costs the logarithm of the number of samples, or
    /// the penalty if that is less.
    ///
    /// The weights of the graph are the strengths of its edges: the square root of the share of the generalised variance
    /// of the effect, given its other causes, that the cause explains. Its noise variances are the shares that are left.
    ///
    /// # Errors
    /// When there is no start, or one is not an order of the variables; when required causes are linear combinations of each
    /// other or determine their effect; or when interrupted.
    pub fn search(
        &self,
        starts: &[Vec<usize>],
        penalty: f64,
        budget: Budget,
        interrupt: &Interrupt,
    ) -> Result<Searched, IcidError> {
        let Prepared { names, correlation, candidates, layout, shares, .. } = &self.prepared;
        let starts = starts.iter().map(|start| self.renumbered(start)).collect::<Result<Vec<_>, _>>()?;
        let mut evidence = self.evidence(correlation.view(), penalty)?;
        if let Some(shares) = shares {
            evidence = evidence.with_shares(shares);
        }
        let found = search(&evidence, candidates, &starts, budget, interrupt)?;
        let least_squares = LeastSquares {
            covariance: correlation.view(),
            samples: self.samples,
            names,
            is_class: self.knowledge.is_trivial(),
            blocks: Some(&layout.blocks),
        };
        let sem = least_squares.fit(&found.order, &found.causes, interrupt)?;
        Ok(Searched { sem, report: found.report })
    }

    /// Score all sets of parents, from which the graph with the best score of all follows.
    ///
    /// # Errors
    /// When there are too many variables or too little memory; when required causes are linear combinations of each other;
    /// or when interrupted.
    pub fn exact_table(&self, interrupt: &Interrupt) -> Result<ExactTable, IcidError> {
        let Prepared { names, numbers, correlation, layout, .. } = &self.prepared;
        // The table has no penalties.
        let evidence = self.evidence(correlation.view(), 0.0)?;
        ExactTable::of_blocks(&evidence, correlation.view(), &layout.blocks, (names, numbers), interrupt)
    }

    /// What an exact optimum costs.
    #[must_use]
    pub fn exact_cost(&self) -> Cost {
        Cost::new(&self.knowledge, None)
    }

    /// Order the variables so that each is the one that those before it explain best.
    #[must_use]
    pub fn smallest_pivots(&self) -> Vec<usize> {
        let order = smallest_pivots(&self.prepared.correlation, &self.prepared.layout.blocks);
        order.into_iter().map(|number| self.prepared.names[number] as usize).collect()
    }

    /// Number of variables.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // There is at least one.
    pub fn len(&self) -> usize {
        self.prepared.names.len()
    }

    /// The regressions of the columns of each variable on those of its causes, where `b[i, j] ≠ 0` means i → j.
    ///
    /// # Errors
    /// When the graph is one of other variables, or causes determine their effect.
    pub fn coefficients(&self, b: CsMatView<f64>) -> Result<Coefficients, IcidError> {
        coefficients(&self.prepared, &self.causes(b)?)
    }

    /// Inflation of the null distribution, at least 1: how much wider than by chance the correlations between residuals of
    /// a graph are spread.
    ///
    /// # Errors
    /// As [`Self::coefficients`].
    pub fn null_inflation(&self, b: CsMatView<f64>) -> Result<f64, IcidError> {
        residual_inflation(&self.prepared, &self.causes(b)?, self.samples as f64)
    }

    /// Find the equivalence class of each resample of the rows, and count their edges: see
    /// [`Searcher::search_resamples`](crate::search::Searcher::search_resamples). A level that is missing in a resample
    /// depends on nothing.
    ///
    /// # Errors
    /// When sizes do not fit together, or an entry is not finite; when a number is constant in a resample; when the order is
    /// not one of the variables; or when interrupted.
    pub fn search_resamples(
        &self,
        rows: ArrayView2<f64>,
        counts: ArrayView2<u16>,
        order: &[usize],
        penalty: f64,
        budget: Budget,
        interrupt: &Interrupt,
    ) -> Result<Resampled, IcidError> {
        check_length("counts", counts.ncols(), rows.nrows())?;
        check_length("a row", rows.ncols(), self.prepared.columns.len())?;
        let start = self.renumbered(order)?;
        let draw = Draw { searcher: self, start: &start, penalty, budget, interrupt };
        let Some(bags) = Bags::of(rows, counts)? else {
            let class = |counts: ArrayView1<u16>| {
                let weights: Vec<f64> = counts.iter().map(|&count| f64::from(count)).collect();
                let mut moments = Moments::new(rows.ncols(), false)?;
                moments.update(&rows, Some(&weights), Missing::Refuse, None, interrupt)?;
                draw.class(moments.covariance()?)
            };
            let resamples: Vec<_> = counts.rows().into_iter().collect();
            let classes: Vec<_> = resamples.into_par_iter().map(class).collect::<Result<_, _>>()?;
            return Ok(Resampled::count(&classes, &self.prepared.names));
        };
        let mut classes = Vec::with_capacity(counts.nrows());
        for batch in bags.batches() {
            let covariances = bags.covariances(batch.clone(), interrupt)?;
            let class = |k: usize| draw.class(covariances.get(k));
            let found: Vec<_> = (0..batch.len()).into_par_iter().map(class).collect::<Result<_, _>>()?;
            classes.extend(found);
        }
        Ok(Resampled::count(&classes, &self.prepared.names))
    }

    /// As [`Self::search_resamples`], given the covariance matrix of the columns of each resample, `[k, i, j]`.
    ///
    /// # Errors
    /// As there.
    pub fn search_covariances(
        &self,
        covariances: ArrayView3<f64>,
        order: &[usize],
        penalty: f64,
        budget: Budget,
        interrupt: &Interrupt,
    ) -> Result<Resampled, IcidError> {
        let start = self.renumbered(order)?;
        let draw = Draw { searcher: self, start: &start, penalty, budget, interrupt };
        let class = |k: usize| {
            let covariance = covariances.index_axis(Axis(0), k);
            check_shape("a covariance", covariance.dim(), self.prepared.columns.len())?;
            check_finite("a covariance", &covariance)?;
            draw.class(covariance.to_owned())
        };
        let classes: Vec<_> = (0..covariances.len_of(Axis(0))).into_par_iter().map(class).collect::<Result<_, _>>()?;
        Ok(Resampled::count(&classes, &self.prepared.names))
    }

    /// The score of graphs, for correlations in the numbers of searches.
    fn evidence<'b>(&'b self, correlation: ArrayView2<'b, f64>, penalty: f64) -> Result<Evidence<'b>, IcidError> {
        let score = Score::new(self.samples as f64, penalty, Noise::Unequal)?;
        let Prepared { layout, knowledge, .. } = &self.prepared;
        Evidence::of_blocks(correlation, &layout.blocks, score, knowledge)
    }

    /// The order closest to a given one that respects prior knowledge, in the numbers of searches.
    fn renumbered(&self, order: &[usize]) -> Result<Vec<u32>, IcidError> {
        Ok(self.knowledge.arrange(order)?.into_iter().map(|i| self.prepared.numbers[i]).collect())
    }

    /// The causes of each variable, in the numbers of searches.
    fn causes(&self, b: CsMatView<f64>) -> Result<Vec<Vec<usize>>, IcidError> {
        let numbers = &self.prepared.numbers;
        check_shape("B", b.shape(), numbers.len())?;
        let mut causes = vec![Vec::new(); numbers.len()];
        for (_, (i, j)) in b.iter().filter(|(weight, _)| **weight != 0.0) {
            causes[numbers[j] as usize].push(numbers[i] as usize);
        }
        Ok(causes)
    }
}

/// How the equivalence class of a resample is found.
struct Draw<'s> {
    searcher: &'s BlockSearcher,
    start: &'s Vec<u32>,
    penalty: f64,
    budget: Budget,
    interrupt: &'s Interrupt,
}

impl Draw<'_> {
    /// The class of the best graph for the covariance of a resample's columns.
    fn class(&self, covariance: Array2<f64>) -> Result<CsMat<f64>, IcidError> {
        self.interrupt.check()?;
        let Prepared { columns, layout, shrinkage, knowledge, candidates, .. } = &self.searcher.prepared;
        let correlation = whitened_resample(covariance, layout, columns, shrinkage)?;
        let evidence = self.searcher.evidence(correlation.view(), self.penalty)?;
        class_of(&evidence, candidates, self.start, self.budget, is_exact(knowledge), self.interrupt)
    }
}
