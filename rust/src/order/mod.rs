//! Causal orders: elimination, which finds them; regression along them; projection onto acyclic graphs; equivalence
//! classes.

mod acyclic;
mod elimination;
mod equivalence;
mod incremental;
mod regression;

pub use acyclic::heaviest_acyclic;
pub use elimination::{Rule, Theta, eliminate, eliminate_dense, eliminate_sparse};
pub(crate) use equivalence::canonical_member;
pub use equivalence::equivalence_class;
pub use regression::{Regression, regress_along, regress_within};
pub(crate) use regression::{fit_graph, regress_among};
