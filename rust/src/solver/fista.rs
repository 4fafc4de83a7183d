//! FISTA: accelerated proximal gradients with a line search (the paper's Algorithm 2).
//!
//! Works for any smooth term and separable penalty. Steps are measured in a diagonal metric m, `‖z‖²_m = Σ m_k z_k²`: all ones for the paper's schedule and at first for the other, which later takes an
//! estimate of the diagonal of the Hessian, renewed whenever the momentum restarts. All vectors are allocated once.

use super::settings::Schedule;
use crate::model::{SeparablePenalty, Smooth};
use crate::parallel::{chunk_count, fill_chunks, sum_over_chunks};

/// Backtracking halves the step (the paper's β).
const SHRINK: f64 = 0.5;
/// Halvings in one line search before it starts again from the safe step.
const MAX_BACKTRACKS: usize = 20;
/// The quadratic model is rejected if its minimiser is this many safe steps away: its curvature is then rounding error.
const FARTHEST_MODEL_STEP: f64 = 1e3;
/// `Restart` tries a step this much longer than the last good one …
const GROW: f64 = 1.25;
/// … once this many in a row were accepted without backtracking.
const GOOD_STEPS: usize = 3;
/// `Restart` measures its first steps as `Paper` does: they decide which minimum of many is found, and the metric of the
/// Hessian finds worse ones (`python -m benches.paper --only oracle`).
const EUCLIDEAN_STEPS: usize = 100;
/// `Paper` takes its first steps from the quadratic model.
const MODEL_STEPS: usize = 10;
/// Momentum is (s − 1)/(s + slack), with slack 2 as printed; where momentum restarts, a smaller slack converges faster.
const PAPER_SLACK: f64 = 2.0;
const RESTART_SLACK: f64 = 0.5;
/// Differences of objectives below this share of their size are rounding.
const NOISE: f64 = 1e-13;
/// Iterations between two evaluations of Δ(B) far from the optimum.
const LOOK_EVERY: usize = 25;

/// How one descent ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Descent {
    /// Iterations made.
    pub(super) iterations: usize,
    /// Evaluations of the smooth term.
    pub(super) evaluations: usize,
    /// Smooth term plus penalty.
    pub(super) objective: f64,
    /// Distance Δ of the negative gradient to the subdifferential of the penalty.
    pub(super) optimality: f64,
    /// Whether that distance is within the tolerance.
    pub(super) converged: bool,
}

/// One iteration, as reported to the observer.
pub(super) struct Iteration {
    pub(super) objective: f64,
    pub(super) step: f64,
    pub(super) mapping: f64,
}

/// The iterates and the workspace; the current point survives from one descent to the next.
pub(super) struct Fista {
    current: Vec<f64>,
    next: Vec<f64>,
    extrapolated: Vec<f64>,
    gradient: Vec<f64>,
    metric: Vec<f64>,
    /// Whether there was a descent before, so that the point is near a minimum already.
    warm: bool,
    partials: Vec<[f64; 4]>,
}

/// A proximal step from `y` to `b⁺`, seen by the line search.
struct Trial {
    /// ⟨∇F(y), b⁺ − y⟩.
    slope: f64,
    /// `‖b⁺ − y‖²_m`.
    squared: f64,
    /// g(b⁺).
    penalty: f64,
    /// ‖m (b⁺ − y)‖, which is the step size times the proximal gradient.
    mapping: f64,
}

impl Fista {
    /// Start from zero.
    pub(super) fn new(len: usize) -> Self {
        Self {
            current: vec![0.0; len],
            next: vec![0.0; len],
            extrapolated: vec![0.0; len],
            gradient: vec![0.0; len],
            metric: vec![1.0; len],
            warm: false,
            partials: vec![[0.0; 4]; chunk_count(len)],
        }
    }

    /// The current point.
    pub(super) fn point(&self) -> &[f64] {
        &self.current
    }

    /// The current point, at the end.
    pub(super) fn into_point(self) -> Vec<f64> {
        self.current
    }

