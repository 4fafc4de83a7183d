//! How far residuals are from being independent of their causes.
//!
//! In a linear model with independent noise the residual of a variable is independent of its causes. Least squares make it
//! uncorrelated with them in any case, so dependence shows in other functions of the two. Its size matters, not its
//! significance: with many rows everything is significant.

use super::residuals::Residuals;
use super::shape::decay;
use crate::algebra::vectors::vectorised;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use ndarray::ArrayView2;
use sprs::CsMatView;

/// Functions of a standardised variable: u, exp(−u²/2), u exp(−u²/2), |u|. None of them grows faster than u.
const FUNCTIONS: usize = 4;
/// All pairs of functions but (u, u), which least squares make uncorrelated.
const PAIRS: usize = FUNCTIONS * FUNCTIONS - 1;

/// Sums over rows for one edge, from which correlations follow.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Of functions of the residual, and of their squares.
    effect: [[f64; FUNCTIONS]; 2],
    /// Of functions of the cause, and of their squares.
    cause: [[f64; FUNCTIONS]; 2],
    products: [[f64; FUNCTIONS]; FUNCTIONS],
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn functions(u: f64) -> [f64; FUNCTIONS] {
    let bell = decay(0.5 * u * u);
    [u, bell, u * bell, u.abs()]
}

impl Sums {
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn add(&mut self, residual: [f64; FUNCTIONS], cause: [f64; FUNCTIONS]) {
        for a in 0..FUNCTIONS {
            self.effect[0][a] += residual[a];
            self.effect[1][a] += residual[a] * residual[a];
            self.cause[0][a] += cause[a];
            self.cause[1][a] += cause[a] * cause[a];
            self.products[a].iter_mut().zip(cause).for_each(|(product, g)| *product += residual[a] * g);
        }
    }

    fn merge(&mut self, other: &Self) {
        let pairs = |one: &mut [f64], two: &[f64]| one.iter_mut().zip(two).for_each(|(a, b)| *a += b);
        pairs(self.effect.as_flattened_mut(), other.effect.as_flattened());
        pairs(self.cause.as_flattened_mut(), other.cause.as_flattened());
        pairs(self.products.as_flattened_mut(), other.products.as_flattened());
    }

    /// The sum of squared correlations, less what n rows of independent variables have on average.
    fn dependence(&self, rows: usize) -> f64 {
        let n = rows as f64;
        let variance = |[sums, squares]: &[[f64; FUNCTIONS]; 2], k: usize| squares[k] / n - (sums[k] / n).powi(2);
        let mut total = 0.0;
        for pair in 1..=PAIRS {
            let (a, b) = (pair / FUNCTIONS, pair % FUNCTIONS);
            let covariance = self.products[a][b] / n - self.effect[0][a] * self.cause[0][b] / (n * n);
            let scale = variance(&self.effect, a) * variance(&self.cause, b);
            // A function that is constant depends on nothing.
            total += if scale > f64::MIN_POSITIVE { covariance * covariance / scale } else { 0.0 };
        }
        total - PAIRS as f64 / n
    }
}

