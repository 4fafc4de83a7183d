//! A causal order with the graph that follows from it, and the changes that a trial can make and undo.

use super::fit::{Fit, Pool};
use super::kernel::Kernel;
use super::links::Links;
use super::parents::{Chooser, Setting};
use super::places::Places;
use super::queue::Queue;
use super::walk::Trails;
use crate::algebra::hash::Random;

/// A causal order, the regression of each variable on its parents among those before it, and the score of that graph.
pub(crate) struct State<'a, 'e, K> {
    pub(super) setting: &'a Setting<'a, 'e>,
    pub(super) places: Places,
    pub(super) fits: Vec<Fit<K>>,
    pub(super) links: Links,
    pub(super) chooser: Chooser,
    pub(super) pool: Pool<K>,
    /// Variables whose place should be reconsidered.
    pub(super) queue: Queue,
    pub(super) trails: Trails<K>,
    /// How often a variable's best place was looked for.
    pub(super) visits: usize,
    /// The order when changes were last kept, and the former regressions of variables that have changed since.
    kept_places: Places,
    former: Vec<Fit<K>>,
    is_recorded: Vec<bool>,
}

impl<'a, 'e, K: Kernel> State<'a, 'e, K> {
    pub fn new(setting: &'a Setting<'a, 'e>, order: &[u32], random: Random) -> Self {
        let d = order.len();
        let places = Places::new(order);
        let mut state = Self {
            setting,
            kept_places: places.clone(),
            places,
            fits: Vec::with_capacity(d),
            links: Links::new(&setting.columns, d),
            chooser: Chooser::new(random),
            pool: Pool::default(),
            queue: Queue::new(d),
            trails: Trails::default(),
            visits: 0,
            former: Vec::new(),
            is_recorded: vec![false; d],
        };
        for variable in 0..d as u32 {
            let mut fit = Fit::default();
            let place = state.places.of(variable);
            state.chooser.choose(setting, &mut fit, variable, &|i| state.places.of(i) < place);
            state.links.replace(&setting.columns, &Fit::default(), &fit);
            state.fits.push(fit);
        }
        state
    }

    /// Number of variables.
    pub fn dim(&self) -> usize {
        self.fits.len()
    }

    pub fn score(&self) -> f64 {
        self.fits.iter().map(|fit| fit.score).sum()
    }

    /// The score rounded to multiples of the tolerance: the same for all graphs of an equivalence class.
    pub fn rank(&self) -> f64 {
        (self.score() / self.tolerance()).round()
    }

    /// Differences of scores up to this are rounding errors.
    pub fn tolerance(&self) -> f64 {
        self.setting.evidence.score.tolerance()
    }

    /// The variables, causes first.
    pub fn order(&self) -> &[u32] {
        self.places.order()
    }

    pub fn fit(&self, variable: u32) -> &Fit<K> {
        &self.fits[variable as usize]
    }

    pub fn causes(&self, variable: u32) -> &[u32] {
        &self.fit(variable).parents
    }

    /// The first and the last place of a variable that required edges allow.
    pub fn bounds(&self, variable: u32) -> (usize, usize) {
        let knowledge = self.setting.evidence.knowledge;
        let place = |&other: &u32| self.places.of(other);
        let first = knowledge.required_parents(variable).iter().map(place).max().map_or(0, |place| place + 1);
        let last = self.setting.required_children(variable).iter().map(place).min().unwrap_or(self.dim()) - 1;
        (first, last)
    }

    /// Put a variable in a place, or as close to it as required edges allow, and update all parents that this affects.
    pub fn put(&mut self, variable: u32, place: usize) {
        let (first, last) = self.bounds(variable);
        let (from, to) = (self.places.of(variable), place.clamp(first, last));
        self.places.shift(variable, to);
        let Self { setting, places, links, .. } = &*self;
        let is_passed = |&other: &u32| (from.min(to)..=from.max(to)).contains(&places.of(other)) && other != variable;
        let mut affected: Vec<u32> = if to > from {
            links.children(variable).iter().copied().filter(is_passed).collect()
        } else {
            links.wanted_by(&setting.columns, variable).filter(is_passed).collect()
        };
        affected.push(variable);
        affected.sort_unstable_by_key(|&other| places.of(other));
        for other in affected {
            self.update(other);
        }
    }

    /// Choose the parents of a variable again after a change of the order.
    fn update(&mut self, variable: u32) {
        let Self { setting, places, fits, chooser, pool, .. } = self;
        let place = places.of(variable);
        let mut fit = pool.copy(&fits[variable as usize]);
        while let Some(number) = fit.parents.iter().position(|&parent| places.of(parent) > place) {
            fit.remove(setting.evidence, &setting.columns, number);
        }
        chooser.settle(setting, &mut fit, &|i| places.of(i) < place);
        if fit.parents == fits[variable as usize].parents {
            pool.give_back(fit);
        } else {
            self.replace(fit);
        }
    }

    /// Replace a regression, and reconsider the place of its variable.
    pub fn replace(&mut self, fit: Fit<K>) {
        let variable = fit.variable as usize;
        self.queue.push(fit.variable);
        let old = self.exchange(fit);
        if std::mem::replace(&mut self.is_recorded[variable], true) {
            self.pool.give_back(old);
        } else {
            self.former.push(old);
        }
    }

    fn exchange(&mut self, fit: Fit<K>) -> Fit<K> {
        let variable = fit.variable as usize;
        self.links.replace(&self.setting.columns, &self.fits[variable], &fit);
        std::mem::replace(&mut self.fits[variable], fit)
    }

    /// Change of the score since changes were last kept or undone.
    pub fn change(&self) -> f64 {
        self.former.iter().map(|former| self.fit(former.variable).score - former.score).sum()
    }

    /// Keep all changes.
    pub fn keep(&mut self) {
        while let Some(former) = self.former.pop() {
            self.is_recorded[former.variable as usize] = false;
            self.pool.give_back(former);
        }
        let changed = self.places.take_changed();
        self.kept_places.copy_from(&self.places, changed);
    }

    /// Undo all changes since they were last kept or undone.
    pub fn undo(&mut self) {
        self.queue.clear();
        while let Some(former) = self.former.pop() {
            self.is_recorded[former.variable as usize] = false;
            let undone = self.exchange(former);
            self.pool.give_back(undone);
        }
        let changed = self.places.take_changed();
        self.places.copy_from(&self.kept_places, changed);
    }

    /// The score of the graph, with all regressions computed anew.
    pub fn fresh_score(&mut self) -> f64 {
        let Self { setting, fits, chooser, .. } = self;
        for fit in fits.iter_mut() {
            chooser.refit(setting, fit);
        }
        self.score()
    }
}
