//! Matrices in square tiles, and the products that fill them.
//!
//! The kernel multiplies 8 columns by 6, which takes twelve of the sixteen registers of 256 bits for sums: enough to hide
//! how long a sum takes, few enough that none waits in memory. It is compared with BLAS in `benches/moments.py`.

use super::packing::DEPTH;
use ndarray::{Array2, ArrayView2};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Columns of a strip of the left factor, and of the right one.
pub(super) const TALL: usize = 8;
pub(super) const WIDE: usize = 6;
/// Columns and rows of a tile: so many that strips are read seldom, so few that those of the right factor stay in the
/// second cache while all of the left one pass.
const EDGE: usize = 192;
/// Products of a pair of strips.
const PAIR: usize = TALL * WIDE;

/// Which tiles there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Those on and above the diagonal: the rest mirrors them.
    Upper,
    /// All.
    Full,
}

/// A square matrix in tiles, each made of the products of pairs of strips.
#[derive(Debug, Clone)]
pub(super) struct Tiles {
    columns: usize,
    shape: Shape,
    /// Rows and columns of tiles, one column after another: tiles that are next to each other share the right factor.
    places: Vec<(usize, usize)>,
    data: Vec<f64>,
}

impl Tiles {
    pub(super) fn zeros(columns: usize, shape: Shape) -> Self {
        let edge = columns.div_ceil(EDGE);
        let height = |j: usize| if shape == Shape::Upper { j + 1 } else { edge };
        let places: Vec<_> = (0..edge).flat_map(|j| (0..height(j)).map(move |i| (i, j))).collect();
        let data = vec![0.0; places.len() * EDGE * EDGE];
        Self { columns, shape, places, data }
    }

    /// Where an entry is; of a mirrored one, where its image is.
    fn position(&self, i: usize, j: usize) -> usize {
        let (i, j) = if self.shape == Shape::Upper && i > j { (j, i) } else { (i, j) };
        let (tile_i, tile_j) = (i / EDGE, j / EDGE);
        let tile = match self.shape {
            Shape::Upper => tile_j * (tile_j + 1) / 2 + tile_i,
            Shape::Full => tile_j * self.columns.div_ceil(EDGE) + tile_i,
        };
        tile * EDGE * EDGE + within(i % EDGE, j % EDGE)
    }

    pub(super) fn get(&self, i: usize, j: usize) -> f64 {
        self.data[self.position(i, j)]
    }

    pub(super) fn diagonal(&self) -> Vec<f64> {
        (0..self.columns).map(|i| self.get(i, i)).collect()
    }

    pub(super) fn fill(&mut self, matrix: &ArrayView2<f64>) {
        for ((i, j), &value) in matrix.indexed_iter() {
            if self.shape == Shape::Full || i <= j {
                let position = self.position(i, j);
                self.data[position] = value;
            }
        }
    }

    pub(super) fn to_matrix(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.columns, self.columns), |(i, j)| self.get(i, j))
    }

    /// Add another matrix, and `more(i, j)` to each entry.
    pub(super) fn join(&mut self, other: &Self, more: impl Fn(usize, usize) -> f64 + Sync) {
        let (columns, shape) = (self.columns, self.shape);
        self.data
            .par_chunks_exact_mut(EDGE * EDGE)
            .zip(other.data.par_chunks_exact(EDGE * EDGE))
            .zip(&self.places)
            .for_each(|((tile, other), &(tile_i, tile_j))| {
                let end = |tile: usize| ((tile + 1) * EDGE).min(columns);
                for i in tile_i * EDGE..end(tile_i) {
                    let start = if shape == Shape::Upper { i.max(tile_j * EDGE) } else { tile_j * EDGE };
                    for j in start..end(tile_j) {
                        let at = within(i % EDGE, j % EDGE);
                        tile[at] += other[at] + more(i, j);
                    }
                }
            });
    }

    /// What adds `Σ_k left_ki right_kj`, for packed rows: a product for each tile.
    pub(super) fn products<'a>(
        &'a mut self,
        left: &'a [f64],
        right: &'a [f64],
        depth: usize,
    ) -> impl Iterator<Item = TileProduct<'a>> {
        let (columns, shape) = (self.columns, self.shape);
        self.data.chunks_exact_mut(EDGE * EDGE).zip(&self.places).map(move |(tile, &(tile_i, tile_j))| TileProduct {
            left: of_tile(left, tile_i, columns.next_multiple_of(TALL)),
            right: of_tile(right, tile_j, columns.next_multiple_of(WIDE)),
            depth,
            upper: shape == Shape::Upper && tile_i == tile_j,
            tile,
        })
    }
}

/// Where an entry is inside its tile: by strips of rows, strips of columns, columns and rows.
fn within(i: usize, j: usize) -> usize {
    ((i / TALL) * (EDGE / WIDE) + j / WIDE) * PAIR + (j % WIDE) * TALL + i % TALL
}

/// The strips that belong to a tile, of so many columns in all.
fn of_tile(packed: &[f64], tile: usize, columns: usize) -> &[f64] {
    &packed[tile * EDGE * DEPTH..((tile + 1) * EDGE).min(columns) * DEPTH]
}

pub(super) struct TileProduct<'a> {
    left: &'a [f64],
    right: &'a [f64],
    depth: usize,
    /// Whether what lies below the diagonal is left out.
    upper: bool,
    tile: &'a mut [f64],
}

impl WithSimd for TileProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.run::<S, 1>(simd),
            4 => self.run::<S, 2>(simd),
            2 => self.run::<S, 4>(simd),
            _ => self.run::<S, 8>(simd),
        }
    }
}

impl TileProduct<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let (pairs, _) = self.tile.as_chunks_mut::<PAIR>();
        let pairs = pairs.chunks_exact_mut(EDGE / WIDE);
        for (a, (left, pairs)) in self.left.chunks_exact(DEPTH * TALL).zip(pairs).enumerate() {
            let first = if self.upper { a * TALL / WIDE } else { 0 };
            for (right, out) in self.right.chunks_exact(DEPTH * WIDE).zip(pairs).skip(first) {
                multiply::<S, VECTORS>(simd, &left[..self.depth * TALL], &right[..self.depth * WIDE], out);
            }
        }
    }
}

/// Add the products of a pair of strips.
#[inline(always)]
fn multiply<S: Simd, const VECTORS: usize>(simd: S, left: &[f64], right: &[f64], out: &mut [f64; PAIR]) {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; WIDE];
    let (left, _) = S::as_simd_f64s(left);
    let (left, _) = left.as_chunks::<VECTORS>();
    let (right, _) = right.as_chunks::<WIDE>();
    for (x, y) in left.iter().zip(right) {
        for (sums, &y) in sums.iter_mut().zip(y) {
            let y = simd.splat_f64s(y);
            for (sum, &x) in sums.iter_mut().zip(x) {
                *sum = simd.mul_add_e_f64s(x, y, *sum);
            }
        }
    }
    let (out, _) = S::as_mut_simd_f64s(out);
    let (out, _) = out.as_chunks_mut::<VECTORS>();
    for (out, sums) in out.iter_mut().zip(sums) {
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = simd.add_f64s(*out, sum);
        }
    }
}
