//! Causal orders: elimination, projection onto acyclic graphs, equivalence classes.

use super::convert::{CsrArrays, CsrParts, KnowledgeArrays, from_matrix, signed, to_knowledge, to_matrix, unsigned};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::knowledge::Knowledge;
use crate::order::{Rule, Theta};
use crate::sem::LinearSem;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

/// A linear structural equation model.
#[pyclass(frozen, module = "icid_rs._core")]
pub(super) struct Sem {
    /// Row offsets, columns and weights of B.
    #[pyo3(get)]
    b: (Py<PyArray1<i64>>, Py<PyArray1<i64>>, Py<PyArray1<f64>>),
    /// The variables, causes first.
    #[pyo3(get)]
    order: Py<PyArray1<i64>>,
    /// The diagonal of Ω.
    #[pyo3(get)]
    noise_variances: Py<PyArray1<f64>>,
}

impl Sem {
    pub(super) fn new(py: Python<'_>, sem: LinearSem) -> Self {
        let (offsets, indices, weights) = from_matrix(py, sem.b);
        Self {
            b: (offsets.unbind(), indices.unbind(), weights.unbind()),
            order: signed(py, sem.order).unbind(),
            noise_variances: sem.noise_variances.into_pyarray(py).unbind(),
        }
    }
}

#[pymethods]
impl Sem {
    /// `b, order, noise_variances = sem`.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        (&self.b, &self.order, &self.noise_variances).into_pyobject(py)?.try_iter()
    }
}

/// Θ as an array, or as the parts of a CSR matrix.
#[derive(FromPyObject)]
pub(super) enum ThetaArrays<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(CsrArrays<'py>),
}

/// Copies of what settles the next variable to be eliminated: a causal order, or noise variances if they are known.
pub(super) struct GivenRule {
    order: Option<Vec<usize>>,
    pub noise_variances: Option<Vec<f64>>,
    pub knowledge: Knowledge,
}

impl GivenRule {
    pub fn new(
        order: Option<PyReadonlyArray1<i64>>,
        noise_variances: Option<PyReadonlyArray1<f64>>,
        knowledge: Knowledge,
    ) -> PyResult<Self> {
        Ok(Self {
            order: order.map(|order| unsigned(&order)).transpose()?,
            noise_variances: noise_variances.map(|v| v.as_array().to_vec()),
            knowledge,
        })
    }

    pub fn rule(&self) -> Rule<'_> {
        let noise_variances = self.noise_variances.as_deref();
        match &self.order {
            Some(order) => Rule::Along(order),
            None if self.knowledge.is_trivial() => Rule::SmallestPivot { noise_variances },
            None => Rule::Respecting { noise_variances, knowledge: &self.knowledge },
        }
    }
}

/// Decompose Θ exactly, along an order or that of elimination, by dense or sparse arithmetic, whichever is faster.
///
/// An array must not change meanwhile.
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
    let sparse = match &theta {
        ThetaArrays::Dense(_) => None,
        ThetaArrays::Sparse(arrays) => Some(to_matrix(arrays)?),
    };
    let dense = match &theta {
        ThetaArrays::Dense(array) => Some(array.as_array()),
        ThetaArrays::Sparse(_) => None,
    };
    let (theta, size, d) = match (&sparse, dense) {
        (Some(matrix), _) => (Theta::Sparse(matrix.view()), matrix.nnz(), matrix.rows()),
        (None, Some(array)) => (Theta::Dense(array), array.len(), array.nrows()),
        (None, None) => unreachable!("one of both was given"),
    };
    let given = GivenRule::new(order, noise_variances, to_knowledge(knowledge, d)?)?;
    let call = LongCall::new(n_threads, size, None)?;
    let sem = call.run(py, |monitor| crate::order::eliminate(theta, given.rule(), drop, monitor.interrupt()))?;
    Ok(Sem::new(py, sem))
}

/// An acyclic part of a graph, by decreasing weight: its (offsets, indices, values), and the nodes, causes first.
#[pyfunction]
pub(super) fn heaviest_acyclic<'py>(
    py: Python<'py>,
    b: CsrArrays<'py>,
) -> PyResult<(CsrParts<'py>, Bound<'py, PyArray1<i64>>)> {
    let b = to_matrix(&b)?;
    let projection = py.detach(|| crate::order::heaviest_acyclic(b.view())).map_err(to_python)?;
    Ok((from_matrix(py, projection.graph), signed(py, projection.order)))
}

/// The class of graphs with the same independences as an acyclic one: (offsets, indices, values) of its pattern.
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

/// The order closest to a given one that respects what is known.
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
