//! Elimination, regression along orders, equivalence classes and models.

use crate::{BadCall, NAN, calm, graph, sparse};
use icid_rs::order::{
    Regression, Rule, Theta, eliminate, eliminate_dense, eliminate_sparse, equivalence_class, heaviest_acyclic,
    regress_along, regress_within,
};
use icid_rs::score::{Noise, Score};
use icid_rs::{IcidError, Knowledge, LinearSem};
use ndarray::{Array2, array};
use sprs::CsMat;

const SMALLEST: Rule = Rule::SmallestPivot { noise_variances: None };

fn indefinite() -> Array2<f64> {
    array![[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]]
}

/// Eliminate by the dense and by the sparse arithmetic, and by whichever is faster: all must fail the same way.
fn eliminated(theta: &Array2<f64>, rule: Rule, drop: f64) -> Result<(), IcidError> {
    let results = [
        eliminate_dense(&theta.view(), rule, drop, &calm()),
        eliminate_sparse(sparse(theta).view(), rule, drop, &calm()),
        eliminate(Theta::Dense(theta.view()), rule, drop, &calm()),
        eliminate(Theta::Sparse(sparse(theta).view()), rule, drop, &calm()),
    ];
    let kinds: Vec<_> = results.iter().map(|r| r.as_ref().err().map(std::mem::discriminant)).collect();
    assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{results:?}");
    results.into_iter().try_for_each(|result| result.map(std::mem::drop))
}

/// Fit a graph along an order inside a full pattern.
fn fitted(covariance: &Array2<f64>, order: &[usize], knowledge: &Knowledge) -> Result<(), IcidError> {
    let score = Score::new(100.0, 5.0, Noise::Equal)?;
    let data = Regression::new(covariance.view(), score, knowledge)?;
    let full = sparse(&Array2::ones((3, 3)));
    regress_within(&data, order, full.view(), &calm()).map(drop)
}

/// As [`fitted`], with candidates from Θ.
fn fitted_along(theta: &Array2<f64>, rule: Rule, knowledge: &Knowledge) -> Result<(), IcidError> {
    let covariance = Array2::eye(3);
    let data = Regression::new(covariance.view(), Score::new(100.0, 5.0, Noise::Equal)?, knowledge)?;
    regress_along(&data, &theta.view(), rule, &calm()).map(drop)
}

