//! Linear structural equation models and acyclic graphs, each with a causal order.

use crate::algebra::check::{check_finite_sparse, check_size, check_square};
use crate::algebra::permutation::{check_order, inverse};
use crate::algebra::product::{gram, square};
use crate::error::IcidError;
use crate::memory::ensure_room;
use crate::score::check_known_variances;
use ndarray::Array2;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// A linear structural equation model `X = X B + E`, whose noise terms E are independent.
///
/// # Examples
/// ```
/// use icid_rs::LinearSem;
/// use sprs::TriMat;
///
/// let mut edges = TriMat::new((2, 2));
/// edges.add_triplet(1, 0, 0.5);
/// let sem = LinearSem::new(edges.to_csr(), vec![1, 0], vec![1.0, 2.0])?;
/// assert_eq!((sem.dim(), sem.edges()), (2, 1));
/// // An effect that comes before its cause is refused.
/// assert!(LinearSem::new(edges.to_csr(), vec![0, 1], vec![1.0, 2.0]).is_err());
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LinearSem {
    /// The weights: acyclic, `B[i, j] ≠ 0` for i → j.
    pub b: CsMat<f64>,
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The variance of each variable's noise: the diagonal of Ω.
    pub noise_variances: Vec<f64>,
}

impl LinearSem {
    /// Make a model from its weights, a causal order and the noise variances.
    ///
    /// # Errors
    /// When B is not square or not finite, has an edge that contradicts the order, or when there is not one positive
    /// variance for each variable.
    pub fn new(b: CsMat<f64>, order: Vec<usize>, noise_variances: Vec<f64>) -> Result<Self, IcidError> {
        let sem = Self { b, order, noise_variances };
        sem.check()?;
        Ok(sem)
    }

    /// Check what [`LinearSem::new`] promises: fields are public and may have been changed since.
    fn check(&self) -> Result<(), IcidError> {
        check_weights(self.b.view())?;
        check_acyclic(self.b.view(), &self.order)?;
        check_size("noise_variances", self.noise_variances.len(), self.order.len())?;
        check_known_variances(&self.noise_variances)
    }

    /// Number of variables d.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.order.len()
    }

    /// Number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.b.nnz()
    }

    /// The covariance of the variables, `(I − B)⁻ᵀ Ω (I − B)⁻¹`.
    ///
    /// # Errors
    /// When it does not fit into memory, or the fields were changed to what [`LinearSem::new`] would refuse.
    ///
    /// # Examples
    /// ```
    /// # use icid_rs::LinearSem;
    /// # let mut edges = sprs::TriMat::new((2, 2));
    /// # edges.add_triplet(0, 1, 0.5);
    /// let sem = LinearSem::new(edges.to_csr(), vec![0, 1], vec![1.0, 1.0])?;
    /// assert_eq!(sem.covariance()?, ndarray::array![[1.0, 0.5], [0.5, 1.25]]);
    /// # Ok::<(), icid_rs::IcidError>(())
    /// ```
    pub fn covariance(&self) -> Result<Array2<f64>, IcidError> {
        self.check()?;
        let d = self.dim();
        ensure_room::<[f64; 2]>("the covariance of a model", d as u128 * d as u128)?;
        let parents = self.b.to_csc();
        // Row i: the effect of noise i, of one standard deviation, on each variable.
        let mut effects = vec![0.0; d * d];
        effects.par_chunks_mut(d.max(1)).enumerate().for_each(|(i, row)| {
            row[i] = self.noise_variances[i].sqrt();
            let later = self.order.iter().skip_while(|&&j| j != i).skip(1);
            for &j in later {
                let column = parents.outer_view(j);
                row[j] = column.iter().flat_map(|c| c.iter()).map(|(k, weight)| weight * row[k]).sum();
            }
        });
        let effects = square(d, effects);
        Ok(gram(effects.t(), 1.0))
    }

    /// Check that weights and variances did not overflow or underflow when converted to the caller's units.
    pub(crate) fn in_range(self) -> Result<Self, IcidError> {
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

/// A model fitted to data, and its [`Score`](crate::score::Score).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub sem: LinearSem,
    /// Twice the negative log-likelihood up to a constant, plus the penalty of every edge.
    pub score: f64,
}

/// A weighted acyclic graph.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dag {
    /// The edges: `graph[i, j] ≠ 0` for i → j.
    pub graph: CsMat<f64>,
    /// The variables, causes first.
    pub order: Vec<usize>,
}

/// Check that B is square and finite.
pub(crate) fn check_weights(b: CsMatView<f64>) -> Result<(), IcidError> {
    check_square("B", b.shape())?;
    check_finite_sparse("B", b)
}

/// Check that an order is one of the variables, and that every edge leads from an earlier variable to a later one; return
/// the place of each variable.
pub(crate) fn check_acyclic(graph: CsMatView<f64>, order: &[usize]) -> Result<Vec<u32>, IcidError> {
    let places = inverse(&check_order(order, graph.rows())?);
    let against = |&(&weight, (i, j)): &(&f64, (usize, usize))| weight != 0.0 && places[i] >= places[j];
    match graph.iter().find(against) {
        Some((_, (cause, effect))) => Err(IcidError::Backwards { cause, effect }),
        None => Ok(places),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprs::TriMat;

    fn edge(i: usize, j: usize, weight: f64) -> CsMat<f64> {
        let mut triplets = TriMat::new((2, 2));
        triplets.add_triplet(i, j, weight);
        triplets.to_csr()
    }

    #[test]
    fn models_are_checked() {
        let make = |b, order: &[usize], variances: &[f64]| LinearSem::new(b, order.to_vec(), variances.to_vec());
        assert!(make(edge(0, 1, 2.0), &[0, 1], &[1.0, 1.0]).is_ok());
        assert!(matches!(
            make(edge(0, 1, 2.0), &[1, 0], &[1.0, 1.0]),
            Err(IcidError::Backwards { cause: 0, effect: 1 })
        ));
        assert!(matches!(make(edge(1, 1, 2.0), &[0, 1], &[1.0, 1.0]), Err(IcidError::Backwards { .. })));
        assert!(matches!(make(edge(0, 1, f64::NAN), &[0, 1], &[1.0, 1.0]), Err(IcidError::NotFinite { .. })));
        assert!(matches!(make(edge(0, 1, 2.0), &[0], &[1.0, 1.0]), Err(IcidError::Length { .. })));
        assert!(matches!(make(edge(0, 1, 2.0), &[0, 1], &[1.0]), Err(IcidError::Size { .. })));
        assert!(matches!(make(edge(0, 1, 2.0), &[0, 1], &[1.0, 0.0]), Err(IcidError::Variance { index: 1, .. })));
    }
}
