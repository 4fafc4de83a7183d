//! The null distribution of the correlations between residuals, and how much wider it is than chance explains.
//!
//! Without an edge between two variables their residuals should be uncorrelated, with `n r²` distributed as χ² with one
//! degree of freedom. Where the linear model fits only roughly, or rows are not independent, `n r²` is larger throughout,
//! and an edge must be judged against that. The inflation compares upper quantiles: the one of `n r²` that one pair in a
//! hundred exceeds (and at least five pairs, so that a few missed edges do not count) with that of χ². It is about 1
//! where the model is right and the graph has been found.
//!
//! Many weak edges that the graph lacks raise that quantile too, but hardly the median, whereas a rough model raises both.
//! So the null counts as inflated only if its median is (genomic control judges by it: Devlin and Roeder 1999).

use crate::algebra::check::{
    check_finite, check_finite_sparse, check_positive_parameter, check_shape, check_square, check_variances,
};
use crate::algebra::quantile::{chi_squared_upper_quantile, quantile};
use crate::error::IcidError;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// Largest number of residuals to correlate: half a million pairs determine the quantile to about one per cent.
const MOST_RESIDUALS: usize = 1000;
/// With fewer pairs the inflation is taken to be 1.
const FEWEST_PAIRS: usize = 4;

/// The median of `n r²` must be so many times that of χ² for the null to count as inflated.
const INFLATED: f64 = 1.25;

/// Compare the squared correlations between residuals with those that chance explains.
///
/// `b[i, j] ≠ 0` is the weight of i → j. The result is at least 1.
///
/// # Errors
/// When the sizes differ, the number of samples is not positive, an entry is not finite or a variance not positive, or the
/// graph leaves nothing of the variance of a variable.
pub fn null_inflation(b: CsMatView<f64>, covariance: ArrayView2<f64>, samples: f64) -> Result<f64, IcidError> {
    let d = check_square("covariance", covariance.dim())?;
    check_variances(&covariance)?;
    check_shape("B", b.shape(), d)?;
    check_finite_sparse("B", b)?;
    check_positive_parameter("samples", samples)?;
    Ok(inflation(residual_squares(&b.to_csc(), covariance)?, samples))
}

/// The inflation, given squared correlations between residuals of pairs without an edge.
pub(crate) fn inflation(mut squares: Vec<f64>, samples: f64) -> f64 {
    if squares.len() < FEWEST_PAIRS {
        return 1.0;
    }
    let tail = (5.0 / squares.len() as f64).clamp(0.01, 0.5);
    let mut excess = |tail: f64| samples * quantile(&mut squares, 1.0 - tail) / chi_squared_upper_quantile(tail);
    if excess(0.5) < INFLATED { 1.0 } else { excess(tail).max(1.0) }
}

/// Squared correlations between the residuals of pairs without an edge; of very many variables, a part is used.
fn residual_squares(parents: &CsMat<f64>, covariance: ArrayView2<f64>) -> Result<Vec<f64>, IcidError> {
    let chosen = chosen_variables(covariance.diag().iter().copied());
    // Row r of I − Bᵀ, by ascending variables: the residual of r.
    let residuals: Vec<Vec<(usize, f64)>> = chosen
        .iter()
        .map(|&r| {
            let column = parents.outer_view(r);
            let mut row: Vec<_> = column.iter().flat_map(|c| c.iter()).map(|(i, &w)| (i, -w)).collect();
            row.push((r, 1.0));
            row.sort_unstable_by_key(|&(i, _)| i);
            row
        })
        .collect();
    // For each residual, its covariances with those before it and its own variance.
    let rows: Vec<Vec<f64>> = residuals
        .par_iter()
        .enumerate()
        .map_init(
            || vec![0.0; covariance.nrows()],
            |with_all, (s, residual)| {
                with_all.fill(0.0);
                for &(i, weight) in residual {
                    for (sum, c) in with_all.iter_mut().zip(covariance.row(i)) {
                        *sum += weight * c;
                    }
                }
                let covariance =
                    |other: &Vec<(usize, f64)>| other.iter().map(|&(i, weight)| weight * with_all[i]).sum();
                residuals[..=s].iter().map(covariance).collect()
            },
        )
        .collect();
    for (s, row) in rows.iter().enumerate() {
        let (index, pivot) = (chosen[s], row[s]);
        if !(pivot > 0.0 && row.iter().all(|value| value.is_finite())) {
            check_finite("covariance", &covariance)?;
            return Err(IcidError::Singular { index, pivot, diagonal: covariance[[index, index]] });
        }
    }
    let scale: Vec<f64> = rows.iter().enumerate().map(|(s, row)| 1.0 / row[s].sqrt()).collect();
    let has_edge = |r: usize, s: usize| parents.get(r, s).is_some_and(|&weight| weight != 0.0);
    let mut squares = Vec::with_capacity(chosen.len() * chosen.len().saturating_sub(1) / 2);
    for (s, row) in rows.iter().enumerate() {
        for (r, value) in row[..s].iter().enumerate() {
            if !has_edge(chosen[r], chosen[s]) && !has_edge(chosen[s], chosen[r]) {
                squares.push((value * scale[s] * scale[r]).powi(2));
            }
        }
    }
    Ok(squares)
}

