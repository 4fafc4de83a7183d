//! The search over orders.

use crate::{BadCall, NAN, calm};
use icid_rs::score::{Noise, Score};
use icid_rs::search::{
    Among, Budget, Evidence, ResampleOptions, Scoring, SearchOptions, Searcher, exact, exact_up_to_scale, search,
};
use icid_rs::{IcidError, Knowledge};
use ndarray::{Array2, ArrayView2, array};
use sprs::CsMat;

fn evidence(correlation: &ArrayView2<f64>, noise: Noise) -> Result<(), IcidError> {
    let knowledge = Knowledge::none(3);
    Evidence::new(*correlation, Score::new(100.0, 5.0, noise)?, &knowledge).map(drop)
}

/// Search among three variables, of which 0 → 1 is required.
fn searched(candidates: &[Vec<u32>], starts: &[Vec<u32>]) -> Result<(), IcidError> {
    let (correlation, knowledge) = (Array2::eye(3), Knowledge::new(&[(0, 1)], &[], vec![None; 3])?);
    let evidence = Evidence::new(correlation.view(), Score::new(100.0, 5.0, Noise::Unequal)?, &knowledge)?;
    search(&evidence, candidates, starts, Budget::for_variables(3), &calm()).map(drop)
}

fn searcher(covariance: &Array2<f64>, inverse: Option<&Array2<f64>>, samples: usize) -> Result<(), IcidError> {
    let (theta, knowledge) = (CsMat::eye(3), Knowledge::none(3));
    Searcher::new(covariance.view(), theta.view(), inverse.map(|i| i.view()), samples, &knowledge).map(drop)
}

/// Use a searcher of three independent variables without an inverse.
fn with_searcher(work: impl Fn(&Searcher) -> Result<(), IcidError>) -> Result<(), IcidError> {
    let (covariance, theta, knowledge) = (Array2::eye(3), CsMat::eye(3), Knowledge::none(3));
    work(&Searcher::new(covariance.view(), theta.view(), None, 100, &knowledge)?)
}

fn with_options(starts: &[Vec<usize>], penalty: f64, noise: Noise) -> Result<(), IcidError> {
    let options = SearchOptions::new(penalty, Scoring::new(noise), Budget::for_variables(3));
    with_searcher(|searcher| searcher.search(starts, &options, &calm()).map(drop))
}

/// Look for the best graph of d independent variables.
fn optimum(d: usize, is_up_to_scale: bool) -> Result<(), IcidError> {
    let (correlation, knowledge) = (Array2::eye(d), Knowledge::none(d));
    let evidence = Evidence::new(correlation.view(), Score::new(100.0, 5.0, Noise::Unequal)?, &knowledge)?;
    let optimum = if is_up_to_scale { exact_up_to_scale } else { exact };
    optimum(&evidence, true, &calm()).map(drop)
}

fn exact_table(scoring: &Scoring) -> Result<(), IcidError> {
    with_searcher(|searcher| searcher.exact_table(scoring, &calm()).map(drop))
}

/// Ask a table of three independent variables for its optimum.
fn optimum_of_table(penalty: f64, noise: Noise) -> Result<(), IcidError> {
    with_searcher(|searcher| {
        let table = searcher.exact_table(&Scoring::new(noise), &calm()).expect("a good table");
        table.optimum(penalty, true, &calm()).map(drop)
    })
}

/// Search one resample of three rows and so many columns.
fn resampled(columns: usize, counts: usize, order: &[usize], penalty: f64) -> Result<(), IcidError> {
    let rows = Array2::from_shape_fn((3, columns), |(i, j)| if i == j { 1.0 } else { 0.0 });
    let (counts, budget) = (Array2::ones((1, counts)), Budget::for_variables(3));
    with_searcher(|searcher| {
        let options = ResampleOptions::new(order, penalty, budget);
        searcher.search_resamples(rows.view(), counts.view(), &options, &calm()).map(drop)
    })
}

