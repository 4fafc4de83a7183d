//! Scores, statistics of residuals, correlations and tests of them.

use crate::{BadCall, NAN, calm, graph};
use icid_rs::measurement::{Layer, settle};
use icid_rs::score::{Noise, Score, Shape, null_inflation, shape_statistics};
use icid_rs::support::{correlation_matrix, discoveries};
use icid_rs::{IcidError, LinearSem};
use ndarray::{Array1, Array2, array};
use sprs::CsMat;

fn shaped(rows: &Array2<f64>, location: &[f64], b: &CsMat<f64>) -> Result<Vec<f64>, IcidError> {
    shape_statistics(Shape::default(), rows.view(), location, b.view(), &calm())
}

/// Fit so many hidden causes to two variables.
fn settled(causes: usize, errors: usize) -> Result<(), IcidError> {
    let (eye, sem) = (Array2::eye(2), LinearSem::new(CsMat::zero((2, 2)), vec![0, 1], vec![1.0, 1.0])?);
    let layer = Layer { loadings: Array2::from_elem((2, causes), 0.1), errors: Array1::zeros(errors) };
    settle(eye.view(), Some(eye.view()), &sem, &layer, 2, &calm()).map(drop)
}

pub(crate) fn calls() -> Vec<BadCall> {
    use IcidError::{
        Constant, Diagonal, Empty, HiddenCauses, Length, NotFinite, NotSquare, Parameter, Positive,
        Shape as WrongShape, Singular, Size, Variance,
    };
    vec![
        bad!("settle: as many hidden causes as variables", settled(2, 2) => HiddenCauses { given: 2, variables: 2 }),
        bad!("settle: more hidden causes than variables", settled(9, 2) => HiddenCauses { .. }),
        bad!("settle: short errors", settled(1, 1) => Size { .. }),
        bad!("score: no samples", Score::new(0.0, 1.0, Noise::Equal) => Parameter { name: "samples", .. }),
        bad!("score: negative penalty", Score::new(10.0, -1.0, Noise::Equal) => Parameter { name: "penalty", .. }),
        bad!("score: zero variance", Score::new(10.0, 1.0, Noise::Known(&[0.0])) => Variance { .. }),
        bad!("score: field changed for the worse", {
            let mut score = Score::new(10.0, 1.0, Noise::Unequal)?;
            score.samples = NAN;
            score.total(&[1.0], 0)
        } => Parameter { .. }),
        bad!("total: short variances", Score::new(10.0, 1.0, Noise::Known(&[1.0]))?.total(&[1.0, 1.0], 0) => Length { .. }),
        bad!("total: nothing", Score::new(10.0, 1.0, Noise::Equal)?.total(&[], 0) => Empty { .. }),
        bad!("total: negative", Score::new(10.0, 1.0, Noise::Equal)?.total(&[1.0, -1.0], 0) => Positive { index: 1, .. }),
        bad!("null_inflation: size", null_inflation(graph(2, &[]).view(), Array2::eye(3).view(), 9.0) => WrongShape { .. }),
        bad!("null_inflation: no samples", null_inflation(graph(2, &[]).view(), Array2::eye(2).view(), 0.0) => Parameter { .. }),
        bad!("null_inflation: NaN variance",
            null_inflation(graph(2, &[]).view(), array![[1.0, 0.0], [0.0, NAN]].view(), 9.0) => Positive { .. }),
        bad!("null_inflation: NaN",
            null_inflation(graph(2, &[]).view(), array![[1.0, NAN], [NAN, 1.0]].view(), 9.0) => NotFinite { .. }),
        bad!("null_inflation: nothing unexplained", {
            null_inflation(graph(2, &[(0, 1)]).view(), array![[4.0, 2.0], [2.0, 1.0]].view(), 9.0)
        } => Singular { index: 1, .. }),
        bad!("shape_statistics: no rows", shaped(&Array2::zeros((0, 2)), &[0.0; 2], &graph(2, &[])) => Empty { .. }),
        bad!("shape_statistics: location", shaped(&Array2::ones((4, 2)), &[0.0; 3], &graph(2, &[])) => Size { .. }),
        bad!("shape_statistics: graph", shaped(&Array2::ones((4, 2)), &[0.0; 2], &graph(3, &[])) => WrongShape { .. }),
        bad!("shape_statistics: NaN",
            shaped(&array![[1.0, 0.0], [0.0, NAN]], &[0.0; 2], &graph(2, &[])) => NotFinite { row: 1, column: 1, .. }),
        bad!("shape_statistics: constant", shaped(&Array2::ones((4, 2)), &[1.0; 2], &graph(2, &[])) => Constant { .. }),
        bad!("correlation_matrix: not square", correlation_matrix(Array2::ones((2, 3)).view()) => NotSquare { .. }),
        bad!("correlation_matrix: zero variance", correlation_matrix(Array2::zeros((2, 2)).view()) => Positive { .. }),
        bad!("correlation_matrix: NaN",
            correlation_matrix(array![[1.0, NAN], [NAN, 1.0]].view()) => NotFinite { .. }),
        bad!("discoveries: not square", discoveries(Array2::ones((2, 3)).view(), 10, 0.05) => NotSquare { .. }),
        bad!("discoveries: diagonal", discoveries(Array2::zeros((2, 2)).view(), 10, 0.05) => Diagonal { .. }),
        bad!("discoveries: NaN", discoveries(array![[1.0, NAN], [NAN, 1.0]].view(), 10, 0.05) => NotFinite { .. }),
        bad!("discoveries: alpha", discoveries(Array2::eye(2).view(), 10, 1.0) => Parameter { name: "alpha", .. }),
        bad!("discoveries: degrees of freedom", discoveries(Array2::eye(2).view(), 0, 0.05) => Parameter { .. }),
    ]
}
