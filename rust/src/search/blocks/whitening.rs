//! Correlations of columns, with those of each block made uncorrelated.

use crate::Blocks;
use crate::algebra::check::{check_square, check_variances};
use crate::algebra::small::{factorise, reduce};
use crate::error::IcidError;
use crate::support::renumbered_correlations;
use ndarray::{Array2, ArrayView2};

/// A column with a smaller share of its variance left, given those of its block before it, is a combination of these.
const COLLINEAR: f64 = 1e-12;

/// Which columns belong to which variable, and which variables are categories.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub blocks: Blocks,
    pub is_category: Vec<bool>,
}

impl Layout {
    /// The layout of renumbered variables: variable i is `names[i]`.
    pub fn renumbered(&self, names: &[u32]) -> Self {
        Self {
            blocks: Blocks::of_widths(names.iter().map(|&i| self.blocks.width(i as usize))),
            is_category: names.iter().map(|&i| self.is_category[i as usize]).collect(),
        }
    }

    /// The columns of renumbered variables.
    pub fn columns(&self, names: &[u32]) -> Vec<u32> {
        names.iter().flat_map(|&i| self.blocks.range(i as usize)).map(|column| column as u32).collect()
    }

    /// How far the correlations of each variable with others are shrunk: of two categories, by the product.
    pub fn shrinkage(&self, samples: usize) -> Vec<f64> {
        let shrunk = (samples as f64 / (samples as f64 + 1.0)).sqrt();
        self.is_category.iter().map(|&is_category| if is_category { shrunk } else { 1.0 }).collect()
    }
}

/// For each variable the Cholesky factor of the correlations of its columns, row by row.
#[derive(Debug, Clone)]
pub(super) struct Whitening {
    pub factors: Vec<Vec<f64>>,
}

impl Whitening {
    /// Factors of the blocks on the diagonal of a matrix of correlations. A column that is a combination of others of its
    /// block is named by `names`, or counts as constant if there are none.
    fn new(correlation: &Array2<f64>, blocks: &Blocks, names: Option<&[u32]>) -> Result<Self, IcidError> {
        let factor = |variable: usize| {
            let range = blocks.range(variable);
            let mut factor: Vec<f64> =
                range.clone().flat_map(|i| range.clone().map(move |j| correlation[[i, j]])).collect();
            factorise(&mut factor, range.len(), COLLINEAR);
            let left_out = (0..range.len()).find(|&k| factor[k * (range.len() + 1)] == 0.0);
            match (names, left_out) {
                (Some(names), Some(k)) => {
                    let index = names[range.start + k] as usize;
                    Err(IcidError::Singular { index, pivot: 0.0, diagonal: 1.0 })
                }
                _ => Ok(factor),
            }
        };
        Ok(Self { factors: (0..blocks.len()).map(factor).collect::<Result<_, _>>()? })
    }

    /// Multiply the rows of each block by the inverse of its factor.
    fn reduce_rows(&self, rows: &mut [f64], width: usize, blocks: &Blocks) {
        for (variable, factor) in self.factors.iter().enumerate().filter(|(_, factor)| factor.len() > 1) {
            let range = blocks.range(variable);
            reduce(factor, &mut rows[range.start * width..range.end * width], width);
        }
    }
}

/// The correlations of renumbered columns, those of one block made uncorrelated, and how.
///
/// With `names` of the columns, one that is a linear combination of others of its block is an error; without, or where
/// its variance is zero, it is uncorrelated with all others.
pub(super) fn whitened(
    covariance: ArrayView2<f64>,
    layout: &Layout,
    columns: &[u32],
    shrinkage: &[f64],
) -> Result<(Array2<f64>, Whitening), IcidError> {
    let correlation = renumbered_correlations(covariance, columns)?;
    let whitening = Whitening::new(&correlation, &layout.blocks, Some(columns))?;
    Ok((transformed(correlation, layout, shrinkage, &whitening), whitening))
}

/// As [`whitened`], of a resample, in which a level may be missing or levels may be a combination of others. Such
/// columns are uncorrelated with all others.
pub(super) fn whitened_resample(
    mut covariance: Array2<f64>,
    layout: &Layout,
    columns: &[u32],
    shrinkage: &[f64],
) -> Result<Array2<f64>, IcidError> {
    check_square("covariance", covariance.dim())?;
    for (variable, &is_category) in layout.is_category.iter().enumerate() {
        for column in layout.blocks.range(variable).filter(|_| is_category) {
            let column = columns[column] as usize;
            if covariance[[column, column]] <= 0.0 {
                covariance[[column, column]] = 1.0;
            }
        }
    }
    check_variances(&covariance.view())?;
    let correlation = renumbered_correlations(covariance.view(), columns)?;
    let whitening = Whitening::new(&correlation, &layout.blocks, None)?;
    Ok(transformed(correlation, layout, shrinkage, &whitening))
}

fn transformed(mut correlation: Array2<f64>, layout: &Layout, shrinkage: &[f64], whitening: &Whitening) -> Array2<f64> {
    let blocks = &layout.blocks;
    let p = blocks.columns();
    if blocks.len() < p {
        for _ in 0..2 {
            let rows = correlation.as_slice_mut().expect("rows are contiguous");
            whitening.reduce_rows(rows, p, blocks);
            correlation = correlation.reversed_axes().as_standard_layout().into_owned();
        }
    }
    for i in 0..blocks.len() {
        for row in blocks.range(i) {
            for j in 0..i {
                let factor = shrinkage[i] * shrinkage[j];
                for column in blocks.range(j) {
                    // The same on both sides of the diagonal, to the bit.
                    let entry = (factor * correlation[[row, column]]).clamp(-1.0, 1.0);
                    (correlation[[row, column]], correlation[[column, row]]) = (entry, entry);
                }
            }
            for column in blocks.range(i) {
                correlation[[row, column]] = if row == column { 1.0 } else { 0.0 };
            }
        }
    }
    correlation
}
