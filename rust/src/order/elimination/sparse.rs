//! Elimination of a sparse Θ: symmetric rank-one updates that also delete entries that cancel.

use super::dense::DenseTheta;
use super::pivots::{Given, Next, Smallest};
use super::{Columns, check_pivot, is_negligible};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::parallel::{CHUNK, balanced_ranges};
use crate::problem::SparseTheta;
use rayon::prelude::*;
use std::ops::Range;

/// Eliminations between two checks of the interrupt and of the density of the remaining Θ.
const PATIENCE: usize = 256;
/// Share of nonzeros above which the remaining Θ is treated as dense. An entry costs about fifty times as much in a sparse
/// update as in a dense one; a step updates `|N|²` entries if sparse, and half of all entries if dense.
const DENSE_SHARE: f64 = 0.1;
/// Fewest remaining variables for which switching to dense arithmetic pays.
const DENSE_SIZE: usize = 128;

/// Eliminate all variables, along a causal order in the caller's numbering if one is given.
pub(super) fn eliminate(
    theta: &SparseTheta,
    scales: &[f64],
    order: Option<&[u32]>,
    interrupt: &Interrupt,
) -> Result<Columns, IcidError> {
    let d = theta.dim();
    // For all connected components together, however they are distributed over threads.
    ensure_room::<[u64; 4]>("the elimination of theta", (theta.values.len() + 2 * d) as u128)?;
    let mut columns = Columns::with_capacity(d, theta.values.len() / 2);
    if let Some(order) = order {
        let numbers = crate::algebra::permutation::inverse(&theta.names);
        let mut given = Given(order.iter().map(|&name| numbers[name as usize]).collect());
        Remaining::new(theta, scales, 0..d).eliminate_each(0..d, &mut given, &mut columns, interrupt)?;
        return Ok(columns);
    }
    let components: Vec<Range<usize>> = theta.components().collect();
    let weight = |c: &Range<usize>| c.len() + theta.offsets[c.end] - theta.offsets[c.start];
    let shares = balanced_ranges(components.iter().map(weight), CHUNK);
    let eliminate = |share: &Range<usize>| eliminate_apart(theta, scales, &components[share.clone()], interrupt);
    // All results are collected first, so that of several errors the same is returned for any number of threads.
    for part in shares.par_iter().map(eliminate).collect::<Vec<_>>() {
        columns.append(part?);
    }
    Ok(columns)
}

/// Eliminate the variables of consecutive connected components.
fn eliminate_apart(
    theta: &SparseTheta,
    scales: &[f64],
    components: &[Range<usize>],
    interrupt: &Interrupt,
) -> Result<Columns, IcidError> {
    let (first, last) = (components[0].start, components[components.len() - 1].end);
    let entries = theta.offsets[last] - theta.offsets[first];
    let mut remaining = Remaining::new(theta, scales, first..last);
    let mut columns = Columns::with_capacity(last - first, entries / 2);
    for component in components {
        let own = component.start - first..component.end - first;
        remaining.eliminate_each(own.clone(), &mut Smallest::new(own), &mut columns, interrupt)?;
    }
    columns.shift(first as u32);
    Ok(columns)
}

/// An off-diagonal entry of a row.
#[derive(Debug, Clone, Copy)]
struct Entry {
    column: u32,
    value: f64,
}

/// A variable and its row.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Diagonal entry of the remaining Θ; zero once the variable is eliminated.
    diagonal: f64,
    /// The original diagonal entry.
    original: f64,
    /// The factor by which its row and column were scaled.
    scale: f64,
    /// Where its entries begin, how many there are, and how many there is room for.
    start: usize,
    len: u32,
    capacity: u32,
}

impl Node {
    fn row(&self) -> Range<usize> {
        self.start..self.start + self.len as usize
    }
}

/// The inverse covariance of the variables that are not yet eliminated, scaled to unit noise. Variables are numbered from
/// the first that it holds.
struct Remaining<'a> {
    names: &'a [u32],
    nodes: Vec<Node>,
    entries: Vec<Entry>,
    /// Off-diagonal entries of the component at hand.
    stored: usize,
    /// The row being eliminated, and one being changed.
    pivot_row: Vec<Entry>,
    changed_row: Vec<Entry>,
}

