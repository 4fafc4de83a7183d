//! Sampling variances of the weights of a graph, which are those of least squares given the graph.
//!
//! Each variable is regressed on its parents P. If residuals have the same spread everywhere, the weight of parent k has
//! the variance `r [C_PP⁻¹]_kk` divided by the degrees of freedom, where r is the residual variance: this needs second
//! moments only. [`robust_weight_errors`] estimates the variance from rows, and is valid whatever the spread.

use crate::algebra::check::{check_not_empty, check_shape, check_square, check_variances};
use crate::algebra::least_squares::LeastSquares;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::neighbours::Standardised;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::CsMatView;

/// Weights of least squares and what is known of their variances, in the order of the entries of B. NaN where the parents
/// of a variable are collinear.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WeightErrors {
    /// The weights.
    pub weights: Vec<f64>,
    /// Their variances; without rows, these times the degrees of freedom: n − 1, less the number of parents.
    pub variances: Vec<f64>,
}

/// Errors of the weights of a graph from a covariance; `b[i, j] ≠ 0` for i → j.
///
/// # Errors
/// When the covariance is not square, a variance not positive, the sizes differ, or when interrupted.
pub fn weight_errors(
    covariance: ArrayView2<f64>,
    b: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<WeightErrors, IcidError> {
    check_shape("B", b.shape(), check_square("covariance", covariance.dim())?)?;
    check_variances(&covariance)?;
    from_moments(|i, j| covariance[[i as usize, j as usize]], b, interrupt)
}

/// The same for standardised variables, without a matrix of size d × d.
///
/// # Errors
/// When the sizes differ, or when interrupted.
pub fn wide_weight_errors(
    data: Standardised,
    b: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<WeightErrors, IcidError> {
    check_shape("B", b.shape(), data.variables())?;
    from_moments(|i, j| data.correlation(i, j), b, interrupt)
}

/// Errors of the weights of a graph from rows, consistent under unequal spread: the estimate HC3 of `MacKinnon` and White
/// (1985).
///
/// # Errors
/// When there are no rows, the sizes differ, or when interrupted.
pub fn robust_weight_errors<T: Copy + Into<f64> + Sync>(
    rows: ArrayView2<T>,
    b: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<WeightErrors, IcidError> {
    let (n, d) = rows.dim();
    check_not_empty("the table of rows", n)?;
    check_shape("B", b.shape(), d)?;
    let centred = |i: u32| {
        let mut column: Vec<f64> = rows.column(i as usize).iter().map(|&x| x.into()).collect();
        let mean = column.iter().sum::<f64>() / n as f64;
        for x in &mut column {
            *x -= mean;
        }
        column
    };
    for_each_effect(b, interrupt, |effect, causes| {
        let columns: Vec<Vec<f64>> = causes.iter().map(|&i| centred(i)).collect();
        sandwich(&columns, &centred(effect))
    })
}

fn from_moments(
    moment: impl Fn(u32, u32) -> f64 + Sync,
    b: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<WeightErrors, IcidError> {
    for_each_effect(b, interrupt, |effect, causes| {
        let right: Vec<f64> = causes.iter().map(|&i| moment(i, effect)).collect();
        let fit = LeastSquares::solve(|k, l| moment(causes[k], causes[l]), &right, moment(effect, effect), Vec::new())?;
        let (weights, left) = (fit.weights.clone(), fit.left);
        let inverse = fit.into_inverse();
        Some((weights, (0..causes.len()).map(|k| left * inverse.get(k, k)).collect()))
    })
}

/// Least squares of `y` on some columns, all centred, and the variances of the weights by HC3.
fn sandwich(columns: &[Vec<f64>], y: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let right: Vec<f64> = columns.iter().map(|x| dot(x, y)).collect();
    let fit = LeastSquares::solve(|k, l| dot(&columns[k], &columns[l]), &right, dot(y, y), Vec::new())?;
    let weights = fit.weights.clone();
    let inverse = fit.into_inverse();
    let mut variances = vec![0.0; columns.len()];
    let mut influence = vec![0.0; columns.len()];
    for (row, &value) in y.iter().enumerate() {
        for (k, influence) in influence.iter_mut().enumerate() {
            *influence = columns.iter().enumerate().map(|(l, x)| inverse.get(k, l) * x[row]).sum();
        }
        let leverage = columns.iter().zip(&influence).map(|(x, u)| x[row] * u).sum::<f64>() + 1.0 / y.len() as f64;
        let residual = columns.iter().zip(&weights).fold(value, |rest, (x, weight)| rest - weight * x[row]);
        for (variance, u) in variances.iter_mut().zip(&influence) {
            // The residual of a row that pulls the fit towards itself is too small by this factor.
            *variance += (u * residual / (1.0 - leverage)).powi(2);
        }
    }
    Some((weights, variances))
}

/// Apply a regression to each variable that has parents, and put the results where the entries of B are.
fn for_each_effect(
    b: CsMatView<f64>,
    interrupt: &Interrupt,
    regress: impl Fn(u32, &[u32]) -> Option<(Vec<f64>, Vec<f64>)> + Sync,
) -> Result<WeightErrors, IcidError> {
    let mut parents = vec![(Vec::new(), Vec::new()); b.cols()];
    for (entry, (_, (i, j))) in b.iter().enumerate() {
        parents[j].0.push(i as u32);
        parents[j].1.push(entry);
    }
    let fits = parents
        .par_iter()
        .enumerate()
        .filter(|(_, (causes, _))| !causes.is_empty())
        .map(|(j, (causes, entries))| {
            interrupt.check()?;
            Ok((entries, regress(j as u32, causes)))
        })
        .collect::<Result<Vec<_>, IcidError>>()?;
    let mut found = WeightErrors { weights: vec![f64::NAN; b.nnz()], variances: vec![f64::NAN; b.nnz()] };
    for (entries, fit) in fits {
        let Some((weights, variances)) = fit else { continue };
        for ((&entry, weight), variance) in entries.iter().zip(weights).zip(variances) {
            found.weights[entry] = weight;
            found.variances[entry] = variance;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::csr::from_entries;
    use crate::neighbours::standardise;
    use ndarray::{Array2, arr2};
    use proptest::prelude::*;
    use sprs::CsMat;

    fn graph(d: usize, edges: &[(usize, usize)]) -> CsMat<f64> {
        from_entries((d, d), || edges.iter().map(|&(i, j)| (i, j, 1.0)))
    }

    fn covariance(rows: &Array2<f64>) -> Array2<f64> {
        let mean = rows.mean_axis(ndarray::Axis(0)).unwrap();
        let centred = rows - &mean;
        centred.t().dot(&centred) / rows.nrows() as f64
    }

    proptest! {
        #[test]
        fn moments_and_rows_agree(numbers in prop::collection::vec(-1.0..1.0_f64, 60)) {
            let rows = Array2::from_shape_vec((15, 4), numbers).unwrap();
            let b = graph(4, &[(0, 3), (1, 3), (3, 2)]);
            let interrupt = Interrupt::default();
            let dense = weight_errors(covariance(&rows).view(), b.view(), &interrupt).unwrap();
            let robust = robust_weight_errors(rows.view(), b.view(), &interrupt).unwrap();
            let by_variable = rows.t().as_standard_layout().into_owned();
            let (unit, _) = standardise(by_variable).unwrap();
            let wide = wide_weight_errors(Standardised::new(&unit.view()).unwrap(), b.view(), &interrupt).unwrap();
            let c = covariance(&rows);
            for (entry, (_, (i, j))) in b.iter().enumerate() {
                let ratio = (c[[j, j]] / c[[i, i]]).sqrt();
                prop_assert!((dense.weights[entry] - robust.weights[entry]).abs() < 1e-8);
                prop_assert!((dense.weights[entry] - wide.weights[entry] * ratio).abs() < 1e-8);
                prop_assert!((dense.variances[entry] / (wide.variances[entry] * ratio * ratio) - 1.0).abs() < 1e-6);
                prop_assert!(robust.variances[entry] > 0.0);
            }
        }
    }

    /// A row counts as its residual is large: here the two groups of rows have residuals of 1 and of 3.
    #[test]
    fn robust_errors_follow_the_spread() {
        let spread = |k: usize| if k % 4 < 2 { 1.0 } else { 3.0 };
        let rows = Array2::from_shape_fn((400, 2), |(k, column)| {
            let x = if k % 4 < 2 { 0.1 } else { 2.0 } * if k % 8 < 4 { 1.0 } else { -1.0 };
            if column == 0 { x } else { x + spread(k) * if k % 2 == 0 { 1.0 } else { -1.0 } }
        });
        let b = graph(2, &[(0, 1)]);
        let plain = weight_errors(covariance(&rows).view(), b.view(), &Interrupt::default()).unwrap();
        let robust = robust_weight_errors(rows.view(), b.view(), &Interrupt::default()).unwrap();
        assert!((robust.weights[0] - 1.0).abs() < 1e-12);
        // By hand: Σ x² e² / (Σ x²)², but for the leverages of at most 0.01.
        let by_hand = (200.0 * 0.01 + 200.0 * 4.0 * 9.0) / (200.0 * 0.01 + 200.0 * 4.0_f64).powi(2);
        assert!((robust.variances[0] / by_hand - 1.0).abs() < 0.02);
        assert!(plain.variances[0] / 398.0 < 0.6 * robust.variances[0]);
    }

    #[test]
    fn collinear_parents_have_no_errors() {
        let c = arr2(&[[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]);
        let found = weight_errors(c.view(), graph(3, &[(0, 2), (1, 2)]).view(), &Interrupt::default()).unwrap();
        assert!(found.variances.iter().all(|v| v.is_nan()));
    }

    #[test]
    fn sizes_are_checked() {
        let c = arr2(&[[1.0]]);
        assert!(weight_errors(c.view(), graph(2, &[(0, 1)]).view(), &Interrupt::default()).is_err());
        let none = Array2::<f64>::zeros((0, 2));
        assert!(robust_weight_errors(none.view(), graph(2, &[]).view(), &Interrupt::default()).is_err());
    }
}
