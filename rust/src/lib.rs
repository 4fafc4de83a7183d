//! Causal graphs from inverse covariance matrices.
//!
//! In a linear structural equation model `X = X B + E` with noise variances Ω, the inverse covariance is
//! `Θ = (I − B) Ω⁻¹ (I − B)ᵀ`. Given Θ, this crate finds B: by sparse decomposition, the method ICID of Dong et al.,
//! "Learning Large Causal Structures from Inverse Covariance Matrix via Sparse Matrix Decomposition"; by elimination, which
//! is exact where noise variances are equal or known; and by a search over causal orders. Everywhere, `B[i, j] ≠ 0` means
//! i → j, and an order lists causes first.
//!
//! # Quick example
//! ```
//! use icid_rs::solver::Monitor;
//! use icid_rs::{Problem, Settings, decompose};
//! use sprs::CsMat;
//!
//! // The inverse covariance of 0 → 1 ← 2 with weights 0.5 and −1, and noise of variance 1.
//! let theta = ndarray::array![[1.25, -0.5, -0.5], [-0.5, 1.0, 1.0], [-0.5, 1.0, 2.0]];
//! let problem = Problem::new(CsMat::csr_from_dense(theta.view(), 0.0).view(), None)?;
//! let solution = decompose(&problem, &Settings { l1_weight: 0.01, ..Settings::default() }, &Monitor::default())?;
//! let weight = |i, j| solution.b.get(i, j).copied().unwrap_or(0.0);
//! assert!((weight(0, 1) - 0.5).abs() < 0.05 && (weight(2, 1) + 1.0).abs() < 0.05);
//! # Ok::<(), icid_rs::IcidError>(())
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`problem`] | the data of a decomposition: Θ, the noise precisions D and skewness weights |
//! | [`pattern`] | the support of Θ and its two-hop closure, on which the decomposition works |
//! | [`model`] | the objective of the decomposition: the augmented Lagrangian and its derivatives |
//! | [`solver`] | its minimisation: FISTA inside an augmented Lagrangian method |
//! | [`order`] | elimination, regression along an order, projection onto acyclic graphs, equivalence classes |
//! | [`score`] | the penalised likelihood by which graphs are compared, and its calibration |
//! | [`search`] | search over causal orders for the graph with the best score |
//! | [`knowledge`] | background knowledge: required and forbidden edges, tiers |
//! | [`measurement`] | hidden common causes and errors of measurement: the likelihood of what was measured |
//! | [`moments`] | means, covariance and third moments of rows that come in chunks |
//! | [`support`] | correlations, and tests of partial correlations |
//! | [`neighbours`] | a sparse Θ from few samples: scaled lasso, stepwise tests, refit |
//! | [`interrupt`] | a flag that ends a long computation from another thread |
//! | [`error`] | the error type, [`IcidError`] |
//!
//! A graph with its weights and noise variances is a [`LinearSem`]; without noise variances it is a [`Dag`].
//!
//! # Conventions
//!
//! - Functions check their arguments and return an [`IcidError`] that names the argument and the place of the fault. Only
//!   methods that look up an entry by its position panic out of range, as slices do.
//! - Work is shared among the threads of the rayon pool that a function is called in; results are the same, to the bit, for
//!   any number of threads.
//! - Nothing is printed.

mod algebra;
mod blocks;
pub mod error;
pub mod interrupt;
pub mod knowledge;
pub mod measurement;
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

pub use blocks::Blocks;
pub use error::IcidError;
pub use interrupt::Interrupt;
pub use knowledge::Knowledge;
pub use problem::Problem;
pub use sem::{Dag, Fitted, LinearSem};
pub use solver::{Schedule, Settings, Solution, Status, decompose};

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
