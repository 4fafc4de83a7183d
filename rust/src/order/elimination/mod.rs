//! Order elimination: the exact decomposition of Θ along an order of its variables.
//!
//! Write `Θ̃ = Ω^½ Θ Ω^½`. If i is a sink, a variable without effects, then `Θ̃_ii = 1`; every other variable has
//! `Θ̃_ii > 1`. So the smallest diagonal entry belongs to a sink. Its column holds the weights of its causes,
//! `B[:, i] = −Θ[:, i] / Θ_ii`, and the Schur complement `Θ − Θ[:, i] Θ[i, :] / Θ_ii` is the inverse covariance of the
//! others. Repeat. It is a Cholesky factorisation whose pivot is the smallest scaled diagonal entry; with the unscaled
//! diagonal it is the rule of Ghoshal and Honorio (2018). Along an order given beforehand it is exact for any Ω.
//!
//! Eliminating a true sink removes the pairs that its causes owe to it, so a sparse Θ stays sparse ([`sparse`]); where
//! it fills in nevertheless, and for estimates that have no zeros, blocked dense arithmetic takes over ([`panels`]).

mod dense;
mod factor;
mod panels;
mod sparse;

pub(super) use dense::DenseTheta;
pub(super) use factor::Factor;

use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::memory::ensure_room;
use crate::parallel::{CHUNK, Pieces, balanced_ranges, for_each_block};
use crate::problem::SparseTheta;
use crate::problem::numbering::inverse;
use ndarray::ArrayView2;
use sprs::{CsMat, CsMatView};

/// Partial correlation up to which an entry has cancelled: what is left of it is rounding.
///
/// Rounding errors of 1e-16 grow along directed paths by the squares of their weights: to about 1e-9 on graphs of 1 000
/// variables with four edges each and weights up to 2. In no data is a partial correlation of 1e-9 anything but zero.
const CANCELLED: f64 = 1e-9;

/// Share of its diagonal entry below which a pivot shows that Θ is singular.
const COLLAPSED: f64 = 1e-10;

/// Which variable is eliminated next.
#[derive(Debug, Clone, Copy)]
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
        /// What is known of the edges.
        knowledge: &'a Knowledge,
    },
    /// The last of a causal order, causes first, that is not yet eliminated.
    Along(&'a [usize]),
}

impl<'a> Rule<'a> {
    fn noise_variances(self) -> Option<&'a [f64]> {
        match self {
            Self::SmallestPivot { noise_variances } | Self::Respecting { noise_variances, .. } => noise_variances,
            Self::Along(_) => None,
        }
    }
}

/// An exact decomposition `Θ = (I − B) Ω⁻¹ (I − B)ᵀ`.
#[derive(Debug, Clone)]
pub struct Elimination {
    /// The weights: acyclic, `B[i, j] ≠ 0` means i → j.
    pub b: CsMat<f64>,
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The diagonal of Ω.
    pub noise_variances: Vec<f64>,
}

impl Elimination {
    /// Refuse what has left the range of numbers on the way back to the caller's units.
    fn in_range(self) -> Result<Self, IcidError> {
        let lost = |&(_, &value): &(usize, &f64)| !(value > 0.0 && value.is_finite());
        if let Some((index, &value)) = self.noise_variances.iter().enumerate().find(lost) {
            return Err(IcidError::Overflow { index, value });
        }
        match self.b.iter().find(|(weight, _)| !weight.is_finite()) {
            Some((&value, (_, index))) => Err(IcidError::Overflow { index, value }),
            None => Ok(self),
        }
    }
}

/// Decompose a sparse Θ. Costs `O(Σ_j |N_j|² + d log d)` for the neighbourhoods `N_j` at their elimination.
///
/// Weights of at most `drop` are left out of B.
///
/// # Errors
/// When Θ is not an inverse covariance matrix (see [`Problem::new`](crate::Problem::new)), turns out to be singular or
/// indefinite, or does not fit into memory; when the order is not one of its variables; when interrupted.
pub fn eliminate(
    theta: CsMatView<f64>,
    rule: Rule,
    drop: f64,
    interrupt: &Interrupt,
) -> Result<Elimination, IcidError> {
    check_drop(drop)?;
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
    let scales = theta.in_our_numbers(&scales(&theta.diagonal_by_name(), rule)?);
    let columns = sparse::eliminate(&theta, &scales, order.as_deref(), interrupt)?;
    columns.into_elimination(&theta.names, drop).in_range()
}

