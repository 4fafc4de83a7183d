//! The shape of residuals: what their deviation from a Gaussian adds to the likelihood.
//!
//! It can orient edges that second moments leave open. A new shape is a new variant of [`Shape`], with its name, its sums
//! and its gain; callers choose it by its name.

use crate::algebra::check::{check_finite_sparse, check_not_empty, check_shape, check_size};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::CsMatView;

/// Rows per block, so that their residuals stay in the cache.
pub(crate) const BLOCK_ROWS: usize = 256;
/// Variables whose residuals one task computes.
const VARIABLES: usize = 64;

/// How the likelihood depends on the shape of the residuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shape {
    /// By skewness and kurtosis. The negentropy is `J ≈ skewness²/12 + excess kurtosis²/48` (Comon 1994): what the
    /// log-likelihood of a sample gains, to this order, over a Gaussian of the same variance. `2 n J` is the statistic
    /// of Jarque and Bera.
    #[default]
    Cumulants,
}

/// Sums over residuals from which a shape is judged. The first is the sum of squares, which is zero only for constant
/// residuals; the others are up to the shape.
pub(crate) type Sums = [f64; 3];

impl Shape {
    /// All shapes, by name.
    pub const ALL: &'static [(&'static str, Self)] = &[("cumulants", Self::Cumulants)];

    /// Add residuals to the sums.
    pub(crate) fn add(self, residuals: &[f64], sums: &mut Sums) {
        match self {
            Self::Cumulants => add_powers(residuals, sums),
        }
    }

    /// The gain in twice the log-likelihood of `samples` over a Gaussian, given sums over `rows` residuals.
    pub(crate) fn gain(self, sums: &Sums, rows: usize, samples: f64) -> f64 {
        match self {
            Self::Cumulants => {
                let [second, third, fourth] = sums.map(|sum| sum / rows as f64);
                let skewness = third / second.powf(1.5);
                let excess = fourth / (second * second) - 3.0;
                2.0 * samples * (skewness * skewness / 12.0 + excess * excess / 48.0)
            }
        }
    }
}

/// Add second, third and fourth powers, in four independent sums that the processor can compute in parallel.
fn add_powers(residuals: &[f64], sums: &mut Sums) {
    let mut strands = [[0.0; 3]; 4];
    let (groups, rest) = residuals.as_chunks::<4>();
    let add = |sum: &mut [f64; 3], r: f64| {
        let square = r * r;
        sum[0] += square;
        sum[1] += square * r;
        sum[2] += square * square;
    };
    for group in groups {
        for (sum, &r) in strands.iter_mut().zip(group) {
            add(sum, r);
        }
    }
    for (&r, sum) in rest.iter().zip(&mut strands) {
        add(sum, r);
    }
    for strand in strands {
        for (sum, part) in sums.iter_mut().zip(strand) {
            *sum += part;
        }
    }
}

/// For each variable, the gain in twice the log-likelihood of a table over Gaussian residuals, due to their shape.
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
    let (n, d) = rows.dim();
    check_not_empty("the table of rows", n)?;
    check_size("location", location.len(), d)?;
    check_shape("B", b.shape(), d)?;
    check_finite_sparse("B", b)?;
    // Column j of B holds the parents of j.
    let parents = b.to_csc();
    let mut sums = vec![Sums::default(); d];
    // Variables in rows: `centred[j * height + k]` is row k of the block.
    let mut centred = vec![0.0; d * BLOCK_ROWS.min(n)];
    for start in (0..n).step_by(BLOCK_ROWS) {
        interrupt.check()?;
        let height = BLOCK_ROWS.min(n - start);
        let centred = &mut centred[..d * height];
        centred.par_chunks_mut(VARIABLES * height).enumerate().for_each(|(task, columns)| {
            let first = task * VARIABLES;
            let width = columns.len() / height;
            for k in 0..height {
                for c in 0..width {
                    columns[c * height + k] = rows[[start + k, first + c]].into() - location[first + c];
                }
            }
        });
        let centred = &*centred;
        sums.par_chunks_mut(VARIABLES).enumerate().for_each(|(task, sums)| {
            let mut buffer = [0.0; BLOCK_ROWS];
            for (j, sums) in (task * VARIABLES..).zip(sums) {
                let residual = &mut buffer[..height];
                residual.copy_from_slice(&centred[j * height..(j + 1) * height]);
                for (i, &weight) in parents.outer_view(j).iter().flat_map(|column| column.iter()) {
                    for (r, x) in residual.iter_mut().zip(&centred[i * height..(i + 1) * height]) {
                        *r -= weight * x;
                    }
                }
                shape.add(residual, sums);
            }
        });
    }
    for (index, sums) in sums.iter().enumerate() {
        if sums.iter().any(|sum| !sum.is_finite()) {
            return Err(not_finite(&rows, location).unwrap_or(IcidError::Overflow { index, value: sums[0] }));
        }
        if sums[0] == 0.0 {
            return Err(IcidError::Constant { index, value: location[index] });
        }
    }
    Ok(sums.iter().map(|sums| shape.gain(sums, n, n as f64)).collect())
}

/// The first row or mean that is not finite, if there is one.
fn not_finite<T: Copy + Into<f64>>(rows: &ArrayView2<T>, location: &[f64]) -> Option<IcidError> {
    let mean = location.iter().enumerate().map(|(column, &value)| ("location", (0, column), value));
    let entries = rows.indexed_iter().map(|(place, &value)| ("the table of rows", place, value.into()));
    let (what, (row, column), value) = mean.chain(entries).find(|(_, _, value)| !value.is_finite())?;
    Some(IcidError::NotFinite { what, row, column, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;
    use ndarray::Array2;
    use sprs::TriMat;

    #[test]
    fn statistics_are_those_of_the_mean_powers() {
        // More than a block, and no multiple of four.
        for n in [3, 255, 256, 1_001] {
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
                let mean = |power: i32| (0..n).map(|k| residual(k).powi(power)).sum::<f64>() / n as f64;
                let (skewness, excess) = (mean(3) / mean(2).powf(1.5), mean(4) / mean(2).powi(2) - 3.0);
                let expected = n as f64 * (skewness.powi(2) / 6.0 + excess.powi(2) / 24.0);
                assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");
            }
        }
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
