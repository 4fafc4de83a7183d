//! The one error type of the crate.

use thiserror::Error;

/// Why a problem could not be posed or solved.
///
/// Running out of iterations is not an error but a [`Status`](crate::solver::Status).
/// [`IcidError::kind`] sorts errors into four kinds; later releases may add variants.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
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
    /// A matrix has another shape than the data.
    #[error("{what} is {rows} x {columns}, but there are {expected} variables: it must be {expected} x {expected}")]
    Shape {
        /// The offending argument.
        what: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        columns: usize,
        /// The number of variables.
        expected: usize,
    },
    /// The rows of a matrix are not contiguous in memory, for instance because it is stored by columns.
    #[error("{what} must be stored row by row; convert it first (`to_csr` or `as_standard_layout`)")]
    NotByRows {
        /// The offending argument.
        what: &'static str,
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
    /// A pattern that should be symmetric has an entry without its mirror image.
    #[error("{what} has an entry at [{row}, {column}] but none at [{column}, {row}]; add the missing one")]
    OneSided {
        /// The offending argument.
        what: &'static str,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
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
    /// Moments with and without third moments cannot be merged.
    #[error("one of the moments has third moments and the other has not; make both with third=True, or neither")]
    Unlike,
    /// A row that should be a standardised variable is not of length one.
    #[error("row {row} of the standardised variables has length {length:?}: centre it and divide it by its length")]
    NotStandardised {
        /// Which variable.
        row: usize,
        /// Its length.
        length: f64,
    },
    /// A variable that has the same value in all samples.
    #[error("variable {index} is {value:?} in all samples; drop it")]
    Constant {
        /// Which variable.
        index: usize,
        /// That value.
        value: f64,
    },
    /// Two variables that are the same up to scale.
    #[error("variables {first} and {second} are the same up to scale; drop one of them")]
    Copies {
        /// The one with the smaller number.
        first: usize,
        /// The other.
        second: usize,
    },
    /// Too few samples.
    #[error("n_samples = {found}: correlations cannot be tested with fewer than {least} rows, whatever their columns")]
    Samples {
        /// How many there are.
        found: usize,
        /// How many there must be.
        least: usize,
    },
    /// An entry of a vector that must be positive is not.
    #[error("{what}[{index}] = {value:?}: every entry must be positive and finite")]
    Positive {
        /// The offending argument.
        what: &'static str,
        /// Which entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// An entry of a vector is negative or not finite.
    #[error("{what}[{index}] = {value:?}: every entry must be finite and >= 0")]
    Negative {
        /// The offending argument.
        what: &'static str,
        /// Which entry.
        index: usize,
        /// Its value.
        value: f64,
    },
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
        /// Its permitted range.
        requirement: &'static str,
    },
    /// The problem does not fit into memory; nothing was allocated.
    #[error(
        "{what} needs {required} bytes, but only {available} are available; \
         use fewer columns or a sparser theta, or a machine with more memory"
    )]
    Memory {
        /// The allocation.
        what: &'static str,
        /// Bytes it would take.
        required: u128,
        /// Bytes there are.
        available: u128,
    },
    /// The objective became infinite or NaN.
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
    /// An order that is not a permutation of the variables.
    #[error("order must hold each of 0 to {last} once, but {index} is out of range or there twice", last = .dim - 1)]
    Order {
        /// The offending entry.
        index: usize,
        /// The number of variables.
        dim: usize,
    },
    /// An edge leads from a later variable of an order to an earlier one, or to itself.
    #[error("the edge {cause} -> {effect} contradicts the order, which must hold causes before their effects")]
    Backwards {
        /// Where the edge begins.
        cause: usize,
        /// Where it ends.
        effect: usize,
    },
    /// An edge of background knowledge does not join two different variables.
    #[error("the {what} edge {cause} -> {effect} must join two different variables of the {dim} that there are")]
    Edge {
        /// Which edges: required or forbidden ones.
        what: &'static str,
        /// Where the edge begins.
        cause: usize,
        /// Where it ends.
        effect: usize,
        /// The number of variables.
        dim: usize,
    },
    /// A required edge is also forbidden, by itself or by the tiers of its ends.
    #[error("the edge {cause} -> {effect} is required, but it is also forbidden or leads to an earlier tier")]
    Contradiction {
        /// Where the edge begins.
        cause: usize,
        /// Where it ends.
        effect: usize,
    },
    /// Required edges form a cycle.
    #[error("required edges form a cycle of the variables {variables:?}; drop one of these edges")]
    Cycle {
        /// The variables of the cycle: each is a required parent of the next, and the last of the first.
        variables: Vec<usize>,
    },
    /// Candidates of a variable that are not in ascending order, or not other variables.
    #[error("candidates[{row}] must hold other variables in ascending order, but {index} is out of place")]
    Candidates {
        /// Whose candidates.
        row: usize,
        /// The offending entry.
        index: usize,
    },
    /// A required edge that a search may not choose.
    #[error("the edge {row} -> {column} is required, but {row} and {column} are no candidates of each other")]
    Missing {
        /// Where the edge begins.
        row: usize,
        /// Where it ends.
        column: usize,
    },
    /// A search scores variables one by one, which equal noise variances do not allow.
    #[error("a search needs noise variances that are known or unequal: equal ones are no sum over variables")]
    Equal,
    /// A search needs at least one order to start from.
    #[error("starts is empty: a search needs at least one order to start from")]
    NoStart,
    /// The inverse of the covariance is needed, but was not given.
    #[error("{what} needs the inverse of the covariance, which is not there; there are too few samples")]
    NoInverse {
        /// The computation that needs it.
        what: &'static str,
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
        /// Its diagonal entry when it is to be eliminated.
        pivot: f64,
        /// Its original diagonal entry.
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
    /// A weight or a noise variance overflows or underflows in the units of the caller.
    #[error(
        "a weight into variable {index}, or its noise variance, became {value:?}: out of range; rescale the variables"
    )]
    Overflow {
        /// Which variable.
        index: usize,
        /// The value that it became.
        value: f64,
    },
    /// The computation was interrupted before there was anything to return.
    #[error("interrupted before the first iteration")]
    Interrupted,
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is wrong, or arguments do not fit together.
    Argument,
    /// The problem does not fit into memory.
    Memory,
    /// Arithmetic broke down on arguments that looked right.
    Numerical,
    /// The caller asked to stop.
    Interrupted,
}

impl IcidError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Memory { .. } => ErrorKind::Memory,
            Self::Numerical { .. } | Self::Singular { .. } | Self::Overflow { .. } => ErrorKind::Numerical,
            Self::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Argument,
        }
    }
}
