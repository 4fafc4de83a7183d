//! Elimination of a dense Θ: a Cholesky factorisation in panels, with the smallest diagonal entry as the next pivot.
//!
//! A panel of pivots is found first: for each the one column that is needed is brought up to date, and with it all
//! diagonal entries, among which the next pivot is looked for. Then all that remains is brought up to date at once by a
//! matrix product (as LAPACK's `dpstrf` does for the largest entry).

use super::{Elimination, Rule, check_order, check_pivot, is_negligible, scales};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Waiting;
use crate::memory::ensure_room;
use crate::problem::numbering::fingerprints;
use crate::problem::{invert_variances, symmetric_mean};
use ndarray::{ArrayView2, ArrayViewMut2, linalg::general_mat_mul, s};
use rayon::prelude::*;
use sprs::CsMat;
use std::ops::Range;

/// Pivots in a panel.
const PANEL: usize = 64;
/// Rows that one task of the matrix product updates.
const ROWS: usize = 128;
/// Side of the tiles in which a matrix is read along both of its axes.
const TILE: usize = 32;

/// A symmetric matrix, of which the lower triangle is kept, with the names of its rows.
pub(in crate::order) struct DenseTheta {
    names: Vec<u32>,
    /// What rows and columns were multiplied with.
    scale: Vec<f64>,
    lower: Vec<f64>,
    /// Diagonal entries that pivots are compared with.
    original: Vec<f64>,
    pivoted: bool,
    /// Variables that must not be eliminated before others.
    waiting: Option<Waiting>,
}

impl DenseTheta {
    /// Check Θ and arrange it for a rule: scaled to unit noise, in an order of its own or in the one given.
    pub fn new(theta: &ArrayView2<f64>, rule: Rule) -> Result<Self, IcidError> {
        let (rows, columns) = theta.dim();
        if rows != columns {
            return Err(IcidError::NotSquare { what: "theta", rows, columns });
        }
        if rows == 0 {
            return Err(IcidError::Empty { what: "theta" });
        }
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
            Rule::Along(order) => {
                let mut names = check_order(order, rows)?;
                names.reverse();
                (names, false)
            }
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

    /// Set a diagonal entry, and what it was before any elimination.
    pub fn set_diagonal(&mut self, row: usize, value: f64, original: f64) {
        self.set(row, row, value);
        self.original[row] = original;
    }

    fn fill(&mut self, theta: &ArrayView2<f64>) {
        let d = self.names.len();
        let (names, scale) = (&self.names, &self.scale);
        self.lower.par_chunks_mut(d).enumerate().for_each(|(r, row)| {
            let i = names[r] as usize;
            let entries = theta.row(i);
            for ((slot, &j), s) in row[..=r].iter_mut().zip(names).zip(scale) {
                let j = j as usize;
                // Mirror images may differ by rounding; one of them counts, whatever the order.
                let entry = if j < i { entries[j] } else { theta[[j, i]] };
                *slot = entry * scale[r] * s;
            }
        });
        self.original = (0..d).map(|i| self.lower[i * d + i]).collect();
    }

    /// Eliminate all variables.
    pub fn factorise(mut self, interrupt: &Interrupt) -> Result<Factor, IcidError> {
        let d = self.names.len();
        let mut factorisation = Factorisation {
            diagonal: (0..d).map(|i| self.lower[i * d + i]).collect(),
            panel: vec![0.0; d * PANEL],
            theta: &mut self,
        };
        for start in (0..d).step_by(PANEL) {
            if interrupt.is_raised() {
                return Err(IcidError::Interrupted);
            }
            let end = (start + PANEL).min(d);
            for k in start..end {
                factorisation.next_pivot(k, start)?;
            }
            factorisation.update(start, end);
        }
        let mut factor = Factor { names: self.names, scale: self.scale, lower: self.lower };
        factor.clear_cancelled();
        Ok(factor)
    }
}

struct Factorisation<'a> {
    theta: &'a mut DenseTheta,
    /// Diagonal entries of what remains.
    diagonal: Vec<f64>,
    /// A copy of the panel's columns, for the product.
    panel: Vec<f64>,
}

