//! The objective: the augmented Lagrangian of the paper, split into a smooth term and a separable penalty.
//!
//! With `R = Θ − φ_D(B)` the smooth term is `⟨Λ, R⟩ + ρ/2 ‖R‖² + λ₂ tr(M̃ᵀ(B ⊙ B))`, and the penalty is `‖B‖₁`.
//! Solvers know only the two traits below.

mod clique;
mod dense;
mod kernel;
mod penalty;

pub use kernel::KernelChoice;
pub use penalty::L1;

use crate::algebra::check::check_positive_parameter;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::parallel::{chunk_count, fill_chunks, sum_over_chunks};
use crate::problem::Problem;
use kernel::{Kernel, Term, new_kernel};

/// A twice differentiable function of a vector on the support.
pub trait Smooth {
    /// Length of the vector.
    fn len(&self) -> usize;
    /// Whether the vector has no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// F(x).
    fn value(&mut self, x: &[f64]) -> f64;
    /// F(x), with ∇F(x) written to `gradient`.
    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64;
    /// `⟨z, ∇²F(x) z⟩`.
    fn curvature(&mut self, x: &[f64], z: &[f64]) -> f64;
    /// Write a positive estimate of the diagonal of ∇²F(x) to `metric`, by which steps are scaled.
    fn metric(&mut self, x: &[f64], metric: &mut [f64]);
    /// Whether the last evaluation was interrupted, so that its result is invalid.
    fn interrupted(&self) -> bool;
    /// A step size that is safe to try where the curvature is not positive.
    fn default_step(&self) -> f64;
}

/// A convex function that is a sum over coordinates.
pub trait SeparablePenalty: Sync {
    /// g(x) for one coordinate.
    fn value(&self, x: f64) -> f64;
    /// `argmin_t  g(t) + (t − v)² / (2 step)`.
    fn prox(&self, v: f64, step: f64) -> f64;
    /// Signed distance from `u` to the subdifferential ∂g(x).
    fn distance(&self, x: f64, u: f64) -> f64;
}

/// The smooth part of the augmented Lagrangian, with its multiplier Λ and its weight ρ.
pub struct AugmentedLagrangian<'p> {
    problem: &'p Problem,
    kernel: Box<dyn Kernel + 'p>,
    choice: KernelChoice,
    rho: f64,
    interrupt: Interrupt,
    /// `‖a_j‖²`.
    column_norms: Vec<f64>,
    partials: Vec<[f64; 1]>,
}

impl<'p> AugmentedLagrangian<'p> {
    /// Begin with Λ = 0 and a given ρ. All memory that evaluations need is allocated here.
    ///
    /// # Errors
    /// When ρ is not positive, the workspace does not fit into memory, or building it was interrupted.
    pub fn new(problem: &'p Problem, rho: f64, choice: KernelChoice, interrupt: &Interrupt) -> Result<Self, IcidError> {
        check_positive_parameter("rho", rho)?;
        let choice = choice.resolve(problem);
        let kernel = new_kernel(problem, choice, interrupt)?;
        let partials = vec![[0.0]; chunk_count(problem.support().len())];
        let (interrupt, column_norms) = (interrupt.clone(), vec![0.0; problem.dim()]);
        Ok(Self { problem, kernel, choice, rho, interrupt, column_norms, partials })
    }

    /// The kernel that was chosen: never `Auto`.
    #[must_use]
    pub fn kernel(&self) -> KernelChoice {
        self.choice
    }

    /// The weight ρ of the quadratic term.
    #[must_use]
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// Change ρ.
    pub fn set_rho(&mut self, rho: f64) {
        self.rho = rho;
    }

    /// `‖Θ − φ_D(B)‖_F`.
    pub fn residual_norm(&mut self, b: &[f64]) -> f64 {
        (2.0 * self.kernel.evaluate(b, Term::HalfSquare, None)).sqrt()
    }

