//! Neighbours that stand a test: least squares, one variable in or out at a time.
//!
//! The lasso shrinks what it finds, and lets in others to make up for that. Least squares on what it found has no such
//! bias: the weakest is dropped while it does not earn its penalty, and a variable outside that earns it is taken in.
//! What a variable earns is Fisher's z of its partial correlation, squared: `(n − k − 3) artanh² r` given k others,
//! which holds for few rows too; with many it is the gain in twice the log-likelihood, and the rule is the extended BIC
//! (Chen and Chen 2008).

use super::check::{check_correlations, check_pattern, check_permutation, check_samples};
use super::rounds::{Regression, settle, strongest};
use super::{Standardised, from_rows};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use sprs::{CsMat, CsMatView};

/// Variables outside that are looked at closely, those whose correlation with the residual is largest.
const SHORTLIST: usize = 16;
/// Share of a variable's variance that the others must leave unexplained.
const COLLINEAR: f64 = 1e-8;

/// What a neighbour must be worth: with n samples, the squared Fisher z of its partial correlation must reach a penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    samples: usize,
    penalty: f64,
}

impl Test {
    /// With so many samples and a penalty for each neighbour.
    ///
    /// # Errors
    /// [`IcidError::Samples`] with fewer than five samples, [`IcidError::Parameter`] if the penalty is negative or NaN.
    pub fn new(samples: usize, penalty: f64) -> Result<Self, IcidError> {
        check_samples(samples)?;
        if penalty.is_nan() || penalty < 0.0 {
            return Err(IcidError::Parameter { name: "penalty", value: penalty, requirement: "a number >= 0" });
        }
        Ok(Self { samples, penalty })
    }

    /// The penalty `log n + 2 log d` of the extended BIC with γ = 1 (Chen and Chen 2008), for d variables.
    ///
    /// # Errors
    /// [`IcidError::Samples`] with fewer than five samples.
    pub fn extended_bic(samples: usize, d: usize) -> Result<Self, IcidError> {
        Self::new(samples, (samples as f64).ln() + 2.0 * (d.max(1) as f64).ln())
    }

    /// Number of samples n.
    #[must_use]
    pub fn samples(self) -> usize {
        self.samples
    }

    /// What a neighbour must earn.
    #[must_use]
    pub fn penalty(self) -> f64 {
        self.penalty
    }

    /// What a squared partial correlation given `others` variables earns.
    fn earned(self, square: f64, others: usize) -> f64 {
        let degrees = self.samples as f64 - others as f64 - 3.0;
        if degrees < 1.0 { 0.0 } else { degrees * square.clamp(0.0, 1.0 - 1e-15).sqrt().atanh().powi(2) }
    }

    /// Neighbours that a variable may have: half as many as there are degrees of freedom.
    fn most(self) -> usize {
        self.samples.saturating_sub(4) / 2
    }
}

/// For each variable, from those that a row of `start` holds, the neighbours that stand the test, with their weights; and
/// what they leave of its variance.
///
/// Sparse correlations, if given, stand for all. Given the place of each variable in an order, only variables that come
/// before count.
///
/// # Errors
/// [`IcidError::Shape`], [`IcidError::Size`] or [`IcidError::Order`] for arguments that do not fit the data;
/// [`IcidError::Interrupted`].
pub fn stepwise(
    data: Standardised,
    correlations: Option<CsMatView<f64>>,
    start: CsMatView<f64>,
    places: Option<&[usize]>,
    test: Test,
    interrupt: &Interrupt,
) -> Result<(CsMat<f64>, Vec<f64>), IcidError> {
    check_correlations(data, correlations)?;
    check_pattern("start", data, start)?;
    places.map_or(Ok(()), |places| check_permutation("places", places, data))?;
    let begin = |j: u32| {
        let before = |&i: &u32| places.is_none_or(|at| at[i as usize] < at[j as usize]);
        Chosen { places, ..Chosen::among(data, j, row_of(start, j as usize).into_iter().filter(before), test) }
    };
    let end = |fit: Chosen| (fit.neighbours, fit.left);
    let (rows, left): (Vec<_>, _) = settle(data, correlations, begin, end, interrupt)?.into_iter().unzip();
    Ok((from_rows(&rows), left))
}

fn row_of(pattern: CsMatView<f64>, row: usize) -> Vec<u32> {
    pattern.outer_view(row).map_or_else(Vec::new, |row| row.indices().iter().map(|&i| i as u32).collect())
}

/// The neighbours of one variable, with their weights, and what they leave of its variance.
pub(super) struct Chosen<'a> {
    variable: u32,
    test: Test,
    /// Places in an order, if others must come before the variable.
    places: Option<&'a [usize]>,
    pub(super) neighbours: Vec<(u32, f64)>,
    pub(super) left: f64,
}

