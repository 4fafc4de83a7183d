//! From samples to a causal graph by the decomposition of the inverse covariance, the method of the paper.
//!
//! Run with `cargo run --release --example decompose`.

mod simulation;

use icid_rs::neighbours::{Standardised, neighbourhood_precision, standardise};
use icid_rs::order::heaviest_acyclic;
use icid_rs::solver::Monitor;
use icid_rs::{IcidError, Interrupt, Problem, Settings, decompose};
use simulation::{Random, compare, random_dag, sample};

/// Weights below this are not edges, the convention of the field for simulated weights of at least 0.5.
const THRESHOLD: f64 = 0.3;

fn main() -> Result<(), IcidError> {
    // 1. Simulate 2 000 samples of a linear model X = X B + E. B[i, j] is the weight of the edge i -> j.
    let random = &mut Random(1);
    let (d, n) = (10, 2_000);
    let truth = random_dag(d, 1, random);
    let rows = sample(&truth, &vec![1.0; d], n, random);

    // 2. Estimate the inverse covariance matrix Θ, a sparse one: neighbours are selected first, then Θ is fitted to them.
    //    Variables are in rows here, centred and of length one.
    let (values, variances) = standardise(rows.t().to_owned())?;
    let deviations: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
    let data = Standardised::new(&values.view())?;
    let theta = neighbourhood_precision(data, &deviations, n, &Interrupt::default())?.theta;

    // 3. Decompose Θ = (I − B) D (I − B)ᵀ with a sparse B inside the support of Θ. Noise variances are taken to be equal,
    //    because none are given.
    let problem = Problem::new(theta.view(), None)?;
    let settings = Settings { l1_weight: 0.1, ..Settings::default() };
    let solution = decompose(&problem, &settings, &Monitor::default())?;
    println!("{:?} after {} iterations, residual {:.3}", solution.status, solution.info.iterations, solution.residual);

    // 4. B is nearly acyclic: drop its small weights and, of each remaining cycle, the weakest edge.
    let strong = solution.b.map(|&weight| if weight.abs() > THRESHOLD { weight } else { 0.0 });
    let found = heaviest_acyclic(strong.view())?;
    println!("causal order: {:?}", found.order);
    compare(&truth, &found.graph);
    Ok(())
}
