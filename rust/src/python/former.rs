//! Functions that the Python package calls until it has switched to `eliminate`, `Searcher` and `Sem`; then this file goes.

use super::convert::{CsrArrays, CsrParts, KnowledgeArrays, from_matrix, signed, to_knowledge, to_matrix, unsigned};
use super::errors::to_python;
use super::long_call::LongCall;
use super::order::GivenRule;
use crate::order::Regression;
use crate::score::{Noise, Score};
use crate::search::{Budget, Evidence};
use crate::sem::{Fitted, LinearSem};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// B, order, noise variances.
type EliminationParts<'py> = (CsrParts<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

fn from_elimination(py: Python<'_>, sem: LinearSem) -> EliminationParts<'_> {
    let LinearSem { b, order, noise_variances, .. } = sem;
    (from_matrix(py, b), signed(py, order), noise_variances.into_pyarray(py))
}

/// Order elimination of a dense Θ, which must not change meanwhile: (B, order, noise variances).
#[pyfunction]
#[pyo3(signature = (theta, *, order, noise_variances, drop, knowledge=None, n_threads=None))]
pub(super) fn eliminate_dense<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    drop: f64,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<EliminationParts<'py>> {
    let theta = theta.as_array();
    let given = GivenRule::new(order, noise_variances, to_knowledge(knowledge, theta.nrows())?)?;
    let call = LongCall::new(n_threads, theta.len(), None)?;
    let result =
        call.run(py, |monitor| crate::order::eliminate_dense(&theta, given.rule(), drop, monitor.interrupt()))?;
    Ok(from_elimination(py, result))
}

/// Graph along an order, or along that of elimination: (B, order, noise variances), score.
///
/// Θ and the covariance must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (theta, covariance, *, samples, penalty, order, noise_variances, knowledge, n_threads))]
#[allow(clippy::too_many_arguments)]
pub(super) fn regress_along<'py>(
    py: Python<'py>,
    theta: PyReadonlyArray2<'py, f64>,
    covariance: PyReadonlyArray2<'py, f64>,
    samples: usize,
    penalty: f64,
    order: Option<PyReadonlyArray1<'py, i64>>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<(EliminationParts<'py>, f64)> {
    let (theta, covariance) = (theta.as_array(), covariance.as_array());
    let given = GivenRule::new(order, noise_variances, to_knowledge(knowledge, theta.nrows())?)?;
    let noise = given.noise_variances.as_deref().map_or(Noise::Equal, Noise::Known);
    let score = Score::new(samples as f64, penalty, noise).map_err(to_python)?;
    let data = Regression::new(covariance, score, &given.knowledge).map_err(to_python)?;
    let call = LongCall::new(n_threads, theta.len(), None)?;
    let fit = call.run(py, |monitor| crate::order::regress_along(&data, &theta, given.rule(), monitor.interrupt()))?;
    Ok(from_fit(py, fit))
}

/// Graph along an order, with causes among the neighbours in a pattern: (B, order, noise variances), score.
///
/// The covariance must not change meanwhile.
#[pyfunction]
#[pyo3(signature = (pattern, covariance, *, samples, penalty, order, noise_variances, knowledge, n_threads))]
#[allow(clippy::too_many_arguments)]
pub(super) fn regress_within<'py>(
    py: Python<'py>,
    pattern: CsrArrays<'py>,
    covariance: PyReadonlyArray2<'py, f64>,
    samples: usize,
    penalty: f64,
    order: PyReadonlyArray1<'py, i64>,
    noise_variances: Option<PyReadonlyArray1<'py, f64>>,
    knowledge: Option<KnowledgeArrays<'py>>,
    n_threads: Option<usize>,
) -> PyResult<(EliminationParts<'py>, f64)> {
    let (pattern, covariance) = (to_matrix(&pattern)?, covariance.as_array());
    let knowledge = to_knowledge(knowledge, pattern.rows())?;
    let (order, noise_variances) = (unsigned(&order)?, noise_variances.map(|v| v.as_array().to_vec()));
    let noise = noise_variances.as_deref().map_or(Noise::Equal, Noise::Known);
    let score = Score::new(samples as f64, penalty, noise).map_err(to_python)?;
    let data = Regression::new(covariance, score, &knowledge).map_err(to_python)?;
    let call = LongCall::new(n_threads, pattern.nnz(), None)?;
    let fit =
        call.run(py, |monitor| crate::order::regress_within(&data, &order, pattern.view(), monitor.interrupt()))?;
    Ok(from_fit(py, fit))
}

