//! The scaled lasso of each variable on all others, by coordinate descent on working sets.
//!
//! For variables of length one, the lasso minimises `½‖x_j − Σ_i w_i x_i‖² + λ Σ_i |w_i|` with `λ = λ₀ σ`, where σ is the
//! length of the residual. Weights and σ are updated in turns. The working set of a variable starts with the others that
//! violate the conditions of Karush, Kuhn and Tucker most, and grows while any violates them.

use super::check::check_correlations;
use super::rounds::{Regression, run_rounds, strongest};
use super::{SAME, Standardised, from_rows};
use crate::algebra::check::check_parameter;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use sprs::{CsMat, CsMatView};

/// Variables added to a working set at a time.
const MOST: usize = 64;
/// The descent ends when no weight changes by more than this, in units of the penalty, and σ by no more relative to
/// itself.
const TOLERANCE: f64 = 1e-4;
/// Turns, at most. Each has a sweep over all weights, several over the nonzero ones, and an update of σ.
const TURNS: usize = 500;
/// Sweeps over the nonzero weights in a turn, at most.
const SWEEPS: usize = 20;
/// A smaller σ counts as zero: with few samples, enough other variables explain any variable completely.
const NOISELESS: f64 = 1e-3;

/// Two variables that are the same up to scale.
pub type Copies = (usize, usize);

/// The scaled lasso of each variable on all others: row j holds the weights that predict variable j.
///
/// With sparse correlations (see [`correlations`](super::correlations())), pairs that they lack count as uncorrelated
/// when the working sets are extended, so that nothing is computed for all pairs. If two variables are the same up to
/// scale, they are returned too.
///
/// # Errors
/// [`IcidError::Parameter`] if the level is not a positive number; [`IcidError::Shape`] if the correlations belong to other
/// variables; [`IcidError::Interrupted`].
pub fn scaled_lasso(
    data: Standardised,
    correlations: Option<CsMatView<f64>>,
    level: f64,
    interrupt: &Interrupt,
) -> Result<(CsMat<f64>, Option<Copies>), IcidError> {
    check_parameter("level", level, level > 0.0, "a positive number")?;
    check_correlations(data, correlations)?;
    let begin = |variable| WorkingSet::new(variable, level);
    let end = |lasso: WorkingSet| (lasso.fitted().collect(), lasso.copy);
    let (rows, copies): (Vec<_>, Vec<_>) = run_rounds(data, correlations, begin, end, interrupt)?.into_iter().unzip();
    let same = copies.into_iter().enumerate().find_map(|(variable, copy)| copy.map(|other| (variable, other as usize)));
    Ok((from_rows(&rows), same))
}

/// The lasso of one variable on a few others.
struct WorkingSet {
    variable: u32,
    level: f64,
    members: Vec<u32>,
    /// Correlations between members, a row for each, and of the members with the variable.
    gram: Vec<Vec<f64>>,
    target: Vec<f64>,
    weights: Vec<f64>,
    /// Inner products of the members with the residual.
    gradient: Vec<f64>,
    noise: f64,
    /// A variable that is the same up to scale.
    copy: Option<u32>,
}

impl Regression for WorkingSet {
    fn variable(&self) -> u32 {
        self.variable
    }

    fn fitted(&self) -> impl Iterator<Item = (u32, f64)> {
        let weights = self.weights.iter().copied();
        self.members.iter().copied().zip(weights).filter(|&(_, weight)| weight != 0.0)
    }

    fn improve(&mut self, data: Standardised, gradient: &[f64]) -> bool {
        let bound = self.level * self.noise * (1.0 + TOLERANCE);
        let found = strongest(gradient, bound, MOST, |i| i == self.variable || self.members.contains(&i));
        if found.is_empty() || self.noise <= NOISELESS {
            return false;
        }
        if self.members.is_empty() {
            // The residual is still the variable itself, so these are correlations.
            self.copy = found.first().copied().filter(|&i| gradient[i as usize].abs() > SAME);
        }
        for member in found {
            self.admit(data, member);
        }
        self.descend();
        true
    }
}

impl WorkingSet {
    fn new(variable: u32, level: f64) -> Self {
        let (members, gram, target, weights, gradient) = Default::default();
        Self { variable, level, members, gram, target, weights, gradient, noise: 1.0, copy: None }
    }

    fn admit(&mut self, data: Standardised, member: u32) {
        let mut row: Vec<f64> = self.members.iter().map(|&other| data.correlation(other, member)).collect();
        for (other, &entry) in self.gram.iter_mut().zip(&row) {
            other.push(entry);
        }
        let target = data.correlation(member, self.variable);
        self.gradient.push(target - self.weights.iter().zip(&row).map(|(w, r)| w * r).sum::<f64>());
        row.push(1.0);
        self.gram.push(row);
        self.members.push(member);
        self.target.push(target);
        self.weights.push(0.0);
    }

    /// Minimise `‖residual‖²/σ + σ + 2 λ₀ Σ|w|`, which is convex, over the weights and over σ in turns.
    fn descend(&mut self) {
        for _ in 0..TURNS {
            let penalty = self.level * self.noise;
            let change = self.sweep(penalty, false);
            // Most weights stay zero, so sweeps over the others are cheap.
            for _ in 0..SWEEPS {
                if self.sweep(penalty, true) <= TOLERANCE * penalty {
                    break;
                }
            }
            let noise = self.residual_length();
            let settled = change <= TOLERANCE * penalty && (noise - self.noise).abs() <= TOLERANCE * noise;
            self.noise = noise;
            if settled || noise <= NOISELESS {
                break;
            }
        }
    }

    fn residual_length(&self) -> f64 {
        let gradient = self.target.iter().zip(&self.gradient);
        let explained: f64 = self.weights.iter().zip(gradient).map(|(w, (t, g))| w * (t + g)).sum();
        (1.0 - explained).max(NOISELESS * NOISELESS).sqrt()
    }

    /// Minimise over one weight after another, over all or over the nonzero ones; returns the largest change.
    fn sweep(&mut self, penalty: f64, active: bool) -> f64 {
        let mut largest = 0.0_f64;
        for k in 0..self.members.len() {
            let before = self.weights[k];
            if active && before == 0.0 {
                continue;
            }
            let alone = self.gradient[k] + before;
            let after = alone.signum() * (alone.abs() - penalty).max(0.0);
            let change = after - before;
            if change != 0.0 {
                self.weights[k] = after;
                for (gradient, entry) in self.gradient.iter_mut().zip(&self.gram[k]) {
                    *gradient -= change * entry;
                }
                largest = largest.max(change.abs());
            }
        }
        largest
    }
}
