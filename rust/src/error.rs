//! The one error type of the crate.

use thiserror::Error;

/// Why a problem could not be posed or solved.
///
/// Running out of iterations is not an error but a [`Status`](crate::solver::Status).
#[derive(Debug, Clone, PartialEq, Error)]
pub enum IcidError {
    /// A matrix without rows.
    #[error("{what} is empty: it needs at least one row and one column")]
    Empty {
        /// The offending argument.
        what: &'static str,
    },
    /// A matrix that should be square is not.
    #[error("{what} must be square, but it is {rows} x {columns}")]
    NotSquare {
        /// The offending argument.
        what: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        columns: usize,
    },
    /// NaN or an infinity inside a matrix.
    #[error("{what}[{row}, {column}] is {value:?}: every entry must be finite")]
    NotFinite {
        /// The offending argument.
        what: &'static str,
        /// Row of the first such entry.
        row: usize,
        /// Column of the first such entry.
        column: usize,
        /// The value found there.
        value: f64,
    },
    /// Θ differs from its transpose by more than rounding.
    #[error(
        "theta must be symmetric, but theta[{row}, {column}] = {value:?} and theta[{column}, {row}] = {mirrored:?}; \
         pass (theta + theta.T) / 2 if the difference is harmless"
    )]
    NotSymmetric {
        /// Row of the first offending pair.
        row: usize,
        /// Column of the first offending pair.
        column: usize,
        /// The entry.
        value: f64,
        /// Its mirror image.
        mirrored: f64,
    },
    /// The diagonal of an inverse covariance matrix is positive.
    #[error("theta[{index}, {index}] = {value:?}: the diagonal of an inverse covariance matrix is positive")]
    Diagonal {
        /// Which variable.
        index: usize,
        /// Its diagonal entry.
        value: f64,
    },
    /// An array has the wrong length.
    #[error("{what} has length {found}, but theta has {expected} variables")]
    Length {
        /// The offending argument.
        what: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// Parts that belong together have different sizes.
    #[error("{what} has length {found}, but it must be {expected}")]
    Size {
        /// The offending part.
        what: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// Moments that hold different things cannot be merged.
    #[error("one of the moments has third moments and the other has not; make both with third=True, or neither")]
    Unlike,
    /// A noise variance that is not a positive number.
    #[error("noise_variances[{index}] = {value:?}: variances, and their inverses, must be positive and finite")]
    Variance {
        /// Which variable.
        index: usize,
        /// Its variance as given.
        value: f64,
    },
    /// A setting out of its range.
    #[error("{name} = {value:?}: it must be {requirement}")]
    Parameter {
        /// The setting.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// The problem does not fit into memory, found out before trying.
    #[error(
        "{what} needs {required} bytes, but only {available} are available; \
         use fewer columns or a sparser theta, or a machine with more memory"
    )]
    Memory {
        /// What was about to be allocated.
        what: &'static str,
        /// Bytes it would take.
        required: u128,
        /// Bytes there are.
        available: u128,
    },
    /// Arithmetic broke down: the objective left the finite numbers.
    #[error(
        "the objective became {value:?} in round {round}, iteration {iteration}; \
         rescale theta (its entries span too many orders of magnitude)"
    )]
    Numerical {
        /// The value of the objective.
        value: f64,
        /// Augmented Lagrangian round.
        round: usize,
        /// Iteration within the round.
        iteration: usize,
    },
    /// An order that is not one of the variables.
    #[error("order must hold each of 0 to {last} once, but {index} is out of range or there twice", last = .dim - 1)]
    Order {
        /// The offending entry.
        index: usize,
        /// The number of variables.
        dim: usize,
    },
    /// Θ turned out not to be positive definite.
    #[error(
        "theta is singular or indefinite: of theta[{index}, {index}] a share of {share:.1e} is left when variable {index} \
         is to be eliminated; look for variables that are copies or linear combinations of others, or estimate theta with \
         more regularisation",
        share = .pivot / .diagonal
    )]
    Singular {
        /// Which variable.
        index: usize,
        /// What is left of its diagonal entry.
        pivot: f64,
        /// Its diagonal entry.
        diagonal: f64,
    },
    /// `Θ_ii Ω_i` spans too many orders of magnitude.
    #[error(
        "theta[{index}, {index}] times its noise variance is {value:?} of what is typical: out of range; rescale the \
         variables"
    )]
    Range {
        /// Which variable.
        index: usize,
        /// Its scaled diagonal entry, where 1 is typical.
        value: f64,
    },
    /// A weight or a noise variance is no number any more in the units of the caller.
    #[error(
        "a weight into variable {index}, or its noise variance, became {value:?}: out of range; rescale the variables"
    )]
    Overflow {
        /// Which variable.
        index: usize,
        /// What came of it.
        value: f64,
    },
    /// The computation was interrupted before there was anything to return.
    #[error("interrupted before the first iteration")]
    Interrupted,
}
