//! Moments of a stream of rows.

use super::convert::{Indices, Numbers};
use super::errors::to_python;
use super::long_call::LongCall;
use crate::error::IcidError;
use crate::moments::{Missing, Moments, Seen, Value};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Keys and which rows are kept; and row and column of an entry that is not finite, in which case nothing was added.
type SeenParts<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<bool>>, Option<(usize, usize)>);

/// The sums behind moments, about a shift.
#[pyclass(frozen, get_all, module = "icid_rs._core")]
pub(super) struct Sums {
    /// Number of rows.
    rows: u64,
    /// Sum of the weights.
    weight: f64,
    /// Sum of the squared weights.
    squares: f64,
    /// What is subtracted from each row before it is added.
    shift: Py<PyArray1<f64>>,
    /// Mean of the shifted rows.
    mean: Py<PyArray1<f64>>,
    /// Sums of products about the mean.
    second: Py<PyArray2<f64>>,
    /// Third sums, if they are kept.
    third: Option<Py<PyArray2<f64>>>,
}

/// Mergeable sums of a stream of rows.
#[pyclass(module = "icid_rs._core")]
pub(super) struct Accumulator(Moments);

#[pymethods]
impl Accumulator {
    #[new]
    fn new(columns: usize, third: bool) -> PyResult<Self> {
        Moments::new(columns, third).map(Self).map_err(to_python)
    }

    /// Restore moments from their sums.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn from_sums(
        rows: u64,
        weight: f64,
        squares: f64,
        shift: Numbers,
        mean: Numbers,
        second: PyReadonlyArray2<'_, f64>,
        third: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<Self> {
        let third = third.as_ref().map(|third| third.as_array());
        Moments::from_sums(rows, [weight, squares], shift.0, mean.0, &second.as_array(), third.as_ref())
            .map(Self)
            .map_err(to_python)
    }

    /// Add the rows of a chunk of single or double precision, or none of them.
    #[pyo3(signature = (chunk, weights, *, drop, seed, n_threads))]
    fn update<'py>(
        &mut self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
        weights: Option<Numbers>,
        drop: bool,
        seed: Option<u64>,
        n_threads: Option<usize>,
    ) -> PyResult<SeenParts<'py>> {
        let weights = weights.as_ref().map(|weights| weights.0.as_slice());
        let missing = if drop { Missing::Drop } else { Missing::Refuse };
        if let Ok(single) = chunk.extract::<PyReadonlyArray2<'py, f32>>() {
            self.add(py, &single, weights, missing, seed, n_threads)
        } else {
            self.add(py, &chunk.extract::<PyReadonlyArray2<'py, f64>>()?, weights, missing, seed, n_threads)
        }
    }

    /// Add the rows of another.
    fn merge(&mut self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let columns = self.0.columns();
        LongCall::new(None, columns * columns, None)?.run(py, |_| self.0.merge(&other.0))
    }

    /// Number of columns.
    #[getter]
    fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows
    }

    /// A copy that later rows do not change.
    fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    /// Copies of the sums.
    fn sums(&self, py: Python<'_>) -> Sums {
        let Moments { rows, weight: [weight, squares], shift, mean, .. } = &self.0;
        let (second, third) = py.detach(|| (self.0.second(), self.0.third()));
        Sums {
            rows: *rows,
            weight: *weight,
            squares: *squares,
            shift: PyArray1::from_slice(py, shift).unbind(),
            mean: PyArray1::from_slice(py, mean).unbind(),
            second: second.into_pyarray(py).unbind(),
            third: third.map(|third| third.into_pyarray(py).unbind()),
        }
    }
}

/// Expectations and variances of missing values, the sum of their covariances, and of log determinants.
type ExpectedParts<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, f64);

/// What observed values tell of the missing ones; these are given by the number of each row, and then their columns.
#[pyfunction]
#[pyo3(signature = (theta, pull, counts, places, *, n_threads=None))]
pub(super) fn expected_values<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    pull: PyReadonlyArray2<'py, f64>,
    counts: Indices,
    places: Indices,
    n_threads: Option<usize>,
) -> PyResult<ExpectedParts<'py>> {
    if counts.0.iter().sum::<usize>() != places.0.len() {
        return Err(PyValueError::new_err("counts must add up to the number of places"));
    }
    let mut rest = places.0.as_slice();
    let missing: Vec<Vec<usize>> = counts
        .0
        .iter()
        .map(|&count| {
            let (own, others) = rest.split_at(count);
            rest = others;
            own.to_vec()
        })
        .collect();
    let (theta, pull) = (theta.as_array(), pull.as_array());
    let work = counts.0.iter().map(|&count| count.pow(3)).sum();
    let found = LongCall::new(n_threads, work, None)?
        .run(py, |monitor| crate::moments::expectations(&theta, &pull, &missing, monitor.interrupt()))?;
    Ok((
        found.values.into_pyarray(py),
        found.variances.into_pyarray(py),
        found.covariance.into_pyarray(py),
        found.log_determinant,
    ))
}

impl Accumulator {
    /// The chunk is not copied, and read twice: a thread that changes it meanwhile makes this result wrong, nothing else.
    fn add<'py, T: Value + numpy::Element>(
        &mut self,
        py: Python<'py>,
        chunk: &PyReadonlyArray2<'py, T>,
        weights: Option<&[f64]>,
        missing: Missing,
        seed: Option<u64>,
        n_threads: Option<usize>,
    ) -> PyResult<SeenParts<'py>> {
        let chunk = chunk.as_array();
        let call = LongCall::new(n_threads, chunk.len().saturating_mul(chunk.ncols()) >> 6, None)?;
        let moments = &mut self.0;
        let outcome =
            call.run(py, |monitor| match moments.update(&chunk, weights, missing, seed, monitor.interrupt()) {
                Err(IcidError::NotFinite { row, column, .. }) => Ok((Seen::default(), Some((row, column)))),
                seen => seen.map(|seen| (seen, None)),
            })?;
        let (Seen { keys, kept }, not_finite) = outcome;
        Ok((keys.into_pyarray(py), kept.into_pyarray(py), not_finite))
    }
}
