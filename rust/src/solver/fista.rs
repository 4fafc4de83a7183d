//! FISTA: accelerated proximal gradients with a line search (the paper's Algorithm 2).
//!
//! Knows a smooth term and a separable penalty, and nothing of what they stand for. All vectors are allocated once.

use super::settings::Schedule;
use crate::model::{SeparablePenalty, Smooth};
use crate::parallel::{chunk_count, fill_chunks, sum_over_chunks};

/// Backtracking halves the step (the paper's β).
const SHRINK: f64 = 0.5;
/// Halvings in one line search.
const MAX_BACKTRACKS: usize = 20;
/// `Restart` tries a step this much longer than the last good one.
const GROW: f64 = 1.25;
/// `Paper` takes its first steps from the quadratic model.
const MODEL_STEPS: usize = 10;
/// Differences of objectives below this share of their size are rounding.
const NOISE: f64 = 1e-13;
/// Iterations between two looks at Δ(B) far from the optimum.
const LOOK_EVERY: usize = 25;

/// How one descent ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// Iterations made.
    pub iterations: usize,
    /// Evaluations of the smooth term.
    pub evaluations: usize,
    /// Smooth term plus penalty.
    pub objective: f64,
    /// Distance Δ of the negative gradient to the subdifferential of the penalty.
    pub optimality: f64,
    /// Is that distance within the tolerance?
    pub converged: bool,
}

/// One iteration, for whoever watches.
pub(super) struct Iteration {
    pub(super) number: usize,
    pub(super) objective: f64,
    pub(super) step: f64,
    pub(super) mapping: f64,
}

/// The iterates and the workspace; the current point survives from one descent to the next.
pub struct Fista {
    current: Vec<f64>,
    next: Vec<f64>,
    extrapolated: Vec<f64>,
    gradient: Vec<f64>,
    partials: Vec<[f64; 3]>,
}

/// A proximal step from `y` to `b⁺`, seen by the line search.
struct Trial {
    /// ⟨∇F(y), b⁺ − y⟩.
    slope: f64,
    /// ‖b⁺ − y‖².
    squared: f64,
    /// g(b⁺).
    penalty: f64,
}

