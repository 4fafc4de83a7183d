//! A causal order with the graph that follows from it, and the changes that a trial can make and undo.

use super::candidates::Candidates;
use super::evidence::Evidence;
use super::growth::Workspace;
use super::journal::{Change, Journal};
use super::parents::Parents;
use super::places::Places;
use super::queue::Queue;
use std::sync::Arc;

/// A causal order, the best parents of each variable among the candidates before it, and the score of that graph.
pub(crate) struct State<'a, 'e> {
    evidence: &'a Evidence<'e>,
    candidates: Candidates,
    places: Places,
    parents: Vec<Arc<Parents>>,
    /// Variables whose place should be reconsidered.
    pub(super) queue: Queue,
    journal: Journal,
    /// Variables whose parents have changed since all predecessors were last searched for missing ones.
    is_unchecked: Vec<bool>,
    /// How many moves were tried.
    pub(super) moves: usize,
    workspace: Workspace,
    predecessors: Vec<u32>,
}

impl<'a, 'e> State<'a, 'e> {
    pub fn new(evidence: &'a Evidence<'e>, candidates: Vec<Vec<u32>>, order: &[u32]) -> Self {
        let d = order.len();
        let mut state = Self {
            evidence,
            candidates: Candidates::new(candidates),
            places: Places::new(order),
            parents: vec![Arc::default(); d],
            queue: Queue::new(d),
            journal: Journal::new(d),
            is_unchecked: vec![true; d],
            moves: 0,
            workspace: Workspace::default(),
            predecessors: Vec::new(),
        };
        for &i in order {
            state.parents[i as usize] = state.find_parents(i);
            state.queue.push(i);
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

    /// The score rounded to multiples of the tolerance: the same for all graphs of an equivalence class.
    pub fn rank(&self) -> f64 {
        (self.score() / self.tolerance()).round()
    }

    /// Differences of scores up to this are rounding errors.
    pub fn tolerance(&self) -> f64 {
        self.evidence.score.tolerance()
    }

    /// The variables, causes first.
    pub fn order(&self) -> Vec<u32> {
        self.places.order()
    }

    pub fn parents(&self, variable: u32) -> &Arc<Parents> {
        &self.parents[variable as usize]
    }

    pub fn causes(&self, variable: u32) -> &[u32] {
        self.parents(variable).causes()
    }

    pub fn score_of(&self, variable: u32) -> f64 {
        self.parents(variable).score
    }

    pub fn candidates(&self, variable: u32) -> &[u32] {
        self.candidates.of(variable)
    }

    /// Write the candidates of a variable to `others`, causes first.
    pub fn sort_candidates(&self, variable: u32, others: &mut Vec<u32>) {
        others.clear();
        others.extend_from_slice(self.candidates.of(variable));
        self.places.sort(others);
    }

    /// How many of some variables, in order, precede a variable.
    pub fn count_predecessors(&self, variable: u32, others: &[u32]) -> usize {
        others.iter().take_while(|&&u| self.places.precedes(u, variable)).count()
    }

    /// The first and the last position among others, in order, that required edges allow.
    pub fn bounds(&self, variable: u32, others: &[u32]) -> (usize, usize) {
        let knowledge = self.evidence.knowledge;
        let first = others.iter().rposition(|&u| knowledge.requires(u, variable)).map_or(0, |k| k + 1);
        let last = others.iter().position(|&u| knowledge.requires(variable, u)).unwrap_or(others.len());
        (first, last)
    }

    /// The best parents of a variable among its candidates that come before it.
    pub fn find_parents(&mut self, variable: u32) -> Arc<Parents> {
        self.find_parents_if(variable, None)
    }

    /// The best parents of a variable if another one preceded it, or did not.
    pub fn find_parents_given(&mut self, variable: u32, other: u32, precedes: bool) -> Arc<Parents> {
        self.find_parents_if(variable, Some((other, precedes)))
    }

    fn find_parents_if(&mut self, variable: u32, supposed: Option<(u32, bool)>) -> Arc<Parents> {
        let Self { evidence, candidates, places, workspace, predecessors, .. } = self;
        predecessors.clear();
        predecessors.extend(candidates.of(variable).iter().copied().filter(|&i| match supposed {
            Some((other, precedes)) if other == i => precedes,
            _ => places.precedes(i, variable),
        }));
        workspace.find(evidence, variable, predecessors)
    }

    /// The best parents of a variable among given predecessors.
    pub fn find_parents_among(&mut self, variable: u32, predecessors: &[u32]) -> Arc<Parents> {
        self.workspace.find(self.evidence, variable, predecessors)
    }

    /// Whether the parents of a variable could change if another one became a predecessor.
    pub fn would_pick(&mut self, variable: u32, newcomer: u32) -> bool {
        let Self { parents, evidence, workspace, .. } = self;
        parents[variable as usize].would_pick(evidence, variable, newcomer, &mut workspace.scratch)
    }

    /// Among all predecessors that are no candidates, the one that would improve the score of a variable most, if that
    /// is worth an edge.
    pub fn find_missing_parent(&mut self, variable: u32) -> Option<u32> {
        let Self { parents, evidence, workspace, candidates, places, .. } = self;
        let worthwhile = parents[variable as usize].further(evidence, variable, &mut workspace.room).iter();
        let missing =
            worthwhile.filter(|&&(other, _)| places.precedes(other, variable) && !candidates.contains(variable, other));
        missing.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|&(other, _)| other)
    }

    /// Whether the parents of a variable have changed since this was last asked.
    pub fn take_unchecked(&mut self, variable: u32) -> bool {
        std::mem::replace(&mut self.is_unchecked[variable as usize], false)
    }

    /// Put a variable at position `t` among others in order, and update the parents of all that this affects.
    pub fn put(&mut self, variable: u32, others: &[u32], t: usize) {
        let now = self.count_predecessors(variable, others);
        let (before, after) = (t.checked_sub(1).map(|k| others[k]), others.get(t).copied());
        let Some(place) = self.places.between(before, after) else { return };
        self.record(variable);
        self.places.set(variable, place);
        let fits = before.is_none_or(|u| self.places.precedes(u, variable))
            && after.is_none_or(|u| self.places.precedes(variable, u));
        if !fits {
            self.renumber_around(variable, before, after);
        }
        let own = self.find_parents(variable);
        self.replace(variable, own);
        for &u in &others[now.min(t)..now.max(t)] {
            let is_affected = if t > now { self.parents(u).depend_on(variable) } else { self.would_pick(u, variable) };
            if is_affected {
                let parents = self.find_parents(u);
                self.replace(u, parents);
            }
        }
    }

    /// Renumber all places, with a variable between two others: no number is left between theirs.
    fn renumber_around(&mut self, variable: u32, before: Option<u32>, after: Option<u32>) {
        let mut order = self.order();
        order.retain(|&i| i != variable);
        let position = |other: Option<u32>| order.iter().position(|&i| Some(i) == other);
        let at = position(before).map(|k| k + 1).or_else(|| position(after)).unwrap_or(0);
        order.insert(at, variable);
        for &i in &order {
            self.record(i);
        }
        self.places.renumber(&order);
    }

    /// Add a candidate, tentatively, and update the parents of the variable.
    pub fn add_candidate(&mut self, variable: u32, other: u32) {
        self.candidates.join_tentatively(variable, other);
        let parents = self.find_parents(variable);
        self.replace(variable, parents);
    }

    fn replace(&mut self, variable: u32, parents: Arc<Parents>) {
        self.record(variable);
        self.parents[variable as usize] = parents;
        self.is_unchecked[variable as usize] = true;
        self.queue.push(variable);
    }

    /// Take over an order, and the candidates that a graph along it needs.
    pub fn adopt(&mut self, order: &[u32], causes: &[Vec<u32>]) {
        self.places.renumber(order);
        for &i in order {
            for &cause in &causes[i as usize] {
                self.candidates.join(i, cause);
            }
        }
        for &i in order {
            let parents = self.find_parents(i);
            if !Arc::ptr_eq(&parents, self.parents(i)) {
                self.replace(i, parents);
            }
        }
        self.keep();
    }

    fn record(&mut self, variable: u32) {
        self.journal.record(variable, self.places.of(variable), &self.parents[variable as usize]);
    }

    /// Change of the score since changes were last kept or undone.
    pub fn change(&self) -> f64 {
        self.journal.former_scores().map(|(variable, former)| self.score_of(variable) - former).sum()
    }

    /// Keep all changes.
    pub fn keep(&mut self) {
        self.journal.drain(|_| ());
        self.candidates.keep();
    }

    /// Undo all changes since they were last kept or undone.
    pub fn undo(&mut self) {
        let Self { queue, journal, places, parents, candidates, .. } = self;
        queue.clear();
        journal.drain(|Change { variable, place, parents: former }| {
            places.set(variable, place);
            parents[variable as usize] = former;
        });
        candidates.undo();
    }
}
