//! Linear algebra, graphs and checks that the other modules share.

pub(crate) mod check;
pub(crate) mod components;
pub(crate) mod csr;
pub(crate) mod hash;
pub(crate) mod least_squares;
pub(crate) mod permutation;
pub(crate) mod product;
pub(crate) mod quantile;
pub(crate) mod small;
pub(crate) mod spd;
pub(crate) mod strong;
pub(crate) mod vectors;
