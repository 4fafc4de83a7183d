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
