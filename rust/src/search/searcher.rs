//! Fits and searches of causal orders of one table.

use super::least_squares::LeastSquares;
use super::options::{Among, OrderFit, Scoring, SearchOptions, Searched};
use super::prepared::{DENSE_SHARE, Prepared, Table};
use super::{Evidence, search};
use crate::algebra::check::{check_not_empty, check_parameter, check_shape, check_square};
use crate::algebra::permutation::check_order;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::order::{Regression, Rule, Theta, eliminate, regress_along, regress_among, regress_within};
use crate::score::{Noise, Score, null_inflation};
use crate::sem::Fitted;
use crate::support::renumbered_correlations;
use ndarray::ArrayView2;
use sprs::CsMatView;
use std::sync::{Arc, OnceLock};

/// Pivots that differ relatively by less than this are equal.
const SAME_PIVOT: f64 = 1e-10;

/// Correlations and candidates of a table, computed when a search first needs them.
pub(crate) type Cache = Arc<OnceLock<Prepared>>;

/// Fits and searches graphs along causal orders of a table's variables.
///
/// It borrows the matrices. The first search computes what all searches share, such as the correlations; fits along one
/// order need no further matrix of that size.
///
/// # Examples
/// ```
/// use icid_rs::score::Noise;
/// use icid_rs::search::{Budget, Scoring, SearchOptions, Searcher};
/// use icid_rs::{Interrupt, Knowledge};
/// use ndarray::array;
/// use sprs::CsMat;
///
/// // 0 → 1 with weight 1/2, and noise of variance 1.
/// let covariance = array![[1.0, 0.5], [0.5, 1.25]];
/// let inverse = array![[1.25, -0.5], [-0.5, 1.0]];
/// let theta = CsMat::csr_from_dense(inverse.view(), 0.0);
/// let knowledge = Knowledge::none(2);
/// let searcher = Searcher::new(covariance.view(), theta.view(), Some(inverse.view()), 1000, &knowledge)?;
/// let fit = searcher.best_order(&[1, 0], 10.0, Noise::Equal, &Interrupt::default())?;
/// assert_eq!(fit.best.sem.order, [0, 1]);
///
/// let options = SearchOptions::new(10.0, Scoring::new(Noise::Unequal), Budget::for_variables(2));
/// let found = searcher.search(&[vec![1, 0]], &options, &Interrupt::default())?;
/// assert_eq!(found.sem.edges(), 1);
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Searcher<'a> {
    pub(super) table: Table<'a>,
    pub(super) samples: usize,
    pub(super) knowledge: &'a Knowledge,
    cache: Cache,
}

impl<'a> Searcher<'a> {
    /// Borrow the covariance of so many samples, the estimate Θ of its inverse, and the inverse itself if there are enough
    /// samples for one.
    ///
    /// # Errors
    /// When the matrices or the knowledge are those of different numbers of variables, or there are no samples.
    pub fn new(
        covariance: ArrayView2<'a, f64>,
        theta: CsMatView<'a, f64>,
        inverse: Option<ArrayView2<'a, f64>>,
        samples: usize,
        knowledge: &'a Knowledge,
    ) -> Result<Self, IcidError> {
        let d = check_square("covariance", covariance.dim())?;
        check_not_empty("covariance", d)?;
        check_shape("theta", theta.shape(), d)?;
        check_shape("inverse", inverse.map_or((d, d), |inverse| inverse.dim()), d)?;
        knowledge.check_dim(d)?;
        check_parameter("samples", samples as f64, samples >= 1, "at least 1")?;
        Ok(Self { table: Table { covariance, theta, inverse }, samples, knowledge, cache: Cache::default() })
    }

    /// Share correlations and candidates with other searchers of the same table.
    #[cfg_attr(not(feature = "python"), allow(dead_code))]
    pub(crate) fn sharing(mut self, cache: &Cache) -> Self {
        self.cache = Arc::clone(cache);
        self
    }

