//! Leading eigenpairs of a symmetric matrix, by subspace iteration.

use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Products with the matrix from a start that knows nothing; one from an earlier solution needs fewer.
const PRODUCTS: usize = 40;
/// A relative change of the eigenvalues that ends the iteration.
const TOLERANCE: f64 = 1e-7;
/// Vectors beyond those that are wanted, which speed up convergence.
const SPARE: usize = 3;
/// Sweeps of Jacobi rotations: a few suffice for small matrices.
const SWEEPS: usize = 30;

/// The largest eigenvalues, in descending order, and their vectors in columns.
#[derive(Debug, Clone)]
pub(super) struct Leading {
    pub values: Array1<f64>,
    pub vectors: Array2<f64>,
}

/// Find so many leading eigenpairs of a positive semidefinite matrix, from vectors close to them if there are any.
pub(super) fn leading(matrix: ArrayView2<f64>, count: usize, start: Option<&Array2<f64>>) -> Leading {
    let d = matrix.nrows();
    let width = (count + SPARE).min(d);
    let mut basis = match start {
        Some(vectors) if vectors.dim() == (d, width) => vectors.clone(),
        // Any fixed vectors will do that are not orthogonal to the solution.
        _ => Array2::from_shape_fn((d, width), |(i, j)| ((i * width + j) as f64 * 1.618_034).sin()),
    };
    orthonormalise(&mut basis);
    let mut last = Array1::<f64>::zeros(width);
    for _ in 0..PRODUCTS {
        let image = matrix.dot(&basis);
        let (values, rotation) = jacobi(basis.t().dot(&image));
        basis = image.dot(&rotation);
        orthonormalise(&mut basis);
        let change = values.iter().zip(&last).take(count).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let scale = values[0].abs().max(f64::MIN_POSITIVE);
        last = values;
        if change <= TOLERANCE * scale {
            break;
        }
    }
    Leading { values: last, vectors: basis }
}

/// Make columns orthonormal, in place, each orthogonal to those before it.
fn orthonormalise(basis: &mut Array2<f64>) {
    for j in 0..basis.ncols() {
        // Twice is enough to be orthogonal to rounding.
        for _ in 0..2 {
            let (before, mut rest) = basis.view_mut().split_at(Axis(1), j);
            let mut column = rest.column_mut(0);
            for other in before.columns() {
                let share = other.dot(&column);
                column.scaled_add(-share, &other);
            }
            let length = column.dot(&column).sqrt();
            if length > 0.0 {
                column /= length;
            }
        }
    }
}

/// Eigenvalues of a small symmetric matrix in descending order, and its eigenvectors in columns.
fn jacobi(mut a: Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let size = a.nrows();
    let mut vectors = Array2::eye(size);
    for _ in 0..SWEEPS {
        let off: f64 = (0..size).flat_map(|i| (0..i).map(move |j| (i, j))).map(|at| a[at] * a[at]).sum();
        if off <= f64::EPSILON * f64::EPSILON * a.diag().dot(&a.diag()) {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&i, &j| a[[j, j]].total_cmp(&a[[i, i]]));
    (order.iter().map(|&i| a[[i, i]]).collect(), vectors.select(Axis(1), &order))
}

/// Rotate axes p and q so that entry (p, q) vanishes.
fn rotate(a: &mut Array2<f64>, vectors: &mut Array2<f64>, p: usize, q: usize) {
    if a[[p, q]] == 0.0 {
        return;
    }
    let ratio = (a[[q, q]] - a[[p, p]]) / (2.0 * a[[p, q]]);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |one: f64, two: f64| (cosine * one - sine * two, sine * one + cosine * two);
    for i in 0..a.nrows() {
        (a[[i, p]], a[[i, q]]) = turn(a[[i, p]], a[[i, q]]);
    }
    for i in 0..a.nrows() {
        (a[[p, i]], a[[q, i]]) = turn(a[[p, i]], a[[q, i]]);
        (vectors[[i, p]], vectors[[i, q]]) = turn(vectors[[i, p]], vectors[[i, q]]);
    }
}

impl Leading {
    /// The first so many pairs.
    pub fn first(&self, count: usize) -> (Array1<f64>, Array2<f64>) {
        (self.values.slice(s![..count]).to_owned(), self.vectors.slice(s![.., ..count]).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_pairs_are_eigenpairs_and_no_larger_ones_are_missed() {
        let root = Array2::from_shape_fn((30, 30), |(i, j)| ((i * i + 3 * j) as f64).sin() / (1 + j) as f64);
        let matrix = root.dot(&root.t());
        let found = leading(matrix.view(), 2, None);
        for k in 0..2 {
            let vector = found.vectors.column(k);
            let error = &matrix.dot(&vector) - &(&vector * found.values[k]);
            assert!(error.iter().all(|e| e.abs() < 1e-3 * found.values[0]));
        }
        let (all, _) = jacobi(matrix);
        assert!((0..2).all(|k| (all[k] - found.values[k]).abs() < 1e-5 * all[0]));
    }
}
