//! Derivatives against differences, sparse against dense, on random problems.
#![allow(missing_docs)]

mod common;

use common::{Random, precision, random_dag};
use icid_rs::model::{AugmentedLagrangian, KernelChoice, Smooth};
use icid_rs::{Interrupt, Problem};
use proptest::prelude::*;
use sprs::TriMat;

/// A problem with unequal noise and, if asked for, a skewness term; λ₂ = 0.7.
fn problem(d: usize, degree: usize, equal_noise: bool, skewed: bool, random: &mut Random) -> Problem {
    let b = random_dag(d, degree, random);
    let variances: Vec<f64> = (0..d).map(|_| if equal_noise { 1.0 } else { 0.5 + random.uniform() }).collect();
    let theta = precision(&b, &variances);
    let problem = Problem::new(theta.view(), (!equal_noise).then_some(&variances)).unwrap();
    if !skewed {
        return problem;
    }
    let mut triplets = TriMat::new((d, d));
    for i in 0..d {
        for j in 0..i {
            let m = 2.0 * random.uniform() - 1.0;
            triplets.add_triplet(i, j, m);
            triplets.add_triplet(j, i, -m);
        }
    }
    problem.with_skewness(triplets.to_csr::<usize>().view(), 0.7).unwrap()
}

/// A vector on the support with a zero diagonal and some zeros elsewhere.
fn point(problem: &Problem, random: &mut Random) -> Vec<f64> {
    let mut x = random.vector(problem.support().len());
    for value in &mut x {
        if random.uniform() < 0.3 {
            *value = 0.0;
        }
    }
    for i in 0..problem.dim() {
        x[problem.support().diagonal(i)] = 0.0;
    }
    x
}

fn model<'p>(problem: &'p Problem, kernel: KernelChoice, multiplier_at: Option<&[f64]>) -> AugmentedLagrangian<'p> {
    let mut model = AugmentedLagrangian::new(problem, 1.3, kernel, &Interrupt::default()).unwrap();
    if let Some(b) = multiplier_at {
        model.update_multiplier(b);
    }
    model
}

fn close(a: f64, b: f64, tolerance: f64, scale: f64) -> bool {
    (a - b).abs() <= tolerance * scale.max(a.abs()).max(b.abs())
}

fn along(x: &[f64], step: f64, z: &[f64]) -> Vec<f64> {
    x.iter().zip(z).map(|(x, z)| x + step * z).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn derivatives_match_central_differences(
        seed: u64, d in 2_usize..25, degree in 1_usize..5, equal: bool, skewed: bool, with_multiplier: bool, dense: bool,
    ) {
        let random = &mut Random(seed);
        let problem = problem(d, degree, equal, skewed, random);
        let (x, z, earlier) = (point(&problem, random), point(&problem, random), point(&problem, random));
        let kernel = if dense { KernelChoice::Dense } else { KernelChoice::Clique };
        let mut model = model(&problem, kernel, with_multiplier.then_some(&earlier));

        let mut gradient = vec![0.0; x.len()];
        let value = model.value_and_gradient(&x, &mut gradient);
        prop_assert!(close(model.value(&x), value, 1e-13, 1.0));
        let slope: f64 = gradient.iter().zip(&z).map(|(g, z)| g * z).sum();
        let curvature = model.curvature(&x, &z);

        // F is a quartic along any line, and five points give its derivatives exactly.
        let h = 0.25;
        let f: Vec<f64> = (-2..=2).map(|k| model.value(&along(&x, h * f64::from(k), &z))).collect();
        let first = (f[0] - 8.0 * f[1] + 8.0 * f[3] - f[4]) / (12.0 * h);
        let second = (-f[0] + 16.0 * f[1] - 30.0 * f[2] + 16.0 * f[3] - f[4]) / (12.0 * h * h);
        let size = f.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        prop_assert!(close(slope, first, 1e-9, size), "{slope} {first}");
        prop_assert!(close(curvature, second, 1e-8, size), "{curvature} {second}");

        for i in 0..d {
            prop_assert_eq!(gradient[problem.support().diagonal(i)], 0.0);
        }
    }

    #[test]
    fn sparse_and_dense_agree(
        // The last has several blocks of rows.
        seed: u64, d in prop_oneof![20 => 1_usize..40, 1 => Just(300)],
        degree in 1_usize..6, equal: bool, skewed: bool, with_multiplier: bool,
    ) {
        let random = &mut Random(seed);
        let problem = problem(d, degree, equal, skewed, random);
        let (x, z, earlier) = (point(&problem, random), point(&problem, random), point(&problem, random));
        let at = with_multiplier.then_some(earlier.as_slice());
        let mut sparse = model(&problem, KernelChoice::Clique, at);
        let mut dense = model(&problem, KernelChoice::Dense, at);
        let (mut g, mut h) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (f, e) = (sparse.value_and_gradient(&x, &mut g), dense.value_and_gradient(&x, &mut h));
        let size = h.iter().fold(e.abs(), |m, v| m.max(v.abs()));
        prop_assert!(close(f, e, 1e-12, size));
        prop_assert!(g.iter().zip(&h).all(|(g, h)| close(*g, *h, 1e-12, size)));
        prop_assert!(close(sparse.curvature(&x, &z), dense.curvature(&x, &z), 1e-12, size));
        prop_assert!(close(sparse.residual_norm(&x), dense.residual_norm(&x), 1e-12, 1.0));
    }
}

