//! What a set of causes is worth.
//!
//! Scores are twice a negative log-likelihood plus a penalty, up to constants, so smaller is better. A variable with
//! causes P that leave the share `r` of its variance contributes
//!
//! - `n log r` when the noise variances are unknown: half of it is the Gaussian log-likelihood at its maximum over them;
//! - `n r σ²/ω` when its noise variance ω is known, with σ² its variance;
//! - minus `2 n J` where residuals are not Gaussian, with their negentropy `J ≈ skewness²/12 + excess kurtosis²/48`, the
//!   expansion of Comon (1994): what the likelihood gains, to this order, over a Gaussian of the same variance. It tells
//!   directions apart that second moments cannot;
//! - plus a penalty for each cause.

use crate::knowledge::Knowledge;
use ndarray::ArrayView2;

/// What is supposed of the noise variances, for variables scaled to unit variance.
#[derive(Debug, Clone)]
pub enum NoiseModel {
    /// Nothing.
    Unequal,
    /// They are these shares of the variances.
    Known(Vec<f64>),
}

/// Data summed up, and the price of an edge.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// The correlation matrix.
    pub correlation: ArrayView2<'a, f64>,
    /// Standardised variables by rows, if they are not Gaussian.
    pub values: Option<ArrayView2<'a, f64>>,
    /// Number of samples n.
    pub samples: f64,
    /// What a cause must gain.
    pub penalty: f64,
    /// What is supposed of the noise.
    pub noise: NoiseModel,
    /// The share of each variance that all other variables together leave, or somewhat less: a bound for what is looked at.
    pub least: Vec<f64>,
    /// What is known of the edges.
    pub knowledge: &'a Knowledge,
}

impl Evidence<'_> {
    /// Number of variables.
    pub(crate) fn dim(&self) -> usize {
        self.correlation.nrows()
    }

    /// A variable's correlations with all.
    pub(crate) fn row(&self, variable: u32) -> &[f64] {
        self.correlation.row(variable as usize).to_slice().expect("correlations by rows")
    }

    /// Differences of scores up to this are rounding.
    pub(crate) fn tolerance(&self) -> f64 {
        1e-7 + 1e-11 * self.samples
    }

    /// The Gaussian part for a variable of which a share is left.
    pub(crate) fn misfit(&self, variable: u32, left: f64) -> f64 {
        match &self.noise {
            NoiseModel::Unequal => self.samples * left.ln(),
            NoiseModel::Known(shares) => self.samples * left / shares[variable as usize],
        }
    }

    /// What explaining a share of a variable gains when `left` is left of it.
    pub(crate) fn gain(&self, variable: u32, share: f64, left: f64) -> f64 {
        self.misfit(variable, left) - self.misfit(variable, left - share)
    }

    /// The share of a variable that a cause must explain when `left` is left of it.
    pub(crate) fn worth(&self, variable: u32, left: f64) -> f64 {
        match &self.noise {
            NoiseModel::Unequal => -left * (-self.penalty / self.samples).exp_m1(),
            NoiseModel::Known(shares) => self.penalty / self.samples * shares[variable as usize],
        }
    }

    /// Twice the log-likelihood that the residuals' deviation from a Gaussian adds.
    pub(crate) fn negentropy(&self, variable: u32, causes: &[u32], weights: &[f64]) -> f64 {
        let Some(values) = &self.values else { return 0.0 };
        let [second, third, fourth] = residual_moments(values, variable, causes, weights);
        let skewness = third / second.powf(1.5);
        let excess = fourth / (second * second) - 3.0;
        // The shape is known from the rows at hand, which may be a sample of all.
        let samples = self.samples.min(values.ncols() as f64);
        2.0 * samples * (skewness * skewness / 12.0 + excess * excess / 48.0)
    }
}

