//! Fits and searches of causal orders of a wide table.

use super::fit::{fit_graph, residual_inflation};
use super::sparse::Sparse;
use super::table::{WideTable, local_order};
use crate::algebra::check::{check_finite_sparse, check_length, check_positive, check_shape};
use crate::algebra::hash::Random;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::neighbours::Standardised;
use crate::order::{Rule, Theta, eliminate};
use crate::score::{Noise, Score};
use crate::search::kernel::Column;
use crate::search::parents::Setting;
use crate::search::state::State;
use crate::search::{Evidence, OrderFit, SearchOptions, Searched, search};
use crate::sem::Fitted;
use ndarray::ArrayView2;
use sprs::CsMatView;

/// Fits and searches graphs along causal orders of so many variables that nothing of size d × d is stored: the
/// counterpart of [`Searcher`](crate::search::Searcher).
#[derive(Debug, Clone, Copy)]
pub struct WideSearcher<'a> {
    data: Standardised<'a>,
    variances: &'a [f64],
    table: &'a WideTable,
    samples: usize,
    knowledge: &'a Knowledge,
}

impl<'a> WideSearcher<'a> {
    /// Borrow the standardised variables, their variances, and the [`WideTable`] made from them.
    ///
    /// # Errors
    /// When these, or the knowledge, are those of different numbers of variables, or a variance is not positive.
    pub fn new<'d: 'a>(
        data: Standardised<'d>,
        variances: &'a [f64],
        table: &'a WideTable,
        samples: usize,
        knowledge: &'a Knowledge,
    ) -> Result<Self, IcidError> {
        let d = data.variables();
        check_length("variances", variances.len(), d)?;
        check_positive("variances", variances.iter().copied())?;
        check_length("the table", table.names.len(), d)?;
        knowledge.check_dim(d)?;
        Ok(Self { data: data.reborrow(), variances, table, samples, knowledge })
    }

    /// Fit graphs along the order in which Θ is eliminated, and along a proposed one, and keep the better.
    ///
    /// # Errors
    /// When the order is not one of the variables, Θ or the covariance is singular, or when interrupted.
    pub fn best_order(
        &self,
        theta: CsMatView<f64>,
        proposed: &[usize],
        penalty: f64,
        noise: Noise,
        interrupt: &Interrupt,
    ) -> Result<OrderFit, IcidError> {
        let rule = Rule::smallest_pivot(noise.variances(), self.knowledge);
        let eliminated = eliminate(Theta::Sparse(theta), rule, 0.0, interrupt)?.order;
        let first = self.along(&eliminated, penalty, noise, interrupt)?;
        let other = self.along(proposed, penalty, noise, interrupt)?;
        let scores = [first.score, other.score];
        Ok(OrderFit::better(first, Some(other), scores))
    }

    /// Fit a graph along an order, causes first, or the closest one that respects prior knowledge.
    ///
    /// # Errors
    /// When the order is not one of the variables, a variable is a combination of others, or when interrupted.
    pub fn along(
        &self,
        order: &[usize],
        penalty: f64,
        noise: Noise,
        interrupt: &Interrupt,
    ) -> Result<Fitted, IcidError> {
        // Parents are chosen as if each variable had a variance of its own: equal ones have no score for each variable.
        let choice = if noise == Noise::Equal { Noise::Unequal } else { noise };
        let order = self.renumbered(order)?;
        let sem =
            self.with_evidence(Score::new(self.samples as f64, penalty, choice)?, None, |evidence, candidates| {
                let setting = Setting::new(evidence, &candidates);
                let state = State::<Column>::new(&setting, &order, Random::new(0));
                let causes: Vec<Vec<u32>> = (0..order.len() as u32).map(|i| state.causes(i).to_vec()).collect();
                fit_graph(self.sparse(), &self.table.names, self.variances, &order, &causes, interrupt)
            })?;
        let score = Score::new(self.samples as f64, penalty, noise)?.total(&sem.noise_variances, sem.edges())?;
        Ok(Fitted { sem, score })
    }

    /// Search for the graph with the best score, from orders of the variables, causes first.
    ///
    /// # Errors
    /// As [`Searcher::search`](crate::search::Searcher::search).
    pub fn search(
        &self,
        starts: &[Vec<usize>],
        options: &SearchOptions,
        interrupt: &Interrupt,
    ) -> Result<Searched, IcidError> {
        let score = options.scoring.score(self.samples, options.penalty)?;
        let starts = starts.iter().map(|start| self.renumbered(start)).collect::<Result<Vec<_>, _>>()?;
        let found = self.with_evidence(score, options.scoring.values, |evidence, candidates| {
            let starts: Vec<Vec<u32>> = starts.iter().map(|start| local_order(&candidates, start)).collect();
            search(evidence, &candidates, &starts, options.budget, interrupt)
        })?;
        let order: Vec<u32> = found.order.iter().map(|&i| i as u32).collect();
        let causes: Vec<Vec<u32>> =
            found.causes.iter().map(|causes| causes.iter().map(|&i| i as u32).collect()).collect();
        let sem = fit_graph(self.sparse(), &self.table.names, self.variances, &order, &causes, interrupt)?;
        Ok(Searched { sem, report: found.report })
    }

    /// Inflation of the null distribution, at least 1: how much wider than by chance the correlations between residuals of
    /// a graph are spread.
    ///
    /// # Errors
    /// When the graph is one of other variables.
    pub fn null_inflation(&self, b: CsMatView<f64>) -> Result<f64, IcidError> {
        check_shape("B", b.shape(), self.variances.len())?;
        check_finite_sparse("B", b)?;
        Ok(residual_inflation(self.data, self.variances, b, self.samples as f64))
    }

    fn sparse<'b>(&self) -> Sparse<'b>
    where
        'a: 'b,
    {
        Sparse::new(self.data.reborrow(), self.table)
    }

    /// The order closest to a given one that respects prior knowledge, in the numbers of the table.
    fn renumbered(&self, order: &[usize]) -> Result<Vec<u32>, IcidError> {
        Ok(self.knowledge.arrange(order)?.into_iter().map(|i| self.table.numbers[i]).collect())
    }

    /// Run a search on correlations, with noise variances in units of the variances and required edges among the
    /// candidates.
    fn with_evidence<T>(
        &self,
        score: Score,
        values: Option<ArrayView2<f64>>,
        work: impl FnOnce(&Evidence, Vec<Vec<u32>>) -> Result<T, IcidError>,
    ) -> Result<T, IcidError> {
        let WideTable { names, numbers, candidates, .. } = self.table;
        score.check(names.len())?;
        let share = |known: &[f64], i: u32| known[i as usize] / self.variances[i as usize];
        let shares: Option<Vec<f64>> =
            score.noise.variances().map(|known| names.iter().map(|&i| share(known, i)).collect());
        let score = Score { noise: shares.as_deref().map_or(score.noise, Noise::Known), ..score };
        let knowledge = self.knowledge.renumbered(numbers);
        let mut candidates = candidates.clone();
        for effect in 0..names.len() as u32 {
            for &cause in knowledge.required_parents(effect) {
                for (one, two) in [(cause, effect), (effect, cause)] {
                    let list = &mut candidates[one as usize];
                    if let Err(slot) = list.binary_search(&two) {
                        list.insert(slot, two);
                    }
                }
            }
        }
        let mut evidence = Evidence::sparse(self.sparse(), score, &knowledge)?;
        if let Some(values) = &values {
            evidence = evidence.with_rows_of_values(values.reborrow(), names.clone())?;
        }
        work(&evidence, candidates)
    }
}
