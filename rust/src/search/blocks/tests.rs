//! Regressions and searches of blocks, compared with determinants and with searches of columns.

use super::whitening::{Layout, whitened};
use crate::algebra::hash::Random;
use crate::algebra::small::determinant;
use crate::knowledge::Knowledge;
use crate::score::{Noise, Score};
use crate::search::columns::Columns;
use crate::search::fit::Fit;
use crate::search::kernel::{Block, Column};
use crate::search::{Budget, Evidence, exact, search, search_with};
use crate::{Blocks, Interrupt};
use ndarray::Array2;

const SAMPLES: f64 = 400.0;

/// A covariance of p columns that depend on each other.
fn covariance(p: usize, seed: u64) -> Array2<f64> {
    let mut random = Random::new(seed);
    let mut number = || random.below(2001) as f64 / 1000.0 - 1.0;
    let mut rows = Array2::from_shape_fn((p, 3 * p), |_| number());
    for i in 1..p {
        let j = (number().abs() * i as f64) as usize % i;
        let earlier = rows.row(j).to_owned();
        rows.row_mut(i).scaled_add(0.8 * number(), &earlier);
    }
    rows.dot(&rows.t()) / (3 * p) as f64
}

fn layout(widths: &[usize]) -> Layout {
    Layout { blocks: Blocks::of_widths(widths.iter().copied()), is_category: vec![false; widths.len()] }
}

struct Case {
    layout: Layout,
    correlation: Array2<f64>,
    knowledge: Knowledge,
}

impl Case {
    fn new(widths: &[usize], seed: u64) -> Self {
        let layout = layout(widths);
        let p = layout.blocks.columns();
        let columns: Vec<u32> = (0..p as u32).collect();
        let none = vec![1.0; widths.len()];
        let (correlation, _) = whitened(covariance(p, seed).view(), &layout, &columns, &none).unwrap();
        Self { layout, correlation, knowledge: Knowledge::none(widths.len()) }
    }

    fn evidence(&self) -> Evidence<'_> {
        let score = Score::new(SAMPLES, 12.0, Noise::Unequal).unwrap();
        Evidence::of_blocks(self.correlation.view(), &self.layout.blocks, score, &self.knowledge).unwrap()
    }

    /// The determinant of the correlations of the columns of some variables.
    fn determinant(&self, variables: &[u32]) -> f64 {
        let columns: Vec<usize> = variables.iter().flat_map(|&i| self.layout.blocks.range(i as usize)).collect();
        let mut part: Vec<f64> =
            columns.iter().flat_map(|&a| columns.iter().map(move |&b| (a, b))).map(|at| self.correlation[at]).collect();
        determinant(&mut part, columns.len(), 0.0).unwrap()
    }

    fn left(&self, variable: u32, parents: &[u32]) -> f64 {
        self.determinant(&[parents, &[variable]].concat()) / self.determinant(parents)
    }
}

