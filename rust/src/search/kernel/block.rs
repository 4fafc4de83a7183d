//! Variables that are blocks of columns.

use super::{COLLINEAR, Kernel};
use crate::algebra::small::{add_square, determinant, factorise, raise, reduce, with_buffer};
use crate::search::columns::Columns;
use crate::search::evidence::Evidence;
use crate::search::factor::{Factor, subtract};
use std::ops::Range;

/// Covariances given the parents of a variable, where variables are blocks of columns.
///
/// The columns of one block have unit variances and are uncorrelated, so that the determinant of their covariance given
/// the parents is the share of the generalised variance that is left. It does not depend on how a category is coded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    variable: u32,
    /// The slot of the variable itself.
    own: usize,
    /// For each slot the first of its columns, and the first entry of their covariance matrix; and the numbers of both.
    starts: Vec<(u32, u32)>,
    factor: Factor,
    /// The column of each regressor.
    regressors: Vec<u32>,
    /// The number of regressors up to the end of each parent.
    ends: Vec<u32>,
    /// Covariances of the columns of this variable, row by row, with all columns covered, given the parents.
    covariance: Vec<f64>,
    /// Covariances between the columns of each slot, given the parents.
    variance: Vec<f64>,
    /// Whether columns of parents are linear combinations of others, and left out.
    is_reduced: bool,
}

impl Kernel for Block {
    fn reset(&mut self, evidence: &Evidence, columns: &Columns, variable: u32) {
        let blocks = evidence.blocks().expect("variables are blocks");
        self.variable = variable;
        self.own = columns.slot(variable, variable).expect("a variable covers itself");
        self.starts.clear();
        self.variance.clear();
        let mut start = 0;
        for slot in 0..columns.len(variable) {
            self.starts.push((start, self.variance.len() as u32));
            let width = blocks.width(columns.at(variable, slot) as usize);
            start += width as u32;
            for row in 0..width {
                self.variance.extend((0..width).map(|column| if row == column { 1.0 } else { 0.0 }));
            }
        }
        self.starts.push((start, self.variance.len() as u32));
        self.factor.reset(start as usize);
        self.regressors.clear();
        self.ends.clear();
        self.covariance.clear();
        for column in blocks.range(variable as usize) {
            evidence.read_columns(column as u32, columns.list(variable), &mut self.covariance);
        }
        self.is_reduced = false;
    }

    fn copy_from(&mut self, other: &Self) {
        (self.variable, self.own, self.is_reduced) = (other.variable, other.own, other.is_reduced);
        self.starts.clone_from(&other.starts);
        self.factor.copy_from(&other.factor);
        self.regressors.clone_from(&other.regressors);
        self.ends.clone_from(&other.ends);
        self.covariance.clone_from(&other.covariance);
        self.variance.clone_from(&other.variance);
    }

    fn share(&self, slot: usize, left: f64) -> Option<f64> {
        self.share_above(slot, left, COLLINEAR)
    }

    fn is_independent(&self, slot: usize, left: f64) -> bool {
        self.share_above(slot, left, f64::EPSILON).is_some()
    }

    fn mark(&self, evidence: &Evidence, columns: &Columns, left: f64, part: f64, wants: &mut [u64]) {
        wants.fill(0);
        for slot in (0..self.starts.len() - 1).filter(|&slot| slot != self.own) {
            let other = columns.at(self.variable, slot);
            let worth = evidence.worth(self.variable, other, left, part);
            if self.share(slot, left).is_some_and(|share| share > worth) {
                wants[slot / 64] |= 1 << (slot % 64);
            }
        }
    }

    fn add(&mut self, evidence: &Evidence, columns: &Columns, parent: u32, slot: usize) -> f64 {
        let blocks = evidence.blocks().expect("variables are blocks");
        let list = columns.list(self.variable);
        for (column, place) in blocks.range(parent as usize).zip(self.columns(slot)) {
            self.factor.extend(|rows| evidence.read_columns(column as u32, list, rows));
            let (new, scale) = self.factor.orthogonalise(place);
            if new[place] <= COLLINEAR {
                self.factor.drop_newest(self.regressors.len());
                self.is_reduced = true;
                continue;
            }
            for entry in new {
                *entry *= scale;
            }
            self.regressors.push(place as u32);
            self.update(-1.0);
        }
        self.ends.push(self.regressors.len() as u32);
        self.left()
    }