impl<'a> Remaining<'a> {
    /// The part of Θ that belongs to consecutive variables without neighbours elsewhere.
    fn new(theta: &'a SparseTheta, scales: &[f64], variables: Range<usize>) -> Self {
        let first = variables.start as u32;
        let mut nodes = Vec::with_capacity(variables.len());
        let stored = theta.offsets[variables.end] - theta.offsets[variables.start];
        let mut entries = Vec::with_capacity(stored - variables.len());
        for i in variables.clone() {
            let start = entries.len();
            let mut node = Node { diagonal: 0.0, original: 0.0, scale: scales[i], start, len: 0, capacity: 0 };
            for k in theta.offsets[i]..theta.offsets[i + 1] {
                let column = theta.neighbours[k];
                let value = theta.values[k] * node.scale * scales[column as usize];
                if i == column as usize {
                    (node.diagonal, node.original) = (value, value);
                } else {
                    entries.push(Entry { column: column - first, value });
                }
            }
            node.len = (entries.len() - start) as u32;
            node.capacity = node.len;
            nodes.push(node);
        }
        let names = &theta.names[variables];
        Self { names, nodes, entries, stored: 0, pivot_row: Vec::new(), changed_row: Vec::new() }
    }

    /// Eliminate the variables of a component in the order in which `next` gives them.
    fn eliminate_each(
        &mut self,
        component: Range<usize>,
        next: &mut impl Next,
        columns: &mut Columns,
        interrupt: &Interrupt,
    ) -> Result<(), IcidError> {
        self.stored = component.clone().map(|i| self.nodes[i].len as usize).sum();
        self.pivot_row.clear();
        for step in 0..component.len() {
            if step % PATIENCE == 0 {
                interrupt.check()?;
                let left = component.len() - step;
                if left >= DENSE_SIZE && self.stored as f64 > DENSE_SHARE * (left as f64 * left as f64) {
                    return self.eliminate_dense(component, next.rest(), columns, interrupt);
                }
            }
            let changed = self.pivot_row.iter().map(|entry| entry.column);
            let variable = next.next(changed, |i| self.nodes[i as usize].diagonal).expect("a variable for each step");
            self.eliminate(variable, columns)?;
        }
        Ok(())
    }

    fn eliminate(&mut self, variable: u32, columns: &mut Columns) -> Result<(), IcidError> {
        let i = variable as usize;
        let Node { diagonal: pivot, scale, len, .. } = self.nodes[i];
        self.pivot_row.clear();
        self.pivot_row.extend_from_slice(&self.entries[self.nodes[i].row()]);
        self.nodes[i].diagonal = 0.0;
        self.stored -= 2 * len as usize;
        for Entry { column, value } in &mut self.pivot_row {
            let node = &mut self.nodes[*column as usize];
            if is_negligible(*value, pivot, node.diagonal) {
                // Delete the mirror image as well.
                let row = &mut self.entries[node.row()];
                let at = row.partition_point(|e| e.column < variable);
                row.copy_within(at + 1.., at);
                node.len -= 1;
                *value = 0.0;
            } else {
                node.diagonal -= *value * *value / pivot;
                check_pivot(node.diagonal, node.original, self.names[*column as usize])?;
            }
        }
        self.pivot_row.retain(|e| e.value != 0.0);
        let nodes = &self.nodes;
        let weight = |e: &Entry| (e.column, -e.value / pivot * (scale / nodes[e.column as usize].scale));
        columns.push(variable, pivot / scale / scale, self.pivot_row.iter().map(weight));
        (0..self.pivot_row.len()).try_for_each(|at| self.subtract(self.pivot_row[at], variable, pivot))
    }

