//! Elimination of sparse and dense inverse covariance matrices.
#![allow(missing_docs)]

mod common;

use common::{Random, criterion, random_dag, random_theta};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use icid_rs::order::{Rule, eliminate_dense, eliminate_sparse};
use icid_rs::{Interrupt, LinearSem};
use ndarray::Array2;
use std::hint::black_box;

const SMALLEST: Rule = Rule::SmallestPivot { noise_variances: None };

/// Θ of random models, in which eliminating a sink removes the entries between its parents.
fn sparse(c: &mut Criterion) {
    let mut group = c.benchmark_group("elimination, sparse");
    for (d, degree) in [(1_000, 1), (10_000, 1), (100_000, 1), (2_000, 2)] {
        let theta = random_theta(d, degree, 1);
        group.bench_function(BenchmarkId::new(format!("ER{degree}"), d), |bench| {
            bench.iter(|| black_box(eliminate_sparse(theta.view(), SMALLEST, 0.0, &Interrupt::default()).unwrap()));
        });
    }
    group.finish();
}

/// The covariance of random models, which has hardly any zeros and is as good as an inverse covariance for timing.
fn dense(c: &mut Criterion) {
    let mut group = c.benchmark_group("elimination, dense");
    for d in [100, 500, 1_000] {
        let theta = covariance(d);
        let along: Vec<usize> = (0..d).collect();
        for (name, rule) in [("smallest pivot", SMALLEST), ("along an order", Rule::Along(&along))] {
            group.bench_function(BenchmarkId::new(name, d), |bench| {
                bench.iter(|| black_box(eliminate_dense(&theta.view(), rule, 0.0, &Interrupt::default()).unwrap()));
            });
        }
    }
    group.finish();
}

/// The covariance of a random model with weights up to 1 and noise that is large beside them.
fn covariance(d: usize) -> Array2<f64> {
    let b = random_dag(d, 2, &mut Random(1)).map(|weight| 0.5 * weight);
    let mut sem = LinearSem::new(b.clone(), order(&b), vec![1.0; d]).unwrap().covariance().unwrap();
    sem.diag_mut().mapv_inplace(|variance| variance + 1.0);
    sem
}

/// A causal order of an acyclic graph.
fn order(b: &sprs::CsMat<f64>) -> Vec<usize> {
    icid_rs::order::heaviest_acyclic(b.view()).unwrap().order
}

criterion_group! { name = benches; config = criterion(); targets = sparse, dense }
criterion_main!(benches);
