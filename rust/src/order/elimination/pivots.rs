//! Which variable is eliminated next: the one with the smallest diagonal entry, or the last of a given order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A rule for the next variable.
pub(super) trait Next {
    /// The next variable, given the variables whose diagonal entries the last elimination changed, and the diagonal of
    /// the remaining Θ, in which eliminated variables have zeros.
    fn next(&mut self, changed: impl Iterator<Item = u32>, diagonal: impl Fn(u32) -> f64) -> Option<u32>;

    /// The remaining variables, the next one last, if their order is already known.
    fn rest(&self) -> Option<Vec<u32>>;
}

/// The smallest diagonal entry next.
///
/// The heap holds only the entries below a bound, which is raised when the heap runs empty: among a million variables most
/// are far from being next, and a heap of them all would miss the cache at every level.
pub(super) struct Smallest {
    /// Variables that had not been eliminated when the bound was set.
    rest: Vec<u32>,
    /// The largest entry that is in the heap, as bits.
    bound: u64,
    /// Entries and their variables; an entry that has changed since is skipped when it comes up.
    near: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Smallest {
    /// The heap is filled with a quarter of the remaining variables.
    const SHARE: usize = 4;

    pub fn new(component: Range<usize>) -> Self {
        Self { rest: component.map(|i| i as u32).collect(), bound: 0, near: BinaryHeap::new() }
    }

    fn refill(&mut self, bits: impl Fn(u32) -> u64) {
        self.rest.retain(|&i| bits(i) > 0);
        let mut keys: Vec<u64> = self.rest.iter().map(|&i| bits(i)).collect();
        if keys.is_empty() {
            return;
        }
        let middle = keys.len() / Self::SHARE;
        self.bound = *keys.select_nth_unstable(middle).1;
        let entries = self.rest.iter().map(|&i| (bits(i), i)).filter(|&(key, _)| key <= self.bound);
        self.near = entries.map(Reverse).collect::<Vec<_>>().into();
    }
}

impl Next for Smallest {
    fn next(&mut self, changed: impl Iterator<Item = u32>, diagonal: impl Fn(u32) -> f64) -> Option<u32> {
        // Floating-point numbers that are not negative are ordered as their bits are.
        let bits = |i: u32| diagonal(i).to_bits();
        for variable in changed {
            if bits(variable) <= self.bound {
                self.near.push(Reverse((bits(variable), variable)));
            }
        }
        loop {
            while let Some(Reverse((key, i))) = self.near.pop() {
                if bits(i) == key {
                    return Some(i);
                }
            }
            self.refill(bits);
            if self.near.is_empty() {
                return None;
            }
        }
    }

    fn rest(&self) -> Option<Vec<u32>> {
        None
    }
}

/// The last variable of a causal order next.
pub(super) struct Given(pub Vec<u32>);

impl Next for Given {
    fn next(&mut self, _: impl Iterator<Item = u32>, _: impl Fn(u32) -> f64) -> Option<u32> {
        self.0.pop()
    }

    fn rest(&self) -> Option<Vec<u32>> {
        Some(self.0.clone())
    }
}
