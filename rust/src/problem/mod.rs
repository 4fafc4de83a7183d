//! What is given: Θ, the noise precisions D, and optionally the skewness weights λ₂M̃, all checked once.

mod check;
pub(crate) mod numbering;
mod theta;

pub(crate) use check::{invert_variances, symmetric_mean};
pub(crate) use theta::SparseTheta;

use crate::algebra::csr::Csr;
use crate::algebra::permutation::inverse;
use crate::error::IcidError;
use crate::pattern::Support;
use check::check_finite;
use sprs::{CsMat, CsMatView};
use std::ops::Range;

/// The data of the decomposition `Θ = (I − B) D (I − B)ᵀ`.
///
/// Variables are renumbered breadth first along the support, so that neighbours lie close together in memory (a third of
/// the time of an evaluation at d = 100 000), connected components are contiguous, and the caller's numbers do not
/// matter. [`Problem::gather`] and [`Problem::to_matrix`] speak the caller's numbers.
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

    /// Add the skewness term `weight · tr(M̃ᵀ(B ⊙ B))`; entries of M̃ outside the support of Θ do not matter.
    ///
    /// # Errors
    /// When M̃ has another shape than Θ or an entry that is not finite, or the weight is negative or not finite.
    pub fn with_skewness(mut self, matrix: CsMatView<f64>, weight: f64) -> Result<Self, IcidError> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(IcidError::Parameter { name: "skewness", value: weight, requirement: "finite and >= 0" });
        }
        let (rows, columns) = matrix.shape();
        if rows != columns {
            return Err(IcidError::NotSquare { what: "skewness_matrix", rows, columns });
        }
        if rows != self.dim() {
            return Err(IcidError::Length { what: "skewness_matrix", expected: self.dim(), found: rows });
        }
        let matrix = matrix.to_csr();
        check_finite("skewness_matrix", matrix.view())?;
        let mut values = self.gather(matrix.view());
        for value in &mut values {
            *value *= weight;
        }
        for i in 0..self.dim() {
            values[self.support.diagonal(i)] = 0.0;
        }
        self.skewness = (weight > 0.0).then_some(values);
        Ok(self)
    }

    /// Forbid the edges that a matrix has; those outside the support of Θ do not matter.
    ///
    /// # Errors
    /// When the matrix has another shape than Θ.
    pub fn with_forbidden(mut self, edges: CsMatView<f64>) -> Result<Self, IcidError> {
        let (rows, columns) = edges.shape();
        if rows != columns {
            return Err(IcidError::NotSquare { what: "forbidden", rows, columns });
        }
        if rows != self.dim() {
            return Err(IcidError::Length { what: "forbidden", expected: self.dim(), found: rows });
        }
        let numbers = inverse(&self.names);
        let position = |(i, j): (usize, usize)| self.support.position(numbers[i] as usize, numbers[j] as usize);
        self.forbidden = edges.iter().filter_map(|(_, edge)| position(edge)).map(|k| k as u32).collect();
        self.forbidden.sort_unstable();
        Ok(self)
    }

    /// The entries of a d × d matrix on the support; those elsewhere are left out.
    #[must_use]
    pub fn gather(&self, matrix: CsMatView<f64>) -> Vec<f64> {
        let numbers = inverse(&self.names);
        let mut values = vec![0.0; self.support.len()];
        for (&value, (i, j)) in matrix {
            if let Some(k) = self.support.position(numbers[i] as usize, numbers[j] as usize) {
                values[k] = value;
            }
        }
        values
    }

    /// A vector on the support as a sparse matrix without its zeros.
    #[must_use]
    pub fn to_matrix(&self, values: &[f64]) -> CsMat<f64> {
        let numbers = inverse(&self.names);
        let entries = |i: u32| {
            let row = self.support.neighbours(i as usize).iter().zip(&values[self.support.row(i as usize)]);
            row.filter(|&(_, &value)| value != 0.0).map(|(&j, &value)| (self.names[j as usize] as usize, value))
        };
        let lengths = numbers.iter().map(|&i| entries(i).count());
        Csr::from_rows(lengths, |name, row| row.extend(entries(numbers[name]))).into_square()
    }

    /// Ranges of variables that have no neighbours outside them.
    #[must_use]
    pub fn components(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.component_starts.windows(2).map(|w| w[0]..w[1])
    }

    /// The problem of one of the [`Problem::components`] alone.
    ///
    /// # Errors
    /// None that the whole problem did not have.
    pub fn component(&self, variables: Range<usize>) -> Result<Self, IcidError> {
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
    #[must_use]
    pub fn component_entries(&self, variables: &Range<usize>) -> Range<usize> {
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

    /// A pair that shows Θ to be indefinite, if there is one with `Θ_ij² ≥ Θ_ii Θ_jj`.
    ///
    /// Only 2 × 2 minors are looked at: in linear time no more can be known.
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
mod tests {
    use super::*;
    use sprs::TriMat;

    fn matrix(d: usize, entries: &[(usize, usize, f64)]) -> CsMat<f64> {
        let mut triplets = TriMat::new((d, d));
        for &(i, j, v) in entries {
            triplets.add_triplet(i, j, v);
        }
        triplets.to_csr()
    }

    #[test]
    fn noise_precision_defaults_to_the_smallest_diagonal_entry() {
        let theta = matrix(2, &[(0, 0, 3.0), (1, 1, 2.0), (0, 1, 0.5), (1, 0, 0.5)]);
        let problem = Problem::new(theta.view(), None).unwrap();
        assert_eq!(problem.noise_precision(), [2.0, 2.0]);
        assert_eq!(problem.to_matrix(problem.theta()), theta);
        let problem = Problem::new(theta.view(), Some(&[0.5, 4.0])).unwrap();
        let of_name = |name: u32| problem.names.iter().position(|&n| n == name).unwrap();
        assert_eq!([0, 1].map(|name| problem.noise_precision()[of_name(name)]), [2.0, 0.25]);
    }

    #[test]
    fn stored_zeros_do_not_enter_the_support_and_rounding_is_averaged_away() {
        let theta =
            matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.0), (1, 2, 0.25), (2, 1, 0.25 + 1e-12)]);
        let problem = Problem::new(theta.view(), None).unwrap();
        let symmetric = problem.to_matrix(problem.theta());
        assert_eq!((symmetric.nnz(), symmetric.get(0, 1)), (5, None));
        assert_eq!(symmetric.get(1, 2).unwrap().to_bits(), symmetric.get(2, 1).unwrap().to_bits());
    }

    #[test]
    fn each_fault_is_named_with_its_place() {
        let fault = |entries: &[(usize, usize, f64)], variances: Option<&[f64]>| {
            Problem::new(matrix(2, entries).view(), variances).unwrap_err().to_string()
        };
        let identity = [(0, 0, 1.0), (1, 1, 1.0)];
        assert!(fault(&[(0, 0, 1.0)], None).contains("theta[1, 1] = 0"));
        assert!(fault(&[(0, 0, -1.0), (1, 1, 1.0)], None).contains("theta[0, 0] = -1"));
        assert!(fault(&[(0, 0, 1.0), (1, 1, 1.0), (0, 1, f64::NAN)], None).contains("theta[0, 1] is NaN"));
        assert!(fault(&[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.5)], None).contains("theta[0, 1] = 0.5"));
        assert!(fault(&identity, Some(&[1.0])).contains("length 1"));
        assert!(fault(&identity, Some(&[1.0, 0.0])).contains("noise_variances[1] = 0"));
        assert!(fault(&identity, Some(&[f64::INFINITY, 1.0])).contains("noise_variances[0] = inf"));
        let wide = CsMat::<f64>::zero((2, 3));
        assert!(Problem::new(wide.view(), None).unwrap_err().to_string().contains("2 x 3"));
        let empty = CsMat::<f64>::zero((0, 0));
        assert_eq!(Problem::new(empty.view(), None).unwrap_err(), IcidError::Empty { what: "theta" });
    }

    #[test]
    fn rounding_is_a_millionth_of_the_scale() {
        // The scale of entry (0, 1) is the root of 4 · 9.
        let theta = |gap: f64| matrix(2, &[(0, 0, 4.0), (1, 1, 9.0), (0, 1, 1.0), (1, 0, 1.0 + gap)]);
        let problem = Problem::new(theta(5e-6).view(), None).unwrap();
        assert_eq!(problem.to_matrix(problem.theta()).get(0, 1), Some(&(1.0 + 2.5e-6)));
        for gap in [7e-6, -7e-6, 1.0] {
            assert!(matches!(Problem::new(theta(gap).view(), None), Err(IcidError::NotSymmetric { .. })));
        }
        // A large entry is a scale of its own.
        let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 100.0), (1, 0, 100.0 + 5e-5)]);
        assert!(Problem::new(theta.view(), None).is_ok());
        // An entry that only one side has, and one that vanishes in the mean.
        let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 4e-7)]);
        let problem = Problem::new(theta.view(), None).unwrap();
        assert_eq!(problem.to_matrix(problem.theta()).get(1, 0), Some(&2e-7));
        let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 1e-9), (1, 0, -1e-9)]);
        assert_eq!(Problem::new(theta.view(), None).unwrap().support().len(), 2);
    }

    #[test]
    fn an_entry_is_compared_with_its_own_mirror_image() {
        // The same numbers above and below the diagonal, in other places.
        let entries = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.1), (1, 2, 0.2), (1, 0, 0.2), (2, 1, 0.1)];
        let error = Problem::new(matrix(3, &entries).view(), None).unwrap_err();
        assert!(matches!(error, IcidError::NotSymmetric { .. }), "{error}");
    }

    #[test]
    fn skewness_is_weighted_on_the_support_off_the_diagonal() {
        let theta = matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.5), (1, 0, 0.5)]);
        let problem = || Problem::new(theta.view(), None).unwrap();
        let m = matrix(3, &[(0, 0, 9.0), (0, 1, 2.0), (1, 0, -2.0), (0, 2, 5.0), (2, 0, -5.0)]);
        let weighted = problem().with_skewness(m.view(), 0.25).unwrap();
        assert_eq!(weighted.to_matrix(weighted.skewness().unwrap()), matrix(3, &[(0, 1, 0.5), (1, 0, -0.5)]));
        assert_eq!(problem().with_skewness(m.view(), 0.0).unwrap().skewness(), None);
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(problem().with_skewness(m.view(), weight), Err(IcidError::Parameter { .. })));
        }
        let fault = |matrix: CsMat<f64>| problem().with_skewness(matrix.view(), 1.0).unwrap_err();
        assert!(matches!(fault(CsMat::zero((3, 2))), IcidError::NotSquare { rows: 3, columns: 2, .. }));
        assert!(matches!(fault(CsMat::zero((2, 2))), IcidError::Length { expected: 3, found: 2, .. }));
        assert!(matches!(fault(matrix(3, &[(0, 2, f64::NAN)])), IcidError::NotFinite { row: 0, column: 2, .. }));
    }

    #[test]
    fn components_keep_what_belongs_to_them() {
        let mut entries: Vec<_> = (0..6).map(|i| (i, i, 1.0)).collect();
        for (i, j, v) in [(0, 1, 0.1), (2, 3, 0.2), (3, 4, 0.3)] {
            entries.extend([(i, j, v), (j, i, v)]);
        }
        let theta = matrix(6, &entries);
        let edges = matrix(6, &[(1, 0, 1.0), (3, 2, 1.0), (4, 3, 1.0), (0, 5, 1.0)]);
        let whole = Problem::new(theta.view(), None).unwrap().with_forbidden(edges.view()).unwrap();
        assert_eq!(whole.forbidden().len(), 3);
        let mut found = 0;
        for variables in whole.components() {
            let part = whole.component(variables.clone()).unwrap();
            let first = whole.component_entries(&variables).start;
            for &k in part.forbidden() {
                found += 1;
                assert!(whole.forbidden().contains(&(k + first as u32)));
                assert_eq!(part.theta()[k as usize], whole.theta()[first + k as usize]);
            }
            assert_eq!((part.dim(), part.components().len()), (variables.len(), 1));
        }
        assert_eq!(found, 3);
        for shape in [(6, 5), (5, 6)] {
            let fault = whole.clone().with_forbidden(CsMat::zero(shape).view());
            assert!(matches!(fault, Err(IcidError::NotSquare { .. })));
        }
        let fault = whole.clone().with_forbidden(CsMat::zero((5, 5)).view());
        assert!(matches!(fault, Err(IcidError::Length { expected: 6, found: 5, .. })));
    }

    #[test]
    fn an_indefinite_pair_is_found() {
        let theta = matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 4.0), (1, 2, 2.5), (2, 1, 2.5)]);
        assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), Some((1, 2)));
        let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0)]);
        assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), None);
        for (entry, pair) in [(1.999, None), (2.0, Some((0, 1))), (-2.0, Some((0, 1)))] {
            let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 4.0), (0, 1, entry), (1, 0, entry)]);
            assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), pair);
        }
    }

    #[test]
    fn renumbering_is_invisible() {
        // A star around 3 with a bystander 0.
        let mut entries: Vec<_> = (0..5).map(|i| (i, i, 2.0 + f64::from(i as u8))).collect();
        for leaf in [1, 2, 4] {
            let value = leaf as f64 / 10.0;
            entries.extend([(3, leaf, value), (leaf, 3, value)]);
        }
        let theta = matrix(5, &entries);
        let variances = [1.0, 0.5, 0.25, 0.125, 1.0];
        let problem = Problem::new(theta.view(), Some(&variances)).unwrap();
        let expected: Vec<f64> = problem.names.iter().map(|&i| 1.0 / variances[i as usize]).collect();
        assert_eq!(problem.noise_precision(), expected);
        assert_eq!(problem.to_matrix(problem.theta()), theta);
        assert_eq!(problem.gather(theta.view()), problem.theta());
        let sizes: Vec<_> = problem.components().map(|c| c.len()).collect();
        assert!(sizes == [1, 4] || sizes == [4, 1]);
        let range = problem.components().find(|c| c.len() == 4).unwrap();
        let star = problem.component(range.clone()).unwrap();
        assert_eq!(star.theta(), &problem.theta()[problem.component_entries(&range)]);
        assert_eq!(star.noise_precision(), &expected[range]);
    }

    #[test]
    fn numbers_of_the_caller_do_not_matter_inside() {
        let entries = [(0, 0, 3.0), (1, 1, 2.0), (2, 2, 2.0), (0, 1, 0.5), (1, 0, 0.5), (0, 2, -0.5), (2, 0, -0.5)];
        let permuted = entries.map(|(i, j, v)| ((i + 2) % 3, (j + 2) % 3, v));
        let [one, other] = [entries, permuted].map(|e| Problem::new(matrix(3, &e).view(), None).unwrap());
        assert_eq!(one.theta(), other.theta());
        assert_eq!(one.names.iter().map(|i| (i + 2) % 3).collect::<Vec<_>>(), other.names);
    }

    #[test]
    fn matrices_come_back_from_the_support() {
        let theta = matrix(2, &[(0, 0, 3.0), (1, 1, 2.0), (0, 1, 0.5), (1, 0, 0.5)]);
        let problem = Problem::new(theta.view(), None).unwrap();
        let b = matrix(2, &[(0, 1, 7.0)]);
        assert_eq!(problem.to_matrix(&problem.gather(b.view())), b);
    }
}
