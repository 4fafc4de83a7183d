//! The extension module `icid_rs._core`: arrays in, arrays out.

// Arguments of Python functions are made for the call and given away to it.
#![allow(clippy::needless_pass_by_value)]

mod convert;
mod decompose;
mod errors;
mod former;
mod former_neighbours;
mod long_call;
mod moments;
mod neighbours;
mod order;
mod score;
mod search;

use pyo3::prelude::*;

/// The compiled core of `icid_rs`. Private: its names may change with any release.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::available_memory;
    #[pymodule_export]
    use super::decompose::{decompose, evaluate};
    #[pymodule_export]
    use super::errors::NumericalError;
    #[pymodule_export]
    use super::former::{eliminate_dense, regress_along, regress_within, search};
    #[pymodule_export]
    use super::former_neighbours::{correlations, eliminate_sinks, refit, scaled_lasso, stepwise};
    #[pymodule_export]
    use super::moments::Accumulator;
    #[pymodule_export]
    use super::neighbours::{
        CopiesError, WidePrecision, neighbourhood_precision, neighbourhood_support, regress_on_rows, wide_precision,
    };
    #[pymodule_export]
    use super::order::{Sem, arrange, eliminate, equivalence_class, heaviest_acyclic};
    #[pymodule_export]
    use super::score::{correlation_matrix, discoveries, edge_penalty, score, shape_statistics};
    #[pymodule_export]
    use super::search::{OrderFit, Searched, Searcher, search_budget};
}

/// Bytes that a computation may allocate now, if anyone knows.
#[pyfunction]
fn available_memory() -> Option<u64> {
    crate::memory::available()
}
