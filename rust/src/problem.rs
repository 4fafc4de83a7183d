//! What is given: Θ, the noise precisions D, and optionally the skewness weights λ₂M̃, all checked once.

use crate::error::IcidError;
use crate::memory::ensure_room;
use crate::pattern::Support;
use sprs::{CsMat, CsMatView};
use std::ops::Range;

/// Relative difference between Θ and its transpose that counts as rounding.
const ASYMMETRY: f64 = 1e-6;

/// The data of the decomposition `Θ = (I − B) D (I − B)ᵀ`.
///
/// Variables are renumbered breadth first along the support, so that neighbours lie close together in memory (a third of
/// the time of an evaluation at d = 100 000) and connected components are contiguous. [`Problem::gather`] and
/// [`Problem::to_matrix`] speak the caller's numbers.
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
        let (rows, columns) = theta.shape();
        if rows != columns {
            return Err(IcidError::NotSquare { what: "theta", rows, columns });
        }
        if rows == 0 {
            return Err(IcidError::Empty { what: "theta" });
        }
        if rows > u32::MAX as usize {
            let (required, available) = (rows as u128, u128::from(u32::MAX));
            return Err(IcidError::Memory { what: "theta (in variables)", required, available });
        }
        // The copies made here and below, at their largest.
        ensure_room::<[usize; 8]>("checking theta", theta.nnz() as u128)?;
        let theta = theta.to_csr();
        check_finite("theta", &theta)?;
        let diagonal = positive_diagonal(&theta)?;
        let noise_precision = match noise_variances {
            Some(variances) => invert_variances(variances, rows)?,
            None => vec![diagonal.iter().copied().fold(f64::INFINITY, f64::min); rows],
        };
        let theta = symmetrise(&theta, &diagonal)?;
        let (names, component_starts) = breadth_first(&theta);
        let noise_precision = names.iter().map(|&name| noise_precision[name as usize]).collect();
        let (support, theta) = renumber(&theta, &names)?;
        Ok(Self { names, component_starts, support, theta, noise_precision, skewness: None })
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
        check_finite("skewness_matrix", &matrix)?;
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
        let d = self.dim();
        let numbers = inverse(&self.names);
        let mut offsets = Vec::with_capacity(d + 1);
        offsets.push(0);
        let (mut row, mut indices, mut data) = (Vec::new(), Vec::new(), Vec::new());
        for &i in &numbers {
            let i = i as usize;
            let entries = self.support.neighbours(i).iter().zip(&values[self.support.row(i)]);
            row.extend(entries.filter(|&(_, &v)| v != 0.0).map(|(&j, &v)| (self.names[j as usize] as usize, v)));
            row.sort_unstable_by_key(|&(j, _)| j);
            for (j, value) in row.drain(..) {
                indices.push(j);
                data.push(value);
            }
            offsets.push(indices.len());
        }
        CsMat::new((d, d), offsets, indices, data)
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
            skewness: self.skewness.as_ref().map(|s| s[entries].to_vec()),
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

fn check_finite(what: &'static str, matrix: &CsMat<f64>) -> Result<(), IcidError> {
    match matrix.iter().find(|(value, _)| !value.is_finite()) {
        Some((&value, (row, column))) => Err(IcidError::NotFinite { what, row, column, value }),
        None => Ok(()),
    }
}

fn positive_diagonal(theta: &CsMat<f64>) -> Result<Vec<f64>, IcidError> {
    (0..theta.rows())
        .map(|index| {
            let value = theta.get(index, index).copied().unwrap_or(0.0);
            if value > 0.0 { Ok(value) } else { Err(IcidError::Diagonal { index, value }) }
        })
        .collect()
}

