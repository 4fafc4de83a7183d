//! The data of a search: correlations, and rows if the score includes the shape of residuals.

use super::values::Values;
use super::wide::Sparse;
use crate::Blocks;
use crate::algebra::check::{check_finite, check_length, check_parameter, check_square};
use crate::error::IcidError;
use crate::knowledge::Knowledge;
use crate::score::{Noise, Score, Sums, further_price};
use ndarray::ArrayView2;

/// Correlations of a table, prior knowledge of its edges, and the score of graphs.
///
/// Variables are scaled to unit variance. Known noise variances are given as shares of the variances.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    correlations: Correlations<'a>,
    /// Number of variables, and of their columns.
    dim: usize,
    columns: usize,
    /// The columns of each variable, unless they are one each.
    blocks: Option<&'a Blocks>,
    /// Price of each parameter of an edge beyond the first.
    further: f64,
    pub(crate) score: Score<'a>,
    pub(crate) knowledge: &'a Knowledge,
    values: Option<Values<'a>>,
    /// A lower bound for the share of each variance that all other variables leave unexplained; 0 if it is not known.
    least: Vec<f64>,
}

/// Where correlations are found.
#[derive(Debug, Clone, Copy)]
enum Correlations<'a> {
    /// All of them, row by row.
    Dense(&'a [f64]),
    /// Some are stored, the others are computed when they are needed.
    Sparse(Sparse<'a>),
}

impl<'a> Evidence<'a> {
    /// Refer to correlations, stored row by row.
    ///
    /// # Errors
    /// When the correlations are not square, not stored by rows, not between −1 and 1 or have a diagonal other than 1;
    /// when the score assumes equal noise variances, since it is then not a sum over variables; when the variances or the
    /// knowledge are those of another number of variables.
    pub fn new(
        correlation: ArrayView2<'a, f64>,
        score: Score<'a>,
        knowledge: &'a Knowledge,
    ) -> Result<Self, IcidError> {
        let (entries, dim) = checked(correlation)?;
        Self::from(Correlations::Dense(entries), dim, score, knowledge)
    }

    /// Refer to correlations of the columns of variables that are blocks of them. Those of one block are uncorrelated.
    ///
    /// # Errors
    /// As [`Self::new`], and when the columns are not those of the blocks, or noise variances are known.
    pub(crate) fn of_blocks(
        correlation: ArrayView2<'a, f64>,
        blocks: &'a Blocks,
        score: Score<'a>,
        knowledge: &'a Knowledge,
    ) -> Result<Self, IcidError> {
        if score.noise != Noise::Unequal {
            return Err(IcidError::Equal);
        }
        let (entries, columns) = checked(correlation)?;
        check_length("correlation", columns, blocks.columns())?;
        let further = further_price(score.penalty, score.samples, blocks.len());
        let of_variables = Self::from(Correlations::Dense(entries), blocks.len(), score, knowledge)?;
        Ok(Self { columns, blocks: Some(blocks), further, ..of_variables })
    }

    /// Refer to correlations of which only some are stored.
    pub(super) fn sparse(sparse: Sparse<'a>, score: Score<'a>, knowledge: &'a Knowledge) -> Result<Self, IcidError> {
        Self::from(Correlations::Sparse(sparse), sparse.dim(), score, knowledge)
    }

    fn from(
        correlations: Correlations<'a>,
        dim: usize,
        score: Score<'a>,
        knowledge: &'a Knowledge,
    ) -> Result<Self, IcidError> {
        if score.noise == Noise::Equal {
            return Err(IcidError::Equal);
        }
        score.check(dim)?;
        knowledge.check_dim(dim)?;
        let least = vec![0.0; dim];
        Ok(Self { correlations, dim, columns: dim, blocks: None, further: 0.0, score, knowledge, values: None, least })
    }

    /// Include the shape of residuals in the score. `values` holds standardised variables in rows.
    ///
    /// # Errors
    /// When there is not one row for each variable, or rows are not stored one after another, or not finite.
    pub fn with_values(self, values: ArrayView2<'a, f64>) -> Result<Self, IcidError> {
        let row_of = (0..self.dim as u32).collect();
        self.with_rows_of_values(values, row_of)
    }

    /// As [`Self::with_values`], with variable i in the row `row_of[i]`.
    pub(super) fn with_rows_of_values(
        mut self,
        rows: ArrayView2<'a, f64>,
        row_of: Vec<u32>,
    ) -> Result<Self, IcidError> {
        check_length("values", rows.nrows(), self.dim)?;
        self.values = Some(Values::new(rows, row_of)?);
        Ok(self)
    }

    /// Set the share of each variance that all other variables together leave unexplained.
    #[must_use]
    pub(crate) fn with_shares(mut self, shares: &[f64]) -> Self {
        // Rounding may make it negative, or nothing at all.
        self.least = shares.iter().map(|share| share.max(0.0)).collect();
        self
    }

    /// Number of variables.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// The columns of each variable, unless they are one each.
    pub(crate) fn blocks(&self) -> Option<&'a Blocks> {
        self.blocks
    }

    /// The number of columns of some variables.
    pub(crate) fn width(&self, variables: &[u32]) -> usize {
        self.blocks.map_or(variables.len(), |blocks| variables.iter().map(|&i| blocks.width(i as usize)).sum())
    }

    /// The price of the edges from causes to an effect.
    pub(crate) fn price(&self, effect: u32, causes: impl Iterator<Item = u32>) -> f64 {
        let Some(blocks) = self.blocks else { return self.score.penalty * causes.count() as f64 };
        let own = blocks.width(effect as usize);
        causes.map(|cause| self.price_of(own * blocks.width(cause as usize))).sum()
    }

    /// The price of one edge.
    pub(crate) fn edge_price(&self, effect: u32, cause: u32) -> f64 {
        let width = |blocks: &Blocks| blocks.width(effect as usize) * blocks.width(cause as usize);
        self.blocks.map_or(self.score.penalty, |blocks| self.price_of(width(blocks)))
    }

    /// The price of an edge with so many parameters.
    fn price_of(&self, parameters: usize) -> f64 {
        self.score.penalty + self.further * (parameters - 1) as f64
    }

    /// The reduction of the residual variance `left` from which a cause is worth this part of its price.
    pub(crate) fn worth(&self, effect: u32, cause: u32, left: f64, part: f64) -> f64 {
        self.score.worth(effect, left, part * self.edge_price(effect, cause))
    }

    /// A number by which the causes of an effect are ordered, those first that are least worth their price: dropping
    /// the cause adds `loss` to the variance that is left.
    pub(crate) fn strength(&self, effect: u32, cause: u32, loss: f64, left: f64) -> f64 {
        // Where all prices are the same, the loss itself has the same order.
        let beyond = |_| self.score.gain(effect, loss, left + loss) - self.edge_price(effect, cause);
        self.blocks.map_or(loss, beyond)
    }

    /// The correlations of a column with all columns. Variables that are one column each have their numbers.
    ///
    /// # Panics
    /// If only some correlations are stored.
    pub(crate) fn row(&self, column: u32) -> &[f64] {
        let Correlations::Dense(entries) = self.correlations else { unreachable!("a row of sparse correlations") };
        let start = column as usize * self.columns;
        &entries[start..start + self.columns]
    }

    /// Append the correlations of a column with the columns of the variables of a list, or with all of them.
    pub(crate) fn read_columns(&self, column: u32, variables: Option<&[u32]>, correlations: &mut Vec<f64>) {
        match (self.blocks, variables) {
            (Some(blocks), Some(variables)) => {
                let row = self.row(column);
                for &i in variables {
                    correlations.extend_from_slice(&row[blocks.range(i as usize)]);
                }
            }
            _ => self.read_correlations(column, variables, correlations),
        }
    }

    /// Whether only some correlations are stored, so that regressions should cover few variables.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.correlations, Correlations::Sparse(_))
    }

    /// Append the correlations of a variable with the variables of a list, or with all of them.
    pub(crate) fn read_correlations(&self, variable: u32, others: Option<&[u32]>, correlations: &mut Vec<f64>) {
        match (self.correlations, others) {
            (Correlations::Sparse(sparse), Some(others)) => sparse.read(variable, others, correlations),
            (_, Some(others)) => {
                let row = self.row(variable);
                correlations.extend(others.iter().map(|&other| row[other as usize]));
            }
            (_, None) => correlations.extend_from_slice(self.row(variable)),
        }
    }

    /// A bound below which no parents can take the local score of a variable.
    pub(crate) fn least_score(&self, variable: u32) -> f64 {
        if self.has_values() {
            return f64::NEG_INFINITY;
        }
        self.score.misfit_of(variable, self.least[variable as usize])
    }

    pub(crate) fn correlation(&self, i: u32, j: u32) -> f64 {
        match self.correlations {
            Correlations::Dense(entries) => entries[i as usize * self.columns + j as usize],
            Correlations::Sparse(sparse) => sparse.correlation(i, j),
        }
    }

    /// Whether the score includes the shape of residuals.
    pub(crate) fn has_values(&self) -> bool {
        self.values.is_some()
    }

    /// Whether the shape of a variable's residuals counts: its values are given, and continuous.
    pub(crate) fn may_have_shape(&self, variable: u32) -> bool {
        self.values.as_ref().is_some_and(|values| values.is_continuous(variable))
    }

    /// The gain in twice the log-likelihood from the shape of a variable's residuals, given its parents.
    pub(crate) fn shape_gain(&self, variable: u32, parents: &[u32], weights: &[f64]) -> f64 {
        let Some(values) = self.values.as_ref().filter(|values| values.is_continuous(variable)) else { return 0.0 };
        let explained: f64 = parents.iter().zip(weights).map(|(&i, w)| w * self.correlation(variable, i)).sum();
        self.gain_of_shape(&values.sums(variable, parents, weights, 1.0 - explained, self.score.shape))
    }

    /// What the shape of residuals adds to twice the log-likelihood, given sums over them.
    pub(crate) fn gain_of_shape(&self, sums: &Sums) -> f64 {
        let n = self.values.as_ref().map_or(0, Values::count);
        // The rows may be a subsample.
        self.score.shape.gain(sums, n, self.score.samples.min(n as f64))
    }

    /// The standardised values of a variable, if the shape of residuals counts.
    pub(crate) fn values(&self, variable: u32) -> Option<&[f64]> {
        self.values.as_ref().map(|values| values.of(variable))
    }
}