/// Order, parent lists as (offsets, parents), score, scores of the starts, trials, improvements, (moves, seconds) of a descent.
type FoundParts<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    f64,
    Vec<f64>,
    usize,
    usize,
    (usize, f64),
);

/// Search over orders.
#[pyfunction]
#[pyo3(signature = (correlation, values, candidates, starts, *, samples, penalty, least, noise_shares, knowledge,
                    trials, patience, seconds, seed, n_threads))]
#[allow(clippy::too_many_arguments)]
pub(super) fn search<'py>(
    py: Python<'py>,
    correlation: PyReadonlyArray2<'py, f64>,
    values: Option<PyReadonlyArray2<'py, f64>>,
    candidates: CsrArrays<'py>,
    starts: Vec<PyReadonlyArray1<'py, i64>>,
    samples: f64,
    penalty: f64,
    least: PyReadonlyArray1<'py, f64>,
    noise_shares: Option<PyReadonlyArray1<'py, f64>>,
    knowledge: Option<KnowledgeArrays<'py>>,
    trials: usize,
    patience: Option<usize>,
    seconds: Option<f64>,
    seed: u64,
    n_threads: Option<usize>,
) -> PyResult<FoundParts<'py>> {
    let pattern = to_matrix(&candidates)?;
    let candidates: Vec<Vec<u32>> =
        pattern.outer_iterator().map(|row| row.indices().iter().map(|&j| j as u32).collect()).collect();
    let starts: Vec<Vec<u32>> = starts
        .iter()
        .map(|order| Ok(unsigned(order)?.into_iter().map(|i| i as u32).collect()))
        .collect::<PyResult<_>>()?;
    let noise_shares = noise_shares.map(|shares| shares.as_array().to_vec());
    let noise = noise_shares.as_deref().map_or(Noise::Unequal, Noise::Known);
    let correlation = correlation.as_array();
    let values = values.as_ref().map(|values| values.as_array());
    let least = least.as_array().to_vec();
    let d = correlation.nrows();
    if least.len() != d {
        return Err(PyValueError::new_err("correlation, values, candidates, noise and starts do not fit together"));
    }
    // What is too long for a duration is as good as no limit.
    let time = match seconds {
        Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
            return Err(PyValueError::new_err(format!("seconds = {seconds}: it must be at least 0")));
        }
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => None,
    };
    let knowledge = to_knowledge(knowledge, d)?;
    let score = Score::new(samples, penalty, noise).map_err(to_python)?;
    let mut evidence = Evidence::new(correlation, score, &knowledge).map_err(to_python)?.with_shares(&least);
    if let Some(values) = values {
        evidence = evidence.with_values(values).map_err(to_python)?;
    }
    let budget = Budget { trials, patience: patience.unwrap_or(usize::MAX), time, seed };
    let call = LongCall::new(n_threads, correlation.len(), None)?;
    let found =
        call.run(py, |monitor| crate::search::search(&evidence, &candidates, &starts, budget, monitor.interrupt()))?;
    let mut offsets = vec![0];
    let mut parents = Vec::new();
    for causes in found.causes {
        parents.extend(causes);
        offsets.push(parents.len());
    }
    Ok((
        signed(py, found.order),
        signed(py, offsets),
        signed(py, parents),
        found.report.score,
        found.report.start_scores,
        found.report.trials,
        found.report.improvements,
        found.report.descent,
    ))
}

fn from_fit(py: Python<'_>, fit: Fitted) -> (EliminationParts<'_>, f64) {
    (from_elimination(py, fit.sem), fit.score)
}
