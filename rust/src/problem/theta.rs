//! A sparse Θ, checked, symmetrised and renumbered.

use super::check::{check_finite, invert_variances, positive_diagonal, symmetrise};
use super::numbering::{breadth_first, fingerprints, inverse};
use crate::error::IcidError;
use crate::memory::ensure_room;
use crate::parallel::{CHUNK, Pieces, balanced_ranges, for_each_block};
use sprs::{CsMat, CsMatView};
use std::ops::Range;

/// Θ and the noise precisions D, in an order of their own (see [`numbering`](super::numbering)).
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
        let (rows, columns) = theta.shape();
        if rows != columns {
            return Err(IcidError::NotSquare { what: "theta", rows, columns });
        }
        if rows == 0 {
            return Err(IcidError::Empty { what: "theta" });
        }
        if rows > u32::MAX as usize {
            let (required, available) = (rows as u128, u128::from(u32::MAX));
            return Err(IcidError::Memory { what: "theta (in variables)", required, available });
        }
        // The copies made here and below, at their largest.
        ensure_room::<[usize; 8]>("checking theta", theta.nnz() as u128)?;
        let by_rows = if theta.is_csr() { None } else { Some(theta.to_csr()) };
        let theta = by_rows.as_ref().map_or(theta, CsMat::view);
        check_finite("theta", theta)?;
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
        let mut offsets_inside = Vec::with_capacity(rows + 1);
        offsets_inside.push(0);
        for &name in &names {
            offsets_inside.push(offsets_inside[offsets_inside.len() - 1] + row(name as usize).len());
        }
        let blocks: Vec<Range<usize>> = balanced_ranges(names.iter().map(|&i| row(i as usize).len()), CHUNK);
        let ends: Vec<usize> = blocks.iter().map(|block| offsets_inside[block.end]).collect();
        let (mut neighbours, mut inside) = (vec![0; indices.len()], vec![0.0; indices.len()]);
        let out = (Pieces::new(&mut neighbours, &ends), Pieces::new(&mut inside, &ends));
        for_each_block(&blocks, out, &|block, (neighbours, inside)| {
            let mut slots = neighbours.into_slice().iter_mut().zip(inside.into_slice());
            let mut entries: Vec<(u32, f64)> = Vec::new();
            for &name in &names[block.clone()] {
                entries.extend(row(name as usize).map(|k| (numbers[indices[k]], values[k])));
                entries.sort_unstable_by_key(|&(j, _)| j);
                for (entry, (j, value)) in entries.drain(..).zip(slots.by_ref()) {
                    (*j, *value) = entry;
                }
            }
        });
        Ok(Self { names, component_starts, offsets: offsets_inside, neighbours, values: inside, noise_precision })
    }

    /// The diagonal, by the caller's numbers.
    pub fn diagonal_by_name(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.dim()];
        for (i, &name) in self.names.iter().enumerate() {
            let row = self.offsets[i]..self.offsets[i + 1];
            let place = row.start + self.neighbours[row.clone()].partition_point(|&j| (j as usize) < i);
            diagonal[name as usize] = self.values[place];
        }
        diagonal
    }

    /// Values by the caller's numbers, by our own.
    pub fn in_our_numbers(&self, values: &[f64]) -> Vec<f64> {
        self.names.iter().map(|&name| values[name as usize]).collect()
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
