//! The graphs of resamples of a table.
//!
//! Each search starts from the order that was found for the whole table, so that most of them need a single descent. With
//! few variables the best graph of each resample is computed.

mod draws;

use super::bags::Bags;
use super::exact::{Cost, exact};
use super::options::Budget;
use super::prepared::Prepared;
use super::searcher::Searcher;
use super::{Evidence, search};
use crate::algebra::check::{check_finite, check_length, check_shape};
use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::order::equivalence_class;
use crate::score::{Noise, Score, Shape};
use draws::Draw;
use ndarray::{Array2, ArrayView2, ArrayView3, Axis};
use rayon::prelude::*;
use sprs::CsMat;
use std::collections::HashMap;

/// The best graph of a resample is computed if that takes at most so many operations, a few milliseconds.
const EXACT_OPERATIONS: f64 = 2e7;

/// How the graph of each resample is searched for and scored.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ResampleOptions<'a> {
    /// The order that searches start from, causes first.
    pub order: &'a [usize],
    /// What an edge must gain in twice the log-likelihood.
    pub penalty: f64,
    /// Unequal, or known in the units of the table.
    pub noise: Noise<'a>,
    /// The shape of residuals, if it counts. It needs rows.
    pub shape: Option<Shape>,
    /// What is subtracted from the correlations of each resample: the part that something else than edges explains.
    pub removed: Option<ArrayView2<'a, f64>>,
    /// How long each search lasts.
    pub budget: Budget,
}

impl<'a> ResampleOptions<'a> {
    /// Search for equivalence classes: residuals are Gaussian, and their variances unequal.
    #[must_use]
    pub fn new(order: &'a [usize], penalty: f64, budget: Budget) -> Self {
        Self { order, penalty, noise: Noise::Unequal, shape: None, removed: None, budget }
    }

    /// Whether all graphs of an equivalence class have the same score.
    fn scores_classes(&self) -> bool {
        self.noise == Noise::Unequal && self.shape.is_none()
    }
}

/// How often the graphs of resamples join two variables, and in which direction.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resampled {
    /// `[i, j]`, and the same `[j, i]`: how many graphs join the two.
    pub joined: CsMat<f64>,
    /// `[i, j]`: how many have i → j. Where the score cannot tell the graphs of an equivalence class from each other: in
    /// how many classes i → j is compelled.
    pub directed: CsMat<f64>,
}

impl Searcher<'_> {
    /// Find the graph of each resample of the rows, and count the edges.
    ///
    /// `rows` are those of the table, and `counts` says how often each of them comes in each resample. Searches start from
    /// an order of the options, and make at most the trials of the budget each. A column that is constant in a resample
    /// has no edges in it.
    ///
    /// # Examples
    /// ```
    /// use icid_rs::search::{Budget, ResampleOptions, Searcher};
    /// use icid_rs::{Interrupt, Knowledge};
    /// use ndarray::Array2;
    /// use sprs::CsMat;
    ///
    /// // Two variables that are nearly the same.
    /// let rows = Array2::from_shape_fn((100, 2), |(k, j)| (k % 10) as f64 + (k % (j + 3)) as f64 / 5.0);
    /// let centred = &rows - &rows.mean_axis(ndarray::Axis(0)).unwrap();
    /// let covariance = centred.t().dot(&centred) / 100.0;
    /// let (theta, knowledge) = (CsMat::eye(2), Knowledge::none(2));
    /// let searcher = Searcher::new(covariance.view(), theta.view(), None, 100, &knowledge)?;
    /// let once = Array2::from_elem((3, 100), 1);
    /// let options = ResampleOptions::new(&[0, 1], 10.0, Budget::for_variables(2));
    /// let found = searcher.search_resamples(rows.view(), once.view(), &options, &Interrupt::default())?;
    /// assert_eq!((found.joined.get(0, 1), found.directed.nnz()), (Some(&3.0), 0));
    /// # Ok::<(), icid_rs::IcidError>(())
    /// ```
    ///
    /// # Errors
    /// When sizes do not fit together, or an entry is not finite; when the order is not one of the variables; when noise
    /// variances are to be equal but unknown; or when interrupted.
    pub fn search_resamples(
        &self,
        rows: ArrayView2<f64>,
        counts: ArrayView2<u16>,
        options: &ResampleOptions,
        interrupt: &Interrupt,
    ) -> Result<Resampled, IcidError> {
        check_length("counts", counts.ncols(), rows.nrows())?;
        check_length("a row", rows.ncols(), self.table.dim())?;
        let names = &self.prepared()?.names;
        let bags = if options.shape.is_none() { Bags::of(rows, counts)? } else { None };
        let Some(bags) = bags else {
            let draw = |k: usize| Draw::of_rows(rows, counts.row(k), names, options.shape.is_some(), interrupt);
            return Ok(Resampled::count(&self.search_draws(counts.nrows(), draw, options, interrupt)?, names));
        };
        let mut graphs = Vec::with_capacity(counts.nrows());
        for batch in bags.batches() {
            let covariances = bags.covariances(batch.clone(), interrupt)?;
            let draw = |k: usize| Ok(Draw::of_covariance(covariances.get(k).view(), names));
            graphs.append(&mut self.search_draws(batch.len(), draw, options, interrupt)?);
        }
        Ok(Resampled::count(&graphs, names))
    }

    /// As [`Searcher::search_resamples`], given the covariance matrix of each resample, `[k, i, j]`.
    ///
    /// # Errors
    /// As there, and when the shape of residuals is to count.
    pub fn search_covariances(
        &self,
        covariances: ArrayView3<f64>,
        options: &ResampleOptions,
        interrupt: &Interrupt,
    ) -> Result<Resampled, IcidError> {
        if options.shape.is_some() {
            return Err(IcidError::Empty { what: "the table of rows" });
        }
        let names = &self.prepared()?.names;
        let draw = |k: usize| {
            let covariance = covariances.index_axis(Axis(0), k);
            check_shape("a covariance", covariance.dim(), names.len())?;
            check_finite("a covariance", &covariance)?;
            Ok(Draw::of_covariance(covariance, names))
        };
        Ok(Resampled::count(&self.search_draws(covariances.len_of(Axis(0)), draw, options, interrupt)?, names))
    }

    /// The graph of each draw.
    fn search_draws(
        &self,
        draws: usize,
        draw: impl Fn(usize) -> Result<Draw, IcidError> + Sync,
        options: &ResampleOptions,
        interrupt: &Interrupt,
    ) -> Result<Vec<CsMat<f64>>, IcidError> {
        let prepared = self.prepared()?;
        let names = &prepared.names;
        let start: Vec<u32> = self.knowledge.arrange(options.order)?.into_iter().map(|i| prepared.numbers[i]).collect();
        let removed = options.removed.map(|removed| draws::renumbered(removed, names)).transpose()?;
        let graph = |k: usize| {
            interrupt.check()?;
            let mut draw = draw(k)?;
            if let Some(removed) = &removed {
                draw.remove(removed.view());
            }
            self.graph_of(&draw, prepared, &start, options, interrupt)
        };
        (0..draws).into_par_iter().map(graph).collect()
    }

    /// The graph of a resample, or its class, as ones at `[i, j]` for i → j, both ways if an edge is reversible.
    fn graph_of(
        &self,
        draw: &Draw,
        prepared: &Prepared,
        start: &Vec<u32>,
        options: &ResampleOptions,
        interrupt: &Interrupt,
    ) -> Result<CsMat<f64>, IcidError> {
        let score = Score::new(self.samples as f64, options.penalty, options.noise)?;
        score.check(prepared.names.len())?;
        let shares = score.noise.variances().map(|known| draw.shares(known, &prepared.names));
        let noise = shares.as_deref().map_or(score.noise, Noise::Known);
        let score = Score { noise, shape: options.shape.unwrap_or_default(), ..score };
        let mut evidence = Evidence::new(draw.correlation.view(), score, &prepared.knowledge)?;
        if let Some(values) = &draw.values {
            evidence = evidence.with_values(values.view())?;
        }
        let rows = draw.values.as_ref().map(Array2::ncols);
        let is_exact = Cost::new(&prepared.knowledge, rows).operations <= EXACT_OPERATIONS;
        let (order, graph) = best_graph(&evidence, &prepared.candidates, start, options.budget, is_exact, interrupt)?;
        if options.scores_classes() { equivalence_class(graph.view(), &order) } else { Ok(graph) }
    }
}

