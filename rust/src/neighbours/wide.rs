//! Θ of many variables, from samples alone: nothing of size d × d is made.
//!
//! Correlations below `√(log d / n)` are taken to be zero. In place of a fit of greatest likelihood, sinks are eliminated
//! one after another by regressions on their neighbours, as if noise variances were equal. That gives an order, and
//! regressions along it a graph B and noise variances Ω; with them, `Θ = (I − B) Ω⁻¹ (I − B)ᵀ`. Its support says more of
//! neighbours than regressions on all others do, so the same starts again from there while the score improves.

use super::check::{check_correlations, check_lengths, check_pattern, check_permutation, check_positive};
use super::{Standardised, Test, correlations, from_rows, lasso_level, select_neighbours, sinks, stepwise};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use ndarray::s;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// Rounds of elimination and regression, at most.
const ROUNDS: usize = 5;
/// Variables, about, whose correlations tell how many there will be of all.
const FEW: usize = 256;
/// Bytes that one correlation takes while it is found, sorted and handed on.
type Room = [u8; 48];
/// Columns of a product that are looked at together.
const BLOCK: usize = 1024;

/// What [`wide_precision`] finds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Wide {
    /// The inverse covariance in the units of the data, symmetric to the bit.
    pub theta: CsMat<f64>,
    /// Correlations above `√(log d / n)`, both of each pair, without the diagonal.
    pub correlations: CsMat<f64>,
    /// The graph that Θ is made of, in the units of the data; row causes column.
    pub b: CsMat<f64>,
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// Noise variances Ω.
    pub noise_variances: Vec<f64>,
}

/// Estimate Θ from sparse correlations, neighbourhood selection and regressions along orders.
///
/// `variances` are those of the variables, whose standardised values `data` holds.
///
/// # Errors
/// As [`select_neighbours`]; [`IcidError::Length`] or [`IcidError::Positive`] for the variances; [`IcidError::Memory`]
/// if, judged by some of the variables, there are more correlations than fit.
pub fn wide_precision(
    data: Standardised,
    variances: &[f64],
    samples: usize,
    interrupt: &Interrupt,
) -> Result<Wide, IcidError> {
    let d = data.variables();
    let test = Test::extended_bic(samples, d)?;
    check_lengths("variances", variances.len(), data)?;
    check_positive("variances", variances)?;
    let deviations: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
    let level = lasso_level(samples, d);
    ensure_room::<Room>("the correlations above the cut", expected_correlations(data, level))?;
    let correlations = correlations(data, level, interrupt)?;
    let support = select_neighbours(data, samples, Some(correlations.view()), interrupt)?;

    let round = |support: CsMatView<f64>| -> Result<Round, IcidError> {
        let order = sinks::eliminate(data, variances, support, test, interrupt)?;
        let (b, noise_variances) = regress(data, correlations.view(), &deviations, support, &order, test, interrupt)?;
        let mean = noise_variances.iter().sum::<f64>() / d as f64;
        let score = (samples * d) as f64 * mean.ln() + test.penalty() * b.nnz() as f64;
        Ok(Round { b, order, noise_variances, score })
    };
    let mut best = round(support.view())?;
    let mut theta = best.precision();
    for _ in 1..ROUNDS {
        let next = round(filtered(&theta, |i, j| i != j).view())?;
        if next.score >= best.score {
            break;
        }
        theta = next.precision();
        best = next;
    }
    let Round { b, order, noise_variances, .. } = best;
    Ok(Wide { theta: mirrored(&theta), correlations, b, order, noise_variances })
}

/// A graph along an order, and its score: twice the negative log-likelihood, for equal noise, and a penalty per edge.
struct Round {
    b: CsMat<f64>,
    order: Vec<usize>,
    noise_variances: Vec<f64>,
    score: f64,
}

impl Round {
    fn precision(&self) -> CsMat<f64> {
        precision(self.b.view(), &self.noise_variances)
    }
}