    fn remove(&mut self, _: &Columns, _: &[u32], number: usize) -> Option<f64> {
        // A column that was left out might count without the parent.
        if self.is_reduced {
            return None;
        }
        let Range { start, end } = self.regressors_of(number);
        for _ in start..end {
            self.regressors.remove(start);
            let Self { factor, regressors, .. } = self;
            factor.isolate(start, |q| regressors[q] as usize);
            self.update(1.0);
            self.factor.drop_newest(start);
        }
        self.ends.remove(number);
        self.ends[number..].iter_mut().for_each(|after| *after -= (end - start) as u32);
        Some(self.left())
    }

    fn weigh(&self, left: f64, weights: &mut Vec<f64>, losses: &mut Vec<f64>) {
        let (k, own) = (self.regressors.len(), self.columns(self.own));
        let width = own.len();
        weights.clear();
        weights.resize(k * width, 0.0);
        for (row, inverse) in self.factor.rows() {
            for (weights, entry) in weights.chunks_exact_mut(width).zip(inverse) {
                subtract(weights, -entry, &row[own.clone()]);
            }
        }
        losses.clear();
        for number in 0..self.ends.len() {
            let range = self.regressors_of(number);
            let size = range.len();
            if size == 0 {
                losses.push(0.0);
                continue;
            }
            // What the parent alone explains is Wᵀ ([C⁻¹]_kk)⁻¹ W, with W its weights.
            let without = with_buffer(size * size + size * width + width * width, |buffer| {
                let (square, rest) = buffer.split_at_mut(size * size);
                let (slopes, own_variance) = rest.split_at_mut(size * width);
                self.inverse_square(range.clone(), square);
                slopes.copy_from_slice(&weights[range.start * width..range.end * width]);
                self.copy_own(own_variance);
                factorise(square, size, f64::EPSILON);
                reduce(square, slopes, width);
                add_square(own_variance, slopes, width, 1.0);
                determinant(own_variance, width, 0.0)
            });
            losses.push(without.map_or(f64::INFINITY, |without| without - left));
        }
    }

    fn weigh_with(&self, slot: usize, weights: &mut Vec<f64>) {
        let (added, width) = (self.columns(slot), self.columns(self.own).len());
        let mut square = self.variance_of(slot).to_vec();
        let mut new = vec![0.0; added.len() * width];
        self.copy_slopes(added.clone(), &mut new);
        factorise(&mut square, added.len(), COLLINEAR);
        reduce(&square, &mut new, width);
        raise(&square, &mut new, width);
        for (row, inverse) in self.factor.rows() {
            for (weights, entry) in weights.chunks_exact_mut(width).zip(inverse) {
                for (new, slope) in new.chunks_exact(width).zip(&row[added.clone()]) {
                    subtract(weights, entry * slope, new);
                }
            }
        }
        weights.extend(new);
    }

    fn weigh_without(&self, number: usize, weights: &mut Vec<f64>) {
        let (range, width) = (self.regressors_of(number), self.columns(self.own).len());
        let mut square = vec![0.0; range.len() * range.len()];
        self.inverse_square(range.clone(), &mut square);
        let columns = range.start * width..range.end * width;
        let mut dropped = weights[columns.clone()].to_vec();
        factorise(&mut square, range.len(), f64::EPSILON);
        reduce(&square, &mut dropped, width);
        raise(&square, &mut dropped, width);
        for (_, inverse) in self.factor.rows() {
            for (weights, entry) in weights.chunks_exact_mut(width).zip(inverse) {
                for (dropped, other) in dropped.chunks_exact(width).zip(&inverse[range.clone()]) {
                    subtract(weights, entry * other, dropped);
                }
            }
        }
        weights.drain(columns);
    }

    fn visit_shares(&self, evidence: &Evidence, parents: &[u32], left: f64, mut visit: impl FnMut(u32, f64)) {
        let blocks = evidence.blocks().expect("variables are blocks");
        let (mut weights, mut losses) = (Vec::new(), Vec::new());
        self.weigh(left, &mut weights, &mut losses);
        let own = blocks.range(self.variable as usize);
        let width = own.len();
        let mut covariances: Vec<f64> = own.flat_map(|column| evidence.row(column as u32)).copied().collect();
        // A column that was left out has no weight, but its block is not numbered any more.
        let regressors = parents.iter().flat_map(|&parent| blocks.range(parent as usize));
        for (column, weights) in regressors.zip(weights.chunks_exact(width)).filter(|_| !self.is_reduced) {
            for (row, weight) in covariances.chunks_exact_mut(blocks.columns()).zip(weights) {
                subtract(row, *weight, evidence.row(column as u32));
            }
        }
        let (mut slopes, mut own_variance) = (Vec::new(), vec![0.0; width * width]);
        for other in 0..blocks.len() {
            slopes.clear();
            for column in blocks.range(other) {
                slopes.extend(covariances.iter().skip(column).step_by(blocks.columns()));
            }
            self.copy_own(&mut own_variance);
            add_square(&mut own_variance, &slopes, width, -1.0);
            visit(other as u32, left - determinant(&mut own_variance, width, 0.0).unwrap_or(0.0));
        }
    }
}

