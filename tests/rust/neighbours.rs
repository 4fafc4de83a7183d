//! Neighbourhood selection against plain ways to the same.
#![allow(missing_docs)]

mod common;

use common::Random;
use icid_rs::neighbours::{
    Standardised, Test, correlations, lasso_level, neighbourhood_precision, refit, scaled_lasso, select_neighbours,
    standardise, stepwise,
};
use icid_rs::search::wide_precision;
use icid_rs::{IcidError, Interrupt};
use ndarray::{Array1, Array2};
use sprs::CsMat;

/// A chain in which each variable is half its predecessor and noise: in rows, centred and of length one.
fn chain(d: usize, n: usize, seed: u64) -> (Array2<f64>, Vec<f64>) {
    let mut random = Random(seed);
    let mut values = Array2::from_shape_fn((d, n), |_| (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0);
    for j in 1..d {
        for k in 0..n {
            values[[j, k]] += 0.8 * values[[j - 1, k]];
        }
    }
    standardise(values).unwrap()
}

fn test(n: usize, d: usize) -> Test {
    Test::extended_bic(n, d).unwrap()
}

fn edges(matrix: &CsMat<f64>) -> Vec<(usize, usize)> {
    matrix.iter().map(|(_, place)| place).collect()
}

#[test]
fn a_chain_is_found_from_fewer_rows_than_variables() {
    let (d, n) = (150, 100);
    let (values, _) = chain(d, n, 1);
    let data = Standardised::new(&values.view()).unwrap();
    let calm = Interrupt::default();
    let level = lasso_level(n, d);
    let (start, same) = scaled_lasso(data, None, level, &calm).unwrap();
    assert_eq!(same, None);
    let (chosen, left) = stepwise(data, None, start.view(), None, test(n, d), &calm).unwrap();
    assert!(left.iter().all(|&left| left > 0.0 && left <= 1.0));
    let right = edges(&chosen).into_iter().filter(|&(i, j)| i.abs_diff(j) == 1).count();
    assert!(right >= 200 && chosen.nnz() - right <= 10, "{right} of {}", chosen.nnz());
}

/// Weights of the scaled lasso of each variable, its penalty `λ₀ σ`, and the residual's inner products with all variables.
fn lasso_of(values: &Array2<f64>, level: f64) -> (Array2<f64>, Vec<f64>, Array2<f64>) {
    let data = Standardised::new(&values.view()).unwrap();
    let weights = scaled_lasso(data, None, level, &Interrupt::default()).unwrap().0.to_dense();
    let residual = values - &weights.dot(values);
    let penalties = residual.rows().into_iter().map(|row| level * row.dot(&row).sqrt()).collect();
    let gradient = residual.dot(&values.t());
    (weights, penalties, gradient)
}

#[test]
fn the_lasso_satisfies_its_conditions_of_optimality() {
    for (d, n, seed) in [(2, 15, 10), (5, 40, 11), (20, 15, 12), (40, 30, 13), (60, 25, 14), (150, 100, 15)] {
        let (values, _) = chain(d, n, seed);
        let level = lasso_level(n, d);
        let (weights, penalties, gradient) = lasso_of(&values, level);
        for ((j, i), &g) in gradient.indexed_iter() {
            assert!(i != j || weights[[j, j]] == 0.0);
            // The descent stops at a variable that others explain completely: it has no noise.
            if i == j || penalties[j] <= 2e-3 * level {
                continue;
            }
            assert!(g.abs() <= 1.002 * penalties[j], "{g} {}", penalties[j]);
            if weights[[j, i]] != 0.0 {
                assert!((g - weights[[j, i]].signum() * penalties[j]).abs() <= 2e-3 * level);
            }
        }
    }
}

#[test]
fn the_lasso_agrees_with_plain_coordinate_descent() {
    for seed in 20..23 {
        let (values, _) = chain(25, 60, seed);
        let (weights, penalties, _) = lasso_of(&values, 0.25);
        let correlations = values.dot(&values.t());
        for (j, &penalty) in penalties.iter().enumerate() {
            let mut plain = [0.0_f64; 25];
            for _ in 0..2000 {
                for i in (0..25).filter(|&i| i != j) {
                    let explained: f64 = (0..25).filter(|&k| k != i).map(|k| plain[k] * correlations[[i, k]]).sum();
                    let alone = correlations[[i, j]] - explained;
                    plain[i] = alone.signum() * (alone.abs() - penalty).max(0.0);
                }
            }
            for (i, expected) in plain.iter().enumerate() {
                assert!((weights[[j, i]] - expected).abs() < 2e-3, "{seed} {j} {i}");
            }
        }
    }
}

#[test]
fn the_lasso_is_the_same_for_any_number_of_threads() {
    let (values, _) = chain(200, 60, 30);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| lasso_of(&values, 0.3).0)
    };
    let one = with(1);
    assert!([2, 4].into_iter().all(|threads| with(threads) == one));
}

#[test]
fn the_level_of_the_lasso_is_positive() {
    let values = Array2::eye(3);
    let data = Standardised::new(&values.view()).unwrap();
    for level in [0.0, -1.0, f64::NAN] {
        let found = scaled_lasso(data, None, level, &Interrupt::default());
        assert!(matches!(found, Err(IcidError::Parameter { name: "level", .. })));
    }
}

