//! Pairs of variables that are no candidates although one would improve the score of the other as a parent.
//!
//! A parent may be hardly correlated with its child, because paths cancel or because other parents dominate. It is
//! correlated with the residual of the child given these.

use super::super::prepared::least_dependence;
use super::sparse::Sparse;
use super::table::WideTable;
use crate::algebra::least_squares::LeastSquares;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::neighbours::{Standardised, dot};
use crate::score::Score;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, s};
use rayon::prelude::*;

/// Variables on each side of a block of products.
const BLOCK: usize = 512;
/// Pairs are examined from this share of the correlation with the residual that a parent needs: the parents that the child
/// has may explain a part of the new one.
const LENIENT: f64 = 0.5;
/// In units of the least correlation of candidates, the least covariance with a residual that shows in the correlation with
/// the variable itself: parents are correlated with others by chance.
const VISIBLE: f64 = 1.2;

/// Pairs that are no candidates, of which one variable is worth an edge to the other, in the caller's numbers.
///
/// `causes` are the parents of each variable, in the numbers of the table; new parents are sought for some of them.
pub(super) fn missing_pairs(
    data: Standardised,
    table: &WideTable,
    causes: &[Vec<u32>],
    effects: &[u32],
    score: &Score,
    interrupt: &Interrupt,
) -> Result<Vec<(usize, usize)>, IcidError> {
    let (d, n) = (data.variables(), data.samples());
    ensure_room::<[f32; 2]>("the residuals in single precision", d as u128 * n as u128)?;
    let sparse = Sparse::new(data.reborrow(), table);
    let name = |number: u32| table.names[number as usize];
    // A parent gains its penalty if it explains this share of the residual variance.
    let needed = -(-score.penalty / score.samples).exp_m1();
    // Where much is left unexplained, a parent that is worth its penalty is correlated with the variable itself.
    let hides = |fit: &Fit| (needed * fit.left).sqrt() < VISIBLE * least_dependence(score.samples as usize);
    let fits: Vec<Fit> = effects.par_iter().map(|&j| Fit::new(sparse, j, &causes[j as usize])).filter(hides).collect();
    let mut variables = Array2::<f32>::zeros((d, n));
    for (number, mut out) in (0..).zip(variables.rows_mut()) {
        out.iter_mut().zip(data.of(name(number))).for_each(|(out, &value)| *out = value as f32);
    }
    let mut residuals = Array2::<f32>::zeros((fits.len(), n));
    let mut exact = vec![0.0; n];
    for (fit, mut residual) in fits.iter().zip(residuals.rows_mut()) {
        interrupt.check()?;
        let parents = fit.causes.iter().map(|&cause| name(cause));
        data.residual(name(fit.variable), parents.zip(fit.weights.iter().copied()), &mut exact);
        let length = dot(&exact, &exact).sqrt();
        residual.iter_mut().zip(&exact).for_each(|(out, value)| *out = (value / length) as f32);
    }
    let cut = (LENIENT * needed.sqrt()) as f32;
    let starts = |len: usize| (0..len).step_by(BLOCK);
    let blocks: Vec<(usize, usize)> = starts(fits.len()).flat_map(|i| starts(d).map(move |j| (i, j))).collect();
    let block = |products: &mut Array2<f32>, &(top, left): &(usize, usize)| {
        interrupt.check()?;
        let one = residuals.slice(s![top..(top + BLOCK).min(fits.len()), ..]);
        let two = variables.slice(s![left..(left + BLOCK).min(d), ..]);
        let mut products = products.slice_mut(s![..one.nrows(), ..two.nrows()]);
        general_mat_mul(1.0, &one, &two.t(), 0.0, &mut products);
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (fit, row) in fits[top..].iter().zip(products.rows()) {
            let above = (left as u32..).zip(row).filter(|(_, r)| r.abs() > cut).map(|(other, _)| other);
            let candidates = &table.candidates[fit.variable as usize];
            let new = above.filter(|other| *other != fit.variable && candidates.binary_search(other).is_err());
            let worthy = new.filter(|&other| fit.share(sparse, other) > fit.left * needed);
            let (own, others) = (name(fit.variable) as usize, worthy.map(|other| name(other) as usize));
            pairs.extend(others.map(|other| (own.min(other), own.max(other))));
        }
        Ok(pairs)
    };
    let found = blocks.par_iter().map_init(|| Array2::zeros((BLOCK, BLOCK)), block).collect::<Result<Vec<_>, _>>()?;
    Ok(found.concat())
}

/// A variable regressed on its parents.
struct Fit {
    variable: u32,
    causes: Vec<u32>,
    weights: Vec<f64>,
    /// Share of the variance that is left unexplained.
    left: f64,
}

impl Fit {
    fn new(sparse: Sparse, variable: u32, causes: &[u32]) -> Self {
        let right: Vec<f64> = causes.iter().map(|&cause| sparse.correlation(cause, variable)).collect();
        let entry = |a: usize, b: usize| sparse.correlation(causes[a], causes[b]);
        let causes = causes.to_vec();
        match LeastSquares::solve(entry, &right, 1.0, Vec::new()) {
            Some(LeastSquares { weights, left, .. }) => Self { variable, causes, weights, left },
            None => Self { variable, causes: Vec::new(), weights: Vec::new(), left: 1.0 },
        }
    }

    /// The share of the variance that another variable would explain in addition to the parents.
    fn share(&self, sparse: Sparse, other: u32) -> f64 {
        let weights = self.causes.iter().zip(&self.weights);
        let known: f64 = weights.map(|(&cause, weight)| weight * sparse.correlation(cause, other)).sum();
        let covariance = sparse.correlation(self.variable, other) - known;
        // The part of the other variable that the parents explain is of no use.
        let variance = Self::new(sparse, other, &self.causes).left;
        covariance * covariance / variance.max(f64::EPSILON)
    }
}
