//! Which pairs of variables depend on each other: correlations, and tests of partial correlations.

use crate::algebra::check::{check_parameter, check_square, check_variances};
use crate::algebra::product::square;
use crate::algebra::quantile::normal_upper_quantile;
use crate::error::IcidError;
use crate::memory::ensure_room;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// The correlation matrix of a covariance matrix: symmetric to the bit, with a diagonal of 1.
///
/// # Errors
/// When the covariance is not square, has a variance that is not positive or an entry that is not finite, or does not fit into
/// memory.
///
/// # Examples
/// ```
/// let covariance = ndarray::array![[4.0, 1.0], [1.0, 1.0]];
/// let correlation = icid_rs::support::correlation_matrix(covariance.view())?;
/// assert_eq!(correlation, ndarray::array![[1.0, 0.5], [0.5, 1.0]]);
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
pub fn correlation_matrix(covariance: ArrayView2<f64>) -> Result<Array2<f64>, IcidError> {
    let names: Vec<u32> = (0..covariance.nrows() as u32).collect();
    renumbered_correlations(covariance, &names)
}

/// The correlations of variables in another order: row i belongs to the variable `names[i]`.
pub(crate) fn renumbered_correlations(covariance: ArrayView2<f64>, names: &[u32]) -> Result<Array2<f64>, IcidError> {
    let d = check_square("covariance", covariance.dim())?;
    check_variances(&covariance)?;
    ensure_room::<f64>("the correlation matrix", d as u128 * d as u128)?;
    let scale: Vec<f64> = covariance.diag().iter().map(|v| v.sqrt()).collect();
    let mut entries = vec![0.0; d * d];
    entries.par_chunks_mut(d.max(1)).zip(names).try_for_each(|(row, &a)| {
        for (entry, &b) in row.iter_mut().zip(names) {
            // Read the entry below the diagonal in the caller's numbering, so that the result is exactly symmetric.
            let (i, j) = (a.max(b) as usize, a.min(b) as usize);
            // Adding zero removes the sign of a negative zero, which hashes of the entries would see.
            *entry = if i == j { 1.0 } else { covariance[[i, j]] / scale[j] / scale[i] + 0.0 };
            if !entry.is_finite() {
                return Err(IcidError::NotFinite { what: "covariance", row: i, column: j, value: covariance[[i, j]] });
            }
        }
        Ok(())
    })?;
    Ok(square(d, entries))
}

