//! Laws of elimination and of regression along an order.
#![allow(missing_docs)]

mod common;

use common::{Random, precision, random_dag, random_theta};
use icid_rs::order::{
    Regression, Rule, Theta, eliminate, eliminate_dense, eliminate_sparse, regress_along, regress_within,
};
use icid_rs::score::{Noise, Score};
use icid_rs::{IcidError, Interrupt, Knowledge, LinearSem};
use ndarray::Array2;
use proptest::prelude::*;
use sprs::CsMat;

const SMALLEST: Rule = Rule::SmallestPivot { noise_variances: None };

fn dense(matrix: &CsMat<f64>) -> Array2<f64> {
    matrix.to_dense()
}

fn both(theta: &CsMat<f64>, rule: Rule) -> [LinearSem; 2] {
    let interrupt = Interrupt::default();
    [
        eliminate_sparse(theta.view(), rule, 0.0, &interrupt).unwrap(),
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
    let score = Score::new(100_000.0, 20.0, Noise::Equal).unwrap();
    let data = Regression::new(covariance.view(), score, &knowledge).unwrap();
    let interrupt = Interrupt::default();
    let fit = regress_along(&data, &theta.view(), SMALLEST, &interrupt).unwrap();
    assert!(largest_difference(&fit.sem.b, &b) < 1e-6);
    // The support of Θ holds every edge here, so the same graph is found inside it.
    let support = random_theta(40, 2, 7);
    let within = regress_within(&data, &fit.sem.order, support.view(), &interrupt).unwrap();
    assert!(largest_difference(&within.sem.b, &fit.sem.b) < 1e-9);
    assert!((within.score - fit.score).abs() < 1e-3);
    let backwards: Vec<usize> = fit.sem.order.iter().rev().copied().collect();
    assert!(regress_within(&data, &backwards, support.view(), &interrupt).unwrap().score > fit.score);
}

/// Least squares by Gauss and Jordan: weights of the causes of j, and what they leave of its variance.
fn least_squares(covariance: &Array2<f64>, causes: &[usize], j: usize) -> (Vec<f64>, f64) {
    let k = causes.len();
    let mut system = Array2::from_shape_fn((k, k + 1), |(a, b)| covariance[[causes[a], *causes.get(b).unwrap_or(&j)]]);
    for pivot in 0..k {
        let row = &system.row(pivot) / system[[pivot, pivot]];
        for (i, mut other) in system.rows_mut().into_iter().enumerate() {
            if i == pivot {
                other.assign(&row);
            } else {
                let factor = other[pivot];
                other.scaled_add(-factor, &row);
            }
        }
    }
    let weights = system.column(k).to_vec();
    let explained: f64 = weights.iter().zip(causes).map(|(w, &i)| w * covariance[[i, j]]).sum();
    (weights, covariance[[j, j]] - explained)
}

/// The covariance of n samples of a random model.
fn sample_covariance(d: usize, n: usize, random: &mut Random) -> Array2<f64> {
    let b = dense(&random_dag(d, 1, random));
    let mut order_free = Array2::<f64>::eye(d);
    for _ in 0..d {
        order_free = Array2::eye(d) + order_free.dot(&b);
    }
    let noise = Array2::from_shape_fn((n, d), |_| (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0);
    let x = noise.dot(&order_free);
    x.t().dot(&x) / n as f64
}

/// Backward elimination as a textbook has it, every fit from scratch.
fn backwards(
    score: &Score,
    knowledge: &Knowledge,
    covariance: &Array2<f64>,
    j: usize,
    mut causes: Vec<usize>,
) -> (Vec<usize>, Vec<f64>, f64) {
    let required = |i: usize| knowledge.requires(i as u32, j as u32);
    loop {
        let (weights, left) = least_squares(covariance, &causes, j);
        let without = |k: usize| {
            let rest: Vec<usize> = causes.iter().enumerate().filter(|(m, _)| *m != k).map(|(_, &i)| i).collect();
            let worse = least_squares(covariance, &rest, j).1;
            (score.samples * (worse / left).ln(), rest)
        };
        let free = (0..causes.len()).filter(|&k| !required(causes[k])).map(without);
        match free.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((gain, rest)) if gain < score.penalty => causes = rest,
            _ => return (causes, weights, left),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn regression_is_backward_elimination(
        seed: u64, d in 3_usize..9, n in 30_usize..300, penalty in 0.5_f64..12.0, known: bool, informed: bool,
    ) {
        let random = &mut Random(seed);
        let covariance = sample_covariance(d, n, random);
        let variances: Vec<f64> = (0..d).map(|_| 0.5 + random.uniform()).collect();
        let knowledge = if informed {
            Knowledge::new(&[(0, d as u32 - 1)], &[(0, 1), (1, 0)], vec![None; d]).unwrap()
        } else {
            Knowledge::none(d)
        };
        let noise = if known { Noise::Known(&variances) } else { Noise::Equal };
        let score = Score::new(n as f64, penalty, noise).unwrap();
        let data = Regression::new(covariance.view(), score, &knowledge).unwrap();
        let order: Vec<usize> = (0..d).collect();
        let everything = CsMat::csr_from_dense(Array2::from_elem((d, d), 1.0).view(), 0.0);
        let interrupt = Interrupt::default();
        let within = regress_within(&data, &order, everything.view(), &interrupt).unwrap();
        // Along an order, only causes that are some standard errors away from zero are looked at.
        let mut theta = Array2::from_shape_fn((d, d), |(i, j)| {
            let others: Vec<usize> = (0..d).filter(|&k| k != i).collect();
            let (weights, left) = least_squares(&covariance, &others, i);
            if i == j { 1.0 / left } else { -weights[others.iter().position(|&k| k == j).unwrap()] / left }
        });
        theta = (&theta + &theta.t()) / 2.0;
        let along = regress_along(&data, &theta.view(), Rule::Along(&order), &interrupt).unwrap();
        prop_assert_eq!((&within.sem.order, &along.sem.order), (&order, &order));
        for (fit, screened) in [(within, false), (along, true)] {
            let (mut left, mut edges) = (vec![0.0; d], 0);
            for j in 0..d {
                let far = |i: usize| {
                    // The gain of i over all the others before j gives its partial correlation.
                    let rest: Vec<usize> = (0..j).filter(|&k| k != i).collect();
                    let all: Vec<usize> = (0..j).collect();
                    let share = least_squares(&covariance, &all, j).1 / least_squares(&covariance, &rest, j).1;
                    (1.0 - share).max(0.0).sqrt().atanh() * (n as f64 - j as f64 - 2.0).sqrt()
                };
                let candidate = |&i: &usize| knowledge.requires(i as u32, j as u32)
                    || knowledge.allows(i as u32, j as u32) && (!screened || far(i) > penalty.sqrt().min(2.5));
                let (causes, weights, rest) = backwards(&score, &knowledge, &covariance, j, (0..j).filter(candidate).collect());
                let column: Vec<(usize, f64)> =
                    (0..d).filter_map(|i| fit.sem.b.get(i, j).map(|&weight| (i, weight))).collect();
                prop_assert_eq!(column.iter().map(|c| c.0).collect::<Vec<_>>(), causes);
                prop_assert!(column.iter().zip(&weights).all(|(c, w)| (c.1 - w).abs() < 1e-8));
                prop_assert!((fit.sem.noise_variances[j] - rest).abs() < 1e-8);
                left[j] = rest;
                edges += column.len();
            }
            let misfit = if known {
                left.iter().zip(&variances).map(|(l, v)| l / v).sum::<f64>()
            } else {
                d as f64 * (left.iter().sum::<f64>() / d as f64).ln()
            };
            let expected = n as f64 * misfit + penalty * edges as f64;
            prop_assert!((fit.score - expected).abs() < 1e-6, "{} {expected}", fit.score);
        }
    }
}

#[test]
fn a_correlation_is_a_candidate_when_fishers_z_says_so() {
    // Of two variables, atanh(r) √(n − 3) is about normal; a cause must pass the root of the penalty, at most.
    let (samples, penalty) = (10_u32, 1.0_f64);
    let edges = |z: f64| {
        let r = (z / (f64::from(samples) - 3.0).sqrt()).tanh();
        let covariance = ndarray::array![[1.0, r], [r, 1.0]];
        let theta = ndarray::array![[1.0, -r], [-r, 1.0]] / (1.0 - r * r);
        let knowledge = Knowledge::none(2);
        let score = Score::new(f64::from(samples), penalty, Noise::Equal).unwrap();
        let data = Regression::new(covariance.view(), score, &knowledge).unwrap();
        regress_along(&data, &theta.view(), Rule::Along(&[0, 1]), &Interrupt::default()).unwrap().sem.edges()
    };
    assert_eq!([edges(0.99), edges(1.01), edges(2.0)], [0, 1, 1]);
}

#[test]
fn more_candidates_than_rows_are_cut_to_the_most_correlated() {
    // Eight rows: at most five candidates go in as they are, and of six or more the four best.
    let d = 7;
    let mut covariance = Array2::<f64>::eye(d);
    let strengths = [0.30, 0.10, 0.35, 0.20, 0.05, 0.25];
    for (i, c) in strengths.into_iter().enumerate() {
        covariance[[i, 6]] = c;
        covariance[[6, i]] = c;
    }
    // In other units, strengths stay what they are.
    let units = [1.0, 100.0, 1.0, 1.0, 1.0, 0.01, 1.0];
    covariance = Array2::from_shape_fn((d, d), |(i, j)| covariance[[i, j]] * units[i] * units[j]);
    let order: Vec<usize> = (0..d).collect();
    let everything = CsMat::csr_from_dense(Array2::from_elem((d, d), 1.0).view(), 0.0);
    let causes = |samples: usize, knowledge: &Knowledge| {
        let score = Score::new(samples as f64, 0.0, Noise::Equal).unwrap();
        let data = Regression::new(covariance.view(), score, knowledge).unwrap();
        let fit = regress_within(&data, &order, everything.view(), &Interrupt::default()).unwrap();
        (0..d).filter(|&i| fit.sem.b.get(i, 6).is_some_and(|w| w.abs() > 1e-12)).collect::<Vec<_>>()
    };
    assert_eq!(causes(9, &Knowledge::none(d)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(causes(8, &Knowledge::none(d)), [0, 2, 3, 5]);
    assert_eq!(causes(8, &Knowledge::new(&[(4, 6)], &[], vec![None; d]).unwrap()), [0, 2, 4, 5]);
    assert_eq!(causes(4, &Knowledge::none(d)), [0, 2]);
}

#[test]
fn dense_parts_of_a_sparse_matrix_are_recovered() {
    let random = &mut Random(6);
    // A path of five, then two hundred variables with many small edges each: more than one panel.
    let many = random_dag(200, 8, random);
    let mut triplets = sprs::TriMat::new((205, 205));
    for i in 0..4 {
        triplets.add_triplet(i, i + 1, random.weight());
    }
    for (&weight, (i, j)) in &many {
        triplets.add_triplet(i + 5, j + 5, 0.1 * weight);
    }
    let b: CsMat<f64> = triplets.to_csr();
    let variances: Vec<f64> = (0..205).map(|_| 0.5 + random.uniform()).collect();
    let theta = precision(&b, &variances);
    let known = Rule::SmallestPivot { noise_variances: Some(&variances) };
    let order = eliminate_sparse(theta.view(), known, 0.0, &Interrupt::default()).unwrap().order;
    for rule in [known, Rule::Along(&order)] {
        for found in both(&theta, rule) {
            assert!(largest_difference(&found.b, &b) < 1e-9);
            assert_eq!(found.b.nnz(), b.nnz());
            assert!(found.noise_variances.iter().zip(&variances).all(|(one, other)| (one - other).abs() < 1e-9));
        }
    }
    // What is singular is named as the caller does.
    let mut singular = dense(&theta);
    let copy = singular.row(30).to_owned();
    singular.row_mut(31).assign(&copy);
    singular.column_mut(31).assign(&copy);
    singular[[31, 31]] = copy[30];
    let singular = CsMat::csr_from_dense(singular.view(), 0.0);
    for rule in [SMALLEST, Rule::Along(&order)] {
        let error = eliminate_sparse(singular.view(), rule, 0.0, &Interrupt::default()).unwrap_err();
        assert!(matches!(error, IcidError::Singular { index: 30 | 31, .. }), "{error}");
        let error = eliminate_dense(&dense(&singular).view(), rule, 0.0, &Interrupt::default()).unwrap_err();
        assert!(matches!(error, IcidError::Singular { index: 30 | 31, .. }), "{error}");
    }
}

#[test]
fn what_is_negligible_is_forgotten_and_nothing_else() {
    // Variable 3 goes first: its entry with 0 is rounding, whatever number 0 has inside; the others are kept.
    for tiny in 0..3 {
        let mut theta = Array2::<f64>::eye(4) * 2.0;
        for (i, j, value) in [(0, 1, 0.3), (0, 2, 0.4), (1, 2, 0.5), (tiny, 3, 1e-12), ((tiny + 1) % 3, 3, 0.6)] {
            theta[[i, j]] = value;
            theta[[j, i]] = value;
        }
        let without = CsMat::csr_from_dense(theta.view(), 1e-9);
        let [expected, _] = both(&without, Rule::Along(&[0, 1, 2, 3]));
        for found in both(&CsMat::csr_from_dense(theta.view(), 0.0), Rule::Along(&[0, 1, 2, 3])) {
            assert!(largest_difference(&found.b, &expected.b) < 1e-10);
            assert_eq!(found.b.nnz(), expected.b.nnz());
        }
    }
}

#[test]
fn weights_up_to_the_drop_are_left_out() {
    let b = CsMat::csr_from_dense(ndarray::array![[0.0, 0.5, 0.25], [0.0, 0.0, -0.5], [0.0, 0.0, 0.0]].view(), 0.0);
    let theta = precision(&b, &[1.0; 3]);
    let interrupt = Interrupt::default();
    for (drop, edges) in [(0.0, 3), (0.25, 2), (0.4, 2), (0.5, 0)] {
        let sparse = eliminate_sparse(theta.view(), SMALLEST, drop, &interrupt).unwrap();
        let whole = eliminate_dense(&dense(&theta).view(), SMALLEST, drop, &interrupt).unwrap();
        assert_eq!((sparse.b.nnz(), whole.b.nnz()), (edges, edges), "{drop}");
    }
    for drop in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(eliminate_sparse(theta.view(), SMALLEST, drop, &interrupt).is_err());
        assert!(eliminate_dense(&dense(&theta).view(), SMALLEST, drop, &interrupt).is_err());
    }
}

#[test]
fn units_do_not_matter_within_a_hundred_and_forty_powers_of_ten() {
    let b = CsMat::csr_from_dense(ndarray::array![[0.0, 0.5], [0.0, 0.0]].view(), 0.0);
    let theta = precision(&b, &[1.0; 2]);
    for unit in [1e-150, 1e-9, 3.0, 1e150] {
        for found in both(&theta.map(|t| t * unit), SMALLEST) {
            assert!(largest_difference(&found.b, &b) < 1e-12);
            assert!(found.noise_variances.iter().all(|v| (v * unit - 1.0).abs() < 1e-12));
        }
    }
    // One variable a hundred powers away from the other is fine, three hundred are not.
    for (ratio, fine) in [(1e100, true), (1e-100, true), (1e290, false), (1e-290, false)] {
        let apart = CsMat::new((2, 2), vec![0, 1, 2], vec![0, 1], vec![1.0, ratio]);
        let interrupt = Interrupt::default();
        let results = [
            eliminate_sparse(apart.view(), SMALLEST, 0.0, &interrupt),
            eliminate_dense(&dense(&apart).view(), SMALLEST, 0.0, &interrupt),
        ];
        for result in results {
            assert_eq!(result.is_ok(), fine, "{ratio}");
            assert!(fine || matches!(result, Err(IcidError::Range { .. })));
        }
    }
}

#[test]
fn what_is_known_comes_before_the_smallest_pivot() {
    let random = &mut Random(3);
    let theta = random_theta(30, 1, 3);
    let free = eliminate_sparse(theta.view(), SMALLEST, 0.0, &Interrupt::default()).unwrap().order;
    let (first, last) = (free[0] as u32, free[29] as u32);
    let knowledge = Knowledge::new(&[(last, first)], &[], vec![None; 30]).unwrap();
    for noise_variances in [None, Some(&[2.0; 30][..])] {
        for found in both(&theta, Rule::Respecting { noise_variances, knowledge: &knowledge }) {
            let place = |i: u32| found.order.iter().position(|&k| k == i as usize).unwrap();
            assert!(place(last) < place(first));
            assert!(largest_difference(&precision(&found.b, &found.noise_variances), &theta) < 1e-6);
        }
    }
    let tiers: Vec<Option<u32>> = (0..30).map(|_| Some(random.below(3) as u32)).collect();
    let knowledge = Knowledge::new(&[], &[], tiers.clone()).unwrap();
    for found in both(&theta, Rule::Respecting { noise_variances: None, knowledge: &knowledge }) {
        assert!(found.order.windows(2).all(|w| tiers[w[0]] <= tiers[w[1]]));
    }
}

#[test]
fn what_is_not_symmetric_or_not_finite_is_refused_with_its_place() {
    let refused = |i: usize, j: usize, value: f64| {
        let mut theta = Array2::<f64>::eye(70);
        theta[[i, j]] = value;
        eliminate_dense(&theta.view(), SMALLEST, 0.0, &Interrupt::default()).unwrap_err()
    };
    // The last two lie in another tile than the diagonal.
    for (i, j) in [(0, 1), (1, 0), (65, 2), (2, 65)] {
        let error = refused(i, j, 0.5);
        assert!(matches!(error, IcidError::NotSymmetric { row, column, .. } if row.max(column) == i.max(j)), "{error}");
        let error = refused(i, j, f64::NAN);
        assert!(matches!(error, IcidError::NotFinite { row, column, .. } if (row, column) == (i, j)), "{error}");
    }
}

#[test]
fn an_interrupt_ends_it() {
    let theta = random_theta(50, 1, 0);
    let interrupt = Interrupt::default();
    interrupt.raise();
    assert_eq!(eliminate_sparse(theta.view(), SMALLEST, 0.0, &interrupt).unwrap_err(), IcidError::Interrupted);
    let error = eliminate_dense(&dense(&theta).view(), SMALLEST, 0.0, &interrupt).unwrap_err();
    assert_eq!(error, IcidError::Interrupted);
}

#[test]
fn small_and_filled_matrices_are_dense_whichever_way_they_are_stored() {
    let interrupt = Interrupt::default();
    // Below 129 variables dense; above, a path is sparse.
    for (d, dense_arithmetic) in [(20, true), (200, false)] {
        let random = &mut Random(1);
        let mut triplets = sprs::TriMat::new((d, d));
        for i in 1..d {
            triplets.add_triplet(i - 1, i, 0.3 * random.weight());
        }
        let theta = precision(&triplets.to_csr(), &vec![1.0; d]);
        let whole = dense(&theta);
        let [sparse_way, dense_way] = both(&theta, SMALLEST);
        let expected = if dense_arithmetic { dense_way } else { sparse_way };
        for given in [Theta::Sparse(theta.view()), Theta::Dense(whole.view())] {
            assert_eq!(eliminate(given, SMALLEST, 0.0, &interrupt).unwrap(), expected);
        }
    }
}

#[test]
fn sizes_are_checked() {
    let (covariance, knowledge, interrupt) = (Array2::<f64>::eye(3), Knowledge::none(3), Interrupt::default());
    let score = |noise| Score::new(100.0, 1.0, noise).unwrap();
    assert!(Regression::new(covariance.view(), score(Noise::Known(&[1.0; 2])), &knowledge).is_err());
    assert!(Regression::new(covariance.view(), score(Noise::Equal), &Knowledge::none(2)).is_err());
    assert!(Regression::new(Array2::zeros((2, 3)).view(), score(Noise::Equal), &Knowledge::none(2)).is_err());
    let data = Regression::new(covariance.view(), score(Noise::Equal), &knowledge).unwrap();
    let (small, wide) = (CsMat::eye(2), CsMat::zero((3, 2)));
    assert!(regress_within(&data, &[0, 1, 2], small.view(), &interrupt).is_err());
    assert!(regress_within(&data, &[0, 1, 2], wide.view(), &interrupt).is_err());
    assert!(regress_within(&data, &[0, 1], CsMat::eye(3).view(), &interrupt).is_err());
    assert!(regress_along(&data, &Array2::eye(2).view(), SMALLEST, &interrupt).is_err());
    assert!(eliminate(Theta::Dense(Array2::zeros((2, 3)).view()), SMALLEST, 0.0, &interrupt).is_err());
    assert!(eliminate(Theta::Sparse(wide.view()), SMALLEST, 0.0, &interrupt).is_err());
    let short = Rule::SmallestPivot { noise_variances: Some(&[1.0]) };
    assert!(eliminate(Theta::Dense(Array2::eye(2).view()), short, 0.0, &interrupt).is_err());
}

#[test]
fn orders_are_checked() {
    let theta = random_theta(3, 1, 0);
    for order in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 3]] {
        assert!(eliminate_sparse(theta.view(), Rule::Along(&order), 0.0, &Interrupt::default()).is_err());
    }
}

#[test]
fn what_leaves_the_range_of_numbers_is_refused() {
    // The noise variance would be the inverse of a number that has none.
    let theta = CsMat::new((1, 1), vec![0, 1], vec![0], vec![1e-310]);
    let interrupt = Interrupt::default();
    for result in [
        eliminate_sparse(theta.view(), SMALLEST, 0.0, &interrupt),
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
    let data = Regression::new(covariance.view(), Score::new(100.0, 1.0, Noise::Equal).unwrap(), &knowledge).unwrap();
    let result = regress_within(&data, &[0, 1, 2], everything.view(), &Interrupt::default());
    assert!(matches!(result, Err(IcidError::Singular { index: 2, .. })));
}
