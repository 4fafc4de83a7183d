//! Undoing the changes of a trial.

use super::parents::Parents;
use std::sync::Arc;

/// The place and the parents of every variable that has changed since they were last kept, as they were then.
#[derive(Debug)]
pub(super) struct Journal {
    changes: Vec<Change>,
    is_recorded: Vec<bool>,
}

/// A variable as it was before its first change.
#[derive(Debug)]
pub(super) struct Change {
    pub variable: u32,
    pub place: f64,
    pub parents: Arc<Parents>,
}

impl Journal {
    pub fn new(d: usize) -> Self {
        Self { changes: Vec::new(), is_recorded: vec![false; d] }
    }

    /// Record a variable that is about to change, unless it is recorded already.
    pub fn record(&mut self, variable: u32, place: f64, parents: &Arc<Parents>) {
        if !std::mem::replace(&mut self.is_recorded[variable as usize], true) {
            self.changes.push(Change { variable, place, parents: Arc::clone(parents) });
        }
    }

    /// The variables that have changed, with their former scores.
    pub fn former_scores(&self) -> impl Iterator<Item = (u32, f64)> {
        self.changes.iter().map(|change| (change.variable, change.parents.score))
    }

    /// Empty the journal, and hand every change to `restore`.
    pub fn drain(&mut self, mut restore: impl FnMut(Change)) {
        for change in self.changes.drain(..) {
            self.is_recorded[change.variable as usize] = false;
            restore(change);
        }
    }
}
