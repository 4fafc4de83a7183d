//! Stepwise least squares: one variable enters or leaves at a time, by a test of its partial correlation.
//!
//! The lasso shrinks its weights, and selects further variables to make up for that. Least squares has no such bias: the
//! weakest variable is dropped while its test statistic is below a penalty, and a variable outside is added if its
//! statistic reaches it. The statistic is the squared Fisher z of the partial correlation, `(n − k − 3) artanh² r` given
//! k other variables, which is valid for few samples too. With many samples it is the gain in twice the log-likelihood,
//! and the rule is the extended BIC (Chen and Chen 2008).

use super::check::{check_correlations, check_pattern, check_permutation, check_samples};
use super::rounds::{Regression, run_rounds, strongest};
use super::{Standardised, from_rows};
use crate::algebra::check::check_parameter;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use sprs::{CsMat, CsMatView};

/// Variables outside that are tested in a round: those with the largest correlations with the residual.
const SHORTLIST: usize = 16;
/// A variable with a smaller share of its variance left unexplained by the others is collinear with them.
const COLLINEAR: f64 = 1e-8;

/// The test of a neighbour: with n samples, the squared Fisher z of its partial correlation must reach a penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    samples: usize,
    penalty: f64,
}

impl Test {
    /// A test with a number of samples and a penalty.
    ///
    /// # Errors
    /// [`IcidError::Samples`] with fewer than five samples, [`IcidError::Parameter`] if the penalty is negative or NaN.
    pub fn new(samples: usize, penalty: f64) -> Result<Self, IcidError> {
        check_samples(samples)?;
        check_parameter("penalty", penalty, penalty >= 0.0, "a number >= 0")?;
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

    /// The value that the statistic of a neighbour must reach.
    #[must_use]
    pub fn penalty(self) -> f64 {
        self.penalty
    }

    /// The statistic of a squared partial correlation given `others` variables.
    fn statistic(self, square: f64, others: usize) -> f64 {
        let degrees = self.samples as f64 - others as f64 - 3.0;
        if degrees < 1.0 { 0.0 } else { degrees * square.clamp(0.0, 1.0 - 1e-15).sqrt().atanh().powi(2) }
    }

    /// The most neighbours that a variable may have: half the degrees of freedom.
    fn most(self) -> usize {
        self.samples.saturating_sub(4) / 2
    }
}

/// Select neighbours of each variable j, starting from those in row j of `start`. Returns their weights, row j for
/// variable j, and the share of each variance that they leave unexplained.
///
/// With sparse correlations, pairs that they lack count as uncorrelated. Given the place of each variable in an order,
/// only variables that precede j are considered.
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
    places.map_or(Ok(()), |places| check_permutation("places", data, places))?;
    let begin = |j: u32| {
        let before = |&i: &u32| places.is_none_or(|at| at[i as usize] < at[j as usize]);
        Chosen { places, ..Chosen::among(data, j, row_of(start, j as usize).into_iter().filter(before), test) }
    };
    let end = |fit: Chosen| (fit.neighbours, fit.left);
    let (rows, left): (Vec<_>, _) = run_rounds(data, correlations, begin, end, interrupt)?.into_iter().unzip();
    Ok((from_rows(&rows), left))
}

fn row_of(pattern: CsMatView<f64>, row: usize) -> Vec<u32> {
    pattern.outer_view(row).map_or_else(Vec::new, |row| row.indices().iter().map(|&i| i as u32).collect())
}

/// The neighbours of one variable, with their weights, and the share of its variance that they leave unexplained.
pub(super) struct Chosen<'a> {
    variable: u32,
    test: Test,
    /// Places in an order, if only variables that precede this one are considered.
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
    /// Select neighbours among some others; of too many, only the most correlated are considered.
    pub(super) fn among(data: Standardised, variable: u32, others: impl IntoIterator<Item = u32>, test: Test) -> Self {
        let mut others: Vec<(u32, f64)> =
            others.into_iter().filter(|&i| i != variable).map(|i| (i, data.correlation(i, variable))).collect();
        others.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        others.truncate(test.most());
        let mut chosen = Self { variable, test, places: None, neighbours: others, left: 1.0 };
        chosen.choose(data, Vec::new());
        chosen
    }

    /// Add and drop variables, among the neighbours and some others, while the test says so; true if any changed.
    fn choose(&mut self, data: Standardised, others: Vec<u32>) -> bool {
        let inside = self.neighbours.len();
        let known: Vec<u32> = self.neighbours.iter().map(|&(i, _)| i).chain(others).collect();
        let mut swept = Swept::new(data, self.variable, &known);
        for k in 0..inside {
            // Collinear variables stay out.
            if swept.unexplained(k) > COLLINEAR {
                swept.flip(k);
            }
        }
        // The limit ends cycles, which are possible because the tests depend on each other.
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

/// A regression under the sweep operator (Goodnight 1979): sweeping a variable adds it, or drops it again.
struct Swept {
    /// A row for each variable, and last for the one that is regressed.
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

    /// The variable inside with the smallest statistic, if that is below the penalty.
    fn weakest(&self, test: Test) -> Option<usize> {
        let others = self.count().saturating_sub(1);
        let inside = (0..self.inside.len()).filter(|&k| self.inside[k]);
        let statistics = inside.map(|k| (test.statistic(self.square(k), others), k));
        statistics.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|&(statistic, _)| statistic < test.penalty).map(|(_, k)| k)
    }

    /// The variable outside with the largest statistic, if that reaches the penalty; the first of equals.
    fn strongest(&self, test: Test) -> Option<usize> {
        let count = self.count();
        let outside = (0..self.inside.len()).filter(|&k| !self.inside[k] && self.unexplained(k) > COLLINEAR);
        let statistics = outside.map(|k| (test.statistic(self.square(k), count), k)).rev();
        let best = statistics.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 >= test.penalty && count < test.most()).then_some(best.1)
    }

    fn count(&self) -> usize {
        self.inside.iter().filter(|&&inside| inside).count()
    }

    /// The share of the variance that is left unexplained.
    fn left(&self) -> f64 {
        self.matrix[self.inside.len()][self.inside.len()].max(f64::MIN_POSITIVE)
    }

    fn weight(&self, k: usize) -> f64 {
        self.matrix[k][self.inside.len()]
    }

    /// Share of the variance of a variable outside that those inside leave unexplained.
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
