//! The one error type of the crate.

use thiserror::Error;

/// Why a problem could not be posed or solved.
///
/// Running out of iterations is not an error but a [`Status`](crate::solver::Status).
/// [`IcidError::kind`] sorts errors into four kinds; later releases may add variants.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // of fields, which are named after what they hold: `what` is the offending argument
pub enum IcidError {
    /// A matrix or list without entries.
    #[error("{what} is empty: it needs at least one row and one column")]
    Empty { what: &'static str },
    /// A matrix that should be square is not.
    #[error("{what} must be square, but it is {rows} x {columns}")]
    NotSquare { what: &'static str, rows: usize, columns: usize },
    /// A matrix has another shape than the data.
    #[error("{what} is {rows} x {columns}, but there are {expected} variables: it must be {expected} x {expected}")]
    Shape { what: &'static str, rows: usize, columns: usize, expected: usize },
    /// The rows of a matrix are not contiguous in memory, for instance because it is stored by columns.
    #[error("{what} must be stored row by row; convert it first (`to_csr` or `as_standard_layout`)")]
    NotByRows { what: &'static str },
    /// NaN or an infinity inside a matrix: the first such entry.
    #[error("{what}[{row}, {column}] is {value:?}: every entry must be finite")]
    NotFinite { what: &'static str, row: usize, column: usize, value: f64 },
    /// Θ differs from its transpose by more than rounding: the first such pair of entries.
    #[error(
        "theta must be symmetric, but theta[{row}, {column}] = {value:?} and theta[{column}, {row}] = {mirrored:?}; \
         pass (theta + theta.T) / 2 if the difference is harmless"
    )]
    NotSymmetric { row: usize, column: usize, value: f64, mirrored: f64 },
    /// A pattern that should be symmetric has an entry without its mirror image.
    #[error("{what} has an entry at [{row}, {column}] but none at [{column}, {row}]; add the missing one")]
    OneSided { what: &'static str, row: usize, column: usize },
    /// A diagonal entry of Θ is not positive.
    #[error("theta[{index}, {index}] = {value:?}: the diagonal of an inverse covariance matrix is positive")]
    Diagonal { index: usize, value: f64 },
    /// An array has the wrong length.
    #[error("{what} has length {found}, but theta has {expected} variables")]
    Length { what: &'static str, expected: usize, found: usize },
    /// Parts that belong together have different sizes.
    #[error("{what} has length {found}, but it must be {expected}")]
    Size { what: &'static str, expected: usize, found: usize },
    /// Moments with and without third moments cannot be merged.
    #[error("one of the moments has third moments and the other has not; make both with third=True, or neither")]
    Unlike,
    /// A row that should be a standardised variable is not of length one.
    #[error("row {row} of the standardised variables has length {length:?}: centre it and divide it by its length")]
    NotStandardised { row: usize, length: f64 },
    /// A variable that has the same value in all samples.
    #[error("variable {index} is {value:?} in all samples; drop it")]
    Constant { index: usize, value: f64 },
    /// Two variables that are the same up to scale.
    #[error("variables {first} and {second} are the same up to scale; drop one of them")]
    Copies { first: usize, second: usize },
    /// Too few samples.
    #[error("n_samples = {found}: correlations cannot be tested with fewer than {least} rows, whatever their columns")]
    Samples { found: usize, least: usize },
    /// An entry of a vector that must be positive is not.
    #[error("{what}[{index}] = {value:?}: every entry must be positive and finite")]
    Positive { what: &'static str, index: usize, value: f64 },
    /// An entry of a vector is negative or not finite.
    #[error("{what}[{index}] = {value:?}: every entry must be finite and >= 0")]
    Negative { what: &'static str, index: usize, value: f64 },
    /// A noise variance that is not a positive number.
    #[error("noise_variances[{index}] = {value:?}: variances, and their inverses, must be positive and finite")]
    Variance { index: usize, value: f64 },
    /// A setting out of its range.
    #[error("{name} = {value:?}: it must be {requirement}")]
    Parameter { name: &'static str, value: f64, requirement: &'static str },
    /// The problem does not fit into memory (in bytes); nothing was allocated.
    #[error(
        "{what} needs {required} bytes, but only {available} are available; \
         use fewer columns or a sparser theta, or a machine with more memory"
    )]
    Memory { what: &'static str, required: u128, available: u128 },
    /// The objective became infinite or NaN, in this round of the augmented Lagrangian method and iteration of FISTA.
    #[error(
        "the objective became {value:?} in round {round}, iteration {iteration}; \
         rescale theta (its entries span too many orders of magnitude)"
    )]
    Numerical { value: f64, round: usize, iteration: usize },
    /// An order of `dim` variables that does not hold each of them once: the first entry at fault.
    #[error("order must hold each of 0 to {last} once, but {index} is out of range or there twice", last = .dim - 1)]
    Order { index: usize, dim: usize },
    /// An edge leads from a later variable of an order to an earlier one, or to itself.
    #[error("the edge {cause} -> {effect} contradicts the order, which must hold causes before their effects")]
    Backwards { cause: usize, effect: usize },
    /// An edge of background knowledge, `required` or `forbidden`, that does not join two different variables.
    #[error("the {what} edge {cause} -> {effect} must join two different variables of the {dim} that there are")]
    Edge { what: &'static str, cause: usize, effect: usize, dim: usize },
    /// A required edge is also forbidden, by itself or by the tiers of its ends.
    #[error("the edge {cause} -> {effect} is required, but it is also forbidden or leads to an earlier tier")]
    Contradiction { cause: usize, effect: usize },
    /// Required edges form a cycle: each variable is a required parent of the next, and the last of the first.
    #[error("required edges form a cycle of the variables {variables:?}; drop one of these edges")]
    Cycle { variables: Vec<usize> },
    /// Candidates of variable `row` that are not in ascending order, or not other variables.
    #[error("candidates[{row}] must hold other variables in ascending order, but {index} is out of place")]
    Candidates { row: usize, index: usize },
    /// A required edge that a search may not choose.
    #[error("the edge {row} -> {column} is required, but {row} and {column} are no candidates of each other")]
    Missing { row: usize, column: usize },
    /// A search scores variables one by one, which equal noise variances do not allow.
    #[error("a search needs noise variances that are known or unequal: equal ones are no sum over variables")]
    Equal,
    /// A search needs at least one order to start from.
    #[error("starts is empty: a search needs at least one order to start from")]
    NoStart,
    /// The inverse of the covariance is needed for a computation, but was not given.
    #[error("{what} needs the inverse of the covariance, which is not there; there are too few samples")]
    NoInverse { what: &'static str },
    /// Hidden causes explain what many variables share, so that there are fewer of them than variables.
    #[error("loadings has {given} columns for {variables} variables: there must be fewer hidden causes than variables")]
    HiddenCauses { given: usize, variables: usize },
    /// Θ turned out not to be positive definite: the diagonal entry `diagonal` had shrunk to `pivot` when it was to be
    /// eliminated.
    #[error(
        "theta is singular or indefinite: of theta[{index}, {index}] a share of {share:.1e} is left when variable {index} \
         is to be eliminated; look for variables that are copies or linear combinations of others, or estimate theta with \
         more regularisation",
        share = .pivot / .diagonal
    )]
    Singular { index: usize, pivot: f64, diagonal: f64 },
    /// `Θ_ii Ω_i` spans too many orders of magnitude; 1 is its typical value.
    #[error(
        "theta[{index}, {index}] times its noise variance is {value:?} of what is typical: out of range; rescale the \
         variables"
    )]
    Range { index: usize, value: f64 },
    /// A weight or a noise variance overflows or underflows in the units of the caller.
    #[error(
        "a weight into variable {index}, or its noise variance, became {value:?}: out of range; rescale the variables"
    )]
    Overflow { index: usize, value: f64 },
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
