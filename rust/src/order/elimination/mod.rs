//! Order elimination: the exact decomposition of Θ along an order of its variables.
//!
//! Write `Θ̃ = Ω^½ Θ Ω^½`. If i is a sink, a variable without effects, then `Θ̃_ii = 1`; every other variable has
//! `Θ̃_ii > 1`. So the smallest diagonal entry belongs to a sink. Its column holds the weights of its causes,
//! `B[:, i] = −Θ[:, i] / Θ_ii`, and the Schur complement `Θ − Θ[:, i] Θ[i, :] / Θ_ii` is the inverse covariance of the
//! others. Repeat. It is a Cholesky factorisation whose pivot is the smallest scaled diagonal entry; with the unscaled
//! diagonal it is the rule of Ghoshal and Honorio (2018). Along an order given beforehand it is exact for any Ω.
//!
//! Eliminating a sink of the true graph removes the entries that it caused between its parents, so a sparse Θ stays sparse
//! ([`sparse`]); where it fills in nevertheless, and for estimates without zeros, blocked dense arithmetic takes over
//! ([`panels`]).

mod dense;
mod factor;
mod panels;
mod pivots;
mod sparse;

pub(super) use dense::DenseTheta;
pub(super) use factor::Factor;

use crate::algebra::check::check_parameter_not_negative;
use crate::algebra::csr::{Counts, Csr, from_entries};
use crate::algebra::permutation::{check_order, inverse};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::memory::ensure_room;
use crate::problem::SparseTheta;
use crate::sem::LinearSem;
use ndarray::ArrayView2;
use sprs::CsMatView;

/// Partial correlation up to which an entry counts as zero: the rounding error of a cancellation.
///
/// Rounding errors of 1e-16 grow along directed paths by the squares of their weights: to about 1e-9 on graphs of 1 000
/// variables with four edges each and weights up to 2. In no data is a partial correlation of 1e-9 anything but zero.
const CANCELLED: f64 = 1e-9;

/// Share of the original diagonal entry below which a pivot counts as zero and Θ as singular.
const COLLAPSED: f64 = 1e-10;

/// Share of nonzeros from which Θ is treated as dense from the start.
const DENSE_SHARE: f64 = 0.1;

/// Up to this many variables Θ is treated as dense.
const SMALL: f64 = 128.0;

/// Which variable is eliminated next.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Rule<'a> {
    /// The one with the smallest `Θ_ii Ω_i`; without noise variances, with the smallest `Θ_ii`.
    SmallestPivot {
        /// Ω, where it is known.
        noise_variances: Option<&'a [f64]>,
    },
    /// The same, but required causes after their effects, and earlier tiers after later ones.
    Respecting {
        /// Ω, where it is known.
        noise_variances: Option<&'a [f64]>,
        /// Background knowledge.
        knowledge: &'a Knowledge,
    },
    /// The last of a causal order, causes first, that is not yet eliminated.
    Along(&'a [usize]),
}

impl<'a> Rule<'a> {
    /// The smallest pivot next, as far as background knowledge allows.
    pub(crate) fn smallest_pivot(noise_variances: Option<&'a [f64]>, knowledge: &'a Knowledge) -> Self {
        if knowledge.is_trivial() {
            Self::SmallestPivot { noise_variances }
        } else {
            Self::Respecting { noise_variances, knowledge }
        }
    }

    fn noise_variances(self) -> Option<&'a [f64]> {
        match self {
            Self::SmallestPivot { noise_variances } | Self::Respecting { noise_variances, .. } => noise_variances,
            Self::Along(_) => None,
        }
    }
}

/// An inverse covariance matrix, stored as a dense or a sparse matrix.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Theta<'a> {
    /// Every entry.
    Dense(ArrayView2<'a, f64>),
    /// The nonzero entries.
    Sparse(CsMatView<'a, f64>),
}

impl Theta<'_> {
    /// Whether dense arithmetic is faster from the start. Where a sparse Θ fills in, the sparse elimination switches itself.
    fn is_dense(&self) -> bool {
        let ((rows, columns), filled) = match self {
            Self::Dense(theta) => (theta.dim(), theta.iter().filter(|&&value| value != 0.0).count()),
            Self::Sparse(theta) => (theta.shape(), theta.nnz()),
        };
        let size = rows as f64 * columns as f64;
        size <= SMALL * SMALL || filled as f64 > DENSE_SHARE * size
    }
}

