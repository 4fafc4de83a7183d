//! Trying every place of a variable.
//!
//! As a variable moves through the order, the graph changes only where it passes one of its parents or children, one
//! that it would take as a parent, or one that would take it. So a walk goes from one such event to the next. Each
//! regression is updated from the one before, so that sets of parents carry along the way.

use super::fit::Fit;
use super::kernel::Kernel;
use super::state::State;
use crate::algebra::hash::Random;

/// Of equally good places in a row only so many, the nearest, are considered: a move costs as much as there are variables in
/// between.
const NEAREST: usize = 1000;

/// Buffers for walks.
#[derive(Debug)]
pub(super) struct Trails<K> {
    right: Trail<K>,
    left: Trail<K>,
    /// Places of children, and of variables that are wanted.
    children: Vec<usize>,
    wanted: Vec<usize>,
}

/// The regressions that a walk in one direction has led to.
#[derive(Debug)]
struct Trail<K> {
    /// Of the variable itself, and the place from which on each holds.
    own: Vec<(usize, Fit<K>)>,
    /// Of variables that were passed.
    others: Vec<Fit<K>>,
}

impl<K> Default for Trail<K> {
    fn default() -> Self {
        Self { own: Vec::new(), others: Vec::new() }
    }
}

impl<K> Default for Trails<K> {
    fn default() -> Self {
        let (right, left) = (Trail::default(), Trail::default());
        Self { right, left, children: Vec::new(), wanted: Vec::new() }
    }
}

/// The best place so far. Of places that are equally good, each is equally likely.
struct Best {
    change: f64,
    place: usize,
    ties: usize,
    from: usize,
    tolerance: f64,
}

impl Best {
    /// Places that change nothing are as good as the present one: a way off a plateau.
    fn new(from: usize, tolerance: f64) -> Self {
        Self { change: tolerance, place: from, ties: 0, from, tolerance }
    }

    /// Consider places from `first` to `last` that all change the score in the same way.
    fn consider(&mut self, change: f64, first: usize, last: usize, random: &mut Random) {
        let (first, last) = if first > self.from {
            (first, last.min(first + NEAREST - 1))
        } else {
            (first.max((last + 1).saturating_sub(NEAREST)), last)
        };
        let count = last - first + 1;
        let is_first = self.place == self.from;
        if change < self.change - if is_first { 0.0 } else { self.tolerance } {
            (self.change, self.place, self.ties) = (change, first + random.below(count), count);
        } else if !is_first && change < self.change + self.tolerance {
            self.ties += count;
            let pick = random.below(self.ties);
            if pick < count {
                (self.place, self.change) = (first + pick, self.change.min(change));
            }
        }
    }
}

impl<K: Kernel> State<'_, '_, K> {
    /// Move a variable to its best place; returns the change of the score.
    pub fn improve(&mut self, variable: u32) -> f64 {
        self.visits += 1;
        let from = self.places.of(variable);
        let mut best = Best::new(from, self.tolerance());
        let mut trails = std::mem::take(&mut self.trails);
        self.look_right(variable, &mut trails, &mut best);
        self.look_left(variable, &mut trails, &mut best);
        let to = best.place;
        if to != from {
            self.places.shift(variable, to);
            let is_passed = |place: usize| if to > from { place <= to } else { place >= to };
            let trail = if to > from { &mut trails.right } else { &mut trails.left };
            for other in trail.others.drain(..) {
                let place = self.places.of(other.variable);
                // Those between have shifted by one.
                if if to > from { place < to } else { place > to } {
                    self.replace(other);
                } else {
                    self.pool.give_back(other);
                }
            }
            if let Some(k) = trail.own.iter().rposition(|&(place, _)| is_passed(place)) {
                let (_, own) = trail.own.swap_remove(k);
                self.replace(own);
            }
        }
        for trail in [&mut trails.right, &mut trails.left] {
            trail.own.drain(..).for_each(|(_, fit)| self.pool.give_back(fit));
            trail.others.drain(..).for_each(|fit| self.pool.give_back(fit));
        }
        self.trails = trails;
        if to == from { 0.0 } else { best.change }
    }

