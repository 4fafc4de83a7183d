//! A graph over blocks, once it is found: how strong its edges are, and the coefficients of its regressions.

use super::prepared::Prepared;
use crate::Blocks;
use crate::algebra::csr::from_entries;
use crate::algebra::small::{determinant, factorise, raise, reduce};
use crate::error::IcidError;
use crate::knowledge::Knowledge;
use crate::score::{Noise, Score, chosen_variables, inflation};
use crate::search::Evidence;
use crate::search::columns::Columns;
use crate::search::fit::Fit;
use crate::search::kernel::Block;
use crate::sem::LinearSem;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use sprs::CsMat;

/// Regressions of the columns of each variable on those of its causes, in the units of the table.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Coefficients {
    /// `[k, l]`: weight of column k in the regression of column l.
    pub weights: CsMat<f64>,
    /// Covariances of residuals within each block.
    pub residuals: CsMat<f64>,
}

/// Regress each variable on its causes.
fn fits(evidence: &Evidence, causes: &[Vec<usize>]) -> Vec<Fit<Block>> {
    let columns = Columns::all(evidence.dim());
    let fit = |(effect, causes): (usize, &Vec<usize>)| {
        let mut fit = Fit::default();
        fit.reset(evidence, &columns, effect as u32);
        for &cause in causes {
            fit.take(evidence, &columns, cause as u32);
        }
        fit
    };
    causes.par_iter().enumerate().map(fit).collect()
}

/// Run with regressions of variables whose columns have these correlations.
fn with_fits<T>(
    correlation: ArrayView2<f64>,
    blocks: &Blocks,
    names: &[u32],
    causes: &[Vec<usize>],
    work: impl FnOnce(&[Fit<Block>]) -> T,
) -> Result<T, IcidError> {
    // Least squares need neither a price nor a number of samples.
    let (score, knowledge) = (Score::new(1.0, 0.0, Noise::Unequal)?, Knowledge::none(blocks.len()));
    let fits = fits(&Evidence::of_blocks(correlation, blocks, score, &knowledge)?, causes);
    match fits.iter().find(|fit| fit.left <= f64::MIN_POSITIVE) {
        Some(fit) => {
            let index = names[fit.variable as usize] as usize;
            Err(IcidError::Singular { index, pivot: 0.0, diagonal: 1.0 })
        }
        None => Ok(work(&fits)),
    }
}

/// A graph with the strengths of its edges, and the shares of generalised variances that are left, in the caller's
/// numbers.
///
/// The strength of an edge is the square root of the share of the generalised variance of the effect, given its
/// other causes, that the cause explains. Between two numbers it is the size of their partial correlation.
pub(in crate::search) fn strengths(
    correlation: ArrayView2<f64>,
    blocks: &Blocks,
    names: &[u32],
    order: &[usize],
    causes: &[Vec<usize>],
) -> Result<LinearSem, IcidError> {
    with_fits(correlation, blocks, names, causes, |fits| {
        let name = |i: usize| names[i] as usize;
        let mut noise_variances = vec![0.0; names.len()];
        let mut edges = Vec::new();
        let (mut weights, mut losses) = (Vec::new(), Vec::new());
        for (effect, fit) in fits.iter().enumerate() {
            noise_variances[name(effect)] = fit.left;
            fit.weigh(&mut weights, &mut losses);
            for (&cause, loss) in fit.parents.iter().zip(&losses) {
                // Rounding may leave nothing of an edge that background knowledge requires.
                let share = (loss / (fit.left + loss)).clamp(f64::EPSILON.powi(2), 1.0);
                edges.push((name(cause as usize), name(effect), share.sqrt()));
            }
        }
        let b = from_entries((names.len(), names.len()), || edges.iter().copied());
        LinearSem { b, order: order.iter().map(|&i| name(i)).collect(), noise_variances }
    })
}

/// The regressions of a graph in the units and numbers of the table.
pub(super) fn coefficients(prepared: &Prepared, causes: &[Vec<usize>]) -> Result<Coefficients, IcidError> {
    let Prepared { names, columns, scale, layout, whitening, .. } = prepared;
    let blocks = &layout.blocks;
    let name = |column: usize| columns[column] as usize;
    let (mut entries, mut residuals) = (Vec::new(), Vec::new());
    with_fits(prepared.correlation.view(), blocks, names, causes, |fits| {
        let (mut weights, mut losses) = (Vec::new(), Vec::new());
        for (effect, fit) in fits.iter().enumerate() {
            let own = blocks.range(effect);
            let (width, factor) = (own.len(), &whitening.factors[effect]);
            fit.weigh(&mut weights, &mut losses);
            let mut of_column = vec![0.0; columns.len() * width];
            for (&column, weights) in fit.kernel().regressors().iter().zip(weights.chunks_exact(width)) {
                of_column[column as usize * width..][..width].copy_from_slice(weights);
            }
            for &cause in &fit.parents {
                let range = blocks.range(cause as usize);
                let part = &mut of_column[range.start * width..range.end * width];
                // x̃ = L⁻¹ x for each block: from weights W between whitened columns to L_P⁻ᵀ W L_jᵀ.
                raise(&whitening.factors[cause as usize], part, width);
                for (k, weights) in range.zip(part.chunks_exact(width)) {
                    for (row, l) in own.clone().enumerate() {
                        let sum: f64 =
                            weights.iter().zip(&factor[row * width..=row * width + row]).map(|(w, f)| w * f).sum();
                        entries.push((name(k), name(l), sum * scale[l] / scale[k]));
                    }
                }
            }
            let left = fit.kernel().own_covariance();
            for a in 0..width {
                for b in 0..width {
                    let sum: f64 = (0..=a)
                        .flat_map(|k| (0..=b).map(move |l| (k, l)))
                        .map(|(k, l)| factor[a * width + k] * left[k * width + l] * factor[b * width + l])
                        .sum();
                    let (one, two) = (own.start + a, own.start + b);
                    residuals.push((name(one), name(two), sum * scale[one] * scale[two]));
                }
            }
        }
    })?;
    let matrix =
        |entries: &[(usize, usize, f64)]| from_entries((columns.len(), columns.len()), || entries.iter().copied());
    Ok(Coefficients { weights: matrix(&entries), residuals: matrix(&residuals) })
}

