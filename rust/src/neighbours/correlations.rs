//! Correlations above a cut, found block by block and kept sparse.

use super::Standardised;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::s;
use rayon::prelude::*;
use sprs::CsMat;

/// Variables whose correlations with all later ones are computed at a time.
const BLOCK: usize = 64;

/// All correlations larger than a cut, both of each pair, without the diagonal.
///
/// # Errors
/// When interrupted.
pub fn correlations(data: Standardised, cut: f64, interrupt: &Interrupt) -> Result<CsMat<f64>, IcidError> {
    let d = data.variables();
    let starts: Vec<usize> = (0..d).step_by(BLOCK).collect();
    let blocks = starts
        .into_par_iter()
        .map(|start| {
            let mut found: Vec<(u32, u32, f64)> = Vec::new();
            let rows = data.0.slice(s![start..(start + BLOCK).min(d), ..]);
            // In squares, so that what is thrown away at once stays small.
            for from in (start..d).step_by(16 * BLOCK) {
                if interrupt.is_raised() {
                    return Err(IcidError::Interrupted);
                }
                let products = rows.dot(&data.0.slice(s![from..(from + 16 * BLOCK).min(d), ..]).t());
                let above = products.indexed_iter().filter(|&((i, j), r)| from + j > start + i && r.abs() > cut);
                found.extend(above.map(|((i, j), &r)| ((start + i) as u32, (from + j) as u32, r)));
            }
            Ok(found)
        })
        .collect::<Result<Vec<_>, _>>()?;

    let mut offsets = vec![0; d + 1];
    for &(i, j, _) in blocks.iter().flatten() {
        offsets[i as usize + 1] += 1;
        offsets[j as usize + 1] += 1;
    }
    for i in 0..d {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut entries = vec![(0, 0.0); offsets[d]];
    for (i, j, r) in blocks.into_iter().flatten() {
        for (row, column) in [(i, j), (j, i)] {
            entries[next[row as usize]] = (column as usize, r);
            next[row as usize] += 1;
        }
    }
    for i in 0..d {
        entries[offsets[i]..offsets[i + 1]].sort_unstable_by_key(|&(column, _)| column);
    }
    let (indices, values) = entries.into_iter().unzip();
    Ok(CsMat::new((d, d), offsets, indices, values))
}