    /// Descend from the current point until Δ ≤ `tol`, `max_iter` iterations, or `proceed` says no.
    pub(super) fn descend(
        &mut self,
        smooth: &mut impl Smooth,
        penalty: &impl SeparablePenalty,
        schedule: Schedule,
        tol: f64,
        max_iter: usize,
        mut proceed: impl FnMut(&Iteration) -> bool,
    ) -> Descent {
        let mut descent =
            Descent { iterations: 0, evaluations: 0, objective: f64::NAN, optimality: f64::INFINITY, converged: false };
        let mut steps = Steps::new(schedule);
        let mut momentum = Momentum::new(schedule);
        let mut magnitude = 0.0_f64;
        self.extrapolated.copy_from_slice(&self.current);
        let mut euclidean = !(self.warm && schedule == Schedule::Restart);
        if euclidean {
            self.metric.fill(1.0);
        } else {
            smooth.metric(&self.current, &mut self.metric);
        }
        self.warm = true;

        while descent.iterations < max_iter {
            descent.iterations += 1;
            let at_y = smooth.value_and_gradient(&self.extrapolated, &mut self.gradient);
            descent.evaluations += 1;
            if smooth.interrupted() {
                return descent;
            }
            magnitude = magnitude.max(at_y.abs());
            let mut step = steps.first_try(descent.iterations, smooth, self);

            let mut backtracks = 0;
            let (trial, at_next) = loop {
                let trial = self.try_step(penalty, step);
                let at_next = smooth.value(&self.next);
                descent.evaluations += 1;
                let excess = at_next - at_y - trial.slope;
                // A NaN fails the test, and shortens the step.
                if excess <= trial.squared / (2.0 * step) + NOISE * magnitude || backtracks == 2 * MAX_BACKTRACKS {
                    break (trial, at_next);
                }
                backtracks += 1;
                step *= SHRINK;
                if backtracks == MAX_BACKTRACKS {
                    step = step.min(self.default_step(smooth));
                }
            };
            if smooth.interrupted() {
                return descent;
            }
            // Within rounding the test accepts any step, so that a growing step would diverge.
            let measured = trial.squared / (2.0 * step) > NOISE * magnitude;
            steps.accepted(step, measured, backtracks);

            descent.objective = at_next + trial.penalty;
            let mapping = trial.mapping / step;
            let iteration = Iteration { objective: descent.objective, step, mapping };
            let slack = if euclidean { PAPER_SLACK } else { RESTART_SLACK };
            let weight = momentum.next(slack, || self.points_uphill());
            self.advance(weight);
            if momentum.has_restarted() && (!euclidean || descent.iterations > EUCLIDEAN_STEPS) {
                smooth.metric(&self.current, &mut self.metric);
                if std::mem::replace(&mut euclidean, false) {
                    steps = Steps::new(schedule);
                }
            }
            if !at_next.is_finite() {
                return descent;
            }
            let last = !proceed(&iteration) || descent.iterations == max_iter;
            if mapping <= 2.0 * tol || descent.iterations.is_multiple_of(LOOK_EVERY) || last {
                descent.optimality = self.optimality(smooth, penalty);
                descent.evaluations += 1;
                descent.converged = descent.optimality <= tol;
                if descent.converged || last {
                    return descent;
                }
            }
        }
        descent
    }

    /// `next = prox(y − step ∇F(y) / m)`.
    fn try_step(&mut self, penalty: &impl SeparablePenalty, step: f64) -> Trial {
        let (y, g, m) = (&self.extrapolated, &self.gradient, &self.metric);
        let sums = fill_chunks(&mut self.next, &mut self.partials, |range, next| {
            let mut sums = [0.0; 4];
            let inputs = y[range.clone()].iter().zip(&g[range.clone()]).zip(&m[range]);
            for (next, ((y, g), m)) in next.iter_mut().zip(inputs) {
                let own_step = step / m;
                *next = penalty.prox(y - own_step * g, own_step);
                let z = *next - y;
                sums[0] += g * z;
                sums[1] += m * z * z;
                sums[2] += penalty.value(*next);
                sums[3] += (m * z) * (m * z);
            }
            sums
        });
        let [slope, squared, penalty, mapping] = sums;
        Trial { slope, squared, penalty, mapping: mapping.sqrt() }
    }

    /// ⟨y − b⁺, b⁺ − b⟩_m > 0: the momentum points against the gradient step.
    fn points_uphill(&mut self) -> bool {
        let (y, b, next, m) = (&self.extrapolated, &self.current, &self.next, &self.metric);
        let [product, ..] = sum_over_chunks(next.len(), &mut self.partials, |range| {
            let points = y[range.clone()].iter().zip(&b[range.clone()]).zip(&next[range.clone()]);
            let product = points.zip(&m[range]).map(|(((y, b), next), m)| m * (y - next) * (next - b)).sum();
            [product, 0.0, 0.0, 0.0]
        });
        product > 0.0
    }