/// Decompose a Θ without zeros to speak of. Costs `d³/3` multiplications, in panels.
///
/// # Errors
/// As [`eliminate`].
pub fn eliminate_dense(
    theta: &ArrayView2<f64>,
    rule: Rule,
    drop: f64,
    interrupt: &Interrupt,
) -> Result<Elimination, IcidError> {
    check_drop(drop)?;
    let theta = DenseTheta::new(theta, rule)?;
    theta.factorise(interrupt)?.clear_cancelled().to_elimination(drop)?.in_range()
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
    // In two factors, because one alone may be out of range.
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

/// A permutation of `0..d`.
pub(super) fn check_order(order: &[usize], d: usize) -> Result<Vec<u32>, IcidError> {
    if order.len() != d {
        return Err(IcidError::Length { what: "order", expected: d, found: order.len() });
    }
    let mut seen = vec![false; d];
    for &i in order {
        if i >= d || std::mem::replace(&mut seen[i], true) {
            return Err(IcidError::Order { index: i, dim: d });
        }
    }
    Ok(order.iter().map(|&i| i as u32).collect())
}

fn check_drop(drop: f64) -> Result<(), IcidError> {
    if drop >= 0.0 && drop.is_finite() {
        return Ok(());
    }
    Err(IcidError::Parameter { name: "drop", value: drop, requirement: "finite and >= 0" })
}

/// Is an entry rounding, given the diagonal entries of its row and column?
fn is_negligible(entry: f64, one: f64, other: f64) -> bool {
    // A product of the two first, which does not depend on which is which.
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

    /// Count variables from `first` on instead of from zero.
    fn shift(&mut self, first: u32) {
        for variable in self.eliminated.iter_mut().chain(&mut self.causes) {
            *variable += first;
        }
    }

    /// Add the columns of variables that were eliminated apart.
    fn append(&mut self, other: Self) {
        let before = self.causes.len();
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.eliminated.extend(other.eliminated);
        self.pivots.extend(other.pivots);
        self.causes.extend(other.causes);
        self.weights.extend(other.weights);
    }

    /// Assemble B in the caller's numbers.
    pub fn into_elimination(self, names: &[u32], drop: f64) -> Elimination {
        let d = self.eliminated.len();
        let mut noise_variances = vec![0.0; d];
        for (&i, pivot) in self.eliminated.iter().zip(&self.pivots) {
            noise_variances[names[i as usize] as usize] = 1.0 / pivot;
        }
        let order = self.eliminated.iter().rev().map(|&i| names[i as usize] as usize).collect();

        // By rows first, among our own numbers, where what belongs together lies together.
        let mut row_ends = vec![0; d + 1];
        let kept = |weight: f64| weight.abs() > drop;
        for (&cause, _) in self.causes.iter().zip(&self.weights).filter(|&(_, &weight)| kept(weight)) {
            row_ends[cause as usize + 1] += 1;
        }
        for i in 0..d {
            row_ends[i + 1] += row_ends[i];
        }
        let total = row_ends[d];
        let mut entries = vec![(0, 0.0); total];
        let mut start = 0;
        for (&effect, &end) in self.eliminated.iter().zip(&self.ends) {
            for k in (start..end).filter(|&k| kept(self.weights[k])) {
                let slot = &mut row_ends[self.causes[k] as usize];
                entries[*slot] = (names[effect as usize] as usize, self.weights[k]);
                *slot += 1;
            }
            start = end;
        }
        // Each slot has moved on to where the next row begins.
        let row = |i: usize| if i == 0 { 0 } else { row_ends[i - 1] }..row_ends[i];
        let numbers = inverse(names);
        let mut offsets = Vec::with_capacity(d + 1);
        offsets.push(0);
        let mut end = 0;
        for &i in &numbers {
            end += row(i as usize).len();
            offsets.push(end);
        }
        let blocks = balanced_ranges(offsets.windows(2).map(|w| w[1] - w[0] + 1), CHUNK);
        let ends: Vec<usize> = blocks.iter().map(|block| offsets[block.end]).collect();
        let (mut indices, mut values) = (vec![0; total], vec![0.0; total]);
        let out = (Pieces::new(&mut indices, &ends), Pieces::new(&mut values, &ends));
        for_each_block(&blocks, out, &|block, (indices, values)| {
            let mut slots = indices.into_slice().iter_mut().zip(values.into_slice());
            let mut sorted = Vec::new();
            for &i in &numbers[block.clone()] {
                sorted.extend_from_slice(&entries[row(i as usize)]);
                sorted.sort_unstable_by_key(|&(effect, _)| effect);
                for (entry, (effect, weight)) in sorted.drain(..).zip(slots.by_ref()) {
                    (*effect, *weight) = entry;
                }
            }
        });
        Elimination { b: CsMat::new((d, d), offsets, indices, values), order, noise_variances }
    }
}
