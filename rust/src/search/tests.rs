//! Properties of a search, compared with least squares by hand and with the exact optimum.

use super::test_cases::{Case, standardise};
use super::*;
use crate::algebra::hash::scramble;
use crate::algebra::spd::Spd;
use crate::knowledge::Knowledge;
use crate::score::{Noise, Score};
use ndarray::Array2;
use std::time::Duration;

/// Standardised variables in rows: a random model with these noises, skewed or nearly Gaussian.
fn values(d: usize, n: usize, seed: u64, is_skewed: bool) -> Array2<f64> {
    let number = |k: usize| scramble(seed ^ scramble(k as u64)) as f64 / u64::MAX as f64;
    let noise = |k: usize| {
        if is_skewed { number(k).powi(3) } else { (0..8).map(|part| number(8 * k + part)).sum::<f64>() / 3.0 }
    };
    let mut values = Array2::from_shape_fn((d, n), |(i, k)| noise(i * n + k));
    for i in 1..d {
        for j in 0..i {
            let k = 8 * d * n + i * d + j;
            if number(k) < 0.5 {
                let earlier = values.row(j).to_owned();
                values.row_mut(i).scaled_add(2.0 * number(k + d * d) - 1.0, &earlier);
            }
        }
    }
    standardise(&mut values);
    values
}

fn case(d: usize, n: usize, seed: u64, is_skewed: bool) -> Case {
    Case::new(values(d, n, seed, is_skewed), seed, Knowledge::none(d), 12.0)
}

impl Case {
    fn dim(&self) -> usize {
        self.values.nrows()
    }

    fn candidates(&self) -> Vec<Vec<u32>> {
        (0..self.dim() as u32).map(|i| (0..self.dim() as u32).filter(|&j| j != i).collect()).collect()
    }

    fn start(&self) -> Vec<u32> {
        let order: Vec<usize> = (0..self.dim()).rev().collect();
        self.knowledge.arrange(&order).unwrap().into_iter().map(|i| i as u32).collect()
    }

    fn search(&self, evidence: &Evidence, trials: usize, seed: u64) -> Found {
        let budget = Budget { trials, patience: 100, time: None, seed };
        search(evidence, &self.candidates(), &[self.start()], budget, &Interrupt::default()).unwrap()
    }
}

/// The score of a graph by least squares.
fn score_by_hand(evidence: &Evidence, causes: &[Vec<usize>]) -> f64 {
    let local = |(j, causes): (usize, &Vec<usize>)| {
        let parents: Vec<u32> = causes.iter().map(|&i| i as u32).collect();
        let entry = |a: usize, b: usize| evidence.correlation(parents[a], parents[b]);
        let right: Vec<f64> = parents.iter().map(|&i| evidence.correlation(i, j as u32)).collect();
        let weights = Spd::factorise(parents.len(), entry, Vec::new()).unwrap().solve(right.clone());
        let left = 1.0 - weights.iter().zip(&right).map(|(w, c)| w * c).sum::<f64>();
        evidence.score.misfit_of(j as u32, left) + evidence.score.penalty * parents.len() as f64
            - evidence.shape_gain(j as u32, &parents, &weights)
    };
    causes.iter().enumerate().map(local).sum()
}

/// All combinations of known or unequal noise variances, with and without shapes.
const KINDS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

#[test]
fn the_score_is_that_of_the_graph_and_no_worse_than_before() {
    for (is_known, is_shaped) in KINDS {
        for seed in 0..5 {
            let case = case(12, 300, seed, is_shaped);
            let evidence = case.evidence(is_known, is_shaped);
            let scores = [0, 10, 40].map(|trials| {
                let found = case.search(&evidence, trials, 7);
                let expected = score_by_hand(&evidence, &found.causes);
                assert!((found.report.score - expected).abs() < 1e-6, "{} {expected}", found.report.score);
                let place = |i: usize| found.order.iter().position(|&j| i == j).unwrap();
                assert!((0..12).all(|j| found.causes[j].iter().all(|&i| place(i) < place(j))));
                found.report.score
            });
            assert!(scores[0] < score_by_hand(&evidence, &vec![vec![]; 12]));
            assert!(scores.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6), "{scores:?}");
        }
    }
}

