//! Causal graphs from inverse covariance matrices.
//!
//! Given the inverse covariance Θ of a linear structural equation model `X = X B + E`, find the sparse B inside the
//! support of Θ with `Θ = (I − B) D (I − B)ᵀ`: the method ICID of Dong et al., "Learning Large Causal Structures from
//! Inverse Covariance Matrix via Sparse Matrix Decomposition". `B[i, j] ≠ 0` means i → j.
//!
//! | module | what it holds |
//! |---|---|
//! | [`problem`] | what is given: Θ, D and the skewness weights, checked |
//! | [`pattern`] | where things are nonzero: the support of Θ and its two-hop closure |
//! | [`knowledge`] | what is known beforehand: required and forbidden edges, tiers |
//! | [`model`] | what is minimised: the augmented Lagrangian and its derivatives |
//! | [`solver`] | how it is minimised: FISTA inside an augmented Lagrangian method |
//! | [`order`] | causal orders: elimination, regression along them, projection onto acyclic graphs |
//! | [`moments`] | all that is needed of the rows, mergeable |
//! | [`neighbours`] | Markov blankets where there are few rows: scaled lasso, stepwise tests, refit |
//! | [`search`] | the order with the best score, where elimination does not know it |
//!
//! Work is shared among the threads of the rayon pool the caller is in, with the same bits for any number of them.

mod algebra;
pub mod error;
pub mod interrupt;
pub mod knowledge;
mod memory;
pub mod model;
pub mod moments;
pub mod neighbours;
pub mod order;
mod parallel;
pub mod pattern;
pub mod problem;
#[cfg(feature = "python")]
mod python;
pub mod score;
pub mod search;
mod sem;
pub mod solver;
pub mod support;

pub use error::IcidError;
pub use interrupt::Interrupt;
pub use knowledge::Knowledge;
pub use problem::Problem;
pub use sem::{Dag, Fitted, LinearSem};
pub use solver::{Schedule, Settings, Solution, Status, decompose};