/// Regress each variable on those before it in an order, from its neighbours in a pattern, one in or out at a time.
///
/// Returns B in the units of the data, in which row causes column, and the noise variances. `correlations` are those of
/// all pairs that matter, without their diagonal; `deviations` the standard deviations of the variables.
///
/// # Errors
/// [`IcidError::Shape`], [`IcidError::Length`], [`IcidError::Order`] or [`IcidError::Positive`] for arguments that do
/// not fit the data; [`IcidError::Interrupted`].
pub fn regress_on_rows(
    data: Standardised,
    correlations: CsMatView<f64>,
    deviations: &[f64],
    start: CsMatView<f64>,
    order: &[usize],
    test: Test,
    interrupt: &Interrupt,
) -> Result<(CsMat<f64>, Vec<f64>), IcidError> {
    check_correlations(data, Some(correlations))?;
    check_lengths("deviations", deviations.len(), data)?;
    check_positive("deviations", deviations)?;
    check_pattern("start", data, start)?;
    check_permutation("order", order, data)?;
    regress(data, correlations, deviations, start, order, test, interrupt)
}

fn regress(
    data: Standardised,
    correlations: CsMatView<f64>,
    deviations: &[f64],
    start: CsMatView<f64>,
    order: &[usize],
    test: Test,
    interrupt: &Interrupt,
) -> Result<(CsMat<f64>, Vec<f64>), IcidError> {
    let mut places = vec![0; order.len()];
    for (place, &variable) in order.iter().enumerate() {
        places[variable] = place;
    }
    let (mut weights, left) = stepwise::choose_all(data, Some(correlations), start, Some(&places), test, interrupt)?;
    for (effect, mut row) in weights.outer_iterator_mut().enumerate() {
        row.iter_mut().for_each(|(cause, weight)| *weight = *weight * deviations[effect] / deviations[cause]);
    }
    let noise_variances = left.iter().zip(deviations).map(|(left, scale)| left * (scale * scale)).collect();
    Ok((weights.transpose_into().to_csr(), noise_variances))
}

/// How many correlations are above a cut, judged by those of a few variables with all, themselves included.
fn expected_correlations(data: Standardised, cut: f64) -> u128 {
    let d = data.variables();
    let few = data.0.slice(s![..;(d / FEW).max(1), ..]);
    let starts: Vec<usize> = (0..d).step_by(BLOCK).collect();
    let above = |start: usize| {
        let products = few.dot(&data.0.slice(s![start..(start + BLOCK).min(d), ..]).t());
        products.iter().filter(|r| r.abs() > cut).count()
    };
    let found: usize = starts.into_par_iter().map(above).sum();
    found as u128 * d as u128 / few.nrows() as u128
}

/// `(I − B) Ω⁻¹ (I − B)ᵀ`, row by row, without zeros.
fn precision(b: CsMatView<f64>, noise_variances: &[f64]) -> CsMat<f64> {
    let d = b.rows();
    let identity: CsMat<f64> = CsMat::eye(d);
    let a = &identity - &b;
    let transposed = a.transpose_view().to_csr();
    let row = |i: usize, (sums, touched): &mut (Vec<f64>, Vec<u32>)| {
        // From the last entry to the first, the order in which SciPy adds: results are the same to the bit.
        let range = a.indptr().outer_inds_sz(i);
        for (&k, entry) in a.indices()[range.clone()].iter().zip(&a.data()[range]).rev() {
            let weighted = entry * (1.0 / noise_variances[k]);
            for (j, other) in transposed.outer_view(k).iter().flat_map(|row| row.iter()) {
                touched.push(j as u32);
                sums[j] += weighted * other;
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let found = touched.drain(..).map(|j| (j, std::mem::take(&mut sums[j as usize])));
        found.filter(|&(_, value)| value != 0.0).collect::<Vec<_>>()
    };
    let rows: Vec<_> = (0..d).into_par_iter().map_init(|| (vec![0.0; d], Vec::new()), |sums, i| row(i, sums)).collect();
    from_rows(&rows)
}

/// The entries in some places.
fn filtered(matrix: &CsMat<f64>, keep: impl Fn(usize, usize) -> bool) -> CsMat<f64> {
    let row = |(i, row): (usize, sprs::CsVecView<f64>)| {
        row.iter().filter(|&(j, _)| keep(i, j)).map(|(j, &value)| (j as u32, value)).collect()
    };
    from_rows(&matrix.outer_iterator().enumerate().map(row).collect::<Vec<_>>())
}

/// The lower triangle and its mirror image.
fn mirrored(matrix: &CsMat<f64>) -> CsMat<f64> {
    let mut rows = vec![Vec::new(); matrix.rows()];
    for (&value, (i, j)) in matrix.iter().filter(|&(_, (i, j))| j <= i) {
        rows[i].push((j as u32, value));
        if j < i {
            rows[j].push((i as u32, value));
        }
    }
    from_rows(&rows)
}
