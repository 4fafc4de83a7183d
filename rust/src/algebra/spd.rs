//! Small symmetric positive definite matrices, row by row in one buffer.

/// A symmetric matrix, all of it.
pub(crate) struct Symmetric {
    size: usize,
    entries: Vec<f64>,
}

/// A lower Cholesky factor.
pub(crate) struct Spd(Symmetric);

impl Spd {
    /// Factorise a matrix given by its lower triangle; `None` if it is not positive definite. The buffer is reused.
    pub fn factorise(size: usize, entry: impl Fn(usize, usize) -> f64, mut buffer: Vec<f64>) -> Option<Self> {
        buffer.clear();
        buffer.resize(size * size, 0.0);
        for i in 0..size {
            let (above, row) = buffer.split_at_mut(i * size);
            for j in 0..=i {
                let other = if j < i { &above[j * size..=j * size + j] } else { &[] };
                let known: f64 = other.iter().zip(&row[..j]).map(|(a, b)| a * b).sum();
                if j < i {
                    row[j] = (entry(i, j) - known) / other[j];
                } else {
                    let whole = entry(i, i);
                    let pivot = whole - row[..i].iter().map(|a| a * a).sum::<f64>();
                    if pivot.is_nan() || pivot <= f64::EPSILON * whole {
                        return None;
                    }
                    row[i] = pivot.sqrt();
                }
            }
        }
        Some(Self(Symmetric { size, entries: buffer }))
    }

    /// Solve for a right-hand side.
    pub fn solve(&self, mut x: Vec<f64>) -> Vec<f64> {
        let (size, factor) = (self.0.size, &self.0.entries);
        for i in 0..size {
            let known: f64 = factor[i * size..i * size + i].iter().zip(&x).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - known) / factor[i * size + i];
        }
        for i in (0..size).rev() {
            x[i] /= factor[i * size + i];
            let (head, tail) = x.split_at_mut(i);
            for (x, l) in head.iter_mut().zip(&factor[i * size..i * size + i]) {
                *x -= l * tail[0];
            }
        }
        x
    }

    /// The logarithm of the determinant.
    pub fn log_determinant(&self) -> f64 {
        let size = self.0.size;
        2.0 * (0..size).map(|i| self.0.entries[i * size + i].ln()).sum::<f64>()
    }

    /// The inverse of the matrix, in place of its factor.
    pub fn into_inverse(self) -> Symmetric {
        let Symmetric { size, entries: mut l } = self.0;
        // First the inverse of the factor, row by row: L⁻¹[i, j] = −Σ_{j ≤ k < i} L[i, k] L⁻¹[k, j] / L[i, i].
        for i in 0..size {
            let (above, row) = l.split_at_mut(i * size);
            let row = &mut row[..=i];
            let root = row[i];
            for j in 0..i {
                let sum: f64 = (j..i).map(|k| row[k] * above[k * size + j]).sum();
                row[j] = -sum / root;
            }
            row[i] = 1.0 / root;
        }
        // Then L⁻ᵀ L⁻¹: entry (i, j) needs the rows from max(i, j) on, so the upper triangle can be filled in passing.
        for i in 0..size {
            for j in i..size {
                let sum: f64 = (j..size).map(|k| l[k * size + i] * l[k * size + j]).sum();
                l[i * size + j] = sum;
            }
        }
        for i in 0..size {
            for j in 0..i {
                l[i * size + j] = l[j * size + i];
            }
        }
        Symmetric { size, entries: l }
    }

    pub fn into_buffer(self) -> Vec<f64> {
        self.0.entries
    }
}

impl Symmetric {
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.size + j]
    }

    /// From the inverse of a matrix, make the inverse of that matrix without row and column k.
    pub fn remove(&mut self, k: usize) {
        let size = self.size;
        let pivot = self.get(k, k);
        let row: Vec<f64> = self.entries[k * size..(k + 1) * size].to_vec();
        let mut to = 0;
        for i in (0..size).filter(|&i| i != k) {
            let share = row[i] / pivot;
            for j in (0..size).filter(|&j| j != k) {
                self.entries[to] = self.entries[i * size + j] - share * row[j];
                to += 1;
            }
        }
        self.size -= 1;
        self.entries.truncate(to);
    }

    pub fn into_buffer(self) -> Vec<f64> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hilbert_like(i: usize, j: usize) -> f64 {
        1.0 / (1.0 + i as f64 + j as f64) + if i == j { 0.5 } else { 0.0 }
    }

    #[test]
    fn inverse_and_solution_undo_the_matrix() {
        let size = 6;
        let factor = Spd::factorise(size, hilbert_like, Vec::new()).unwrap();
        let x = factor.solve((0..size).map(|i| i as f64).collect());
        for i in 0..size {
            let product: f64 = (0..size).map(|j| hilbert_like(i, j) * x[j]).sum();
            assert!((product - i as f64).abs() < 1e-12);
        }
        let inverse = factor.into_inverse();
        for i in 0..size {
            for j in 0..size {
                let product: f64 = (0..size).map(|k| hilbert_like(i, k) * inverse.get(k, j)).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn removing_a_row_is_inverting_without_it() {
        let mut inverse = Spd::factorise(5, hilbert_like, Vec::new()).unwrap().into_inverse();
        inverse.remove(2);
        let kept = [0, 1, 3, 4];
        let smaller = Spd::factorise(4, |i, j| hilbert_like(kept[i], kept[j]), Vec::new()).unwrap().into_inverse();
        for i in 0..4 {
            for j in 0..4 {
                assert!((inverse.get(i, j) - smaller.get(i, j)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_factor() {
        assert!(Spd::factorise(2, |_, _| 1.0, Vec::new()).is_none());
    }
}
