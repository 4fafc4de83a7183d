//! Generalised variances that all sets of parents leave, where variables are blocks of columns.
//!
//! With D the determinant of the correlations of the columns of a set, variable j has `D(P ∪ j) / D(P)` left given P. So
//! one determinant for each set is enough. Sets are built by adding blocks from the highest to the lowest, depth first, and
//! each adds rows to a Cholesky factor.

use super::limits::{Limits, Mask};
use super::local::lowest_split;
use super::orders::members;
use crate::Blocks;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::search::Evidence;
use rayon::prelude::*;

/// A set of parents is collinear if one of its columns has a smaller share of its variance left, given those before it.
const COLLINEAR: f64 = 1e-8;

/// The number of columns of each set of variables.
pub(super) fn columns_of_sets(widths: &[f64]) -> Vec<f64> {
    let mut columns = vec![0.0; 1 << widths.len()];
    for set in 1..columns.len() {
        let lowest = set.trailing_zeros() as usize;
        columns[set] = columns[set & (set - 1)] + widths[lowest];
    }
    columns
}

/// The logarithm of the determinant of a set, and whether it is collinear.
#[derive(Debug, Clone, Copy)]
struct Determinant {
    log: f64,
    is_collinear: bool,
}

/// A Cholesky factor, of columns that are added at the end.
struct Growing<'a, 'e> {
    evidence: &'a Evidence<'e>,
    columns: Vec<usize>,
    /// Rows, each up to its diagonal.
    rows: Vec<Vec<f64>>,
}

impl Growing<'_, '_> {
    /// Add the columns of a variable to a set; `None` if nothing but rounding is left of one of them.
    fn add(&mut self, set: Determinant, columns: std::ops::Range<usize>) -> Option<Determinant> {
        let mut larger = set;
        for column in columns.rev() {
            let correlations = self.evidence.row(column as u32);
            let k = self.columns.len();
            if self.rows.len() == k {
                self.rows.push(Vec::with_capacity(k + 1));
            }
            let (before, after) = self.rows.split_at_mut(k);
            let row = &mut after[0];
            row.clear();
            for (&other, above) in self.columns.iter().zip(before) {
                let known: f64 = above.iter().zip(&*row).map(|(a, b)| a * b).sum();
                row.push((correlations[other] - known) / above[row.len()]);
            }
            let left = 1.0 - row.iter().map(|entry| entry * entry).sum::<f64>();
            if left.is_nan() || left <= f64::EPSILON {
                return None;
            }
            row.push(left.sqrt());
            self.columns.push(column);
            larger.log += left.ln();
            larger.is_collinear |= left <= COLLINEAR;
        }
        Some(larger)
    }

    /// Record the determinants of a set and of all sets that have more variables below `low`.
    fn descend(
        &mut self,
        set: Determinant,
        mask: usize,
        low: usize,
        blocks: &Blocks,
        table: &mut [Option<Determinant>],
    ) {
        table[mask] = Some(set);
        let size = self.columns.len();
        for newest in 0..low {
            if let Some(larger) = self.add(set, blocks.range(newest)) {
                self.descend(larger, mask | 1 << newest, newest, blocks, table);
            }
            self.columns.truncate(size);
        }
    }
}

/// The share of each generalised variance that each set of parents leaves: infinite where the parents are not permitted.
pub(super) fn generalised_variances(
    evidence: &Evidence,
    blocks: &Blocks,
    limits: &Limits,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, IcidError> {
    let d = blocks.len();
    ensure_room::<[f64; super::cost::TABLES]>("the scores of all sets of parents", (d as u128) << d)?;
    let low = lowest_split(d);
    let mut determinants: Vec<Option<Determinant>> = vec![None; 1 << d];
    determinants.par_chunks_mut(1 << low).enumerate().try_for_each(|(task, table)| {
        interrupt.check()?;
        let mut growing = Growing { evidence, columns: Vec::new(), rows: Vec::new() };
        let mut set = Some(Determinant { log: 0.0, is_collinear: false });
        let mut highest: Vec<usize> = members(task as Mask).map(|i| low + i).collect();
        highest.reverse();
        for variable in highest {
            set = set.and_then(|set| growing.add(set, blocks.range(variable)));
        }
        if let Some(set) = set {
            growing.descend(set, 0, low, blocks, table);
        }
        Ok::<_, IcidError>(())
    })?;
    interrupt.check()?;
    let most = limits.most_columns();
    let mut table = vec![f64::INFINITY; d << d];
    table.par_chunks_mut(d).enumerate().for_each(|(parents, row)| {
        let Some(set) = determinants[parents] else { return };
        let columns: usize = members(parents as Mask).map(|i| blocks.width(i)).sum();
        let is_excessive = set.is_collinear || columns as f64 > most;
        for (variable, entry) in row.iter_mut().enumerate().filter(|(variable, _)| parents >> variable & 1 == 0) {
            let Some(with) = determinants[parents | 1 << variable] else { continue };
            let left = (with.log - set.log).exp();
            if left > 0.0 && limits.permits(variable, parents as Mask, is_excessive) {
                *entry = left;
            }
        }
    });
    Ok(table)
}