#[test]
fn the_truth_has_no_residual() {
    let random = &mut Random(7);
    let b = random_dag(60, 2, random);
    let variances: Vec<f64> = (0..60).map(|_| 0.5 + random.uniform()).collect();
    let problem = Problem::new(precision(&b, &variances).view(), Some(&variances)).unwrap();
    let truth = problem.gather(b.view()).unwrap();
    for kernel in [KernelChoice::Clique, KernelChoice::Dense] {
        assert!(model(&problem, kernel, None).residual_norm(&truth) < 1e-12);
    }
}

#[test]
fn steps_are_measured_by_the_convex_part_of_the_hessian() {
    let random = &mut Random(9);
    for skewed in [false, true] {
        let problem = problem(20, 2, false, skewed, random);
        let x = point(&problem, random);
        let mut model = model(&problem, KernelChoice::Clique, None);
        model.set_rho(0.7);
        assert_eq!((model.rho(), model.len(), model.is_empty()), (0.7, x.len(), false));
        assert_eq!((model.kernel(), model.interrupted()), (KernelChoice::Clique, false));
        let (support, precision, theta) = (problem.support(), problem.noise_precision(), problem.theta());
        let entries = || (0..20).flat_map(|i| support.row(i).zip(support.neighbours(i)));
        let mut norms = [1.0; 20];
        for (k, &j) in entries() {
            norms[j as usize] += x[k] * x[k];
        }
        let mut metric = vec![0.0; x.len()];
        model.metric(&x, &mut metric);
        for (k, &j) in entries() {
            let (d, skewness) = (precision[j as usize], problem.skewness().map_or(0.0, |s| s[k]));
            let expected = 1.4 * d * d * (norms[j as usize] + x[k] * x[k]) + 2.0 * skewness.max(0.0);
            assert!(close(metric[k], expected, 1e-14, 0.0));
        }
        let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let (d, t) = (largest(precision), largest(theta));
        let bound = 4.0 * 0.7 * d * d + 4.0 * 0.7 * d * t + 2.0 * problem.skewness().map_or(0.0, largest);
        assert!(close(model.default_step(), 1.0 / bound, 1e-14, 0.0));
    }
}

#[test]
fn forbidden_edges_do_not_move() {
    let random = &mut Random(12);
    let b = random_dag(15, 2, random);
    let theta = precision(&b, &[1.0; 15]);
    let problem = Problem::new(theta.view(), None).unwrap().with_forbidden(b.view()).unwrap();
    let x = point(&problem, random);
    let mut gradient = vec![0.0; x.len()];
    model(&problem, KernelChoice::Dense, None).value_and_gradient(&x, &mut gradient);
    let moved = problem.to_matrix(&gradient).unwrap();
    assert!(b.iter().all(|(_, (i, j))| moved.get(i, j).is_none()) && moved.nnz() > 0);
    assert_eq!(problem.forbidden().len(), b.nnz());
}

#[test]
fn the_cost_model_takes_the_sparse_kernel_for_sparse_problems_only() {
    let sparse = problem(500, 1, true, false, &mut Random(1));
    assert_eq!(KernelChoice::Auto.resolve(&sparse), KernelChoice::Clique);
    let full = problem(30, 30, true, false, &mut Random(1));
    assert_eq!(KernelChoice::Auto.resolve(&full), KernelChoice::Dense);
    assert_eq!(KernelChoice::Dense.resolve(&sparse), KernelChoice::Dense);
    assert_eq!(KernelChoice::Clique.resolve(&full), KernelChoice::Clique);
    let names = [KernelChoice::Auto, KernelChoice::Clique, KernelChoice::Dense].map(KernelChoice::name);
    assert_eq!(names, ["auto", "clique", "dense"]);
}

#[test]
fn results_are_the_same_bits_for_any_number_of_threads() {
    // Large enough for many blocks of rows and several chunks of vectors.
    let problem = problem(20_000, 1, false, false, &mut Random(3));
    let x = point(&problem, &mut Random(4));
    let dense_problem = common::random_theta(400, 4, 5);
    let dense_problem = Problem::new(dense_problem.view(), None).unwrap();
    let dense_x = point(&dense_problem, &mut Random(6));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [(&problem, &x, KernelChoice::Clique), (&dense_problem, &dense_x, KernelChoice::Dense)].map(
                |(problem, x, kernel)| {
                    let mut model = model(problem, kernel, Some(x));
                    let mut gradient = vec![0.0; x.len()];
                    let value = model.value_and_gradient(x, &mut gradient);
                    let curvature = model.curvature(x, &gradient);
                    let bits: Vec<u64> = gradient.iter().map(|g: &f64| g.to_bits()).collect();
                    (value.to_bits(), curvature.to_bits(), bits)
                },
            )
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(4));
}
