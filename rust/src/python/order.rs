//! Causal orders: elimination, projection onto acyclic graphs, equivalence classes.

use super::convert::{
    CsrParts, Indices, KnowledgeArrays, Matrix, Numbers, OwnedCsr, from_matrix, own_matrix, signed, to_knowledge,
};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::order::{Rule, Theta};
use crate::sem::LinearSem;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// A linear structural equation model.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Sem {
    /// Row offsets, columns and weights of B.
    b: OwnedCsr,
    /// The variables, causes first.
    order: Py<PyArray1<i64>>,
    /// The diagonal of Ω.
    noise_variances: Py<PyArray1<f64>>,
}

impl Sem {
    pub(super) fn new(py: Python<'_>, sem: LinearSem) -> Self {
        Self {
            b: own_matrix(py, sem.b),
            order: signed(py, sem.order).unbind(),
            noise_variances: sem.noise_variances.into_pyarray(py).unbind(),
        }
    }
}

/// Θ as an array, or as the parts of a CSR matrix.
#[derive(FromPyObject)]
pub(super) enum ThetaArrays<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(Matrix),
}

/// Decompose Θ exactly, along a given order or the order of elimination, by dense or sparse arithmetic, whichever is
/// faster. An array must not change during the call.
#[pyfunction]
#[pyo3(signature = (theta, *, order, noise_variances, drop, knowledge=None, n_threads=None))]
pub(super) fn eliminate<'py>(
    py: Python<'py>,
    theta: ThetaArrays<'py>,
    order: Option<Indices>,
    noise_variances: Option<Numbers>,
    drop: f64,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<Sem> {
    let (theta, size, d) = match &theta {
        ThetaArrays::Dense(array) => {
            let array = array.as_array();
            (Theta::Dense(array), array.len(), array.nrows())
        }
        ThetaArrays::Sparse(Matrix(matrix)) => (Theta::Sparse(matrix.view()), matrix.nnz(), matrix.rows()),
    };
    let knowledge = to_knowledge(knowledge, d)?;
    let rule = match &order {
        Some(Indices(order)) => Rule::Along(order),
        None => Rule::smallest_pivot(noise_variances.as_ref().map(|known| known.0.as_slice()), &knowledge),
    };
    let call = LongCall::new(n_threads, size, None)?;
    let sem = call.run(py, |monitor| crate::order::eliminate(theta, rule, drop, monitor.interrupt()))?;
    Ok(Sem::new(py, sem))
}

/// An acyclic subgraph, built by decreasing weight: its (offsets, indices, values), and the nodes, causes first.
#[pyfunction]
pub(super) fn heaviest_acyclic(py: Python<'_>, b: Matrix) -> PyResult<(CsrParts<'_>, Bound<'_, PyArray1<i64>>)> {
    let projection = py.detach(|| crate::order::heaviest_acyclic(b.0.view())).map_err(to_python)?;
    Ok((from_matrix(py, projection.graph), signed(py, projection.order)))
}

/// The Markov equivalence class of an acyclic graph: (offsets, indices, values) of its CPDAG.
#[pyfunction]
pub(super) fn equivalence_class(py: Python<'_>, b: Matrix, order: Indices) -> PyResult<CsrParts<'_>> {
    let pattern = py.detach(|| crate::order::equivalence_class(b.0.view(), &order.0)).map_err(to_python)?;
    Ok(from_matrix(py, pattern))
}

/// The order closest to a given one that respects prior knowledge.
#[pyfunction]
pub(super) fn arrange<'py>(
    py: Python<'py>,
    order: Indices,
    knowledge: KnowledgeArrays<'py>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let knowledge = to_knowledge(Some(knowledge), order.0.len())?;
    Ok(signed(py, knowledge.arrange(&order.0).map_err(to_python)?))
}