    /// Dual ascent: `Λ ← Λ + ρ (Θ − φ_D(B))`.
    pub fn update_multiplier(&mut self, b: &[f64]) {
        self.kernel.update_multiplier(b, self.rho);
    }

    /// Add the gradient of the skewness term; return its value.
    fn add_skewness(&mut self, weights: &[f64], b: &[f64], gradient: &mut [f64]) -> f64 {
        let [skewness] = fill_chunks(gradient, &mut self.partials, |range, gradient| {
            let mut sum = 0.0;
            for ((g, w), b) in gradient.iter_mut().zip(&weights[range.clone()]).zip(&b[range]) {
                *g += 2.0 * w * b;
                sum += w * b * b;
            }
            [sum]
        });
        skewness
    }
}

impl Smooth for AugmentedLagrangian<'_> {
    fn len(&self) -> usize {
        self.problem.support().len()
    }

    fn value(&mut self, b: &[f64]) -> f64 {
        let value = self.kernel.evaluate(b, Term::Lagrangian { rho: self.rho }, None);
        let Some(weights) = self.problem.skewness() else { return value };
        value + weighted_squares(weights, b, &mut self.partials)
    }

    fn value_and_gradient(&mut self, b: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = self.kernel.evaluate(b, Term::Lagrangian { rho: self.rho }, Some(gradient));
        if let Some(weights) = self.problem.skewness() {
            value += self.add_skewness(weights, b, gradient);
        }
        // B starts at zero, and forbidden entries stay zero because their gradient is.
        for &k in self.problem.forbidden() {
            gradient[k as usize] = 0.0;
        }
        value
    }

    fn curvature(&mut self, b: &[f64], z: &[f64]) -> f64 {
        let curvature = self.kernel.curvature(b, z, self.rho);
        let Some(weights) = self.problem.skewness() else { return curvature };
        curvature + 2.0 * weighted_squares(weights, z, &mut self.partials)
    }

    /// The Hessian has `2ρD_j² (‖a_j‖² + B_ij²) − 2D_j (Λ + ρR)_ii + 2λ₂M̃_ij` on its diagonal; terms that may be negative
    /// are left out.
    fn metric(&mut self, b: &[f64], metric: &mut [f64]) {
        let support = self.problem.support();
        let (precision, skewness, rho) = (self.problem.noise_precision(), self.problem.skewness(), self.rho);
        fill_chunks(&mut self.column_norms, &mut self.partials, |range, norms| {
            for (j, norm) in range.zip(norms) {
                let column = support.mirror()[support.row(j)].iter().map(|&k| b[k as usize]);
                *norm = 1.0 + column.map(|b| b * b).sum::<f64>();
            }
            [0.0]
        });
        let norms = &self.column_norms;
        fill_chunks(metric, &mut self.partials, |range, metric| {
            for (k, m) in range.zip(metric) {
                let j = support.columns()[k] as usize;
                let convex = skewness.map_or(0.0, |s| s[k].max(0.0));
                *m = 2.0 * rho * precision[j] * precision[j] * (norms[j] + b[k] * b[k]) + 2.0 * convex;
            }
            [0.0]
        });
    }

    fn interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// At B = 0 and Λ = 0 the Hessian is at most `4ρ max D² + 2ρ max D ‖Θ − D‖`, and `‖Θ‖ ≥ max Θ_jj`.
    fn default_step(&self) -> f64 {
        let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let (d, theta) = (largest(self.problem.noise_precision()), largest(self.problem.theta()));
        let skewness = self.problem.skewness().map_or(0.0, largest);
        1.0 / (4.0 * self.rho * d * (d + theta) + 2.0 * skewness)
    }
}

fn weighted_squares(weights: &[f64], x: &[f64], partials: &mut [[f64; 1]]) -> f64 {
    let [sum] = sum_over_chunks(x.len(), partials, |range| {
        [weights[range.clone()].iter().zip(&x[range]).map(|(w, x)| w * x * x).sum()]
    });
    sum
}
