//! Second moments and standardised rows of one resample.

use crate::algebra::check::{check_finite, check_shape};
use crate::algebra::spd::Spd;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::moments::{Missing, Moments};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// Correlations shrink by steps of this size, relative to what is left of them, until they are positive definite.
const SHRINKAGE: f64 = 0.02;
/// Pivots below this do not count as positive.
const LEAST_PIVOT: f64 = 1e-8;

/// A resample, in the numbers of searches.
#[derive(Debug)]
pub(super) struct Draw {
    pub correlation: Array2<f64>,
    /// Variance of each variable; 0 for a column that is constant in this resample.
    variances: Vec<f64>,
    /// Standardised variables in rows, if shapes count.
    pub values: Option<Array2<f64>>,
}

impl Draw {
    /// Weigh the rows of a table by how often they were drawn.
    pub fn of_rows(
        rows: ArrayView2<f64>,
        counts: ArrayView1<u16>,
        names: &[u32],
        wants_values: bool,
        interrupt: &Interrupt,
    ) -> Result<Self, IcidError> {
        let distinct: Vec<usize> = (0..counts.len()).filter(|&k| counts[k] > 0).collect();
        let weights: Vec<f64> = distinct.iter().map(|&k| f64::from(counts[k])).collect();
        let mut moments = Moments::new(names.len(), false)?;
        moments.update(&rows.select(Axis(0), &distinct).view(), Some(&weights), Missing::Refuse, None, interrupt)?;
        let mut draw = Self::of_covariance(moments.covariance()?.view(), names);
        if wants_values {
            let location: Vec<f64> = moments.shift().iter().zip(moments.mean()).map(|(a, b)| a + b).collect();
            let drawn: usize = counts.iter().map(|&count| usize::from(count)).sum();
            let mut values = Array2::zeros((names.len(), drawn));
            for ((mut row, &name), &variance) in values.rows_mut().into_iter().zip(names).zip(&draw.variances) {
                let (mean, scale) =
                    (location[name as usize], if variance > 0.0 { variance.sqrt().recip() } else { 0.0 });
                let standardised = rows.column(name as usize).into_iter().map(|x| (x - mean) * scale);
                let repeated = standardised.zip(&counts).flat_map(|(x, &count)| std::iter::repeat_n(x, count.into()));
                row.iter_mut().zip(repeated).for_each(|(value, x)| *value = x);
            }
            draw.values = Some(values);
        }
        Ok(draw)
    }

    /// Take the covariance of a resample as it is, in the caller's numbers.
    pub fn of_covariance(covariance: ArrayView2<f64>, names: &[u32]) -> Self {
        let variances: Vec<f64> = names.iter().map(|&i| covariance[[i as usize, i as usize]].max(0.0)).collect();
        let scale: Vec<f64> = variances.iter().map(|&v| if v > 0.0 { v.sqrt().recip() } else { 0.0 }).collect();
        let entry = |(i, j): (usize, usize)| {
            let (a, b) = (names[i].max(names[j]) as usize, names[i].min(names[j]) as usize);
            if i == j { 1.0 } else { (covariance[[a, b]] * scale[i] * scale[j] + 0.0).clamp(-1.0, 1.0) }
        };
        Self { correlation: Array2::from_shape_fn((names.len(), names.len()), entry), variances, values: None }
    }

    /// Subtract a matrix from the correlations, and scale what is left to unit variance. What is left is a covariance in
    /// the whole table but need not be one here; its correlations shrink as far as that takes.
    pub fn remove(&mut self, removed: ArrayView2<f64>) {
        let left = &self.correlation - &removed;
        let scale: Vec<f64> = left.diag().iter().map(|&v| v.max(LEAST_PIVOT).sqrt().recip()).collect();
        let d = scale.len();
        let correlation = |(i, j): (usize, usize)| left[[i.max(j), i.min(j)]] * scale[i] * scale[j];
        let mut kept = 1.0_f64;
        let is_definite = |kept: f64| {
            let entry = |i: usize, j: usize| if i == j { 1.0 - LEAST_PIVOT } else { kept * correlation((i, j)) };
            Spd::factorise(d, entry, Vec::new()).is_some()
        };
        while !is_definite(kept) {
            kept *= 1.0 - SHRINKAGE;
        }
        let entry = |(i, j)| if i == j { 1.0 } else { kept * correlation((i, j)) };
        self.correlation = Array2::from_shape_fn((d, d), entry);
        self.variances.iter_mut().zip(left.diag()).for_each(|(variance, &share)| *variance *= share.max(LEAST_PIVOT));
    }

    /// Known noise variances as shares of those of the resample.
    pub fn shares(&self, known: &[f64], names: &[u32]) -> Vec<f64> {
        let share = |(&name, &variance): (&u32, &f64)| known[name as usize] / variance.max(f64::MIN_POSITIVE);
        names.iter().zip(&self.variances).map(share).collect()
    }
}

/// A matrix in the numbers of searches: row i belongs to the variable `names[i]`.
pub(super) fn renumbered(matrix: ArrayView2<f64>, names: &[u32]) -> Result<Array2<f64>, IcidError> {
    check_shape("what is removed", matrix.dim(), names.len())?;
    check_finite("what is removed", &matrix)?;
    let d = names.len();
    Ok(Array2::from_shape_fn((d, d), |(i, j)| matrix[[names[i] as usize, names[j] as usize]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_resample_has_the_moments_of_its_repeated_rows() {
        let rows = array![[1.0, 5.0, 2.0], [2.0, 5.0, 1.0], [4.0, 5.0, 7.0], [0.0, 5.0, 3.0]];
        let counts = array![2_u16, 0, 1, 3];
        let repeated: Array2<f64> = array![[1.0, 2.0], [1.0, 2.0], [4.0, 7.0], [0.0, 3.0], [0.0, 3.0], [0.0, 3.0]];
        let names = [2, 0, 1];
        let draw = Draw::of_rows(rows.view(), counts.view(), &names, true, &Interrupt::default()).unwrap();
        let mean = repeated.mean_axis(ndarray::Axis(0)).unwrap();
        let centred = &repeated - &mean;
        let covariance = centred.t().dot(&centred) / 6.0;
        let expected = covariance[[0, 1]] / (covariance[[0, 0]] * covariance[[1, 1]]).sqrt();
        assert!((draw.correlation[[0, 1]] - expected).abs() < 1e-12);
        // The constant column is correlated with nothing.
        assert_eq!(draw.correlation.row(2).to_vec(), [0.0, 0.0, 1.0]);
        let values = draw.values.unwrap();
        for (found, x) in values.row(0).iter().zip(centred.column(1)) {
            assert!((found - x / covariance[[1, 1]].sqrt()).abs() < 1e-12);
        }
        assert!(values.row(2).iter().all(|&x| x == 0.0));
    }

    #[test]
    fn what_is_left_after_removal_is_a_correlation_matrix() {
        let covariance = array![[4.0, 1.0], [1.0, 1.0]];
        let mut draw = Draw::of_covariance(covariance.view(), &[0, 1]);
        draw.remove(array![[0.5, 0.25], [0.25, 0.0]].view());
        assert!((draw.correlation[[0, 1]] - 0.25 / 0.5_f64.sqrt()).abs() < 1e-12);
        assert!((draw.shares(&[1.0, 1.0], &[0, 1])[0] - 0.5).abs() < 1e-12);
        // More than there is.
        draw.remove(array![[0.9, -0.9], [-0.9, 0.9]].view());
        assert!(draw.correlation[[0, 1]].abs() < 1.0);
    }
}