#[test]
fn small_tables_are_solved_exactly() {
    for (is_known, is_shaped) in KINDS {
        let (mut solved, tables) = (0, 40);
        for seed in 0..tables {
            let case = case(4 + seed as usize % 5, 250, seed, is_shaped);
            let evidence = case.evidence(is_known, is_shaped);
            let found = case.search(&evidence, 1000, seed).report.score;
            let best = exact(&evidence, false, &Interrupt::default()).unwrap().score;
            assert!(found >= best - 1e-6, "{found} {best}");
            solved += u64::from(found < best + 1e-6);
        }
        eprintln!("known {is_known}, shaped {is_shaped}: {solved} of {tables}");
        assert!(solved * 10 >= tables * 9, "known {is_known}, shaped {is_shaped}: {solved} of {tables}");
    }
}

#[test]
fn knowledge_is_respected() {
    for is_shaped in [false, true] {
        for seed in 0..10 {
            let mut case = case(8, 200, seed, is_shaped);
            let tiers = (0..8).map(|i| (i % 3 > 0).then_some(i / 4)).collect();
            case.knowledge = Knowledge::new(&[(7, 6), (3, 0), (2, 7)], &[(1, 2), (0, 1), (5, 4)], tiers).unwrap();
            let evidence = case.evidence(false, is_shaped);
            let found = case.search(&evidence, 200, seed);
            let has = |i: usize, j: usize| found.causes[j].contains(&i);
            assert!(has(7, 6) && has(3, 0) && has(2, 7));
            assert!((0..8).all(|j| found.causes[j].iter().all(|&i| case.knowledge.allows(i as u32, j as u32))));
            assert!((found.report.score - score_by_hand(&evidence, &found.causes)).abs() < 1e-6);
            let best = exact(&evidence, false, &Interrupt::default()).unwrap().score;
            assert!(found.report.score >= best - 1e-6);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for (is_known, is_shaped) in KINDS {
        let case = case(15, 300, 3, is_shaped);
        let evidence = case.evidence(is_known, is_shaped);
        let [one, two] = [(); 2].map(|()| case.search(&evidence, 50, 5));
        assert_eq!((one.order, one.causes), (two.order, two.causes));
        assert_eq!(one.report.score.to_bits(), two.report.score.to_bits());
    }
}

#[test]
fn few_samples_allow_few_parents() {
    let case = case(8, 200, 1, false);
    let score = Score::new(11.0, 0.01, Noise::Unequal).unwrap();
    let evidence = Evidence::new(case.correlation.view(), score, &case.knowledge).unwrap();
    let found = case.search(&evidence, 50, 1);
    assert_eq!(found.causes.iter().map(Vec::len).max(), Some(2));
    assert!((found.report.score - score_by_hand(&evidence, &found.causes)).abs() < 1e-6);
}

#[test]
fn a_search_tells_why_it_ended() {
    let case = case(10, 300, 2, false);
    let evidence = case.evidence(false, false);
    let ended = |trials, patience, time| {
        let budget = Budget { trials, patience, time, seed: 0 };
        let found = search(&evidence, &case.candidates(), &[case.start()], budget, &Interrupt::default()).unwrap();
        (found.report.ended, found.report.trials)
    };
    assert_eq!(ended(10, 100, None), (Ended::OutOfTrials, 10));
    assert_eq!(ended(0, 100, None), (Ended::OutOfTrials, 0));
    assert_eq!(ended(usize::MAX, 20, None).0, Ended::Converged);
    assert_eq!(ended(usize::MAX, usize::MAX, Some(Duration::ZERO)), (Ended::OutOfTime, 0));
    assert_eq!(ended(usize::MAX, usize::MAX, Some(Duration::from_millis(30))).0, Ended::OutOfTime);
}
