//! Choosing the parents of a variable among those that come before it.
//!
//! Parents *grow* by any predecessor that improves the score, in random order, until none does, and then *shrink* by any
//! removal that improves it, until neither changes anything. Taking the largest gain first instead would pick proxies
//! where causes are many and collinear (Wienöbst, Henckel and Weichwald 2026). Not so where noise variances are known:
//! there a variable in a wrong place leaves so much unexplained that nearly any predecessor is worth an edge to it.
//!
//! Where the shape of residuals counts, a change is proposed by its Gaussian gain, which is known at once, and accepted
//! by the whole score, which takes a pass over the rows.

use super::columns::{Columns, members};
use super::evidence::Evidence;
use super::fit::Fit;
use super::kernel::Kernel;
use super::shapes::Shapes;
use crate::algebra::hash::Random;
use crate::score::Noise;

/// Rounds of growing and shrinking; most variables need one.
const MOST_ROUNDS: usize = 10;
/// Where shapes count, they decide about parents whose Gaussian gain is between these shares of the penalty; with less they
/// are no parents, and with more they are.
const DOUBTFUL: (f64, f64) = (0.25, 2.0);
/// Where shapes count, at most so many variables are proposed at a time.
const MOST_PROPOSALS: usize = 8;
/// With fewer samples for each parent, a regression could explain anything.
const SAMPLES_PER_PARENT: f64 = 4.0;

/// What is given about the variables: the data, and which variables a regression covers.
#[derive(Debug)]
pub(crate) struct Setting<'a, 'e> {
    pub evidence: &'a Evidence<'e>,
    pub columns: Columns,
    /// For each variable, those of which it is a required parent; empty without knowledge.
    required_children: Vec<Vec<u32>>,
}

impl<'a, 'e> Setting<'a, 'e> {
    pub fn new(evidence: &'a Evidence<'e>, candidates: &[Vec<u32>]) -> Self {
        let knowledge = evidence.knowledge;
        let mut required_children = Vec::new();
        if !knowledge.is_trivial() {
            required_children.resize(evidence.dim(), Vec::new());
            for child in 0..evidence.dim() as u32 {
                for &parent in knowledge.required_parents(child) {
                    required_children[parent as usize].push(child);
                }
            }
        }
        let columns = if evidence.is_sparse() { Columns::lists(candidates) } else { Columns::new(candidates) };
        Self { evidence, columns, required_children }
    }

    /// The variables of which a variable is a required parent.
    pub fn required_children(&self, variable: u32) -> &[u32] {
        self.required_children.get(variable as usize).map_or(&[], Vec::as_slice)
    }

    /// The Gaussian part of a local score, and the penalty.
    fn gaussian_score(&self, variable: u32, left: f64, parents: impl Iterator<Item = u32>) -> f64 {
        self.evidence.score.misfit_of(variable, left) + self.evidence.price(variable, parents)
    }

    /// Whether the variable in a slot is a parent whatever the shape of residuals says.
    fn is_clear<K: Kernel>(&self, fit: &Fit<K>, slot: usize) -> bool {
        let other = self.columns.at(fit.variable, slot);
        fit.share(slot).is_some_and(|share| share > self.evidence.worth(fit.variable, other, fit.left, DOUBTFUL.1))
    }

    /// Whether there are samples enough for one more parent.
    fn has_room<K: Kernel>(&self, fit: &Fit<K>) -> bool {
        (self.evidence.width(&fit.parents) + 1) as f64 * SAMPLES_PER_PARENT <= self.evidence.score.samples
    }
}

/// A change of a variable's parents: the slot of a new one, or the number of one that goes.
#[derive(Debug, Clone, Copy)]
enum Step {
    Add(usize),
    Remove(usize),
}

/// Random numbers, buffers, and gains by shape that are known already.
#[derive(Debug)]
pub(crate) struct Chooser {
    pub random: Random,
    weights: Vec<f64>,
    losses: Vec<f64>,
    /// Slots of predecessors that are worth an edge.
    slots: Vec<usize>,
    shapes: Shapes,
}

impl Chooser {
    pub fn new(random: Random) -> Self {
        Self { random, weights: Vec::new(), losses: Vec::new(), slots: Vec::new(), shapes: Shapes::default() }
    }

