//! Correlations of which only some are stored; the others are computed from the samples.

use super::table::WideTable;
use crate::neighbours::{Standardised, dot};

/// The correlations of a wide table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sparse<'a> {
    data: Standardised<'a>,
    table: &'a WideTable,
}

/// Buffers for [`Sparse::residual_covariances`].
#[derive(Debug, Default)]
pub(crate) struct Room {
    residual: Vec<f64>,
    /// For each variable the share of its variance that the causes explain if they are uncorrelated, or NaN.
    explained: Vec<f64>,
    pub found: Vec<Dependent>,
}

/// A variable that may depend on the residual of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dependent {
    pub variable: u32,
    /// Covariance with the residual.
    pub covariance: f64,
    /// Roughly the share of its variance that the causes of the other explain.
    pub explained: f64,
}

impl<'a> Sparse<'a> {
    pub fn new(data: Standardised<'a>, table: &'a WideTable) -> Self {
        Self { data, table }
    }

    pub fn dim(&self) -> usize {
        self.table.names.len()
    }

    pub fn correlation(&self, i: u32, j: u32) -> f64 {
        let (others, values) = self.table.stored.row(i as usize);
        match others.binary_search(&j) {
            Ok(k) => values[k],
            Err(_) if i == j => 1.0,
            Err(_) => self.data.correlation(self.name(i), self.name(j)),
        }
    }

    /// Append the correlations of a variable with others.
    pub fn gather(&self, variable: u32, others: &[u32], out: &mut Vec<f64>) {
        out.extend(others.iter().map(|&other| self.correlation(variable, other)));
    }

    /// The residual variance of a variable given its causes. To `room.found` go covariances of the residual with all
    /// variables that depend marginally on the variable or on one of its causes.
    pub fn residual_covariances(&self, variable: u32, causes: &[u32], weights: &[f64], room: &mut Room) -> f64 {
        let Room { residual, explained, found } = room;
        residual.resize(self.data.samples(), 0.0);
        explained.resize(self.dim(), f64::NAN);
        let names = causes.iter().map(|&cause| self.name(cause));
        self.data.residual(self.name(variable), names.zip(weights.iter().copied()), residual);
        found.clear();
        for (k, &other) in [variable].iter().chain(causes).enumerate() {
            let (dependent, sizes) = self.table.dependent.row(other as usize);
            for (&variable, r) in dependent.iter().zip(sizes) {
                let known = &mut explained[variable as usize];
                if known.is_nan() {
                    *known = 0.0;
                    found.push(Dependent { variable, covariance: 0.0, explained: 0.0 });
                }
                *known += if k == 0 { 0.0 } else { r * r };
            }
        }
        for dependent in &mut *found {
            dependent.explained = std::mem::replace(&mut explained[dependent.variable as usize], f64::NAN);
        }
        found.retain(|dependent| dependent.variable != variable && !causes.contains(&dependent.variable));
        for dependent in &mut *found {
            dependent.covariance = dot(residual, self.data.of(self.name(dependent.variable)));
        }
        found.sort_unstable_by_key(|dependent| dependent.variable);
        dot(residual, residual)
    }

    fn name(&self, variable: u32) -> u32 {
        self.table.names[variable as usize]
    }
}
