//! The extension module `icid_rs._core`: arrays in, arrays out.

mod blocks;
mod convert;
mod decompose;
mod errors;
mod exact;
mod long_call;
mod measurement;
mod moments;
mod neighbours;
mod order;
mod score;
mod search;
mod wide;

use pyo3::prelude::*;

/// The compiled core of `icid_rs`. Private: its names may change with any release.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::available_memory;
    #[pymodule_export]
    use super::blocks::BlockSearcher;
    #[pymodule_export]
    use super::decompose::{Decomposed, Evaluation, decompose, evaluate};
    #[pymodule_export]
    use super::errors::NumericalError;
    #[pymodule_export]
    use super::exact::{ExactTable, Optimum};
    #[pymodule_export]
    use super::measurement::{Settled, deviance, settle};
    #[pymodule_export]
    use super::moments::{Accumulator, Sums, expected_values};
    #[pymodule_export]
    use super::neighbours::{CopiesError, neighbourhood_precision};
    #[pymodule_export]
    use super::order::{Sem, arrange, eliminate, equivalence_class, heaviest_acyclic};
    #[pymodule_export]
    use super::score::{correlation_matrix, dependence_statistics, discoveries, edge_penalty, score, shape_statistics};
    #[pymodule_export]
    use super::score::{robust_weight_errors, weight_errors, wide_weight_errors};
    #[pymodule_export]
    use super::search::{OrderFit, Searched, Searcher, search_budget};
    #[pymodule_export]
    use super::wide::{WidePrecision, WideSearcher, wide_precision};
}

/// Bytes that a computation may allocate now; `None` if unknown.
#[pyfunction]
fn available_memory() -> Option<u64> {
    crate::memory::available()
}
