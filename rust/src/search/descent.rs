//! Moving one variable at a time to its best place.
//!
//! Only a variable's place among its candidates matters. With k of them there are k + 1 places, and of the candidates
//! only those change that would pick it, or have picked it. So a move costs little more than looking at k candidates,
//! and a sweep over all variables is linear in their number.

use super::Random;
use super::growth::Workspace;
use super::parents::Parents;
use super::score::Evidence;
use std::collections::VecDeque;
use std::sync::Arc;

/// Moves for each variable that a descent may take.
const MOVES: usize = 100;

/// An order of the variables, the causes that follow from it, and its score.
pub(crate) struct State<'a, 'e> {
    evidence: &'a Evidence<'e>,
    /// For each variable those it may be connected with, by number.
    candidates: Vec<Vec<u32>>,
    /// Variables are ordered by this.
    places: Vec<f64>,
    parents: Vec<Arc<Parents>>,
    workspace: Workspace,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    /// What was changed since the last mark, as it was.
    journal: Vec<Change>,
    marked: Vec<bool>,
    /// Variables whose causes have changed since others were looked for among all predecessors.
    unchecked: Vec<bool>,
    /// Pairs that became candidates since the last mark.
    joined: Vec<(u32, u32)>,
    before: Vec<u32>,
    /// Variables tried at all their places.
    pub moves: usize,
}

struct Change {
    variable: u32,
    place: f64,
    parents: Arc<Parents>,
}

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

impl<'a, 'e> State<'a, 'e> {
    pub fn new(evidence: &'a Evidence<'e>, candidates: Vec<Vec<u32>>, order: &[u32]) -> Self {
        let d = order.len();
        let mut places = vec![0.0; d];
        for (place, &i) in order.iter().enumerate() {
            places[i as usize] = place as f64;
        }
        let mut state = Self {
            evidence,
            candidates,
            places,
            parents: vec![Arc::default(); d],
            workspace: Workspace::default(),
            queue: VecDeque::new(),
            queued: vec![false; d],
            journal: Vec::new(),
            marked: vec![false; d],
            unchecked: vec![true; d],
            joined: Vec::new(),
            before: Vec::new(),
            moves: 0,
        };
        for &i in order {
            state.parents[i as usize] = state.find(i, None);
            state.enqueue(i);
        }
        state
    }

    pub fn score(&self) -> f64 {
        self.parents.iter().map(|parents| parents.score).sum()
    }

    /// The score in units of what is rounding: graphs of the same class have the same.
    pub fn rank(&self) -> f64 {
        (self.score() / self.tolerance()).round()
    }