/// Pairs (i, j), i > j, whose partial correlation differs from zero, row by row.
///
/// Each is tested by Fisher's z-transformation with `degrees` degrees of freedom, and the false discovery rate is
/// controlled at `alpha` by the procedure of Benjamini and Hochberg (1995). `theta` is an inverse covariance, of which
/// the lower triangle is read.
///
/// # Errors
/// When Θ is not square, has an entry that is not finite or a diagonal entry that is not positive; when there are no degrees
/// of freedom; when alpha is not between 0 and 1.
pub fn discoveries(theta: ArrayView2<f64>, degrees: usize, alpha: f64) -> Result<Vec<(u32, u32)>, IcidError> {
    let d = check_square("theta", theta.dim())?;
    check_parameter("alpha", alpha, alpha > 0.0 && alpha < 1.0, "between 0 and 1")?;
    check_parameter("degrees", degrees as f64, degrees >= 1, "at least 1")?;
    if let Some((index, &value)) = theta.diag().iter().enumerate().find(|(_, t)| !(**t > 0.0 && t.is_finite())) {
        return Err(IcidError::Diagonal { index, value });
    }
    let pairs = (d * d.saturating_sub(1) / 2).max(1);
    // The critical partial correlation if there are this many discoveries.
    let least = |found: usize| {
        let level = alpha * found as f64 / pairs as f64 / 2.0;
        (normal_upper_quantile(level) / (degrees as f64).sqrt()).tanh()
    };
    let scale: Vec<f64> = theta.diag().iter().map(|t| t.sqrt()).collect();
    let lenient = least(pairs);
    let row = |i: usize| {
        let mut found = Vec::new();
        for j in 0..i {
            let value = theta[[i, j]];
            if !value.is_finite() {
                return Err(IcidError::NotFinite { what: "theta", row: i, column: j, value });
            }
            let size = value.abs() / scale[i] / scale[j];
            if size >= lenient {
                found.push((i as u32, j as u32, size));
            }
        }
        Ok(found)
    };
    let rows: Vec<_> = (0..d).into_par_iter().map(row).collect::<Result<_, _>>()?;
    let mut found: Vec<(u32, u32, f64)> = rows.into_iter().flatten().collect();
    // The procedure of Benjamini and Hochberg: the largest number of pairs that all pass the critical value for that number.
    let mut allowed = pairs;
    while found.len() < allowed {
        allowed = found.len();
        let cut = least(allowed);
        found.retain(|&(_, _, size)| size >= cut);
    }
    Ok(found.into_iter().map(|(i, j, _)| (i, j)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;

    /// A symmetric matrix with a large diagonal, and entries of very different sizes.
    fn theta(d: usize) -> Array2<f64> {
        let number = |k: usize| (scramble(k as u64) as f64 / u64::MAX as f64 - 0.5).powi(3);
        Array2::from_shape_fn(
            (d, d),
            |(i, j)| if i == j { 0.5 + 0.01 * i as f64 } else { number(i.max(j) * d + i.min(j)) },
        )
    }

    #[test]
    fn discoveries_are_those_of_the_step_up_procedure() {
        let (d, degrees, alpha) = (25, 400, 0.1);
        let theta = theta(d);
        let z = |i: usize, j: usize| {
            let partial = theta[[i, j]].abs() / (theta[[i, i]] * theta[[j, j]]).sqrt();
            partial.atanh() * f64::from(degrees).sqrt()
        };
        // The largest k such that the k-th smallest p-value is at most alpha k / m, by its quantile.
        let mut sizes: Vec<f64> = (0..d).flat_map(|i| (0..i).map(move |j| z(i, j))).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let m = sizes.len() as f64;
        let bound = |k: usize| normal_upper_quantile(alpha * (k + 1) as f64 / m / 2.0);
        let last = (0..sizes.len()).rev().find(|&k| sizes[k] >= bound(k)).unwrap();
        let expected: Vec<(u32, u32)> = (0..d)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|&(i, j)| z(i, j) >= sizes[last])
            .map(|(i, j)| (i as u32, j as u32))
            .collect();
        let found = discoveries(theta.view(), degrees as usize, alpha).unwrap();
        assert!(found.len() > 5 && found.len() < sizes.len() / 2, "{}", found.len());
        assert_eq!(found, expected);
    }

    #[test]
    fn faults_are_named() {
        let theta = theta(3);
        assert!(discoveries(theta.view(), 10, 0.0).is_err() && discoveries(theta.view(), 10, f64::NAN).is_err());
        assert!(discoveries(theta.view(), 0, 0.05).is_err());
        assert!(discoveries(Array2::zeros((2, 2)).view(), 10, 0.05).is_err());
        assert!(discoveries(Array2::zeros((2, 3)).view(), 10, 0.05).is_err());
        assert!(discoveries(ndarray::array![[1.0, 0.0], [f64::NAN, 1.0]].view(), 10, 0.05).is_err());
        assert!(correlation_matrix(Array2::zeros((2, 2)).view()).is_err());
        assert!(correlation_matrix(ndarray::array![[1.0, f64::NAN], [f64::NAN, 1.0]].view()).is_err());
    }

    #[test]
    fn renumbering_moves_correlations_and_changes_none() {
        let (covariance, names) = (theta(4), [2, 0, 3, 1]);
        let plain = correlation_matrix(covariance.view()).unwrap();
        let renumbered = renumbered_correlations(covariance.view(), &names).unwrap();
        for ((i, j), value) in renumbered.indexed_iter() {
            assert_eq!(*value, plain[[names[i] as usize, names[j] as usize]]);
        }
    }
}