/// The squared Fisher z of the partial correlation of two variables given others.
fn statistic(values: &Array2<f64>, i: usize, j: usize, others: &[usize]) -> f64 {
    let mut basis: Vec<Array1<f64>> = Vec::new();
    let reduced = |k: usize, basis: &[Array1<f64>]| {
        let mut row = values.row(k).to_owned();
        for unit in basis.iter().chain(basis) {
            let part = unit * row.dot(unit);
            row -= &part;
        }
        row
    };
    for &k in others {
        let row = reduced(k, &basis);
        let length = row.dot(&row).sqrt();
        basis.push(row / length);
    }
    let (x, y) = (reduced(i, &basis), reduced(j, &basis));
    let r = x.dot(&y) / (x.dot(&x) * y.dot(&y)).sqrt();
    (values.ncols() as f64 - others.len() as f64 - 3.0) * r.atanh().powi(2)
}

#[test]
fn neighbours_stand_the_test_and_no_others_do() {
    let (d, n) = (40, 60);
    let (values, _) = chain(d, n, 3);
    let data = Standardised::new(&values.view()).unwrap();
    let calm = Interrupt::default();
    let (start, _) = scaled_lasso(data, None, lasso_level(n, d), &calm).unwrap();
    let rule = test(n, d);
    let (chosen, _) = stepwise(data, None, start.view(), None, rule, &calm).unwrap();
    for j in 0..d {
        let neighbours: Vec<usize> = chosen.outer_view(j).unwrap().indices().to_vec();
        for i in 0..d {
            let others: Vec<usize> = neighbours.iter().copied().filter(|&k| k != i).collect();
            let is_chosen = neighbours.contains(&i);
            assert!(i == j || (statistic(&values, i, j, &others) >= rule.penalty()) == is_chosen, "{i} {j}");
        }
    }
}

#[test]
fn sparse_correlations_are_those_above_the_cut() {
    let (values, _) = chain(130, 40, 2);
    let data = Standardised::new(&values.view()).unwrap();
    let found = correlations(data, 0.3, &Interrupt::default()).unwrap();
    let all = values.dot(&values.t());
    for ((i, j), r) in all.indexed_iter() {
        let expected = if i != j && r.abs() > 0.3 { *r } else { 0.0 };
        assert!((found.get(i, j).copied().unwrap_or(0.0) - expected).abs() < 1e-12);
    }
}

#[test]
fn the_refit_of_all_pairs_is_the_inverse() {
    let (values, _) = chain(6, 80, 3);
    let data = Standardised::new(&values.view()).unwrap();
    let full = CsMat::csr_from_dense(Array2::<f64>::ones((6, 6)).view(), 0.0);
    let theta = refit(data, full.view(), 0.0, &Interrupt::default()).unwrap().to_dense();
    let product = theta.dot(&values.dot(&values.t()));
    for ((i, j), value) in product.indexed_iter() {
        assert!((value - f64::from(u8::from(i == j))).abs() < 1e-6, "{value}");
    }
}

#[test]
fn copies_are_noticed_and_an_interrupt_is_heeded() {
    let (mut values, _) = chain(10, 30, 4);
    let copy = values.row(2).mapv(|x| -x);
    values.row_mut(7).assign(&copy);
    let data = Standardised::new(&values.view()).unwrap();
    let (_, same) = scaled_lasso(data, None, 0.3, &Interrupt::default()).unwrap();
    assert_eq!(same, Some((2, 7)));
    let raised = Interrupt::default();
    raised.raise();
    assert_eq!(scaled_lasso(data, None, 0.3, &raised).unwrap_err(), IcidError::Interrupted);
}

/// Θ of the chain in the units of the data, against what it is for unit noise.
fn assert_chain(theta: &CsMat<f64>, tolerance: f64) {
    let d = theta.rows();
    assert_eq!(theta.to_dense(), theta.to_dense().t());
    let found = edges(theta).into_iter().filter(|&(i, j)| i.abs_diff(j) == 1).count();
    assert!(found >= 2 * (d - 1) * 9 / 10, "{found}");
    assert!(theta.nnz() - found - d <= d / 10, "{}", theta.nnz());
    let mean = |offset: usize| (0..d - 1).filter_map(|i| theta.get(i, i + offset)).sum::<f64>() / (d - 1) as f64;
    assert!((mean(0) - 1.64).abs() < tolerance && (mean(1) + 0.8).abs() < tolerance, "{} {}", mean(0), mean(1));
}

#[test]
fn the_precision_of_a_chain_is_found_either_way() {
    let (d, n) = (150, 200);
    let (values, variances) = chain(d, n, 6);
    let data = Standardised::new(&values.view()).unwrap();
    let calm = Interrupt::default();
    let deviations: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
    assert_chain(&neighbourhood_precision(data, &deviations, n, &calm).unwrap().theta, 0.1);
    let wide = wide_precision(data, &variances, n, &calm).unwrap();
    assert_chain(&wide.theta, 0.1);
    let noise = &wide.sem.noise_variances;
    let identity: CsMat<f64> = CsMat::eye(d);
    let a = &identity - &wide.sem.b;
    let inverse = CsMat::new((d, d), (0..=d).collect(), (0..d).collect(), noise.iter().map(|v| 1.0 / v).collect());
    let product = &(&a * &inverse) * &a.transpose_view().to_csr();
    assert!((&product.to_dense() - &wide.theta.to_dense()).iter().all(|gap| gap.abs() < 1e-12));
}

#[test]
fn one_variable_has_no_neighbours() {
    let (values, variances) = chain(1, 20, 7);
    let data = Standardised::new(&values.view()).unwrap();
    let calm = Interrupt::default();
    assert_eq!(select_neighbours(data, 20, None, &calm).unwrap().nnz(), 0);
    let theta = neighbourhood_precision(data, &[2.0], 20, &calm).unwrap().theta;
    assert_eq!((theta.nnz(), theta.get(0, 0)), (1, Some(&0.25)));
    let wide = wide_precision(data, &variances, 20, &calm).unwrap();
    assert!((wide.theta.get(0, 0).unwrap() - 1.0 / variances[0]).abs() < 1e-12);
}
