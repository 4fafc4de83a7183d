//! The root of the covariance of what noise and errors of measurement add: of `K = Ω + Aᵀ T A`.

use crate::error::IcidError;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

/// Columns of a factorisation that are finished before the rest is brought up to date.
const BLOCK: usize = 48;

/// A lower triangular factor L of K = L Lᵀ.
#[derive(Debug, Clone)]
pub(super) enum Root {
    /// Without errors of measurement K is diagonal, and so is its root.
    Diagonal(Array1<f64>),
    Lower(Array2<f64>),
}

impl Root {
    /// Factorise a dense K, of which the lower triangle is read.
    pub fn lower(mut k: Array2<f64>) -> Result<Self, IcidError> {
        let d = k.nrows();
        let diagonal = k.diag().to_owned();
        for start in (0..d).step_by(BLOCK) {
            let end = (start + BLOCK).min(d);
            for j in start..end {
                let known = k.slice(s![j, start..j]).dot(&k.slice(s![j, start..j]));
                let pivot = k[[j, j]] - known;
                if pivot.is_nan() || pivot <= f64::EPSILON * diagonal[j] {
                    return Err(IcidError::Singular { index: j, pivot, diagonal: diagonal[j] });
                }
                let root = pivot.sqrt();
                k[[j, j]] = root;
                let own = k.slice(s![j, start..j]).to_owned();
                let mut below = k.slice_mut(s![j + 1.., start..=j]);
                below.axis_iter_mut(Axis(0)).for_each(|mut row| {
                    let product = row.slice(s![..j - start]).dot(&own);
                    row[j - start] = (row[j - start] - product) / root;
                });
            }
            let panel = k.slice(s![end.., start..end]).to_owned();
            let rest = k.slice_mut(s![end.., end..]);
            update(rest, panel.view());
        }
        for i in 0..d {
            k.slice_mut(s![i, i + 1..]).fill(0.0);
        }
        Ok(Self::Lower(k))
    }

    /// log det K.
    pub fn log_determinant(&self) -> f64 {
        match self {
            Self::Diagonal(root) => 2.0 * root.iter().map(|r| r.ln()).sum::<f64>(),
            Self::Lower(l) => 2.0 * l.diag().iter().map(|r| r.ln()).sum::<f64>(),
        }
    }

    /// L⁻¹ X.
    pub fn solve(&self, mut x: Array2<f64>) -> Array2<f64> {
        match self {
            Self::Diagonal(root) => x /= &root.view().insert_axis(Axis(1)),
            Self::Lower(l) => {
                let blocks: Vec<_> = x.axis_chunks_iter_mut(Axis(1), BLOCK).collect();
                blocks.into_par_iter().for_each(|columns| forward(l, columns));
            }
        }
        x
    }

    /// L X.
    pub fn times(&self, x: &Array2<f64>) -> Array2<f64> {
        match self {
            Self::Diagonal(root) => x * &root.view().insert_axis(Axis(1)),
            Self::Lower(l) => l.dot(x),
        }
    }

    /// L⁻¹ M L⁻ᵀ of a symmetric M.
    pub fn whiten(&self, m: Array2<f64>) -> Array2<f64> {
        let half = self.solve(m);
        self.solve(half.reversed_axes().as_standard_layout().into_owned())
    }
}

/// Subtract the products of a panel's rows from the lower triangle of what is left.
fn update(mut rest: ArrayViewMut2<f64>, panel: ArrayView2<f64>) {
    let blocks: Vec<_> = rest.axis_chunks_iter_mut(Axis(0), BLOCK).collect();
    blocks.into_par_iter().enumerate().for_each(|(block, mut rows)| {
        let (first, last) = (block * BLOCK, block * BLOCK + rows.nrows());
        let mut triangle = rows.slice_mut(s![.., ..last]);
        general_mat_mul(-1.0, &panel.slice(s![first..last, ..]), &panel.slice(s![..last, ..]).t(), 1.0, &mut triangle);
    });
}

/// Solve L Y = X for a few columns, in place.
fn forward(l: &Array2<f64>, mut x: ArrayViewMut2<f64>) {
    let d = l.nrows();
    for start in (0..d).step_by(BLOCK) {
        let end = (start + BLOCK).min(d);
        let (done, mut rest) = x.view_mut().split_at(Axis(0), start);
        let mut own = rest.slice_mut(s![..end - start, ..]);
        general_mat_mul(-1.0, &l.slice(s![start..end, ..start]), &done, 1.0, &mut own);
        for i in start..end {
            for j in start..i {
                let weight = l[[i, j]];
                if weight != 0.0 {
                    let (head, mut tail) = own.view_mut().split_at(Axis(0), i - start);
                    tail.row_mut(0).scaled_add(-weight, &head.row(j - start));
                }
            }
            own.row_mut(i - start).mapv_inplace(|value| value / l[[i, i]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_give_back_the_matrix_and_solve() {
        let d = 2 * BLOCK + 7;
        let b = Array2::from_shape_fn((d, d), |(i, j)| ((i * 7 + j * j) as f64).cos() / 3.0);
        let k = b.dot(&b.t()) + Array2::<f64>::eye(d);
        let root = Root::lower(k.clone()).unwrap();
        let Root::Lower(l) = &root else { panic!("a dense root") };
        assert!((&l.dot(&l.t()) - &k).iter().all(|error| error.abs() < 1e-9));
        let whitened = root.whiten(k);
        assert!((&whitened - &Array2::<f64>::eye(d)).iter().all(|error| error.abs() < 1e-9));
    }

    #[test]
    fn an_indefinite_matrix_has_no_root() {
        assert!(Root::lower(ndarray::array![[1.0, 2.0], [2.0, 1.0]]).is_err());
    }
}
