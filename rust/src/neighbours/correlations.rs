//! Correlations above a cut, computed block by block and stored as a sparse matrix.
//!
//! The products of all pairs take nearly all the time, so they are computed in single precision, which is twice as fast
//! (`benches/wide.py`). Pairs that may exceed the cut are computed again in double precision.

use super::Standardised;
use crate::algebra::check::check_parameter;
use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, s};
use rayon::prelude::*;
use sprs::CsMat;

/// Variables on each side of a block of products: enough for the full speed of the product, few enough for the cache.
const BLOCK: usize = 512;

/// All correlations whose absolute value exceeds a cut: both entries of each pair, without the diagonal.
///
/// # Errors
/// [`IcidError::Parameter`] if the cut is negative or NaN; [`IcidError::Memory`] if there is no room for the data in single
/// precision; [`IcidError::Interrupted`].
pub fn correlations(data: Standardised, cut: f64, interrupt: &Interrupt) -> Result<CsMat<f64>, IcidError> {
    check_parameter("cut", cut, cut >= 0.0, "a number >= 0")?;
    let d = data.variables();
    ensure_room::<f32>("the table in single precision", data.0.len() as u128)?;
    let single = data.0.mapv(|value| value as f32);
    // Rounding changes an inner product of vectors of length one by no more than this.
    let rounding = 2.0 * (data.0.ncols() + 1) as f64 * f64::from(f32::EPSILON);
    let cut_of_singles = (cut - rounding).max(0.0) as f32;

    let starts: Vec<usize> = (0..d).step_by(BLOCK).collect();
    let blocks: Vec<(usize, usize)> =
        starts.iter().flat_map(|&i| starts.iter().filter(move |&&j| j >= i).map(move |&j| (i, j))).collect();
    let rows = |start: usize| single.slice(s![start..(start + BLOCK).min(d), ..]);
    let found = blocks
        .par_iter()
        .map_init(
            || Array2::zeros((BLOCK, BLOCK)),
            |products, &(top, left)| {
                interrupt.check()?;
                let (one, two) = (rows(top), rows(left));
                let mut products = products.slice_mut(s![..one.nrows(), ..two.nrows()]);
                general_mat_mul(1.0, &one, &two.t(), 0.0, &mut products);
                let mut above: Vec<(u32, u32, f64)> = Vec::new();
                for (i, row) in products.rows().into_iter().enumerate() {
                    // Above the diagonal only.
                    let first = (top + i + 1).saturating_sub(left);
                    for (j, _) in row.iter().enumerate().skip(first).filter(|(_, r)| r.abs() >= cut_of_singles) {
                        let (i, j) = ((top + i) as u32, (left + j) as u32);
                        let r = data.correlation(i, j);
                        if r.abs() > cut {
                            above.push((i, j, r));
                        }
                    }
                }
                Ok(above)
            },
        )
        .collect::<Result<Vec<_>, _>>()?;
    drop(single);

    let both = |&(i, j, r): &(u32, u32, f64)| [(i as usize, j as usize, r), (j as usize, i as usize, r)];
    Ok(from_entries((d, d), || found.iter().flatten().flat_map(both)))
}
