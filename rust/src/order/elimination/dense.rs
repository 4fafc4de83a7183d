//! A dense Θ, checked and arranged for elimination (see [`panels`](super::panels)).

use super::{Rule, scales};
use crate::algebra::check::{check_not_empty, check_square};
use crate::algebra::permutation::check_order;
use crate::error::IcidError;
use crate::knowledge::Waiting;
use crate::memory::ensure_room;
use crate::problem::numbering::fingerprints;
use crate::problem::{invert_variances, symmetric_mean};
use ndarray::ArrayView2;
use rayon::prelude::*;
use std::ops::Range;

/// Side of the tiles in which a matrix is read along both of its axes.
const TILE: usize = 32;

/// A symmetric matrix, of which the lower triangle is kept.
pub(in crate::order) struct DenseTheta {
    /// The caller's names of the variables.
    pub(super) names: Vec<u32>,
    /// The factors by which rows and columns were scaled.
    pub(super) scale: Vec<f64>,
    /// Diagonal entries that pivots are compared with.
    pub(super) original: Vec<f64>,
    pub(super) lower: Vec<f64>,
    /// The smallest diagonal entry is the next pivot; otherwise the last.
    pub(super) pivoted: bool,
    /// Precedence constraints of background knowledge.
    pub(super) waiting: Option<Waiting>,
}

impl DenseTheta {
    /// Check Θ and arrange it for a rule: scaled to unit noise, in an order of its own or in the one given.
    pub fn new(theta: &ArrayView2<f64>, rule: Rule) -> Result<Self, IcidError> {
        let rows = check_square("theta", theta.dim())?;
        check_not_empty("theta", rows)?;
        let diagonal = theta.diag().to_vec();
        if let Some(index) = diagonal.iter().position(|&t| !t.is_finite() || t <= 0.0) {
            let value = diagonal[index];
            return Err(if value.is_finite() {
                IcidError::Diagonal { index, value }
            } else {
                not_finite(index, index, value)
            });
        }
        check_symmetric(theta, &diagonal)?;
        let (names, pivoted) = match rule {
            Rule::Along(order) => (check_order(order, rows)?, false),
            Rule::SmallestPivot { .. } | Rule::Respecting { .. } => {
                let precisions =
                    rule.noise_variances().map(|variances| invert_variances(variances, rows)).transpose()?;
                let precision = |i: usize| precisions.as_ref().map_or(1.0, |p| p[i]);
                let own = diagonal.iter().enumerate().map(|(i, &t)| [t, precision(i)]);
                let entries = |i: usize| (0..rows).filter(move |&j| j != i).map(move |j| (j, theta[[i, j]]));
                (fingerprints(own, entries).1, true)
            }
        };
        let scales = scales(&diagonal, rule)?;
        let mut arranged = Self::zeros(rows, pivoted)?;
        arranged.scale = names.iter().map(|&i| scales[i as usize]).collect();
        arranged.names = names;
        if let Rule::Respecting { knowledge, .. } = rule {
            knowledge.check_dim(rows)?;
            arranged.waiting = Some(Waiting::new(knowledge, true));
        }
        arranged.fill(theta);
        Ok(arranged)
    }

    /// A matrix of this size, with names as numbered and no scaling, to be [`set`](Self::set).
    pub fn zeros(d: usize, pivoted: bool) -> Result<Self, IcidError> {
        ensure_room::<f64>("a dense theta", d as u128 * d as u128)?;
        let (scale, lower, original) = (vec![1.0; d], vec![0.0; d * d], vec![0.0; d]);
        Ok(Self { names: (0..d as u32).collect(), scale, lower, original, pivoted, waiting: None })
    }

    /// Set an entry below the diagonal.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        let d = self.names.len();
        self.lower[row * d + column] = value;
    }

    /// Set a diagonal entry, and its value before any elimination.
    pub fn set_diagonal(&mut self, row: usize, value: f64, original: f64) {
        self.set(row, row, value);
        self.original[row] = original;
    }

    fn fill(&mut self, theta: &ArrayView2<f64>) {
        let d = self.names.len();
        let (names, scale) = (&self.names, &self.scale);
        self.lower.par_chunks_mut(d).enumerate().for_each(|(r, row)| {
            // Mirror images may differ by rounding: the one in the later row is used.
            let entries = theta.row(names[r] as usize);
            for ((slot, &j), s) in row[..=r].iter_mut().zip(names).zip(scale) {
                *slot = entries[j as usize] * scale[r] * s;
            }
        });
        self.original = (0..d).map(|i| self.lower[i * d + i]).collect();
    }
}

/// Mirror images may differ by rounding.
fn check_symmetric(theta: &ArrayView2<f64>, diagonal: &[f64]) -> Result<(), IcidError> {
    let d = diagonal.len();
    let check_tile = |rows: Range<usize>, columns: Range<usize>| {
        rows.flat_map(|i| columns.clone().filter(move |&j| j < i).map(move |j| (i, j))).try_for_each(|(i, j)| {
            let (value, mirrored) = (theta[[i, j]], theta[[j, i]]);
            if !value.is_finite() {
                return Err(not_finite(i, j, value));
            }
            if value == mirrored {
                return Ok(());
            }
            if !mirrored.is_finite() {
                return Err(not_finite(j, i, mirrored));
            }
            symmetric_mean((i, j), value, mirrored, diagonal[i].sqrt() * diagonal[j].sqrt()).map(|_| ())
        })
    };
    // Tile by tile, because one of the two images is always read across the rows.
    let tile = |t: usize| t * TILE..((t + 1) * TILE).min(d);
    (0..d.div_ceil(TILE)).into_par_iter().try_for_each(|r| (0..=r).try_for_each(|c| check_tile(tile(r), tile(c))))
}

fn not_finite(row: usize, column: usize, value: f64) -> IcidError {
    IcidError::NotFinite { what: "theta", row, column, value }
}