    /// Subtract from the row of a neighbour its part of the update: `value · pivot_row / pivot`.
    fn subtract(&mut self, neighbour: Entry, eliminated: u32, pivot: f64) -> Result<(), IcidError> {
        let i = neighbour.column as usize;
        let node = self.nodes[i];
        let old = &self.entries[node.row()];
        self.changed_row.clear();
        let mut kept = old.iter().filter(|e| e.column != eliminated).peekable();
        for update in &self.pivot_row {
            while let Some(&&entry) = kept.peek().filter(|e| e.column < update.column) {
                self.changed_row.push(entry);
                kept.next();
            }
            if update.column == neighbour.column {
                continue;
            }
            // Both factors in one product, so that the matrix stays symmetric to the bit.
            let change = neighbour.value * update.value / pivot;
            match kept.next_if(|e| e.column == update.column) {
                None => self.changed_row.push(Entry { column: update.column, value: -change }),
                Some(entry) => {
                    let left = entry.value - change;
                    if !self.has_cancelled(left, entry.value, i, update.column as usize) {
                        self.changed_row.push(Entry { column: update.column, value: left });
                    }
                }
            }
        }
        self.changed_row.extend(kept);

        let len = self.changed_row.len();
        self.stored = self.stored + len + 1 - node.len as usize;
        if len <= node.capacity as usize {
            self.entries[node.start..node.start + len].copy_from_slice(&self.changed_row);
            self.nodes[i].len = len as u32;
        } else {
            self.move_row(i)?;
        }
        Ok(())
    }

    /// Whether an entry has cancelled, up to rounding.
    fn has_cancelled(&self, left: f64, before: f64, a: usize, b: usize) -> bool {
        // The cheap test first: most entries do not cancel, and the diagonal of b is likely not in the cache.
        left.abs() <= 1e-3 * before.abs() && is_negligible(left, self.nodes[a].diagonal, self.nodes[b].diagonal)
    }

    /// Move a row that has outgrown its place to the end, with room to double.
    fn move_row(&mut self, i: usize) -> Result<(), IcidError> {
        let (start, len) = (self.entries.len(), self.changed_row.len());
        if start + 2 * len > self.entries.capacity() {
            ensure_room::<Entry>("the elimination of theta, which fills in,", 2 * (start + 2 * len) as u128)?;
        }
        self.entries.extend_from_slice(&self.changed_row);
        self.entries.resize(start + 2 * len, Entry { column: 0, value: 0.0 });
        let node = &mut self.nodes[i];
        (node.start, node.len, node.capacity) = (start, len as u32, 2 * len as u32);
        Ok(())
    }

    /// Eliminate the rest of a component by dense arithmetic.
    fn eliminate_dense(
        &self,
        component: Range<usize>,
        order: Option<Vec<u32>>,
        columns: &mut Columns,
        interrupt: &Interrupt,
    ) -> Result<(), IcidError> {
        let pivoted = order.is_none();
        let left = order
            .unwrap_or_else(|| component.clone().filter(|&i| self.nodes[i].diagonal > 0.0).map(|i| i as u32).collect());
        let mut place = vec![0; component.len()];
        for (k, &i) in left.iter().enumerate() {
            place[i as usize - component.start] = k;
        }
        let mut dense = DenseTheta::zeros(left.len(), pivoted)?;
        for (k, &i) in left.iter().enumerate() {
            let node = self.nodes[i as usize];
            dense.set_diagonal(k, node.diagonal, node.original);
            for entry in &self.entries[node.row()] {
                let j = place[entry.column as usize - component.start];
                if j < k {
                    dense.set(k, j, entry.value);
                }
            }
        }
        let factor = dense.factorise(interrupt).map_err(|error| match error {
            IcidError::Singular { index, pivot, diagonal } => {
                IcidError::Singular { index: self.names[left[index] as usize] as usize, pivot, diagonal }
            }
            other => other,
        })?;
        factor.clear_cancelled().for_each_column(|variable, pivot, causes| {
            let variable = left[variable as usize];
            let scale = self.nodes[variable as usize].scale;
            let weight = |(cause, weight): (u32, f64)| {
                let cause = left[cause as usize];
                (cause, weight * (scale / self.nodes[cause as usize].scale))
            };
            columns.push(variable, pivot / scale / scale, causes.map(weight));
        });
        Ok(())
    }
}
