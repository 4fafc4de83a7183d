//! Settings of the solver.

use crate::algebra::check::{check_parameter, check_positive_parameter};
use crate::error::IcidError;
use crate::model::KernelChoice;

/// How FISTA chooses its steps and its momentum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// Steps that may grow, and momentum that restarts when it points uphill.
    #[default]
    Restart,
    /// As printed: the first ten steps from the quadratic model (half its minimiser), then the last of them; momentum
    /// (s − 1)/(s + 2) throughout. The line search is the majorisation test, which is the printed one (γ = ½) wherever
    /// the proximal map is the identity.
    Paper,
}

/// Parameters of the solver; the defaults are the paper's. Write `Settings { tol: 1e-3, ..Settings::default() }`, since
/// later releases may add fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The paper's λ₁' = 1/ρ₀: the initial weight of ‖B‖₁ relative to the constraint `Θ = φ_D(B)`.
    pub l1_weight: f64,
    /// Rounds of the augmented Lagrangian method.
    pub max_alm_iter: usize,
    /// Iterations of FISTA in one descent.
    pub max_fista_iter: usize,
    /// The residual `‖Θ − φ_D(B)‖` at which to stop.
    pub tol: f64,
    /// The optimality distance Δ(B) at which a descent stops.
    pub fista_tol: f64,
    /// Steps and momentum.
    pub schedule: Schedule,
    /// Sparse or dense evaluation.
    pub kernel: KernelChoice,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            l1_weight: 1.0,
            max_alm_iter: 3,
            max_fista_iter: 3000,
            tol: 5e-3,
            fista_tol: 1e-4,
            schedule: Schedule::default(),
            kernel: KernelChoice::default(),
        }
    }
}

impl Settings {
    pub(super) fn validate(&self) -> Result<(), IcidError> {
        let at_least_one = |name, value: usize| check_parameter(name, value as f64, value >= 1, "at least 1");
        let weight = self.l1_weight;
        check_positive_parameter("l1_weight", weight)?;
        check_parameter("l1_weight", weight, (1.0 / weight).is_finite(), "large enough to have an inverse")?;
        check_positive_parameter("tol", self.tol)?;
        check_positive_parameter("fista_tol", self.fista_tol)?;
        at_least_one("max_alm_iter", self.max_alm_iter)?;
        at_least_one("max_fista_iter", self.max_fista_iter)
    }
}
