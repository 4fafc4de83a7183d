//! The score by which graphs are compared: twice the negative log-likelihood, plus a penalty for each edge.
//!
//! Smaller is better, and constants that all graphs share are left out. With n samples and the residual variance `r_j` of
//! variable j given its parents, the Gaussian part is
//!
//! - `n d log(mean r)` if all noise variances are equal,
//! - `n Σ log r_j` if each variable has its own: the likelihood at its maximum over them,
//! - `n Σ r_j / ω_j` if they are known to be ω.
//!
//! Where residuals are not Gaussian, their [`Shape`] adds to the likelihood.

mod dependence;
mod null;
mod residuals;
mod shape;
mod weight_errors;

pub use dependence::dependence_statistics;
pub use null::null_inflation;
pub(crate) use null::{chosen_variables, inflation};
pub(crate) use shape::{BLOCK_ROWS, Sums, is_continuous};
pub use shape::{Shape, shape_statistics};
pub use weight_errors::{WeightErrors, robust_weight_errors, weight_errors, wide_weight_errors};

use crate::algebra::check::{
    check_length, check_not_empty, check_parameter_not_negative, check_positive, check_positive_parameter,
};
use crate::error::IcidError;

/// Assumption about the noise variances.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Noise<'a> {
    /// All are equal, to an unknown number.
    Equal,
    /// Each variable has its own, which is unknown.
    Unequal,
    /// They are known, in the units of the variables.
    Known(&'a [f64]),
}

impl<'a> Noise<'a> {
    /// The variances, where they are known.
    #[must_use]
    pub fn variances(self) -> Option<&'a [f64]> {
        match self {
            Self::Known(variances) => Some(variances),
            Self::Equal | Self::Unequal => None,
        }
    }
}

/// How graphs are scored. See the [module](self).
///
/// # Examples
/// ```
/// use icid_rs::score::{Noise, Score, edge_penalty};
///
/// let score = Score::new(1000.0, edge_penalty(1000.0, 3), Noise::Unequal)?;
/// // An edge that explains half of a variable's variance is worth its penalty.
/// assert!(score.total(&[1.0, 0.5, 1.0], 1)? < score.total(&[1.0, 1.0, 1.0], 0)?);
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Score<'a> {
    /// Number of samples n, or the effective sample size.
    pub samples: f64,
    /// Penalty of an edge: the least gain in twice the log-likelihood for which it is added.
    pub penalty: f64,
    /// Assumption about the noise variances.
    pub noise: Noise<'a>,
    /// How the likelihood depends on the shape of the residuals, where rows are available.
    pub shape: Shape,
}

/// The default penalty of an edge between d variables, in twice the log-likelihood: `log n + 4 log d`.
///
/// This is the extended BIC with γ = 1 (Foygel and Drton 2010). BIC alone, `log n`, lets in a share of the d² possible
/// edges that does not fall with d.
#[must_use]
pub fn edge_penalty(samples: f64, variables: usize) -> f64 {
    samples.ln() + 4.0 * (variables as f64).ln()
}

/// The price of each parameter of an edge beyond the first, where variables are blocks of columns: an edge from one of k
/// columns to one of l has k l parameters.
///
/// It is `log n`, as in BIC. Of the default penalty of an edge, `4 log d` is paid for the choice of the pair, which does
/// not grow with the number of its parameters. Less is paid where less is paid for an edge, and more in
/// proportion where the null is inflated.
pub(crate) fn further_price(penalty: f64, samples: f64, variables: usize) -> f64 {
    let inflation = (penalty / edge_penalty(samples, variables)).max(1.0);
    penalty.min(samples.ln().max(0.0) * inflation)
}

/// Check that known noise variances are positive and finite.
pub(crate) fn check_known_variances(variances: &[f64]) -> Result<(), IcidError> {
    match variances.iter().enumerate().find(|(_, value)| !(**value > 0.0 && value.is_finite())) {
        Some((index, &value)) => Err(IcidError::Variance { index, value }),
        None => Ok(()),
    }
}

impl<'a> Score<'a> {
    /// Score with the default [`Shape`].
    ///
    /// # Errors
    /// When the number of samples is not positive, the penalty is negative, or a known variance is not positive.
    pub fn new(samples: f64, penalty: f64, noise: Noise<'a>) -> Result<Self, IcidError> {
        let score = Self { samples, penalty, noise, shape: Shape::default() };
        score.check_fields()?;
        Ok(score)
    }

    fn check_fields(&self) -> Result<(), IcidError> {
        check_positive_parameter("samples", self.samples)?;
        check_parameter_not_negative("penalty", self.penalty)?;
        check_known_variances(self.noise.variances().unwrap_or_default())
    }

    /// Check the score for use with d variables: its fields, which are public, and the number of known variances.
    pub(crate) fn check(&self, d: usize) -> Result<(), IcidError> {
        self.check_fields()?;
        check_length("noise_variances", self.noise.variances().map_or(d, <[f64]>::len), d)
    }

    /// Score a graph by its residual variances and the number of its edges.
    ///
    /// # Errors
    /// When there is no variance, one that is not positive and finite, or another number of them than there are known
    /// noise variances.
    pub fn total(&self, residual_variances: &[f64], edges: usize) -> Result<f64, IcidError> {
        check_not_empty("residual_variances", residual_variances.len())?;
        self.check(residual_variances.len())?;
        check_positive("residual_variances", residual_variances.iter().copied())?;
        Ok(self.misfit(residual_variances) + self.penalty * edges as f64)
    }

