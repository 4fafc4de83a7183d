//! Centred rows in strips of a few columns, as the products want them.

use super::product::{TALL, WIDE, slice_len};
use super::scan::{SLICE, Value, load, slices};
use ndarray::{ArrayView2, s};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Slices that are packed at a time: enough to share among threads, and for few columns still near when they are used.
const SLICES: usize = 4;
/// Rows that are packed at a time.
pub(super) const HEIGHT: usize = SLICES * SLICE;
/// Rows that are read side by side, so that a strip is written by the cache line, not by the row.
const BESIDE: usize = 8;

/// Numbers in a line of the cache.
const LINE: usize = 8;

/// Some rows: slice by slice, strip by strip, row by row, and the columns of the strip.
pub(super) struct Packed {
    columns: usize,
    /// Rows of each slice.
    depths: Vec<usize>,
    /// The right factor of all products.
    centred: Aligned,
    /// Times the weights: the left factor.
    weighted: Aligned,
    /// Squared, times the weights.
    squared: Option<Aligned>,
}

impl Packed {
    pub(super) fn new(columns: usize, squared: bool) -> Self {
        let zeros = |width| Aligned::zeros(SLICES * slice_len(columns, width));
        Self {
            columns,
            depths: Vec::new(),
            centred: zeros(WIDE),
            weighted: zeros(TALL),
            squared: squared.then(|| zeros(TALL)),
        }
    }

    /// Rows of each slice that is filled.
    pub(super) fn depths(&self) -> &[usize] {
        &self.depths
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
        self.depths = slices(rows.nrows()).map(|range| range.len()).collect();
        let (wide, tall) = (slice_len(self.columns, WIDE), slice_len(self.columns, TALL));
        let squared: Vec<Option<&mut [f64]>> = match &mut self.squared {
            Some(squared) => squared.get_mut().chunks_exact_mut(tall).map(Some).collect(),
            None => (0..SLICES).map(|_| None).collect(),
        };
        self.centred
            .get_mut()
            .par_chunks_exact_mut(wide)
            .zip(self.weighted.get_mut().par_chunks_exact_mut(tall))
            .zip(squared)
            .zip(slices(rows.nrows()))
            .for_each(|(((centred, weighted), squared), range)| {
                let values = load(&rows.slice(s![range.clone(), ..]));
                let weights = range.map(|k| if kept[k] { weights.map_or(1.0, |w| w[k]) } else { 0.0 });
                let slice = Slice { values: &values, weights: &weights.collect::<Vec<_>>(), shift, mean };
                arch.dispatch(Strips::<WIDE, 0> { slice, out: centred });
                arch.dispatch(Strips::<TALL, 1> { slice, out: weighted });
                if let Some(squared) = squared {
                    arch.dispatch(Strips::<TALL, 2> { slice, out: squared });
                }
            });
    }
}

/// Numbers that begin with a cache line, so that no vector lies across two.
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
#[derive(Clone, Copy)]
struct Slice<'a> {
    values: &'a [f64],
    /// Zero where a row is not kept.
    weights: &'a [f64],
    shift: &'a [f64],
    mean: &'a [f64],
}

/// Strips of a slice that are to be filled with `y`, `w y` or `w y²`.
struct Strips<'a, const WIDTH: usize, const POWER: u8> {
    slice: Slice<'a>,
    out: &'a mut [f64],
}

impl<const WIDTH: usize, const POWER: u8> WithSimd for Strips<'_, WIDTH, POWER> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Slice { values, weights, shift, mean } = self.slice;
        let columns = shift.len();
        let rows = values.chunks(BESIDE * columns).zip(weights.chunks(BESIDE));
        for (first, (values, weights)) in rows.enumerate() {
            for (strip, out) in self.out.chunks_exact_mut(SLICE * WIDTH).enumerate() {
                let range = strip * WIDTH..((strip + 1) * WIDTH).min(columns);
                let (shift, mean) = (&shift[range.clone()], &mean[range.clone()]);
                let (out, _) = out[first * BESIDE * WIDTH..].as_chunks_mut::<WIDTH>();
                for ((row, &weight), out) in values.chunks_exact(columns).zip(weights).zip(out) {
                    let row = &row[range.clone()];
                    if weight == 0.0 {
                        out.fill(0.0);
                    } else if let (Ok(row), Ok(shift), Ok(mean)) = (row.try_into(), shift.try_into(), mean.try_into()) {
                        // Of a length that is known, which takes a few wide instructions.
                        pack::<WIDTH, POWER>(row, shift, mean, weight, out);
                    } else {
                        for (j, out) in out[..row.len()].iter_mut().enumerate() {
                            *out = value::<POWER>((row[j] - shift[j]) - mean[j], weight);
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn pack<const WIDTH: usize, const POWER: u8>(
    row: &[f64; WIDTH],
    shift: &[f64; WIDTH],
    mean: &[f64; WIDTH],
    weight: f64,
    out: &mut [f64; WIDTH],
) {
    for j in 0..WIDTH {
        out[j] = value::<POWER>((row[j] - shift[j]) - mean[j], weight);
    }
}

#[inline(always)]
fn value<const POWER: u8>(y: f64, weight: f64) -> f64 {
    match POWER {
        0 => y,
        1 => weight * y,
        _ => weight * (y * y),
    }
}
