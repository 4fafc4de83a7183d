//! The sparse kernel: each row of `R` and of the gradient is computed from the few columns that have an entry in it.
//!
//! Row r of `φ = Ã Ãᵀ`, with `Ã = (I − B) D^½`, is a sum of columns `ã_j` over `j ∈ N_r`, each scaled by `Ã_rj`; entry
//! `(r, j)` of the gradient is `2 D_j^½` times the product of that same row of `Λ + ρR` with `ã_j`. So one visit to a
//! row suffices, in a buffer as long as a row of `P` that stays in the cache: no row is written by two threads, Λ is the
//! only thing stored that has the size of `P`, and entries (r, c) and (c, r) are equal to the bit.

use super::kernel::{Kernel, Term};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::parallel::{Pieces, for_each_block, for_each_block_until};
use crate::pattern::{LANES, TwoHop};
use crate::problem::Problem;
use std::ops::Range;

pub(super) struct CliqueKernel<'p> {
    cliques: Cliques<'p>,
    interrupt: Interrupt,
    /// Λ on P; `None` while it is zero.
    multiplier: Option<Vec<f64>>,
    /// Ã, by padded columns.
    columns: Vec<[f64; LANES]>,
    /// `Z D^½`, by padded columns.
    direction: Vec<[f64; LANES]>,
    /// For each block of rows, three buffers as long as a row of P, each followed by the slots of the padding, which
    /// stay zero.
    buffers: Vec<f64>,
    partials: Vec<f64>,
    ends: BlockEnds,
}

/// Where each block of rows ends in vectors that are stored row by row.
struct BlockEnds {
    support: Vec<usize>,
    columns: Vec<usize>,
    pattern: Vec<usize>,
    buffers: Vec<usize>,
}

impl BlockEnds {
    fn new(problem: &Problem, pattern: &TwoHop) -> Self {
        let blocks = pattern.blocks();
        let longest = |rows: &Range<usize>| rows.clone().map(|r| pattern.row(r).len() + LANES).max().unwrap_or(0);
        let add_buffers = |end: &mut usize, rows| {
            *end += 3 * longest(rows);
            Some(*end)
        };
        Self {
            support: blocks.iter().map(|rows| problem.support().row(rows.end - 1).end).collect(),
            columns: blocks.iter().map(|rows| problem.support().column_groups(rows.end - 1).end).collect(),
            pattern: blocks.iter().map(|rows| pattern.row(rows.end - 1).end).collect(),
            buffers: blocks.iter().scan(0, add_buffers).collect(),
        }
    }
}

impl<'p> CliqueKernel<'p> {
    pub(super) fn new(problem: &'p Problem, interrupt: &Interrupt) -> Result<Self, IcidError> {
        let pattern = TwoHop::new(problem.support(), interrupt)?;
        let ends = BlockEnds::new(problem, &pattern);
        let buffers = ends.buffers.last().copied().unwrap_or(0);
        ensure_room::<f64>("the buffers of the clique kernel", buffers as u128)?;
        let (support, precision) = (problem.support(), problem.noise_precision());
        let columns_met = (0..problem.dim()).flat_map(|r| support.neighbours(r));
        let groups = support.column_groups(problem.dim() - 1).end;
        Ok(Self {
            interrupt: interrupt.clone(),
            multiplier: None,
            columns: vec![[0.0; LANES]; groups],
            direction: vec![[0.0; LANES]; groups],
            buffers: vec![0.0; buffers],
            partials: vec![0.0; pattern.blocks().len()],
            cliques: Cliques { problem, scale: columns_met.map(|&j| precision[j as usize].sqrt()).collect(), pattern },
            ends,
        })
    }
}

