//! Matrices in square tiles, and the products that fill them.
//!
//! The kernel works on strips of 12 columns by 3, which takes nine of the sixteen registers of 256 bits for sums; with
//! four columns a sum would have to wait in memory, at half the speed. It is compared with BLAS in `benches/moments.py`.

use super::scan::SLICE;
use ndarray::{Array2, ArrayView2};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Columns of a strip.
pub(super) const STRIP: usize = 12;
/// Columns that the kernel pairs with a strip.
const NARROW: usize = 3;
/// Strips on the edge of a tile: enough to be worth a task, few enough to share.
const TILE: usize = 4;
const EDGE: usize = TILE * STRIP;
const PAIR: usize = STRIP * STRIP;

/// Number of strips of a matrix.
pub(super) fn strips(columns: usize) -> usize {
    columns.div_ceil(STRIP)
}

/// Which tiles there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Those on and below the diagonal: the rest mirrors them.
    Lower,
    /// All.
    Full,
}

/// A square matrix in tiles, each made of pairs of strips.
#[derive(Debug, Clone)]
pub(super) struct Tiles {
    columns: usize,
    shape: Shape,
    /// Rows and columns of tiles.
    places: Vec<(usize, usize)>,
    data: Vec<f64>,
}

impl Tiles {
    pub(super) fn zeros(columns: usize, shape: Shape) -> Self {
        let edge = columns.div_ceil(EDGE);
        let width = |i: usize| if shape == Shape::Lower { i + 1 } else { edge };
        let places: Vec<_> = (0..edge).flat_map(|i| (0..width(i)).map(move |j| (i, j))).collect();
        let data = vec![0.0; places.len() * EDGE * EDGE];
        Self { columns, shape, places, data }
    }

    /// Where an entry is; of a mirrored one, where its image is.
    fn position(&self, i: usize, j: usize) -> usize {
        let (i, j) = if self.shape == Shape::Lower && i < j { (j, i) } else { (i, j) };
        let (tile_i, tile_j) = (i / EDGE, j / EDGE);
        let tile = match self.shape {
            Shape::Lower => tile_i * (tile_i + 1) / 2 + tile_j,
            Shape::Full => tile_i * self.columns.div_ceil(EDGE) + tile_j,
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
            if self.shape == Shape::Full || i >= j {
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
                    let stop = if shape == Shape::Lower { end(tile_j).min(i + 1) } else { end(tile_j) };
                    for j in tile_j * EDGE..stop {
                        let at = within(i % EDGE, j % EDGE);
                        tile[at] += other[at] + more(i, j);
                    }
                }
            });
    }

    /// Add `Σ_k left_ki right_kj`, for packed slices of the given depths.
    pub(super) fn add_products(&mut self, left: &[f64], right: &[f64], depths: &[usize]) {
        let (count, shape) = (strips(self.columns), self.shape);
        let arch = Arch::new();
        self.data.par_chunks_exact_mut(EDGE * EDGE).zip(&self.places).for_each(|(tile, &(tile_i, tile_j))| {
            let len = count * SLICE * STRIP;
            for (&depth, (left, right)) in depths.iter().zip(left.chunks_exact(len).zip(right.chunks_exact(len))) {
                let lower = shape == Shape::Lower && tile_i == tile_j;
                arch.dispatch(TileProduct {
                    left: of_tile(left, tile_i, count),
                    right: of_tile(right, tile_j, count),
                    depth,
                    lower,
                    tile,
                });
            }
        });
    }
}

/// Where an entry is inside its tile: by strips of rows, strips of columns, columns and rows.
fn within(i: usize, j: usize) -> usize {
    ((i / STRIP) * TILE + j / STRIP) * PAIR + (j % STRIP) * STRIP + i % STRIP
}

/// The strips of a slice that belong to a tile.
fn of_tile(slice: &[f64], tile: usize, count: usize) -> &[f64] {
    &slice[tile * TILE * SLICE * STRIP..((tile + 1) * TILE).min(count) * SLICE * STRIP]
}

struct TileProduct<'a> {
    left: &'a [f64],
    right: &'a [f64],
    depth: usize,
    /// Whether strips above the diagonal are left out.
    lower: bool,
    tile: &'a mut [f64],
}

impl WithSimd for TileProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Vectors in a strip; all widths divide 12 but eight, which is not asked for.
        match S::F64_LANES {
            4 => self.run::<S, 3>(simd),
            2 => self.run::<S, 6>(simd),
            _ => self.run::<S, 12>(simd),
        }
    }
}

impl TileProduct<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        for (a, left) in self.left.chunks_exact(SLICE * STRIP).enumerate() {
            for (b, right) in self.right.chunks_exact(SLICE * STRIP).enumerate() {
                if self.lower && b > a {
                    break;
                }
                let pair = &mut self.tile[(a * TILE + b) * PAIR..(a * TILE + b + 1) * PAIR];
                for (part, out) in pair.chunks_exact_mut(NARROW * STRIP).enumerate() {
                    let left = &left[..self.depth * STRIP];
                    multiply::<S, VECTORS>(simd, left, &right[..self.depth * STRIP], part * NARROW, out);
                }
            }
        }
    }
}

/// Add the products of a strip with three columns of another, from column `first`.
#[inline(always)]
fn multiply<S: Simd, const VECTORS: usize>(simd: S, left: &[f64], right: &[f64], first: usize, out: &mut [f64]) {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; NARROW];
    let (left, _) = S::as_simd_f64s(left);
    let (left, _) = left.as_chunks::<VECTORS>();
    let (right, _) = right.as_chunks::<STRIP>();
    for (x, y) in left.iter().zip(right) {
        let y = &y[first..first + NARROW];
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
