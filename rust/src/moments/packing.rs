//! Centred rows in strips of a few columns, as the products want them.

use super::product::{STRIP, strips};
use super::scan::{SLICE, Value, load, slices};
use ndarray::{ArrayView2, s};
use pulp::Arch;
use rayon::prelude::*;

/// Numbers that are packed at a time, so few that a tile's strips are still near when the next tile wants them.
const PACKED: usize = 1 << 17;
/// Slices that are packed at a time, at least: enough to share among threads.
const FEWEST: usize = 2;

/// Some rows: slice by slice, strip by strip, row by row, and the columns of the strip.
pub(super) struct Packed {
    columns: usize,
    slices: usize,
    /// Rows of each slice.
    depths: Vec<usize>,
    centred: Vec<f64>,
    /// Times the weights, if there are any.
    weighted: Option<Vec<f64>>,
    /// Squared, times the weights.
    squared: Option<Vec<f64>>,
}

impl Packed {
    /// Room for at most `rows` rows.
    pub(super) fn new(columns: usize, rows: usize, weighted: bool, squared: bool) -> Self {
        let slices = (PACKED / (columns * SLICE)).max(FEWEST).min(rows.div_ceil(SLICE));
        let zeros = || vec![0.0; slices * Self::slice_len(columns)];
        Self {
            columns,
            slices,
            depths: Vec::new(),
            centred: zeros(),
            weighted: weighted.then(zeros),
            squared: squared.then(zeros),
        }
    }

    /// Numbers in a slice.
    fn slice_len(columns: usize) -> usize {
        strips(columns) * SLICE * STRIP
    }

    /// Rows that are packed at a time.
    pub(super) fn height(&self) -> usize {
        self.slices * SLICE
    }

    /// Rows of each slice that is filled.
    pub(super) fn depths(&self) -> &[usize] {
        &self.depths
    }

    pub(super) fn centred(&self) -> &[f64] {
        &self.centred
    }

    pub(super) fn weighted(&self) -> &[f64] {
        self.weighted.as_deref().unwrap_or(&self.centred)
    }

    pub(super) fn squared(&self) -> Option<&[f64]> {
        self.squared.as_deref()
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
        let (columns, len) = (self.columns, Self::slice_len(self.columns));
        let arch = Arch::new();
        self.depths = slices(rows.nrows()).map(|range| range.len()).collect();
        let weighted = pieces(self.weighted.as_mut(), len, self.slices);
        let squared = pieces(self.squared.as_mut(), len, self.slices);
        self.centred.par_chunks_exact_mut(len).zip(weighted).zip(squared).zip(slices(rows.nrows())).for_each(
            |(((centred, weighted), squared), range)| {
                let values = load(&rows.slice(s![range.clone(), ..]));
                let (weights, kept) = (weights.map(|w| &w[range.clone()]), &kept[range]);
                arch.dispatch(|| {
                    centre(&values, columns, kept, shift, mean, centred);
                    if let Some(weighted) = weighted {
                        weigh(centred, weights, 1, weighted);
                    }
                    if let Some(squared) = squared {
                        weigh(centred, weights, 2, squared);
                    }
                });
            },
        );
    }
}

/// The slices of a buffer that need not be there.
fn pieces(buffer: Option<&mut Vec<f64>>, len: usize, count: usize) -> Vec<Option<&mut [f64]>> {
    match buffer {
        Some(buffer) => buffer.chunks_exact_mut(len).map(Some).collect(),
        None => (0..count).map(|_| None).collect(),
    }
}

#[inline(always)]
fn centre(values: &[f64], columns: usize, kept: &[bool], shift: &[f64], mean: &[f64], centred: &mut [f64]) {
    for (k, (row, &kept)) in values.chunks_exact(columns).zip(kept).enumerate() {
        let parts = row.chunks(STRIP).zip(shift.chunks(STRIP)).zip(mean.chunks(STRIP));
        for (strip, ((row, shift), mean)) in centred.chunks_exact_mut(SLICE * STRIP).zip(parts) {
            let target = &mut strip[k * STRIP..(k + 1) * STRIP];
            if kept {
                for (((target, x), shift), mean) in target.iter_mut().zip(row).zip(shift).zip(mean) {
                    *target = (x - shift) - mean;
                }
            } else {
                target.fill(0.0);
            }
        }
    }
}

/// Multiply a power of the rows by their weights.
#[inline(always)]
fn weigh(centred: &[f64], weights: Option<&[f64]>, power: i32, out: &mut [f64]) {
    for (centred, out) in centred.chunks_exact(SLICE * STRIP).zip(out.chunks_exact_mut(SLICE * STRIP)) {
        for (k, (row, out)) in centred.chunks_exact(STRIP).zip(out.chunks_exact_mut(STRIP)).enumerate() {
            let weight = weights.map_or(1.0, |w| w.get(k).copied().unwrap_or(0.0));
            for (out, y) in out.iter_mut().zip(row) {
                *out = weight * if power == 1 { *y } else { y * y };
            }
        }
    }
}