    /// The Gaussian part of the score of a whole graph.
    fn misfit(&self, left: &[f64]) -> f64 {
        match self.noise {
            Noise::Equal => {
                let d = left.len() as f64;
                self.samples * d * (left.iter().sum::<f64>() / d).ln()
            }
            Noise::Unequal => self.samples * left.iter().map(|l| l.ln()).sum::<f64>(),
            Noise::Known(variances) => self.samples * left.iter().zip(variances).map(|(l, v)| l / v).sum::<f64>(),
        }
    }

    /// The Gaussian part for one variable with residual variance `left`.
    ///
    /// Under [`Noise::Equal`] the score is not a sum over variables; one alone is scored with a variance of its own.
    pub(crate) fn misfit_of(&self, variable: u32, left: f64) -> f64 {
        match self.noise {
            Noise::Equal | Noise::Unequal => self.samples * left.ln(),
            Noise::Known(variances) => self.samples * left / variances[variable as usize],
        }
    }

    /// Gain of a parent that reduces the residual variance `left` by `share`.
    pub(crate) fn gain(&self, variable: u32, share: f64, left: f64) -> f64 {
        self.misfit_of(variable, left) - self.misfit_of(variable, left - share)
    }

    /// The reduction of the residual variance `left` from which a parent is worth this price.
    pub(crate) fn worth(&self, variable: u32, left: f64, price: f64) -> f64 {
        let per_sample = price / self.samples;
        match self.noise {
            Noise::Equal | Noise::Unequal => -left * (-per_sample).exp_m1(),
            Noise::Known(variances) => per_sample * variances[variable as usize],
        }
    }

    /// Whether a parent that reduces the residual variance to `left` by `share` passes the test of a regression.
    ///
    /// `n log(1 + share / left)` is its gain in twice the log-likelihood if the variable has a variance of its own:
    /// comparing it with a penalty is BIC, and a partial F-test.
    pub(crate) fn is_significant(&self, share: f64, left: f64) -> bool {
        let is_not = self.samples * (share / left).ln_1p() < self.penalty;
        !is_not
    }

    /// Differences of scores up to this size are rounding.
    pub(crate) fn tolerance(&self) -> f64 {
        1e-7 + 1e-11 * self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_that_explains_its_worth_gains_its_penalty() {
        for noise in [Noise::Unequal, Noise::Known(&[0.5, 0.25, 0.2])] {
            let score = Score::new(500.0, 7.0, noise).unwrap();
            for (variable, left) in [(0, 1.0), (1, 0.8), (2, 0.3)] {
                let worth = score.worth(variable, left, score.penalty);
                let gain = score.misfit_of(variable, left) - score.misfit_of(variable, left - worth);
                assert!((gain - score.penalty).abs() < 1e-9, "{gain}");
                assert_eq!(score.gain(variable, worth, left), gain);
            }
        }
        let score = Score::new(500.0, 7.0, Noise::Unequal).unwrap();
        let threshold = (7.0_f64 / 500.0).exp_m1();
        assert!(score.is_significant(threshold * 1.001, 1.0) && !score.is_significant(threshold * 0.999, 1.0));
    }

    #[test]
    fn variables_add_up_to_the_whole() {
        let left = [0.5, 1.5, 0.25];
        for noise in [Noise::Unequal, Noise::Known(&[0.5, 0.25, 0.2])] {
            let score = Score::new(100.0, 3.0, noise).unwrap();
            let sum: f64 = left.iter().zip(0..).map(|(&l, j)| score.misfit_of(j, l)).sum();
            assert!((score.total(&left, 2).unwrap() - sum - 6.0).abs() < 1e-9);
        }
        // Equal variances cost at least as much as unequal ones, and the same if all are equal.
        let total = |noise, left: &[f64]| Score::new(100.0, 3.0, noise).unwrap().total(left, 1).unwrap();
        assert!(total(Noise::Equal, &left) > total(Noise::Unequal, &left));
        assert!((total(Noise::Equal, &[0.5; 4]) - total(Noise::Unequal, &[0.5; 4])).abs() < 1e-9);
    }

    #[test]
    fn rounding_is_below_the_tolerance_and_parents_are_far_above() {
        for samples in [10.0, 1e4, 1e7] {
            let score = Score::new(samples, 7.0, Noise::Unequal).unwrap();
            let rounding = score.misfit_of(0, 0.5) - score.misfit_of(0, 0.5 * (1.0 - 10.0 * f64::EPSILON));
            assert!(rounding.abs() < score.tolerance() && score.tolerance() < 1e-3);
        }
    }

    #[test]
    fn faults_are_named() {
        assert!(Score::new(0.0, 1.0, Noise::Equal).is_err());
        assert!(Score::new(f64::NAN, 1.0, Noise::Equal).is_err());
        assert!(Score::new(10.0, -1.0, Noise::Equal).is_err());
        assert!(Score::new(10.0, f64::NAN, Noise::Equal).is_err());
        assert!(matches!(Score::new(10.0, 1.0, Noise::Known(&[1.0, 0.0])), Err(IcidError::Variance { index: 1, .. })));
        let score = Score::new(10.0, 1.0, Noise::Known(&[1.0])).unwrap();
        assert!(matches!(score.total(&[1.0, 1.0], 0), Err(IcidError::Length { expected: 2, found: 1, .. })));
    }
}