    /// Fit a graph along an order, causes first, that respects prior knowledge.
    ///
    /// # Errors
    /// When the order is not one of the variables, the covariance is singular, there is no inverse though
    /// [`Among::Predecessors`] needs it, or when interrupted.
    pub fn along(
        &self,
        order: &[usize],
        among: Among,
        penalty: f64,
        noise: Noise,
        interrupt: &Interrupt,
    ) -> Result<Fitted, IcidError> {
        let data = self.regression(penalty, noise)?;
        match (among, &self.table.inverse) {
            (Among::Predecessors, Some(inverse)) => regress_along(&data, inverse, Rule::Along(order), interrupt),
            (Among::Predecessors, None) => Err(IcidError::NoInverse { what: "a fit among all predecessors" }),
            (Among::Support, Some(_)) => regress_within(&data, order, self.table.theta, interrupt),
            (Among::Support, None) => {
                let order = check_order(order, self.table.dim())?;
                regress_among(&data, &order, self.prepared()?.candidates_by_name(), interrupt)
            }
        }
    }

    /// Fit a graph along the order of elimination: among all predecessors, or among candidates where there is no inverse.
    ///
    /// # Errors
    /// When Θ or the covariance is singular, or when interrupted.
    pub fn eliminate(&self, penalty: f64, noise: Noise, interrupt: &Interrupt) -> Result<Fitted, IcidError> {
        let noise_variances = noise.variances();
        if let Some(inverse) = &self.table.inverse {
            let rule = Rule::smallest_pivot(noise_variances, self.knowledge);
            return regress_along(&self.regression(penalty, noise)?, inverse, rule, interrupt);
        }
        let rule = Rule::SmallestPivot { noise_variances };
        let sem = eliminate(Theta::Sparse(self.table.theta), rule, 0.0, interrupt)?;
        self.along(&self.knowledge.arrange(&sem.order)?, Among::Support, penalty, noise, interrupt)
    }

    /// Fit graphs along the order of elimination and along a proposed one, and keep the better.
    ///
    /// They are compared by graphs with parents in the support of Θ, which is cheap; the better order is fitted again with
    /// parents among all predecessors. Where Θ has hardly any zeros both are fitted among all predecessors at once, and
    /// without an inverse both are fitted among the candidates only.
    ///
    /// # Errors
    /// When the order is not one of the variables, Θ or the covariance is singular, or when interrupted.
    pub fn best_order(
        &self,
        proposed: &[usize],
        penalty: f64,
        noise: Noise,
        interrupt: &Interrupt,
    ) -> Result<OrderFit, IcidError> {
        let proposed = self.knowledge.arrange(proposed)?;
        let along = |order: &[usize], among| self.along(order, among, penalty, noise, interrupt);
        let first = self.eliminate(penalty, noise, interrupt)?;
        let d = self.table.dim() as f64;
        if self.table.inverse.is_none() || self.table.theta.nnz() as f64 > DENSE_SHARE * d * d {
            let among = if self.table.inverse.is_none() { Among::Support } else { Among::Predecessors };
            let other = along(&proposed, among)?;
            let scores = [first.score, other.score];
            return Ok(OrderFit::better(first, Some(other), scores));
        }
        let scores = [along(&first.sem.order, Among::Support)?.score, along(&proposed, Among::Support)?.score];
        let other = if scores[1] < scores[0] { Some(along(&proposed, Among::Predecessors)?) } else { None };
        Ok(OrderFit::better(first, other, scores))
    }

    /// Search for the graph with the best score, from orders of the variables, causes first.
    ///
    /// # Errors
    /// When there is no start, or one is not an order of the variables; when the noise variances are assumed equal; when
    /// values are not those of the variables; when the covariance is singular, or when interrupted.
    pub fn search(
        &self,
        starts: &[Vec<usize>],
        options: &SearchOptions,
        interrupt: &Interrupt,
    ) -> Result<Searched, IcidError> {
        if options.scoring.noise == Noise::Equal {
            return Err(IcidError::Equal);
        }
        self.with_evidence(options.penalty, &options.scoring, |evidence, prepared| {
            let starts: Vec<Vec<u32>> = starts
                .iter()
                .map(|start| Ok(self.knowledge.arrange(start)?.into_iter().map(|i| prepared.numbers[i]).collect()))
                .collect::<Result<_, IcidError>>()?;
            let found = search(evidence, &prepared.candidates, &starts, options.budget, interrupt)?;
            let least_squares = LeastSquares {
                covariance: self.table.covariance,
                samples: self.samples,
                names: &prepared.names,
                is_class: self.scores_classes(&options.scoring),
                blocks: None,
            };
            let sem = least_squares.fit(&found.order, &found.causes, interrupt)?;
            Ok(Searched { sem, report: found.report })
        })
    }