/// Decompose Θ exactly: `Θ = (I − B) Ω⁻¹ (I − B)ᵀ`, by dense or sparse arithmetic, whichever is faster.
///
/// Weights of at most `drop` are left out of B.
///
/// # Errors
/// As [`eliminate_sparse`].
///
/// # Examples
/// ```
/// use icid_rs::Interrupt;
/// use icid_rs::order::{Rule, Theta, eliminate};
///
/// // 0 → 1 with weight 1/2, and noise of variance 1.
/// let theta = ndarray::array![[1.25, -0.5], [-0.5, 1.0]];
/// let rule = Rule::SmallestPivot { noise_variances: None };
/// let sem = eliminate(Theta::Dense(theta.view()), rule, 0.0, &Interrupt::default())?;
/// assert_eq!(sem.order, [0, 1]);
/// assert_eq!(sem.b.get(0, 1), Some(&0.5));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
pub fn eliminate(theta: Theta, rule: Rule, drop: f64, interrupt: &Interrupt) -> Result<LinearSem, IcidError> {
    let dense = theta.is_dense();
    match theta {
        Theta::Dense(theta) if dense => eliminate_dense(&theta, rule, drop, interrupt),
        Theta::Dense(theta) => {
            let entries = || theta.indexed_iter().filter(|&(_, &value)| value != 0.0);
            let matrix = from_entries(theta.dim(), || entries().map(|((i, j), &value)| (i, j, value)));
            eliminate_sparse(matrix.view(), rule, drop, interrupt)
        }
        Theta::Sparse(theta) if dense => {
            let (rows, columns) = theta.shape();
            ensure_room::<f64>("a dense theta", rows as u128 * columns as u128)?;
            eliminate_dense(&theta.to_dense().view(), rule, drop, interrupt)
        }
        Theta::Sparse(theta) => eliminate_sparse(theta, rule, drop, interrupt),
    }
}

/// Decompose a sparse Θ. Costs `O(Σ_j |N_j|² + d log d)` for the neighbourhoods `N_j` at their elimination.
///
/// # Errors
/// When Θ is not an inverse covariance matrix (see [`Problem::new`](crate::Problem::new)), turns out to be singular or
/// indefinite, or does not fit into memory; when the order is not a permutation of its variables; when interrupted.
pub fn eliminate_sparse(
    theta: CsMatView<f64>,
    rule: Rule,
    drop: f64,
    interrupt: &Interrupt,
) -> Result<LinearSem, IcidError> {
    check_parameter_not_negative("drop", drop)?;
    let order = match rule {
        Rule::SmallestPivot { .. } => None,
        Rule::Along(order) => Some(order),
        Rule::Respecting { .. } => {
            let (rows, columns) = theta.shape();
            ensure_room::<f64>("a dense theta", rows as u128 * columns as u128)?;
            return eliminate_dense(&theta.to_dense().view(), rule, drop, interrupt);
        }
    };
    let theta = SparseTheta::new(theta, rule.noise_variances())?;
    let order = order.map(|order| check_order(order, theta.dim())).transpose()?;
    let scales = scales(&theta.diagonal_by_name(), rule)?;
    let scales: Vec<f64> = theta.names.iter().map(|&name| scales[name as usize]).collect();
    let columns = sparse::eliminate(&theta, &scales, order.as_deref(), interrupt)?;
    columns.into_sem(&theta.names, drop).in_range()
}

/// Decompose a dense Θ. Costs `d³/3` multiplications, in panels.
///
/// # Errors
/// As [`eliminate_sparse`].
pub fn eliminate_dense(
    theta: &ArrayView2<f64>,
    rule: Rule,
    drop: f64,
    interrupt: &Interrupt,
) -> Result<LinearSem, IcidError> {
    check_parameter_not_negative("drop", drop)?;
    let theta = DenseTheta::new(theta, rule)?;
    theta.factorise(interrupt)?.clear_cancelled().to_sem(drop)?.in_range()
}