impl Factorisation<'_> {
    /// Choose pivot `k` of the panel that begins at `start`, and compute its column of the factor.
    fn next_pivot(&mut self, k: usize, start: usize) -> Result<(), IcidError> {
        if self.theta.pivoted {
            let DenseTheta { waiting, names, .. } = &*self.theta;
            let smaller = |best: usize, i: usize| if self.diagonal[i] < self.diagonal[best] { i } else { best };
            let chosen = match waiting {
                None => (k + 1..self.diagonal.len()).fold(k, smaller),
                Some(waiting) => {
                    (k..self.diagonal.len()).filter(|&i| waiting.is_free(names[i])).reduce(smaller).unwrap_or(k)
                }
            };
            if chosen != k {
                self.swap(k, chosen);
            }
            let DenseTheta { waiting, names, .. } = &mut *self.theta;
            if let Some(waiting) = waiting {
                waiting.finish(names[k], |_| ());
            }
        }
        let d = self.diagonal.len();
        let pivot = self.diagonal[k];
        check_pivot(pivot, self.theta.original[k], self.theta.names[k])?;
        let root = pivot.sqrt();
        let (above, below) = self.theta.lower.split_at_mut((k + 1) * d);
        let pivot_row = &mut above[k * d..];
        pivot_row[k] = root;
        let known = &pivot_row[start..k];
        for (row, diagonal) in below.chunks_exact_mut(d).zip(&mut self.diagonal[k + 1..]) {
            let entry = (row[k] - dot(&row[start..k], known)) / root;
            row[k] = entry;
            *diagonal -= entry * entry;
        }
        Ok(())
    }

    /// Exchange two variables, `k < p`.
    fn swap(&mut self, k: usize, p: usize) {
        let d = self.diagonal.len();
        self.diagonal.swap(k, p);
        self.theta.original.swap(k, p);
        self.theta.names.swap(k, p);
        self.theta.scale.swap(k, p);
        let lower = &mut self.theta.lower;
        let (above, below) = lower.split_at_mut(p * d);
        let row_p = &mut below[..d];
        above[k * d..k * d + k].swap_with_slice(&mut row_p[..k]);
        for i in k + 1..p {
            std::mem::swap(&mut above[i * d + k], &mut row_p[i]);
        }
        for row in below.chunks_exact_mut(d).skip(1) {
            row.swap(k, p);
        }
    }

    /// Subtract what the panel explains of everything after it.
    fn update(&mut self, start: usize, end: usize) {
        let d = self.diagonal.len();
        let width = end - start;
        if end == d {
            return;
        }
        for (row, copy) in self.theta.lower.chunks_exact(d).zip(self.panel.chunks_exact_mut(width)).skip(end) {
            copy.copy_from_slice(&row[start..end]);
        }
        let panel = ArrayView2::from_shape((d, width), &self.panel[..d * width]).expect("a row for each variable");
        self.theta.lower[end * d..].par_chunks_mut(ROWS * d).enumerate().for_each(|(block, rows)| {
            let first = end + block * ROWS;
            let count = rows.len() / d;
            let last = first + count;
            let mut rows = ArrayViewMut2::from_shape((count, d), rows).expect("whole rows");
            let mut left = rows.slice_mut(s![.., end..last]);
            general_mat_mul(
                -1.0,
                &panel.slice(s![first..last, ..]),
                &panel.slice(s![end..last, ..]).t(),
                1.0,
                &mut left,
            );
        });
    }
}

/// A Cholesky factor L of a permuted and scaled Θ: `Θ̃ = L Lᵀ`, row and column k for the variable eliminated k-th.
pub(in crate::order) struct Factor {
    /// The variables, effects first.
    names: Vec<u32>,
    scale: Vec<f64>,
    lower: Vec<f64>,
}

impl Factor {
    /// The variables, effects first.
    pub fn names(&self) -> &[u32] {
        &self.names
    }

    pub fn into_names(self) -> Vec<u32> {
        self.names
    }