    /// Score graphs in the numbers of searches, which scale variables to unit variance. Equal noise variances are known
    /// ones of 1, up to a common factor.
    pub(super) fn with_evidence<T>(
        &self,
        penalty: f64,
        scoring: &Scoring,
        work: impl FnOnce(&Evidence, &Prepared) -> Result<T, IcidError>,
    ) -> Result<T, IcidError> {
        let prepared = self.prepared()?;
        let names = &prepared.names;
        let score = scoring.score(self.samples, penalty)?;
        score.check(names.len())?;
        let share = |i: u32, variance: f64| variance / self.table.covariance[[i as usize, i as usize]];
        let shares: Option<Vec<f64>> = match scoring.noise {
            Noise::Unequal => None,
            Noise::Equal => Some(names.iter().map(|&i| share(i, 1.0)).collect()),
            Noise::Known(variances) => Some(names.iter().map(|&i| share(i, variances[i as usize])).collect()),
        };
        let noise = shares.as_deref().map_or(Noise::Unequal, Noise::Known);
        let mut evidence = Evidence::new(prepared.correlation.view(), Score { noise, ..score }, &prepared.knowledge)?;
        if let Some(shares) = &prepared.shares {
            evidence = evidence.with_shares(shares);
        }
        if let Some(values) = &scoring.values {
            evidence = evidence.with_rows_of_values(values.reborrow(), names.clone())?;
        }
        work(&evidence, prepared)
    }

    /// Whether all members of an equivalence class have the same score.
    pub(super) fn scores_classes(&self, scoring: &Scoring) -> bool {
        scoring.noise == Noise::Unequal && scoring.values.is_none() && self.knowledge.is_trivial()
    }

    /// Order the variables by a Cholesky factorisation of the correlation matrix that takes the smallest pivot each time,
    /// so that each variable is the one that those before it explain best. FLOP starts from this order too (Wienöbst,
    /// Henckel and Weichwald 2026).
    ///
    /// With few samples the covariance is singular, but the inverse of Θ is not: without an inverse of the covariance,
    /// correlations are those of `model`, the inverse of Θ, which is computed if it is not given.
    ///
    /// # Errors
    /// When the matrix is singular or has another size, or when interrupted.
    pub fn smallest_pivots(
        &self,
        model: Option<ArrayView2<f64>>,
        interrupt: &Interrupt,
    ) -> Result<Vec<usize>, IcidError> {
        let rule = Rule::SmallestPivot { noise_variances: None };
        let Prepared { names, correlation, .. } = self.prepared()?;
        // All pivots are equal at first. Weights choose the variable that the others explain least.
        let weights: Vec<f64> = (0..names.len()).map(|number| 1.0 + SAME_PIVOT * number as f64).collect();
        let by_weight = Rule::SmallestPivot { noise_variances: Some(&weights) };
        let modelled = match (&self.table.inverse, model) {
            (Some(_), _) => None,
            (None, Some(model)) => {
                check_shape("the covariance of the model", model.dim(), self.table.dim())?;
                Some(renumbered_correlations(model, names)?)
            }
            (None, None) => {
                let sem = eliminate(Theta::Sparse(self.table.theta), rule, 0.0, interrupt)?;
                Some(renumbered_correlations(sem.covariance()?.view(), names)?)
            }
        };
        let correlation = modelled.as_ref().unwrap_or(correlation);
        let order = eliminate(Theta::Dense(correlation.view()), by_weight, 0.0, interrupt)?.order;
        Ok(order.into_iter().rev().map(|number| names[number] as usize).collect())
    }

    /// Inflation of the null distribution, at least 1: how much wider than by chance the correlations between residuals of
    /// a graph are spread.
    ///
    /// # Errors
    /// When the graph is one of other variables.
    pub fn null_inflation(&self, b: CsMatView<f64>) -> Result<f64, IcidError> {
        null_inflation(b, self.table.covariance, self.samples as f64)
    }

    fn regression<'s>(&'s self, penalty: f64, noise: Noise<'s>) -> Result<Regression<'s>, IcidError> {
        let score = Score::new(self.samples as f64, penalty, noise)?;
        Regression::new(self.table.covariance, score, self.knowledge)
    }

    pub(super) fn prepared(&self) -> Result<&Prepared, IcidError> {
        if let Some(prepared) = self.cache.get() {
            return Ok(prepared);
        }
        let prepared = Prepared::new(&self.table, self.samples, self.knowledge)?;
        Ok(self.cache.get_or_init(|| prepared))
    }
}
