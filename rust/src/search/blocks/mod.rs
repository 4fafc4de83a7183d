//! Tables whose variables are blocks of columns, as categories are.
//!
//! A category of k levels is k − 1 columns, which are treated as if they were Gaussian, the "degenerate Gaussian" score of
//! Andrews, Ramsey and Cooper (2019): with C the covariance of all columns, the local score of a block j given blocks P is
//! `n log(det C_{jP} / det C_P)` and the prices of its edges. The search is that of other tables; see
//! [`Kernel`](super::kernel::Kernel).
//!
//! Categories often determine each other in a sample, which would make the score infinite. So the correlations of their
//! columns with those of other variables are shrunk as if one row had been added in which they are independent.

mod dependence;
mod graph;
mod prepared;
mod searcher;
#[cfg(test)]
mod tests;
mod whitening;

pub use graph::Coefficients;
pub use searcher::BlockSearcher;

pub(super) use graph::strengths;
