//! What any solution must satisfy, whatever the numbers.
#![allow(missing_docs)]

mod common;

use common::{Random, precision, random_dag, random_theta};
use icid_rs::model::{AugmentedLagrangian, KernelChoice, L1, SeparablePenalty, Smooth};
use icid_rs::solver::{Monitor, Progress};
use icid_rs::{IcidError, Interrupt, Problem, Schedule, Settings, Solution, Status, decompose};
use proptest::prelude::*;
use sprs::{CsMat, TriMat};
use std::sync::{Arc, Mutex};

fn solve(theta: &CsMat<f64>, settings: &Settings) -> Solution {
    let problem = Problem::new(theta.view(), None).unwrap();
    decompose(&problem, settings, &Monitor::default()).unwrap()
}

fn tight(schedule: Schedule) -> Settings {
    Settings { schedule, max_alm_iter: 1, fista_tol: 1e-8, max_fista_iter: 100_000, ..Settings::default() }
}

fn largest_difference(a: &CsMat<f64>, b: &CsMat<f64>) -> f64 {
    (a - b).data().iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

fn block_diagonal(blocks: &[&CsMat<f64>]) -> CsMat<f64> {
    let d = blocks.iter().map(|b| b.rows()).sum();
    let mut triplets = TriMat::new((d, d));
    let mut start = 0;
    for block in blocks {
        for (&value, (i, j)) in *block {
            triplets.add_triplet(start + i, start + j, value);
        }
        start += block.rows();
    }
    triplets.to_csr()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn descents_reach_their_tolerance_and_stay_on_the_support(seed: u64, d in 1_usize..40, degree in 1_usize..4) {
        let theta = random_theta(d, degree, seed);
        let settings = Settings { max_alm_iter: 1, ..Settings::default() };
        let solution = solve(&theta, &settings);
        prop_assert!(solution.info.optimality <= settings.fista_tol);
        for (_, (i, j)) in &solution.b {
            prop_assert!(i != j && theta.get(i, j).is_some());
        }
    }

    #[test]
    fn objectives_of_both_kernels_agree(seed: u64, d in 2_usize..30) {
        let theta = random_theta(d, 1, seed);
        let run = |kernel| solve(&theta, &Settings { kernel, ..tight(Schedule::Restart) });
        let (sparse, dense) = (run(KernelChoice::Clique), run(KernelChoice::Dense));
        prop_assert!(largest_difference(&sparse.b, &dense.b) < 1e-6);
    }
}

/// The objective for Λ = 0, Δ(B) and the residual, from the model.
fn measure(theta: &CsMat<f64>, b: &CsMat<f64>, rho: f64) -> [f64; 3] {
    let problem = Problem::new(theta.view(), None).unwrap();
    let mut model = AugmentedLagrangian::new(&problem, rho, KernelChoice::Dense, &Interrupt::default()).unwrap();
    let x = problem.gather(b.view()).unwrap();
    let mut gradient = vec![0.0; x.len()];
    let value = model.value_and_gradient(&x, &mut gradient);
    let distance = x.iter().zip(&gradient).map(|(x, g)| L1.distance(*x, -g).powi(2)).sum::<f64>().sqrt();
    [value + x.iter().map(|x| x.abs()).sum::<f64>(), distance, model.residual_norm(&x)]
}

/// Θ of a path, where nobody is alone.
fn path(d: usize, seed: u64) -> CsMat<f64> {
    let random = &mut Random(seed);
    let mut triplets = TriMat::new((d, d));
    for i in 1..d {
        triplets.add_triplet(i - 1, i, random.weight());
    }
    precision(&triplets.to_csr(), &vec![1.0; d])
}

fn assert_close(found: [f64; 3], expected: [f64; 3]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
    }
}

#[test]
fn what_is_reported_is_that_of_b() {
    let theta = block_diagonal(&[&path(12, 1), &path(5, 2), &path(2, 3)]);
    for (schedule, l1_weight) in [(Schedule::Restart, 1.0), (Schedule::Restart, 0.2), (Schedule::Paper, 0.2)] {
        let settings = Settings { schedule, l1_weight, max_alm_iter: 1, ..Settings::default() };
        let solution = solve(&theta, &settings);
        let Solution { info, history, .. } = &solution;
        let reported = [history[0].objective, info.optimality, solution.residual];
        assert_close(reported, measure(&theta, &solution.b, 1.0 / l1_weight));
        assert_eq!((history.len(), history[0].rho, info.rho), (1, 1.0 / l1_weight, 1.0 / l1_weight));
        assert_eq!(history[0].iterations, info.iterations);
        assert!(info.evaluations > 2 * info.iterations && info.evaluations < 5 * info.iterations);
    }
}

