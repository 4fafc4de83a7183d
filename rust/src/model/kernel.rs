//! One interface over the sparse and the dense way to work with `R = Θ − φ_D(B)`, and the choice between them.

use super::clique::CliqueKernel;
use super::dense::DenseKernel;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::problem::Problem;

/// Multiply-adds a dense product does in the time the clique kernel visits one pair; see `benches/kernels.rs`, group
/// `crossover`.
const DENSE_ADVANTAGE: u128 = 12;

/// Which kernel evaluates φ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KernelChoice {
    /// Whichever the cost model says is faster.
    #[default]
    Auto,
    /// Sparse: `O(Σ|N_j|²)` time and memory.
    Clique,
    /// Dense matrix products: `O(d³)` time, `O(d²)` memory.
    Dense,
}

impl KernelChoice {
    /// Settle `Auto` for a problem.
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
        match self {
            Self::Clique(kernel) => kernel.evaluate(b, rho, gradient),
            Self::Dense(kernel) => kernel.evaluate(b, rho, gradient),
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
        match self {
            Self::Clique(kernel) => kernel.residual_norm(b),
            Self::Dense(kernel) => kernel.residual_norm(b),
        }
    }

    /// `Λ ← Λ + ρR`.
    pub(super) fn update_multiplier(&mut self, b: &[f64], rho: f64) {
        match self {
            Self::Clique(kernel) => kernel.update_multiplier(b, rho),
            Self::Dense(kernel) => kernel.update_multiplier(b, rho),
        }
    }
}
