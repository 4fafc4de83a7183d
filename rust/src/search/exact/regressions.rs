//! Regressions of all variables on all sets of parents, each a small step from another.
//!
//! Adding variable i to the parents is one step of Gaussian elimination: of the covariances given the parents so far, the
//! new ones are `c_kl − c_ki c_il / c_ii`. A set is built by adding its members from the highest to the lowest, depth
//! first. So of the covariances only the rows of variables below the last member are needed, one on average, and a step
//! takes `O(d)` operations for all d variables together. The sets that continue from one lie next to each other: their
//! masks differ in the bits below its last member.

use super::limits::{Limits, Mask};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::search::Evidence;

/// A set of parents is collinear if one of them has a smaller share of its variance left, given those before it.
const COLLINEAR: f64 = 1e-8;

/// With fewer variables left to add, a walk does not ask whether it should stop.
const SHORT: usize = 8;

/// What follows a walk through the sets of parents.
pub(super) trait Visitor {
    /// One more parent, the `depth`-th, and the slopes of all variables on what the others leave of it.
    fn add(&mut self, depth: usize, parents: Mask, newest: usize, slopes: &[f64]);

    /// A set of so many parents, and the variances that it leaves of all variables outside it.
    fn record(&mut self, set: &Regressors, variances: &[f64]);
}

/// A set of parents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Regressors {
    pub parents: Mask,
    /// How many they are.
    pub depth: usize,
    /// Whether one of them is a linear combination of the others, up to rounding.
    pub are_collinear: bool,
}

/// Covariances given a set of parents.
#[derive(Debug, Clone)]
struct Level {
    /// Row by row. Valid where the row is one of a variable that may still be added.
    covariances: Vec<f64>,
    /// The diagonal, valid outside the parents.
    variances: Vec<f64>,
    /// Slopes of all variables on the newest parent, given the others.
    slopes: Vec<f64>,
}

impl Level {
    /// Add a parent to those of another level.
    fn add(&mut self, from: &Self, newest: usize) {
        let d = self.variances.len();
        let pivot_row = &from.covariances[newest * d..(newest + 1) * d];
        let inverse = 1.0 / from.variances[newest];
        for (slope, c) in self.slopes.iter_mut().zip(pivot_row) {
            *slope = c * inverse;
        }
        let products = pivot_row.iter().zip(&self.slopes).map(|(c, slope)| c * slope);
        for ((new, old), product) in self.variances.iter_mut().zip(&from.variances).zip(products) {
            *new = old - product;
        }
        let rows = self.covariances.chunks_exact_mut(d).zip(from.covariances.chunks_exact(d));
        for ((new, old), factor) in rows.zip(&pivot_row[..newest]) {
            for ((new, old), slope) in new.iter_mut().zip(old).zip(&self.slopes) {
                *new = old - factor * slope;
            }
        }
    }
}

/// A walk through all sets of parents.
pub(super) struct Walk<'a> {
    limits: &'a Limits,
    interrupt: &'a Interrupt,
    levels: Vec<Level>,
}

impl<'a> Walk<'a> {
    pub fn new(evidence: &Evidence, limits: &'a Limits, interrupt: &'a Interrupt) -> Self {
        let d = evidence.dim();
        let covariances: Vec<f64> = (0..d as u32).flat_map(|i| evidence.row(i)).copied().collect();
        let level = Level { covariances, variances: vec![1.0; d], slopes: vec![0.0; d] };
        Self { limits, interrupt, levels: vec![level; d + 1] }
    }

    /// Visit all sets that agree with a given one in the variables from `low` on, and may have any below.
    pub fn visit(&mut self, prefix: Mask, low: usize, visitor: &mut impl Visitor) -> Result<(), IcidError> {
        if self.interrupt.is_raised() {
            return Err(IcidError::Interrupted);
        }
        let mut set = Regressors { parents: 0, depth: 0, are_collinear: false };
        for newest in (low..self.levels.len() - 1).rev().filter(|i| prefix >> i & 1 == 1) {
            match self.extended(set, &self.levels[set.depth], newest) {
                Some(larger) => set = larger,
                None => return Ok(()),
            }
            let (before, after) = self.levels.split_at_mut(set.depth);
            after[0].add(&before[set.depth - 1], newest);
            visitor.add(set.depth, set.parents, newest, &after[0].slopes);
        }
        let mut levels = std::mem::take(&mut self.levels);
        let result = self.descend(&mut levels[set.depth..], set, low, visitor);
        self.levels = levels;
        result
    }

    /// A set with one more member; `None` if its regressions have no unique solution.
    fn extended(&self, set: Regressors, level: &Level, newest: usize) -> Option<Regressors> {
        let parents = set.parents | 1 << newest;
        let left = level.variances[newest];
        let are_collinear = set.are_collinear || left <= COLLINEAR;
        let is_usable = !are_collinear || (left > f64::EPSILON && self.limits.are_required_together(parents));
        is_usable.then_some(Regressors { parents, depth: set.depth + 1, are_collinear })
    }

    fn descend(
        &self,
        levels: &mut [Level],
        set: Regressors,
        low: usize,
        visitor: &mut impl Visitor,
    ) -> Result<(), IcidError> {
        if low >= SHORT && self.interrupt.is_raised() {
            return Err(IcidError::Interrupted);
        }
        let Some((level, deeper)) = levels.split_first_mut() else { return Ok(()) };
        visitor.record(&set, &level.variances);
        for newest in 0..low {
            if let Some(larger) = self.extended(set, level, newest) {
                deeper[0].add(level, newest);
                visitor.add(larger.depth, larger.parents, newest, &deeper[0].slopes);
                self.descend(deeper, larger, newest, visitor)?;
            }
        }
        Ok(())
    }
}