fn invert_variances(variances: &[f64], d: usize) -> Result<Vec<f64>, IcidError> {
    if variances.len() != d {
        return Err(IcidError::Length { what: "noise_variances", expected: d, found: variances.len() });
    }
    let invert = |(index, &value): (usize, &f64)| {
        let precision = 1.0 / value;
        if value > 0.0 && value.is_finite() && precision.is_finite() {
            Ok(precision)
        } else {
            Err(IcidError::Variance { index, value })
        }
    };
    variances.iter().enumerate().map(invert).collect()
}

/// `(Θ + Θᵀ) / 2` on the union of both patterns, zeros dropped.
fn symmetrise(theta: &CsMat<f64>, diagonal: &[f64]) -> Result<CsMat<f64>, IcidError> {
    let transposed = theta.transpose_view().to_csr();
    let scale: Vec<f64> = diagonal.iter().map(|t| t.sqrt()).collect();
    let mean = |row: usize, column: usize, value: f64, mirrored: f64| {
        let size = (scale[row] * scale[column]).max(value.abs()).max(mirrored.abs());
        if (value - mirrored).abs() > ASYMMETRY * size {
            Err(IcidError::NotSymmetric { row, column, value, mirrored })
        } else {
            Ok(0.5 * value + 0.5 * mirrored)
        }
    };
    let same_pattern = theta.indptr() == transposed.indptr() && theta.indices() == transposed.indices();
    if same_pattern && theta.data().iter().all(|&value| value != 0.0) {
        let mut symmetric = theta.clone();
        for (i, (mut row, other)) in symmetric.outer_iterator_mut().zip(transposed.outer_iterator()).enumerate() {
            for ((j, value), &mirrored) in row.iter_mut().zip(other.data()) {
                *value = mean(i, j, *value, mirrored)?;
            }
        }
        return Ok(symmetric);
    }
    let d = theta.rows();
    let mut offsets = Vec::with_capacity(d + 1);
    offsets.push(0);
    let mut indices = Vec::with_capacity(theta.nnz());
    let mut values = Vec::with_capacity(theta.nnz());
    for (i, (row, column)) in theta.outer_iterator().zip(transposed.outer_iterator()).enumerate() {
        let mut below = row.iter().peekable();
        let mut above = column.iter().peekable();
        loop {
            let next = [below.peek(), above.peek()].into_iter().flatten().map(|&(j, _)| j).min();
            let Some(j) = next else { break };
            let value = below.next_if(|&(at, _)| at == j).map_or(0.0, |(_, &v)| v);
            let mirrored = above.next_if(|&(at, _)| at == j).map_or(0.0, |(_, &v)| v);
            let mean = mean(i, j, value, mirrored)?;
            if mean != 0.0 {
                indices.push(j);
                values.push(mean);
            }
        }
        offsets.push(indices.len());
    }
    Ok(CsMat::new((d, d), offsets, indices, values))
}

/// Every variable once, each followed soon by its neighbours, and where the connected components begin.
fn breadth_first(theta: &CsMat<f64>) -> (Vec<u32>, Vec<usize>) {
    let d = theta.rows();
    let mut seen = vec![false; d];
    let mut order: Vec<u32> = Vec::with_capacity(d);
    let mut component_starts = Vec::new();
    for start in 0..d {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut next = order.len();
        component_starts.push(next);
        order.push(start as u32);
        while let Some(&i) = order.get(next) {
            next += 1;
            let row = theta.outer_view(i as usize).expect("a row of theta");
            for &j in row.indices() {
                if !std::mem::replace(&mut seen[j], true) {
                    order.push(j as u32);
                }
            }
        }
    }
    component_starts.push(d);
    (order, component_starts)
}

