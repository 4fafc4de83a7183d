//! Causal orders: elimination, which finds them; regression along them; and the projection onto acyclic graphs.

mod acyclic;
mod elimination;
mod equivalence;
mod incremental;
mod regression;
mod small;
mod strong;

pub use acyclic::{Projection, heaviest_acyclic};
pub use elimination::{Elimination, Rule, eliminate, eliminate_dense};
pub use equivalence::equivalence_class;
pub use regression::{Fit, Noise, Regression, regress_along, regress_within};
pub(crate) use small::Spd;