/// For each edge, in the order of the entries of `b` by rows: how far the residual of its effect is from being independent
/// of its cause, `Σ corr(f(e_j), g(x_i))² − 15/n` over 15 pairs of functions f and g.
///
/// Rows may be in single or double precision; they are read block by block, and never copied as a whole. `location`
/// holds the means, `b` the weights, `b[i, j] ≠ 0` for i → j.
///
/// # Errors
/// When there are no rows, the sizes differ, an entry is not finite or a residual or a cause constant, or when
/// interrupted.
///
/// # Panics
/// Never: the columns that it asks for exist.
pub fn dependence_statistics<T: Copy + Into<f64> + Sync>(
    rows: ArrayView2<T>,
    location: &[f64],
    b: CsMatView<f64>,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, IcidError> {
    let n = rows.nrows();
    let residuals = Residuals::new(rows, location, b)?;
    let none = sprs::CsMat::zero(b.shape());
    let spread = Residuals::new(rows, location, none.view())?.variances(interrupt)?;
    let scales: Vec<f64> = spread.iter().map(|v| v.sqrt().recip()).collect();
    let own: Vec<f64> = residuals.variances(interrupt)?.iter().map(|v| v.sqrt().recip()).collect();
    let parents = &residuals.parents;
    let degree = |j: usize| parents.outer_view(j).map_or(0, |column| column.nnz());
    let mut sums: Vec<Vec<Sums>> = (0..own.len()).map(|j| vec![Sums::default(); degree(j)]).collect();
    residuals.for_each(&mut sums, interrupt, |j, residual, centred, sums| {
        let height = residual.len();
        let column = parents.outer_view(j).expect("one column for each variable");
        if sums.is_empty() {
            return;
        }
        let mut effects = vec![[0.0; FUNCTIONS]; height];
        vectorised(
            #[inline(always)]
            || {
                for (effect, r) in effects.iter_mut().zip(residual) {
                    *effect = functions(r * own[j]);
                }
                for (&i, sums) in column.indices().iter().zip(sums.iter_mut()) {
                    let mut part = Sums::default();
                    for (&effect, x) in effects.iter().zip(&centred[i * height..(i + 1) * height]) {
                        part.add(effect, functions(x * scales[i]));
                    }
                    sums.merge(&part);
                }
            },
        );
    })?;
    let b = b.to_csr();
    let statistic = |(_, (i, j)): (&f64, (usize, usize))| {
        let column = parents.outer_view(j).expect("one column for each variable");
        let place = column.indices().binary_search(&i).expect("the same edges");
        sums[j][place].dependence(n)
    };
    Ok(b.iter().map(statistic).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;
    use ndarray::Array2;
    use sprs::TriMat;

    fn number(k: usize) -> f64 {
        scramble(k as u64) as f64 / u64::MAX as f64 - 0.5
    }

    #[test]
    fn statistics_are_those_of_the_formula() {
        let (n, d) = (700, 70);
        let x = Array2::from_shape_fn((n, d), |(k, i)| number(k * d + i));
        let location: Vec<f64> = x.columns().into_iter().map(|column| column.sum() / n as f64).collect();
        let mut edges = TriMat::new((d, d));
        for (i, j, w) in [(1, 0, 0.4), (2, 0, -0.7), (3, 69, 0.3)] {
            edges.add_triplet(i, j, w);
        }
        let b = edges.to_csr::<usize>();
        let found = dependence_statistics(x.view(), &location, b.view(), &Interrupt::default()).unwrap();
        let centred = |k: usize, i: usize| x[[k, i]] - location[i];
        let standardised = |values: Vec<f64>| {
            let deviation = (values.iter().map(|v| v * v).sum::<f64>() / n as f64).sqrt();
            values.into_iter().map(|v| v / deviation).collect::<Vec<_>>()
        };
        for (found, (i, j)) in found.into_iter().zip([(1, 0), (2, 0), (3, 69)]) {
            let explained = |k: usize| (0..d).map(|i| b.get(i, j).unwrap_or(&0.0) * centred(k, i)).sum::<f64>();
            let residual = standardised((0..n).map(|k| centred(k, j) - explained(k)).collect());
            let cause = standardised((0..n).map(|k| centred(k, i)).collect());
            let f: [fn(f64) -> f64; 4] = [|u| u, |u| (-0.5 * u * u).exp(), |u| u * (-0.5 * u * u).exp(), |u| u.abs()];
            let mut expected = -15.0 / n as f64;
            for a in 0..4 {
                for b in 0..4 {
                    let [one, two]: [Vec<f64>; 2] = [(&residual, a), (&cause, b)].map(|(values, k)| {
                        let mapped: Vec<f64> = values.iter().map(|&u| f[k](u)).collect();
                        let mean = mapped.iter().sum::<f64>() / n as f64;
                        mapped.into_iter().map(|v| v - mean).collect()
                    });
                    let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(u, v)| u * v).sum::<f64>();
                    if a + b > 0 {
                        expected += dot(&one, &two).powi(2) / dot(&one, &one) / dot(&two, &two);
                    }
                }
            }
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn unequal_spread_shows_and_independence_does_not() {
        let n = 20_000;
        let x = Array2::from_shape_fn((n, 3), |(k, i)| {
            let (cause, noise) = (number(3 * k), number(3 * k + 1));
            [cause, 0.5 * cause + noise, 0.5 * cause + 2.0 * cause * noise][i]
        });
        let location: Vec<f64> = x.columns().into_iter().map(|column| column.sum() / n as f64).collect();
        let mut edges = TriMat::new((3, 3));
        edges.add_triplet(0, 1, 0.5);
        edges.add_triplet(0, 2, 0.5);
        let b = edges.to_csr::<usize>();
        let found = dependence_statistics(x.view(), &location, b.view(), &Interrupt::default()).unwrap();
        assert!(found[0].abs() < 0.002 && found[1] > 0.5, "{found:?}");
    }
}