#[test]
fn what_is_reported_of_a_stopped_solve_is_that_of_b() {
    let theta = block_diagonal(&[&path(12, 1), &path(5, 2), &path(2, 3)]);
    let problem = Problem::new(theta.view(), None).unwrap();
    let settings = Settings { l1_weight: 0.1, ..Settings::default() };
    let monitor = Monitor::new(Interrupt::default(), Some(Box::new(|_| false)));
    let solution = decompose(&problem, &settings, &monitor).unwrap();
    let reported = [solution.history[0].objective, solution.info.optimality, solution.residual];
    assert_close(reported, measure(&theta, &solution.b, 10.0));
}

#[test]
fn rho_grows_by_a_fifth_until_the_residual_falls_enough() {
    let settings = Settings { max_alm_iter: 6, tol: 1e-12, ..Settings::default() };
    let solution = solve(&path(15, 4), &settings);
    let mut growths = 0.0;
    for pair in solution.history.windows(2) {
        growths = (pair[1].rho / pair[0].rho).ln() / 1.2_f64.ln();
        assert!((growths - growths.round()).abs() < 1e-9 && growths < 9.5);
        assert!(pair[1].residual <= 0.95 * pair[0].residual || solution.status == Status::Stalled);
        assert_eq!(pair[1].round, pair[0].round + 1);
    }
    assert!(growths.is_finite() && solution.history[0].rho == 1.0);
    // D does not fit: ten descents, nine growths, and no more rounds.
    let (lone, larger) = (CsMat::eye(1), CsMat::eye(1).map(|v: &f64| 9.0 * v));
    let misfit = block_diagonal(&[&lone, &larger, &path(4, 1)]);
    let stalled = solve(&misfit, &Settings { schedule: Schedule::Paper, max_alm_iter: 50, ..Settings::default() });
    assert_eq!(stalled.status, Status::Stalled);
    let last = stalled.history.last().unwrap();
    let before = &stalled.history[stalled.history.len() - 2];
    assert!((last.rho / before.rho - 1.2_f64.powi(9)).abs() < 1e-9, "{:?}", stalled.history);
    assert!(last.residual > 0.95 * before.residual);
}

#[test]
fn schedules_meet_where_the_problem_is_easy() {
    let theta = random_theta(30, 1, 11);
    let (restart, paper) = (solve(&theta, &tight(Schedule::Restart)), solve(&theta, &tight(Schedule::Paper)));
    let objective = |s: &Solution| s.history[0].objective;
    assert!((objective(&restart) - objective(&paper)).abs() < 1e-3 * objective(&paper));
    assert!(restart.info.iterations <= paper.info.iterations);
}

