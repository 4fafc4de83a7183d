//! The Cholesky factor of a dense Θ, and the graph that it holds.

use super::is_negligible;
use crate::algebra::csr::Counts;
use crate::algebra::permutation::inverse;
use crate::error::IcidError;
use crate::memory::ensure_room;
use crate::sem::LinearSem;
use rayon::prelude::*;

/// Variables whose entries one task looks at.
const VARIABLES: usize = 512;

/// A Cholesky factor L of a scaled Θ, whose rows and columns are in the order of elimination: `Θ̃ = L Lᵀ`.
pub(in crate::order) struct Factor {
    /// The caller's names of the variables.
    names: Vec<u32>,
    /// The factors by which rows and columns were scaled.
    scale: Vec<f64>,
    /// The variables, causes first.
    order: Vec<u32>,
    /// The columns of L, one after the other: those of `order`. Each holds an entry for every variable, zero for its
    /// effects and all others that were eliminated before.
    columns: Vec<f64>,
}

impl Factor {
    pub(super) fn new(names: Vec<u32>, scale: Vec<f64>, order: Vec<u32>, columns: Vec<f64>) -> Self {
        Self { names, scale, order, columns }
    }

    /// The caller's names, causes first.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.order.iter().map(|&variable| self.names[variable as usize])
    }

    /// Variables, and the columns that their elimination left, causes first.
    fn columns(&self) -> impl DoubleEndedIterator<Item = (usize, &[f64])> {
        self.order.iter().map(|&variable| variable as usize).zip(self.columns.chunks_exact(self.names.len()))
    }

    /// For each variable, causes first, the names of those before it whose squared partial correlation with it, given
    /// all others before it, is above a cut.
    pub fn correlated_predecessors(&self, cuts: &[f64]) -> Vec<Vec<u32>> {
        let d = self.names.len();
        let find = |first: usize| {
            // Squares of a row of L, from the diagonal to the column at hand.
            let mut sums = vec![0.0; VARIABLES.min(d - first)];
            let mut found = Vec::new();
            for (place, ((variable, column), cut)) in self.columns().zip(cuts).enumerate() {
                for (i, (entry, sum)) in (first..).zip(column[first..].iter().zip(&mut sums)) {
                    let square = entry * entry;
                    *sum += square;
                    if square > cut * *sum && i != variable {
                        found.push((place, self.names[i]));
                    }
                }
            }
            found
        };
        let found: Vec<_> = (0..d).into_par_iter().step_by(VARIABLES).map(find).collect();
        let mut predecessors = vec![Vec::new(); d];
        for (place, name) in found.into_iter().flatten() {
            predecessors[place].push(name);
        }
        predecessors
    }

    /// Set entries that cancelled up to rounding to zero.
    pub fn clear_cancelled(mut self) -> Self {
        let d = self.names.len();
        // The diagonal entry of each variable when the turn of the one at hand comes.
        let mut diagonal = vec![0.0; d];
        for column in self.columns.chunks_exact_mut(d) {
            for (entry, diagonal) in column.iter_mut().zip(&mut diagonal) {
                *diagonal += *entry * *entry;
                if is_negligible(*entry, 1.0, *diagonal) {
                    *entry = 0.0;
                }
            }
        }
        self
    }

    /// Visit the columns of B in the order of elimination, with the pivots: both of the scaled Θ.
    pub fn for_each_column(&self, mut visit: impl FnMut(u32, f64, &mut dyn Iterator<Item = (u32, f64)>)) {
        for (variable, column) in self.columns().rev() {
            let root = column[variable];
            let entries = self.names.iter().zip(column).enumerate();
            let causes = entries.filter(|&(i, (_, &entry))| entry != 0.0 && i != variable);
            visit(self.names[variable], root * root, &mut causes.map(|(_, (&name, entry))| (name, -entry / root)));
        }
    }

    /// Read off B, with the weights above `drop`.
    pub fn to_sem(&self, drop: f64) -> Result<LinearSem, IcidError> {
        let d = self.names.len();
        let (number_of, place_of) = (inverse(&self.names), inverse(&self.order));
        // By the caller's names of the effect and the cause.
        let weights = |effect: usize| {
            let variable = number_of[effect] as usize;
            let column = &self.columns[place_of[variable] as usize * d..][..d];
            let scale = self.scale[variable];
            let root = column[variable];
            let weight = move |i: usize| if i == variable { 0.0 } else { -column[i] / root * (scale / self.scale[i]) };
            (0..d).map(move |i| (self.names[i] as usize, weight(i))).filter(move |(_, weight)| weight.abs() > drop)
        };
        let counts = Counts::new(d, (0..d).flat_map(weights).map(|(cause, _)| cause));
        ensure_room::<[u64; 4]>("the weights of a dense theta", counts.total() as u128)?;
        // Effects come in ascending order, so that rows are sorted.
        let entries = (0..d).flat_map(|effect| weights(effect).map(move |(cause, weight)| (cause, effect, weight)));
        let b = counts.fill(entries).into_square();
        let mut noise_variances = vec![0.0; d];
        for (variable, column) in self.columns() {
            noise_variances[self.names[variable] as usize] = (self.scale[variable] / column[variable]).powi(2);
        }
        let order = self.order().map(|name| name as usize).collect();
        Ok(LinearSem { b, order, noise_variances })
    }
}
