//! Every public function refuses bad arguments with the error that names the fault; none panics, and none answers.
#![allow(missing_docs)]

use icid_rs::{IcidError, Interrupt};
use ndarray::Array2;
use sprs::{CsMat, TriMat};
use std::panic::catch_unwind;

const NAN: f64 = f64::NAN;

/// A call that must fail, by name, and whether an error is the right one.
#[derive(Clone, Copy)]
struct BadCall {
    name: &'static str,
    call: fn() -> Result<(), IcidError>,
    is_expected: fn(&IcidError) -> bool,
}

macro_rules! bad {
    ($name:literal, $call:expr => $pattern:pat) => {
        crate::BadCall { name: $name, call: || $call.map(drop), is_expected: |error| matches!(error, $pattern) }
    };
}

mod orders;
mod problems;
mod samples;
mod scores;
mod searches;

fn calm() -> Interrupt {
    Interrupt::default()
}

/// A graph of d variables with edges of weight 1/2.
fn graph(d: usize, edges: &[(usize, usize)]) -> CsMat<f64> {
    let mut triplets = TriMat::new((d, d));
    for &(i, j) in edges {
        triplets.add_triplet(i, j, 0.5);
    }
    triplets.to_csr()
}

/// Entries other than zero, NaN among them.
fn sparse(matrix: &Array2<f64>) -> CsMat<f64> {
    let mut triplets = TriMat::new(matrix.dim());
    for ((i, j), &value) in matrix.indexed_iter().filter(|(_, value)| **value != 0.0) {
        triplets.add_triplet(i, j, value);
    }
    triplets.to_csr()
}

#[test]
fn no_bad_call_panics_or_answers() {
    let calls = [problems::calls(), orders::calls(), scores::calls(), searches::calls(), samples::calls()].concat();
    assert!(calls.len() > 100, "{}", calls.len());
    let outcome = |bad: &BadCall| match catch_unwind(bad.call) {
        Err(_) => Some(format!("{}: a panic", bad.name)),
        Ok(Ok(())) => Some(format!("{}: no error", bad.name)),
        Ok(Err(error)) if !(bad.is_expected)(&error) => Some(format!("{}: another error, {error:?}", bad.name)),
        Ok(Err(error)) => error.to_string().is_empty().then(|| format!("{}: an empty message", bad.name)),
    };
    let failures: Vec<String> = calls.iter().filter_map(outcome).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}