    /// Try later places: on the way children lose the variable, and it takes others as its parents.
    fn look_right(&mut self, variable: u32, trails: &mut Trails<K>, best: &mut Best) {
        let Trails { right: Trail { own, others }, children, wanted, .. } = trails;
        let end = self.bounds(variable).1 + 1;
        let Self { setting, places, fits, links, chooser, pool, .. } = self;
        let (evidence, columns) = (setting.evidence, &setting.columns);
        let from = places.of(variable);
        let start = &fits[variable as usize];
        // No place gains more than one at which all others explain the variable.
        let most = start.score - evidence.least_score(variable);
        let list_wanted = |fit: &Fit<K>, after: usize, wanted: &mut Vec<usize>| {
            wanted.clear();
            wanted.extend(
                fit.wanted(columns).map(|other| places.of(other)).filter(|place| (after + 1..end).contains(place)),
            );
            wanted.sort_unstable();
            wanted.reverse();
        };
        children.clear();
        children.extend(links.children(variable).iter().map(|&child| places.of(child)).filter(|&place| place < end));
        children.sort_unstable();
        children.reverse();
        list_wanted(start, from, wanted);
        let (mut loss, mut place) = (0.0, from);
        loop {
            let (child, want) = (children.last().map_or(end, |&x| x), wanted.last().map_or(end, |&x| x));
            let next = child.min(want);
            let change = loss + own.last().map_or(start, |(_, fit)| fit).score - start.score;
            let first = place.max(from + 1);
            if first < next {
                best.consider(change, first, next - 1, &mut chooser.random);
            }
            if next == end || loss - most > best.change + best.tolerance {
                return;
            }
            place = next;
            let passed = places.at(place);
            if child == place {
                children.pop();
                let mut fit = pool.copy(&fits[passed as usize]);
                let number = fit.parents.iter().position(|&parent| parent == variable).expect("it is a parent");
                fit.remove(evidence, columns, number);
                chooser.settle(setting, &mut fit, &|i| places.of(i) < place && i != variable);
                loss += fit.score - fits[passed as usize].score;
                others.push(fit);
            }
            if want == place {
                wanted.pop();
                let now = own.last().map_or(start, |(_, fit)| fit);
                if chooser.would_take(setting, now, passed) {
                    let mut fit = pool.copy(now);
                    fit.take(evidence, columns, passed);
                    chooser.settle(setting, &mut fit, &|i| places.of(i) <= place);
                    list_wanted(&fit, place, wanted);
                    own.push((place, fit));
                }
            }
        }
    }

    /// Try earlier places: on the way the variable loses parents, and others take it as one.
    fn look_left(&mut self, variable: u32, trails: &mut Trails<K>, best: &mut Best) {
        let Trails { left: Trail { own, others }, wanted, .. } = trails;
        let (first, _) = self.bounds(variable);
        let Self { setting, places, fits, links, chooser, pool, .. } = self;
        let (evidence, columns) = (setting.evidence, &setting.columns);
        let from = places.of(variable);
        let start = &fits[variable as usize];
        wanted.clear();
        let passed = |place: &usize| (first..from).contains(place);
        wanted.extend(links.wanted_by(columns, variable).map(|other| places.of(other)).filter(passed));
        wanted.sort_unstable();
        // Those that want it gain at most its share, and the penalties of all parents that they drop for it.
        let hope = |place: usize| {
            let fit = &fits[places.at(place) as usize];
            fit.share_of(columns, variable).map_or(0.0, |share| {
                evidence.score.gain(fit.variable, share, fit.left)
                    + evidence.price(fit.variable, fit.parents.iter().copied())
            })
        };
        let mut hopes: f64 =
            if evidence.has_values() { f64::INFINITY } else { wanted.iter().map(|&place| hope(place)).sum() };
        let (mut gained, mut place) = (0.0, from);
        loop {
            let now = own.last().map_or(start, |(_, fit)| fit);
            let change = gained + now.score - start.score;
            if change - hopes > best.change + best.tolerance {
                return;
            }
            let parents = now.parents.iter().map(|&parent| places.of(parent));
            let parent = parents.filter(|place| passed(place)).max();
            let want = wanted.last().copied();
            let next = parent.max(want);
            let (low, high) = (next.map_or(first, |next| next + 1), place.min(from.saturating_sub(1)));
            if low <= high && from > 0 {
                best.consider(change, low, high, &mut chooser.random);
            }
            let Some(next) = next else { return };
            place = next;
            let passed = places.at(place);
            if parent == next.into() {
                let mut fit = pool.copy(now);
                let number = fit.parents.iter().position(|&parent| parent == passed).expect("it is a parent");
                fit.remove(evidence, columns, number);
                chooser.settle(setting, &mut fit, &|i| places.of(i) < place);
                own.push((place, fit));
            }
            if want == next.into() {
                wanted.pop();
                hopes -= hope(place);
                let old = &fits[passed as usize];
                if chooser.would_take(setting, old, variable) {
                    let mut fit = pool.copy(old);
                    fit.take(evidence, columns, variable);
                    chooser.settle(setting, &mut fit, &|i| places.of(i) < place || i == variable);
                    gained += fit.score - old.score;
                    others.push(fit);
                }
            }
        }
    }
}
