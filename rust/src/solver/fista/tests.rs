//! Each part of a descent by hand, and whole descents on a problem that has a formula.

use super::*;
use crate::model::L1;

/// `½ Σ h_k (x_k − c_k)²`, which counts its evaluations.
struct Quadratic {
    h: Vec<f64>,
    c: Vec<f64>,
    evaluations: usize,
    interrupted: bool,
    /// The share of its curvature that it tells of.
    told: f64,
}

impl Quadratic {
    fn new(h: &[f64], c: &[f64]) -> Self {
        Self { h: h.to_vec(), c: c.to_vec(), evaluations: 0, interrupted: false, told: 1.0 }
    }
}

impl Smooth for Quadratic {
    fn len(&self) -> usize {
        self.h.len()
    }

    fn value(&mut self, x: &[f64]) -> f64 {
        self.evaluations += 1;
        (0..x.len()).map(|k| 0.5 * self.h[k] * (x[k] - self.c[k]).powi(2)).sum()
    }

    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        for (k, g) in gradient.iter_mut().enumerate() {
            *g = self.h[k] * (x[k] - self.c[k]);
        }
        self.value(x)
    }

    fn curvature(&mut self, _: &[f64], z: &[f64]) -> f64 {
        self.told * z.iter().zip(&self.h).map(|(z, h)| h * z * z).sum::<f64>()
    }

    fn metric(&mut self, _: &[f64], metric: &mut [f64]) {
        metric.copy_from_slice(&self.h);
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }

    fn default_step(&self) -> f64 {
        1.0 / self.h.iter().fold(0.0, |m: f64, h| m.max(*h))
    }
}

fn example() -> Quadratic {
    Quadratic::new(&[1.0, 2.0, 3.0, 5.0, 8.0, 10.0], &[3.0, -2.0, 0.2, 1.5, -0.1, 0.5])
}

#[test]
fn a_separable_problem_is_solved_as_its_formula_says() {
    for (schedule, tol) in [(Schedule::Paper, 1e-5), (Schedule::Restart, 1e-9)] {
        let mut smooth = example();
        let mut fista = Fista::new(6);
        let descent = fista.descend(&mut smooth, &L1, schedule, tol, 3_000, |_| true);
        let best: Vec<f64> = (0..6).map(|k| L1.prox(smooth.c[k], 1.0 / smooth.h[k])).collect();
        assert!(fista.point().iter().zip(&best).all(|(x, b)| (x - b).abs() <= tol), "{:?}", fista.point());
        assert!(descent.converged && descent.optimality <= tol && descent.iterations <= 300, "{descent:?}");
        assert_eq!(descent.evaluations, smooth.evaluations);
        let objective = smooth.value(&best) + best.iter().map(|b| b.abs()).sum::<f64>();
        assert!((descent.objective - objective).abs() < tol * tol + 1e-12);
        // Nothing is left to do for another descent.
        assert_eq!(fista.descend(&mut smooth, &L1, schedule, 2.0 * tol, 10, |_| true).iterations, 1);
    }
}

#[test]
fn a_descent_ends_when_it_is_told_to() {
    let mut smooth = example();
    let mut fista = Fista::new(6);
    let mut seen = 0;
    let descent = fista.descend(&mut smooth, &L1, Schedule::Restart, 0.0, 7, |step| {
        seen += 1;
        step.objective.is_finite() && step.step > 0.0 && step.mapping > 0.0
    });
    assert_eq!((descent.iterations, seen, descent.converged), (7, 7, false));
    assert!(descent.optimality > 0.0 && descent.optimality.is_finite());
    let stopped = fista.descend(&mut smooth, &L1, Schedule::Paper, 0.0, 7, |_| false);
    assert_eq!((stopped.iterations, stopped.optimality.is_finite()), (1, true));
    smooth.interrupted = true;
    let cut = fista.descend(&mut smooth, &L1, Schedule::Paper, 0.0, 7, |_| true);
    assert_eq!((cut.iterations, cut.evaluations, cut.objective.is_nan()), (1, 1, true));
}

#[test]
fn a_step_that_is_too_long_is_halved() {
    let mut smooth = Quadratic::new(&[2.0; 3], &[1.0, 2.0, 3.0]);
    smooth.told = 0.3;
    let mut taken = Vec::new();
    let descent = Fista::new(3).descend(&mut smooth, &L1, Schedule::Restart, 0.0, 1, |iteration| {
        taken.push(iteration.step);
        true
    });
    // 1 / (0.3 · 2), halved until it is at most 1 / 2.
    assert!((taken[0] - 1.0 / 2.4).abs() < 1e-12, "{taken:?}");
    // At the start, three trials, and a look at the end.
    assert_eq!(descent.evaluations, 5);
}

/// Two points, a gradient and a metric, none of them special.
fn midway() -> Fista {
    let mut fista = Fista::new(3);
    fista.current = vec![0.5, -1.0, 2.0];
    fista.next = vec![0.25, -1.5, 2.5];
    fista.extrapolated = vec![1.0, -0.5, 3.0];
    fista.gradient = vec![2.0, 0.1, -4.0];
    fista.metric = vec![1.0, 2.0, 4.0];
    fista
}

