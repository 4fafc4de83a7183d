//! Sparse matrices by rows, assembled in two passes: count the entries of each row, then put them in their places.
//!
//! [`Counts`] takes entries in any order; [`Csr::from_rows`] takes whole rows, and fills them in parallel.

use crate::parallel::{CHUNK, Pieces, balanced_ranges, for_each_block};
use sprs::CsMat;

/// `[0, x₀, x₀ + x₁, …]`: where each row begins, and where the last one ends.
pub(crate) fn running_sum(lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let lengths = lengths.into_iter();
    let mut offsets = Vec::with_capacity(lengths.size_hint().0 + 1);
    offsets.push(0);
    let mut end = 0;
    for length in lengths {
        end += length;
        offsets.push(end);
    }
    offsets
}

/// The first pass: how many entries each row has.
///
/// Between the two passes the caller may ask for the [`total`](Self::total) and check that it fits into memory.
#[derive(Debug)]
pub(crate) struct Counts {
    offsets: Vec<usize>,
}

impl Counts {
    /// Count how often each row occurs.
    pub fn new(rows: usize, entries: impl Iterator<Item = usize>) -> Self {
        let mut offsets = vec![0; rows + 1];
        for row in entries {
            offsets[row + 1] += 1;
        }
        for i in 0..rows {
            offsets[i + 1] += offsets[i];
        }
        Self { offsets }
    }

    /// Number of entries.
    pub fn total(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Sort items by rows; those of a row keep their order. Returns where each row begins, and the items.
    pub fn place<T: Copy + Default>(self, items: impl Iterator<Item = (usize, T)>) -> (Vec<usize>, Vec<T>) {
        let mut next = self.offsets.clone();
        let mut placed = vec![T::default(); self.total()];
        for (row, item) in items {
            placed[next[row]] = item;
            next[row] += 1;
        }
        (self.offsets, placed)
    }

    /// The second pass: put entries (row, column, value) in their places; those of a row keep their order.
    pub fn fill<I: Copy + Default>(self, entries: impl Iterator<Item = (usize, I, f64)>) -> Csr<I> {
        let mut next = self.offsets.clone();
        let (mut indices, mut values) = (vec![I::default(); self.total()], vec![0.0; self.total()]);
        for (row, column, value) in entries {
            let slot = &mut next[row];
            (indices[*slot], values[*slot]) = (column, value);
            *slot += 1;
        }
        Csr { offsets: self.offsets, indices, values }
    }
}

/// A matrix by rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Csr<I> {
    /// Where each row begins, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The column of each entry.
    pub indices: Vec<I>,
    pub values: Vec<f64>,
}

impl<I> Csr<I> {
    /// The columns and the values of a row.
    pub fn row(&self, i: usize) -> (&[I], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }
}

impl<I: Copy + Default + Ord + Send> Csr<I> {
    /// Assemble rows of known lengths in parallel. `fill(i, row)` appends the entries of row `i` in any order.
    pub fn from_rows(
        lengths: impl IntoIterator<Item = usize>,
        fill: impl Fn(usize, &mut Vec<(I, f64)>) + Sync,
    ) -> Self {
        let offsets = running_sum(lengths);
        let total = offsets[offsets.len() - 1];
        let blocks = balanced_ranges(offsets.windows(2).map(|w| w[1] - w[0] + 1), CHUNK);
        let ends: Vec<usize> = blocks.iter().map(|block| offsets[block.end]).collect();
        let (mut indices, mut values) = (vec![I::default(); total], vec![0.0; total]);
        let out = (Pieces::new(&mut indices, &ends), Pieces::new(&mut values, &ends));
        for_each_block(&blocks, out, &|block, (indices, values)| {
            let mut slots = indices.into_slice().iter_mut().zip(values.into_slice());
            let mut row = Vec::new();
            for i in block.clone() {
                fill(i, &mut row);
                debug_assert_eq!(row.len(), offsets[i + 1] - offsets[i], "row {i} is as long as announced");
                row.sort_unstable_by_key(|&(column, _)| column);
                for (entry, (column, value)) in row.drain(..).zip(slots.by_ref()) {
                    (*column, *value) = entry;
                }
            }
        });
        Self { offsets, indices, values }
    }

    /// Sort each row by columns; rows that are sorted already cost one comparison for each entry.
    pub fn sorted(mut self) -> Self {
        let mut row = Vec::new();
        for bounds in self.offsets.windows(2) {
            let (indices, values) = (&mut self.indices[bounds[0]..bounds[1]], &mut self.values[bounds[0]..bounds[1]]);
            if indices.is_sorted() {
                continue;
            }
            row.clear();
            row.extend(indices.iter().copied().zip(values.iter().copied()));
            row.sort_unstable_by_key(|&(column, _)| column);
            for ((index, value), &entry) in indices.iter_mut().zip(values).zip(&row) {
                (*index, *value) = entry;
            }
        }
        self
    }
}

impl Csr<usize> {
    /// A square matrix. Its rows must be sorted and have no column twice.
    pub fn into_square(self) -> CsMat<f64> {
        let d = self.offsets.len() - 1;
        CsMat::new((d, d), self.offsets, self.indices, self.values)
    }
}

/// A sparse matrix from its entries (row, column, value) in any order; no place may come twice.
pub(crate) fn from_entries<E: Iterator<Item = (usize, usize, f64)>>(
    shape: (usize, usize),
    entries: impl Fn() -> E,
) -> CsMat<f64> {
    let counts = Counts::new(shape.0, entries().map(|(row, ..)| row));
    let Csr { offsets, indices, values } = counts.fill(entries()).sorted();
    CsMat::new(shape, offsets, indices, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sprs::TriMat;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn every_way_gives_what_triplets_give(
            d in 1_usize..20, entries in prop::collection::vec((0_usize..20, 0_usize..20, -1.0..1.0_f64), 0..80),
        ) {
            // Each place once, but in the order in which they were drawn.
            let mut places = BTreeSet::new();
            let entries: Vec<_> = entries
                .into_iter()
                .filter(|(i, j, _)| i.max(j) < &d && places.insert((*i, *j)))
                .collect();
            let mut triplets = TriMat::new((d, d));
            for &(i, j, v) in &entries {
                triplets.add_triplet(i, j, v);
            }
            let expected: CsMat<f64> = triplets.to_csr();
            let count = || Counts::new(d, entries.iter().map(|e| e.0));
            prop_assert_eq!(count().total(), entries.len());
            prop_assert_eq!(from_entries((d, d), || entries.iter().copied()), expected.clone());
            let (offsets, placed) = count().place(entries.iter().map(|&(i, j, v)| (i, (j, v))));
            let rows = Csr::from_rows(offsets.windows(2).map(|w| w[1] - w[0]), |i, row| {
                row.extend_from_slice(&placed[offsets[i]..offsets[i + 1]]);
            });
            prop_assert_eq!(rows.into_square(), expected);
        }
    }

    #[test]
    fn sums_run_from_zero() {
        assert_eq!(running_sum([3, 0, 2]), [0, 3, 3, 5]);
        assert_eq!(running_sum([]), [0]);
    }
}
