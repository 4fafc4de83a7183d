//! Whole decompositions over d and degree, under both schedules.
#![allow(missing_docs)]

mod common;

use common::{criterion, random_theta};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use icid_rs::solver::Monitor;
use icid_rs::{Problem, Schedule, Settings, decompose};
use std::hint::black_box;

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

criterion_group! { name = benches; config = criterion(); targets = solve }
criterion_main!(benches);
