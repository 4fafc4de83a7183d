//! Correlations of which only some are stored; the others are computed from the samples.

use super::table::WideTable;
use crate::neighbours::Standardised;

/// The correlations of a wide table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sparse<'a> {
    data: Standardised<'a>,
    table: &'a WideTable,
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
    pub fn read(&self, variable: u32, others: &[u32], out: &mut Vec<f64>) {
        out.extend(others.iter().map(|&other| self.correlation(variable, other)));
    }

    fn name(&self, variable: u32) -> u32 {
        self.table.names[variable as usize]
    }
}
