//! Covariances of many resamples of a table's rows at once.
//!
//! Rows that come equally often in every resample are a bag. Sums of products are computed once for each bag, and every
//! resample adds up those of its bags: with a few hundred bags, all covariances together take little longer than one
//! (`benches/resamples.py`).

use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Bags must have so many rows on average to be worth their products.
const LEAST_ROWS: usize = 2;
/// Products of bags that are held at a time, for each thread.
const AT_ONCE: usize = 1 << 22;
/// Entries of covariances that are held at a time.
const MOST_ENTRIES: usize = 1 << 25;
/// A variance less than this share of the mean square, from which it is computed, is a rounding error.
const ROUNDING: f64 = 1e-13;

/// The rows of a table by bags, and how often each bag comes in each resample.
#[derive(Debug)]
pub(super) struct Bags {
    /// Less the first row of the table, so that large means cost no accuracy.
    rows: Array2<f64>,
    /// The rows of each bag.
    ranges: Vec<Range<usize>>,
    /// Of each resample (row) and bag.
    counts: Array2<f64>,
}

impl Bags {
    /// Put rows that come equally often in every resample together; nothing if too few of them do.
    ///
    /// # Errors
    /// When an entry is not finite.
    pub fn of(rows: ArrayView2<f64>, counts: ArrayView2<u16>) -> Result<Option<Self>, IcidError> {
        let most = rows.nrows() / LEAST_ROWS;
        let by_row = counts.t().as_standard_layout().into_owned();
        let (mut numbers, mut members) = (HashMap::new(), Vec::<Vec<usize>>::new());
        for (row, counts) in by_row.rows().into_iter().enumerate() {
            let counts = counts.to_slice().expect("in standard layout");
            let number = *numbers.entry(counts).or_insert(members.len());
            if number == most {
                return Ok(None);
            }
            if number == members.len() {
                members.push(Vec::new());
            }
            members[number].push(row);
        }
        if let Some(((row, column), &value)) = rows.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(IcidError::NotFinite { what: "rows", row, column, value });
        }
        ensure_room::<f64>("the rows of bags", rows.len() as u128)?;
        let order = members.concat();
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(members.len());
        for list in &members {
            let start = ranges.last().map_or(0, |range| range.end);
            ranges.push(start..start + list.len());
        }
        let firsts: Vec<usize> = members.iter().map(|list| list[0]).collect();
        let counts = by_row.select(Axis(0), &firsts).mapv(f64::from).reversed_axes().as_standard_layout().into_owned();
        let shifted = rows.select(Axis(0), &order) - rows.row(0);
        Ok(Some(Self { rows: shifted, ranges, counts }))
    }

    /// Numbers of resamples, as many at a time as fit into a fixed amount of memory.
    pub fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (resamples, d) = (self.counts.nrows(), self.rows.ncols());
        let at_once = (MOST_ENTRIES / (d * (d + 1) / 2)).max(1);
        (0..resamples).step_by(at_once).map(move |start| start..(start + at_once).min(resamples))
    }

    /// The covariances of some resamples.
    ///
    /// # Errors
    /// When interrupted, or when they do not fit into memory.
    pub fn covariances(&self, resamples: Range<usize>, interrupt: &Interrupt) -> Result<Covariances, IcidError> {
        let d = self.rows.ncols();
        ensure_room::<f64>("the covariances of resamples", (resamples.len() * d * (d + 1) / 2) as u128)?;
        let counts = self.counts.slice(s![resamples, ..]);
        let sizes = Array1::from_iter(self.ranges.iter().map(|range| range.len() as f64));
        let weights = counts.dot(&sizes);
        let mut sums = Array2::zeros((self.ranges.len(), d));
        for (mut sum, range) in sums.rows_mut().into_iter().zip(&self.ranges) {
            sum.assign(&self.rows.slice(s![range.clone(), ..]).sum_axis(Axis(0)));
        }
        let means = counts.dot(&sums) / weights.view().insert_axis(Axis(1));
        let height = (AT_ONCE / (self.ranges.len() * d)).max(1);
        let starts: Vec<usize> = (0..d).step_by(height).collect();
        let strip = |start: usize| {
            interrupt.check()?;
            Ok(self.strip(start..(start + height).min(d), counts, weights.view()))
        };
        let strips = starts.into_par_iter().map(strip).collect::<Result<_, IcidError>>()?;
        Ok(Covariances { means, height, strips })
    }

    /// Mean products of some columns with themselves and all that follow, one row for each resample.
    fn strip(&self, columns: Range<usize>, counts: ArrayView2<f64>, weights: ArrayView1<f64>) -> Array2<f64> {
        let (height, width) = (columns.len(), self.rows.ncols() - columns.start);
        let mut products = Array2::zeros((self.ranges.len(), height * width));
        for (mut products, range) in products.rows_mut().into_iter().zip(&self.ranges) {
            let right = self.rows.slice(s![range.clone(), columns.start..]);
            let left = right.slice(s![.., ..height]);
            let mut products = products.view_mut().into_shape_with_order((height, width)).expect("as many entries");
            general_mat_mul(1.0, &left.t(), &right, 0.0, &mut products);
        }
        counts.dot(&products) / weights.insert_axis(Axis(1))
    }
}

