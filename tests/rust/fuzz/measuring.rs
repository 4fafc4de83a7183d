//! Hidden causes and errors of measurement, and values that are missing.

use crate::fitting::{sample, standardised};
use crate::inputs::Bytes;
use crate::targets::{assert_acyclic, said};
use icid_rs::measurement::{Layer, deviance, settle};
use icid_rs::moments::expectations;
use icid_rs::order::heaviest_acyclic;
use icid_rs::{Interrupt, LinearSem};
use ndarray::{Array1, Array2};

/// Variables at most.
const MOST: usize = 8;

/// The deviance of what is found is that of the likelihood, and everything is finite.
pub fn measurement(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let Some((_, correlation)) = standardised(&sample(bytes, d)) else { return };
    let weights = bytes.dag(d);
    let found = heaviest_acyclic(bytes.sparse(&weights).view()).unwrap();
    let graph = LinearSem::new(found.graph, found.order, bytes.variances(d)).unwrap();
    let clean = bytes.once_in(4);
    let errors: Array1<f64> = (0..d).map(|_| if clean { 0.0 } else { f64::from(bytes.byte()) / 1024.0 }).collect();
    let hidden = bytes.below(3);
    let layer = Layer { loadings: Array2::from_shape_fn((d, hidden), |_| bytes.tame() / 4.0), errors };
    let inverse = inverse_of(&(&correlation - &Array2::from_diag(&layer.errors)));
    let inverse = inverse.as_ref().map(|inverse| inverse.view());
    match settle(correlation.view(), inverse, &graph, &layer, 1 + bytes.below(4), &Interrupt::default()) {
        Ok(settled) => {
            assert_acyclic(&settled.sem.b, &settled.sem.order, d);
            assert!(settled.sem.noise_variances.iter().all(|v| *v > 0.0 && v.is_finite()), "{settled:?}");
            assert!(settled.sem.b.iter().all(|(weight, _)| weight.is_finite()));
            assert_eq!(settled.layer.loadings.dim(), (d, hidden));
            assert!(settled.layer.loadings.iter().chain(&settled.spectrum).all(|x| x.is_finite()), "{settled:?}");
            assert_eq!(settled.layer.errors, layer.errors);
            match deviance(correlation.view(), &settled.sem, &settled.layer) {
                Ok(again) => {
                    let rounding = 1e-6 * (1.0 + settled.deviance.abs());
                    assert!(
                        (again.value - settled.deviance).abs() <= rounding,
                        "{} and {}",
                        again.value,
                        settled.deviance
                    );
                }
                Err(error) => said(&error),
            }
        }
        Err(error) => said(&error),
    }
}

pub fn incomplete(bytes: &mut Bytes) {
    let (d, n) = (bytes.dim(MOST), bytes.below(24));
    let theta = bytes.theta(d);
    let pull = if bytes.once_in(8) { bytes.matrix(n, d) } else { Array2::from_shape_fn((n, d), |_| bytes.tame()) };
    let beyond = usize::from(bytes.once_in(16));
    let missing: Vec<Vec<usize>> = (0..n).map(|_| (0..d + beyond).filter(|_| bytes.once_in(3)).collect()).collect();
    match expectations(&theta.view(), &pull.view(), &missing, &Interrupt::default()) {
        Ok(expected) => {
            let holes: usize = missing.iter().map(Vec::len).sum();
            assert_eq!((expected.values.len(), expected.variances.len()), (holes, holes));
            assert!(expected.variances.iter().all(|v| *v >= 0.0), "{expected:?}");
            assert!(expected.covariance.diag().iter().all(|v| *v >= 0.0), "{expected:?}");
        }
        Err(error) => said(&error),
    }
}

/// The inverse by Gauss and Jordan; None where a pivot is not positive.
fn inverse_of(matrix: &Array2<f64>) -> Option<Array2<f64>> {
    let d = matrix.nrows();
    let (mut left, mut right) = (matrix.clone(), Array2::eye(d));
    for k in 0..d {
        let pivot = left[[k, k]];
        if pivot.is_nan() || pivot <= 1e-9 {
            return None;
        }
        for side in [&mut left, &mut right] {
            side.row_mut(k).mapv_inplace(|x| x / pivot);
        }
        for i in (0..d).filter(|&i| i != k) {
            let factor = left[[i, k]];
            for side in [&mut left, &mut right] {
                let own = side.row(k).to_owned();
                side.row_mut(i).scaled_add(-factor, &own);
            }
        }
    }
    Some(right)
}
