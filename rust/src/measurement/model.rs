//! The likelihood of what was measured, and its gradient in loadings and error variances.

use super::root::Root;
use super::{difference, propagate};
use crate::algebra::check::{check_not_negative, check_size, check_square};
use crate::error::IcidError;
use crate::sem::LinearSem;
use ndarray::{Array1, Array2, ArrayView2};

/// What measurement adds to the variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Effects of hidden causes of variance 1 on the variables, d × k.
    pub loadings: Array2<f64>,
    /// Variances of errors of measurement.
    pub errors: Array1<f64>,
}

/// The deviance of a model with its gradient.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Deviance {
    /// Twice the negative log-likelihood of a row, up to a constant.
    pub value: f64,
    /// Its derivatives in the loadings.
    pub by_loadings: Array2<f64>,
    /// Its derivatives in the error variances.
    pub by_errors: Array1<f64>,
}

impl Layer {
    pub(super) fn check(&self, correlation: &ArrayView2<f64>, sem: &LinearSem) -> Result<(), IcidError> {
        let d = check_square("correlation", correlation.dim())?;
        check_size("the graph", sem.dim(), d)?;
        check_size("loadings", self.loadings.nrows(), d)?;
        if self.loadings.ncols() >= d.max(1) {
            return Err(IcidError::HiddenCauses { given: self.loadings.ncols(), variables: d });
        }
        check_size("errors", self.errors.len(), d)?;
        check_not_negative("errors", self.errors.as_slice().unwrap_or_default())
    }

    fn has_errors(&self) -> bool {
        self.errors.iter().any(|&error| error > 0.0)
    }
}

/// A model without its hidden causes, and the covariance of what was measured whitened by it.
pub(super) struct Measured {
    root: Root,
    /// L⁻¹ Aᵀ C A L⁻ᵀ.
    pub whitened: Array2<f64>,
}

impl Measured {
    pub fn new(correlation: &ArrayView2<f64>, sem: &LinearSem, errors: &Array1<f64>) -> Result<Self, IcidError> {
        let root = noise_root(sem, errors)?;
        let half = difference(sem, correlation);
        let whole = difference(sem, &half.t());
        Ok(Self { whitened: root.whiten(whole.as_standard_layout().into_owned()), root })
    }

    /// The loadings that fit best, from the leading eigenpairs.
    pub fn loadings(&self, sem: &LinearSem, (values, mut vectors): (Array1<f64>, Array2<f64>)) -> Array2<f64> {
        vectors *= &values.mapv(|value| (value - 1.0).max(0.0).sqrt());
        propagate(sem, self.root.times(&vectors))
    }

    /// The deviance with the loadings that belong to these leading eigenvalues.
    pub fn deviance(&self, values: &[f64]) -> f64 {
        let explained: f64 = values.iter().filter(|&&value| value > 1.0).map(|value| value - 1.0 - value.ln()).sum();
        self.root.log_determinant() + self.whitened.diag().sum() - self.whitened.nrows() as f64 - explained
    }
}

/// The root of Ω + Aᵀ T A.
fn noise_root(sem: &LinearSem, errors: &Array1<f64>) -> Result<Root, IcidError> {
    if errors.iter().all(|&error| error == 0.0) {
        return Ok(Root::Diagonal(sem.noise_variances.iter().map(|variance| variance.sqrt()).collect()));
    }
    Root::lower(noise(sem, errors))
}

/// Ω + Aᵀ T A.
fn noise(sem: &LinearSem, errors: &Array1<f64>) -> Array2<f64> {
    let half = difference(sem, &Array2::from_diag(errors).view());
    let mut k = difference(sem, &half.t());
    for (entry, variance) in k.diag_mut().iter_mut().zip(&sem.noise_variances) {
        *entry += variance;
    }
    k
}