    /// The variables, causes first.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.places.len() as u32).collect();
        order.sort_by(|&a, &b| self.key(a).partial_cmp(&self.key(b)).expect("places are numbers"));
        order
    }

    pub fn causes(&self, variable: u32) -> &[u32] {
        self.parents[variable as usize].causes()
    }

    pub fn score_of(&self, variable: u32) -> f64 {
        self.parents[variable as usize].score
    }

    /// Take over an order, and candidates that a graph along it needs.
    pub fn adopt(&mut self, order: &[u32], causes: &[Vec<u32>]) {
        for (place, &i) in order.iter().enumerate() {
            self.places[i as usize] = place as f64;
            for &cause in &causes[i as usize] {
                self.join(i, cause);
            }
        }
        for &i in order {
            let parents = self.find(i, None);
            if !Arc::ptr_eq(&parents, &self.parents[i as usize]) {
                self.replace(i, parents);
            }
        }
        self.keep();
    }

    /// Make two variables candidates of each other.
    fn join(&mut self, one: u32, two: u32) {
        for (one, two) in [(one, two), (two, one)] {
            let list = &mut self.candidates[one as usize];
            if let Err(slot) = list.binary_search(&two) {
                list.insert(slot, two);
            }
        }
    }

    pub fn enqueue(&mut self, variable: u32) {
        if !std::mem::replace(&mut self.queued[variable as usize], true) {
            self.queue.push_back(variable);
        }
    }

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

    fn clear_queue(&mut self) {
        for i in self.queue.drain(..) {
            self.queued[i as usize] = false;
        }
    }

    /// Ties between places are settled by number.
    fn key(&self, variable: u32) -> (f64, u32) {
        (self.places[variable as usize], variable)
    }

    fn precedes(&self, a: u32, b: u32) -> bool {
        self.key(a) < self.key(b)
    }

    /// The causes of a variable where it is, with one candidate put before it or after it.
    fn find(&mut self, variable: u32, other: Option<(u32, bool)>) -> Arc<Parents> {
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.extend(self.candidates[variable as usize].iter().copied().filter(|&i| match other {
            Some((moved, precedes)) if moved == i => precedes,
            _ => self.precedes(i, variable),
        }));
        let parents = self.workspace.find(self.evidence, variable, &before);
        self.before = before;
        parents
    }

    /// Move a variable to its best place.
    fn improve(&mut self, variable: u32, around: &mut Around) {
        self.moves += 1;
        let others = &mut around.others;
        others.clone_from(&self.candidates[variable as usize]);
        others.sort_unstable_by(|&a, &b| self.key(a).partial_cmp(&self.key(b)).expect("places are numbers"));
        let now = others.iter().take_while(|&&u| self.precedes(u, variable)).count();
        let (first, last) = self.bounds(variable, others);
        // A change of the score that has to be undercut, and the place. Of places that differ by rounding the first is taken.
        let mut best = (-self.evidence.tolerance(), now);
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
                *best = (change - self.evidence.tolerance(), t);
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
                *best = (change - self.evidence.tolerance(), t);
            }
        }
    }

    /// Put a variable between others in order, before the one numbered `t`; bring all that depends on it up to date.
    fn put(&mut self, variable: u32, others: &[u32], t: usize) {
        let now = others.iter().take_while(|&&u| self.precedes(u, variable)).count();
        let place = match (t.checked_sub(1).map(|k| others[k]), others.get(t)) {
            (None, None) => return,
            (None, Some(&next)) => self.places[next as usize] - 1.0,
            (Some(last), None) => self.places[last as usize] + 1.0,
            (Some(last), Some(&next)) => 0.5 * (self.places[last as usize] + self.places[next as usize]),
        };
        self.record(variable);
        self.places[variable as usize] = place;
        let fits = |state: &Self| {
            (t == 0 || state.precedes(others[t - 1], variable))
                && (t == others.len() || state.precedes(variable, others[t]))
        };
        if !fits(self) {
            self.spread(variable, others, t);
        }
        let own = self.find(variable, None);
        self.replace(variable, own);
        for &u in &others[now.min(t)..now.max(t)] {
            let affected = if t > now {
                self.parents[u as usize].depend_on(variable)
            } else {
                let Self { parents, evidence, workspace, .. } = self;
                parents[u as usize].would_pick(evidence, u, variable, &mut workspace.scratch)
            };
            if affected {
                let parents = self.find(u, None);
                self.replace(u, parents);
            }
        }
    }

    /// Places have been halved until nothing is left between two: number all afresh, with the variable where it should be.
    fn spread(&mut self, variable: u32, others: &[u32], t: usize) {
        let mut order = self.order();
        order.retain(|&i| i != variable);
        let at = match t.checked_sub(1) {
            Some(k) => order.iter().position(|&i| i == others[k]).map_or(0, |p| p + 1),
            None => order.iter().position(|&i| i == others[0]).unwrap_or(0),
        };
        order.insert(at, variable);
        for (place, i) in order.into_iter().enumerate() {
            self.record(i);
            self.places[i as usize] = place as f64;
        }
    }

    fn replace(&mut self, variable: u32, parents: Arc<Parents>) {
        self.record(variable);
        self.parents[variable as usize] = parents;
        self.unchecked[variable as usize] = true;
        self.enqueue(variable);
    }

    /// The first and the last place among others, in order, that required edges allow.
    fn bounds(&self, variable: u32, others: &[u32]) -> (usize, usize) {
        let knowledge = self.evidence.knowledge;
        let first = others.iter().rposition(|&u| knowledge.requires(u, variable)).map_or(0, |k| k + 1);
        let last = others.iter().position(|&u| knowledge.requires(variable, u)).unwrap_or(others.len());
        (first, last)
    }

    /// Remember what a variable was like, once between two marks.
    fn record(&mut self, variable: u32) {
        if !std::mem::replace(&mut self.marked[variable as usize], true) {
            self.journal.push(Change {
                variable,
                place: self.places[variable as usize],
                parents: Arc::clone(&self.parents[variable as usize]),
            });
        }
    }

    /// Forget what was before.
    pub fn keep(&mut self) {
        for change in self.journal.drain(..) {
            self.marked[change.variable as usize] = false;
        }
        self.joined.clear();
    }

    /// Go back to the last mark.
    pub fn undo(&mut self) {
        self.clear_queue();
        for Change { variable, place, parents } in self.journal.drain(..) {
            let i = variable as usize;
            self.marked[i] = false;
            self.places[i] = place;
            self.parents[i] = parents;
        }
        for (one, two) in self.joined.drain(..) {
            self.candidates[one as usize].retain(|&i| i != two);
            self.candidates[two as usize].retain(|&i| i != one);
        }
    }

    /// Throw a variable somewhere among its candidates.
    pub fn jump(&mut self, variable: u32, random: &mut Random) {
        let mut others = self.candidates[variable as usize].clone();
        if others.is_empty() {
            return;
        }
        others.sort_unstable_by(|&a, &b| self.key(a).partial_cmp(&self.key(b)).expect("places are numbers"));
        let (first, last) = self.bounds(variable, &others);
        let t = first + random.below(last - first + 1);
        self.put(variable, &others, t);
    }

    /// Put an effect right before one of its causes.
    pub fn reverse(&mut self, cause: u32, effect: u32) {
        let mut others = self.candidates[effect as usize].clone();
        others.sort_unstable_by(|&a, &b| self.key(a).partial_cmp(&self.key(b)).expect("places are numbers"));
        let (first, _) = self.bounds(effect, &others);
        if let Some(t) = others.iter().position(|&i| i == cause).filter(|&t| t >= first) {
            self.put(effect, &others, t);
        }
    }

    /// Variables in triangles, and their neighbours, some more than once.
    ///
    /// A wrong order joins causes of a common effect that a sparse true graph leaves apart.
    pub fn suspects(&self) -> Vec<u32> {
        let mut in_triangle = vec![false; self.dim()];
        for (effect, parents) in self.parents.iter().enumerate() {
            for (k, &a) in parents.causes().iter().enumerate() {
                for &b in &parents.causes()[..k] {
                    if self.causes(a).contains(&b) || self.causes(b).contains(&a) {
                        in_triangle[effect] = true;
                        in_triangle[a as usize] = true;
                        in_triangle[b as usize] = true;
                    }
                }
            }
        }
        let mut suspects: Vec<u32> = (0..self.dim() as u32).filter(|&i| in_triangle[i as usize]).collect();
        for effect in 0..self.dim() as u32 {
            for &cause in self.causes(effect) {
                suspects.extend(in_triangle[cause as usize].then_some(effect));
                suspects.extend(in_triangle[effect as usize].then_some(cause));
            }
        }
        suspects
    }

    /// Differences of scores up to this are rounding.
    pub fn tolerance(&self) -> f64 {
        self.evidence.tolerance()
    }

    /// Number of variables.
    pub fn dim(&self) -> usize {
        self.places.len()
    }

    /// Score of what has changed since the last mark, now minus then.
    pub fn change(&self) -> f64 {
        self.journal.iter().map(|c| self.parents[c.variable as usize].score - c.parents.score).sum()
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

    pub fn candidates(&self, variable: u32) -> &[u32] {
        &self.candidates[variable as usize]
    }
}
