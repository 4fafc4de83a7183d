//! Centred rows in strips of a few columns, the layout that the products read.

use super::product::{TALL, WIDE};
use super::scan::{Value, load};
use ndarray::ArrayView2;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows that are packed at a time: few enough for two strips of them to stay in the nearest cache during a product.
pub(super) const DEPTH: usize = 192;
/// Columns that are packed together: the fewest that are whole strips of either factor.
pub(super) const GROUP: usize = 24;
/// Columns that are packed by one thread.
const SPAN: usize = 4 * GROUP;
/// Rows that are transposed together, so that a strip is written in whole cache lines.
const BESIDE: usize = 16;
/// Numbers in a line of the cache.
const LINE: usize = 8;

/// Some rows: strip by strip, row by row, and the columns of the strip.
pub(super) struct Packed {
    /// How many rows.
    depth: usize,
    /// The right factor of all products.
    centred: Aligned,
    /// Times the weights: the left factor.
    weighted: Aligned,
    /// Squared, times the weights.
    squared: Option<Aligned>,
}

impl Packed {
    pub(super) fn new(columns: usize, squared: bool) -> Self {
        let zeros = || Aligned::zeros(columns.next_multiple_of(GROUP) * DEPTH);
        Self { depth: 0, centred: zeros(), weighted: zeros(), squared: squared.then(zeros) }
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn centred(&self) -> &[f64] {
        self.centred.get()
    }

    pub(super) fn weighted(&self) -> &[f64] {
        self.weighted.get()
    }

    pub(super) fn squared(&self) -> Option<&[f64]> {
        self.squared.as_ref().map(Aligned::get)
    }

    /// Pack `x − shift − mean`; rows that are not kept are packed as zeros, which add nothing.
    pub(super) fn fill<T: Value>(
        &mut self,
        rows: &ArrayView2<T>,
        weights: Option<&[f64]>,
        kept: &[bool],
        shift: &[f64],
        mean: &[f64],
    ) {
        let arch = Arch::new();
        self.depth = rows.nrows();
        let values = load(rows);
        let weight = |(k, &kept)| if kept { weights.map_or(1.0, |w: &[f64]| w[k]) } else { 0.0 };
        let weights: Vec<f64> = kept.iter().enumerate().map(weight).collect();
        let squared: Vec<&mut [f64]> = match &mut self.squared {
            Some(squared) => squared.get_mut().chunks_mut(SPAN * DEPTH).collect(),
            None => shift.chunks(SPAN).map(|_| &mut [][..]).collect(),
        };
        self.centred
            .get_mut()
            .par_chunks_mut(SPAN * DEPTH)
            .zip(self.weighted.get_mut().par_chunks_mut(SPAN * DEPTH))
            .zip(squared)
            .enumerate()
            .for_each(|(span, ((centred, weighted), squared))| {
                arch.dispatch(Span {
                    rows: Rows { values: &values, weights: &weights, shift, mean },
                    first: span * SPAN,
                    centred: centred.as_chunks_mut().0,
                    weighted: weighted.as_chunks_mut().0,
                    squared: squared.as_chunks_mut().0,
                });
            });
    }
}

/// Numbers aligned to cache lines, so that no vector crosses two.
struct Aligned {
    data: Vec<f64>,
    start: usize,
}

impl Aligned {
    fn zeros(len: usize) -> Self {
        let data = vec![0.0; len + LINE];
        let start = data.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Self { data, start }
    }

    fn get(&self) -> &[f64] {
        &self.data[self.start..self.start + self.data.len() - LINE]
    }

    fn get_mut(&mut self) -> &mut [f64] {
        let end = self.start + self.data.len() - LINE;
        &mut self.data[self.start..end]
    }
}

/// Rows that are packed together.
struct Rows<'a> {
    values: &'a [f64],
    /// Zero where a row is not kept.
    weights: &'a [f64],
    shift: &'a [f64],
    mean: &'a [f64],
}

/// Some columns of them, from the first on, read once for all factors.
struct Span<'a> {
    rows: Rows<'a>,
    first: usize,
    centred: &'a mut [[f64; WIDE]],
    weighted: &'a mut [[f64; TALL]],
    /// Empty without third moments.
    squared: &'a mut [[f64; TALL]],
}

impl WithSimd for Span<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Rows { values, weights, shift, mean } = self.rows;
        let columns = shift.len();
        let range = self.first..(self.first + SPAN).min(columns);
        let (shift, mean) = (&shift[range.clone()], &mean[range.clone()]);
        let mut beside = [[0.0; SPAN]; BESIDE];
        for (block, (values, weights)) in values.chunks(BESIDE * columns).zip(weights.chunks(BESIDE)).enumerate() {
            // Centre first, reading memory in order.
            for ((y, row), &weight) in beside.iter_mut().zip(values.chunks_exact(columns)).zip(weights) {
                if weight > 0.0 {
                    for (((y, x), shift), mean) in y.iter_mut().zip(&row[range.clone()]).zip(shift).zip(mean) {
                        *y = (x - shift) - mean;
                    }
                } else {
                    y.fill(0.0);
                }
            }
            let centred = self.centred.chunks_exact_mut(GROUP / WIDE * DEPTH);
            let weighted = self.weighted.chunks_exact_mut(GROUP / TALL * DEPTH);
            let mut squared = self.squared.chunks_exact_mut(GROUP / TALL * DEPTH);
            for (group, (centred, weighted)) in centred.zip(weighted).enumerate() {
                let mut squared = squared.next();
                for (k, (y, &weight)) in beside.iter().zip(weights).enumerate() {
                    let y: [f64; GROUP] = y.as_chunks().0[group];
                    let k = block * BESIDE + k;
                    scatter(&y, centred, k);
                    let weighted_y = y.map(|y| weight * y);
                    scatter(&weighted_y, weighted, k);
                    if let Some(squared) = &mut squared {
                        let mut weighted_square = weighted_y;
                        weighted_square.iter_mut().zip(y).for_each(|(square, y)| *square *= y);
                        scatter(&weighted_square, squared, k);
                    }
                }
            }
        }
    }
}

/// Write a row of a group into its strips.
#[inline(always)]
fn scatter<const WIDTH: usize>(row: &[f64; GROUP], strips: &mut [[f64; WIDTH]], k: usize) {
    let (parts, _) = row.as_chunks::<WIDTH>();
    for (strip, part) in strips.chunks_exact_mut(DEPTH).zip(parts) {
        strip[k] = *part;
    }
}