pub(crate) fn calls() -> Vec<BadCall> {
    use IcidError::{
        Backwards, Diagonal, Empty, Length, NotFinite, NotSquare, NotSymmetric, Order, Parameter, Positive, Shape,
        Singular, Size, Variance,
    };
    vec![
        bad!("eliminate: empty", eliminated(&Array2::zeros((0, 0)), SMALLEST, 0.0) => Empty { .. }),
        bad!("eliminate: not square", eliminated(&Array2::ones((2, 3)), SMALLEST, 0.0) => NotSquare { .. }),
        bad!("eliminate: asymmetric",
            eliminated(&array![[1.0, 0.5], [0.1, 1.0]], SMALLEST, 0.0) => NotSymmetric { .. }),
        bad!("eliminate: indefinite", eliminated(&indefinite(), SMALLEST, 0.0) => Singular { .. }),
        bad!("eliminate: indefinite, along an order", eliminated(&indefinite(), Rule::Along(&[0, 1, 2]), 0.0) => Singular { .. }),
        bad!("eliminate: NaN", eliminated(&array![[1.0, NAN], [NAN, 1.0]], SMALLEST, 0.0) => NotFinite { .. }),
        bad!("eliminate: negative diagonal", eliminated(&array![[-1.0]], SMALLEST, 0.0) => Diagonal { .. }),
        bad!("eliminate: negative drop", eliminated(&Array2::eye(2), SMALLEST, -0.1) => Parameter { name: "drop", .. }),
        bad!("eliminate: NaN drop", eliminated(&Array2::eye(2), SMALLEST, NAN) => Parameter { name: "drop", .. }),
        bad!("eliminate: short order", eliminated(&Array2::eye(3), Rule::Along(&[0, 1]), 0.0) => Length { .. }),
        bad!("eliminate: repeated order", eliminated(&Array2::eye(2), Rule::Along(&[1, 1]), 0.0) => Order { .. }),
        bad!("eliminate: short variances", {
            eliminated(&Array2::eye(2), Rule::SmallestPivot { noise_variances: Some(&[1.0]) }, 0.0)
        } => Length { .. }),
        bad!("eliminate: zero variance", {
            eliminated(&Array2::eye(2), Rule::SmallestPivot { noise_variances: Some(&[1.0, 0.0]) }, 0.0)
        } => Variance { index: 1, .. }),
        bad!("eliminate: knowledge of other variables", {
            let knowledge = Knowledge::new(&[(0, 1)], &[], vec![None; 2])?;
            eliminated(&Array2::eye(3), Rule::Respecting { noise_variances: None, knowledge: &knowledge }, 0.0)
        } => Length { what: "knowledge", .. }),
        bad!("equivalence_class: cycle",
            equivalence_class(graph(2, &[(0, 1), (1, 0)]).view(), &[0, 1]) => Backwards { .. }),
        bad!("equivalence_class: order against an edge",
            equivalence_class(graph(2, &[(0, 1)]).view(), &[1, 0]) => Backwards { cause: 0, effect: 1 }),
        bad!("equivalence_class: short order", equivalence_class(graph(2, &[]).view(), &[0]) => Length { .. }),
        bad!("equivalence_class: repeated order", equivalence_class(graph(2, &[]).view(), &[0, 0]) => Order { .. }),
        bad!("equivalence_class: not square", equivalence_class(CsMat::zero((2, 3)).view(), &[0, 1]) => NotSquare { .. }),
        bad!("equivalence_class: NaN",
            equivalence_class(graph(2, &[(0, 1)]).map(|_| NAN).view(), &[0, 1]) => NotFinite { .. }),
        bad!("heaviest_acyclic: not square", heaviest_acyclic(CsMat::zero((2, 3)).view()) => NotSquare { .. }),
        bad!("heaviest_acyclic: NaN", heaviest_acyclic(graph(2, &[(0, 1)]).map(|_| NAN).view()) => NotFinite { .. }),
        bad!("regression: not square", fitted(&Array2::ones((3, 2)), &[0, 1, 2], &Knowledge::none(3)) => NotSquare { .. }),
        bad!("regression: NaN", fitted(&Array2::from_elem((3, 3), NAN), &[0, 1, 2], &Knowledge::none(3)) => Positive { .. }),
        bad!("regression: knowledge of other variables", fitted(&Array2::eye(3), &[0, 1, 2], &Knowledge::none(2)) => Length { .. }),
        bad!("regression: singular", fitted(&Array2::ones((3, 3)), &[0, 1, 2], &Knowledge::none(3)) => Singular { .. }),
        bad!("regress_within: short order", fitted(&Array2::eye(3), &[0, 1], &Knowledge::none(3)) => Length { .. }),
        bad!("regress_within: order against a required edge", {
            fitted(&Array2::eye(3), &[1, 0, 2], &Knowledge::new(&[(0, 1)], &[], vec![None; 3])?)
        } => Backwards { cause: 0, effect: 1 }),
        bad!("regress_along: order against a required edge", {
            let knowledge = Knowledge::new(&[(0, 1)], &[], vec![None; 3])?;
            fitted_along(&Array2::eye(3), Rule::Along(&[1, 0, 2]), &knowledge)
        } => Backwards { cause: 0, effect: 1 }),
        bad!("regress_along: theta of other variables",
            fitted_along(&Array2::eye(2), SMALLEST, &Knowledge::none(3)) => Shape { .. }),
        bad!("linear SEM: order against an edge",
            LinearSem::new(graph(2, &[(0, 1)]), vec![1, 0], vec![1.0; 2]) => Backwards { .. }),
        bad!("linear SEM: short variances", LinearSem::new(graph(2, &[]), vec![1, 0], vec![1.0]) => Size { .. }),
        bad!("linear SEM: zero variance", LinearSem::new(graph(2, &[]), vec![1, 0], vec![1.0, 0.0]) => Variance { .. }),
        bad!("linear SEM: not square", LinearSem::new(CsMat::zero((2, 3)), vec![1, 0], vec![1.0; 2]) => NotSquare { .. }),
        bad!("covariance: a model changed for the worse", {
            let mut sem = LinearSem::new(graph(2, &[]), vec![1, 0], vec![1.0; 2])?;
            sem.noise_variances.pop();
            sem.covariance()
        } => Size { .. }),
    ]
}
