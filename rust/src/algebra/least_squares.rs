//! Least squares from second moments, and backward elimination of regressors.

use super::spd::{Spd, Symmetric};

/// A regression of one variable on a few others.
pub(crate) struct LeastSquares {
    factor: Spd,
    /// One for each regressor.
    pub weights: Vec<f64>,
    /// Residual variance.
    pub left: f64,
}

/// A regression from which regressors were dropped.
pub(crate) struct Reduced {
    pub weights: Vec<f64>,
    /// Residual variance given the remaining regressors.
    pub left: f64,
    /// Buffer for the next factorisation.
    pub buffer: Vec<f64>,
}

impl LeastSquares {
    /// Solve the normal equations. `entry(a, b)` is the covariance of regressors a and b, `covariances` are those with the
    /// variable explained. `None` if the regressors are collinear. The buffer is reused.
    pub fn solve(
        entry: impl Fn(usize, usize) -> f64,
        covariances: &[f64],
        variance: f64,
        buffer: Vec<f64>,
    ) -> Option<Self> {
        let factor = Spd::factorise(covariances.len(), entry, buffer)?;
        let weights = factor.solve(covariances.to_vec());
        let explained: f64 = weights.iter().zip(covariances).map(|(w, c)| w * c).sum();
        Some(Self { factor, weights, left: variance - explained })
    }

    /// Backward elimination: drop the weakest regressor again and again, until it is worth keeping.
    ///
    /// The weakest is the one whose loss adds least to the unexplained variance, among those that `may_drop` allows.
    /// `is_worth(share, left)` decides whether a regressor that explains `share` when `left` is left should stay. At least
    /// `fewest` regressors stay.
    pub fn drop_weakest(
        self,
        regressors: &mut Vec<u32>,
        fewest: usize,
        may_drop: impl Fn(u32) -> bool,
        is_worth: impl Fn(f64, f64) -> bool,
    ) -> Reduced {
        let Self { factor, mut weights, mut left } = self;
        let mut inverse = factor.into_inverse();
        while regressors.len() > fewest {
            // Without regressor k the unexplained variance grows by w_k² / [C⁻¹]_kk.
            let share = |k: usize| weights[k] * weights[k] / inverse.get(k, k);
            let free = (0..regressors.len()).filter(|&k| may_drop(regressors[k]));
            let weakest = free.min_by(|&a, &b| share(a).total_cmp(&share(b)));
            let Some(weakest) = weakest.filter(|&k| !is_worth(share(k), left)) else { break };
            left += share(weakest);
            let ratio = weights[weakest] / inverse.get(weakest, weakest);
            for (k, weight) in weights.iter_mut().enumerate() {
                *weight -= inverse.get(k, weakest) * ratio;
            }
            inverse.remove(weakest);
            weights.remove(weakest);
            regressors.remove(weakest);
        }
        Reduced { weights, left, buffer: inverse.into_buffer() }
    }

    /// The inverse of the covariance of the regressors.
    pub fn into_inverse(self) -> Symmetric {
        self.factor.into_inverse()
    }

    /// Return the buffer.
    pub fn into_buffer(self) -> Vec<f64> {
        self.factor.into_buffer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A covariance of `size` regressors and, last, the variable explained.
    fn covariance(size: usize, numbers: &[f64]) -> Vec<Vec<f64>> {
        let root = |i: usize, j: usize| numbers[(i * 7 + j * 3) % numbers.len()] + if i == j { 2.0 } else { 0.0 };
        let product = |i: usize, j: usize| (0..=size).map(|k| root(i, k) * root(j, k)).sum();
        (0..=size).map(|i| (0..=size).map(|j| product(i, j)).collect()).collect()
    }

    fn fit(c: &[Vec<f64>], regressors: &[u32]) -> LeastSquares {
        let last = c.len() - 1;
        let right: Vec<f64> = regressors.iter().map(|&i| c[i as usize][last]).collect();
        let entry = |a: usize, b: usize| c[regressors[a] as usize][regressors[b] as usize];
        LeastSquares::solve(entry, &right, c[last][last], Vec::new()).unwrap()
    }

    proptest! {
        #[test]
        fn dropping_is_fitting_again_without_the_weakest(
            size in 1_usize..7, numbers in prop::collection::vec(-1.0..1.0_f64, 41), bound in 0.0..3.0_f64, kept in 0_u32..7,
        ) {
            let c = covariance(size, &numbers);
            let mut found: Vec<u32> = (0..size as u32).collect();
            let fewest = usize::from(size > 3);
            let reduced = fit(&c, &found).drop_weakest(&mut found, fewest, |i| i != kept, |share, _| share > bound);
            // The slow way: fit every smaller set from scratch.
            let mut expected: Vec<u32> = (0..size as u32).collect();
            while expected.len() > fewest {
                let left = fit(&c, &expected).left;
                let without = |&i: &u32| {
                    let rest: Vec<u32> = expected.iter().copied().filter(|&j| j != i).collect();
                    (fit(&c, &rest).left - left, rest)
                };
                let losses = expected.iter().filter(|&&i| i != kept).map(without);
                match losses.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    Some((loss, rest)) if loss <= bound => expected = rest,
                    _ => break,
                }
            }
            prop_assert_eq!(&found, &expected);
            let exact = fit(&c, &expected);
            prop_assert!((reduced.left - exact.left).abs() < 1e-6);
            prop_assert!(reduced.weights.iter().zip(&exact.weights).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn collinear_regressors_have_no_solution() {
        assert!(LeastSquares::solve(|_, _| 1.0, &[0.5, 0.5], 1.0, Vec::new()).is_none());
    }
}