impl Regression for Chosen<'_> {
    fn variable(&self) -> u32 {
        self.variable
    }

    fn fitted(&self) -> impl Iterator<Item = (u32, f64)> {
        self.neighbours.iter().copied()
    }

    fn improve(&mut self, data: Standardised, gradient: &[f64]) -> bool {
        let j = self.variable;
        let later = |i: u32| self.places.is_some_and(|at| at[i as usize] > at[j as usize]);
        let inside = |i: u32| i == j || self.neighbours.iter().any(|&(neighbour, _)| i == neighbour);
        let found = strongest(gradient, 0.0, SHORTLIST, |i| later(i) || inside(i));
        self.choose(data, found)
    }
}

impl Chosen<'_> {
    /// Those among some others that stand the test; of too many, the most correlated are tried.
    pub(super) fn among(data: Standardised, variable: u32, others: impl IntoIterator<Item = u32>, test: Test) -> Self {
        let mut others: Vec<(u32, f64)> =
            others.into_iter().filter(|&i| i != variable).map(|i| (i, data.correlation(i, variable))).collect();
        others.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        others.truncate(test.most());
        let mut chosen = Self { variable, test, places: None, neighbours: others, left: 1.0 };
        chosen.choose(data, Vec::new());
        chosen
    }

    /// Take in and drop while a test says so, among the neighbours and some others; has anything changed?
    fn choose(&mut self, data: Standardised, others: Vec<u32>) -> bool {
        let inside = self.neighbours.len();
        let known: Vec<u32> = self.neighbours.iter().map(|&(i, _)| i).chain(others).collect();
        let mut swept = Swept::new(data, self.variable, &known);
        for k in 0..inside {
            // Collinear ones are left out.
            if swept.unexplained(k) > COLLINEAR {
                swept.flip(k);
            }
        }
        // Tests that depend on each other could go round in circles.
        for _ in 0..4 * known.len() {
            let next = swept.weakest(self.test).or_else(|| swept.strongest(self.test));
            let Some(k) = next else { break };
            swept.flip(k);
        }
        let changed = (0..known.len()).any(|k| swept.inside[k] != (k < inside));
        self.neighbours = (0..known.len()).filter(|&k| swept.inside[k]).map(|k| (known[k], swept.weight(k))).collect();
        self.left = swept.left();
        changed
    }
}

/// A regression under the sweep operator (Goodnight 1979): sweeping a variable takes it in, or out again.
struct Swept {
    /// Variables, and last the one that is regressed.
    matrix: Vec<Vec<f64>>,
    inside: Vec<bool>,
}

impl Swept {
    fn new(data: Standardised, variable: u32, others: &[u32]) -> Self {
        let all: Vec<u32> = others.iter().copied().chain([variable]).collect();
        let mut matrix = vec![vec![1.0; all.len()]; all.len()];
        for i in 0..all.len() {
            for j in 0..i {
                let entry = data.correlation(all[i], all[j]);
                (matrix[i][j], matrix[j][i]) = (entry, entry);
            }
        }
        Self { matrix, inside: vec![false; others.len()] }
    }

    /// The variable inside that earns least, if that is too little.
    fn weakest(&self, test: Test) -> Option<usize> {
        let others = self.count().saturating_sub(1);
        let inside = (0..self.inside.len()).filter(|&k| self.inside[k]);
        let earned = inside.map(|k| (test.earned(self.square(k), others), k));
        earned.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|&(earned, _)| earned < test.penalty).map(|(_, k)| k)
    }

    /// The variable outside that would earn most, if that is enough; the first of equals.
    fn strongest(&self, test: Test) -> Option<usize> {
        let count = self.count();
        let outside = (0..self.inside.len()).filter(|&k| !self.inside[k] && self.unexplained(k) > COLLINEAR);
        let earned = outside.map(|k| (test.earned(self.square(k), count), k)).rev();
        let best = earned.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 >= test.penalty && count < test.most()).then_some(best.1)
    }

    fn count(&self) -> usize {
        self.inside.iter().filter(|&&inside| inside).count()
    }

    /// What is left of the variance.
    fn left(&self) -> f64 {
        self.matrix[self.inside.len()][self.inside.len()].max(f64::MIN_POSITIVE)
    }

    fn weight(&self, k: usize) -> f64 {
        self.matrix[k][self.inside.len()]
    }

    /// Of a variable outside, the share of its variance that those inside do not explain.
    fn unexplained(&self, k: usize) -> f64 {
        self.matrix[k][k]
    }

    /// Squared partial correlation of a variable, given those inside.
    fn square(&self, k: usize) -> f64 {
        let gain = self.weight(k) * self.weight(k) / self.matrix[k][k];
        if self.inside[k] { gain / (gain + self.left()) } else { gain / self.left() }
    }

    fn flip(&mut self, k: usize) {
        let pivot = self.matrix[k][k];
        let mut row = std::mem::take(&mut self.matrix[k]);
        for entry in &mut row {
            *entry /= pivot;
        }
        for (_, other) in self.matrix.iter_mut().enumerate().filter(|&(i, _)| i != k) {
            let factor = other[k];
            for (entry, pivotal) in other.iter_mut().zip(&row) {
                *entry -= factor * pivotal;
            }
            other[k] = -factor / pivot;
        }
        row[k] = 1.0 / pivot;
        self.matrix[k] = row;
        self.inside[k] = !self.inside[k];
    }
}
