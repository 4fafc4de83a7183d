//! Elimination of a dense Θ: a Cholesky factorisation in panels, with the smallest diagonal entry as the next pivot.
//!
//! A panel of pivots is found first: for each the one column that is needed is brought up to date, and with it all
//! diagonal entries, among which the next pivot is looked for. Then all that remains is brought up to date at once by a
//! matrix product (as LAPACK's `dpstrf` does for the largest entry).
//!
//! Variables are not exchanged one by one, which would walk down two columns of the matrix for each. When a panel is
//! complete, the last variables move to the places of its pivots, all at once and row by row, and the rows that they
//! leave take the panel's columns of the factor. So what remains shrinks towards the first row, the factor grows from
//! the last one, and both share one matrix.

use super::check_pivot;
use super::dense::DenseTheta;
use super::factor::Factor;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::{ArrayView2, ArrayViewMut2, linalg::general_mat_mul, s};
use rayon::prelude::*;

/// Pivots in a panel: more of them make better use of what the product reads, but are looked for one by one.
const PANEL: usize = 128;
/// Rows that one task of the matrix product updates.
const ROWS: usize = 256;
/// Entries of a column that one task brings up to date.
const ENTRIES: usize = 1024;

impl DenseTheta {
    /// Eliminate all variables.
    pub fn factorise(self, interrupt: &Interrupt) -> Result<Factor, IcidError> {
        let d = self.names.len();
        let mut remaining = Remaining {
            size: d,
            variables: (0..d as u32).collect(),
            diagonal: (0..d).map(|i| self.lower[i * d + i]).collect(),
            panel: vec![0.0; d * PANEL.min(d)],
            chosen: Vec::with_capacity(PANEL),
            theta: self,
        };
        let mut order = Vec::with_capacity(d);
        while remaining.size > 0 {
            interrupt.check()?;
            for _ in 0..PANEL.min(remaining.size) {
                order.push(remaining.next_pivot()?);
            }
            remaining.close_panel();
            remaining.update();
        }
        order.reverse();
        let DenseTheta { names, scale, lower, .. } = remaining.theta;
        Ok(Factor::new(names, scale, order, lower))
    }
}

/// The inverse covariance of the variables that are not yet eliminated, in the first rows of Θ.
struct Remaining {
    theta: DenseTheta,
    /// How many places are taken.
    size: usize,
    /// The variable in each place.
    variables: Vec<u32>,
    /// The diagonal entry in each place, brought up to date with each pivot; infinite for a pivot.
    diagonal: Vec<f64>,
    /// Columns of the factor, by places.
    panel: Vec<f64>,
    /// The places of the panel's pivots, and the square roots of these.
    chosen: Vec<(usize, f64)>,
}

impl Remaining {
    /// Choose the next pivot, and compute its column of the factor.
    fn next_pivot(&mut self) -> Result<u32, IcidError> {
        let (d, size, place) = (self.theta.names.len(), self.size, self.next_place());
        let variable = self.variables[place];
        let (pivot, name) = (self.diagonal[place], self.theta.names[variable as usize]);
        check_pivot(pivot, self.theta.original[variable as usize], name)?;
        if let Some(waiting) = &mut self.theta.waiting {
            waiting.finish(name, |_| ());
        }
        let root = pivot.sqrt();
        self.diagonal[place] = f64::INFINITY;
        let (known, column) = self.panel.split_at_mut(self.chosen.len() * d);
        let lower = &self.theta.lower;
        let chunks = column[..size].par_chunks_mut(ENTRIES).zip(self.diagonal[..size].par_chunks_mut(ENTRIES));
        chunks.enumerate().for_each(|(chunk, (column, diagonal))| {
            let first = chunk * ENTRIES;
            for (i, entry) in (first..).zip(column.iter_mut()) {
                *entry = if i < place { lower[place * d + i] } else { lower[i * d + place] };
            }
            subtract(known, d, place, first, column);
            for (entry, diagonal) in column.iter_mut().zip(diagonal) {
                *entry = if diagonal.is_finite() { *entry / root } else { 0.0 };
                *diagonal -= *entry * *entry;
            }
        });
        self.chosen.push((place, root));
        Ok(variable)
    }

