//! Neighbourhood selection against plain ways to the same.
#![allow(missing_docs)]

mod common;

use common::Random;
use icid_rs::neighbours::{Standardised, Test, correlations, eliminate_sinks, refit, scaled_lasso, stepwise};
use icid_rs::{IcidError, Interrupt};
use ndarray::Array2;
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
    let mut variances = Vec::new();
    for mut row in values.rows_mut() {
        let mean = row.mean().unwrap();
        row.mapv_inplace(|x| x - mean);
        let square: f64 = row.iter().map(|x| x * x).sum();
        row.mapv_inplace(|x| x / square.sqrt());
        variances.push(square / n as f64);
    }
    (values, variances)
}

fn test(n: usize, d: usize) -> Test {
    Test { samples: n, penalty: (n as f64).ln() + 2.0 * (d as f64).ln() }
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
    let level = ((d as f64).ln() / n as f64).sqrt();
    let (start, same) = scaled_lasso(data, None, level, &calm).unwrap();
    assert_eq!(same, None);
    let (chosen, left) = stepwise(data, None, start.view(), None, test(n, d), &calm).unwrap();
    assert!(left.iter().all(|&left| left > 0.0 && left <= 1.0));
    let right = edges(&chosen).into_iter().filter(|&(i, j)| i.abs_diff(j) == 1).count();
    assert!(right >= 200 && chosen.nnz() - right <= 10, "{right} of {}", chosen.nnz());
}

#[test]
fn sinks_are_eliminated_last_to_first() {
    let (d, n) = (150, 1000);
    let (values, variances) = chain(d, n, 5);
    let data = Standardised::new(&values.view()).unwrap();
    let calm = Interrupt::default();
    let pattern = CsMat::csr_from_dense(
        Array2::from_shape_fn((d, d), |(i, j)| f64::from(u8::from(i.abs_diff(j) == 1))).view(),
        0.0,
    );
    let order = eliminate_sinks(data, &variances, pattern.view(), test(n, d), &calm).unwrap();
    let mut places = vec![0; d];
    for (place, &i) in order.iter().enumerate() {
        places[i] = place;
    }
    let kept = (1..d).filter(|&j| places[j - 1] < places[j]).count();
    assert!(kept >= d * 9 / 10, "{kept}");
    let (along, _) = stepwise(data, None, pattern.view(), Some(&places), test(n, d), &calm).unwrap();
    assert!(edges(&along).into_iter().all(|(effect, cause)| places[cause] < places[effect]));
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
