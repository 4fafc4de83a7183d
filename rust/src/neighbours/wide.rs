//! Θ of very many variables from samples, without any matrix of size d × d.
//!
//! Correlations below `√(log d / n)` count as zero. Instead of a maximum likelihood fit on the support, sinks are
//! eliminated one after another by regressions on their neighbours, as if noise variances were equal. This gives a causal
//! order, and regressions along it give a graph B and noise variances Ω; with them, `Θ = (I − B) Ω⁻¹ (I − B)ᵀ`. The
//! support of this Θ is a better estimate of the neighbours than separate regressions are, so elimination and
//! regressions are repeated from it while the score improves.

use super::check::{check_permutation, check_scales};
use super::{Standardised, Test, correlations, eliminate_sinks, from_rows, lasso_level, select_neighbours, stepwise};
use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use ndarray::s;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};
use std::time::{Duration, Instant};

/// Rounds of elimination and regression, at most.
const ROUNDS: usize = 5;
/// Approximate number of variables from whose correlations the number of all correlations above the cut is estimated.
const FEW: usize = 256;
/// Bytes that one correlation takes while it is found, sorted and returned.
type Room = [u8; 48];
/// Columns of a product that are computed at a time.
const BLOCK: usize = 1024;

/// An estimate of Θ by [`wide_precision`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Wide {
    /// The inverse covariance in the units of the data, exactly symmetric.
    pub theta: CsMat<f64>,
    /// Correlations above `√(log d / n)`: both entries of each pair, without the diagonal.
    pub correlations: CsMat<f64>,
    /// The graph B behind Θ, in the units of the data; row causes column.
    pub b: CsMat<f64>,
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// Noise variances Ω.
    pub noise_variances: Vec<f64>,
    /// Time spent on the correlations.
    pub correlation_time: Duration,
    /// Time spent on the neighbours of each variable.
    pub support_time: Duration,
    /// Time spent on orders and regressions along them.
    pub fit_time: Duration,
}

/// Estimate Θ from sparse correlations, neighbourhood selection and regressions along orders.
///
/// `data` holds the standardised variables, `variances` their variances before.
///
/// # Errors
/// As [`select_neighbours`]; [`IcidError::Size`] or [`IcidError::Positive`] for the variances; [`IcidError::Memory`]
/// if there will be more correlations above the cut than fit, extrapolated from those of some variables.
pub fn wide_precision(
    data: Standardised,
    variances: &[f64],
    samples: usize,
    interrupt: &Interrupt,
) -> Result<Wide, IcidError> {
    let begin = Instant::now();
    let d = data.variables();
    let test = Test::extended_bic(samples, d)?;
    check_scales("variances", data, variances)?;
    let deviations: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
    let level = lasso_level(samples, d);
    ensure_room::<Room>("the correlations above the cut", expected_correlations(data, level))?;
    let correlations = correlations(data, level, interrupt)?;
    let correlation_time = begin.elapsed();
    let support = select_neighbours(data, samples, Some(correlations.view()), interrupt)?;
    let support_time = begin.elapsed().saturating_sub(correlation_time);

    let round = |support: CsMatView<f64>| -> Result<Round, IcidError> {
        let order = eliminate_sinks(data, variances, support, test, interrupt)?;
        let (b, noise_variances) =
            regress_on_rows(data, correlations.view(), &deviations, support, &order, test, interrupt)?;
        let mean = noise_variances.iter().sum::<f64>() / d as f64;
        let score = (samples * d) as f64 * mean.ln() + test.penalty() * b.nnz() as f64;
        Ok(Round { b, order, noise_variances, score })
    };
    let mut best = round(support.view())?;
    let mut theta = precision(best.b.view(), &best.noise_variances);
    for _ in 1..ROUNDS {
        let next = round(theta.view())?;
        if next.score >= best.score {
            break;
        }
        theta = precision(next.b.view(), &next.noise_variances);
        best = next;
    }
    // The lower triangle and its mirror image: rounding may make the two differ.
    let lower = || theta.iter().filter(|&(_, (i, j))| j <= i).map(|(&value, (i, j))| (i, j, value));
    let upper = || lower().filter(|&(i, j, _)| j < i).map(|(i, j, value)| (j, i, value));
    let theta = from_entries((d, d), || lower().chain(upper()));
    let fit_time = begin.elapsed().saturating_sub(correlation_time + support_time);
    let Round { b, order, noise_variances, .. } = best;
    Ok(Wide { theta, correlations, b, order, noise_variances, correlation_time, support_time, fit_time })
}

