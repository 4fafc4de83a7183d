//! Random models, shared with the examples and tests, and how long to measure.
#![allow(dead_code)]

#[path = "../../rust/examples/simulation/mod.rs"]
mod simulation;

pub use simulation::*;

use criterion::Criterion;
use std::time::Duration;

/// Short measurements, so that all benches together take one or two minutes.
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .nresamples(10_000)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500))
        .without_plots()
}