#[test]
fn diagonal_theta_has_no_edges() {
    let theta = CsMat::<f64>::eye(5);
    for schedule in [Schedule::Restart, Schedule::Paper] {
        let solution = solve(&theta, &Settings { schedule, ..Settings::default() });
        assert_eq!((solution.b.nnz(), solution.status, solution.residual), (0, Status::Converged, 0.0));
    }
    let unequal = block_diagonal(&[&CsMat::eye(3), &CsMat::eye(2).map(|v: &f64| 3.0 * v)]);
    let solution = solve(&unequal, &Settings::default());
    assert_eq!((solution.b.nnz(), solution.status), (0, Status::Stalled));
    assert!((solution.residual - 8.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!(solve(&CsMat::eye(1), &Settings::default()).b.shape(), (1, 1));
}

#[test]
fn blocks_decompose_on_their_own() {
    let (left, right) = (random_theta(12, 1, 1), random_theta(9, 2, 2));
    // The same D for both, as the smallest diagonal entry is 1 in each.
    let together = solve(&block_diagonal(&[&left, &right]), &tight(Schedule::Restart));
    let (left, right) = (solve(&left, &tight(Schedule::Restart)), solve(&right, &tight(Schedule::Restart)));
    assert!(largest_difference(&together.b, &block_diagonal(&[&left.b, &right.b])) < 1e-6);
}

#[test]
fn scaling_theta_and_d_is_scaling_rho() {
    // With c·Θ and c·D the residual is c·R, so ρ/c² poses the same problem.
    let b = random_dag(20, 1, &mut Random(5));
    let theta = precision(&b, &[1.0; 20]);
    let c = 4.0;
    let scaled = theta.map(|v| c * v);
    let settings = tight(Schedule::Restart);
    let one = solve(&theta, &settings);
    let other = solve(&scaled, &Settings { l1_weight: c * c, ..settings });
    assert!(largest_difference(&one.b, &other.b) < 1e-6);
}

#[test]
fn rounds_bring_the_residual_down() {
    let theta = random_theta(50, 1, 8);
    let settings = Settings { max_alm_iter: 8, ..Settings::default() };
    let solution = solve(&theta, &settings);
    let residuals: Vec<f64> = solution.history.iter().map(|round| round.residual).collect();
    assert!(residuals.last().unwrap() < &(0.3 * residuals[0]), "{residuals:?}");
    assert!(solution.history.windows(2).all(|w| w[0].rho <= w[1].rho));
}

#[test]
fn an_observer_sees_progress_and_may_stop() {
    let problem = Problem::new(random_theta(200, 2, 3).view(), None).unwrap();
    let seen: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let observer = |progress: &Progress| {
        seen.lock().unwrap().push(*progress);
        progress.iteration < 30
    };
    let monitor = Monitor::new(Interrupt::default(), Some(Box::new(observer)));
    let solution = decompose(&problem, &Settings::default(), &monitor).unwrap();
    drop(monitor);
    assert!(seen.lock().unwrap().iter().all(|p| p.round == 1 && p.rho == 1.0 && p.step > 0.0 && p.optimality > 0.0));
    let iterations: Vec<usize> = seen.lock().unwrap().iter().map(|p| p.iteration).collect();
    assert_eq!(iterations, [10, 20, 30]);
    assert_eq!((solution.status, solution.info.iterations), (Status::Interrupted, 30));
    assert!(solution.b.nnz() > 0 && solution.residual.is_finite() && solution.info.optimality.is_finite());
}

#[test]
fn stopping_leaves_the_other_components_untouched() {
    let theta = block_diagonal(&[&random_theta(40, 2, 1), &random_theta(60, 2, 2), &random_theta(50, 2, 3)]);
    let problem = Problem::new(theta.view(), None).unwrap();
    let monitor = Monitor::new(Interrupt::default(), Some(Box::new(|_| false)));
    let solution = decompose(&problem, &Settings::default(), &monitor).unwrap();
    assert_eq!((solution.status, solution.info.iterations), (Status::Interrupted, 10));
    assert!(solution.residual.is_finite());
    for (_, (i, _)) in &solution.b {
        assert!((40..100).contains(&i));
    }
}

#[test]
fn an_interrupt_abandons_the_solve() {
    let problem = Problem::new(random_theta(200, 2, 3).view(), None).unwrap();
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    let observer = move |_: &Progress| {
        raised.raise();
        true
    };
    let monitor = Monitor::new(interrupt, Some(Box::new(observer)));
    assert_eq!(decompose(&problem, &Settings::default(), &monitor).unwrap_err(), IcidError::Interrupted);
}

#[test]
fn a_curvature_of_rounding_size_makes_no_step() {
    // With Θ_ii = 3 D_i the curvature along the first gradient is zero but for rounding.
    let mut triplets = TriMat::new((3, 3));
    for (i, j, v) in [(0, 0, 10.0), (1, 1, 30.0), (2, 2, 30.0), (1, 2, 1.0), (2, 1, 1.0)] {
        triplets.add_triplet(i, j, v);
    }
    for schedule in [Schedule::Restart, Schedule::Paper] {
        let solution = solve(&triplets.to_csr(), &Settings { schedule, ..Settings::default() });
        assert!(solution.info.optimality <= 1e-4);
        assert!(solution.b.data().iter().all(|b| b.abs() < 10.0));
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = Problem::new(CsMat::eye(2).view(), None).unwrap();
    let refuse = |settings: Settings| decompose(&problem, &settings, &Monitor::default()).unwrap_err().to_string();
    let default = Settings::default;
    assert!(refuse(Settings { l1_weight: 0.0, ..default() }).starts_with("l1_weight = 0"));
    assert!(refuse(Settings { tol: -1.0, ..default() }).starts_with("tol = -1"));
    assert!(refuse(Settings { fista_tol: f64::NAN, ..default() }).starts_with("fista_tol = NaN"));
    assert!(refuse(Settings { max_alm_iter: 0, ..default() }).starts_with("max_alm_iter = 0"));
    assert!(refuse(Settings { max_fista_iter: 0, ..default() }).starts_with("max_fista_iter = 0"));
}

#[test]
fn overflow_is_a_numerical_error() {
    let mut triplets = TriMat::new((2, 2));
    for (i, j, v) in [(0, 0, 1e160), (1, 1, 2e160), (0, 1, 1e160), (1, 0, 1e160)] {
        triplets.add_triplet(i, j, v);
    }
    let problem = Problem::new(triplets.to_csr::<usize>().view(), None).unwrap();
    let error = decompose(&problem, &Settings::default(), &Monitor::default()).unwrap_err();
    assert!(matches!(error, IcidError::Numerical { .. }), "{error}");
}
