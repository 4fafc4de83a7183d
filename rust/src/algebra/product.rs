//! Products of dense matrices.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

/// Rows of a product that one task computes, whatever the number of threads.
const ROWS: usize = 64;

/// `scale · X Xᵀ`.
pub(crate) fn gram(x: ArrayView2<f64>, scale: f64) -> Array2<f64> {
    let d = x.nrows();
    let mut entries = vec![0.0; d * d];
    entries.par_chunks_mut(ROWS * d.max(1)).enumerate().for_each(|(block, out)| {
        let rows = x.slice(s![ROWS * block..(ROWS * (block + 1)).min(d), ..]);
        let mut out = ArrayViewMut2::from_shape((rows.nrows(), d), out).expect("a block of rows");
        general_mat_mul(scale, &rows, &x.t(), 0.0, &mut out);
    });
    square(d, entries)
}

/// A square matrix of entries, row by row.
pub(crate) fn square(d: usize, entries: Vec<f64>) -> Array2<f64> {
    Array2::from_shape_vec((d, d), entries).expect("an entry for each pair")
}
