//! The optimum and its margins, compared with all graphs of few variables one by one.

use super::*;
use crate::algebra::hash::scramble;
use crate::algebra::spd::Spd;
use crate::knowledge::Knowledge;
use crate::score::Score;
use crate::search::test_cases::{Case, standardise};
use crate::search::{Scoring, Searcher};
use ndarray::Array2;
use proptest::prelude::*;
use sprs::CsMat;

const PENALTY: f64 = 6.0;

/// Standardised variables in rows, skewed and correlated.
fn values(d: usize, n: usize, seed: u64) -> Array2<f64> {
    let number = |k: usize| scramble(seed ^ scramble(k as u64)) as f64 / u64::MAX as f64;
    let mut values = Array2::from_shape_fn((d, n), |(i, k)| number(i * n + k).powi(2));
    for i in 1..d {
        for j in 0..i {
            let weight = 2.0 * number(d * n + i * d + j) - 1.0;
            let earlier = values.row(j).to_owned();
            values.row_mut(i).scaled_add(weight, &earlier);
        }
    }
    standardise(&mut values);
    values
}

fn correlation(values: &Array2<f64>) -> Array2<f64> {
    let mut correlation = values.dot(&values.t()) / values.ncols() as f64;
    correlation.diag_mut().fill(1.0);
    correlation
}

/// The Gaussian part of a local score and the rest, by least squares.
fn local_by_hand(evidence: &Evidence, variable: usize, parents: &[u32]) -> (f64, f64) {
    let j = variable as u32;
    let entry = |a: usize, b: usize| evidence.correlation(parents[a], parents[b]);
    let right: Vec<f64> = parents.iter().map(|&i| evidence.correlation(i, j)).collect();
    let weights = Spd::factorise(parents.len(), entry, Vec::new()).unwrap().solve(right.clone());
    let left = 1.0 - weights.iter().zip(&right).map(|(w, c)| w * c).sum::<f64>();
    let rest = evidence.score.penalty * parents.len() as f64 - evidence.shape_gain(j, parents, &weights);
    (evidence.score.misfit_of(j, left), rest)
}

/// All acyclic graphs that background knowledge permits, as edges `graph[cause][effect]`.
fn all_graphs(d: usize, knowledge: &Knowledge) -> Vec<Vec<Vec<bool>>> {
    let pairs: Vec<(usize, usize)> = (0..d).flat_map(|i| (0..d).map(move |j| (i, j))).filter(|(i, j)| i != j).collect();
    let graph = |bits: u32| {
        let mut graph = vec![vec![false; d]; d];
        for (k, &(i, j)) in pairs.iter().enumerate() {
            graph[i][j] = bits >> k & 1 == 1;
        }
        graph
    };
    let is_permitted = |graph: &Vec<Vec<bool>>| {
        pairs.iter().all(|&(i, j)| {
            let (i, j, edge) = (i as u32, j as u32, graph[i][j]);
            if edge { knowledge.allows(i, j) } else { !knowledge.requires(i, j) }
        })
    };
    (0..1 << pairs.len()).map(graph).filter(|graph| is_acyclic(graph) && is_permitted(graph)).collect()
}

/// Whether sinks can be taken away one by one until nothing is left.
fn is_acyclic(graph: &[Vec<bool>]) -> bool {
    let mut rest: Vec<usize> = (0..graph.len()).collect();
    while let Some(k) = rest.iter().position(|&i| rest.iter().all(|&j| !graph[i][j])) {
        rest.remove(k);
    }
    rest.is_empty()
}

fn case(d: usize, seed: u64, knowledge: Knowledge) -> Case {
    Case::new(values(d, 60, seed), seed, knowledge, PENALTY)
}

