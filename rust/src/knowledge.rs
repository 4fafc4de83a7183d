//! What is known beforehand: edges that must be there, edges that must not, and tiers of variables.
//!
//! Tiers forbid edges from later to earlier variables. If every variable has one, they come one after another in any causal
//! order: between two tiers there is a barrier that stands after all variables of the one and before all of the other, so
//! that precedence takes as many pairs as there are variables.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Knowledge about the edges between `d` variables.
#[derive(Debug, Clone)]
pub struct Knowledge {
    /// For each variable the causes that it must have, ascending.
    required: Vec<Vec<u32>>,
    /// For each variable the causes that it must not have, ascending.
    forbidden: Vec<Vec<u32>>,
    /// The tier of each variable, if it has one.
    tiers: Vec<Option<u32>>,
    trivial: bool,
}

impl Knowledge {
    /// Nothing is known.
    #[must_use]
    pub fn none(d: usize) -> Self {
        Self { required: vec![Vec::new(); d], forbidden: vec![Vec::new(); d], tiers: vec![None; d], trivial: true }
    }

    /// Required and forbidden edges as (cause, effect), and a tier for those variables that have one.
    ///
    /// Whoever calls has seen to it that all this can be satisfied.
    ///
    /// # Panics
    /// When a variable is not among those that the tiers are given for.
    #[must_use]
    pub fn new(required: &[(u32, u32)], forbidden: &[(u32, u32)], tiers: Vec<Option<u32>>) -> Self {
        let by_effect = |edges: &[(u32, u32)]| {
            let mut causes = vec![Vec::new(); tiers.len()];
            for &(cause, effect) in edges {
                assert!((cause as usize) < tiers.len(), "a variable");
                causes[effect as usize].push(cause);
            }
            for list in &mut causes {
                list.sort_unstable();
                list.dedup();
            }
            causes
        };
        let trivial = required.is_empty() && forbidden.is_empty() && tiers.iter().all(Option::is_none);
        Self { required: by_effect(required), forbidden: by_effect(forbidden), tiers, trivial }
    }

    /// The same knowledge under other numbers: `numbers[i]` is the new one of variable i.
    pub(crate) fn renumbered(&self, numbers: &[u32]) -> Self {
        let lists = |old: &[Vec<u32>]| {
            let mut new = vec![Vec::new(); old.len()];
            for (effect, causes) in old.iter().enumerate() {
                let list: &mut Vec<u32> = &mut new[numbers[effect] as usize];
                list.extend(causes.iter().map(|&cause| numbers[cause as usize]));
                list.sort_unstable();
            }
            new
        };
        let mut tiers = vec![None; self.dim()];
        for (i, &tier) in self.tiers.iter().enumerate() {
            tiers[numbers[i] as usize] = tier;
        }
        Self { required: lists(&self.required), forbidden: lists(&self.forbidden), tiers, trivial: self.trivial }
    }