/// The best graph, computed or searched for from a start, and its order.
fn best_graph(
    evidence: &Evidence,
    candidates: &[Vec<u32>],
    start: &Vec<u32>,
    budget: Budget,
    is_exact: bool,
    interrupt: &Interrupt,
) -> Result<(Vec<usize>, CsMat<f64>), IcidError> {
    let (order, causes) = if is_exact {
        let found = exact(evidence, false, interrupt)?;
        (found.order, found.causes)
    } else {
        let found = search(evidence, candidates, std::slice::from_ref(start), budget, interrupt)?;
        (found.order, found.causes)
    };
    let edges = || causes.iter().enumerate().flat_map(|(j, list)| list.iter().map(move |&i| (i, j, 1.0)));
    let graph = from_entries((order.len(), order.len()), edges);
    Ok((order, graph))
}

/// The equivalence class of the best graph.
pub(super) fn class_of(
    evidence: &Evidence,
    candidates: &[Vec<u32>],
    start: &Vec<u32>,
    budget: Budget,
    is_exact: bool,
    interrupt: &Interrupt,
) -> Result<CsMat<f64>, IcidError> {
    let (order, graph) = best_graph(evidence, candidates, start, budget, is_exact, interrupt)?;
    equivalence_class(graph.view(), &order)
}

/// Whether the best graph of each resample is computed.
pub(super) fn is_exact(knowledge: &Knowledge) -> bool {
    Cost::new(knowledge, None).operations <= EXACT_OPERATIONS
}

impl Resampled {
    /// Count the edges of graphs, whose variables have these names.
    pub(super) fn count(graphs: &[CsMat<f64>], names: &[u32]) -> Self {
        let (mut joined, mut directed) = (HashMap::new(), HashMap::new());
        for graph in graphs {
            for (_, (i, j)) in graph {
                let (one, two) = (names[i] as usize, names[j] as usize);
                let is_reversible = graph.get(j, i).is_some();
                *joined.entry((one, two)).or_insert(0.0) += 1.0;
                if !is_reversible {
                    *joined.entry((two, one)).or_insert(0.0) += 1.0;
                    *directed.entry((one, two)).or_insert(0.0) += 1.0;
                }
            }
        }
        let d = names.len();
        let matrix = |counts: &HashMap<(usize, usize), f64>| {
            from_entries((d, d), || counts.iter().map(|(&(i, j), &count)| (i, j, count)))
        };
        Self { joined: matrix(&joined), directed: matrix(&directed) }
    }
}
