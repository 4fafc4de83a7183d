//! Which variables depend on each other, judged by the likelihood ratio of two blocks.

use crate::Blocks;
use crate::algebra::small::{add_square, determinant, with_buffer};
use ndarray::Array2;
use rayon::prelude::*;

/// Two variables count as dependent from so many standard deviations: the same tail as |z| > 4 of one correlation.
const DEPENDENT: f64 = 3.83;

/// For each variable those on which it depends, at most so many, the strongest; either of two may have the other. The
/// matrix holds correlations or partial correlations, with those of one block uncorrelated.
pub(super) fn dependent(matrix: &Array2<f64>, blocks: &Blocks, samples: f64, most: usize) -> Vec<Vec<u32>> {
    let strongest = |i: usize| {
        let strength = |j: usize| {
            let parameters = (blocks.width(i) * blocks.width(j)) as f64;
            normal_score(samples * log_ratio(matrix, blocks, i, j), parameters)
        };
        let others = (0..blocks.len()).filter(|&j| j != i).map(|j| (strength(j), j as u32));
        let mut found: Vec<(f64, u32)> = others.filter(|&(z, _)| z > DEPENDENT).collect();
        if found.len() > most {
            found.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0));
            found.truncate(most);
        }
        found.into_iter().map(|(_, j)| j).collect()
    };
    (0..blocks.len()).into_par_iter().map(strongest).collect()
}

/// `−log det(I − RᵀR)` with R the correlations between two blocks: the likelihood ratio of each sample.
fn log_ratio(matrix: &Array2<f64>, blocks: &Blocks, i: usize, j: usize) -> f64 {
    let (rows, columns) = (blocks.range(i), blocks.range(j));
    let width = columns.len();
    with_buffer(width * width, |left| {
        left.iter_mut().step_by(width + 1).for_each(|entry| *entry = 1.0);
        for row in rows {
            let row = matrix.row(row);
            let row = &row.to_slice().expect("rows are contiguous")[columns.clone()];
            add_square(left, row, width, -1.0);
        }
        determinant(left, width, f64::EPSILON).map_or(f64::INFINITY, |left| -left.ln())
    })
}

/// The standard normal quantile at which a χ² statistic lies (Wilson and Hilferty 1931).
fn normal_score(statistic: f64, degrees: f64) -> f64 {
    let spread = 2.0 / (9.0 * degrees);
    ((statistic / degrees).cbrt() - (1.0 - spread)) / spread.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_chi_squared() {
        // Upper quantiles of χ² at the tail of 1.96 standard deviations.
        for (degrees, statistic) in [(1.0, 5.024), (4.0, 11.143), (16.0, 28.845)] {
            assert!((normal_score(statistic, degrees) - 1.96).abs() < 0.03);
        }
    }

    #[test]
    fn a_block_depends_on_another_through_any_of_its_columns() {
        let blocks = Blocks::new(&[0, 2, 3, 5]).unwrap();
        let mut matrix = Array2::eye(5);
        for (i, j, r) in [(1, 2, 0.3), (0, 3, 0.2), (1, 4, 0.2)] {
            (matrix[[i, j]], matrix[[j, i]]) = (r, r);
        }
        assert!((log_ratio(&matrix, &blocks, 0, 2) + 2.0 * 0.96_f64.ln()).abs() < 1e-12);
        assert_eq!(dependent(&matrix, &blocks, 1000.0, 60), [vec![1, 2], vec![0], vec![0]]);
        // The strongest: with one parameter 94 is more than 82 with four.
        assert_eq!(dependent(&matrix, &blocks, 1000.0, 1), [vec![1], vec![0], vec![0]]);
        assert_eq!(dependent(&matrix, &blocks, 10.0, 60), [vec![], vec![], vec![]] as [Vec<u32>; 3]);
    }
}
