//! Who has a variable as a parent, and who wants it as one.

use super::columns::{Columns, members};
use super::fit::Fit;
use super::kernel::Kernel;

/// The parents and wishes of all regressions, seen from the other end.
#[derive(Debug)]
pub(super) struct Links {
    /// For each variable, those whose parent it is.
    children: Vec<Vec<u32>>,
    /// For each variable, the slots of those that it may be worth an edge to, as bits.
    wanted: Vec<Vec<u64>>,
}

impl Links {
    pub fn new(columns: &Columns, d: usize) -> Self {
        let no_bits = |variable| vec![0; columns.len(variable).div_ceil(64)];
        Self { children: vec![Vec::new(); d], wanted: (0..d as u32).map(no_bits).collect() }
    }

    pub fn children(&self, variable: u32) -> &[u32] {
        &self.children[variable as usize]
    }

    /// The variables that may want a variable as a parent, whatever their place.
    pub fn wanted_by<'a>(&'a self, columns: &'a Columns, variable: u32) -> impl Iterator<Item = u32> + 'a {
        members(&self.wanted[variable as usize]).map(move |slot| columns.at(variable, slot))
    }

    /// Replace one regression of a variable by another.
    pub fn replace<K: Kernel>(&mut self, columns: &Columns, old: &Fit<K>, new: &Fit<K>) {
        let variable = new.variable;
        for &parent in old.parents.iter().filter(|&&parent| !new.has(parent)) {
            self.children[parent as usize].retain(|&child| child != variable);
        }
        for &parent in new.parents.iter().filter(|&&parent| !old.has(parent)) {
            self.children[parent as usize].push(variable);
        }
        for (k, &word) in new.wants.iter().enumerate() {
            let changes = word ^ old.wants.get(k).copied().unwrap_or(0);
            for bit in members(&[changes]) {
                let other = columns.at(variable, 64 * k + bit);
                let slot = columns.slot(other, variable).expect("columns are symmetric");
                self.wanted[other as usize][slot / 64] ^= 1 << (slot % 64);
            }
        }
    }
}
