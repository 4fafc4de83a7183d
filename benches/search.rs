//! Search over orders, and regression along one, on samples of random models.
#![allow(missing_docs)]

mod common;

use common::{Random, criterion, random_dag, sample};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use icid_rs::moments::{Missing, Moments};
use icid_rs::neighbours::{Standardised, neighbourhood_precision, standardise};
use icid_rs::score::{Noise, edge_penalty};
use icid_rs::search::{Budget, Scoring, SearchOptions, Searcher};
use icid_rs::{Interrupt, Knowledge};
use ndarray::Array2;
use sprs::CsMat;
use std::hint::black_box;

/// Samples of a random model with unequal noise variances: their covariance, and an estimate of Θ.
fn table(d: usize, degree: usize, n: usize) -> (Array2<f64>, CsMat<f64>) {
    let (random, interrupt) = (&mut Random(1), Interrupt::default());
    let b = random_dag(d, degree, random).map(|weight| 0.5 * weight);
    let variances: Vec<f64> = (0..d).map(|_| 0.5 + random.uniform()).collect();
    let rows = sample(&b, &variances, n, random);
    let mut moments = Moments::new(d, false).unwrap();
    moments.update(&rows.view(), None, Missing::Refuse, None, &interrupt).unwrap();
    let (values, variances) = standardise(rows.t().to_owned()).unwrap();
    let deviations: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
    let data = Standardised::new(&values.view()).unwrap();
    (moments.covariance().unwrap(), neighbourhood_precision(data, &deviations, n, &interrupt).unwrap().theta)
}

fn search(c: &mut Criterion) {
    let mut group = c.benchmark_group("search");
    let n = 1_000;
    for (d, degree) in [(20, 2), (50, 2), (200, 2)] {
        let (covariance, theta) = table(d, degree, n);
        let (knowledge, interrupt) = (Knowledge::none(d), Interrupt::default());
        let penalty = edge_penalty(n as f64, d);
        let searcher = || Searcher::new(covariance.view(), theta.view(), None, n, &knowledge).unwrap();
        let start = searcher().smallest_pivots(None, &interrupt).unwrap();
        let name = |what| BenchmarkId::new(what, format!("ER{degree}-d{d}"));
        group.bench_function(name("elimination and regression"), |bench| {
            bench.iter(|| black_box(searcher().eliminate(penalty, Noise::Equal, &interrupt).unwrap()));
        });
        let budget = Budget { trials: 500, patience: 500, ..Budget::for_variables(d) };
        let options = SearchOptions::new(penalty, Scoring::new(Noise::Unequal), budget);
        group.bench_function(name("500 trials"), |bench| {
            bench.iter(|| black_box(searcher().search(std::slice::from_ref(&start), &options, &interrupt).unwrap()));
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = criterion(); targets = search }
criterion_main!(benches);