impl Fista {
    /// Start from zero.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self {
            current: vec![0.0; len],
            next: vec![0.0; len],
            extrapolated: vec![0.0; len],
            gradient: vec![0.0; len],
            partials: vec![[0.0; 3]; chunk_count(len)],
        }
    }

    /// The current point.
    #[must_use]
    pub fn point(&self) -> &[f64] {
        &self.current
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

        while descent.iterations < max_iter {
            descent.iterations += 1;
            let at_y = smooth.value_and_gradient(&self.extrapolated, &mut self.gradient);
            descent.evaluations += 1;
            magnitude = magnitude.max(at_y.abs());
            let mut step = steps.first_try(descent.iterations, smooth, self);

            let mut backtracks = 0;
            let (trial, at_next) = loop {
                let trial = self.try_step(penalty, step);
                let at_next = smooth.value(&self.next);
                descent.evaluations += 1;
                let excess = at_next - at_y - trial.slope;
                // Not `<=`: a NaN must shorten the step.
                if excess <= trial.squared / (2.0 * step) + NOISE * magnitude || backtracks == MAX_BACKTRACKS {
                    break (trial, at_next);
                }
                step *= SHRINK;
                backtracks += 1;
            };
            // Below the noise the test accepts anything, and a growing step would run away.
            let measured = trial.squared / (2.0 * step) > NOISE * magnitude;
            steps.accepted(step, measured);

            descent.objective = at_next + trial.penalty;
            let mapping = trial.squared.sqrt() / step;
            let iteration = Iteration { number: descent.iterations, objective: descent.objective, step, mapping };
            let weight = momentum.next(|| self.points_uphill());
            self.advance(weight);
            if !at_next.is_finite() || !proceed(&iteration) {
                return descent;
            }
            let last = descent.iterations == max_iter;
            if mapping <= 2.0 * tol || descent.iterations.is_multiple_of(LOOK_EVERY) || last {
                descent.optimality = self.optimality(smooth, penalty);
                descent.evaluations += 1;
                if descent.optimality <= tol {
                    descent.converged = true;
                    return descent;
                }
            }
        }
        descent
    }

    /// `next = prox(y − step ∇F(y))`.
    fn try_step(&mut self, penalty: &impl SeparablePenalty, step: f64) -> Trial {
        let (y, g) = (&self.extrapolated, &self.gradient);
        let [slope, squared, penalty] = fill_chunks(&mut self.next, &mut self.partials, |range, next| {
            let mut sums = [0.0; 3];
            for ((next, y), g) in next.iter_mut().zip(&y[range.clone()]).zip(&g[range]) {
                *next = penalty.prox(y - step * g, step);
                let z = *next - y;
                sums[0] += g * z;
                sums[1] += z * z;
                sums[2] += penalty.value(*next);
            }
            sums
        });
        Trial { slope, squared, penalty }
    }

    /// ⟨y − b⁺, b⁺ − b⟩ > 0: the momentum leads away from where the gradient step went.
    fn points_uphill(&mut self) -> bool {
        let (y, b, next) = (&self.extrapolated, &self.current, &self.next);
        let [product, ..] = sum_over_chunks(next.len(), &mut self.partials, |range| {
            let triples = y[range.clone()].iter().zip(&b[range.clone()]).zip(&next[range]);
            [triples.map(|((y, b), next)| (y - next) * (next - b)).sum(), 0.0, 0.0]
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
            [0.0; 3]
        });
        std::mem::swap(&mut self.current, &mut self.next);
    }

    /// Δ at the current point; overwrites the gradient.
    fn optimality(&mut self, smooth: &mut impl Smooth, penalty: &impl SeparablePenalty) -> f64 {
        smooth.value_and_gradient(&self.current, &mut self.gradient);
        let (b, g) = (&self.current, &self.gradient);
        let [squared, ..] = sum_over_chunks(b.len(), &mut self.partials, |range| {
            let pairs = b[range.clone()].iter().zip(&g[range]);
            [pairs.map(|(b, g)| penalty.distance(*b, -g).powi(2)).sum(), 0.0, 0.0]
        });
        squared.sqrt()
    }
}

/// Where each line search starts.
struct Steps {
    schedule: Schedule,
    last: Option<f64>,
    may_grow: bool,
}

impl Steps {
    fn new(schedule: Schedule) -> Self {
        Self { schedule, last: None, may_grow: false }
    }

    fn first_try(&mut self, iteration: usize, smooth: &mut impl Smooth, at: &Fista) -> f64 {
        match (self.schedule, self.last) {
            (Schedule::Restart, Some(last)) => last * if self.may_grow { GROW } else { 1.0 },
            (Schedule::Restart, None) => model_step(smooth, at).unwrap_or_else(|| smooth.default_step()),
            (Schedule::Paper, Some(last)) if iteration > MODEL_STEPS => last,
            (Schedule::Paper, last) => {
                let step = model_step(smooth, at).map(|step| 0.5 * step).or(last);
                *self.last.insert(step.unwrap_or_else(|| smooth.default_step()))
            }
        }
    }

    fn accepted(&mut self, step: f64, measured: bool) {
        if self.schedule == Schedule::Restart {
            self.last = Some(step);
            self.may_grow = measured;
        }
    }
}

/// The minimiser `‖g‖² / ⟨g, H g⟩` of the quadratic model along the negative gradient, if it has one.
fn model_step(smooth: &mut impl Smooth, at: &Fista) -> Option<f64> {
    let squared: f64 = at.gradient.iter().map(|g| g * g).sum();
    let step = squared / smooth.curvature(&at.extrapolated, &at.gradient);
    (step.is_finite() && step > 0.0).then_some(step)
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

    fn next(&mut self, points_uphill: impl FnOnce() -> bool) -> f64 {
        self.age += 1;
        if self.schedule == Schedule::Restart && self.age > 1 && points_uphill() {
            self.age = 0;
            return 0.0;
        }
        (self.age as f64 - 1.0) / (self.age as f64 + 2.0)
    }
}