/// The support of a symmetric Θ and Θ on it, with `names[i]` as variable i.
fn renumber(theta: &CsMat<f64>, names: &[u32]) -> Result<(Support, Vec<f64>), IcidError> {
    if names.iter().enumerate().all(|(i, &name)| i == name as usize) {
        let neighbours = theta.indices().iter().map(|&j| j as u32).collect();
        let support = Support::from_symmetric(theta.indptr().raw_storage().to_vec(), neighbours)?;
        return Ok((support, theta.data().to_vec()));
    }
    let numbers = inverse(names);
    let mut offsets = Vec::with_capacity(names.len() + 1);
    offsets.push(0);
    let mut neighbours = Vec::with_capacity(theta.nnz());
    let mut values = Vec::with_capacity(theta.nnz());
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for &name in names {
        let row = theta.outer_view(name as usize).expect("a row of theta");
        entries.extend(row.iter().map(|(j, &value)| (numbers[j], value)));
        entries.sort_unstable_by_key(|&(j, _)| j);
        for (j, value) in entries.drain(..) {
            neighbours.push(j);
            values.push(value);
        }
        offsets.push(neighbours.len());
    }
    Ok((Support::from_symmetric(offsets, neighbours)?, values))
}

fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    for (i, &p) in permutation.iter().enumerate() {
        inverse[p as usize] = i as u32;
    }
    inverse
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
        assert_eq!(problem.theta(), [3.0, 0.5, 0.5, 2.0]);
        let problem = Problem::new(theta.view(), Some(&[0.5, 4.0])).unwrap();
        assert_eq!(problem.noise_precision(), [2.0, 0.25]);
    }

    #[test]
    fn stored_zeros_do_not_enter_the_support_and_rounding_is_averaged_away() {
        let theta =
            matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.0), (1, 2, 0.25), (2, 1, 0.25 + 1e-12)]);
        let problem = Problem::new(theta.view(), None).unwrap();
        assert_eq!(problem.support().neighbours(0), [0]);
        assert_eq!(problem.support().neighbours(1), [1, 2]);
        assert_eq!(problem.theta()[2].to_bits(), problem.theta()[3].to_bits());
        assert_eq!(problem.to_matrix(problem.theta()).nnz(), 5);
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
    fn an_indefinite_pair_is_found() {
        let theta = matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 4.0), (1, 2, 2.5), (2, 1, 2.5)]);
        assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), Some((1, 2)));
        let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0)]);
        assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), None);
    }

    #[test]
    fn renumbering_is_invisible() {
        // A star around 3 with a bystander 0: breadth first is 0, 1, 3, 2, 4.
        let mut entries: Vec<_> = (0..5).map(|i| (i, i, 2.0 + f64::from(i as u8))).collect();
        for leaf in [1, 2, 4] {
            let value = leaf as f64 / 10.0;
            entries.extend([(3, leaf, value), (leaf, 3, value)]);
        }
        let theta = matrix(5, &entries);
        let problem = Problem::new(theta.view(), Some(&[1.0, 0.5, 0.25, 0.125, 1.0])).unwrap();
        assert_eq!(problem.names, [0, 1, 3, 2, 4]);
        assert_eq!(problem.noise_precision(), [1.0, 2.0, 8.0, 4.0, 1.0]);
        assert_eq!(problem.to_matrix(problem.theta()), theta);
        assert_eq!(problem.gather(theta.view()), problem.theta());
        assert_eq!(problem.components().collect::<Vec<_>>(), [0..1, 1..5]);
        let star = problem.component(1..5).unwrap();
        assert_eq!(star.theta(), &problem.theta()[1..]);
        assert_eq!(star.noise_precision(), [2.0, 8.0, 4.0, 1.0]);
        assert_eq!(star.support().neighbours(1), [0, 1, 2, 3]);
    }

    #[test]
    fn matrices_come_back_from_the_support() {
        let theta = matrix(2, &[(0, 0, 3.0), (1, 1, 2.0), (0, 1, 0.5), (1, 0, 0.5)]);
        let problem = Problem::new(theta.view(), None).unwrap();
        let b = problem.to_matrix(&[0.0, 7.0, 0.0, 0.0]);
        assert_eq!((b.nnz(), b.get(0, 1)), (1, Some(&7.0)));
    }
}
