//! One evaluation of the augmented Lagrangian, and what has to be built before the first one.
#![allow(missing_docs)]

mod common;

use common::{Random, criterion, random_theta};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use icid_rs::model::{AugmentedLagrangian, KernelChoice, Smooth};
use icid_rs::pattern::TwoHop;
use icid_rs::{Interrupt, Problem};
use std::hint::black_box;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Cost of one evaluation over d, degree and threads.
fn evaluation(c: &mut Criterion) {
    let mut group = c.benchmark_group("evaluation");
    for (d, degree) in [(2_000, 1), (10_000, 1), (100_000, 1), (10_000, 2)] {
        let problem = Problem::new(random_theta(d, degree, 1).view(), None).unwrap();
        let b: Vec<f64> = Random(2).vector(problem.support().len());
        let mut gradient = vec![0.0; b.len()];
        group.throughput(Throughput::Elements(problem.support().pairs() as u64));
        for threads in [1, 2] {
            let pool = pool(threads);
            let interrupt = Interrupt::default();
            let mut model = AugmentedLagrangian::new(&problem, 1.0, KernelChoice::Clique, &interrupt).unwrap();
            let name = |what| BenchmarkId::new(what, format!("ER{degree}-d{d}-t{threads}"));
            group.bench_function(name("value"), |bench| {
                bench.iter(|| pool.install(|| black_box(model.value(&b))));
            });
            group.bench_function(name("value_and_gradient"), |bench| {
                bench.iter(|| pool.install(|| black_box(model.value_and_gradient(&b, &mut gradient))));
            });
        }
    }
    group.finish();
}

/// The patterns.
fn pattern(c: &mut Criterion) {
    let mut group = c.benchmark_group("pattern");
    for d in [10_000, 100_000] {
        let theta = random_theta(d, 1, 1);
        group.bench_function(BenchmarkId::new("problem", d), |bench| {
            bench.iter(|| black_box(Problem::new(theta.view(), None).unwrap()));
        });
        let problem = Problem::new(theta.view(), None).unwrap();
        for threads in [1, 2] {
            let (pool, interrupt) = (pool(threads), Interrupt::default());
            group.bench_function(BenchmarkId::new("two_hop", format!("{d}-t{threads}")), |bench| {
                bench.iter(|| pool.install(|| black_box(TwoHop::new(problem.support(), &interrupt).unwrap())));
            });
        }
    }
    group.finish();
}

/// Sparse against dense as Θ fills up: where the cost model should switch.
fn crossover(c: &mut Criterion) {
    let mut group = c.benchmark_group("crossover");
    for (d, degree) in [(50, 1), (50, 4), (200, 2), (200, 4), (200, 8), (200, 30), (800, 4), (800, 8), (800, 12)] {
        let problem = Problem::new(random_theta(d, degree, 1).view(), None).unwrap();
        let b: Vec<f64> = Random(2).vector(problem.support().len());
        let mut gradient = vec![0.0; b.len()];
        let ratio = (d as f64).powi(3) / problem.support().pairs() as f64;
        for kernel in [KernelChoice::Clique, KernelChoice::Dense] {
            let pool = pool(1);
            let mut model = AugmentedLagrangian::new(&problem, 1.0, kernel, &Interrupt::default()).unwrap();
            let name = BenchmarkId::new(kernel.name(), format!("d{d}-degree{degree}-ratio{ratio:.0}"));
            group.bench_function(name, |bench| {
                bench.iter(|| pool.install(|| black_box(model.value_and_gradient(&b, &mut gradient))));
            });
        }
    }
    group.finish();
}

criterion_group! { name = benches; config = criterion(); targets = evaluation, pattern, crossover }
criterion_main!(benches);
