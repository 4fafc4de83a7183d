//! Moving one variable at a time to its best place.
//!
//! Only a variable's position among its candidates matters. With k candidates there are k + 1 positions. A move changes
//! the parents of the variable itself, of candidates that would pick it, and of candidates that have picked it. So a
//! move costs little more than a pass over k candidates, and a sweep over all variables is linear in their number.

use super::state::State;
use std::sync::Arc;

/// Moves per variable after which a descent ends.
const MOVES: usize = 100;

/// A position among candidates, and the change of the score that a better one has to undercut.
type Best = (f64, usize);

/// Buffers for the search for a variable's best position.
#[derive(Default)]
struct Positions {
    /// The candidates, in order.
    others: Vec<u32>,
    /// For each candidate before the variable, the change of its score if the variable preceded it.
    changes: Vec<f64>,
    /// Running sums of the changes that are improvements.
    sums: Vec<f64>,
    /// Score of the variable at each later position.
    own: Vec<f64>,
}

impl State<'_, '_> {
    /// Move variables until no variable in the queue can be improved.
    pub fn descend(&mut self, go_on: &impl Fn() -> bool) {
        let mut positions = Positions::default();
        // This limit is reached only if rounding makes two orders each better than the other.
        let most = self.moves + MOVES * self.dim() + MOVES;
        while let Some(variable) = self.queue.pop() {
            if self.moves > most || !go_on() {
                self.queue.clear();
                break;
            }
            self.improve(variable, &mut positions);
        }
    }

    /// Move a variable to its best position.
    fn improve(&mut self, variable: u32, positions: &mut Positions) {
        self.moves += 1;
        let others = &mut positions.others;
        self.sort_candidates(variable, others);
        let now = self.count_predecessors(variable, others);
        let (first, last) = self.bounds(variable, others);
        // A position has to improve the score by more than rounding, or by that much on the best one so far.
        let mut best = (-self.tolerance(), now);
        self.look_ahead(variable, positions, now, last, &mut best);
        self.look_behind(variable, positions, now, first, &mut best);
        if best.1 != now {
            self.put(variable, &positions.others, best.1);
        }
    }

    /// Try later positions: there the variable has more possible parents, and those that it passes have fewer.
    fn look_ahead(&mut self, variable: u32, positions: &mut Positions, now: usize, last: usize, best: &mut Best) {
        let Positions { others, own, .. } = positions;
        let current = self.score_of(variable);
        let mut found = self.find_parents_among(variable, &others[..last]);
        // No position gains more than the last one would if it cost the others nothing.
        let most = found.score - current;
        if now >= last || most >= best.0 {
            return;
        }
        // Backwards from the last position: the score stays the same until the variable passes one of its picks.
        own.clear();
        own.resize(last - now, 0.0);
        let mut t = last;
        loop {
            let picked = others[now..t].iter().rposition(|&u| found.depend_on(u));
            let after = picked.unwrap_or(0);
            own[after..t - now].fill(found.score);
            t = now + after;
            if t == now {
                break;
            }
            found = self.find_parents_among(variable, &others[..t]);
        }
        let mut loss = 0.0;
        for t in now + 1..=last {
            let passed = others[t - 1];
            if self.parents(passed).depend_on(variable) {
                loss += self.find_parents_given(passed, variable, false).score - self.score_of(passed);
                if loss + most >= best.0 {
                    return;
                }
            }
            let change = loss + (own[t - now - 1] - current);
            if change < best.0 {
                *best = (change - self.tolerance(), t);
            }
        }
    }

    /// Try earlier positions: there those that the variable passes have more possible parents, and it has fewer itself.
    fn look_behind(&mut self, variable: u32, positions: &mut Positions, now: usize, first: usize, best: &mut Best) {
        let Positions { others, changes, sums, .. } = positions;
        changes.clear();
        sums.clear();
        let mut sum = 0.0;
        for &u in &others[first.min(now)..now] {
            let change = if self.would_pick(u, variable) {
                self.find_parents_given(u, variable, true).score - self.score_of(u)
            } else {
                0.0
            };
            sum += change.min(0.0);
            changes.push(change);
            sums.push(sum);
        }
        let mut found = Arc::clone(self.parents(variable));
        let current = found.score;
        let mut gained = 0.0;
        let mut t = now;
        // The score of the variable itself stays the same until it passes one of its picks.
        while t > first && sums[t - first - 1] + gained + (found.score - current) < best.0 {
            t -= 1;
            gained += changes[t - first];
            if found.depend_on(others[t]) {
                found = self.find_parents_among(variable, &others[..t]);
            }
            let change = gained + (found.score - current);
            if change < best.0 {
                *best = (change - self.tolerance(), t);
            }
        }
    }

    /// For each variable whose parents have changed since the last call, look for a parent among all predecessors, not
    /// only candidates; true if any was found.
    pub fn add_missing_parents(&mut self) -> bool {
        let mut found = false;
        for variable in self.order() {
            if self.take_unchecked(variable) {
                found |= self.add_missing_parent(variable);
            }
        }
        found
    }

    /// Look for parents of one variable among all predecessors until none is missing.
    pub fn add_all_missing_parents(&mut self, variable: u32) {
        while self.add_missing_parent(variable) {}
    }

    fn add_missing_parent(&mut self, variable: u32) -> bool {
        let Some(other) = self.find_missing_parent(variable) else { return false };
        self.add_candidate(variable, other);
        true
    }
}
