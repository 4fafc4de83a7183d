//! The data of a decomposition: Θ, the noise precisions D, and optionally the skewness weights λ₂M̃, checked once.

mod check;
pub(crate) mod numbering;
mod theta;

pub(crate) use check::{invert_variances, symmetric_mean};
pub(crate) use theta::SparseTheta;

use crate::algebra::check::{
    check_finite_sparse, check_length, check_parameter_not_negative, check_shape, check_size, check_square,
};
use crate::algebra::csr::Csr;
use crate::algebra::permutation::inverse;
use crate::error::IcidError;
use crate::pattern::Support;
use sprs::{CsMat, CsMatView};
use std::ops::Range;

/// The data of the decomposition `Θ = (I − B) D (I − B)ᵀ`.
///
/// Variables are renumbered breadth first along the support: neighbours lie close together in memory (which saves a third
/// of the time of an evaluation at d = 100 000), connected components are contiguous, and results do not depend on the order
/// of the columns. [`Problem::gather`] and [`Problem::to_matrix`] translate from and to the caller's numbering.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The caller's number of each variable.
    names: Vec<u32>,
    /// First variable of each connected component, and d.
    component_starts: Vec<usize>,
    support: Support,
    theta: Vec<f64>,
    noise_precision: Vec<f64>,
    skewness: Option<Vec<f64>>,
    /// Where on the support B must be zero, ascending.
    forbidden: Vec<u32>,
}

impl Problem {
    /// Check Θ and the noise variances Ω, and set `D = Ω⁻¹`; without Ω, every `D_j` is `min_i Θ_ii`, the precision of
    /// equal noise (Corollary 6 of the paper).
    ///
    /// Θ may differ from its transpose by rounding and may store zeros; it is symmetrised and its zeros are dropped.
    ///
    /// # Errors
    /// When Θ is empty, not square, not finite, not symmetric or has a diagonal entry that is not positive; when there
    /// are not d variances or one of them is not positive.
    pub fn new(theta: CsMatView<f64>, noise_variances: Option<&[f64]>) -> Result<Self, IcidError> {
        let SparseTheta { names, component_starts, offsets, neighbours, values, noise_precision } =
            SparseTheta::new(theta, noise_variances)?;
        let support = Support::from_symmetric(offsets, neighbours)?;
        Ok(Self {
            names,
            component_starts,
            support,
            theta: values,
            noise_precision,
            skewness: None,
            forbidden: Vec::new(),
        })
    }

    /// Add the skewness term `weight · tr(M̃ᵀ(B ⊙ B))`; entries of M̃ outside the support of Θ are ignored.
    ///
    /// # Errors
    /// When M̃ has another shape than Θ or an entry that is not finite, or the weight is negative or not finite.
    pub fn with_skewness(mut self, matrix: CsMatView<f64>, weight: f64) -> Result<Self, IcidError> {
        check_parameter_not_negative("skewness", weight)?;
        check_length("skewness_matrix", check_square("skewness_matrix", matrix.shape())?, self.dim())?;
        let matrix = matrix.to_csr();
        check_finite_sparse("skewness_matrix", matrix.view())?;
        let mut values = self.gather(matrix.view())?;
        for value in &mut values {
            *value *= weight;
        }
        for i in 0..self.dim() {
            values[self.support.diagonal(i)] = 0.0;
        }
        self.skewness = (weight > 0.0).then_some(values);
        Ok(self)
    }

    /// Forbid the edges stored in a matrix: B stays zero there. Edges outside the support of Θ are absent anyway.
    ///
    /// # Errors
    /// When the matrix has another shape than Θ.
    pub fn with_forbidden(mut self, edges: CsMatView<f64>) -> Result<Self, IcidError> {
        check_length("forbidden", check_square("forbidden", edges.shape())?, self.dim())?;
        let numbers = inverse(&self.names);
        let position = |(i, j): (usize, usize)| self.support.position(numbers[i] as usize, numbers[j] as usize);
        self.forbidden = edges.iter().filter_map(|(_, edge)| position(edge)).map(|k| k as u32).collect();
        self.forbidden.sort_unstable();
        Ok(self)
    }

