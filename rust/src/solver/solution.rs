//! The result of a solve: B, its status, and statistics.

use crate::model::KernelChoice;
use sprs::CsMat;
use std::time::Duration;

/// How a solve ended. None of these is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The residual is within the tolerance.
    Converged,
    /// Every round was used and the last was finished, but the residual is above the tolerance.
    MaxAlmIter,
    /// The residual stopped falling above the tolerance, whatever the weight of the constraint: a local minimum, or noise
    /// precisions D that do not fit Θ.
    Stalled,
    /// The last descent ran out of iterations: B is not a minimiser.
    MaxFistaIter,
    /// The observer asked to stop; B is the last iterate.
    Interrupted,
}

impl Status {
    /// Its name, as reported to the user.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::MaxAlmIter => "max_alm_iter",
            Self::Stalled => "stalled",
            Self::MaxFistaIter => "max_fista_iter",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One round of the augmented Lagrangian method, over all connected components.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// Round of the augmented Lagrangian method, from 1.
    pub round: usize,
    /// Largest weight ρ of the constraint.
    pub rho: f64,
    /// FISTA iterations of the component that took most; a round has several descents when the residual did not fall.
    pub iterations: usize,
    /// The augmented Lagrangian at its end, penalty included, without the constants of variables that have no neighbours.
    pub objective: f64,
    /// The optimality distance Δ(B) at its end.
    pub optimality: f64,
    /// `‖Θ − φ_D(B)‖` at its end, without variables that have no neighbours.
    pub residual: f64,
}

/// Statistics of a solve.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// FISTA iterations over all rounds, in each of the component that took most.
    pub iterations: usize,
    /// Evaluations of the objective, with or without its gradient, for the component that took most.
    pub evaluations: usize,
    /// Final weight ρ of the constraint, the largest of any component.
    pub rho: f64,
    /// Optimality distance Δ(B) of the returned B, for the multiplier and ρ of the last descent.
    pub optimality: f64,
    /// The kernel used for the largest component.
    pub kernel: KernelChoice,
    /// Connected components of Θ.
    pub components: usize,
    /// Off-diagonal entries of the support of Θ.
    pub support: usize,
    /// `Σ_j |N_j|²`, the size of the cliques.
    pub pairs: u128,
    /// A pair of variables that shows Θ to be indefinite, so that no B can reach it.
    pub indefinite_pair: Option<(usize, usize)>,
    /// Time to build patterns and workspace.
    pub setup_time: Duration,
    /// Time to minimise.
    pub solve_time: Duration,
}

/// The decomposition.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Solution {
    /// B, without its zeros; row causes column.
    pub b: CsMat<f64>,
    /// How it ended.
    pub status: Status,
    /// `‖Θ − φ_D(B)‖_F`.
    pub residual: f64,
    /// Statistics of the solve.
    pub info: Info,
    /// Every round, in order.
    pub history: Vec<Round>,
}
