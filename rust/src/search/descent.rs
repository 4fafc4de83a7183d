//! Moving one variable at a time to its best place.
//!
//! Only a variable's place among its candidates matters. With k of them there are k + 1 places, and of the candidates
//! only those change that would pick it, or have picked it. So a move costs little more than looking at k candidates,
//! and a sweep over all variables is linear in their number.

use super::state::State;
use std::sync::Arc;

/// Moves for each variable that a descent may take.
const MOVES: usize = 100;

/// Candidates around a variable that is to move, in order.
#[derive(Default)]
struct Around {
    others: Vec<u32>,
    /// Those before it: what each would gain if the variable came first; and all up to each, in sum.
    gains: Vec<f64>,
    sums: Vec<f64>,
    /// Score of the variable at places after the present one.
    own: Vec<f64>,
}

impl State<'_, '_> {
    /// Move variables until none of those in the queue can be improved.
    pub fn descend(&mut self, go_on: &impl Fn() -> bool) {
        let mut around = Around::default();
        // A bound that is never met, unless rounding makes two orders each better than the other.
        let most = self.moves + MOVES * self.dim() + MOVES;
        while let Some(variable) = self.queue.pop_front() {
            self.queued[variable as usize] = false;
            if self.moves > most || !go_on() {
                self.clear_queue();
                break;
            }
            self.improve(variable, &mut around);
        }
    }

    /// Move a variable to its best place.
    fn improve(&mut self, variable: u32, around: &mut Around) {
        self.moves += 1;
        let others = &mut around.others;
        self.neighbours(variable, others);
        let now = others.iter().take_while(|&&u| self.precedes(u, variable)).count();
        let (first, last) = self.bounds(variable, others);
        // A change of the score that has to be undercut, and the place. Of places that differ by rounding the first is taken.
        let mut best = (-self.evidence.score.tolerance(), now);
        self.look_ahead(variable, around, now, last, &mut best);
        self.look_behind(variable, around, now, first, &mut best);
        if best.1 != now {
            self.put(variable, &around.others, best.1);
        }
    }

    /// Try later places: there the variable has more to choose its causes from, and those that it passes have less.
    fn look_ahead(&mut self, variable: u32, around: &mut Around, now: usize, last: usize, best: &mut (f64, usize)) {
        let Around { others, own, .. } = around;
        let current = self.parents[variable as usize].score;
        let mut found = self.workspace.find(self.evidence, variable, &others[..last]);
        // No place gains more than the last one would if nobody minded.
        let most = found.score - current;
        if now >= last || most >= best.0 {
            return;
        }
        // From the last place forwards: nothing changes until a pick is left behind.
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
            found = self.workspace.find(self.evidence, variable, &others[..t]);
        }
        let mut loss = 0.0;
        for t in now + 1..=last {
            let passed = others[t - 1];
            if self.parents[passed as usize].depend_on(variable) {
                loss += self.find(passed, Some((variable, false))).score - self.parents[passed as usize].score;
                if loss + most >= best.0 {
                    return;
                }
            }
            let change = loss + (own[t - now - 1] - current);
            if change < best.0 {
                *best = (change - self.evidence.score.tolerance(), t);
            }
        }
    }

    /// Try earlier places: there those that it passes have more to choose from, and the variable itself has less.
    fn look_behind(&mut self, variable: u32, around: &mut Around, now: usize, first: usize, best: &mut (f64, usize)) {
        let Around { others, gains, sums, .. } = around;
        gains.clear();
        sums.clear();
        let mut sum = 0.0;
        for &u in &others[first.min(now)..now] {
            let Self { parents, evidence, workspace, .. } = self;
            let affected = parents[u as usize].would_pick(evidence, u, variable, &mut workspace.scratch);
            let change = if affected {
                self.find(u, Some((variable, true))).score - self.parents[u as usize].score
            } else {
                0.0
            };
            sum += change.min(0.0);
            gains.push(change);
            sums.push(sum);
        }
        let mut found = Arc::clone(&self.parents[variable as usize]);
        let current = found.score;
        let mut gained = 0.0;
        let mut t = now;
        // Nothing changes for the variable itself until a pick is left behind.
        while t > first && sums[t - first - 1] + gained + (found.score - current) < best.0 {
            t -= 1;
            gained += gains[t - first];
            if found.depend_on(others[t]) {
                found = self.workspace.find(self.evidence, variable, &others[..t]);
            }
            let change = gained + (found.score - current);
            if change < best.0 {
                *best = (change - self.evidence.score.tolerance(), t);
            }
        }
    }

    /// For each variable that has changed since the last time, look for a cause among all predecessors, not only
    /// candidates. True if any was found.
    pub fn look_further(&mut self) -> bool {
        let mut found = false;
        for variable in self.order() {
            if std::mem::replace(&mut self.unchecked[variable as usize], false) {
                found |= self.widen(variable);
            }
        }
        found
    }

    /// Look for causes of one variable among all predecessors.
    pub fn look_back(&mut self, variable: u32) {
        while self.widen(variable) {}
    }

    /// Add the predecessor to a variable's candidates that it would gain most from, if that is worth an edge.
    fn widen(&mut self, variable: u32) -> bool {
        let Self { parents, evidence, workspace, candidates, places, .. } = self;
        let known = &candidates[variable as usize];
        let key = |i: u32| (places[i as usize], i);
        let further = parents[variable as usize].further(evidence, variable, &mut workspace.room).iter();
        let new = further.filter(|(other, _)| key(*other) < key(variable) && known.binary_search(other).is_err());
        let Some(&(other, _)) = new.max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return false };
        self.join(variable, other);
        self.joined.push((variable, other));
        let parents = self.find(variable, None);
        self.replace(variable, parents);
        true
    }
}