impl Block {
    /// The columns covered that are regressors, in the order of their weights.
    pub fn regressors(&self) -> &[u32] {
        &self.regressors
    }

    /// The covariances between the columns of the variable, given its parents.
    pub fn own_covariance(&self) -> Vec<f64> {
        let mut own = vec![0.0; self.columns(self.own).len().pow(2)];
        self.copy_own(&mut own);
        own
    }

    /// The columns of a slot, among those covered.
    fn columns(&self, slot: usize) -> Range<usize> {
        self.starts[slot].0 as usize..self.starts[slot + 1].0 as usize
    }

    /// The covariances between the columns of a slot.
    fn variance_of(&self, slot: usize) -> &[f64] {
        &self.variance[self.starts[slot].1 as usize..self.starts[slot + 1].1 as usize]
    }

    /// The regressors that are columns of a parent.
    fn regressors_of(&self, number: usize) -> Range<usize> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[number] as usize
    }

    /// Number of columns covered.
    fn width(&self) -> usize {
        self.starts[self.starts.len() - 1].0 as usize
    }

    /// Copy the covariances between the columns of this variable.
    fn copy_own(&self, out: &mut [f64]) {
        let own = self.columns(self.own);
        for (out, row) in out.chunks_exact_mut(own.len()).zip(self.covariance.chunks_exact(self.width())) {
            out.copy_from_slice(&row[own.clone()]);
        }
    }

    /// Copy the covariances of some columns, row by row, with those of this variable.
    fn copy_slopes(&self, columns: Range<usize>, out: &mut [f64]) {
        let own = self.columns(self.own).len();
        for (k, row) in self.covariance.chunks_exact(self.width()).enumerate() {
            out.iter_mut().skip(k).step_by(own).zip(&row[columns.clone()]).for_each(|(out, entry)| *out = *entry);
        }
    }

    /// The part of the inverse covariance of the regressors that belongs to some of them.
    fn inverse_square(&self, range: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        for (_, inverse) in self.factor.rows() {
            add_square(out, &inverse[range.clone()], range.len(), 1.0);
        }
    }

    /// The share of the generalised variance that is left.
    fn left(&self) -> f64 {
        let width = self.columns(self.own).len();
        let left = with_buffer(width * width, |buffer| {
            self.copy_own(buffer);
            determinant(buffer, width, 0.0)
        });
        // Required parents may determine the variable.
        left.unwrap_or(f64::MIN_POSITIVE)
    }

    fn share_above(&self, slot: usize, left: f64, least: f64) -> Option<f64> {
        let (other, width) = (self.columns(slot), self.columns(self.own).len());
        let size = other.len();
        with_buffer(size * size + size * width + width * width, |buffer| {
            let (square, rest) = buffer.split_at_mut(size * size);
            let (slopes, own_variance) = rest.split_at_mut(size * width);
            square.copy_from_slice(self.variance_of(slot));
            if !factorise(square, size, least) {
                return None;
            }
            self.copy_slopes(other, slopes);
            reduce(square, slopes, width);
            self.copy_own(own_variance);
            add_square(own_variance, slopes, width, -1.0);
            determinant(own_variance, width, f64::EPSILON).map(|without| left - without)
        })
    }

    /// Add to all covariances what the newest regressor explains of them, times a sign.
    fn update(&mut self, sign: f64) {
        let (own, width) = (self.columns(self.own), self.width());
        let Self { factor, covariance, variance, starts, .. } = self;
        let newest = factor.newest();
        for (row, slope) in covariance.chunks_exact_mut(width).zip(&newest[own]) {
            subtract(row, -sign * slope, newest);
        }
        for pair in starts.windows(2) {
            let square = &mut variance[pair[0].1 as usize..pair[1].1 as usize];
            let slopes = &newest[pair[0].0 as usize..pair[1].0 as usize];
            add_square(square, slopes, slopes.len(), sign);
        }
    }
}