/// All variables; of very many, some at equal distances in the order of their variances.
pub(crate) fn chosen_variables(variances: impl Iterator<Item = f64>) -> Vec<usize> {
    let variances: Vec<f64> = variances.collect();
    let d = variances.len();
    let mut ranked: Vec<usize> = (0..d).collect();
    if d <= MOST_RESIDUALS {
        return ranked;
    }
    ranked.sort_by(|&i, &j| variances[i].total_cmp(&variances[j]));
    let step = (d - 1) as f64 / (MOST_RESIDUALS - 1) as f64;
    let place = |k: usize| if k == MOST_RESIDUALS - 1 { d - 1 } else { (k as f64 * step) as usize };
    (0..MOST_RESIDUALS).map(|k| ranked[place(k)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;
    use ndarray::Array2;
    use sprs::TriMat;

    #[test]
    fn inflation_is_the_naive_one() {
        let d = 30;
        let number = |k: usize| scramble(k as u64) as f64 / u64::MAX as f64 - 0.5;
        let x = Array2::from_shape_fn((200, d), |(k, j)| number(k * d + j));
        let covariance = x.t().dot(&x) / 200.0;
        let mut edges = TriMat::new((d, d));
        for (i, j, w) in [(0, 1, 0.4), (1, 2, -0.3), (0, 29, 0.2)] {
            edges.add_triplet(i, j, w);
        }
        let b: CsMat<f64> = edges.to_csr();
        let a = Array2::eye(d) - b.to_dense().t();
        let residual = a.dot(&covariance).dot(&a.t());
        let mut squares = Vec::new();
        for i in 0..d {
            for j in 0..i {
                if b.get(i, j).is_none() && b.get(j, i).is_none() {
                    squares.push(residual[[i, j]].powi(2) / (residual[[i, i]] * residual[[j, j]]));
                }
            }
        }
        squares.sort_by(f64::total_cmp);
        let tail = (5.0 / squares.len() as f64).max(0.01);
        let place = (squares.len() - 1) as f64 * (1.0 - tail);
        let (low, high) = (squares[place as usize], squares[place as usize + 1]);
        // Samples such that the null looks inflated.
        let expected = 3000.0 * (low + (high - low) * place.fract()) / chi_squared_upper_quantile(tail);
        let found = null_inflation(b.view(), covariance.view(), 3000.0).unwrap();
        assert!(expected > 1.0 && (found - expected).abs() < 1e-10 * expected, "{found} {expected}");
        assert_eq!(null_inflation(b.view(), covariance.view(), 1e-3).unwrap(), 1.0);
    }

    #[test]
    fn few_pairs_say_nothing_and_sizes_must_fit() {
        let none = CsMat::zero((2, 2));
        assert_eq!(null_inflation(none.view(), Array2::eye(2).view(), 10.0).unwrap(), 1.0);
        assert!(null_inflation(none.view(), Array2::eye(3).view(), 10.0).is_err());
        assert!(null_inflation(none.view(), Array2::eye(2).view(), f64::NAN).is_err());
    }

    #[test]
    fn of_many_variables_some_are_chosen_by_their_variances() {
        let d = 1500;
        let covariance = Array2::from_diag(&ndarray::Array1::from_shape_fn(d, |i| ((i * 7) % d) as f64));
        let chosen = chosen_variables(covariance.diag().iter().copied());
        let variances: Vec<f64> = chosen.iter().map(|&i| covariance[[i, i]]).collect();
        assert_eq!((chosen.len(), variances[0], variances[999]), (1000, 0.0, (d - 1) as f64));
        assert!(variances.is_sorted());
    }
}