/// Covariances of resamples.
#[derive(Debug)]
pub(super) struct Covariances {
    /// One row for each resample.
    means: Array2<f64>,
    /// Columns of a strip.
    height: usize,
    /// Mean products of the columns of each strip with themselves and all that follow, one row for each resample.
    strips: Vec<Array2<f64>>,
}

impl Covariances {
    /// The covariance of a resample, by its number among these.
    pub fn get(&self, number: usize) -> Array2<f64> {
        let means = self.means.row(number);
        let d = means.len();
        let mut covariance = Array2::zeros((d, d));
        for (strip, start) in self.strips.iter().zip((0..d).step_by(self.height)) {
            let strip = strip.row(number);
            let width = d - start;
            for i in start..(start + self.height).min(d) {
                let products = strip.slice(s![(i - start) * width..(i - start + 1) * width]);
                for j in i..d {
                    let product = products[j - start];
                    let value = product - means[i] * means[j];
                    let is_rounding = i == j && value < ROUNDING * product;
                    covariance[[j, i]] = if is_rounding { 0.0 } else { value };
                }
            }
        }
        for i in 0..d {
            for j in i + 1..d {
                covariance[[i, j]] = covariance[[j, i]];
            }
        }
        covariance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;

    fn number(k: usize) -> f64 {
        scramble(k as u64) as f64 / u64::MAX as f64
    }

    #[test]
    fn covariances_are_those_of_the_rows_that_are_drawn() {
        for (n, d, bags, resamples) in [(60, 7, 11, 5), (200, 40, 30, 3), (40, 1, 20, 2)] {
            let rows = Array2::from_shape_fn((n, d), |(r, j)| 1e3 * j as f64 + number(r * d + j));
            let of_bag = |k: usize, bag: usize| 1 + scramble((100 * k + bag) as u64) as u16 % 4;
            let counts = Array2::from_shape_fn((resamples, n), |(k, r)| of_bag(k, scramble(r as u64) as usize % bags));
            let found = Bags::of(rows.view(), counts.view()).unwrap().expect("fewer bags than rows");
            assert!(found.ranges.len() <= bags);
            let covariances = found.covariances(0..resamples, &Interrupt::default()).unwrap();
            for k in 0..resamples {
                let drawn: Vec<usize> = (0..n).flat_map(|r| vec![r; counts[[k, r]].into()]).collect();
                let drawn = rows.select(Axis(0), &drawn);
                let centred = &drawn - &drawn.mean_axis(Axis(0)).unwrap();
                let expected = centred.t().dot(&centred) / drawn.nrows() as f64;
                let found = covariances.get(k);
                assert!((&found - &expected).iter().all(|error| error.abs() < 1e-12), "{found} {expected}");
                assert_eq!(found, found.t());
            }
        }
    }

    #[test]
    fn rows_that_are_drawn_one_by_one_make_no_bags() {
        let (rows, counts) = (Array2::zeros((50, 2)), Array2::from_shape_fn((9, 50), |(k, r)| (r >> k) as u16 % 2));
        assert!(Bags::of(rows.view(), counts.view()).unwrap().is_none());
        let lost = Array2::from_elem((50, 2), f64::NAN);
        let once = Array2::ones((3, 50));
        assert!(matches!(Bags::of(lost.view(), once.view()), Err(IcidError::NotFinite { row: 0, column: 0, .. })));
    }

    #[test]
    fn a_column_that_is_constant_where_it_is_drawn_has_no_variance() {
        let rows = Array2::from_shape_fn((40, 1), |(r, _)| if r < 10 { 0.3 } else { 0.1 });
        let counts = Array2::from_shape_fn((2, 40), |(k, r)| u16::from((r < 10) != (k == 1)));
        let bags = Bags::of(rows.view(), counts.view()).unwrap().expect("two bags");
        let found = bags.covariances(0..2, &Interrupt::default()).unwrap();
        assert_eq!([found.get(0)[[0, 0]], found.get(1)[[0, 0]]], [0.0; 2]);
    }
}
