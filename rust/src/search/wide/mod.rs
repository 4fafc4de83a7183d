//! Searches of so many variables that nothing of size d × d is stored.
//!
//! A search asks for few of the d² correlations: those between the candidates for the parents of one variable. [`WideTable`]
//! stores them, and [`Sparse`] computes any other from the samples when it is needed. So scores are exact, and a search
//! costs as much for each variable as it does among few. Parents that are hardly correlated with a variable, because paths
//! cancel or its other parents dominate, are found by the correlations of all variables with its residual (`missing`).

mod fit;
mod missing;
mod pivots;
mod precision;
mod searcher;
mod sparse;
mod table;

pub use precision::{WidePrecision, wide_precision};
pub use searcher::WideSearcher;
pub(crate) use sparse::Sparse;
pub use table::WideTable;