    /// Number of variables.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.tiers.len()
    }

    /// Is nothing known?
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.trivial
    }

    /// May there be an edge?
    #[must_use]
    pub fn allows(&self, cause: u32, effect: u32) -> bool {
        self.trivial
            || !(matches!((self.tiers[cause as usize], self.tiers[effect as usize]), (Some(a), Some(b)) if a > b)
                || self.forbidden[effect as usize].binary_search(&cause).is_ok())
    }

    /// Must there be an edge?
    #[must_use]
    pub fn requires(&self, cause: u32, effect: u32) -> bool {
        !self.trivial && self.required[effect as usize].binary_search(&cause).is_ok()
    }

    /// The causes that a variable must have, ascending.
    #[must_use]
    pub fn causes(&self, effect: u32) -> &[u32] {
        &self.required[effect as usize]
    }

    /// The order closest to a given one, causes first, that has required causes before their effects and, if all variables
    /// have one, tiers one after another: of the variables that nothing holds back, the first each time.
    #[must_use]
    pub fn arrange(&self, order: &[u32]) -> Vec<u32> {
        if self.trivial {
            return order.to_vec();
        }
        let mut places = vec![0; order.len()];
        for (place, &i) in order.iter().enumerate() {
            places[i as usize] = place;
        }
        let mut waiting = Waiting::new(self, false);
        let mut free: BinaryHeap<_> =
            order.iter().filter(|&&i| waiting.is_free(i)).map(|&i| Reverse((places[i as usize], i))).collect();
        let mut arranged = Vec::with_capacity(order.len());
        while let Some(Reverse((_, i))) = free.pop() {
            arranged.push(i);
            waiting.finish(i, |freed| free.push(Reverse((places[freed as usize], freed))));
        }
        arranged
    }

    /// Pairs of which the first comes before the second, among variables and barriers.
    fn precedences(&self) -> (Vec<(u32, u32)>, usize) {
        let d = self.dim() as u32;
        let required = self.required.iter().enumerate();
        let mut pairs: Vec<_> =
            required.flat_map(|(effect, causes)| causes.iter().map(move |&cause| (cause, effect as u32))).collect();
        // Through a variable without a tier, a later one may act on an earlier one.
        let complete = self.tiers.iter().all(Option::is_some);
        let mut levels: Vec<u32> = self.tiers.iter().flatten().copied().filter(|_| complete).collect();
        levels.sort_unstable();
        levels.dedup();
        for (i, tier) in self.tiers.iter().enumerate() {
            let Some(level) = tier.and_then(|tier| levels.binary_search(&tier).ok()) else { continue };
            if level > 0 {
                pairs.push((d + level as u32 - 1, i as u32));
            }
            if level + 1 < levels.len() {
                pairs.push((i as u32, d + level as u32));
            }
        }
        (pairs, self.dim() + levels.len())
    }
}

/// Which variables still wait for others.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    d: usize,
    /// Those that wait for each variable or barrier.
    held: Vec<Vec<u32>>,
    /// How many each waits for.
    count: Vec<u32>,
}

impl Waiting {
    /// Effects wait for their causes, or causes for their effects.
    pub fn new(knowledge: &Knowledge, effects_first: bool) -> Self {
        let (pairs, nodes) = knowledge.precedences();
        let (mut held, mut count) = (vec![Vec::new(); nodes], vec![0; nodes]);
        for (before, after) in pairs {
            let (first, second) = if effects_first { (after, before) } else { (before, after) };
            held[first as usize].push(second);
            count[second as usize] += 1;
        }
        Self { d: knowledge.dim(), held, count }
    }

    pub fn is_free(&self, variable: u32) -> bool {
        self.count[variable as usize] == 0
    }

    /// A variable's turn has come: visit those that nothing holds back any more.
    pub fn finish(&mut self, variable: u32, mut visit: impl FnMut(u32)) {
        let mut finished = vec![variable];
        while let Some(node) = finished.pop() {
            for other in std::mem::take(&mut self.held[node as usize]) {
                self.count[other as usize] -= 1;
                match self.count[other as usize] {
                    0 if (other as usize) < self.d => visit(other),
                    0 => finished.push(other),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_and_edges_are_respected_and_the_rest_stays() {
        let tiers = vec![Some(1), Some(1), Some(0), Some(0)];
        let knowledge = Knowledge::new(&[(3, 1)], &[(2, 3)], tiers);
        assert_eq!(knowledge.arrange(&[0, 1, 2, 3]), [2, 3, 0, 1]);
        assert_eq!(knowledge.arrange(&[3, 2, 1, 0]), [3, 2, 1, 0]);
        let partly = Knowledge::new(&[(3, 1)], &[], vec![Some(1), None, Some(0), Some(0)]);
        assert_eq!(partly.arrange(&[0, 1, 2, 3]), [0, 2, 3, 1]);
        assert!(knowledge.allows(2, 0) && !knowledge.allows(0, 2) && !knowledge.allows(2, 3));
        assert!(knowledge.requires(3, 1) && !knowledge.requires(1, 3));
        assert_eq!(Knowledge::none(3).arrange(&[2, 0, 1]), [2, 0, 1]);
    }

    #[test]
    fn effects_are_released_before_their_causes() {
        let knowledge = Knowledge::new(&[(0, 1)], &[], vec![Some(0), Some(0), Some(7)]);
        let mut waiting = Waiting::new(&knowledge, true);
        assert_eq!([0, 1, 2].map(|i| waiting.is_free(i)), [false, false, true]);
        let mut freed = Vec::new();
        waiting.finish(2, |i| freed.push(i));
        waiting.finish(1, |i| freed.push(i));
        assert_eq!(freed, [1, 0]);
    }
}
