//! Laws of elimination and of regression along an order.
#![allow(missing_docs)]

mod common;

use common::{Random, precision, random_dag, random_theta};
use icid_rs::order::{Elimination, Noise, Regression, Rule, eliminate, eliminate_dense, regress_along, regress_within};
use icid_rs::{IcidError, Interrupt, Knowledge};
use ndarray::Array2;
use proptest::prelude::*;
use sprs::CsMat;

const SMALLEST: Rule = Rule::SmallestPivot { noise_variances: None };

fn dense(matrix: &CsMat<f64>) -> Array2<f64> {
    matrix.to_dense()
}

fn both(theta: &CsMat<f64>, rule: Rule) -> [Elimination; 2] {
    let interrupt = Interrupt::default();
    [
        eliminate(theta.view(), rule, 0.0, &interrupt).unwrap(),
        eliminate_dense(&dense(theta).view(), rule, 0.0, &interrupt).unwrap(),
    ]
}

fn largest_difference(a: &CsMat<f64>, b: &CsMat<f64>) -> f64 {
    (a - b).data().iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn models_are_recovered(seed: u64, d in 1_usize..80, degree in 0_usize..4) {
        let mut random = Random(seed);
        let b = random_dag(d, degree, &mut random);
        let variances: Vec<f64> = (0..d).map(|_| 0.2 + random.uniform()).collect();
        let theta = precision(&b, &variances);
        for found in both(&theta, Rule::SmallestPivot { noise_variances: Some(&variances) }) {
            prop_assert!(largest_difference(&found.b, &b) < 1e-8);
            prop_assert_eq!(found.b.nnz(), b.nnz());
            for (one, other) in found.noise_variances.iter().zip(&variances) {
                prop_assert!((one - other).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn any_order_decomposes(seed: u64, d in 1_usize..80) {
        let theta = random_theta(d, 1, seed);
        let order: Vec<usize> = (0..d).rev().collect();
        let [sparse, whole] = both(&theta, Rule::Along(&order));
        prop_assert!(largest_difference(&sparse.b, &whole.b) < 1e-6);
        prop_assert_eq!(&sparse.order, &order);
        prop_assert!(sparse.b.iter().all(|(_, (i, j))| i > j));
        let rebuilt = precision(&sparse.b, &sparse.noise_variances);
        prop_assert!(largest_difference(&rebuilt, &theta) < 1e-6);
    }
}

#[test]
fn regression_on_the_true_moments_gives_the_model() {
    let b = random_dag(40, 2, &mut Random(7));
    let theta = dense(&precision(&b, &[1.0; 40]));
    // The covariance (I − B)⁻ᵀ(I − B)⁻¹, by the Neumann series, which ends because B is acyclic.
    let (mut power, mut sum) = (Array2::eye(40), Array2::<f64>::eye(40));
    for _ in 0..40 {
        power = power.dot(&dense(&b));
        sum += &power;
    }
    let covariance = sum.t().dot(&sum);
    let knowledge = Knowledge::none(covariance.nrows());
    let data = Regression {
        covariance: covariance.view(),
        samples: 100_000,
        penalty: 20.0,
        noise: Noise::Equal,
        knowledge: &knowledge,
    };
    let interrupt = Interrupt::default();
    let fit = regress_along(&data, &theta.view(), SMALLEST, &interrupt).unwrap();
    assert!(largest_difference(&fit.b, &b) < 1e-6);
    // The support of Θ holds every edge here, so the same graph is found inside it.
    let support = random_theta(40, 2, 7);
    let within = regress_within(&data, &fit.order, support.view(), &interrupt).unwrap();
    assert!(largest_difference(&within.b, &fit.b) < 1e-9);
    assert!((within.score - fit.score).abs() < 1e-3);
    let backwards: Vec<usize> = fit.order.iter().rev().copied().collect();
    assert!(regress_within(&data, &backwards, support.view(), &interrupt).unwrap().score > fit.score);
}

#[test]
fn an_interrupt_ends_it() {
    let theta = random_theta(50, 1, 0);
    let interrupt = Interrupt::default();
    interrupt.raise();
    assert_eq!(eliminate(theta.view(), SMALLEST, 0.0, &interrupt).unwrap_err(), IcidError::Interrupted);
    let error = eliminate_dense(&dense(&theta).view(), SMALLEST, 0.0, &interrupt).unwrap_err();
    assert_eq!(error, IcidError::Interrupted);
}

#[test]
fn orders_are_checked() {
    let theta = random_theta(3, 1, 0);
    for order in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 3]] {
        assert!(eliminate(theta.view(), Rule::Along(&order), 0.0, &Interrupt::default()).is_err());
    }
}

#[test]
fn what_leaves_the_range_of_numbers_is_refused() {
    // The noise variance would be the inverse of a number that has none.
    let theta = CsMat::new((1, 1), vec![0, 1], vec![0], vec![1e-310]);
    let interrupt = Interrupt::default();
    for result in [
        eliminate(theta.view(), SMALLEST, 0.0, &interrupt),
        eliminate_dense(&dense(&theta).view(), SMALLEST, 0.0, &interrupt),
    ] {
        assert!(matches!(result, Err(IcidError::Overflow { index: 0, .. })));
    }
}

#[test]
fn a_combination_of_its_causes_has_no_noise() {
    let covariance = Array2::from_shape_vec((3, 3), vec![1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0]).unwrap();
    let everything = CsMat::csr_from_dense(Array2::from_elem((3, 3), 1.0).view(), 0.0);
    let knowledge = Knowledge::none(3);
    let data = Regression {
        covariance: covariance.view(),
        samples: 100,
        penalty: 1.0,
        noise: Noise::Equal,
        knowledge: &knowledge,
    };
    let result = regress_within(&data, &[0, 1, 2], everything.view(), &Interrupt::default());
    assert!(matches!(result, Err(IcidError::Singular { index: 2, .. })));
}
