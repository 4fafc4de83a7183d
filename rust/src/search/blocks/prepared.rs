//! What all searches of a table of blocks share.

use super::dependence::dependent;
use super::whitening::{Layout, Whitening, whitened};
use crate::algebra::permutation::inverse;
use crate::algebra::small::determinant;
use crate::error::IcidError;
use crate::knowledge::Knowledge;
use crate::search::missing::join;
use crate::search::prepared::most_candidates;
use ndarray::{Array2, ArrayView2};

/// A table renumbered for searches: variables by how well the others explain them, if that is known.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The caller's number of each variable, and of each column.
    pub names: Vec<u32>,
    pub columns: Vec<u32>,
    /// The standard deviation of each column, by which its weights are scaled.
    pub scale: Vec<f64>,
    /// The number of each of the caller's variables.
    pub numbers: Vec<u32>,
    pub layout: Layout,
    /// Correlations of the columns, those of one block uncorrelated.
    pub correlation: Array2<f64>,
    pub whitening: Whitening,
    /// How far the correlations of each variable are shrunk.
    pub shrinkage: Vec<f64>,
    /// Candidates for edges, as symmetric lists, ascending.
    pub candidates: Vec<Vec<u32>>,
    /// Share of each variance that all other variables leave unexplained; unknown without an inverse.
    pub shares: Option<Vec<f64>>,
    pub knowledge: Knowledge,
}

impl Prepared {
    pub fn new(
        covariance: ArrayView2<f64>,
        precision: Option<ArrayView2<f64>>,
        layout: &Layout,
        samples: usize,
        knowledge: &Knowledge,
    ) -> Result<Self, IcidError> {
        let d = layout.blocks.len();
        let mut names: Vec<u32> = (0..d as u32).collect();
        let shares: Option<Vec<f64>> =
            precision.map(|precision| (0..d).map(|i| share(covariance, precision, layout, i)).collect());
        if let Some(shares) = &shares {
            names.sort_by(|&i, &j| shares[j as usize].total_cmp(&shares[i as usize]));
        }
        let (numbers, columns) = (inverse(&names), layout.columns(&names));
        let layout = layout.renumbered(&names);
        let shrinkage = layout.shrinkage(samples);
        let (correlation, whitening) = whitened(covariance, &layout, &columns, &shrinkage)?;
        let knowledge = knowledge.renumbered(&numbers);
        let most = most_candidates(samples, precision.is_some());
        let mut candidates = vec![Vec::new(); d];
        let mut add = |lists: Vec<Vec<u32>>| {
            let pairs = |(i, list): (usize, Vec<u32>)| list.into_iter().map(move |j| (i as u32, j));
            join(&mut candidates, &lists.into_iter().enumerate().flat_map(pairs).collect::<Vec<_>>());
        };
        add(dependent(&correlation, &layout.blocks, samples as f64, most));
        let degrees = samples.saturating_sub(columns.len() + 1);
        if let Some(precision) = precision.filter(|_| degrees > 0) {
            let (partial, _) = whitened(precision, &layout, &columns, &vec![1.0; d])?;
            add(dependent(&partial, &layout.blocks, degrees as f64, most));
        }
        add((0..d as u32).map(|effect| knowledge.required_parents(effect).to_vec()).collect());
        let shares = shares.map(|shares| names.iter().map(|&i| shares[i as usize]).collect());
        // The columns of a category vary as much as with the row that shrinks their correlations.
        let of_variable = |(i, shrunk): (usize, &f64)| vec![*shrunk; layout.blocks.width(i)];
        let shrunk = shrinkage.iter().enumerate().flat_map(of_variable);
        let deviation = |&column: &u32| covariance[[column as usize, column as usize]].sqrt();
        let scale = columns.iter().map(deviation).zip(shrunk).map(|(deviation, shrunk)| deviation / shrunk).collect();
        Ok(Self {
            names,
            columns,
            scale,
            numbers,
            layout,
            correlation,
            whitening,
            shrinkage,
            candidates,
            shares,
            knowledge,
        })
    }
}

/// The share of the generalised variance of a variable that all others leave unexplained.
fn share(covariance: ArrayView2<f64>, precision: ArrayView2<f64>, layout: &Layout, variable: usize) -> f64 {
    let range = layout.blocks.range(variable);
    let size = range.len();
    // In units of the columns, so that neither determinant is out of range.
    let scale: Vec<f64> = range.clone().map(|i| covariance[[i, i]].sqrt()).collect();
    let part = |matrix: ArrayView2<f64>, sign: i32| {
        let entry = |a: usize, b: usize| matrix[[range.start + a, range.start + b]] * (scale[a] * scale[b]).powi(sign);
        let mut part: Vec<f64> =
            (0..size).flat_map(|a| (0..size).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect();
        determinant(&mut part, size, 0.0).unwrap_or(f64::INFINITY)
    };
    1.0 / (part(covariance, -1) * part(precision, 1))
}