/// Compare with all graphs: the score, the graph's own score, and the margins.
fn compare(evidence: &Evidence, is_up_to_scale: bool) {
    let d = evidence.dim();
    let total = |graph: &Vec<Vec<bool>>| {
        let parents = |j: usize| (0..d as u32).filter(|&i| graph[i as usize][j]).collect::<Vec<_>>();
        let parts: Vec<(f64, f64)> = (0..d).map(|j| local_by_hand(evidence, j, &parents(j))).collect();
        let (misfit, rest): (f64, f64) = (parts.iter().map(|part| part.0).sum(), parts.iter().map(|part| part.1).sum());
        let weight = evidence.score.samples * d as f64;
        if is_up_to_scale { weight * (misfit / weight).ln() + rest } else { misfit + rest }
    };
    let graphs: Vec<_> = all_graphs(d, evidence.knowledge).into_iter().map(|graph| (total(&graph), graph)).collect();
    let best = |condition: &dyn Fn(&Vec<Vec<bool>>) -> bool| {
        let some = graphs.iter().filter(|(_, graph)| condition(graph));
        some.map(|(score, _)| *score).fold(f64::INFINITY, f64::min)
    };
    let optimum = if is_up_to_scale { exact_up_to_scale } else { exact };
    let found = optimum(evidence, true, &Interrupt::default()).unwrap();

    let expected = best(&|_| true);
    // Weights of nearly collinear parents have rounding errors, which shapes feel more than variances do.
    let precision = if evidence.has_values() { 1e-7 } else { 1e-9 };
    let is_close = |one: f64, other: f64| one == other || (one - other).abs() < precision * (1.0 + expected.abs());
    assert!(is_close(found.score, expected), "{} {expected}", found.score);
    let mut graph = vec![vec![false; d]; d];
    for (effect, causes) in found.causes.iter().enumerate() {
        for &cause in causes {
            graph[cause][effect] = true;
        }
    }
    assert!(is_close(total(&graph), expected));
    assert!(graphs.iter().any(|(_, permitted)| *permitted == graph));
    for (place, &cause) in found.order.iter().enumerate() {
        assert!(found.order[..place].iter().all(|&earlier| !graph[cause][earlier]));
    }
    assert_eq!(found.margins.len(), graph.iter().flatten().filter(|edge| **edge).count());
    for &Margin { cause, effect, absent, reversed } in &found.margins {
        assert!(graph[cause][effect]);
        assert!(is_close(absent + expected, best(&|graph| !graph[cause][effect] && !graph[effect][cause])));
        let other = best(&|graph| graph[effect][cause]);
        assert!(is_close(reversed + expected, other), "{reversed} {expected} {other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn no_graph_is_better(seed: u64, d in 1_usize..5, is_known: bool, is_shaped: bool) {
        let case = case(d, seed, Knowledge::none(d));
        let evidence = case.evidence(is_known, is_shaped);
        compare(&evidence, false);
        if is_known {
            compare(&evidence, true);
        }
    }

    #[test]
    fn no_graph_that_knowledge_permits_is_better(seed: u64, is_known: bool, is_shaped: bool, kind in 0..4) {
        let knowledge = match kind {
            0 => Knowledge::new(&[], &[(0, 1), (1, 0), (2, 3)], vec![None; 4]).unwrap(),
            1 => Knowledge::new(&[(3, 0), (2, 0)], &[], vec![None; 4]).unwrap(),
            2 => Knowledge::new(&[], &[], vec![Some(1), Some(0), Some(1), None]).unwrap(),
            _ => Knowledge::new(&[(3, 1)], &[(2, 1)], vec![Some(1), Some(1), Some(1), Some(0)]).unwrap(),
        };
        let case = case(4, seed, knowledge);
        let evidence = case.evidence(is_known, is_shaped);
        compare(&evidence, false);
        if is_known {
            compare(&evidence, true);
        }
    }
}

/// The same table under other numbers gives the same score, margins and, with shapes, graph.
#[test]
fn numbers_do_not_matter() {
    let (d, n) = (7, 200);
    let table = values(d, n, 3);
    let permutation = [4, 2, 6, 0, 1, 5, 3];
    let moved = table.select(ndarray::Axis(0), &permutation);
    let knowledge = Knowledge::none(d);
    let score = Score::new(n as f64, PENALTY, Noise::Unequal).unwrap();
    let results = [&table, &moved].map(|values| {
        let correlation = correlation(values);
        let evidence =
            Evidence::new(correlation.view(), score, &knowledge).unwrap().with_values(values.view()).unwrap();
        exact(&evidence, true, &Interrupt::default()).unwrap()
    });
    let [one, two] = &results;
    assert!((one.score - two.score).abs() < 1e-9 * one.score.abs());
    assert_eq!(one.margins.len(), two.margins.len());
    for margin in &two.margins {
        let (cause, effect) = (permutation[margin.cause], permutation[margin.effect]);
        let other = one.margins.iter().find(|other| (other.cause, other.effect) == (cause, effect)).unwrap();
        assert!((margin.absent - other.absent).abs() < 1e-6 && (margin.reversed - other.reversed).abs() < 1e-6);
    }
}

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let case = case(9, 5, Knowledge::none(9));
    let evidence = case.evidence(false, true);
    let [one, three] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| exact(&evidence, true, &Interrupt::default()).unwrap())
    });
    assert_eq!(one.score.to_bits(), three.score.to_bits());
    assert_eq!((one.causes, one.order, one.margins), (three.causes, three.order, three.margins));
}

