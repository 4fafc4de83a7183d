//! Values that are missing.

use crate::inputs::Bytes;
use crate::targets::said;
use icid_rs::Interrupt;
use icid_rs::moments::expectations;
use ndarray::Array2;

/// Variables at most.
const MOST: usize = 8;

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
