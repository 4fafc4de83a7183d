//! A sparse Θ, checked, symmetrised and renumbered.

use super::check::{invert_variances, positive_diagonal, symmetrise};
use super::numbering::{breadth_first, fingerprints};
use crate::algebra::check::{check_finite_sparse, check_not_empty, check_square};
use crate::algebra::csr::Csr;
use crate::algebra::permutation::inverse;
use crate::error::IcidError;
use crate::memory::ensure_room;
use sprs::{CsMat, CsMatView};
use std::ops::Range;

/// Θ and the noise precisions D, in the internal numbering (see [`numbering`](super::numbering)).
#[derive(Debug, Clone)]
pub(crate) struct SparseTheta {
    /// The caller's number of each variable.
    pub names: Vec<u32>,
    /// First variable of each connected component, and d.
    pub component_starts: Vec<usize>,
    /// Where each row begins.
    pub offsets: Vec<usize>,
    /// The columns of each row, ascending, with the diagonal.
    pub neighbours: Vec<u32>,
    pub values: Vec<f64>,
    pub noise_precision: Vec<f64>,
}

impl SparseTheta {
    /// As [`Problem::new`](super::Problem::new).
    pub fn new(theta: CsMatView<f64>, noise_variances: Option<&[f64]>) -> Result<Self, IcidError> {
        let rows = check_square("theta", theta.shape())?;
        check_not_empty("theta", rows)?;
        if rows > u32::MAX as usize {
            let (required, available) = (rows as u128, u128::from(u32::MAX));
            return Err(IcidError::Memory { what: "theta (in variables)", required, available });
        }
        // The copies made here and below, at most.
        ensure_room::<[usize; 8]>("checking theta", theta.nnz() as u128)?;
        let by_rows = if theta.is_csr() { None } else { Some(theta.to_csr()) };
        let theta = by_rows.as_ref().map_or(theta, CsMat::view);
        check_finite_sparse("theta", theta)?;
        let diagonal = positive_diagonal(theta)?;
        let noise_precision = match noise_variances {
            Some(variances) => invert_variances(variances, rows)?,
            None => vec![diagonal.iter().copied().fold(f64::INFINITY, f64::min); rows],
        };
        let symmetric = symmetrise(theta, &diagonal)?;
        let theta = symmetric.as_ref().map_or(theta, CsMat::view);

        let (indices, values) = (theta.indices(), theta.data());
        let offsets = theta.indptr();
        let offsets = offsets.raw_storage();
        let row = |i: usize| offsets[i]..offsets[i + 1];
        let own = diagonal.iter().zip(&noise_precision).map(|(&t, &d)| [t, d]);
        let (prints, ranked) =
            fingerprints(own, |i| row(i).map(|k| (indices[k], values[k])).filter(move |&(j, _)| j != i));
        let (names, component_starts) = breadth_first(&prints, &ranked, |i| row(i).map(|k| indices[k] as u32));
        drop((prints, ranked));

        let noise_precision = names.iter().map(|&name| noise_precision[name as usize]).collect();
        let numbers = inverse(&names);
        let inside = Csr::from_rows(names.iter().map(|&name| row(name as usize).len()), |i, entries| {
            entries.extend(row(names[i] as usize).map(|k| (numbers[indices[k]], values[k])));
        });
        let Csr { offsets, indices: neighbours, values } = inside;
        Ok(Self { names, component_starts, offsets, neighbours, values, noise_precision })
    }

    /// The diagonal, in the caller's numbering.
    pub fn diagonal_by_name(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.dim()];
        for (i, &name) in self.names.iter().enumerate() {
            let row = self.offsets[i]..self.offsets[i + 1];
            let place = row.start + self.neighbours[row.clone()].partition_point(|&j| (j as usize) < i);
            diagonal[name as usize] = self.values[place];
        }
        diagonal
    }

    /// Number of variables d.
    pub fn dim(&self) -> usize {
        self.names.len()
    }

    /// Ranges of variables that have no neighbours outside them.
    pub fn components(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.component_starts.windows(2).map(|w| w[0]..w[1])
    }
}