/// A graph along an order, and its score: twice the negative log-likelihood for equal noise variances, plus a penalty
/// per edge.
struct Round {
    b: CsMat<f64>,
    order: Vec<usize>,
    noise_variances: Vec<f64>,
    score: f64,
}

/// Regress each variable on those before it in an order, stepwise, starting from its neighbours in a pattern.
///
/// Returns B in the units of the data, in which row causes column, and the noise variances. `correlations` are without
/// their diagonal, and pairs that they lack count as uncorrelated; `deviations` are the standard deviations of the
/// variables.
///
/// # Errors
/// [`IcidError::Shape`], [`IcidError::Size`], [`IcidError::Order`] or [`IcidError::Positive`] for arguments that do
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
    check_scales("deviations", data, deviations)?;
    check_permutation("order", data, order)?;
    let mut places = vec![0; order.len()];
    for (place, &variable) in order.iter().enumerate() {
        places[variable] = place;
    }
    let (mut weights, shares) = stepwise(data, Some(correlations), start, Some(&places), test, interrupt)?;
    for (effect, mut row) in weights.outer_iterator_mut().enumerate() {
        row.iter_mut().for_each(|(cause, weight)| *weight = *weight * deviations[effect] / deviations[cause]);
    }
    let noise_variances = shares.iter().zip(deviations).map(|(share, scale)| share * (scale * scale)).collect();
    Ok((weights.transpose_into().to_csr(), noise_variances))
}

/// Estimated number of correlations above a cut, diagonal included, from those of a few variables with all others.
fn expected_correlations(data: Standardised, cut: f64) -> u128 {
    let d = data.variables();
    let few = data.0.slice(s![..;(d / FEW).max(1), ..]);
    let above = |start: usize| {
        let products = few.dot(&data.0.slice(s![start..(start + BLOCK).min(d), ..]).t());
        products.iter().filter(|r| r.abs() > cut).count()
    };
    let found: usize = (0..d).into_par_iter().step_by(BLOCK).map(above).sum();
    found as u128 * d as u128 / few.nrows() as u128
}

/// `(I − B) Ω⁻¹ (I − B)ᵀ`, row by row, without zeros.
fn precision(b: CsMatView<f64>, noise_variances: &[f64]) -> CsMat<f64> {
    let d = b.rows();
    let identity: CsMat<f64> = CsMat::eye(d);
    let a = &identity - &b;
    let transposed = a.transpose_view().to_csr();
    let row = |i: usize, (sums, touched): &mut (Vec<f64>, Vec<u32>)| {
        // From the last entry to the first, the order in which SciPy's product adds, so that results agree to the bit.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::standardise;
    use ndarray::Array2;

    #[test]
    fn with_few_variables_the_expected_number_of_correlations_is_exact() {
        let (values, _) =
            standardise(Array2::from_shape_fn((120, 80), |(i, k)| ((i * i + 7 * k * k) % 31) as f64)).unwrap();
        let data = Standardised::new(&values.view()).unwrap();
        let found = correlations(data, 0.2, &Interrupt::default()).unwrap();
        assert!(found.nnz() > 0);
        assert_eq!(expected_correlations(data, 0.2), (found.nnz() + 120) as u128);
    }
}