#[test]
fn a_step_is_measured_in_the_metric() {
    let mut fista = midway();
    let trial = fista.try_step(&L1, 0.5);
    // y − step g / m = (0, −0.525, 3.5), thresholded at step / m = (0.5, 0.25, 0.125).
    let next = [0.0, -0.275, 3.375];
    assert!(fista.next.iter().zip(next).all(|(x, e)| (x - e).abs() < 1e-15), "{:?}", fista.next);
    let z = [-1.0, 0.225, 0.375];
    assert!((trial.slope - (2.0 * z[0] + 0.1 * z[1] - 4.0 * z[2])).abs() < 1e-12);
    assert!((trial.squared - (z[0] * z[0] + 2.0 * z[1] * z[1] + 4.0 * z[2] * z[2])).abs() < 1e-12);
    assert!((trial.penalty - 3.65).abs() < 1e-12);
    let mapping = f64::sqrt(z[0] * z[0] + 4.0 * z[1] * z[1] + 16.0 * z[2] * z[2]);
    assert!((trial.mapping - mapping).abs() < 1e-12);
}

#[test]
fn momentum_that_leads_away_is_noticed() {
    // ⟨y − b⁺, b⁺ − b⟩ in the metric: 0.75 · −0.25 + 2 · 1 · −0.5 + 4 · 0.5 · 0.5.
    let mut fista = midway();
    assert!(!fista.points_uphill());
    fista.metric[2] = 5.0;
    assert!(fista.points_uphill());
    fista.advance(0.5);
    assert_eq!(fista.extrapolated, [0.125, -1.75, 2.75]);
    assert_eq!((fista.point(), &*fista.next), (&[0.25, -1.5, 2.5][..], &[0.5, -1.0, 2.0][..]));
}

#[test]
fn the_model_gives_a_step_where_it_has_a_minimum() {
    let mut smooth = Quadratic::new(&[2.0, 4.0, 8.0], &[0.0; 3]);
    let mut fista = midway();
    // g = (2, 0.1, −4), z = g / m = (2, 0.05, −1).
    let step = fista.model_step(&mut smooth).unwrap();
    assert!((step - (4.0 + 0.005 + 4.0) / (2.0 * 4.0 + 4.0 * 0.0025 + 8.0)).abs() < 1e-12);
    assert_eq!(fista.default_step(&smooth), 0.125);
    fista.metric = vec![3.0, 2.0, 4.0];
    assert_eq!(fista.default_step(&smooth), 0.25);
    // Farther than a thousand safe steps, or none.
    smooth.h = vec![1.0, 1_001.0, 1.0];
    fista.metric.fill(1.0);
    fista.gradient = vec![1.0, 0.0, 0.0];
    assert_eq!(fista.model_step(&mut smooth), None);
    smooth.h[1] = 999.0;
    assert_eq!(fista.model_step(&mut smooth), Some(1.0));
    smooth.h = vec![-1.0, 1.0, 1.0];
    assert_eq!(fista.model_step(&mut smooth), None);
}

#[test]
fn optimality_is_the_distance_to_the_subdifferential() {
    let mut smooth = Quadratic::new(&[2.0, 4.0, 8.0], &[1.0, -1.0, 0.0]);
    let mut fista = midway();
    fista.current = vec![0.0, -2.0, 0.0];
    // −∇F = (2, 4, 0) at (0, −2, 0).
    assert!((fista.optimality(&mut smooth, &L1) - f64::hypot(1.0, 5.0)).abs() < 1e-12);
}

#[test]
fn momentum_grows_as_printed_and_restarts() {
    let mut paper = Momentum::new(Schedule::Paper);
    assert_eq!([(); 4].map(|()| paper.next(2.0, || true)), [0.0, 0.25, 0.4, 0.5]);
    assert!(!paper.has_restarted());
    let mut restart = Momentum::new(Schedule::Restart);
    assert_eq!((restart.next(0.5, || true), restart.has_restarted()), (0.0, false));
    assert_eq!((restart.next(0.5, || false), restart.has_restarted()), (0.4, false));
    assert_eq!((restart.next(0.5, || true), restart.has_restarted()), (0.0, true));
    assert_eq!((restart.next(0.5, || true), restart.has_restarted()), (0.0, false));
}

#[test]
fn steps_grow_after_three_good_ones() {
    let mut smooth = Quadratic::new(&[2.0; 3], &[0.0; 3]);
    let mut fista = midway();
    fista.metric.fill(1.0);
    let mut steps = Steps::new(Schedule::Restart);
    let mut tries = Vec::new();
    for (measured, backtracks) in
        [(true, 0), (true, 0), (true, 0), (true, 0), (false, 0), (true, 0), (true, 1), (true, 0), (true, 0)]
    {
        let step = steps.first_try(1, &mut smooth, &mut fista);
        steps.accepted(step, measured, backtracks);
        tries.push(step);
    }
    assert_eq!(tries, [0.5, 0.5, 0.5, 0.625, 0.625, 0.625, 0.625, 0.625, 0.625]);

    let mut paper = Steps::new(Schedule::Paper);
    assert_eq!(paper.first_try(1, &mut smooth, &mut fista), 0.25);
    paper.accepted(0.125, true, 1);
    smooth.h.fill(4.0);
    assert_eq!(paper.first_try(10, &mut smooth, &mut fista), 0.125);
    smooth.h.fill(8.0);
    assert_eq!(paper.first_try(11, &mut smooth, &mut fista), 0.125);
    // Without a model the last step does, or the safe one.
    smooth.h = vec![-8.0, -8.0, -8.0];
    assert_eq!(paper.first_try(5, &mut smooth, &mut fista), 0.125);
    smooth.h = vec![-9.0, -9.0, 2.0];
    assert_eq!(Steps::new(Schedule::Paper).first_try(1, &mut smooth, &mut fista), 0.5);
}