    /// The entries of a d × d matrix on the support of Θ, in the internal numbering; entries elsewhere are left out.
    ///
    /// # Errors
    /// [`IcidError::Shape`] if the matrix is not d × d.
    pub fn gather(&self, matrix: CsMatView<f64>) -> Result<Vec<f64>, IcidError> {
        check_shape("matrix", matrix.shape(), self.dim())?;
        let numbers = inverse(&self.names);
        let mut values = vec![0.0; self.support.len()];
        for (&value, (i, j)) in matrix {
            if let Some(k) = self.support.position(numbers[i] as usize, numbers[j] as usize) {
                values[k] = value;
            }
        }
        Ok(values)
    }

    /// A vector on the support as a sparse matrix in the caller's numbering, without its zeros.
    ///
    /// # Errors
    /// [`IcidError::Size`] if the vector does not have one value for each entry of the support.
    pub fn to_matrix(&self, values: &[f64]) -> Result<CsMat<f64>, IcidError> {
        check_size("values", values.len(), self.support.len())?;
        let numbers = inverse(&self.names);
        let entries = |i: u32| {
            let row = self.support.neighbours(i as usize).iter().zip(&values[self.support.row(i as usize)]);
            row.filter(|&(_, &value)| value != 0.0).map(|(&j, &value)| (self.names[j as usize] as usize, value))
        };
        let lengths = numbers.iter().map(|&i| entries(i).count());
        Ok(Csr::from_rows(lengths, |name, row| row.extend(entries(numbers[name]))).into_square())
    }

    /// The connected components of the support, each a range of variables in the internal numbering.
    pub(crate) fn components(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.component_starts.windows(2).map(|w| w[0]..w[1])
    }

    /// The problem of one of the [`Problem::components`] alone.
    pub(crate) fn component(&self, variables: Range<usize>) -> Result<Self, IcidError> {
        let entries = self.component_entries(&variables);
        Ok(Self {
            names: (0..variables.len() as u32).collect(),
            component_starts: vec![0, variables.len()],
            support: self.support.component(variables.clone())?,
            theta: self.theta[entries.clone()].to_vec(),
            noise_precision: self.noise_precision[variables].to_vec(),
            skewness: self.skewness.as_ref().map(|s| s[entries.clone()].to_vec()),
            forbidden: {
                let inside = |&&k: &&u32| entries.contains(&(k as usize));
                self.forbidden.iter().filter(inside).map(|k| k - entries.start as u32).collect()
            },
        })
    }

    /// Where a component lies in vectors on the support.
    pub(crate) fn component_entries(&self, variables: &Range<usize>) -> Range<usize> {
        self.support.row(variables.start).start..self.support.row(variables.end - 1).end
    }

    /// Number of variables d.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.support.dim()
    }

    /// Where B may be nonzero.
    #[must_use]
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// Θ on its support.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// The diagonal of D, the inverse noise variances.
    #[must_use]
    pub fn noise_precision(&self) -> &[f64] {
        &self.noise_precision
    }

    /// λ₂M̃ on the support, if there is a skewness term.
    #[must_use]
    pub fn skewness(&self) -> Option<&[f64]> {
        self.skewness.as_deref()
    }

    /// Where on the support B must be zero.
    #[must_use]
    pub fn forbidden(&self) -> &[u32] {
        &self.forbidden
    }

    /// A pair with `Θ_ij² ≥ Θ_ii Θ_jj`, which shows that Θ is not positive definite, if there is one.
    ///
    /// Only 2 × 2 minors are checked, which takes linear time.
    #[must_use]
    pub fn indefinite_pair(&self) -> Option<(usize, usize)> {
        let diagonal = |i: usize| self.theta[self.support.diagonal(i)];
        (0..self.dim()).find_map(|i| {
            let row = self.support.row(i).zip(self.support.neighbours(i));
            row.map(|(k, &j)| (k, j as usize))
                .find(|&(k, j)| i < j && self.theta[k].abs() >= diagonal(i).sqrt() * diagonal(j).sqrt())
                .map(|(_, j)| (self.names[i] as usize, self.names[j] as usize))
                .map(|(i, j)| (i.min(j), i.max(j)))
        })
    }
}

#[cfg(test)]
mod tests;
