//! Background knowledge, and the decomposition.

use crate::{BadCall, NAN, calm, sparse};
use icid_rs::model::{AugmentedLagrangian, KernelChoice};
use icid_rs::pattern::TwoHop;
use icid_rs::solver::Monitor;
use icid_rs::{IcidError, Knowledge, Problem, Settings, decompose};
use ndarray::{Array2, array};
use sprs::CsMat;

fn problem(theta: &Array2<f64>, noise_variances: Option<&[f64]>) -> Result<Problem, IcidError> {
    Problem::new(sparse(theta).view(), noise_variances)
}

/// The problem of three variables that have nothing to do with one another.
fn plain() -> Problem {
    problem(&Array2::eye(3), None).unwrap()
}

fn solve(settings: &Settings) -> Result<(), IcidError> {
    decompose(&plain(), settings, &Monitor::default()).map(drop)
}

pub(crate) fn calls() -> Vec<BadCall> {
    [background(), decompositions()].concat()
}

fn background() -> Vec<BadCall> {
    use IcidError::{Contradiction, Cycle, Edge, Length, Order};
    vec![
        bad!("knowledge: required cycle", Knowledge::new(&[(0, 1), (1, 2), (2, 0)], &[], vec![None; 3]) => Cycle { .. }),
        bad!("knowledge: required both ways", Knowledge::new(&[(0, 1), (1, 0)], &[], vec![None; 3]) => Cycle { .. }),
        bad!("knowledge: own cause", Knowledge::new(&[(1, 1)], &[], vec![None; 3]) => Edge { what: "required", .. }),
        bad!("knowledge: cause out of range", Knowledge::new(&[(3, 1)], &[], vec![None; 3]) => Edge { cause: 3, .. }),
        bad!("knowledge: effect out of range", Knowledge::new(&[], &[(1, 9)], vec![None; 3]) => Edge { effect: 9, .. }),
        bad!("knowledge: fewer tiers than variables", Knowledge::new(&[(0, 2)], &[], vec![Some(0); 2]) => Edge { .. }),
        bad!("knowledge: required and forbidden",
            Knowledge::new(&[(0, 1)], &[(0, 1)], vec![None; 3]) => Contradiction { cause: 0, effect: 1 }),
        bad!("knowledge: required against tiers",
            Knowledge::new(&[(0, 1)], &[], vec![Some(1), Some(0), None]) => Contradiction { .. }),
        bad!("arrange: short order", Knowledge::none(3).arrange(&[0, 1]) => Length { .. }),
        bad!("arrange: repeated variable", Knowledge::none(3).arrange(&[0, 1, 1]) => Order { index: 1, .. }),
        bad!("arrange: unknown variable", Knowledge::none(3).arrange(&[0, 1, 7]) => Order { index: 7, .. }),
    ]
}

fn decompositions() -> Vec<BadCall> {
    use IcidError::{Diagonal, Empty, Length, NotFinite, NotSquare, NotSymmetric, Parameter, Shape, Size, Variance};
    vec![
        bad!("problem: empty", problem(&Array2::zeros((0, 0)), None) => Empty { .. }),
        bad!("problem: not square", problem(&Array2::ones((2, 3)), None) => NotSquare { .. }),
        bad!("problem: NaN", problem(&array![[1.0, NAN], [NAN, 1.0]], None) => NotFinite { row: 0, column: 1, .. }),
        bad!("problem: asymmetric", problem(&array![[1.0, 0.5], [0.1, 1.0]], None) => NotSymmetric { .. }),
        bad!("problem: zero on the diagonal", problem(&array![[1.0, 0.0], [0.0, 0.0]], None) => Diagonal { index: 1, .. }),
        bad!("problem: short variances", problem(&Array2::eye(2), Some(&[1.0])) => Length { .. }),
        bad!("problem: negative variance", problem(&Array2::eye(2), Some(&[1.0, -1.0])) => Variance { index: 1, .. }),
        bad!("problem: NaN variance", problem(&Array2::eye(2), Some(&[NAN, 1.0])) => Variance { index: 0, .. }),
        bad!("with_skewness: size", plain().with_skewness(CsMat::eye(2).view(), 1.0) => Length { .. }),
        bad!("with_skewness: negative weight", plain().with_skewness(CsMat::eye(3).view(), -1.0) => Parameter { .. }),
        bad!("with_forbidden: shape", plain().with_forbidden(CsMat::zero((3, 2)).view()) => NotSquare { .. }),
        bad!("gather: shape", plain().gather(CsMat::eye(4).view()) => Shape { .. }),
        bad!("to_matrix: length", plain().to_matrix(&[1.0]) => Size { .. }),
        bad!("decompose: l1_weight", solve(&Settings { l1_weight: 0.0, ..Settings::default() }) => Parameter { .. }),
        bad!("decompose: tol", solve(&Settings { tol: NAN, ..Settings::default() }) => Parameter { name: "tol", .. }),
        bad!("decompose: fista_tol", solve(&Settings { fista_tol: -1.0, ..Settings::default() }) => Parameter { .. }),
        bad!("decompose: no round", solve(&Settings { max_alm_iter: 0, ..Settings::default() }) => Parameter { .. }),
        bad!("decompose: no iteration", solve(&Settings { max_fista_iter: 0, ..Settings::default() }) => Parameter { .. }),
        bad!("augmented Lagrangian: rho",
            AugmentedLagrangian::new(&plain(), NAN, KernelChoice::Auto, &calm()) => Parameter { name: "rho", .. }),
        bad!("two-hop pattern: interrupted", {
            let interrupt = calm();
            interrupt.raise();
            TwoHop::new(plain().support(), &interrupt)
        } => IcidError::Interrupted),
    ]
}