pub(crate) fn calls() -> Vec<BadCall> {
    use IcidError::{
        Backwards, Candidates, Empty, Equal, Length, Missing as MissingEdge, NoInverse, NoStart, NotByRows, NotFinite,
        NotSquare, OneSided, Order, Parameter, Shape as WrongShape,
    };
    vec![
        bad!("evidence: NaN", evidence(&array![[1.0, NAN, 0.0], [NAN, 1.0, 0.0], [0.0, 0.0, 1.0]].view(), Noise::Unequal)
            => NotFinite { .. }),
        bad!("evidence: by columns",
            evidence(&array![[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]].t(), Noise::Unequal) => NotByRows { .. }),
        bad!("evidence: not square", evidence(&Array2::ones((3, 2)).view(), Noise::Unequal) => NotSquare { .. }),
        bad!("evidence: a covariance", evidence(&(Array2::eye(3) * 2.0).view(), Noise::Unequal) => Parameter { .. }),
        bad!("evidence: above 1", {
            evidence(&array![[1.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]].view(), Noise::Unequal)
        } => Parameter { .. }),
        bad!("evidence: short variances", evidence(&Array2::eye(3).view(), Noise::Known(&[1.0])) => Length { .. }),
        bad!("evidence: equal variances", evidence(&Array2::eye(3).view(), Noise::Equal) => Equal),
        bad!("evidence: values of no rows", {
            let (eye, knowledge) = (Array2::eye(3), Knowledge::none(3));
            let evidence = Evidence::new(eye.view(), Score::new(9.0, 1.0, Noise::Unequal)?, &knowledge)?;
            evidence.with_values(Array2::zeros((3, 0)).view()).map(drop)
        } => Empty { .. }),
        bad!("resamples: columns", resampled(2, 3, &[0, 1, 2], 5.0) => Length { .. }),
        bad!("resamples: short counts", resampled(3, 2, &[0, 1, 2], 5.0) => Length { .. }),
        bad!("resamples: short order", resampled(3, 3, &[0, 1], 5.0) => Length { .. }),
        bad!("resamples: NaN penalty", resampled(3, 3, &[0, 1, 2], NAN) => Parameter { .. }),
        bad!("search: no start", searched(&[vec![1], vec![0], vec![]], &[]) => NoStart),
        bad!("search: short start", searched(&[vec![1], vec![0], vec![]], &[vec![0, 1]]) => Length { .. }),
        bad!("search: repeated start", searched(&[vec![1], vec![0], vec![]], &[vec![0, 1, 1]]) => Order { .. }),
        bad!("search: start against a required edge",
            searched(&[vec![1], vec![0], vec![]], &[vec![1, 0, 2]]) => Backwards { .. }),
        bad!("search: required edge is no candidate",
            searched(&[vec![], vec![], vec![]], &[vec![0, 1, 2]]) => MissingEdge { .. }),
        bad!("search: one-sided candidates", searched(&[vec![1, 2], vec![0], vec![]], &[vec![0, 1, 2]]) => OneSided { .. }),
        bad!("search: unknown candidate", searched(&[vec![1, 9], vec![0], vec![]], &[vec![0, 1, 2]]) => Candidates { .. }),
        bad!("searcher: not square", searcher(&Array2::ones((3, 2)), None, 100) => NotSquare { .. }),
        bad!("searcher: empty", searcher(&Array2::ones((0, 0)), None, 100) => Empty { .. }),
        bad!("searcher: theta of other variables", searcher(&Array2::eye(2), None, 100) => WrongShape { .. }),
        bad!("searcher: inverse of other variables",
            searcher(&Array2::eye(3), Some(&Array2::eye(2)), 100) => WrongShape { .. }),
        bad!("searcher: no samples", searcher(&Array2::eye(3), None, 0) => Parameter { .. }),
        bad!("along: no inverse", with_searcher(|searcher| {
            searcher.along(&[0, 1, 2], Among::Predecessors, 1.0, Noise::Equal, &calm()).map(drop)
        }) => NoInverse { .. }),
        bad!("best_order: short order", with_searcher(|searcher| {
            searcher.best_order(&[0, 1], 1.0, Noise::Equal, &calm()).map(drop)
        }) => Length { .. }),
        bad!("searcher.search: equal variances", with_options(&[vec![0, 1, 2]], 1.0, Noise::Equal) => Equal),
        bad!("searcher.search: short start", with_options(&[vec![0]], 1.0, Noise::Unequal) => Length { .. }),
        bad!("searcher.search: penalty", with_options(&[vec![0, 1, 2]], NAN, Noise::Unequal) => Parameter { .. }),
        bad!("searcher.search: short variances", with_options(&[vec![0, 1, 2]], 1.0, Noise::Known(&[1.0])) => Length { .. }),
        bad!("exact: too many variables", optimum(40, false) => Parameter { value: 40.0, .. }),
        bad!("exact: no variables", optimum(0, false) => Empty { .. }),
        bad!("exact_up_to_scale: unequal variances", optimum(3, true) => Equal),
        bad!("exact_table: short variances", exact_table(&Scoring::new(Noise::Known(&[1.0]))) => Length { .. }),
        bad!("exact_table: values of other variables", {
            exact_table(&Scoring::new(Noise::Unequal).with_values(Some(Array2::ones((2, 9)).view())))
        } => Length { .. }),
        bad!("exact_table.optimum: NaN", optimum_of_table(NAN, Noise::Unequal) => Parameter { .. }),
        bad!("exact_table.optimum: negative", optimum_of_table(-1.0, Noise::Unequal) => Parameter { value: -1.0, .. }),
        bad!("exact_table.optimum: infinite", optimum_of_table(f64::INFINITY, Noise::Unequal) => Parameter { .. }),
        bad!("exact_table.optimum: NaN, equal variances", optimum_of_table(NAN, Noise::Equal) => Parameter { .. }),
    ]
}