    fn next_place(&self) -> usize {
        let DenseTheta { names, pivoted, waiting, .. } = &self.theta;
        let last = self.size - 1 - self.chosen.len();
        if !pivoted {
            return last;
        }
        let smaller = |best: usize, i: usize| if self.diagonal[i] < self.diagonal[best] { i } else { best };
        match waiting {
            None => (0..self.size).reduce(smaller).unwrap_or(last),
            Some(waiting) => {
                let is_free =
                    |&i: &usize| self.diagonal[i].is_finite() && waiting.is_free(names[self.variables[i] as usize]);
                (0..self.size).filter(is_free).reduce(smaller).unwrap_or(last)
            }
        }
    }

    /// Move the last variables to the places of the panel's pivots, and the panel to where these were.
    fn close_panel(&mut self) {
        let d = self.theta.names.len();
        let kept = self.size - self.chosen.len();
        let is_chosen = |place: usize| self.diagonal[place].is_infinite();
        let holes = (0..kept).filter(|&place| is_chosen(place));
        let movers = (kept..self.size).filter(|&place| !is_chosen(place));
        let moves: Vec<(usize, usize)> = holes.zip(movers).collect();
        let (front, tail) = self.theta.lower.split_at_mut(kept * d);
        front.par_chunks_exact_mut(d).enumerate().for_each(|(i, row)| {
            let earlier = moves.partition_point(|&(hole, _)| hole < i);
            let mut column = i;
            if let Some(&(_, mover)) = moves.get(earlier).filter(|&&(hole, _)| hole == i) {
                row[..i].copy_from_slice(&tail[(mover - kept) * d..][..i]);
                column = mover;
            }
            for &(hole, mover) in &moves[..earlier] {
                // Movers are in the order of their holes, so that the one of this row is the later.
                let (later, sooner) = (mover.max(column), mover.min(column));
                row[hole] = tail[(later - kept) * d + sooner];
            }
        });
        for (row, (column, &(place, root))) in
            tail.chunks_exact_mut(d).take(self.chosen.len()).rev().zip(self.panel.chunks_exact(d).zip(&self.chosen))
        {
            row.fill(0.0);
            for (&variable, &entry) in self.variables[..self.size].iter().zip(column) {
                row[variable as usize] = entry;
            }
            row[self.variables[place] as usize] = root;
        }
        for &(hole, mover) in &moves {
            self.variables[hole] = self.variables[mover];
            self.diagonal[hole] = self.diagonal[mover];
            for column in self.panel.chunks_exact_mut(d).take(self.chosen.len()) {
                column[hole] = column[mover];
            }
        }
        self.size = kept;
    }

    /// Subtract the product of the panel with itself from the rest of the matrix.
    fn update(&mut self) {
        let (d, size, width) = (self.theta.names.len(), self.size, self.chosen.len());
        self.chosen.clear();
        let panel = ArrayView2::from_shape((width, d), &self.panel[..width * d]).expect("a row for each pivot");
        self.theta.lower[..size * d].par_chunks_mut(ROWS * d).enumerate().for_each(|(block, rows)| {
            let (first, count) = (block * ROWS, rows.len() / d);
            let last = first + count;
            let mut rows = ArrayViewMut2::from_shape((count, d), rows).expect("whole rows");
            let mut left = rows.slice_mut(s![.., ..last]);
            general_mat_mul(-1.0, &panel.slice(s![.., first..last]).t(), &panel.slice(s![.., ..last]), 1.0, &mut left);
        });
    }
}

