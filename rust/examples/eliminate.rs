//! A causal order and a graph by elimination: the exact decomposition of the inverse covariance, one variable at a time.
//!
//! Run with `cargo run --release --example eliminate`.

mod simulation;

use icid_rs::order::{Regression, Rule, Theta, eliminate, equivalence_class, regress_within};
use icid_rs::score::{Noise, Score, edge_penalty};
use icid_rs::{IcidError, Interrupt, Knowledge};
use simulation::{Random, compare, precision, random_dag};

fn main() -> Result<(), IcidError> {
    // 1. A linear model X = X B + E with equal noise variances, and its inverse covariance Θ = (I − B) Ω⁻¹ (I − B)ᵀ.
    let random = &mut Random(3);
    let d = 12;
    let truth = random_dag(d, 1, random);
    let theta = precision(&truth, &vec![1.0; d]);

    // 2. Eliminate: the variable with the smallest diagonal entry has no effects among those that are left; its column of Θ
    //    holds the weights of its parents. From the exact Θ this recovers the model exactly.
    let interrupt = Interrupt::default();
    let rule = Rule::SmallestPivot { noise_variances: None };
    let sem = eliminate(Theta::Sparse(theta.view()), rule, 0.0, &interrupt)?;
    println!("causal order: {:?}", sem.order);
    compare(&truth, &sem.b);

    // 3. Which of these edges do independences alone orient? Those that point one way only in the equivalence class.
    let class = equivalence_class(sem.b.view(), &sem.order)?;
    let compelled = sem.b.iter().filter(|&(_, (i, j))| class.get(j, i).is_none()).count();
    println!("{compelled} of {} edges are compelled", sem.edges());

    // 4. From a covariance, such as that of a sample, regress each variable on its predecessors in the order instead, and
    //    keep the parents that are worth the penalty of an edge. Here one edge is known to be absent.
    let covariance = sem.covariance()?;
    let (_, (cause, effect)) = sem.b.iter().next().expect("the model has edges");
    let knowledge = Knowledge::new(&[], &[(cause as u32, effect as u32)], vec![None; d])?;
    let score = Score::new(2_000.0, edge_penalty(2_000.0, d), Noise::Equal)?;
    let data = Regression::new(covariance.view(), score, &knowledge)?;
    let fitted = regress_within(&data, &sem.order, theta.view(), &interrupt)?;
    println!("\nwithout {cause} -> {effect}, with a score of {:.1}:", fitted.score);
    compare(&truth, &fitted.sem.b);
    Ok(())
}