/// Twice the negative log-likelihood of a row under a model with a measurement layer, up to a constant, and its gradient.
///
/// With `G = Σ⁻¹ − Σ⁻¹ C Σ⁻¹`, the derivative in Λ is `2 G Λ`, and that in the error variances the diagonal of G.
///
/// # Examples
/// ```
/// use icid_rs::LinearSem;
/// use icid_rs::measurement::{Layer, deviance};
/// use ndarray::{Array2, array};
///
/// let sem = LinearSem::new(sprs::CsMat::zero((2, 2)), vec![0, 1], vec![0.75, 0.75])?;
/// let layer = Layer { loadings: array![[0.5], [0.5]], errors: array![0.0, 0.0] };
/// let correlation = array![[1.0, 0.25], [0.25, 1.0]];
/// // The model fits exactly, so that no derivative differs from zero.
/// let found = deviance(correlation.view(), &sem, &layer)?;
/// assert!(found.by_loadings.iter().chain(&found.by_errors).all(|slope| slope.abs() < 1e-12));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
///
/// # Errors
/// When sizes do not fit together, or the model's covariance is singular.
pub fn deviance(correlation: ArrayView2<f64>, sem: &LinearSem, layer: &Layer) -> Result<Deviance, IcidError> {
    layer.check(&correlation, sem)?;
    let d = sem.dim();
    let shocks = difference(sem, &layer.loadings.view());
    let k = noise(sem, &layer.errors) + shocks.dot(&shocks.t());
    let root = if layer.loadings.ncols() == 0 && !layer.has_errors() {
        noise_root(sem, &layer.errors)?
    } else {
        Root::lower(k)?
    };
    // Σ⁻¹ = A K⁻¹ Aᵀ = Wᵀ W with W = L⁻¹ Aᵀ.
    let w = root.solve(difference(sem, &Array2::eye(d).view()));
    let precision = w.t().dot(&w);
    let product = precision.dot(&correlation);
    let slope = &precision - &product.dot(&precision);
    let value = root.log_determinant() + product.diag().sum() - d as f64;
    let by_loadings = 2.0 * slope.dot(&layer.loadings);
    Ok(Deviance { value, by_loadings, by_errors: slope.diag().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use crate::measurement::settle;
    use ndarray::array;
    use sprs::TriMat;

    fn chain(d: usize) -> LinearSem {
        let mut edges = TriMat::new((d, d));
        for j in 1..d {
            edges.add_triplet(j - 1, j, 0.4 + 0.1 * (j as f64).sin());
        }
        LinearSem::new(edges.to_csr(), (0..d).collect(), (0..d).map(|j| 0.6 + 0.03 * j as f64).collect()).unwrap()
    }

    fn layer(d: usize) -> Layer {
        let loadings = Array2::from_shape_fn((d, 2), |(i, r)| ((3 * i + 5 * r) as f64).cos() / 2.0);
        Layer { loadings, errors: (0..d).map(|j| 0.1 + 0.01 * j as f64).collect() }
    }

    fn covariance(sem: &LinearSem, layer: &Layer) -> Array2<f64> {
        sem.covariance().unwrap() + layer.loadings.dot(&layer.loadings.t()) + Array2::from_diag(&layer.errors)
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (sem, layer) = (chain(6), layer(6));
        let correlation = covariance(&chain(6), &Layer { errors: Array1::from_elem(6, 0.2), ..layer.clone() });
        let value = |layer: &Layer| deviance(correlation.view(), &sem, layer).unwrap().value;
        let found = deviance(correlation.view(), &sem, &layer).unwrap();
        let step = 1e-6;
        for i in 0..6 {
            let mut moved = layer.clone();
            moved.errors[i] += step;
            assert!(((value(&moved) - found.value) / step - found.by_errors[i]).abs() < 1e-4);
            for r in 0..2 {
                let mut moved = layer.clone();
                moved.loadings[[i, r]] += step;
                assert!(((value(&moved) - found.value) / step - found.by_loadings[[i, r]]).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn loadings_in_closed_form_have_no_gradient_and_the_deviance_of_the_model() {
        for errors in [0.0, 0.15] {
            let (sem, mut layer) = (chain(7), layer(7));
            layer.errors.fill(errors);
            let other = Layer { errors: Array1::from_elem(7, 0.3), ..layer.clone() };
            let correlation = covariance(&chain(7), &other);
            let measured = Measured::new(&correlation.view(), &sem, &layer.errors).unwrap();
            let pairs = super::super::leading::leading(measured.whitened.view(), 2, None).first(2);
            let values = pairs.0.to_vec();
            layer.loadings = measured.loadings(&sem, pairs);
            let found = deviance(correlation.view(), &sem, &layer).unwrap();
            // Eigenvectors are as exact as the gradient shows, and the deviance to the square of that.
            let difference = (found.value - measured.deviance(&values)).abs();
            assert!(difference < 1e-6, "{difference}");
            assert!(found.by_loadings.iter().all(|slope| slope.abs() < 1e-3));
        }
    }

    #[test]
    fn a_true_model_is_where_turns_end() {
        let (sem, layer) = (chain(8), layer(8));
        let correlation = covariance(&sem, &layer);
        let inverse = {
            let left = &correlation - &Array2::from_diag(&layer.errors);
            let Root::Lower(l) = Root::lower(left).unwrap() else { panic!("a dense root") };
            let half = Root::Lower(l).solve(Array2::eye(8));
            half.t().dot(&half)
        };
        let found = settle(correlation.view(), Some(inverse.view()), &sem, &layer, 5, &Interrupt::default()).unwrap();
        assert!(found.deviance - deviance(correlation.view(), &sem, &layer).unwrap().value < 1e-6);
        assert!(found.sem.b.iter().zip(sem.b.iter()).all(|((a, _), (b, _))| (a - b).abs() < 1e-3));
        assert_eq!(found.spectrum.len(), 3);
    }

    #[test]
    fn sizes_and_signs_are_checked() {
        let sem = chain(3);
        let correlation = sem.covariance().unwrap();
        let wrong = Layer { loadings: Array2::zeros((2, 1)), errors: array![0.0, 0.0, 0.0] };
        assert!(deviance(correlation.view(), &sem, &wrong).is_err());
        let negative = Layer { loadings: Array2::zeros((3, 0)), errors: array![0.0, -0.1, 0.0] };
        assert!(deviance(correlation.view(), &sem, &negative).is_err());
    }
}
