//! Cases for tests of searches: correlations of given values, with shapes of residuals, known noise and knowledge.

use super::Evidence;
use crate::algebra::hash::scramble;
use crate::knowledge::Knowledge;
use crate::score::{Noise, Score};
use ndarray::Array2;

pub(super) struct Case {
    pub values: Array2<f64>,
    pub correlation: Array2<f64>,
    pub knowledge: Knowledge,
    /// Noise variances where they are known, as shares of the variances.
    pub ratios: Vec<f64>,
    penalty: f64,
}

impl Case {
    /// Standardised variables in rows of `values`.
    pub fn new(values: Array2<f64>, seed: u64, knowledge: Knowledge, penalty: f64) -> Self {
        let mut correlation = values.dot(&values.t()) / values.ncols() as f64;
        correlation.diag_mut().fill(1.0);
        let ratio = |i: usize| 0.2 + (scramble(seed ^ i as u64) % 8) as f64 / 10.0;
        let ratios = (0..values.nrows()).map(ratio).collect();
        Self { values, correlation, knowledge, ratios, penalty }
    }

    pub fn evidence(&self, is_known: bool, is_shaped: bool) -> Evidence<'_> {
        let noise = if is_known { Noise::Known(&self.ratios) } else { Noise::Unequal };
        let score = Score::new(self.values.ncols() as f64, self.penalty, noise).unwrap();
        let evidence = Evidence::new(self.correlation.view(), score, &self.knowledge).unwrap();
        if is_shaped { evidence.with_values(self.values.view()).unwrap() } else { evidence }
    }
}

/// Take the mean from each row, and divide it by its deviation.
pub(super) fn standardise(values: &mut Array2<f64>) {
    for mut row in values.rows_mut() {
        let n = row.len() as f64;
        row -= row.sum() / n;
        let deviation = (row.dot(&row) / n).sqrt();
        row /= deviation;
    }
}
