//! The regression of a variable on its parents, updated when a parent comes or goes.

use super::columns::{Columns, members};
use super::evidence::Evidence;
use super::kernel::{Column, Kernel};

/// After so many updates a regression is computed anew, so that rounding errors do not add up.
const MOST_UPDATES: u32 = 40;

/// A variable's regression on its parents. Variables are scaled to unit variance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit<K = Column> {
    pub variable: u32,
    pub parents: Vec<u32>,
    kernel: K,
    /// Share of the variance that the parents leave unexplained.
    pub left: f64,
    /// The local score, set by whoever chose the parents.
    pub score: f64,
    updates: u32,
    /// Slots of the variables, wherever they are in the order, that may be worth an edge, as bits.
    pub wants: Vec<u64>,
}

impl<K: Kernel> Fit<K> {
    /// Begin again, with a variable that has no parents.
    pub fn reset(&mut self, evidence: &Evidence, columns: &Columns, variable: u32) {
        self.variable = variable;
        self.parents.clear();
        self.kernel.reset(evidence, columns, variable);
        self.left = 1.0;
        self.updates = 0;
        self.wants.clear();
        self.wants.resize(columns.len(variable).div_ceil(64), 0);
    }

    /// Become the same as another regression, without allocating where there is room.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { variable, left, score, updates, .. } = *other;
        (self.variable, self.left, self.score, self.updates) = (variable, left, score, updates);
        self.parents.clone_from(&other.parents);
        self.kernel.copy_from(&other.kernel);
        self.wants.clone_from(&other.wants);
    }

    pub fn has(&self, other: u32) -> bool {
        self.parents.contains(&other)
    }

    /// The share of the variance that the variable in a slot would explain in addition to the parents, if it is no
    /// linear combination of them and something would be left.
    pub fn share(&self, slot: usize) -> Option<f64> {
        self.kernel.share(slot, self.left)
    }

    /// As [`Self::share`], of a variable wherever it is covered.
    pub fn share_of(&self, columns: &Columns, other: u32) -> Option<f64> {
        self.share(columns.slot(self.variable, other)?)
    }

    /// Whether the variable in a slot is no linear combination of the parents, to within rounding, and would not
    /// determine this one.
    pub fn is_independent(&self, slot: usize) -> bool {
        self.kernel.is_independent(slot, self.left)
    }

    /// The variables that may be worth an edge, wherever they are in the order.
    pub fn wanted(&self, columns: &Columns) -> impl Iterator<Item = u32> {
        members(&self.wants).map(|slot| columns.at(self.variable, slot))
    }

    /// Set [`Self::wants`] to the slots that explain this part of the price of an edge in addition to the parents.
    pub fn mark(&mut self, evidence: &Evidence, columns: &Columns, part: f64) {
        self.kernel.mark(evidence, columns, self.left, part, &mut self.wants);
    }

    /// Take in a parent, which is in this slot.
    pub fn add(&mut self, evidence: &Evidence, columns: &Columns, parent: u32, slot: usize) {
        self.parents.push(parent);
        self.updates += 1;
        self.left = self.kernel.add(evidence, columns, parent, slot);
    }

    /// As [`Self::add`], of a variable that is covered.
    pub fn take(&mut self, evidence: &Evidence, columns: &Columns, parent: u32) {
        let slot = columns.slot(self.variable, parent).expect("a variable that is covered");
        self.add(evidence, columns, parent, slot);
    }

    /// Drop the parent with this number.
    pub fn remove(&mut self, evidence: &Evidence, columns: &Columns, number: usize) {
        self.parents.remove(number);
        if self.updates < MOST_UPDATES {
            self.updates += 1;
            if let Some(left) = self.kernel.remove(columns, &self.parents, number) {
                self.left = left;
                return;
            }
        }
        let parents = std::mem::take(&mut self.parents);
        self.refit(evidence, columns, parents);
    }

    /// Compute the regression on these parents anew.
    pub fn refit(&mut self, evidence: &Evidence, columns: &Columns, parents: Vec<u32>) {
        let score = self.score;
        self.reset(evidence, columns, self.variable);
        for &parent in &parents {
            self.take(evidence, columns, parent);
        }
        (self.score, self.updates) = (score, 0);
    }

    /// The covariances given the parents.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Write the weights of the parents to `weights`, and what dropping each of them would add to the share that is
    /// left to `losses`.
    pub fn weigh(&self, weights: &mut Vec<f64>, losses: &mut Vec<f64>) {
        self.kernel.weigh(self.left, weights, losses);
    }

    /// Turn the weights of the parents into those with one more parent, which is in this slot.
    pub fn weigh_with(&self, slot: usize, weights: &mut Vec<f64>) {
        self.kernel.weigh_with(slot, weights);
    }

    /// Turn the weights of the parents into those without one of them.
    pub fn weigh_without(&self, number: usize, weights: &mut Vec<f64>) {
        self.kernel.weigh_without(number, weights);
    }

    /// Visit all variables, covered or not, with the share that each would explain in addition to the parents if these
    /// explained nothing of it.
    pub fn visit_shares(&self, evidence: &Evidence, visit: impl FnMut(u32, f64)) {
        self.kernel.visit_shares(evidence, &self.parents, self.left, visit);
    }
}

/// Regressions that are not in use, whose memory is.
#[derive(Debug)]
pub(crate) struct Pool<K>(Vec<Fit<K>>);

impl<K> Default for Pool<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Kernel> Pool<K> {
    pub fn copy(&mut self, fit: &Fit<K>) -> Fit<K> {
        let mut copy = self.0.pop().unwrap_or_default();
        copy.copy_from(fit);
        copy
    }

    pub fn give_back(&mut self, fit: Fit<K>) {
        self.0.push(fit);
    }
}
