//! Small covariance matrices in buffers, row by row.

/// Buffers up to this number of entries are on the stack.
const SMALL: usize = 128;

/// Run with zeros, which are on the stack if they are few.
pub(crate) fn with_buffer<T>(len: usize, work: impl FnOnce(&mut [f64]) -> T) -> T {
    if len <= SMALL { work(&mut [0.0; SMALL][..len]) } else { work(&mut vec![0.0; len]) }
}

/// Add `sign YᵀY` to a matrix, with rows of Y of this width.
pub(crate) fn add_square(matrix: &mut [f64], rows: &[f64], width: usize, sign: f64) {
    for row in rows.chunks_exact(width) {
        for (out, entry) in matrix.chunks_exact_mut(width).zip(row) {
            subtract(out, -sign * entry, row);
        }
    }
}

/// Replace a covariance matrix by its Cholesky factor L, in the lower triangle. Columns of no more than `least` given
/// those before are left out: their rows and columns of L are zero. False if nothing is left.
pub(crate) fn factorise(matrix: &mut [f64], size: usize, least: f64) -> bool {
    let mut is_any = false;
    for i in 0..size {
        let (above, row) = matrix.split_at_mut(i * size);
        for j in 0..i {
            let (other, root) = (&above[j * size..j * size + j], above[j * size + j]);
            let known: f64 = other.iter().zip(&row[..j]).map(|(a, b)| a * b).sum();
            row[j] = if root == 0.0 { 0.0 } else { (row[j] - known) / root };
        }
        let pivot = row[i] - row[..i].iter().map(|a| a * a).sum::<f64>();
        if pivot > least {
            row[i] = pivot.sqrt();
            is_any = true;
        } else {
            row[..=i].fill(0.0);
        }
    }
    is_any
}

/// Multiply rows from the left by `L⁻¹`; those of columns that were left out become zero.
pub(crate) fn reduce(factor: &[f64], rows: &mut [f64], width: usize) {
    let size = rows.len() / width;
    for i in 0..size {
        let (above, row) = rows.split_at_mut(i * width);
        let row = &mut row[..width];
        for (other, entry) in above.chunks_exact(width).zip(&factor[i * size..]) {
            subtract(row, *entry, other);
        }
        let root = factor[i * size + i];
        divide(row, root);
    }
}

/// Multiply rows from the left by `L⁻ᵀ`; those of columns that were left out become zero.
pub(crate) fn raise(factor: &[f64], rows: &mut [f64], width: usize) {
    let size = rows.len() / width;
    for i in (0..size).rev() {
        let (row, below) = rows[i * width..].split_at_mut(width);
        for (k, other) in below.chunks_exact(width).enumerate() {
            subtract(row, factor[(i + 1 + k) * size + i], other);
        }
        let root = factor[i * size + i];
        divide(row, root);
    }
}

/// Divide a row by a diagonal entry of a factor, which is zero where a column was left out.
fn divide(row: &mut [f64], root: f64) {
    for entry in row {
        *entry = if root == 0.0 { 0.0 } else { *entry / root };
    }
}

/// The determinant of a covariance matrix, if each column has more than `least` left given those before it. Its entries
/// are overwritten.
pub(crate) fn determinant(matrix: &mut [f64], size: usize, least: f64) -> Option<f64> {
    let mut determinant = 1.0;
    for i in 0..size {
        let (pivot_row, below) = matrix[i * size..].split_at_mut(size);
        let pivot = pivot_row[i];
        if pivot.is_nan() || pivot <= least {
            return None;
        }
        determinant *= pivot;
        for row in below.chunks_exact_mut(size) {
            let factor = row[i] / pivot;
            subtract(&mut row[i + 1..], factor, &pivot_row[i + 1..]);
        }
    }
    Some(determinant)
}

/// `y -= a x`
fn subtract(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three columns, of which the last is the sum of the others.
    const SINGULAR: [f64; 9] = [2.0, 1.0, 3.0, 1.0, 2.0, 3.0, 3.0, 3.0, 6.0];

    #[test]
    fn factors_and_determinants_are_those_of_the_matrix() {
        let matrix = [4.0, 2.0, 1.0, 2.0, 3.0, 0.5, 1.0, 0.5, 2.0];
        let mut factor = matrix;
        assert!(factorise(&mut factor, 3, 1e-12));
        let product: f64 = [0, 4, 8].map(|i| factor[i]).iter().product();
        let found = determinant(&mut matrix.clone(), 3, 0.0).unwrap();
        assert!((found - 4.0 * (6.0 - 0.25) + 2.0 * (4.0 - 0.5) - (1.0 - 3.0)).abs() < 1e-12);
        assert!((product * product - found).abs() < 1e-12);
        // Solving for two right-hand sides.
        let mut x = [1.0, 0.0, 2.0, 1.0, -1.0, 3.0];
        let right = x;
        reduce(&factor, &mut x, 2);
        raise(&factor, &mut x, 2);
        for (i, row) in matrix.chunks_exact(3).enumerate() {
            for k in 0..2 {
                let product: f64 = row.iter().zip(x.iter().skip(k).step_by(2)).map(|(a, b)| a * b).sum();
                assert!((product - right[2 * i + k]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn combinations_are_left_out() {
        let mut factor = SINGULAR;
        assert!(factorise(&mut factor, 3, 1e-9));
        assert_eq!(&factor[6..], [0.0; 3]);
        let mut x = [1.0, 2.0, 3.0];
        reduce(&factor, &mut x, 1);
        raise(&factor, &mut x, 1);
        assert!(x[0].abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12 && x[2] == 0.0);
        assert_eq!(determinant(&mut SINGULAR.clone(), 3, 1e-9), None);
        assert!(!factorise(&mut [0.0], 1, 1e-9));
    }
}
