//! Products of packed rows, which fill tiles.
//!
//! The kernel multiplies 8 columns by 6, which takes twelve of the sixteen registers of 256 bits for sums: enough to hide
//! the latency of an addition, few enough that all stay in registers. It is compared with BLAS in `benches/moments.py`.

use super::packing::DEPTH;
use super::tiles::Grid;
use pulp::{Simd, WithSimd};

/// Columns of a strip of the left factor, and of the right one.
pub(super) const TALL: usize = 8;
pub(super) const WIDE: usize = 6;
/// Products of a pair of strips.
const PAIR: usize = TALL * WIDE;

/// A task that adds the product of packed rows to a tile.
pub(super) struct TileProduct<'a> {
    left: &'a [f64],
    right: &'a [f64],
    depth: usize,
    /// Columns of the tile.
    edge: usize,
    /// Whether entries below the diagonal are left out.
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

impl<'a> TileProduct<'a> {
    /// The task that adds the product of the packed columns of two tiles to a third.
    pub(super) fn new(
        grid: Grid,
        (left, i): (&'a [f64], usize),
        (right, j): (&'a [f64], usize),
        depth: usize,
        upper: bool,
        tile: &'a mut [f64],
    ) -> Self {
        Self {
            left: strips::<TALL>(grid, left, i),
            right: strips::<WIDE>(grid, right, j),
            depth,
            edge: grid.edge,
            upper,
            tile,
        }
    }

    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let (pairs, _) = self.tile.as_chunks_mut::<PAIR>();
        let pairs = pairs.chunks_exact_mut(self.edge / WIDE);
        for (a, (left, pairs)) in self.left.chunks_exact(DEPTH * TALL).zip(pairs).enumerate() {
            let first = if self.upper { a * TALL / WIDE } else { 0 };
            for (right, out) in self.right.chunks_exact(DEPTH * WIDE).zip(pairs).skip(first) {
                multiply::<S, VECTORS>(simd, &left[..self.depth * TALL], &right[..self.depth * WIDE], out);
            }
        }
    }
}

/// The strips of a factor that belong to a tile.
fn strips<const WIDTH: usize>(grid: Grid, packed: &[f64], tile: usize) -> &[f64] {
    let end = ((tile + 1) * grid.edge).min(grid.columns.next_multiple_of(WIDTH));
    &packed[tile * grid.edge * DEPTH..end * DEPTH]
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
