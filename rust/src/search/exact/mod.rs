//! The graph with the best score, exactly, where variables are few.
//!
//! All sets of parents of all variables are scored, which takes little more than a logarithm each; where the shape of
//! residuals counts, a pass over the rows. The best graph is found by dynamic programming over sets of variables: best
//! parents among the members of each set, then the best order (Silander and Myllymäki 2006). Both are exact, so no graph
//! has a better score up to rounding. Time and memory double with every variable; see [`Cost`].
//!
//! A set of parents is left out if it contains linear combinations up to one part in 10⁸ (a [`search`] draws the line at 10¹²), if it leaves
//! nothing of the variable but rounding, or if there are not three more samples than parents.

mod cost;
mod equal;
mod generalised;
mod limits;
mod local;
mod margins;
mod orders;
mod regressions;
mod table;
#[cfg(test)]
mod tests;

pub use cost::Cost;
pub use table::{ExactTable, Optimum};

use super::Evidence;
#[cfg(doc)]
use super::search;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::score::Noise;
use equal::Profile;
use local::Local;
use margins::{Constrained, constrained, edges};
use orders::{Graph, Orders, members};

/// More variables than this have no table of local scores in any memory.
const MOST_VARIABLES: usize = 30;

/// The graph with the best score.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exact {
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The causes of each variable, ascending.
    pub causes: Vec<Vec<usize>>,
    /// Its score, for variables of unit variance.
    pub score: f64,
    /// How clear each edge is, by effect; empty if that was not asked.
    pub margins: Vec<Margin>,
}

/// What the score loses without an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Margin {
    /// Where the edge begins.
    pub cause: usize,
    /// Where it ends.
    pub effect: usize,
    /// Score of the best graph in which the two are not adjacent, above the optimum. Infinite if background knowledge
    /// requires the edge.
    pub absent: f64,
    /// Score of the best graph with the edge reversed, above the optimum; 0 if the equivalence class leaves the
    /// direction open. Infinite if background knowledge forbids it.
    pub reversed: f64,
}

/// Find the graph with the best score, and how clear its edges are if `wants_margins`.
///
/// # Examples
/// ```
/// use icid_rs::score::{Noise, Score};
/// use icid_rs::search::{Evidence, exact};
/// use icid_rs::{Interrupt, Knowledge};
///
/// // 0 → 2 ← 1: nothing else explains that 0 and 1 are uncorrelated.
/// let correlation = ndarray::array![[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]];
/// let (knowledge, score) = (Knowledge::none(3), Score::new(1000.0, 10.0, Noise::Unequal)?);
/// let found = exact(&Evidence::new(correlation.view(), score, &knowledge)?, true, &Interrupt::default())?;
/// assert_eq!(found.causes, [vec![], vec![], vec![0, 1]]);
/// // Without 0 → 2 or 1 → 2 the data would be much less likely. With one reversed, a third edge would be needed.
/// assert!(found.margins.iter().all(|margin| margin.absent > 100.0 && (margin.reversed - 10.0).abs() < 1e-6));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
///
/// # Errors
/// When there are too many variables or too little memory; when required parents are linear combinations of each other or
/// determine their effect; when interrupted.
pub fn exact(evidence: &Evidence, wants_margins: bool, interrupt: &Interrupt) -> Result<Exact, IcidError> {
    best(&Local::new(evidence, interrupt)?, evidence.score.penalty, wants_margins, interrupt)
}

/// As [`exact`], where the noise variances of the evidence are known but for a common factor: with all of them equal to
/// ω, the score is that of [`Noise::Equal`] for variables of variances 1/ω.
///
/// The optimum and the margins are exact up to what counts as rounding, a few parts in 10¹⁰ of the score.
///
/// # Errors
/// As [`exact`], and when noise variances are unequal in an unknown way.
pub fn exact_up_to_scale(evidence: &Evidence, wants_margins: bool, interrupt: &Interrupt) -> Result<Exact, IcidError> {
    if evidence.score.noise == Noise::Unequal {
        return Err(IcidError::Equal);
    }
    best_up_to_scale(&Local::new(evidence, interrupt)?, evidence.score.penalty, wants_margins, interrupt)
}

/// The best graph for a penalty of each edge.
fn best(local: &Local, penalty: f64, wants_margins: bool, interrupt: &Interrupt) -> Result<Exact, IcidError> {
    interrupt.check()?;
    let orders = Orders::new(local.d, local.scores(1.0, penalty));
    let graph = orders.graph();
    let constrained = if wants_margins {
        constrained(&orders, &local.scores(1.0, penalty), &edges(&graph.parents))
    } else {
        Vec::new()
    };
    let score = local.parts(&graph, penalty).map(|(misfit, rest)| misfit + rest).sum();
    Ok(Exact::new(graph, score, &constrained, local.tolerance))
}

/// As [`best`], up to a common factor of the noise variances.
fn best_up_to_scale(
    local: &Local,
    penalty: f64,
    wants_margins: bool,
    interrupt: &Interrupt,
) -> Result<Exact, IcidError> {
    let profile = Profile::new(local, penalty, interrupt);
    let (graph, constrained) = profile.optimum(wants_margins)?;
    let score = profile.score(&graph);
    Ok(Exact::new(graph, score, &constrained, local.tolerance))
}

impl Exact {
    /// Margins up to `tolerance` are rounding.
    fn new(graph: Graph, score: f64, constrained: &[Constrained], tolerance: f64) -> Self {
        let margin = |((cause, effect), constrained): ((usize, usize), &Constrained)| {
            let above = |other: f64| if other - score > tolerance { other - score } else { 0.0 };
            let [absent, reversed] = [constrained.apart, constrained.reversed].map(above);
            Margin { cause, effect, absent, reversed }
        };
        Self {
            margins: edges(&graph.parents).into_iter().zip(constrained).map(margin).collect(),
            causes: graph.parents.iter().map(|&parents| members(parents).collect()).collect(),
            order: graph.order,
            score,
        }
    }
}
