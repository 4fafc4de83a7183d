//! Random models for tests and benches, shared with the examples.

#[path = "../../../rust/examples/simulation/mod.rs"]
mod simulation;

pub use simulation::*;
