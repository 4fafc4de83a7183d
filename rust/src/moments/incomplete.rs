//! Rows with missing values: what the observed ones of each row tell of the others, given a Gaussian model.
//!
//! With Θ the inverse covariance, the missing values m of a row have covariance `Θ_mm⁻¹` given the observed ones, and the
//! expectation `−Θ_mm⁻¹ Θ_mo x_o`. A row costs the cube of the number of its missing values.

use crate::algebra::check::{check_finite, check_shape};
use crate::algebra::spd::Spd;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows are cut into at most so many parts, each with sums of its own; whatever the number of threads.
const PARTS: usize = 16;
/// Rows of a part, at least.
const FEWEST: usize = 64;

/// Expectations of missing values, in the order of the rows, and what is uncertain about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Expectation of each missing value.
    pub values: Vec<f64>,
    /// Variance of each missing value given the observed ones of its row.
    pub variances: Vec<f64>,
    /// Sum over rows of the covariance of their missing values given the observed ones, columns by columns.
    pub covariance: Array2<f64>,
    /// Sum over rows of log det `Θ_mm`.
    pub log_determinant: f64,
}

/// Compute the expectations of missing values.
///
/// # Arguments
///
/// - `theta`: the inverse covariance of the columns.
/// - `pull`: rows times Θ, where rows have mean zero and 0 in place of missing values.
/// - `missing`: the columns that are missing in each row, in ascending order.
///
/// # Errors
///
/// If a matrix is not finite or of another shape, a column is out of range, or Θ is not positive definite.
pub fn expectations(
    theta: &ArrayView2<f64>,
    pull: &ArrayView2<f64>,
    missing: &[Vec<usize>],
    interrupt: &Interrupt,
) -> Result<Expected, IcidError> {
    let columns = theta.ncols();
    check_shape("theta", theta.dim(), columns)?;
    check_finite("theta", theta)?;
    check_finite("pull", pull)?;
    if pull.dim() != (missing.len(), columns) {
        return Err(IcidError::Length { what: "missing", expected: pull.nrows(), found: missing.len() });
    }
    if let Some((row, &index)) =
        missing.iter().enumerate().find_map(|(row, own)| own.iter().find(|&&j| j >= columns).map(|j| (row, j)))
    {
        return Err(IcidError::Candidates { row, index });
    }
    let rows = missing.len().div_ceil(PARTS).max(FEWEST);
    let parts: Vec<Expected> = missing
        .par_chunks(rows)
        .enumerate()
        .map(|(part, own)| expect_part(theta, pull, part * rows, own, interrupt))
        .collect::<Result<_, _>>()?;
    let none = Expected {
        values: vec![],
        variances: vec![],
        covariance: Array2::zeros((columns, columns)),
        log_determinant: 0.0,
    };
    Ok(parts.into_iter().fold(none, |mut all, part| {
        all.values.extend(part.values);
        all.variances.extend(part.variances);
        all.covariance += &part.covariance;
        all.log_determinant += part.log_determinant;
        all
    }))
}

fn expect_part(
    theta: &ArrayView2<f64>,
    pull: &ArrayView2<f64>,
    first: usize,
    missing: &[Vec<usize>],
    interrupt: &Interrupt,
) -> Result<Expected, IcidError> {
    let columns = theta.ncols();
    let mut out = Expected {
        values: vec![],
        variances: vec![],
        covariance: Array2::zeros((columns, columns)),
        log_determinant: 0.0,
    };
    let mut buffer = Vec::new();
    for (k, places) in missing.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
        interrupt.check()?;
        let row = pull.row(first + k);
        let entry = |i: usize, j: usize| theta[[places[i], places[j]]];
        let factor = Spd::factorise(places.len(), entry, buffer).ok_or(IcidError::NoInverse { what: "theta" })?;
        out.log_determinant += factor.log_determinant();
        let inverse = factor.into_inverse();
        for (i, &own) in places.iter().enumerate() {
            let mut value = 0.0;
            for (j, &other) in places.iter().enumerate() {
                let covariance = inverse.get(i, j);
                value -= covariance * row[other];
                out.covariance[[own, other]] += covariance;
            }
            out.values.push(value);
            out.variances.push(inverse.get(i, i));
        }
        buffer = inverse.into_buffer();
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_missing_value_is_regressed_on_the_others() {
        let theta = array![[2.0, -1.0], [-1.0, 2.0]];
        let rows = array![[0.0, 4.0], [1.0, 2.0], [0.0, 0.0]];
        let pull = rows.dot(&theta);
        let missing = vec![vec![0], vec![], vec![0, 1]];
        let found = expectations(&theta.view(), &pull.view(), &missing, &Interrupt::default()).unwrap();
        assert!((found.values[0] - 2.0).abs() < 1e-12);
        assert!((found.variances[0] - 0.5).abs() < 1e-12);
        // A row without values has the mean and the covariance of all.
        assert_eq!(&found.values[1..], &[0.0, 0.0]);
        assert!((found.covariance[[0, 1]] - 1.0 / 3.0).abs() < 1e-12);
        assert!((found.log_determinant - (2f64.ln() + 3f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn bad_arguments_are_named() {
        let theta = array![[1.0, 2.0], [2.0, 1.0]];
        let pull = Array2::zeros((1, 2));
        let expect = |missing: &[Vec<usize>]| expectations(&theta.view(), &pull.view(), missing, &Interrupt::default());
        assert_eq!(expect(&[vec![0, 1]]), Err(IcidError::NoInverse { what: "theta" }));
        assert_eq!(expect(&[vec![2]]), Err(IcidError::Candidates { row: 0, index: 2 }));
        assert!(matches!(expect(&[]), Err(IcidError::Length { .. })));
    }
}
