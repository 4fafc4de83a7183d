//! The first pass over a block of rows: finiteness, sums and hashes.

use crate::algebra::hash::scramble;
use ndarray::{ArrayView1, ArrayView2, s};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Rows per task.
pub(super) const SLICE: usize = 128;

/// Numbers that a chunk of rows may hold: `f32` or `f64`.
pub trait Value: Sealed + Copy + Into<f64> + Send + Sync {
    /// The rows as they lie in memory, if that is row by row in double precision.
    #[doc(hidden)]
    fn as_rows<'a>(view: &ArrayView2<'a, Self>) -> Option<&'a [f64]>;
}

/// Keeps other types from being a [`Value`].
pub trait Sealed {}
impl Sealed for f64 {}
impl Sealed for f32 {}

impl Value for f64 {
    fn as_rows<'a>(view: &ArrayView2<'a, Self>) -> Option<&'a [f64]> {
        view.to_slice()
    }
}

impl Value for f32 {
    fn as_rows<'a>(_: &ArrayView2<'a, Self>) -> Option<&'a [f64]> {
        None
    }
}

/// Rows in double precision, one after another.
pub(super) fn load<'a, T: Value>(rows: &ArrayView2<'a, T>) -> Cow<'a, [f64]> {
    if let Some(values) = T::as_rows(rows) {
        return Cow::Borrowed(values);
    }
    let d = rows.ncols();
    let mut values = vec![0.0; rows.len()];
    if rows.strides()[0].unsigned_abs() < rows.strides()[1].unsigned_abs() {
        for (j, column) in rows.columns().into_iter().enumerate() {
            for (target, &value) in values[j..].iter_mut().step_by(d).zip(column) {
                *target = value.into();
            }
        }
    } else {
        for (target, row) in values.chunks_exact_mut(d).zip(rows.rows()) {
            for (target, &value) in target.iter_mut().zip(row) {
                *target = value.into();
            }
        }
    }
    Cow::Owned(values)
}

/// The first finite entry of each column: usually the first row.
pub(super) fn first_row<T: Value>(rows: &ArrayView2<T>) -> Vec<f64> {
    let first = |column: ArrayView1<T>| column.iter().map(|&value| value.into()).find(|value: &f64| value.is_finite());
    rows.columns().into_iter().map(|column| first(column).unwrap_or(0.0)).collect()
}

/// The ranges of rows of the slices of a block.
pub(super) fn slices(rows: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..rows.div_ceil(SLICE)).into_par_iter().map(move |k| k * SLICE..((k + 1) * SLICE).min(rows))
}

/// Results of the first pass.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    /// Rows that are kept.
    pub rows: u64,
    /// Sum of their weights, and of the squares.
    pub weight: [f64; 2],
    /// Weighted sums of the differences from the shift.
    pub sums: Vec<f64>,
    /// Whether a row is finite and has a positive weight.
    pub kept: Vec<bool>,
    /// A hash of each row, if there is a seed.
    pub keys: Vec<u64>,
    /// Row and column of the first entry that is not finite.
    pub not_finite: Option<(usize, usize)>,
}

impl Scan {
    pub(super) fn new<T: Value>(
        rows: &ArrayView2<T>,
        weights: Option<&[f64]>,
        shift: &[f64],
        seed: Option<u64>,
    ) -> Self {
        let multipliers: Vec<u64> =
            seed.map_or(Vec::new(), |seed| (0..shift.len() as u64).map(|j| scramble(scramble(seed) ^ j) | 1).collect());
        let arch = Arch::new();
        let parts: Vec<Self> = slices(rows.nrows())
            .map(|range| {
                let values = load(&rows.slice(s![range.clone(), ..]));
                let weights = weights.map(|w| &w[range]);
                arch.dispatch(Look { values: &values, weights, shift, multipliers: &multipliers })
            })
            .collect();
        // In the order of the rows, not of the threads.
        let mut all = Self::none(shift.len());
        for part in parts {
            let before = all.kept.len();
            all.rows += part.rows;
            all.weight = [all.weight[0] + part.weight[0], all.weight[1] + part.weight[1]];
            all.sums.iter_mut().zip(&part.sums).for_each(|(all, part)| *all += part);
            all.not_finite = all.not_finite.or(part.not_finite.map(|(row, column)| (before + row, column)));
            all.kept.extend(part.kept);
            all.keys.extend(part.keys);
        }
        all
    }

    fn none(columns: usize) -> Self {
        Self {
            rows: 0,
            weight: [0.0; 2],
            sums: vec![0.0; columns],
            kept: Vec::new(),
            keys: Vec::new(),
            not_finite: None,
        }
    }
}

/// The first pass over a slice of rows.
struct Look<'a> {
    values: &'a [f64],
    weights: Option<&'a [f64]>,
    shift: &'a [f64],
    /// Multipliers of the hashes; empty if none are wanted.
    multipliers: &'a [u64],
}

impl WithSimd for Look<'_> {
    type Output = Scan;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Scan {
        let mut scan = Scan::none(self.shift.len());
        for (k, row) in self.values.chunks_exact(self.shift.len()).enumerate() {
            // Integer operations, which the compiler may reorder and vectorise.
            let strange = row.iter().fold(0, |any, value| any | u64::from(!value.is_finite()));
            let weight = self.weights.map_or(1.0, |w| w[k]);
            if strange != 0 && scan.not_finite.is_none() {
                scan.not_finite = row.iter().position(|value| !value.is_finite()).map(|column| (k, column));
            }
            let kept = strange == 0 && weight > 0.0;
            scan.kept.push(kept);
            if !self.multipliers.is_empty() {
                scan.keys.push(key(row, self.multipliers));
            }
            if !kept {
                continue;
            }
            scan.rows += 1;
            scan.weight = [scan.weight[0] + weight, scan.weight[1] + weight * weight];
            for ((sum, value), shift) in scan.sums.iter_mut().zip(row).zip(self.shift) {
                *sum += weight * (value - shift);
            }
        }
        scan
    }
}

/// A hash that depends on every entry: the multilinear one of Carter and Wegman (1979), then mixed.
#[inline(always)]
fn key(row: &[f64], multipliers: &[u64]) -> u64 {
    const LOWER: u64 = (1 << 32) - 1;
    // The product of 64 bits from those of 32, of which several are made at a time.
    let (mut lower, mut upper) = (0u64, 0u64);
    for (value, multiplier) in row.iter().zip(multipliers) {
        // Zero has one sign; and round numbers differ in their upper bits alone, which a product would lose.
        let bits = (value + 0.0).to_bits();
        let (low, high) = ((bits ^ (bits >> 32)) & LOWER, bits >> 32);
        lower = lower.wrapping_add(low * (multiplier & LOWER));
        upper = upper.wrapping_add(low * (multiplier >> 32)).wrapping_add(high * (multiplier & LOWER));
    }
    scramble(lower.wrapping_add(upper << 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_sum_of_products_of_64_bits() {
        let bits = |seed: u64| (0..37).map(move |j| scramble(scramble(seed) ^ j));
        let row: Vec<f64> = bits(1).map(f64::from_bits).chain([0.0, -0.0, 1.0, -2.5]).collect();
        let multipliers: Vec<u64> = bits(2).chain(bits(3)).take(row.len()).collect();
        let folded = row.iter().map(|value| (value + 0.0).to_bits()).map(|bits| bits ^ (bits >> 32));
        let sum = folded.zip(&multipliers).fold(0u64, |sum, (x, m)| sum.wrapping_add(x.wrapping_mul(*m)));
        assert_eq!(key(&row, &multipliers), scramble(sum));
    }
}
