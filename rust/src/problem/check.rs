//! Checks of Θ and Ω; errors name the place.

use crate::algebra::check::check_length;
use crate::algebra::hash::scramble;
use crate::error::IcidError;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};
use std::cmp::Ordering;

/// Relative difference between Θ and its transpose that counts as rounding.
const ASYMMETRY: f64 = 1e-6;

pub(crate) fn positive_diagonal(theta: CsMatView<f64>) -> Result<Vec<f64>, IcidError> {
    (0..theta.rows())
        .map(|index| {
            let value = theta.get(index, index).copied().unwrap_or(0.0);
            if value > 0.0 { Ok(value) } else { Err(IcidError::Diagonal { index, value }) }
        })
        .collect()
}

pub(crate) fn invert_variances(variances: &[f64], d: usize) -> Result<Vec<f64>, IcidError> {
    check_length("noise_variances", variances.len(), d)?;
    let invert = |(index, &value): (usize, &f64)| {
        let precision = 1.0 / value;
        if value > 0.0 && value.is_finite() && precision.is_finite() {
            Ok(precision)
        } else {
            Err(IcidError::Variance { index, value })
        }
    };
    variances.iter().enumerate().map(invert).collect()
}

/// The mean of an entry and its mirror image, which may differ by rounding on the scale of the diagonal.
pub(crate) fn symmetric_mean(
    (row, column): (usize, usize),
    value: f64,
    mirrored: f64,
    scale: f64,
) -> Result<f64, IcidError> {
    if value == mirrored {
        return Ok(value);
    }
    let size = scale.max(value.abs()).max(mirrored.abs());
    if (value - mirrored).abs() > ASYMMETRY * size {
        return Err(IcidError::NotSymmetric { row, column, value, mirrored });
    }
    Ok(0.5 * value + 0.5 * mirrored)
}

/// `(Θ + Θᵀ) / 2` on the union of both patterns, zeros dropped; `None` if that is Θ itself.
pub(crate) fn symmetrise(theta: CsMatView<f64>, diagonal: &[f64]) -> Result<Option<CsMat<f64>>, IcidError> {
    if is_symmetric(theta) {
        return Ok(None);
    }
    let scale: Vec<f64> = diagonal.iter().map(|t| t.sqrt()).collect();
    let mean = |i: usize, j: usize, value, mirrored| symmetric_mean((i, j), value, mirrored, scale[i] * scale[j]);
    let transposed = theta.transpose_view().to_csr();
    let d = theta.rows();
    let mut offsets = Vec::with_capacity(d + 1);
    offsets.push(0);
    let mut indices = Vec::with_capacity(theta.nnz());
    let mut values = Vec::with_capacity(theta.nnz());
    for (i, (row, column)) in theta.outer_iterator().zip(transposed.outer_iterator()).enumerate() {
        let mut below = row.iter().peekable();
        let mut above = column.iter().peekable();
        loop {
            let next = [below.peek(), above.peek()].into_iter().flatten().map(|&(j, _)| j).min();
            let Some(j) = next else { break };
            let value = below.next_if(|&(at, _)| at == j).map_or(0.0, |(_, &v)| v);
            let mirrored = above.next_if(|&(at, _)| at == j).map_or(0.0, |(_, &v)| v);
            let mean = mean(i, j, value, mirrored)?;
            if mean != 0.0 {
                indices.push(j);
                values.push(mean);
            }
        }
        offsets.push(indices.len());
    }
    Ok(Some(CsMat::new((d, d), offsets, indices, values)))
}

/// Whether the matrix equals its transpose, to the bit, and stores no zeros.
///
/// Compares a checksum of the entries below the diagonal with that of their mirror images, in one pass in the order of
/// memory: looking up each entry takes a quarter of the time of an elimination at d = 10⁶. A false positive has
/// probability 2⁻⁶⁴.
fn is_symmetric(theta: CsMatView<f64>) -> bool {
    let (indices, values) = (theta.indices(), theta.data());
    let print = |i: usize, j: usize, value: f64| {
        let place = (i.min(j) as u64) << 32 | i.max(j) as u64;
        let print = scramble(value.to_bits() ^ scramble(place));
        match j.cmp(&i) {
            Ordering::Less => print,
            Ordering::Equal => 0,
            Ordering::Greater => print.wrapping_neg(),
        }
    };
    let row_sum = |i: usize| {
        let row = theta.indptr().outer_inds_sz(i);
        row.map(|k| print(i, indices[k], values[k])).fold(0, u64::wrapping_add)
    };
    let rows = (0..theta.rows()).into_par_iter().with_min_len(1024);
    rows.map(row_sum).reduce(|| 0, u64::wrapping_add) == 0 && values.iter().all(|&value| value != 0.0)
}
