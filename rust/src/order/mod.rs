//! Causal orders: what makes a graph acyclic.

mod acyclic;
mod incremental;
mod strong;

pub use acyclic::{Projection, heaviest_acyclic};
