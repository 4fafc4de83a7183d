//! The ℓ1 norm, which makes B sparse.

use super::SeparablePenalty;

/// `‖B‖₁`, with weight one as in the paper: ρ weighs the constraint against it.
#[derive(Debug, Clone, Copy, Default)]
pub struct L1;

impl SeparablePenalty for L1 {
    fn value(&self, x: f64) -> f64 {
        x.abs()
    }

    /// Soft thresholding at `step`.
    fn prox(&self, v: f64, step: f64) -> f64 {
        // Branch-free, so that the loop around it is vectorised.
        (v.abs() - step).max(0.0).copysign(v)
    }

    /// The paper's Δ(B), one coordinate: ∂|x| is the sign of x, or [−1, 1] at zero.
    fn distance(&self, x: f64, u: f64) -> f64 {
        if x == 0.0 { (u.abs() - 1.0).max(0.0).copysign(u) } else { u - x.signum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prox_minimises() {
        for v in [-3.0, -0.4, 0.0, 0.3, 0.5, 2.0] {
            let step = 0.5;
            let cost = |t: f64| L1.value(t) + (t - v) * (t - v) / (2.0 * step);
            let best = L1.prox(v, step);
            for t in (-400..=400).map(|k| f64::from(k) * 0.01) {
                assert!(cost(best) <= cost(t) + 1e-12);
            }
        }
    }

    #[test]
    fn distance_vanishes_exactly_on_the_subdifferential() {
        assert_eq!(L1.distance(0.0, 0.7), 0.0);
        assert_eq!(L1.distance(0.0, -1.5), -0.5);
        assert_eq!(L1.distance(2.0, 1.0), 0.0);
        assert_eq!(L1.distance(2.0, -1.0), -2.0);
        assert_eq!(L1.distance(-2.0, -1.25), -0.25);
    }
}