impl Kernel for CliqueKernel<'_> {
    fn evaluate(&mut self, b: &[f64], term: Term, gradient: Option<&mut [f64]>) -> f64 {
        let (multiplier, rho) = match term {
            Term::Lagrangian { rho } => (self.multiplier.as_deref(), rho),
            Term::HalfSquare => (None, 1.0),
        };
        let cliques = &self.cliques;
        cliques.scale_columns(b, 1.0, -1.0, &mut self.columns, &self.ends.columns);
        let columns = &self.columns;
        let out = (
            gradient.map(|g| Pieces::new(g, &self.ends.support)),
            Pieces::new(&mut self.buffers, &self.ends.buffers),
            self.partials.as_mut_slice(),
        );
        for_each_block_until(&self.interrupt, cliques.pattern.blocks(), out, &|rows, (gradient, buffer, partial)| {
            let buffer = buffer.into_slice();
            let mut gradient = gradient.map(Pieces::into_slice);
            let first = cliques.problem.support().row(rows.start).start;
            let mut value = 0.0;
            for r in rows.clone() {
                let positions = cliques.pattern.row(r);
                let row = &mut buffer[..positions.len() + LANES];
                cliques.residual_row(r, b, columns, row);
                value += weigh_residual(row, multiplier.map(|m| &m[positions]), rho);
                if let Some(gradient) = gradient.as_deref_mut() {
                    let entries = cliques.problem.support().row(r);
                    cliques.gradient_row(r, row, columns, &mut gradient[entries.start - first..entries.end - first]);
                }
            }
            partial[0] = value;
        });
        self.partials.iter().sum()
    }

    fn curvature(&mut self, b: &[f64], z: &[f64], rho: f64) -> f64 {
        let cliques = &self.cliques;
        cliques.scale_columns(b, 1.0, -1.0, &mut self.columns, &self.ends.columns);
        cliques.scale_columns(z, 0.0, 1.0, &mut self.direction, &self.ends.columns);
        let (columns, direction, multiplier) = (&self.columns, &self.direction, self.multiplier.as_deref());
        let out = (Pieces::new(&mut self.buffers, &self.ends.buffers), self.partials.as_mut_slice());
        for_each_block_until(&self.interrupt, cliques.pattern.blocks(), out, &|rows, (buffer, partial)| {
            let buffer = buffer.into_slice();
            let mut sum = 0.0;
            for r in rows.clone() {
                let positions = cliques.pattern.row(r);
                let (row, rest) = buffer.split_at_mut(positions.len() + LANES);
                let (mixed, rest) = rest.split_at_mut(positions.len() + LANES);
                let pure = &mut rest[..positions.len() + LANES];
                cliques.residual_row(r, b, columns, row);
                weigh_residual(row, multiplier.map(|m| &m[positions]), rho);
                mixed.fill(0.0);
                pure.fill(0.0);
                for clique in cliques.reaching(r) {
                    let (along, base) = (clique.coefficient(z, 0.0, 1.0), clique.coefficient(b, 1.0, -1.0));
                    let (column, direction) = (&columns[clique.column.clone()], &direction[clique.column]);
                    add_multiple(mixed, along, clique.slots, column);
                    add_multiple(mixed, base, clique.slots, direction);
                    add_multiple(pure, along, clique.slots, direction);
                }
                let terms = mixed.iter().zip(&*pure).zip(&*row);
                sum += terms.map(|((s, q), w)| rho * s * s - 2.0 * w * q).sum::<f64>();
            }
            partial[0] = sum;
        });
        self.partials.iter().sum()
    }

    fn update_multiplier(&mut self, b: &[f64], rho: f64) {
        let cliques = &self.cliques;
        cliques.scale_columns(b, 1.0, -1.0, &mut self.columns, &self.ends.columns);
        let columns = &self.columns;
        let multiplier = self.multiplier.get_or_insert_with(|| vec![0.0; cliques.pattern.len()]);
        let out = (Pieces::new(multiplier, &self.ends.pattern), Pieces::new(&mut self.buffers, &self.ends.buffers));
        for_each_block_until(&self.interrupt, cliques.pattern.blocks(), out, &|rows, (multiplier, buffer)| {
            let (multiplier, buffer) = (multiplier.into_slice(), buffer.into_slice());
            let first = cliques.pattern.row(rows.start).start;
            for r in rows.clone() {
                let positions = cliques.pattern.row(r);
                let row = &mut buffer[..positions.len() + LANES];
                cliques.residual_row(r, b, columns, row);
                let own = &mut multiplier[positions.start - first..positions.end - first];
                for (lambda, residual) in own.iter_mut().zip(row) {
                    *lambda += rho * *residual;
                }
            }
        });
    }
}

/// The read-only side of the kernel, shared by all threads.
struct Cliques<'p> {
    problem: &'p Problem,
    pattern: TwoHop,
    /// `D_j^½` for every entry `(r, j)` of the support, in reading order for the same reason as [`Span`].
    scale: Vec<f64>,
}

/// The part of clique j that concerns row r.
struct Clique<'a> {
    /// Position of `(r, j)` on the support.
    entry: usize,
    /// Is it the row's own clique, j = r?
    own: bool,
    /// `D_j^½`.
    scale: f64,
    /// Groups of column j in a vector stored by padded columns.
    column: Range<usize>,
    /// Where the members of `N_j` are in row r of P.
    slots: &'a [[u32; LANES]],
}