/// Mean second, third and fourth powers of what causes leave of a variable.
fn residual_moments(values: &ArrayView2<f64>, variable: u32, causes: &[u32], weights: &[f64]) -> [f64; 3] {
    const CHUNK: usize = 256;
    let row = |i: u32| values.row(i as usize).to_slice().expect("values by rows");
    let n = values.ncols();
    let mut sums = [0.0; 3];
    let mut buffer = [0.0; CHUNK];
    for start in (0..n).step_by(CHUNK) {
        let len = CHUNK.min(n - start);
        let residual = &mut buffer[..len];
        residual.copy_from_slice(&row(variable)[start..start + len]);
        for (&cause, &weight) in causes.iter().zip(weights) {
            for (r, x) in residual.iter_mut().zip(&row(cause)[start..start + len]) {
                *r -= weight * x;
            }
        }
        let mut strands = [[0.0; 3]; 4];
        let (groups, rest) = residual.as_chunks::<4>();
        for group in groups {
            for (sum, &r) in strands.iter_mut().zip(group) {
                let square = r * r;
                sum[0] += square;
                sum[1] += square * r;
                sum[2] += square * square;
            }
        }
        for (&r, sum) in rest.iter().zip(&mut strands) {
            let square = r * r;
            sum[0] += square;
            sum[1] += square * r;
            sum[2] += square * square;
        }
        for strand in strands {
            for (sum, part) in sums.iter_mut().zip(strand) {
                *sum += part;
            }
        }
    }
    sums.map(|sum| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn evidence<'a>(correlation: &'a Array2<f64>, noise: NoiseModel, knowledge: &'a Knowledge) -> Evidence<'a> {
        let (samples, penalty, least) = (500.0, 7.0, vec![0.1; correlation.nrows()]);
        Evidence { correlation: correlation.view(), values: None, samples, penalty, noise, least, knowledge }
    }

    #[test]
    fn a_cause_that_explains_its_worth_gains_its_penalty() {
        let (correlation, knowledge) = (Array2::eye(3), Knowledge::none(3));
        for noise in [NoiseModel::Unequal, NoiseModel::Known(vec![0.5, 0.25, 0.2])] {
            let evidence = evidence(&correlation, noise, &knowledge);
            for (variable, left) in [(0, 1.0), (1, 0.8), (2, 0.3)] {
                let gain =
                    evidence.misfit(variable, left) - evidence.misfit(variable, left - evidence.worth(variable, left));
                assert!((gain - evidence.penalty).abs() < 1e-9, "{gain}");
                assert_eq!(evidence.gain(variable, evidence.worth(variable, left), left), gain);
                // One deviation of the noise more in all samples.
                let unit = match &evidence.noise {
                    NoiseModel::Unequal => evidence.misfit(variable, left * 1.0_f64.exp()),
                    NoiseModel::Known(shares) => evidence.misfit(variable, left + shares[variable as usize]),
                };
                assert!((unit - evidence.misfit(variable, left) - 500.0).abs() < 1e-9);
            }
            assert_eq!(evidence.dim(), 3);
        }
    }

    #[test]
    fn rows_are_those_of_the_correlations() {
        let correlation = ndarray::array![[1.0, 0.5], [0.5, 1.0]];
        let knowledge = Knowledge::none(2);
        let evidence = evidence(&correlation, NoiseModel::Unequal, &knowledge);
        assert_eq!([evidence.row(0), evidence.row(1)], [[1.0, 0.5], [0.5, 1.0]]);
    }

    #[test]
    fn rounding_is_below_the_tolerance_and_causes_are_far_above() {
        let (correlation, knowledge) = (Array2::eye(1), Knowledge::none(1));
        for samples in [10.0, 1e4, 1e7] {
            let evidence = Evidence { samples, ..evidence(&correlation, NoiseModel::Unequal, &knowledge) };
            let rounding = evidence.misfit(0, 0.5) - evidence.misfit(0, 0.5 * (1.0 - 10.0 * f64::EPSILON));
            assert!(rounding.abs() < evidence.tolerance() && evidence.tolerance() < 1e-3);
        }
    }

    #[test]
    fn negentropy_is_that_of_the_mean_powers() {
        // More than a chunk, and no multiple of four.
        for n in [3, 255, 256, 1_001] {
            let values = Array2::from_shape_fn((3, n), |(i, k)| ((7 * k + 3 * i * k + i) % 11) as f64 / 5.0 - 1.0);
            let (correlation, knowledge) = (Array2::eye(3), Knowledge::none(3));
            let plain = evidence(&correlation, NoiseModel::Unequal, &knowledge);
            assert_eq!(plain.negentropy(0, &[], &[]), 0.0);
            for (causes, weights) in [(vec![], vec![]), (vec![1], vec![0.4]), (vec![1, 2], vec![-0.7, 0.3])] {
                let evidence = Evidence { values: Some(values.view()), ..plain.clone() };
                let residual = |k: usize| {
                    let explained: f64 = causes.iter().zip(&weights).map(|(&i, w)| w * values[[i as usize, k]]).sum();
                    values[[0, k]] - explained
                };
                let mean = |power: i32| (0..n).map(|k| residual(k).powi(power)).sum::<f64>() / n as f64;
                let (skewness, excess) = (mean(3) / mean(2).powf(1.5), mean(4) / mean(2).powi(2) - 3.0);
                let expected = 2.0 * evidence.samples.min(n as f64) * (skewness.powi(2) / 12.0 + excess.powi(2) / 48.0);
                let found = evidence.negentropy(0, &causes, &weights);
                assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");
            }
        }
    }
}