/// The entries of a matrix of correlations, row by row, and its size.
fn checked(correlation: ArrayView2<'_, f64>) -> Result<(&[f64], usize), IcidError> {
    let dim = check_square("correlation", correlation.dim())?;
    let entries = correlation.to_slice().ok_or(IcidError::NotByRows { what: "correlation" })?;
    check_finite("correlation", &correlation)?;
    for &value in entries {
        check_parameter("a correlation", value, value.abs() <= 1.0 + 1e-9, "between -1 and 1")?;
    }
    for &value in correlation.diag() {
        check_parameter("the diagonal of the correlation", value, (value - 1.0).abs() <= 1e-9, "1")?;
    }
    Ok((entries, dim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn score() -> Score<'static> {
        Score::new(500.0, 7.0, Noise::Unequal).unwrap()
    }

    #[test]
    fn rows_are_those_of_the_correlations() {
        let correlation = ndarray::array![[1.0, 0.5], [0.5, 1.0]];
        let knowledge = Knowledge::none(2);
        let evidence = Evidence::new(correlation.view(), score(), &knowledge).unwrap();
        assert_eq!([evidence.row(0), evidence.row(1)], [[1.0, 0.5], [0.5, 1.0]]);
        assert_eq!((evidence.correlation(0, 1), evidence.dim()), (0.5, 2));
    }

    #[test]
    fn faults_are_named() {
        let knowledge = Knowledge::none(2);
        let fault =
            |matrix: &Array2<f64>, score| Evidence::new(matrix.view(), score, &knowledge).map(|_| ()).unwrap_err();
        let good = ndarray::array![[1.0, 0.5], [0.5, 1.0]];
        let equal = Score::new(500.0, 7.0, Noise::Equal).unwrap();
        let short = Score::new(500.0, 7.0, Noise::Known(&[1.0])).unwrap();
        assert_eq!(fault(&good, equal), IcidError::Equal);
        assert!(matches!(fault(&good, short), IcidError::Length { expected: 2, found: 1, .. }));
        assert!(matches!(fault(&Array2::eye(3), score()), IcidError::Length { .. }));
        assert!(matches!(fault(&ndarray::array![[1.0, f64::NAN], [0.5, 1.0]], score()), IcidError::NotFinite { .. }));
        assert!(matches!(fault(&ndarray::array![[0.9, 0.5], [0.5, 1.0]], score()), IcidError::Parameter { .. }));
        let by_columns = Evidence::new(good.view().reversed_axes(), score(), &knowledge);
        assert!(matches!(by_columns, Err(IcidError::NotByRows { .. })));
        let evidence = Evidence::new(good.view(), score(), &knowledge).unwrap();
        let (more, lost) = (Array2::zeros((3, 4)), Array2::from_elem((2, 4), f64::NAN));
        assert!(evidence.clone().with_values(more.view()).is_err());
        assert!(evidence.with_values(lost.view()).is_err());
    }

    #[test]
    fn the_shape_of_residuals_is_that_of_the_formula() {
        // More than a block, and no multiple of four.
        for n in [255, 256, 1_001] {
            let values = Array2::from_shape_fn((3, n), |(i, k)| ((7 * k + 3 * i * k + i) % 211) as f64 / 105.0 - 1.0);
            let (correlation, knowledge) = (Array2::eye(3), Knowledge::none(3));
            let plain = Evidence::new(correlation.view(), score(), &knowledge).unwrap();
            assert_eq!(plain.shape_gain(0, &[], &[]), 0.0);
            let swapped = plain.clone().with_rows_of_values(values.view(), vec![1, 0, 2]).unwrap();
            assert_eq!(
                swapped.shape_gain(1, &[0], &[0.4]),
                plain.clone().with_values(values.view()).unwrap().shape_gain(0, &[1], &[0.4])
            );
            for (parents, weights) in [(vec![], vec![]), (vec![1], vec![0.4]), (vec![1, 2], vec![-0.7, 0.3])] {
                let evidence = plain.clone().with_values(values.view()).unwrap();
                let residual = |k: usize| {
                    let explained: f64 = parents.iter().zip(&weights).map(|(&i, w)| w * values[[i as usize, k]]).sum();
                    values[[0, k]] - explained
                };
                // By the variance that the correlations imply, here all zero, and the expectation for the one that is.
                let mean = |f: &dyn Fn(f64) -> f64| (0..n).map(|k| f(residual(k))).sum::<f64>() / n as f64;
                let bell = |r: f64| (-0.5 * r * r).exp();
                let (odd, even) = (mean(&|r| r * bell(r)), mean(&bell) - 1.0 / (1.0 + mean(&|r| r * r)).sqrt());
                let negentropy = 36.0 / (8.0 * 3.0_f64.sqrt() - 9.0) * odd.powi(2)
                    + 24.0 / (16.0 * 3.0_f64.sqrt() - 27.0) * even.powi(2);
                let samples = 500.0_f64.min(n as f64);
                let expected = (2.0 * samples * negentropy - 2.0 * samples.ln()).max(0.0);
                let found = evidence.shape_gain(0, &parents, &weights);
                assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");
            }
        }
    }
}