impl Clique<'_> {
    /// Entry `(r, j)` of `(unit · I + sign · X) D^½`.
    fn coefficient(&self, x: &[f64], unit: f64, sign: f64) -> f64 {
        let identity = if self.own { unit } else { 0.0 };
        self.scale * (identity + sign * x[self.entry])
    }
}

impl Cliques<'_> {
    /// Every clique that reaches row r.
    fn reaching(&self, r: usize) -> impl Iterator<Item = Clique<'_>> {
        let support = self.problem.support();
        let (entries, own) = (support.row(r), support.diagonal(r));
        let mut slots = self.pattern.slots(r);
        let spans = support.spans()[entries.clone()].iter().zip(&self.scale[entries.clone()]);
        entries.zip(spans).map(move |(entry, (span, &scale))| {
            let (segment, rest) = slots.split_at(span.len());
            slots = rest;
            Clique { entry, own: entry == own, scale, column: span.range(), slots: segment }
        })
    }

    /// `(unit · I + sign · X) D^½`, by padded columns.
    fn scale_columns(&self, x: &[f64], unit: f64, sign: f64, columns: &mut [[f64; LANES]], block_ends: &[usize]) {
        let support = self.problem.support();
        for_each_block(self.pattern.blocks(), Pieces::new(columns, block_ends), &|rows, columns| {
            let columns = columns.into_slice();
            let first = support.column_groups(rows.start).start;
            for j in rows.clone() {
                let (entries, diagonal, groups) = (support.row(j), support.diagonal(j), support.column_groups(j));
                let scale = self.scale[diagonal];
                let column = columns[groups.start - first..groups.end - first].as_flattened_mut();
                for (value, &mirror) in column.iter_mut().zip(&support.mirror()[entries.clone()]) {
                    *value = scale * (sign * x[mirror as usize]);
                }
                column[diagonal - entries.start] = scale * (unit + sign * x[diagonal]);
            }
        });
    }

    /// Row r of `Θ − φ_D(B)`.
    fn residual_row(&self, r: usize, b: &[f64], columns: &[[f64; LANES]], row: &mut [f64]) {
        let theta = &self.problem.theta()[self.problem.support().row(r)];
        let (near, far) = row.split_at_mut(theta.len());
        near.copy_from_slice(theta);
        far.fill(0.0);
        for clique in self.reaching(r) {
            let coefficient = clique.coefficient(b, 1.0, -1.0);
            add_multiple(row, -coefficient, clique.slots, &columns[clique.column]);
        }
    }

    /// Row r of `2 W A D` on the support, from row r of `W = Λ + ρR`.
    fn gradient_row(&self, r: usize, weights: &[f64], columns: &[[f64; LANES]], gradient: &mut [f64]) {
        for (g, clique) in gradient.iter_mut().zip(self.reaching(r)) {
            let mut sums = [0.0; LANES];
            for (slots, a) in clique.slots.iter().zip(&columns[clique.column]) {
                for lane in 0..LANES {
                    sums[lane] += weights[slots[lane] as usize] * a[lane];
                }
            }
            let product: f64 = sums.iter().sum();
            *g = if clique.own { 0.0 } else { 2.0 * clique.scale * product };
        }
    }
}

/// `row[slots] += coefficient · column`.
fn add_multiple(row: &mut [f64], coefficient: f64, slots: &[[u32; LANES]], column: &[[f64; LANES]]) {
    // The penalty makes most of B zero.
    if coefficient != 0.0 {
        for (slots, a) in slots.iter().zip(column) {
            for lane in 0..LANES {
                row[slots[lane] as usize] += coefficient * a[lane];
            }
        }
    }
}

/// Turn a row of R into one of `Λ + ρR`; return its part of `⟨Λ, R⟩ + ρ/2 ‖R‖²`.
fn weigh_residual(row: &mut [f64], multiplier: Option<&[f64]>, rho: f64) -> f64 {
    let mut value = 0.0;
    if let Some(multiplier) = multiplier {
        for (w, lambda) in row.iter_mut().zip(multiplier) {
            let weighted = rho * *w;
            value += *w * (lambda + 0.5 * weighted);
            *w = lambda + weighted;
        }
    } else {
        for w in row {
            let weighted = rho * *w;
            value += 0.5 * *w * weighted;
            *w = weighted;
        }
    }
    value
}
