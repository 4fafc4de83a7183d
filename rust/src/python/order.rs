//! Causal orders: elimination, projection onto acyclic graphs, equivalence classes.

use super::convert::{
    CsrArrays, CsrParts, KnowledgeArrays, OwnedCsr, from_matrix, numbers, own_matrix, signed, to_knowledge, to_matrix,
    unsigned,
};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::knowledge::Knowledge;
use crate::order::{Rule, Theta};
use crate::sem::LinearSem;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
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
    Sparse(CsrArrays<'py>),
}

/// Copies of what decides which variable is eliminated next: a causal order, or noise variances if they are known.
struct RuleParts {
    order: Option<Vec<usize>>,
    noise_variances: Option<Vec<f64>>,
    knowledge: Knowledge,
}

impl RuleParts {
    fn copy(
        order: Option<PyReadonlyArray1<i64>>,
        noise_variances: Option<PyReadonlyArray1<f64>>,
        knowledge: Knowledge,
    ) -> PyResult<Self> {
        Ok(Self {
            order: order.map(|order| unsigned(&order)).transpose()?,
            noise_variances: numbers(noise_variances),
            knowledge,
        })
    }

    fn rule(&self) -> Rule<'_> {
        let noise_variances = self.noise_variances.as_deref();
        match &self.order {
            Some(order) => Rule::Along(order),
            None if self.knowledge.is_trivial() => Rule::SmallestPivot { noise_variances },
            None => Rule::Respecting { noise_variances, knowledge: &self.knowledge },
        }
    }
}

/// Decompose Θ exactly, along a given order or the order of elimination, by dense or sparse arithmetic, whichever is
/// faster. An array must not change during the call.
#[pyfunction]
#[pyo3(signature = (theta, *, order, noise_variances, drop, knowledge=None, n_threads=None))]
pub(super) fn eliminate<'py>(
    py: Python<'py>,
    theta: ThetaArrays<'py>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    drop: f64,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<Sem> {
    let matrix;
    let (theta, size, d) = match &theta {
        ThetaArrays::Dense(array) => {
            let array = array.as_array();
            (Theta::Dense(array), array.len(), array.nrows())
        }
        ThetaArrays::Sparse(arrays) => {
            matrix = to_matrix(arrays)?;
            (Theta::Sparse(matrix.view()), matrix.nnz(), matrix.rows())
        }
    };
    let parts = RuleParts::copy(order, noise_variances, to_knowledge(knowledge, d)?)?;
    let call = LongCall::new(n_threads, size, None)?;
    let sem = call.run(py, |monitor| crate::order::eliminate(theta, parts.rule(), drop, monitor.interrupt()))?;
    Ok(Sem::new(py, sem))
}

/// An acyclic subgraph, built by decreasing weight: its (offsets, indices, values), and the nodes, causes first.
#[pyfunction]
pub(super) fn heaviest_acyclic<'py>(
    py: Python<'py>,
    b: CsrArrays<'py>,
) -> PyResult<(CsrParts<'py>, Bound<'py, PyArray1<i64>>)> {
    let b = to_matrix(&b)?;
    let projection = py.detach(|| crate::order::heaviest_acyclic(b.view())).map_err(to_python)?;
    Ok((from_matrix(py, projection.graph), signed(py, projection.order)))
}

/// The Markov equivalence class of an acyclic graph: (offsets, indices, values) of its CPDAG.
#[pyfunction]
pub(super) fn equivalence_class<'py>(
    py: Python<'py>,
    b: CsrArrays<'py>,
    order: PyReadonlyArray1<'py, i64>,
) -> PyResult<CsrParts<'py>> {
    let (b, order) = (to_matrix(&b)?, unsigned(&order)?);
    let pattern = py.detach(|| crate::order::equivalence_class(b.view(), &order)).map_err(to_python)?;
    Ok(from_matrix(py, pattern))
}

/// The order closest to a given one that respects prior knowledge.
#[pyfunction]
pub(super) fn arrange<'py>(
    py: Python<'py>,
    order: PyReadonlyArray1<'py, i64>,
    knowledge: KnowledgeArrays<'py>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let order = unsigned(&order)?;
    let knowledge = to_knowledge(Some(knowledge), order.len())?;
    Ok(signed(py, knowledge.arrange(&order).map_err(to_python)?))
}
