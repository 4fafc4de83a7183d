//! Local scores: of every variable given every set of parents.
//!
//! Tables have a row for each mask of parents, and in it an entry for each variable: `table[parents * d + variable]`. The
//! entry is infinite where the parents are not permitted.

use super::MOST_VARIABLES;
use super::cost::TABLES;
use super::generalised::{columns_of_sets, generalised_variances};
use super::limits::{Limits, Mask};
use super::orders::Graph;
use super::regressions::{Regressors, Visitor, Walk};
use crate::algebra::check::{check_not_empty, check_parameter};
use crate::algebra::vectors::vectorised;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::score::{BLOCK_ROWS, Sums, further_price};
use crate::search::Evidence;
use rayon::prelude::*;

/// The highest variables: each combination of them is one task, whatever the number of threads.
const SPLIT: usize = 4;
/// The fewest variables that each task has to combine.
const SMALLEST_TASK: usize = 4;
/// Entries of a table that one task scores.
const CHUNK: usize = 1 << 12;

/// The local scores in parts, so that those of any penalty follow without further regressions.
#[derive(Debug)]
pub(super) struct Local {
    /// Number of variables.
    pub d: usize,
    /// Number of samples, or the effective sample size.
    pub samples: f64,
    /// Differences of scores up to this size are rounding.
    pub tolerance: f64,
    /// The Gaussian part.
    pub misfit: Vec<f64>,
    /// What the shape of residuals gains, finite throughout; empty if it does not count.
    gains: Vec<f64>,
    /// Columns of each variable and of each set of them; empty if variables are one column each.
    widths: Vec<f64>,
    columns: Vec<f64>,
}

impl Local {
    /// All local scores, if there is a graph with finite ones.
    pub fn new(evidence: &Evidence, interrupt: &Interrupt) -> Result<Self, IcidError> {
        let d = evidence.dim();
        check_not_empty("correlation", d)?;
        let requirement = "at most 30, for all sets of them are scored";
        check_parameter("the number of variables", d as f64, d <= MOST_VARIABLES, requirement)?;
        let limits = Limits::new(evidence.knowledge, evidence.score.samples);
        let (mut widths, mut columns) = (Vec::new(), Vec::new());
        let mut misfit = if let Some(blocks) = evidence.blocks() {
            widths.extend((0..d).map(|i| blocks.width(i) as f64));
            columns = columns_of_sets(&widths);
            generalised_variances(evidence, blocks, &limits, interrupt)?
        } else {
            residual_variances(evidence, &limits, interrupt)?
        };
        let mut gains = Vec::new();
        if evidence.has_values() {
            gains.resize(misfit.len(), 0.0);
            shape_gains(evidence, &limits, &misfit, &mut gains, interrupt)?;
        }
        let score = &evidence.score;
        for_each_row(&mut misfit, d, |_, row| {
            (0..).zip(row).for_each(|(variable, misfit)| *misfit = score.misfit_of(variable, *misfit));
        });
        // Without contradictions in the knowledge, variables that each have permitted parents have an order.
        let has_parents = |j: &usize| misfit.iter().skip(*j).step_by(d).any(|misfit| misfit.is_finite());
        if let Some(index) = (0..d).find(|j| !has_parents(j)) {
            return Err(IcidError::Singular { index, pivot: 0.0, diagonal: 1.0 });
        }
        let (samples, tolerance) = (score.samples, score.tolerance());
        Ok(Self { d, samples, tolerance, misfit, gains, widths, columns })
    }

    /// The table of local scores with a penalty for each parent, where misfits are multiplied by μ.
    pub fn scores(&self, mu: f64, penalty: f64) -> Vec<f64> {
        let mut scores = self.misfit.clone();
        for_each_row(&mut scores, self.d, |parents, row| {
            for (variable, score) in row.iter_mut().enumerate() {
                *score = mu * *score + self.rest(variable, parents, penalty);
            }
        });
        scores
    }

    /// The misfit of each variable in a graph, and the rest of its local score.
    pub fn parts(&self, graph: &Graph, penalty: f64) -> impl Iterator<Item = (f64, f64)> {
        let families = graph.parents.iter().map(|&parents| parents as usize).enumerate();
        families.map(move |(j, parents)| (self.misfit[parents * self.d + j], self.rest(j, parents, penalty)))
    }

    /// Penalties, less what the shape of residuals gains.
    fn rest(&self, variable: usize, parents: usize, penalty: f64) -> f64 {
        let gain = self.gains.get(parents * self.d + variable).unwrap_or(&0.0);
        let edges = f64::from(parents.count_ones());
        penalty * edges - gain
            + if self.widths.is_empty() {
                0.0
            } else {
                let further = further_price(penalty, self.samples, self.d);
                further * (self.widths[variable] * self.columns[parents] - edges)
            }
    }
}

/// Change the rows of a table in parallel, given the parents of each row.
fn for_each_row(table: &mut [f64], d: usize, change: impl Fn(usize, &mut [f64]) + Sync) {
    let rows = CHUNK.div_ceil(d);
    table.par_chunks_mut(rows * d).enumerate().for_each(|(chunk, table)| {
        (chunk * rows..).zip(table.chunks_exact_mut(d)).for_each(|(parents, row)| change(parents, row));
    });
}

/// Cut tables of d columns into the parts of tasks, which differ in the variables from the returned number on.
pub(super) fn lowest_split(d: usize) -> usize {
    d - SPLIT.min(d.saturating_sub(SMALLEST_TASK))
}