/// Inflation of the null of a graph, as in [`null_inflation`](crate::score::null_inflation), from the correlations between
/// the residuals of columns, those of one block uncorrelated.
pub(super) fn residual_inflation(prepared: &Prepared, causes: &[Vec<usize>], samples: f64) -> Result<f64, IcidError> {
    let blocks = &prepared.layout.blocks;
    let correlation = &prepared.correlation;
    // Of very many, some variables at equal distances.
    let chosen = chosen_variables((0..blocks.len()).map(|i| i as f64));
    let rows = with_fits(correlation.view(), blocks, &prepared.names, causes, |fits| {
        // Row by row the residuals as combinations of columns, of unit variance and uncorrelated within a block.
        let of_variable = |&effect: &usize| {
            let (mut weights, mut losses) = (Vec::new(), Vec::new());
            fits[effect].weigh(&mut weights, &mut losses);
            let width = blocks.width(effect);
            let mut rows = vec![0.0; blocks.columns() * width];
            for (k, (own, row)) in blocks.range(effect).zip(rows.chunks_exact_mut(blocks.columns())).enumerate() {
                row[own] = 1.0;
                for (&column, weights) in fits[effect].kernel().regressors().iter().zip(weights.chunks_exact(width)) {
                    row[column as usize] = -weights[k];
                }
            }
            let mut factor = fits[effect].kernel().own_covariance();
            factorise(&mut factor, width, f64::MIN_POSITIVE);
            reduce(&factor, &mut rows, blocks.columns());
            rows
        };
        chosen.par_iter().map(of_variable).collect::<Vec<Vec<f64>>>()
    })?;
    // Covariances of residuals with all columns.
    let with_all = |row: &[f64]| {
        let mut product = vec![0.0; row.len()];
        for (weight, c) in row.iter().zip(correlation.rows()).filter(|(weight, _)| **weight != 0.0) {
            product.iter_mut().zip(c).for_each(|(sum, c)| *sum += weight * c);
        }
        product
    };
    let squares = |(k, one): (usize, &usize)| {
        let products: Vec<Vec<f64>> = rows[k].chunks_exact(blocks.columns()).map(with_all).collect();
        let mut squares = Vec::new();
        let is_joined = |two: &usize| causes[*one].contains(two) || causes[*two].contains(one);
        for (_, others) in chosen[..k].iter().zip(&rows).filter(|(two, _)| !is_joined(two)) {
            for other in others.chunks_exact(blocks.columns()) {
                let square = |product: &Vec<f64>| product.iter().zip(other).map(|(a, b)| a * b).sum::<f64>().powi(2);
                squares.extend(products.iter().map(square));
            }
        }
        squares
    };
    let squares: Vec<Vec<f64>> = chosen.par_iter().enumerate().map(squares).collect();
    Ok(inflation(squares.concat(), samples))
}

/// An order in which each variable is the one that those before it explain best: with the smallest generalised variance
/// given these, for each of its columns.
pub(super) fn smallest_pivots(correlation: &Array2<f64>, blocks: &Blocks) -> Vec<usize> {
    /// Variances that differ relatively by less than this are equal.
    const SAME: f64 = 1e-10;
    let mut left = correlation.clone();
    let mut remaining: Vec<usize> = (0..blocks.len()).collect();
    let mut order = Vec::with_capacity(blocks.len());
    while !remaining.is_empty() {
        let log_variance = |&i: &usize| {
            let range = blocks.range(i);
            let mut part: Vec<f64> =
                range.clone().flat_map(|k| range.clone().map(move |l| (k, l))).map(|(k, l)| left[[k, l]]).collect();
            let variance = determinant(&mut part, range.len(), f64::EPSILON);
            variance.map_or(f64::NEG_INFINITY, f64::ln) / range.len() as f64
        };
        let mut best = (f64::INFINITY, 0);
        for (place, variance) in remaining.iter().map(log_variance).enumerate() {
            if variance < best.0 - SAME || place == 0 {
                best = (variance, place);
            }
        }
        let next = remaining.remove(best.1);
        order.push(next);
        for pivot in blocks.range(next) {
            let pivot_row = left.row(pivot).to_vec();
            let variance = pivot_row[pivot];
            if variance <= f64::EPSILON {
                continue;
            }
            let columns = blocks.columns();
            let rows = left.as_slice_mut().expect("rows are contiguous").par_chunks_mut(columns);
            rows.with_min_len(64).for_each(|row| {
                let factor = row[pivot] / variance;
                if factor != 0.0 {
                    row.iter_mut().zip(&pivot_row).for_each(|(entry, other)| *entry -= factor * other);
                }
            });
        }
    }
    order
}