    /// Row k of the factor, up to its diagonal.
    fn row(&self, k: usize) -> &[f64] {
        let d = self.names.len();
        &self.lower[k * d..=k * d + k]
    }

    /// Squared partial correlations between variable k and those eliminated before it, each given all that were still
    /// there, the last elimination first.
    pub fn squared_partial_correlations(&self, k: usize) -> impl Iterator<Item = f64> {
        running_shares(self.row(k))
    }

    /// Turn what is left of cancelled entries into zeros.
    fn clear_cancelled(&mut self) {
        let d = self.names.len();
        self.lower.par_chunks_mut(d).enumerate().for_each(|(k, row)| {
            // What is left of the diagonal entry when a variable's turn comes.
            let mut diagonal = row[k] * row[k];
            for entry in row[..k].iter_mut().rev() {
                diagonal += *entry * *entry;
                if is_negligible(*entry, 1.0, diagonal) {
                    *entry = 0.0;
                }
            }
        });
    }

    /// Visit the columns of B in the order of elimination, with the pivots: both of the scaled Θ.
    pub fn for_each_column(&self, mut visit: impl FnMut(u32, f64, &mut dyn Iterator<Item = (u32, f64)>)) {
        let d = self.names.len();
        for k in 0..d {
            let column = |i: usize| self.lower[i * d + k];
            let weights = (k + 1..d).filter(|&i| column(i) != 0.0).map(|i| (self.names[i], -column(i) / column(k)));
            visit(self.names[k], column(k) * column(k), &mut { weights });
        }
    }

    /// Read off B, with the weights above `drop`.
    pub fn to_elimination(&self, drop: f64) -> Result<Elimination, IcidError> {
        let d = self.names.len();
        let mut row_of = vec![0; d];
        for (k, &name) in self.names.iter().enumerate() {
            row_of[name as usize] = k;
        }
        let roots: Vec<f64> = (0..d).map(|k| self.lower[k * d + k]).collect();
        let mut offsets = Vec::with_capacity(d + 1);
        offsets.push(0);
        let weight = |k: usize, place: usize, entry: f64| -entry / roots[place] * (self.scale[place] / self.scale[k]);
        let row =
            |k: usize| self.row(k)[..k].iter().enumerate().map(move |(place, &entry)| (place, weight(k, place, entry)));
        let count = (0..d).into_par_iter().map(|k| row(k).filter(|(_, w)| w.abs() > drop).count()).sum();
        ensure_room::<[u64; 4]>("the weights of a dense theta", count as u128)?;
        let (mut indices, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut weights = vec![0.0; d];
        for &k in &row_of {
            for (place, weight) in row(k) {
                weights[self.names[place] as usize] = weight;
            }
            for (name, weight) in weights.iter_mut().enumerate() {
                if weight.abs() > drop {
                    indices.push(name);
                    values.push(*weight);
                }
                *weight = 0.0;
            }
            offsets.push(indices.len());
        }
        let noise_variances = row_of.iter().map(|&k| (self.scale[k] / roots[k]).powi(2)).collect();
        let order = self.names.iter().rev().map(|&name| name as usize).collect();
        Ok(Elimination { b: CsMat::new((d, d), offsets, indices, values), order, noise_variances })
    }
}

/// Each entry's square as a share of the squares from there to the diagonal, from the diagonal's neighbour to the first.
fn running_shares(row: &[f64]) -> impl Iterator<Item = f64> {
    row.iter()
        .rev()
        .scan(0.0, |sum, entry| {
            let square = entry * entry;
            *sum += square;
            Some(square / *sum)
        })
        .skip(1)
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

/// A dot product in four strands, which the compiler turns into vector instructions.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_groups, a_rest) = a.as_chunks::<4>();
    let (b_groups, b_rest) = b.as_chunks::<4>();
    let mut strands = [0.0; 4];
    for (x, y) in a_groups.iter().zip(b_groups) {
        for k in 0..4 {
            strands[k] += x[k] * y[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (strands[0] + strands[1]) + (strands[2] + strands[3]) + rest
}
