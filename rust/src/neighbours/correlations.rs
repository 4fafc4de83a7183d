//! Correlations above a cut, computed block by block and stored as a sparse matrix.

use super::Standardised;
use crate::algebra::check::check_parameter;
use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::s;
use rayon::prelude::*;
use sprs::CsMat;

/// Variables whose correlations with later ones are computed at a time.
const BLOCK: usize = 64;

/// All correlations whose absolute value exceeds a cut: both entries of each pair, without the diagonal.
///
/// # Errors
/// [`IcidError::Parameter`] if the cut is negative or NaN; [`IcidError::Interrupted`].
pub fn correlations(data: Standardised, cut: f64, interrupt: &Interrupt) -> Result<CsMat<f64>, IcidError> {
    check_parameter("cut", cut, cut >= 0.0, "a number >= 0")?;
    let d = data.variables();
    let blocks = (0..d)
        .into_par_iter()
        .step_by(BLOCK)
        .map(|start| {
            let mut found: Vec<(u32, u32, f64)> = Vec::new();
            let rows = data.0.slice(s![start..(start + BLOCK).min(d), ..]);
            // In short blocks, so that the products that are discarded need little memory.
            for from in (start..d).step_by(16 * BLOCK) {
                interrupt.check()?;
                let products = rows.dot(&data.0.slice(s![from..(from + 16 * BLOCK).min(d), ..]).t());
                let above = products.indexed_iter().filter(|&((i, j), r)| from + j > start + i && r.abs() > cut);
                found.extend(above.map(|((i, j), &r)| ((start + i) as u32, (from + j) as u32, r)));
            }
            Ok(found)
        })
        .collect::<Result<Vec<_>, _>>()?;

    let both = |&(i, j, r): &(u32, u32, f64)| [(i as usize, j as usize, r), (j as usize, i as usize, r)];
    Ok(from_entries((d, d), || blocks.iter().flatten().flat_map(both)))
}