#[test]
fn copies_explain_each_other_but_nothing_else_together() {
    let mut table = values(4, 100, 1);
    let copy = table.row(0).to_owned();
    table.row_mut(1).assign(&copy);
    let correlation = correlation(&table);
    let score = Score::new(100.0, PENALTY, Noise::Unequal).unwrap();
    let found = |knowledge: &Knowledge| {
        let evidence = Evidence::new(correlation.view(), score, knowledge).unwrap();
        exact(&evidence, false, &Interrupt::default())
    };
    let free = found(&Knowledge::none(4)).unwrap();
    assert!(free.score.is_finite());
    assert!(free.causes.iter().all(|causes| !(causes.contains(&0) && causes.contains(&1))));
    // A variable that its required parent determines has no noise, and two copies have no weights.
    for required in [vec![(0, 1)], vec![(0, 2), (1, 2)]] {
        let error = found(&Knowledge::new(&required, &[], vec![None; 4]).unwrap()).unwrap_err();
        assert!(matches!(error, IcidError::Singular { .. }));
    }
}

#[test]
fn nearly_collinear_parents_are_used_only_where_they_are_required() {
    let mut table = values(4, 100, 2);
    let nearly = &table.row(0) + &(&table.row(1) * 1e-5);
    table.row_mut(1).assign(&nearly);
    let length = (table.row(1).dot(&table.row(1)) / 100.0).sqrt();
    table.row_mut(1).mapv_inplace(|value| value / length);
    let correlation = correlation(&table);
    let score = Score::new(100.0, 0.0, Noise::Unequal).unwrap();
    let causes_of_two = |required: &[(u32, u32)]| {
        let knowledge = Knowledge::new(required, &[(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)], vec![None; 4]).unwrap();
        let evidence = Evidence::new(correlation.view(), score, &knowledge).unwrap();
        exact(&evidence, false, &Interrupt::default()).unwrap().causes[2].clone()
    };
    assert_eq!(causes_of_two(&[]).len(), 1);
    assert_eq!(causes_of_two(&[(0, 2), (1, 2)]), [0, 1]);
}

#[test]
fn parents_are_three_fewer_than_samples() {
    let table = values(6, 6, 0);
    let (correlation, knowledge) = (correlation(&table), Knowledge::none(6));
    let score = Score::new(6.0, 0.0, Noise::Unequal).unwrap();
    let evidence = Evidence::new(correlation.view(), score, &knowledge).unwrap();
    let found = exact(&evidence, false, &Interrupt::default()).unwrap();
    assert_eq!(found.causes.iter().map(Vec::len).max(), Some(3));
}

#[test]
fn one_variable_has_no_edges() {
    let (correlation, knowledge) = (Array2::eye(1), Knowledge::none(1));
    let score = Score::new(9.0, 1.0, Noise::Unequal).unwrap();
    let evidence = Evidence::new(correlation.view(), score, &knowledge).unwrap();
    let found = exact(&evidence, true, &Interrupt::default()).unwrap();
    assert_eq!((found.score, found.order.len(), found.margins.len()), (0.0, 1, 0));
}

#[test]
fn an_interrupt_ends_it() {
    let case = case(9, 0, Knowledge::none(9));
    let interrupt = Interrupt::default();
    interrupt.raise();
    for is_shaped in [false, true] {
        let evidence = case.evidence(true, is_shaped);
        for optimum in [exact, exact_up_to_scale] {
            assert!(matches!(optimum(&evidence, false, &interrupt), Err(IcidError::Interrupted)));
        }
    }
}

/// Optima with several penalties, of one table and of a fresh one each.
#[test]
fn one_table_serves_for_all_penalties() {
    let case = case(6, 7, Knowledge::none(6));
    let theta = CsMat::eye(6);
    let searcher = Searcher::new(case.correlation.view(), theta.view(), None, 60, &case.knowledge).unwrap();
    let calm = Interrupt::default();
    for noise in [Noise::Unequal, Noise::Known(&case.ratios), Noise::Equal] {
        for values in [None, Some(case.values.view())] {
            let scoring = Scoring::new(noise).with_values(values);
            let table = searcher.exact_table(&scoring, &calm).unwrap();
            let mut edges = Vec::new();
            for penalty in [20.0, 0.0, PENALTY, 1e4] {
                let one = table.optimum(penalty, true, &calm).unwrap();
                let fresh = searcher.exact_table(&scoring, &calm).unwrap().optimum(penalty, true, &calm).unwrap();
                assert!((one.score - fresh.score).abs() < 1e-9);
                assert_eq!((&one.sem.b, &one.margins), (&fresh.sem.b, &fresh.margins));
                // The score of the evidence with this penalty, for variables in other numbers.
                if noise == Noise::Unequal {
                    let score = Score::new(60.0, penalty, noise).unwrap();
                    let evidence = Evidence::new(case.correlation.view(), score, &case.knowledge).unwrap();
                    let evidence =
                        if let Some(values) = values { evidence.with_values(values).unwrap() } else { evidence };
                    assert!((one.score - exact(&evidence, false, &calm).unwrap().score).abs() < 1e-9);
                }
                edges.push(one.sem.edges());
            }
            assert!(edges[1] >= edges[2] && edges[2] >= edges[0] && edges[3] == 0, "{edges:?}");
        }
    }
}