    /// `y = b⁺ + weight (b⁺ − b)`, then `b = b⁺`.
    fn advance(&mut self, weight: f64) {
        let (b, next) = (&self.current, &self.next);
        fill_chunks(&mut self.extrapolated, &mut self.partials, |range, y| {
            for ((y, b), next) in y.iter_mut().zip(&b[range.clone()]).zip(&next[range]) {
                *y = next + weight * (next - b);
            }
            [0.0; 4]
        });
        std::mem::swap(&mut self.current, &mut self.next);
    }

    /// The minimiser `⟨g, z⟩ / ⟨z, H z⟩` of the quadratic model along −z, for the scaled gradient `z = g / m`, if it has
    /// one.
    fn model_step(&mut self, smooth: &mut impl Smooth) -> Option<f64> {
        let (g, m) = (&self.gradient, &self.metric);
        let [slope, ..] = fill_chunks(&mut self.next, &mut self.partials, |range, z| {
            let mut slope = 0.0;
            for ((z, g), m) in z.iter_mut().zip(&g[range.clone()]).zip(&m[range]) {
                *z = g / m;
                slope += g * *z;
            }
            [slope, 0.0, 0.0, 0.0]
        });
        let step = slope / smooth.curvature(&self.extrapolated, &self.next);
        (step > 0.0 && step <= FARTHEST_MODEL_STEP * self.default_step(smooth)).then_some(step)
    }

    /// The safe Euclidean step, in the metric.
    fn default_step(&self, smooth: &impl Smooth) -> f64 {
        self.metric.iter().fold(f64::INFINITY, |least, &m| least.min(m)) * smooth.default_step()
    }

    /// Δ at the current point; overwrites the gradient.
    fn optimality(&mut self, smooth: &mut impl Smooth, penalty: &impl SeparablePenalty) -> f64 {
        smooth.value_and_gradient(&self.current, &mut self.gradient);
        let (b, g) = (&self.current, &self.gradient);
        let [squared, ..] = sum_over_chunks(b.len(), &mut self.partials, |range| {
            let pairs = b[range.clone()].iter().zip(&g[range]);
            [pairs.map(|(b, g)| penalty.distance(*b, -g).powi(2)).sum(), 0.0, 0.0, 0.0]
        });
        squared.sqrt()
    }
}

/// The first step that each line search tries.
struct Steps {
    schedule: Schedule,
    last: Option<f64>,
    good: usize,
}

impl Steps {
    fn new(schedule: Schedule) -> Self {
        Self { schedule, last: None, good: 0 }
    }

    fn first_try(&mut self, iteration: usize, smooth: &mut impl Smooth, at: &mut Fista) -> f64 {
        match (self.schedule, self.last) {
            (Schedule::Restart, Some(last)) if self.good >= GOOD_STEPS => GROW * last,
            (Schedule::Restart, Some(last)) => last,
            (Schedule::Restart, None) => at.model_step(smooth).unwrap_or_else(|| at.default_step(smooth)),
            (Schedule::Paper, Some(last)) if iteration > MODEL_STEPS => last,
            (Schedule::Paper, last) => {
                let step = at.model_step(smooth).map(|step| 0.5 * step).or(last);
                *self.last.insert(step.unwrap_or_else(|| at.default_step(smooth)))
            }
        }
    }

    fn accepted(&mut self, step: f64, measured: bool, backtracks: usize) {
        if self.schedule == Schedule::Restart {
            self.last = Some(step);
            self.good = if measured && backtracks == 0 { self.good % GOOD_STEPS + 1 } else { 0 };
        }
    }
}

/// How far to extrapolate.
struct Momentum {
    schedule: Schedule,
    age: usize,
}

impl Momentum {
    fn new(schedule: Schedule) -> Self {
        Self { schedule, age: 0 }
    }

    fn next(&mut self, slack: f64, points_uphill: impl FnOnce() -> bool) -> f64 {
        self.age += 1;
        if self.schedule == Schedule::Restart && self.age > 1 && points_uphill() {
            self.age = 0;
            return 0.0;
        }
        (self.age as f64 - 1.0) / (self.age as f64 + slack)
    }

    fn has_restarted(&self) -> bool {
        self.age == 0
    }
}

#[cfg(test)]
mod tests;
