//! A search over causal orders for the graph with the best score, where noise variances are unequal.
//!
//! Run with `cargo run --release --example search`.

mod simulation;

use icid_rs::moments::{Missing, Moments};
use icid_rs::neighbours::{Standardised, neighbourhood_precision, standardise};
use icid_rs::order::equivalence_class;
use icid_rs::score::{Noise, edge_penalty};
use icid_rs::search::{Budget, Scoring, SearchOptions, Searcher};
use icid_rs::{IcidError, Interrupt, Knowledge};
use simulation::{Random, compare, random_dag, sample};

fn main() -> Result<(), IcidError> {
    // 1. Simulate 3 000 samples of a linear model X = X B + E whose noise variances are unequal.
    let random = &mut Random(8);
    let (d, n) = (12, 3_000);
    let truth = random_dag(d, 2, random);
    let noise_variances: Vec<f64> = (0..d).map(|_| 0.5 + 1.5 * random.uniform()).collect();
    let rows = sample(&truth, &noise_variances, n, random);

    // 2. The covariance, which could be accumulated from chunks of rows, and a sparse estimate of its inverse Θ.
    let interrupt = Interrupt::default();
    let mut moments = Moments::new(d, false)?;
    moments.update(&rows.view(), None, Missing::Refuse, None, &interrupt)?;
    let covariance = moments.covariance()?;
    let (values, variances) = standardise(rows.t().to_owned())?;
    let deviations: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
    let theta = neighbourhood_precision(Standardised::new(&values.view())?, &deviations, n, &interrupt)?.theta;

    // 3. Start from two orders, and move variables while the score improves: n Σ log(residual variance) + penalty · edges.
    let knowledge = Knowledge::none(d);
    let searcher = Searcher::new(covariance.view(), theta.view(), None, n, &knowledge)?;
    let penalty = edge_penalty(n as f64, d);
    let starts =
        [searcher.eliminate(penalty, Noise::Equal, &interrupt)?.sem.order, searcher.smallest_pivots(None, &interrupt)?];
    let options = SearchOptions::new(penalty, Scoring::new(Noise::Unequal), Budget::for_variables(d));
    let found = searcher.search(&starts, &options, &interrupt)?;
    println!("scores of the starts {:.1?}, of the result {:.1}", found.report.start_scores, found.report.score);
    println!("causal order: {:?}", found.sem.order);
    compare(&truth, &found.sem.b);

    // 4. Graphs of one equivalence class have the same score, so only compelled edges have a direction that data support.
    let class = equivalence_class(found.sem.b.view(), &found.sem.order)?;
    let is_open = |&(_, (i, j)): &(&f64, (usize, usize))| class.get(j, i).is_some();
    let open: Vec<_> = found.sem.b.iter().filter(is_open).map(|(_, (i, j))| format!("{i} - {j}")).collect();
    println!("edges whose direction is open: {open:?}");
    Ok(())
}
