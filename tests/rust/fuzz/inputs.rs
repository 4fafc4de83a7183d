//! From bytes to problems: mostly valid ones with something wrong, because random numbers alone fail the first check.

use ndarray::Array2;
use sprs::{CsMat, TriMat};

/// Bytes that are read one after another; zeros when they end, so that any string of bytes is an input.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.byte() as usize % n
    }

    /// True about once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 1
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number of moderate size; zero now and then.
    pub fn tame(&mut self) -> f64 {
        (f64::from(self.byte()) - 128.0) / 64.0
    }

    /// Any number at all, with a liking for those that break things.
    pub fn wild(&mut self) -> f64 {
        const ODD: [f64; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::EPSILON,
            1.0 + f64::EPSILON,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e154,
        ];
        match self.below(4) {
            0 => ODD[self.below(ODD.len())],
            1 => self.tame() * self.scale(),
            2 => f64::from_bits(self.word()),
            _ => self.tame(),
        }
    }

    /// A power of ten from 1e-150 to 1e150, mostly near 1.
    pub fn scale(&mut self) -> f64 {
        let exponent = i32::from(self.byte() as i8);
        10_f64.powi(if exponent % 4 == 0 { exponent * 150 / 128 } else { exponent % 4 })
    }

    /// Each of `0..d` once.
    pub fn order(&mut self, d: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..d).collect();
        for i in (1..d).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }

    /// Variables, from one to `most`.
    pub fn dim(&mut self, most: usize) -> usize {
        1 + self.below(most)
    }

    /// Weights of an acyclic graph: empty, a star, a chain, complete, or random.
    pub fn dag(&mut self, d: usize) -> Array2<f64> {
        let (shape, order) = (self.below(6), self.order(d));
        let mut b = Array2::zeros((d, d));
        for j in 0..d {
            for i in 0..j {
                let joined = match shape {
                    0 => false,
                    1 => i == 0,
                    2 => i + 1 == j,
                    3 => true,
                    4 => j + 1 == d,
                    _ => self.below(3) == 0,
                };
                if joined {
                    b[[order[i], order[j]]] = self.tame();
                }
            }
        }
        b
    }

    /// Positive numbers, one for each variable.
    pub fn variances(&mut self, d: usize) -> Vec<f64> {
        (0..d).map(|_| f64::from(self.byte().max(1)) / 64.0).collect()
    }

    /// An inverse covariance, and what may have become of it: other units, a copy of a variable, a lost bit, a sign, an
    /// entry that is anything.
    pub fn theta(&mut self, d: usize) -> Array2<f64> {
        let b = self.dag(d);
        let variances = if self.once_in(3) { self.variances(d) } else { vec![1.0; d] };
        let a = Array2::eye(d) - b;
        let scaled = Array2::from_shape_fn((d, d), |(i, j)| a[[i, j]] / variances[j]);
        let mut theta = scaled.dot(&a.t());
        for _ in 0..self.below(3) {
            self.spoil(&mut theta);
        }
        theta
    }

    fn spoil(&mut self, theta: &mut Array2<f64>) {
        let d = theta.nrows();
        let (i, j) = (self.below(d), self.below(d));
        match self.below(8) {
            0 => {
                let scales: Vec<f64> = (0..d).map(|_| self.scale()).collect();
                for ((i, j), value) in theta.indexed_iter_mut() {
                    *value *= scales[i] * scales[j];
                }
            }
            1 => {
                let copy = theta.row(i).to_owned();
                theta.row_mut(j).assign(&copy);
                let copy = theta.column(i).to_owned();
                theta.column_mut(j).assign(&copy);
            }
            2 => theta[[i, j]] = f64::from_bits(theta[[i, j]].to_bits().wrapping_add(1)),
            3 => theta[[i, i]] *= -1.0,
            4 => theta[[i, j]] = self.wild(),
            5 => {
                let value = self.wild();
                theta[[i, j]] = value;
                theta[[j, i]] = value;
            }
            6 => theta[[i, i]] *= 1e-12,
            _ => {
                let scale = self.scale();
                theta.mapv_inplace(|value| value * scale);
            }
        }
    }

    /// In CSR form, now and then with stored zeros.
    pub fn sparse(&mut self, matrix: &Array2<f64>) -> CsMat<f64> {
        let stored = self.once_in(4);
        let mut triplets = TriMat::new(matrix.dim());
        for ((i, j), &value) in matrix.indexed_iter() {
            if value != 0.0 || stored {
                triplets.add_triplet(i, j, value);
            }
        }
        triplets.to_csr()
    }

    /// Any matrix.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        let (wild, zeros) = (self.once_in(3), self.below(4));
        Array2::from_shape_fn((rows, columns), |_| {
            if zeros > 0 && self.below(4) < zeros {
                0.0
            } else if wild {
                self.wild()
            } else {
                self.tame()
            }
        })
    }

    /// Noise variances if there are any, right or wrong.
    pub fn noise(&mut self, d: usize) -> Option<Vec<f64>> {
        match self.below(6) {
            0 => Some(self.variances(d)),
            1 => Some((0..d).map(|_| self.scale()).collect()),
            2 => Some((0..self.below(d + 2)).map(|_| self.wild()).collect()),
            _ => None,
        }
    }
}
