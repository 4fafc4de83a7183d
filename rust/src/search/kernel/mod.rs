//! What a regression holds about the variables that it covers, and how that changes as a parent comes or goes.
//!
//! Where every variable is one column, a variance is a number. Where variables are blocks of columns, it is the
//! determinant of a covariance matrix, the generalised variance: the score of a graph is the same function of it.

mod block;
mod column;

pub(crate) use block::Block;
pub(crate) use column::Column;

use super::columns::Columns;
use super::evidence::Evidence;
use std::fmt::Debug;

/// A variable with a smaller share of its variance left is a linear combination of the parents.
pub(crate) const COLLINEAR: f64 = 1e-12;

/// Covariances given the parents of a variable.
///
/// For every variable that might become a parent they tell at once how much of the variance it would explain.
pub(crate) trait Kernel: Clone + Debug + Default + Send + Sync {
    /// Begin again, without parents.
    fn reset(&mut self, evidence: &Evidence, columns: &Columns, variable: u32);

    /// Become the same as another, without allocating where there is room.
    fn copy_from(&mut self, other: &Self);

    /// The share of the variance that the variable in a slot would explain in addition to the parents, which leave
    /// `left`; if it is no linear combination of them and something would be left.
    fn share(&self, slot: usize, left: f64) -> Option<f64>;

    /// Whether the variable in a slot is no linear combination of the parents, to within rounding, and would not
    /// determine this one.
    fn is_independent(&self, slot: usize, left: f64) -> bool;

    /// Set `wants` to the slots that explain this part of the price of an edge in addition to the parents, as bits.
    fn mark(&self, evidence: &Evidence, columns: &Columns, left: f64, part: f64, wants: &mut [u64]);

    /// Take in a parent, which is in this slot; returns the share of the variance that is left.
    fn add(&mut self, evidence: &Evidence, columns: &Columns, parent: u32, slot: usize) -> f64;

    /// Drop the parent with this number, after which these remain; returns the share that is left, or `None` if the
    /// regression must be computed anew.
    fn remove(&mut self, columns: &Columns, remaining: &[u32], number: usize) -> Option<f64>;

    /// Write the weights of the parents, one for each of their columns, to `weights`; and what dropping each parent would
    /// add to the share that is left to `losses`.
    fn weigh(&self, left: f64, weights: &mut Vec<f64>, losses: &mut Vec<f64>);

    /// Turn the weights of the parents into those with one more parent, which is in this slot.
    fn weigh_with(&self, slot: usize, weights: &mut Vec<f64>);

    /// Turn the weights of the parents into those without one of them.
    fn weigh_without(&self, number: usize, weights: &mut Vec<f64>);

    /// Visit all variables of the table, covered or not, with the share that each would explain in addition to the parents
    /// if these explained nothing of it.
    fn visit_shares(&self, evidence: &Evidence, parents: &[u32], left: f64, visit: impl FnMut(u32, f64));
}
