//! Searches of so many variables that nothing of size d × d is stored.
//!
//! A search asks for few of the d² correlations: those between the candidates for the parents of one variable. [`WideTable`]
//! stores them, and [`Sparse`] computes any other from the samples when it is needed. So scores are exact, and a search
//! costs as much for each variable as it does among few.

mod fit;
mod precision;
mod searcher;
mod sparse;
mod table;

pub use precision::{WidePrecision, wide_precision};
pub use searcher::WideSearcher;
pub(crate) use sparse::{Dependent, Room, Sparse};
pub use table::WideTable;
