//! One interface to the sparse and the dense computation of `R = Θ − φ_D(B)`, and the choice between them.

use super::clique::CliqueKernel;
use super::dense::DenseKernel;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::problem::Problem;

/// Multiply-adds of a dense product in the time that the clique kernel needs for one pair; measured by
/// `benches/kernels.rs`, group `crossover`.
const DENSE_ADVANTAGE: u128 = 12;

/// Which kernel evaluates φ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KernelChoice {
    /// The one that is faster by the cost model.
    #[default]
    Auto,
    /// Sparse: `O(Σ|N_j|²)` time and memory.
    Clique,
    /// Dense matrix products: `O(d³)` time, `O(d²)` memory.
    Dense,
}

impl KernelChoice {
    /// Replace `Auto` by the faster kernel for a problem.
    #[must_use]
    pub fn resolve(self, problem: &Problem) -> Self {
        match self {
            Self::Auto if problem.support().pairs() * DENSE_ADVANTAGE > (problem.dim() as u128).pow(3) => Self::Dense,
            Self::Auto => Self::Clique,
            fixed => fixed,
        }
    }

    /// Its name, as reported to the user.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Clique => "clique",
            Self::Dense => "dense",
        }
    }
}

/// A function of `R` that a kernel evaluates.
#[derive(Debug, Clone, Copy)]
pub(super) enum Term {
    /// `⟨Λ, R⟩ + ρ/2 ‖R‖²`.
    Lagrangian {
        /// The weight ρ.
        rho: f64,
    },
    /// `½ ‖R‖²`.
    HalfSquare,
}

pub(super) enum Kernel<'p> {
    Clique(CliqueKernel<'p>),
    Dense(DenseKernel<'p>),
}

impl<'p> Kernel<'p> {
    pub(super) fn new(problem: &'p Problem, choice: KernelChoice, interrupt: &Interrupt) -> Result<Self, IcidError> {
        Ok(match choice.resolve(problem) {
            KernelChoice::Dense => Self::Dense(DenseKernel::new(problem, interrupt)?),
            _ => Self::Clique(CliqueKernel::new(problem, interrupt)?),
        })
    }

    pub(super) fn choice(&self) -> KernelChoice {
        match self {
            Self::Clique(_) => KernelChoice::Clique,
            Self::Dense(_) => KernelChoice::Dense,
        }
    }

    /// `⟨Λ, R⟩ + ρ/2 ‖R‖²`, and its gradient on the support if asked for.
    pub(super) fn evaluate(&mut self, b: &[f64], rho: f64, gradient: Option<&mut [f64]>) -> f64 {
        self.evaluate_term(b, Term::Lagrangian { rho }, gradient)
    }

    fn evaluate_term(&mut self, b: &[f64], term: Term, gradient: Option<&mut [f64]>) -> f64 {
        match self {
            Self::Clique(kernel) => kernel.evaluate(b, term, gradient),
            Self::Dense(kernel) => kernel.evaluate(b, term, gradient),
        }
    }

    /// Second derivative of the same along Z: `ρ‖S‖² − 2⟨Λ + ρR, Z D Zᵀ⟩` with `S = Z D Aᵀ + A D Zᵀ`.
    pub(super) fn curvature(&mut self, b: &[f64], z: &[f64], rho: f64) -> f64 {
        match self {
            Self::Clique(kernel) => kernel.curvature(b, z, rho),
            Self::Dense(kernel) => kernel.curvature(b, z, rho),
        }
    }

    /// `‖R‖_F`.
    pub(super) fn residual_norm(&mut self, b: &[f64]) -> f64 {
        (2.0 * self.evaluate_term(b, Term::HalfSquare, None)).sqrt()
    }

    /// `Λ ← Λ + ρR`.
    pub(super) fn update_multiplier(&mut self, b: &[f64], rho: f64) {
        match self {
            Self::Clique(kernel) => kernel.update_multiplier(b, rho),
            Self::Dense(kernel) => kernel.update_multiplier(b, rho),
        }
    }
}
