//! Moments of rows, and neighbourhoods where there are few of them.

use crate::{BadCall, NAN, calm, graph};
use icid_rs::IcidError;
use icid_rs::Knowledge;
use icid_rs::moments::{Missing, Moments};
use icid_rs::neighbours::{
    Standardised, Test, correlations, neighbourhood_precision, refit, scaled_lasso, select_neighbours, standardise,
    stepwise,
};
use icid_rs::search::{WideSearcher, WideTable, wide_precision};
use ndarray::{Array2, array};
use sprs::CsMat;

/// Three orthogonal variables in eight samples.
fn values() -> Array2<f64> {
    let signs = array![
        [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0],
        [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0],
        [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
    ];
    standardise(signs).unwrap().0
}

fn with_values<T>(work: impl Fn(Standardised, Test) -> Result<T, IcidError>) -> Result<T, IcidError> {
    let values = values();
    work(Standardised::new(&values.view())?, Test::new(8, 5.0)?)
}

fn updated(chunk: &Array2<f64>, weights: Option<&[f64]>) -> Result<(), IcidError> {
    Moments::new(2, true)?.update(&chunk.view(), weights, Missing::Refuse, None, &calm()).map(drop)
}

fn summed(weight: [f64; 2], mean: Vec<f64>, second: &Array2<f64>) -> Result<Moments, IcidError> {
    Moments::from_sums(5, weight, vec![0.0; 2], mean, &second.view(), None)
}

pub(crate) fn calls() -> Vec<BadCall> {
    use IcidError::{
        Constant, Empty, Length, Negative, NotByRows, NotFinite, NotStandardised, OneSided, Order, Parameter, Positive,
        Samples, Shape as WrongShape, Size, Unlike,
    };
    vec![
        bad!("moments: no columns", Moments::new(0, false) => Empty { .. }),
        bad!("update: width", updated(&Array2::ones((4, 3)), None) => Size { .. }),
        bad!("update: short weights", updated(&Array2::ones((4, 2)), Some(&[1.0; 3])) => Size { .. }),
        bad!("update: negative weight", updated(&Array2::ones((2, 2)), Some(&[1.0, -1.0])) => Negative { index: 1, .. }),
        bad!("update: NaN weight", updated(&Array2::ones((2, 2)), Some(&[NAN, 1.0])) => Negative { index: 0, .. }),
        bad!("update: NaN", updated(&array![[1.0, 2.0], [NAN, 1.0]], None) => NotFinite { row: 1, column: 0, .. }),
        bad!("from_sums: size", summed([5.0, 5.0], vec![0.0; 3], &Array2::eye(2)) => Size { .. }),
        bad!("from_sums: weight", summed([-5.0, 5.0], vec![0.0; 2], &Array2::eye(2)) => Negative { .. }),
        bad!("from_sums: rows of no weight", summed([0.0, 0.0], vec![0.0; 2], &Array2::eye(2)) => Positive { .. }),
        bad!("from_sums: NaN mean", summed([5.0, 5.0], vec![0.0, NAN], &Array2::eye(2)) => NotFinite { .. }),
        bad!("from_sums: NaN sums", summed([5.0, 5.0], vec![0.0; 2], &Array2::from_elem((2, 2), NAN)) => NotFinite { .. }),
        bad!("merge: columns", Moments::new(2, false)?.merge(&Moments::new(3, false)?) => Size { .. }),
        bad!("merge: third moments", Moments::new(2, false)?.merge(&Moments::new(2, true)?) => Unlike),
        bad!("covariance: no rows", Moments::new(2, false)?.covariance() => Empty { .. }),
        bad!("standardise: nothing", standardise(Array2::zeros((0, 3))) => Empty { .. }),
        bad!("standardise: constant", standardise(Array2::ones((2, 3))) => Constant { .. }),
        bad!("standardise: NaN", standardise(array![[1.0, NAN]]) => NotFinite { .. }),
        bad!("standardised: by columns", Standardised::new(&values().t()) => NotByRows { .. }),
        bad!("standardised: raw rows", Standardised::new(&Array2::ones((2, 3)).view()) => NotStandardised { .. }),
        bad!("test: few samples", Test::new(4, 1.0) => Samples { .. }),
        bad!("test: penalty", Test::new(40, NAN) => Parameter { .. }),
        bad!("correlations: cut", with_values(|data, _| correlations(data, NAN, &calm())) => Parameter { .. }),
        bad!("scaled_lasso: level", with_values(|data, _| scaled_lasso(data, None, 0.0, &calm())) => Parameter { .. }),
        bad!("scaled_lasso: correlations of other variables", with_values(|data, _| {
            scaled_lasso(data, Some(CsMat::zero((2, 2)).view()), 0.1, &calm())
        }) => WrongShape { .. }),
        bad!("select_neighbours: few samples", with_values(|data, _| select_neighbours(data, 3, None, &calm()))
            => Samples { .. }),
        bad!("stepwise: start of other variables", with_values(|data, test| {
            stepwise(data, None, CsMat::zero((2, 2)).view(), None, test, &calm())
        }) => WrongShape { .. }),
        bad!("stepwise: short places", with_values(|data, test| {
            stepwise(data, None, CsMat::zero((3, 3)).view(), Some(&[0, 1]), test, &calm())
        }) => Size { .. }),
        bad!("stepwise: repeated places", with_values(|data, test| {
            stepwise(data, None, CsMat::zero((3, 3)).view(), Some(&[0, 1, 1]), test, &calm())
        }) => Order { .. }),
        bad!("refit: support of other variables", with_values(|data, _| {
            refit(data, CsMat::zero((2, 2)).view(), 0.1, &calm())
        }) => WrongShape { .. }),
        bad!("refit: one-sided support", with_values(|data, _| refit(data, graph(3, &[(0, 1)]).view(), 0.1, &calm()))
            => OneSided { .. }),
        bad!("refit: shrinkage", with_values(|data, _| refit(data, CsMat::zero((3, 3)).view(), 1.5, &calm()))
            => Parameter { .. }),
        bad!("neighbourhood_precision: short deviations", with_values(|data, _| {
            neighbourhood_precision(data, &[1.0], 8, &calm())
        }) => Size { .. }),
        bad!("wide_precision: few samples", with_values(|data, _| wide_precision(data, &[1.0; 3], 4, &calm()))
            => Samples { .. }),
        bad!("wide table: correlations of other variables", with_values(|data, _| {
            let (other, none) = (CsMat::zero((2, 2)), CsMat::zero((3, 3)));
            WideTable::new(data, other.view(), none.view(), 8, &calm()).map(drop)
        }) => WrongShape { .. }),
        bad!("wide searcher: short variances", with_values(|data, _| {
            let none = CsMat::zero((3, 3));
            let table = WideTable::new(data, none.view(), none.view(), 8, &calm()).unwrap();
            WideSearcher::new(data, &[1.0], &table, 8, &Knowledge::none(3)).map(drop)
        }) => Length { .. }),
        bad!("wide_precision: zero variance", with_values(|data, _| wide_precision(data, &[0.0; 3], 8, &calm()))
            => Positive { .. }),
    ]
}