#[test]
fn regressions_follow_determinants_through_updates() {
    let case = Case::new(&[2, 1, 3, 1, 2, 4, 1], 3);
    let (evidence, columns, mut random) = (case.evidence(), Columns::all(7), Random::new(5));
    for variable in 0..7 {
        let mut fit = Fit::<Block>::default();
        fit.reset(&evidence, &columns, variable);
        for _ in 0..60 {
            let other = random.below(7) as u32;
            match fit.parents.iter().position(|&parent| parent == other) {
                Some(number) => fit.remove(&evidence, &columns, number),
                None if other != variable => fit.take(&evidence, &columns, other),
                None => continue,
            }
            let left = case.left(variable, &fit.parents);
            assert!((fit.left - left).abs() < 1e-10, "{} {left}", fit.left);
            let (mut weights, mut losses) = (Vec::new(), Vec::new());
            fit.weigh(&mut weights, &mut losses);
            for (number, loss) in losses.iter().enumerate() {
                let mut fewer = fit.parents.clone();
                fewer.remove(number);
                assert!((left + loss - case.left(variable, &fewer)).abs() < 1e-10);
                // Weights without a parent, and with it again.
                let mut changed = weights.clone();
                fit.weigh_without(number, &mut changed);
                let mut smaller = fit.clone();
                smaller.remove(&evidence, &columns, number);
                let (mut expected, mut unused) = (Vec::new(), Vec::new());
                smaller.weigh(&mut expected, &mut unused);
                assert!(changed.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
                let dropped = fit.parents[number];
                smaller.weigh_with(dropped as usize, &mut expected);
                smaller.take(&evidence, &columns, dropped);
                smaller.weigh(&mut weights, &mut unused);
                assert!(weights.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
                fit.weigh(&mut weights, &mut unused);
            }
            for new in (0..7).filter(|new| *new != variable && !fit.has(*new)) {
                let with = case.left(variable, &[&fit.parents[..], &[new]].concat());
                assert!((left - fit.share(new as usize).unwrap() - with).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn covered_lists_give_what_all_columns_give() {
    let case = Case::new(&[2, 1, 3, 1, 2], 4);
    let evidence = case.evidence();
    let lists = [vec![1, 2], vec![0, 2], vec![0, 1, 4], vec![], vec![2]];
    let (some, all) = (Columns::lists(&lists), Columns::all(5));
    let mut fits = [Fit::<Block>::default(), Fit::default()];
    for (fit, columns) in fits.iter_mut().zip([&some, &all]) {
        fit.reset(&evidence, columns, 2);
        for parent in [4, 0] {
            fit.take(&evidence, columns, parent);
        }
        fit.remove(&evidence, columns, 0);
    }
    let [one, two] = fits;
    assert_eq!(one.left, two.left);
    assert_eq!(one.share_of(&some, 1), two.share_of(&all, 1));
    let mut shares = Vec::new();
    one.visit_shares(&evidence, |_, share| shares.push(share));
    assert_eq!(shares.len(), 5);
    // Of what a parent explains the part that other parents explain of it is a part.
    assert!(shares[4] <= two.share(4).unwrap() + 1e-12 && shares[0].abs() < 1e-12);
}

#[test]
fn blocks_of_one_column_are_columns() {
    let case = Case::new(&[1; 12], 6);
    let blocks = case.evidence();
    let columns = Evidence::new(case.correlation.view(), blocks.score, &case.knowledge).unwrap();
    let candidates: Vec<Vec<u32>> = (0..12).map(|i| (0..12).filter(|&j| j != i).collect()).collect();
    let starts = [(0..12).collect::<Vec<u32>>()];
    let budget = Budget { trials: 300, patience: 100, time: None, seed: 2 };
    let interrupt = Interrupt::default();
    let one = search_with::<Column>(&columns, &candidates, &starts, budget, &interrupt).unwrap();
    let two = search_with::<Block>(&blocks, &candidates, &starts, budget, &interrupt).unwrap();
    assert!((one.report.score - two.report.score).abs() < 1e-6);
    assert_eq!((one.order, one.causes, one.report.trials), (two.order, two.causes, two.report.trials));
    let [one, two] = [&columns, &blocks].map(|evidence| exact(evidence, true, &interrupt).unwrap());
    assert!((one.score - two.score).abs() < 1e-9);
    assert_eq!((one.order, one.causes), (two.order, two.causes));
}

#[test]
fn a_search_reaches_the_exact_optimum() {
    for seed in 0..4 {
        let widths: Vec<usize> = (0..9).map(|i| 1 + (i + seed as usize) % 4).collect();
        let case = Case::new(&widths, seed);
        let candidates: Vec<Vec<u32>> = (0..9).map(|i| (0..9).filter(|&j| j != i).collect()).collect();
        let budget = Budget { trials: 500, patience: 300, time: None, seed };
        let (evidence, interrupt) = (case.evidence(), Interrupt::default());
        let best = exact(&evidence, false, &interrupt).unwrap();
        let found = search(&evidence, &candidates, &[(0..9).collect()], budget, &interrupt).unwrap();
        let by_hand = |(j, causes): (usize, &Vec<usize>)| {
            let causes: Vec<u32> = causes.iter().map(|&i| i as u32).collect();
            let prices: f64 = causes.iter().map(|&i| evidence.edge_price(j as u32, i)).sum();
            SAMPLES * case.left(j as u32, &causes).ln() + prices
        };
        let score: f64 = best.causes.iter().enumerate().map(by_hand).sum();
        assert!((score - best.score).abs() < 1e-6 && best.causes.iter().any(|causes| !causes.is_empty()));
        assert!((found.report.score - best.score).abs() < 1e-6, "{} {}", found.report.score, best.score);
    }
}
