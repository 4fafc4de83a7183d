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

/// A way to compute functions of `R`.
pub(super) trait Kernel: Send + Sync {
    /// A function of `R`, and its gradient on the support if asked for.
    fn evaluate(&mut self, b: &[f64], term: Term, gradient: Option<&mut [f64]>) -> f64;

    /// Second derivative of the Lagrangian along Z: `ρ‖S‖² − 2⟨Λ + ρR, Z D Zᵀ⟩` with `S = Z D Aᵀ + A D Zᵀ`.
    fn curvature(&mut self, b: &[f64], z: &[f64], rho: f64) -> f64;

    /// `Λ ← Λ + ρR`.
    fn update_multiplier(&mut self, b: &[f64], rho: f64);
}

/// The kernel that was chosen, which must not be `Auto`.
pub(super) fn new_kernel<'p>(
    problem: &'p Problem,
    choice: KernelChoice,
    interrupt: &Interrupt,
) -> Result<Box<dyn Kernel + 'p>, IcidError> {
    Ok(match choice {
        KernelChoice::Dense => Box::new(DenseKernel::new(problem, interrupt)?),
        _ => Box::new(CliqueKernel::new(problem, interrupt)?),
    })
}
