//! The shape of residuals: what their deviation from a Gaussian adds to the likelihood.
//!
//! It can orient edges that second moments leave open. A new shape is a new variant of [`Shape`], with its name, its sums
//! and its gain; callers choose it by its name.

use super::residuals::Residuals;
use crate::algebra::vectors::vectorised;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::{ArrayView1, ArrayView2};
use sprs::CsMatView;
use std::collections::HashSet;

/// Rows per block, so that their residuals stay in the cache.
pub(crate) const BLOCK_ROWS: usize = 256;
/// A variable with at most so many values is discrete,
const FEWEST_VALUES: usize = 20;
/// and also one with at most one value for so many rows.
const ROWS_PER_VALUE: usize = 50;

/// How the likelihood depends on the shape of the residuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shape {
    /// By two bounded functions of the standardised residual u, so that no outlier decides. The negentropy is
    /// `J ≈ 36 / (8√3 − 9) · E[u exp(−u²/2)]² + 24 / (16√3 − 27) · (E[exp(−u²/2)] − √½)²` (Hyvärinen 1998): what the
    /// log-likelihood of a sample gains, to this order, over a Gaussian of the same variance.
    #[default]
    Negentropy,
}

/// Sums over standardised residuals from which a shape is judged. The first is the sum of squares, the others are up to
/// the shape.
pub(crate) type Sums = [f64; 3];

impl Shape {
    /// All shapes, by name.
    pub const ALL: &'static [(&'static str, Self)] = &[("negentropy", Self::Negentropy)];

    /// Add residuals of this variance to the sums. Inlined, so that it has the vectors of its caller.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(crate) fn add(self, residuals: &[f64], variance: f64, sums: &mut Sums) {
        match self {
            Self::Negentropy => add_bells(residuals, 1.0 / variance.sqrt(), sums),
        }
    }

    /// The gain in twice the log-likelihood of `samples` over a Gaussian, given sums over `rows` residuals, less the
    /// penalty of the parameters of the shape, and at least zero: then the residuals count as Gaussian.
    pub(crate) fn gain(self, sums: &Sums, rows: usize, samples: f64) -> f64 {
        match self {
            Self::Negentropy => {
                let [square, odd, even] = sums.map(|sum| sum / rows as f64);
                // √½ if the variance is that of these rows; of a part of the rows it differs a little.
                let excess = even - 1.0 / (1.0 + square).sqrt();
                let root = 3.0_f64.sqrt();
                let negentropy = 36.0 / (8.0 * root - 9.0) * odd * odd + 24.0 / (16.0 * root - 27.0) * excess * excess;
                (2.0 * samples * negentropy - 2.0 * samples.ln()).max(0.0)
            }
        }
    }
}

/// Whether a variable has so many values that its residuals can have a shape: more than 20, and more than one for 50 rows.
/// The residuals of others take few values given few parents, which any measure of shape mistakes for structure.
pub(crate) fn is_continuous(values: impl ExactSizeIterator<Item = f64>) -> bool {
    let least = (values.len() / ROWS_PER_VALUE).max(FEWEST_VALUES);
    let mut distinct = HashSet::with_capacity(least + 1);
    // For most variables the first rows suffice.
    values.map(f64::to_bits).any(|bits| distinct.insert(bits) && distinct.len() > least)
}

/// Add `u²`, `u exp(−u²/2)` and `exp(−u²/2)` of residuals, in four independent sums that the processor can compute in
/// parallel.
#[allow(clippy::inline_always)]
#[inline(always)]
fn add_bells(residuals: &[f64], scale: f64, sums: &mut Sums) {
    let mut strands = [[0.0; 4]; 3];
    let (groups, rest) = residuals.as_chunks::<4>();
    for group in groups {
        for (k, r) in group.iter().enumerate() {
            add_bell(r * scale, k, &mut strands);
        }
    }
    for r in rest {
        add_bell(r * scale, 0, &mut strands);
    }
    for (sum, strand) in sums.iter_mut().zip(strands) {
        *sum += strand.iter().sum::<f64>();
    }
}

/// Add the functions of one standardised residual to a strand of the sums.
#[allow(clippy::inline_always)]
#[inline(always)]
fn add_bell(u: f64, strand: usize, strands: &mut [[f64; 4]; 3]) {
    let bell = decay(0.5 * u * u);
    strands[0][strand] += u * u;
    strands[1][strand] += u * bell;
    strands[2][strand] += bell;
}

