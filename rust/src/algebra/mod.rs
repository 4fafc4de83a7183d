//! Small tools that every other module shares: dense and sparse matrices, permutations, components, hashes.

pub(crate) mod components;
pub(crate) mod csr;
pub(crate) mod hash;
pub(crate) mod least_squares;
pub(crate) mod permutation;
pub(crate) mod quantile;
pub(crate) mod spd;
pub(crate) mod strong;