/// Factors that bring Θ to unit noise, up to a power of two that makes its typical diagonal entry about 1; along a given
/// order, where the noise does not matter, factors that bring the diagonal to 1.
fn scales(diagonal: &[f64], rule: Rule) -> Result<Vec<f64>, IcidError> {
    if matches!(rule, Rule::Along(_)) {
        return Ok(diagonal.iter().map(|t| 1.0 / t.sqrt()).collect());
    }
    let roots: Vec<f64> = match rule.noise_variances() {
        Some(variances) => variances.iter().map(|v| v.sqrt()).collect(),
        None => vec![1.0; diagonal.len()],
    };
    let logarithms = diagonal.iter().zip(&roots).map(|(t, r)| 0.5 * t.log2() + r.log2());
    // Two factors, because their product may overflow.
    let shift = -(logarithms.sum::<f64>() / diagonal.len() as f64).round();
    let (one, other) = ((shift / 2.0).floor().exp2(), (shift / 2.0).ceil().exp2());
    let scales: Vec<f64> = roots.iter().map(|r| r * one * other).collect();
    for (index, (t, s)) in diagonal.iter().zip(&scales).enumerate() {
        let value = t * s * s;
        // Squares of entries must stay in range too.
        if !(1e-140..1e140).contains(&value) {
            return Err(IcidError::Range { index, value });
        }
    }
    Ok(scales)
}

/// Whether an entry is zero up to rounding, given the diagonal entries of its row and column.
fn is_negligible(entry: f64, one: f64, other: f64) -> bool {
    // The diagonal entries are multiplied first, so that (i, j) and (j, i) give the same result.
    entry * entry <= CANCELLED * CANCELLED * (one * other)
}

fn check_pivot(pivot: f64, diagonal: f64, index: u32) -> Result<(), IcidError> {
    if pivot > COLLAPSED * diagonal {
        return Ok(());
    }
    Err(IcidError::Singular { index: index as usize, pivot, diagonal })
}

/// Columns of B as they are read off, one for each elimination.
#[derive(Debug)]
pub(super) struct Columns {
    /// The variables, effects first.
    eliminated: Vec<u32>,
    pivots: Vec<f64>,
    /// Where each column ends.
    ends: Vec<usize>,
    causes: Vec<u32>,
    weights: Vec<f64>,
}

impl Columns {
    pub fn with_capacity(d: usize, entries: usize) -> Self {
        Self {
            eliminated: Vec::with_capacity(d),
            pivots: Vec::with_capacity(d),
            ends: Vec::with_capacity(d),
            causes: Vec::with_capacity(entries),
            weights: Vec::with_capacity(entries),
        }
    }

    pub fn push(&mut self, variable: u32, pivot: f64, causes: impl Iterator<Item = (u32, f64)>) {
        for (cause, weight) in causes {
            self.causes.push(cause);
            self.weights.push(weight);
        }
        self.eliminated.push(variable);
        self.pivots.push(pivot);
        self.ends.push(self.causes.len());
    }

    /// Add `first` to the numbers of all variables.
    fn shift(&mut self, first: u32) {
        for variable in self.eliminated.iter_mut().chain(&mut self.causes) {
            *variable += first;
        }
    }

    /// Append the columns of other connected components.
    fn append(&mut self, other: Self) {
        let before = self.causes.len();
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.eliminated.extend(other.eliminated);
        self.pivots.extend(other.pivots);
        self.causes.extend(other.causes);
        self.weights.extend(other.weights);
    }

    /// Assemble the model in the caller's numbering.
    pub fn into_sem(self, names: &[u32], drop: f64) -> LinearSem {
        let (d, numbers) = (self.eliminated.len(), inverse(names));
        let mut noise_variances = vec![0.0; d];
        for (&i, pivot) in self.eliminated.iter().zip(&self.pivots) {
            noise_variances[names[i as usize] as usize] = 1.0 / pivot;
        }
        let order = self.eliminated.iter().rev().map(|&i| names[i as usize] as usize).collect();

        // Rows are gathered in the internal numbering first, in which neighbours lie close together in memory.
        let (causes, weights) = (&self.causes, &self.weights);
        let kept = |&k: &usize| weights[k].abs() > drop;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let columns = self.eliminated.iter().zip(starts.zip(&self.ends));
        let entries = columns.flat_map(|(&effect, (start, &end))| {
            let effect = names[effect as usize] as usize;
            (start..end).filter(kept).map(move |k| (causes[k] as usize, (effect, weights[k])))
        });
        let counts = Counts::new(d, (0..causes.len()).filter(kept).map(|k| causes[k] as usize));
        let (starts, placed) = counts.place(entries);
        let row = |name: usize| starts[numbers[name] as usize]..starts[numbers[name] as usize + 1];
        let b = Csr::from_rows((0..d).map(|name| row(name).len()), |name, entries| {
            entries.extend_from_slice(&placed[row(name)]);
        });
        LinearSem { b: b.into_square(), order, noise_variances }
    }
}