/// `exp(−t)` for t ≥ 0 to 13 digits, without branches or calls, so that loops over it are vectorised: `2^k p(f)` with
/// `−t / log 2 = k + f`, k whole and `|f| ≤ ½`. Beyond t = 600 the value stays at that of 600, which is nothing. Fused
/// multiplications give the same bits everywhere, and take half the time on processors that have them.
#[allow(clippy::inline_always)]
#[inline(always)]
pub(super) fn decay(t: f64) -> f64 {
    /// Adding it rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// Of `exp(x)`, from the highest power down.
    const SERIES: [f64; 11] = [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
    ];
    let exponent = -t.min(600.0) * std::f64::consts::LOG2_E;
    let shifted = exponent + ROUND;
    let x = (exponent - (shifted - ROUND)) * std::f64::consts::LN_2;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    power.mul_add(SERIES.iter().fold(0.0_f64, |sum, &c| sum.mul_add(x, c)) * x, power)
}

/// For each variable, the gain in twice the log-likelihood of a table over Gaussian residuals, due to their shape, less the
/// penalty of its parameters. It is zero for residuals that count as Gaussian, and for discrete variables.
///
/// Rows may be in single or double precision; they are read block by block, and never copied as a whole. `location`
/// holds the means, `b` the weights, `b[i, j] ≠ 0` for i → j.
///
/// # Errors
/// When there are no rows, the sizes differ, an entry is not finite or a residual constant, or when
/// interrupted.
pub fn shape_statistics<T: Copy + Into<f64> + Sync>(
    shape: Shape,
    rows: ArrayView2<T>,
    location: &[f64],
    b: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, IcidError> {
    let residuals = Residuals::new(rows, location, b)?;
    let variances = residuals.variances(interrupt)?;
    let (n, d) = rows.dim();
    let mut sums = vec![Sums::default(); d];
    residuals.for_each(&mut sums, interrupt, |j, residual, _, sums| {
        vectorised(
            #[inline(always)]
            || shape.add(residual, variances[j], sums),
        );
    })?;
    let gain = |(column, sums): (ArrayView1<T>, &Sums)| {
        if is_continuous(column.iter().map(|&x| x.into())) { shape.gain(sums, n, n as f64) } else { 0.0 }
    };
    Ok(rows.columns().into_iter().zip(&sums).map(gain).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;
    use ndarray::Array2;
    use sprs::TriMat;

    #[test]
    fn statistics_are_those_of_the_formula() {
        // More than a block, and no multiple of four.
        for n in [255, 256, 1_001] {
            let d = 70;
            let x = Array2::from_shape_fn((n, d), |(k, i)| scramble((k * d + i) as u64) as f64 / u64::MAX as f64);
            let location: Vec<f64> = x.columns().into_iter().map(|column| column.sum() / n as f64).collect();
            let mut edges = TriMat::new((d, d));
            for (i, j, w) in [(1, 0, 0.4), (2, 0, -0.7), (3, 69, 0.3)] {
                edges.add_triplet(i, j, w);
            }
            let b = edges.to_csr::<usize>();
            let centred = |k: usize, i: usize| x[[k, i]] - location[i];
            let found = shape_statistics(Shape::default(), x.view(), &location, b.view(), &Interrupt::default());
            for (j, found) in found.unwrap().into_iter().enumerate() {
                let residual = |k: usize| {
                    let explained: f64 = (0..d).map(|i| b.get(i, j).unwrap_or(&0.0) * centred(k, i)).sum();
                    centred(k, j) - explained
                };
                let mean = |f: &dyn Fn(f64) -> f64| (0..n).map(|k| f(residual(k))).sum::<f64>() / n as f64;
                let deviation = mean(&|r| r * r).sqrt();
                let bell = |r: f64| (-0.5 * (r / deviation).powi(2)).exp();
                let (odd, even) = (mean(&|r| r / deviation * bell(r)), mean(&bell) - 0.5_f64.sqrt());
                let negentropy = 36.0 / (8.0 * 3.0_f64.sqrt() - 9.0) * odd.powi(2)
                    + 24.0 / (16.0 * 3.0_f64.sqrt() - 27.0) * even.powi(2);
                let expected = (2.0 * n as f64 * negentropy - 2.0 * (n as f64).ln()).max(0.0);
                assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_fast_exponential_is_one() {
        for k in 0..60_000 {
            let t = f64::from(k) * 1e-2;
            assert!((decay(t) - (-t).exp()).abs() <= 1e-13 * (-t).exp(), "{t}");
        }
        assert!(decay(1e300) < 1e-200);
    }

    #[test]
    fn sizes_must_fit() {
        let x = Array2::<f32>::from_shape_fn((4, 2), |(k, _)| k as f32);
        let none = sprs::CsMat::zero((2, 2));
        let found = |location: &[f64]| {
            shape_statistics(Shape::default(), x.view(), location, none.view(), &Interrupt::default())
        };
        assert!(found(&[0.0; 2]).is_ok());
        assert!(matches!(found(&[0.0; 3]), Err(IcidError::Size { expected: 2, found: 3, .. })));
    }
}
