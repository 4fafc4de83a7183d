//! Moving one variable at a time to its best place.

use super::kernel::Kernel;
use super::state::State;

/// A descent from a start order ends at the latest after so many sweeps over all variables.
const MOST_SWEEPS: usize = 100;
/// The descent of a trial ends after so many visits that gained nothing.
const MOST_IDLE: usize = 200;

impl<K: Kernel> State<'_, '_, K> {
    /// Visit all variables in random order, again and again, until that gains nothing.
    pub fn descend_fully(&mut self, go_on: &impl Fn() -> bool) {
        let mut all: Vec<u32> = (0..self.dim() as u32).collect();
        let mut is_improved = self.dim() > 1;
        for _ in 0..MOST_SWEEPS {
            if !is_improved {
                break;
            }
            is_improved = false;
            for k in (1..all.len()).rev() {
                all.swap(k, self.chooser.random.below(k + 1));
            }
            for &variable in &all {
                if !go_on() {
                    break;
                }
                is_improved |= self.improve(variable) < -self.tolerance();
            }
        }
        self.queue.clear();
        self.keep();
    }

    /// Visit some variables, and those that this affects, until nothing is gained.
    pub fn descend_at(&mut self, variables: impl Iterator<Item = u32>, go_on: &impl Fn() -> bool) {
        variables.for_each(|variable| self.queue.push(variable));
        self.descend(go_on);
        self.keep();
    }

    /// Visit the variables in the queue, and those that this affects, until nothing is left or nothing is gained.
    pub fn descend(&mut self, go_on: &impl Fn() -> bool) {
        let most = MOST_IDLE.min(self.dim());
        let mut idle = 0;
        while let Some(variable) = self.queue.pop() {
            idle += 1;
            if idle > most || !go_on() {
                self.queue.clear();
                return;
            }
            if self.improve(variable) < -self.tolerance() {
                idle = 0;
            }
        }
    }
}