    /// Choose the parents of a variable from the beginning, among those that `precedes` holds for.
    pub fn choose<K: Kernel>(
        &mut self,
        setting: &Setting,
        fit: &mut Fit<K>,
        variable: u32,
        precedes: &impl Fn(u32) -> bool,
    ) {
        let Setting { evidence, columns, .. } = setting;
        fit.reset(evidence, columns, variable);
        for &parent in evidence.knowledge.required_parents(variable) {
            let slot = columns.slot(variable, parent).expect("required parents are covered");
            // A required parent is left out only if it is a linear combination of others to within rounding.
            if fit.is_independent(slot) {
                fit.add(evidence, columns, parent, slot);
            }
        }
        self.settle_gaussian(setting, fit, precedes);
        if evidence.has_values() {
            self.settle_shaped(setting, fit, precedes);
        }
    }

    /// Improve the parents of a variable, among those that `precedes` holds for.
    pub fn settle<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>, precedes: &impl Fn(u32) -> bool) {
        if setting.evidence.has_values() {
            self.settle_shaped(setting, fit, precedes);
        } else {
            self.settle_gaussian(setting, fit, precedes);
        }
    }

    /// Whether a variable that is wanted would be taken in.
    pub fn would_take<K: Kernel>(&mut self, setting: &Setting, fit: &Fit<K>, other: u32) -> bool {
        if !setting.has_room(fit) {
            return false;
        }
        if !setting.evidence.has_values() {
            return true;
        }
        let Some(slot) = setting.columns.slot(fit.variable, other) else { return false };
        if setting.is_clear(fit, slot) {
            return true;
        }
        self.score_after(setting, fit, Step::Add(slot)) < fit.score - setting.evidence.score.tolerance()
    }

    /// Compute a regression anew, and its score.
    pub fn refit<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>) {
        let parents = std::mem::take(&mut fit.parents);
        fit.refit(setting.evidence, &setting.columns, parents);
        self.rate(setting, fit);
    }

    /// Set the score.
    fn rate<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>) {
        fit.score = setting.gaussian_score(fit.variable, fit.left, fit.parents.iter().copied());
        if setting.evidence.has_values() {
            fit.score -= self.shapes.gain(setting.evidence, fit, &mut self.weights, &mut self.losses);
        }
    }

    fn settle_gaussian<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>, precedes: &impl Fn(u32) -> bool) {
        for _ in 0..MOST_ROUNDS {
            self.grow(setting, fit, precedes);
            if !self.shrink(setting, fit) {
                break;
            }
        }
        mark(setting, fit, 1.0);
        fit.score = setting.gaussian_score(fit.variable, fit.left, fit.parents.iter().copied());
    }

    /// Take in predecessors that are worth an edge, until there are none: in random order, or the best first.
    fn grow<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>, precedes: &impl Fn(u32) -> bool) {
        let Setting { evidence, columns, .. } = setting;
        loop {
            mark(setting, fit, 1.0);
            self.collect_slots(columns, fit, precedes);
            if self.slots.is_empty() || !setting.has_room(fit) {
                return;
            }
            if evidence.score.noise == Noise::Unequal {
                for k in (1..self.slots.len()).rev() {
                    self.slots.swap(k, self.random.below(k + 1));
                }
            } else {
                let share = |slot: usize| fit.share(slot).unwrap_or(0.0);
                self.slots.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
                self.slots.truncate(1);
            }
            for &slot in &self.slots {
                let other = columns.at(fit.variable, slot);
                let worth = evidence.worth(fit.variable, other, fit.left, 1.0);
                if fit.share(slot).is_some_and(|share| share > worth) && setting.has_room(fit) {
                    fit.add(evidence, columns, other, slot);
                }
            }
        }
    }

    /// Collect the slots of predecessors that are marked.
    fn collect_slots<K: Kernel>(&mut self, columns: &Columns, fit: &Fit<K>, precedes: &impl Fn(u32) -> bool) {
        self.slots.clear();
        self.slots.extend(members(&fit.wants).filter(|&slot| precedes(columns.at(fit.variable, slot))));
    }

    /// Drop parents that are not worth their penalty, the weakest first; true if any was dropped.
    fn shrink<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>) -> bool {
        let Setting { evidence, columns, .. } = setting;
        let score = &evidence.score;
        let mut is_changed = false;
        loop {
            fit.weigh(&mut self.weights, &mut self.losses);
            let may_go = |number: &usize| !evidence.knowledge.requires(fit.parents[*number], fit.variable);
            let losses = &self.losses;
            let strength =
                |number: usize| evidence.strength(fit.variable, fit.parents[number], losses[number], fit.left);
            let weakest = (0..losses.len()).filter(may_go).min_by(|&a, &b| strength(a).total_cmp(&strength(b)));
            let Some(number) = weakest else { return is_changed };
            let price = evidence.edge_price(fit.variable, fit.parents[number]);
            if score.gain(fit.variable, losses[number], fit.left + losses[number]) > price {
                return is_changed;
            }
            fit.remove(evidence, columns, number);
            is_changed = true;
        }
    }

    /// Take in what is clearly a parent; then take in or drop one variable at a time as long as that improves the whole
    /// score, each time the best.
    fn settle_shaped<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>, precedes: &impl Fn(u32) -> bool) {
        let Setting { evidence, columns, .. } = setting;
        loop {
            self.propose(setting, fit, precedes);
            let best = self.slots.first().copied();
            let Some(slot) = best.filter(|&slot| setting.is_clear(fit, slot)) else { break };
            fit.add(evidence, columns, columns.at(fit.variable, slot), slot);
        }
        self.rate(setting, fit);
        loop {
            let mut best = (fit.score - evidence.score.tolerance(), None);
            let slots = std::mem::take(&mut self.slots);
            for step in slots.iter().map(|&slot| Step::Add(slot)).chain(self.removals(setting, fit)) {
                let score = self.score_after(setting, fit, step);
                if score < best.0 {
                    best = (score, Some(step));
                }
            }
            self.slots = slots;
            match best.1 {
                Some(Step::Add(slot)) => fit.add(evidence, columns, columns.at(fit.variable, slot), slot),
                Some(Step::Remove(number)) => fit.remove(evidence, columns, number),
                None => return,
            }
            fit.score = best.0;
            self.propose(setting, fit, precedes);
        }
    }

    /// Collect the slots of predecessors that may be worth an edge, the best first, and not too many.
    fn propose<K: Kernel>(&mut self, setting: &Setting, fit: &mut Fit<K>, precedes: &impl Fn(u32) -> bool) {
        mark(setting, fit, DOUBTFUL.0);
        self.collect_slots(&setting.columns, fit, precedes);
        let share = |slot: usize| fit.share(slot).unwrap_or(0.0);
        self.slots.sort_unstable_by(|&a, &b| share(b).total_cmp(&share(a)));
        self.slots.truncate(if setting.has_room(fit) { MOST_PROPOSALS } else { 0 });
    }

    /// Removals of parents that may go.
    fn removals<K: Kernel>(&mut self, setting: &Setting, fit: &Fit<K>) -> Vec<Step> {
        let evidence = setting.evidence;
        fit.weigh(&mut self.weights, &mut self.losses);
        let may_go = |number: &usize| {
            let loss = self.losses[*number];
            let price = evidence.edge_price(fit.variable, fit.parents[*number]);
            evidence.score.gain(fit.variable, loss, fit.left + loss) < DOUBTFUL.1 * price
                && !evidence.knowledge.requires(fit.parents[*number], fit.variable)
        };
        (0..fit.parents.len()).filter(may_go).map(Step::Remove).collect()
    }

    /// The whole score after a step.
    fn score_after<K: Kernel>(&mut self, setting: &Setting, fit: &Fit<K>, step: Step) -> f64 {
        let Self { shapes, weights, losses, .. } = self;
        let Setting { evidence, columns, .. } = setting;
        let parents = fit.parents.iter().copied();
        match step {
            Step::Add(slot) => {
                let Some(share) = fit.share(slot) else { return f64::INFINITY };
                let parent = columns.at(fit.variable, slot);
                let gain = shapes.gain_with(evidence, fit, (parent, slot), weights, losses);
                setting.gaussian_score(fit.variable, fit.left - share, parents.chain([parent])) - gain
            }
            Step::Remove(number) => {
                fit.weigh(weights, losses);
                let left = fit.left + losses[number];
                let gain = shapes.gain_without(evidence, fit, number, weights, losses);
                let dropped = fit.parents[number];
                setting.gaussian_score(fit.variable, left, parents.filter(|&parent| parent != dropped)) - gain
            }
        }
    }
}

/// Mark the variables that background knowledge allows as parents and whose Gaussian gain exceeds this part of the
/// penalty.
fn mark<K: Kernel>(setting: &Setting, fit: &mut Fit<K>, part: f64) {
    let Setting { evidence, columns, .. } = setting;
    fit.mark(evidence, columns, part);
    if !evidence.knowledge.is_trivial() {
        let variable = fit.variable;
        for (k, word) in fit.wants.iter_mut().enumerate() {
            let forbidden = |&bit: &usize| !evidence.knowledge.allows(columns.at(variable, 64 * k + bit), variable);
            let bits: u64 = members(&[*word]).filter(forbidden).map(|bit| 1 << bit).sum();
            *word &= !bits;
        }
    }
}
