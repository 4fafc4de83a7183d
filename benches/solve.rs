//! Whole decompositions over d and degree, under both schedules.
#![allow(missing_docs)]

#[path = "../tests/rust/common/mod.rs"]
mod common;

use common::random_theta;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use icid_rs::solver::Monitor;
use icid_rs::{Problem, Schedule, Settings, decompose};
use std::hint::black_box;
use std::time::Duration;

fn solve(c: &mut Criterion) {
    let mut group = c.benchmark_group("solve");
    for (d, degree) in [(50, 1), (50, 3), (500, 1), (1_000, 1)] {
        let problem = Problem::new(random_theta(d, degree, 1).view(), None).unwrap();
        for schedule in [Schedule::Restart, Schedule::Paper] {
            let settings = Settings { schedule, max_alm_iter: 1, ..Settings::default() };
            let name = BenchmarkId::new(format!("{schedule:?}"), format!("ER{degree}-d{d}"));
            group.bench_function(name, |bench| {
                bench.iter(|| black_box(decompose(&problem, &settings, &Monitor::default()).unwrap()));
            });
        }
    }
    group.finish();
}

// Short measurements, so that all benches together take two minutes.
criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = solve
}
criterion_main!(benches);
