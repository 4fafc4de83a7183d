//! An order of the variables, the causes that follow from it, and what was changed.

use super::evidence::Evidence;
use super::growth::Workspace;
use super::parents::Parents;
use std::collections::VecDeque;
use std::sync::Arc;

/// An order of the variables, the causes that follow from it, and its score.
pub(crate) struct State<'a, 'e> {
    pub evidence: &'a Evidence<'e>,
    /// For each variable those it may be connected with, by number.
    pub candidates: Vec<Vec<u32>>,
    /// Variables are ordered by this.
    pub places: Vec<f64>,
    pub parents: Vec<Arc<Parents>>,
    pub workspace: Workspace,
    pub queue: VecDeque<u32>,
    pub queued: Vec<bool>,
    /// What was changed since the last mark, as it was.
    pub journal: Vec<Change>,
    pub marked: Vec<bool>,
    /// Variables whose causes have changed since others were looked for among all predecessors.
    pub unchecked: Vec<bool>,
    /// Pairs that became candidates since the last mark.
    pub joined: Vec<(u32, u32)>,
    pub before: Vec<u32>,
    /// Variables tried at all their places.
    pub moves: usize,
}

pub(crate) struct Change {
    variable: u32,
    place: f64,
    parents: Arc<Parents>,
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

    /// Number of variables.
    pub fn dim(&self) -> usize {
        self.places.len()
    }

    pub fn score(&self) -> f64 {
        self.parents.iter().map(|parents| parents.score).sum()
    }

    /// The score in units of what is rounding: graphs of the same class have the same.
    pub fn rank(&self) -> f64 {
        (self.score() / self.tolerance()).round()
    }

    /// Differences of scores up to this are rounding.
    pub fn tolerance(&self) -> f64 {
        self.evidence.score.tolerance()
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

    pub fn candidates(&self, variable: u32) -> &[u32] {
        &self.candidates[variable as usize]
    }

    /// Ties between places are settled by number.
    pub fn key(&self, variable: u32) -> (f64, u32) {
        (self.places[variable as usize], variable)
    }

    pub fn precedes(&self, a: u32, b: u32) -> bool {
        self.key(a) < self.key(b)
    }

    /// The causes of a variable where it is, with one candidate put before it or after it.
    pub fn find(&mut self, variable: u32, other: Option<(u32, bool)>) -> Arc<Parents> {
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

    /// The candidates of a variable, in order.
    pub fn neighbours(&self, variable: u32, others: &mut Vec<u32>) {
        others.clone_from(&self.candidates[variable as usize]);
        others.sort_unstable_by(|&a, &b| self.key(a).partial_cmp(&self.key(b)).expect("places are numbers"));
    }

    /// The first and the last place among others, in order, that required edges allow.
    pub fn bounds(&self, variable: u32, others: &[u32]) -> (usize, usize) {
        let knowledge = self.evidence.knowledge;
        let first = others.iter().rposition(|&u| knowledge.requires(u, variable)).map_or(0, |k| k + 1);
        let last = others.iter().position(|&u| knowledge.requires(variable, u)).unwrap_or(others.len());
        (first, last)
    }

    /// Put a variable between others in order, before the one numbered `t`; bring all that depends on it up to date.
    pub fn put(&mut self, variable: u32, others: &[u32], t: usize) {
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
    pub fn spread(&mut self, variable: u32, others: &[u32], t: usize) {
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

    pub fn replace(&mut self, variable: u32, parents: Arc<Parents>) {
        self.record(variable);
        self.parents[variable as usize] = parents;
        self.unchecked[variable as usize] = true;
        self.enqueue(variable);
    }

    /// Make two variables candidates of each other.
    pub fn join(&mut self, one: u32, two: u32) {
        for (one, two) in [(one, two), (two, one)] {
            let list = &mut self.candidates[one as usize];
            if let Err(slot) = list.binary_search(&two) {
                list.insert(slot, two);
            }
        }
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

    pub fn enqueue(&mut self, variable: u32) {
        if !std::mem::replace(&mut self.queued[variable as usize], true) {
            self.queue.push_back(variable);
        }
    }

    pub fn clear_queue(&mut self) {
        for i in self.queue.drain(..) {
            self.queued[i as usize] = false;
        }
    }

    /// Remember what a variable was like, once between two marks.
    pub fn record(&mut self, variable: u32) {
        if !std::mem::replace(&mut self.marked[variable as usize], true) {
            self.journal.push(Change {
                variable,
                place: self.places[variable as usize],
                parents: Arc::clone(&self.parents[variable as usize]),
            });
        }
    }

    /// Score of what has changed since the last mark, now minus then.
    pub fn change(&self) -> f64 {
        self.journal.iter().map(|c| self.parents[c.variable as usize].score - c.parents.score).sum()
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
}