/// The variance of each variable that each set of parents leaves.
fn residual_variances(evidence: &Evidence, limits: &Limits, interrupt: &Interrupt) -> Result<Vec<f64>, IcidError> {
    let d = evidence.dim();
    ensure_room::<[f64; TABLES]>("the scores of all sets of parents", (d as u128) << d)?;
    let mut table = vec![f64::INFINITY; d << d];
    let low = lowest_split(d);
    table.par_chunks_mut(d << low).enumerate().try_for_each(|(task, table)| {
        let prefix = (task << low) as Mask;
        let mut visitor = Variances { limits, prefix, table };
        Walk::new(evidence, limits, interrupt).visit(prefix, low, &mut visitor)
    })?;
    Ok(table)
}

struct Variances<'a> {
    limits: &'a Limits,
    prefix: Mask,
    table: &'a mut [f64],
}

impl Visitor for Variances<'_> {
    fn add(&mut self, _: usize, _: Mask, _: usize, _: &[f64]) {}

    fn record(&mut self, set: &Regressors, variances: &[f64]) {
        let d = variances.len();
        let row = (set.parents - self.prefix) as usize * d;
        for (variable, (entry, &left)) in self.table[row..row + d].iter_mut().zip(variances).enumerate() {
            // Nothing but rounding is left of a linear combination of the parents.
            if left > f64::EPSILON && self.limits.permits(variable, set.parents, set.are_collinear) {
                *entry = left;
            }
        }
    }
}

/// What the shape of residuals adds to twice the log-likelihood, wherever the variance is finite.
fn shape_gains(
    evidence: &Evidence,
    limits: &Limits,
    variances: &[f64],
    gains: &mut [f64],
    interrupt: &Interrupt,
) -> Result<(), IcidError> {
    let d = evidence.dim();
    let low = lowest_split(d);
    ensure_room::<Sums>("the shapes of all residuals", (d as u128) << d)?;
    let tasks = gains.par_chunks_mut(d << low).zip(variances.par_chunks(d << low)).enumerate();
    tasks.try_for_each(|(task, (gains, variances))| {
        let prefix = (task << low) as Mask;
        let mut visitor = Residuals {
            evidence,
            limits,
            prefix,
            variances,
            levels: vec![vec![0.0; d * BLOCK_ROWS]; d + 1],
            height: 0,
            sums: vec![Sums::default(); variances.len()],
        };
        let mut walk = Walk::new(evidence, limits, interrupt);
        let mut start = 0;
        while visitor.load(start) {
            walk.visit(prefix, low, &mut visitor)?;
            start += visitor.height;
        }
        let variables = (0..d as u32).cycle();
        for (((gain, sums), variance), variable) in gains.iter_mut().zip(&visitor.sums).zip(variances).zip(variables) {
            if variance.is_finite() && evidence.may_have_shape(variable) {
                *gain = evidence.gain_of_shape(sums);
            }
        }
        Ok(())
    })
}

/// Residuals of all variables in a block of rows, given the parents on the way to a set.
struct Residuals<'a, 'e> {
    evidence: &'a Evidence<'e>,
    limits: &'a Limits,
    prefix: Mask,
    variances: &'a [f64],
    /// For each number of parents: variable i from `i * BLOCK_ROWS` on.
    levels: Vec<Vec<f64>>,
    /// Rows of the block.
    height: usize,
    sums: Vec<Sums>,
}

impl Residuals<'_, '_> {
    /// Take the block of rows that begins here; false if there is none.
    fn load(&mut self, start: usize) -> bool {
        for (variable, column) in (0..).zip(self.levels[0].chunks_exact_mut(BLOCK_ROWS)) {
            let values = self.evidence.values(variable).unwrap_or_default();
            let rest = &values[start.min(values.len())..];
            self.height = rest.len().min(BLOCK_ROWS);
            column[..self.height].copy_from_slice(&rest[..self.height]);
        }
        self.height > 0
    }
}

impl Visitor for Residuals<'_, '_> {
    fn add(&mut self, depth: usize, parents: Mask, newest: usize, slopes: &[f64]) {
        let (before, after) = self.levels.split_at_mut(depth);
        let (before, after) = (&before[depth - 1], &mut after[0]);
        let parent = &before[newest * BLOCK_ROWS..][..self.height];
        for (variable, (new, slope)) in after.chunks_exact_mut(BLOCK_ROWS).zip(slopes).enumerate() {
            let is_needed = variable < newest || self.limits.may_permit(variable, parents, newest);
            if parents >> variable & 1 == 0 && is_needed {
                let old = &before[variable * BLOCK_ROWS..][..self.height];
                vectorised(
                    #[inline(always)]
                    || {
                        for ((new, old), parent) in new.iter_mut().zip(old).zip(parent) {
                            *new = old - slope * parent;
                        }
                    },
                );
            }
        }
    }

    fn record(&mut self, set: &Regressors, variances: &[f64]) {
        let d = variances.len();
        let row = (set.parents - self.prefix) as usize * d;
        let shape = self.evidence.score.shape;
        let columns = self.levels[set.depth].chunks_exact(BLOCK_ROWS);
        let sums = self.sums[row..].iter_mut().zip(&self.variances[row..row + d]);
        for (((sums, variance), residual), variable) in sums.zip(columns).zip(0..) {
            if variance.is_finite() && self.evidence.may_have_shape(variable) {
                vectorised(
                    #[inline(always)]
                    || shape.add(&residual[..self.height], *variance, sums),
                );
            }
        }
    }
}