/// Bring a part of a column, from place `first` on, up to date with the earlier columns of the panel, of length `d` each.
fn subtract(known: &[f64], d: usize, place: usize, first: usize, column: &mut [f64]) {
    let (count, len) = (known.len() / d, column.len());
    let part = |k: usize| (&known[k * d + first..][..len], known[k * d + place]);
    // Four at a time, for the column is read and written each time.
    for k in (0..count - count % 4).step_by(4) {
        let [(a, u), (b, v), (c, w), (e, x)] = [k, k + 1, k + 2, k + 3].map(part);
        for (i, entry) in column.iter_mut().enumerate() {
            *entry -= (a[i] * u + b[i] * v) + (c[i] * w + e[i] * x);
        }
    }
    for k in count - count % 4..count {
        let (a, u) = part(k);
        for (entry, x) in column.iter_mut().zip(a) {
            *entry -= x * u;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::*;
    use crate::algebra::hash::scramble;
    use ndarray::Array2;

    /// A positive definite matrix without zeros, and without two diagonal entries that are the same.
    fn theta(d: usize) -> Array2<f64> {
        let number = |k: usize| scramble(k as u64) as f64 / u64::MAX as f64 - 0.5;
        let root = Array2::from_shape_fn((d, d), |(i, j)| number(i * d + j) + if i == j { 4.0 } else { 0.0 });
        root.dot(&root.t())
    }

    /// The variables as they are eliminated, and the columns of the factor, by the book.
    fn by_the_book(
        mut theta: Array2<f64>,
        mut next: impl FnMut(&Array2<f64>, &[usize]) -> usize,
    ) -> Vec<(usize, Vec<f64>)> {
        let mut left: Vec<usize> = (0..theta.nrows()).collect();
        let mut columns = Vec::new();
        while !left.is_empty() {
            let pivot = next(&theta, &left);
            let mut column = vec![0.0; theta.nrows()];
            for &i in &left {
                column[i] = theta[[i, pivot]] / theta[[pivot, pivot]].sqrt();
            }
            left.retain(|&i| i != pivot);
            for (&i, &j) in left.iter().flat_map(|i| left.iter().map(move |j| (i, j))) {
                theta[[i, j]] -= column[i] * column[j];
            }
            columns.push((pivot, column));
        }
        columns
    }

    /// By the caller's names, the first eliminated first, whatever the scaling.
    fn assert_same(factor: &Factor, expected: &[(usize, Vec<f64>)]) {
        let mut eliminated = Vec::new();
        factor.for_each_column(|name, _, causes| {
            let mut weights = vec![0.0; expected.len()];
            causes.for_each(|(cause, weight)| weights[cause as usize] = weight);
            eliminated.push((name as usize, weights));
        });
        assert_eq!(eliminated.len(), expected.len());
        for ((name, weights), (pivot, column)) in eliminated.iter().zip(expected) {
            assert_eq!(name, pivot);
            for (i, (weight, entry)) in weights.iter().zip(column).enumerate().filter(|&(i, _)| i != *pivot) {
                assert!((weight + entry / column[*pivot]).abs() < 1e-9, "variable {pivot}, cause {i}");
            }
        }
    }

    #[test]
    fn panels_do_what_one_elimination_after_another_does() {
        let sizes = [1, 2, 3, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 1, 3 * PANEL + 5];
        for d in sizes {
            let theta = theta(d);
            let smallest = |theta: &Array2<f64>, left: &[usize]| {
                left.iter().copied().min_by(|&i, &j| theta[[i, i]].total_cmp(&theta[[j, j]])).unwrap()
            };
            let expected = by_the_book(theta.clone(), smallest);
            let rule = Rule::SmallestPivot { noise_variances: None };
            let found = DenseTheta::new(&theta.view(), rule).unwrap().factorise(&Interrupt::default()).unwrap();
            assert_same(&found, &expected);
        }
    }

    #[test]
    fn along_an_order_the_last_comes_first() {
        // Not divisible by seven, so that its multiples are an order.
        for d in [1, PANEL, 2 * PANEL + 5] {
            let theta = theta(d);
            let order: Vec<usize> = (0..d).map(|i| (7 * i + 3) % d).collect();
            let mut rest = order.clone();
            let mut expected = by_the_book(theta.clone(), |_, _| rest.pop().unwrap());
            // The diagonal is brought to one.
            for (i, entry) in expected.iter_mut().flat_map(|(_, column)| column.iter_mut().enumerate()) {
                *entry /= theta[[i, i]].sqrt();
            }
            let found = DenseTheta::new(&theta.view(), Rule::Along(&order)).unwrap();
            assert_same(&found.factorise(&Interrupt::default()).unwrap(), &expected);
        }
    }
}
