//! Background knowledge: required edges, forbidden edges, and tiers of variables.
//!
//! Tiers forbid edges from a later to an earlier tier. If every variable has a tier, any causal order can be arranged so
//! that the tiers follow one another. Precedence is then stored as one barrier between consecutive tiers, which comes after
//! every variable of the first and before every variable of the second: `O(d)` pairs instead of `O(d²)`.

use crate::algebra::check::check_length;
use crate::algebra::permutation::{check_order, inverse};
use crate::error::IcidError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Background knowledge about the edges between d variables, free of contradictions.
///
/// # Examples
/// ```
/// use icid_rs::Knowledge;
///
/// // 0 → 2 is required, 1 → 2 is forbidden, and variable 0 is in an earlier tier than the others.
/// let knowledge = Knowledge::new(&[(0, 2)], &[(1, 2)], vec![Some(0), Some(1), Some(1)])?;
/// assert!(knowledge.allows(0, 1) && !knowledge.allows(1, 0) && !knowledge.allows(1, 2));
/// // The closest order that has every required parent before its child, and earlier tiers first.
/// assert_eq!(knowledge.arrange(&[2, 1, 0])?, [0, 2, 1]);
/// // Contradictions are refused.
/// assert!(Knowledge::new(&[(0, 1), (1, 0)], &[], vec![None; 2]).is_err());
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Knowledge {
    /// For each variable its required parents, ascending.
    required: Vec<Vec<u32>>,
    /// For each variable the parents it must not have, ascending: forbidden edges, and required ones reversed.
    forbidden: Vec<Vec<u32>>,
    /// The tier of each variable, if it has one.
    tiers: Vec<Option<u32>>,
    trivial: bool,
}

impl Knowledge {
    /// No knowledge about d variables.
    #[must_use]
    pub fn none(d: usize) -> Self {
        Self { required: vec![Vec::new(); d], forbidden: vec![Vec::new(); d], tiers: vec![None; d], trivial: true }
    }

    /// Required and forbidden edges as (cause, effect), and the tier of each variable, `None` for a variable without one.
    /// The number of variables is the length of `tiers`.
    ///
    /// # Errors
    /// [`IcidError::Edge`] for an edge of a variable beyond the tiers, or from a variable to itself;
    /// [`IcidError::Contradiction`] for a required edge that is also forbidden or leads to an earlier tier;
    /// [`IcidError::Cycle`] for required edges that form a cycle.
    pub fn new(required: &[(u32, u32)], forbidden: &[(u32, u32)], tiers: Vec<Option<u32>>) -> Result<Self, IcidError> {
        let d = tiers.len();
        let trivial = required.is_empty() && forbidden.is_empty() && tiers.iter().all(Option::is_none);
        let reversed = required.iter().map(|&(cause, effect)| (effect, cause));
        let mut knowledge = Self {
            required: parents_of("required", required.iter().copied(), d)?,
            forbidden: parents_of("forbidden", forbidden.iter().copied(), d)?,
            tiers,
            trivial,
        };
        for &(cause, effect) in required {
            if !knowledge.allows(cause, effect) {
                let (cause, effect) = (cause as usize, effect as usize);
                return Err(IcidError::Contradiction { cause, effect });
            }
        }
        if let Some(variables) = knowledge.required_cycle() {
            return Err(IcidError::Cycle { variables });
        }
        knowledge.forbidden = parents_of("forbidden", forbidden.iter().copied().chain(reversed), d)?;
        Ok(knowledge)
    }

    /// Variables of which each is a required parent of the next, and the last of the first, if there are such.
    fn required_cycle(&self) -> Option<Vec<usize>> {
        let mut waiting = Waiting::new(self, false);
        let mut free: Vec<u32> = (0..self.dim() as u32).filter(|&i| waiting.is_free(i)).collect();
        while let Some(i) = free.pop() {
            waiting.finish(i, |freed| free.push(freed));
        }
        // A variable that still waits has a required parent that still waits: going back from parent to parent, one must
        // come up a second time.
        let mut variable = (0..self.dim()).find(|&i| !waiting.is_free(i as u32))?;
        let mut path = Vec::new();
        loop {
            if let Some(first) = path.iter().position(|&i| i == variable) {
                let mut cycle = path.split_off(first);
                cycle.reverse();
                return Some(cycle);
            }
            path.push(variable);
            variable = *self.required[variable].iter().find(|&&i| !waiting.is_free(i))? as usize;
        }
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

    /// Whether there is no knowledge at all.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.trivial
    }

    /// Whether there may be an edge from one variable to another: it is not forbidden, its reverse is not required, and it
    /// does not lead to an earlier tier. False if there is no such variable.
    #[must_use]
    pub fn allows(&self, cause: u32, effect: u32) -> bool {
        let (Some(&later), Some(&earlier)) = (self.tiers.get(cause as usize), self.tiers.get(effect as usize)) else {
            return false;
        };
        self.trivial
            || !(matches!((later, earlier), (Some(a), Some(b)) if a > b)
                || self.forbidden[effect as usize].binary_search(&cause).is_ok())
    }

    /// Whether an edge is required.
    #[must_use]
    pub fn requires(&self, cause: u32, effect: u32) -> bool {
        !self.trivial && self.required_parents(effect).binary_search(&cause).is_ok()
    }

    /// The required parents of a variable, ascending; none if there is no such variable.
    #[must_use]
    pub fn required_parents(&self, effect: u32) -> &[u32] {
        self.required.get(effect as usize).map_or(&[], Vec::as_slice)
    }

    /// The order closest to a given one, causes first, that has required parents before their children and, if every
    /// variable has a tier, the tiers one after another.
    ///
    /// Of the variables whose predecessors have all been placed, the one that comes first in the given order is next.
    ///
    /// # Errors
    /// [`IcidError::Length`] or [`IcidError::Order`] if the order does not hold each variable once.
    pub fn arrange(&self, order: &[usize]) -> Result<Vec<usize>, IcidError> {
        let variables = check_order(order, self.dim())?;
        if self.trivial {
            return Ok(order.to_vec());
        }
        let places = inverse(&variables);
        let by_place = |i: u32| Reverse((places[i as usize], i));
        let mut waiting = Waiting::new(self, false);
        let mut free: BinaryHeap<_> = variables.iter().filter(|&&i| waiting.is_free(i)).map(|&i| by_place(i)).collect();
        let mut arranged = Vec::with_capacity(order.len());
        while let Some(Reverse((_, i))) = free.pop() {
            arranged.push(i as usize);
            waiting.finish(i, |freed| free.push(by_place(freed)));
        }
        Ok(arranged)
    }

    /// Check that the knowledge is about d variables.
    pub(crate) fn check_dim(&self, d: usize) -> Result<(), IcidError> {
        check_length("knowledge", self.dim(), d)
    }

    /// Check that an order, given as the place of each variable, has every required parent before its child.
    pub(crate) fn check_places(&self, places: &[u32]) -> Result<(), IcidError> {
        for (effect, causes) in self.required.iter().enumerate() {
            if let Some(&cause) = causes.iter().find(|&&cause| places[cause as usize] >= places[effect]) {
                return Err(IcidError::Backwards { cause: cause as usize, effect });
            }
        }
        Ok(())
    }

    /// Pairs whose first member must precede the second, among variables and barriers between tiers, and the number of
    /// both together.
    fn precedences(&self) -> (Vec<(u32, u32)>, usize) {
        let d = self.dim() as u32;
        let required = self.required.iter().enumerate();
        let mut pairs: Vec<_> =
            required.flat_map(|(effect, causes)| causes.iter().map(move |&cause| (cause, effect as u32))).collect();
        // A variable without a tier may transmit an effect of a later tier to an earlier one, so that partial tiers forbid
        // direct edges but imply no order.
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

/// Precedence constraints still to be met while variables are put in order one by one.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    d: usize,
    /// The successors of each variable or barrier.
    held: Vec<Vec<u32>>,
    /// How many predecessors of each have not been placed.
    count: Vec<u32>,
}

impl Waiting {
    /// Children wait for their required parents, or, with `effects_first`, parents for their required children.
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

    /// Whether all predecessors of a variable have been placed.
    pub fn is_free(&self, variable: u32) -> bool {
        self.count[variable as usize] == 0
    }

    /// Place a variable, and visit those that wait for nothing any more.
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

/// For each of d variables its parents in a list of edges, ascending.
fn parents_of(
    what: &'static str,
    edges: impl Iterator<Item = (u32, u32)>,
    d: usize,
) -> Result<Vec<Vec<u32>>, IcidError> {
    let mut parents = vec![Vec::new(); d];
    for (cause, effect) in edges {
        let (from, to) = (cause as usize, effect as usize);
        if from >= d || to >= d || from == to {
            return Err(IcidError::Edge { what, cause: from, effect: to, dim: d });
        }
        parents[to].push(cause);
    }
    for list in &mut parents {
        list.sort_unstable();
        list.dedup();
    }
    Ok(parents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_and_edges_are_respected_and_the_rest_stays() {
        let tiers = vec![Some(1), Some(1), Some(0), Some(0)];
        let knowledge = Knowledge::new(&[(3, 1)], &[(2, 3)], tiers).unwrap();
        assert_eq!(knowledge.arrange(&[0, 1, 2, 3]).unwrap(), [2, 3, 0, 1]);
        assert_eq!(knowledge.arrange(&[3, 2, 1, 0]).unwrap(), [3, 2, 1, 0]);
        let partly = Knowledge::new(&[(3, 1)], &[], vec![Some(1), None, Some(0), Some(0)]).unwrap();
        assert_eq!(partly.arrange(&[0, 1, 2, 3]).unwrap(), [0, 2, 3, 1]);
        assert!(knowledge.allows(2, 0) && !knowledge.allows(0, 2) && !knowledge.allows(2, 3));
        assert!(knowledge.requires(3, 1) && !knowledge.requires(1, 3));
        assert_eq!(Knowledge::none(3).arrange(&[2, 0, 1]).unwrap(), [2, 0, 1]);
    }

    #[test]
    fn the_reverse_of_a_required_edge_is_not_allowed() {
        let knowledge = Knowledge::new(&[(0, 1)], &[], vec![None; 3]).unwrap();
        assert!(knowledge.allows(0, 1) && !knowledge.allows(1, 0) && knowledge.allows(1, 2));
        let renumbered = knowledge.renumbered(&[2, 0, 1]);
        assert!(renumbered.requires(2, 0) && renumbered.allows(2, 0) && !renumbered.allows(0, 2));
    }

    #[test]
    fn variables_that_do_not_exist_have_no_edges() {
        for knowledge in [Knowledge::none(2), Knowledge::new(&[(0, 1)], &[], vec![None; 2]).unwrap()] {
            assert!(!knowledge.allows(0, 2) && !knowledge.allows(2, 0) && !knowledge.requires(0, 2));
            assert!(knowledge.required_parents(7).is_empty());
        }
    }

    #[test]
    fn contradictions_are_named() {
        let new = |required: &[(u32, u32)], forbidden: &[(u32, u32)], tiers: Vec<Option<u32>>| {
            Knowledge::new(required, forbidden, tiers).unwrap_err()
        };
        let edge = |what, cause, effect| IcidError::Edge { what, cause, effect, dim: 3 };
        assert_eq!(new(&[(0, 3)], &[], vec![None; 3]), edge("required", 0, 3));
        assert_eq!(new(&[(3, 0)], &[], vec![None; 3]), edge("required", 3, 0));
        assert_eq!(new(&[], &[(9, 0)], vec![None; 3]), edge("forbidden", 9, 0));
        assert_eq!(new(&[], &[(1, 1)], vec![None; 3]), edge("forbidden", 1, 1));
        let contradiction = IcidError::Contradiction { cause: 0, effect: 1 };
        assert_eq!(new(&[(0, 1)], &[(0, 1)], vec![None; 3]), contradiction);
        assert_eq!(new(&[(0, 1)], &[], vec![Some(1), Some(0), None]), contradiction);
        let cycle = new(&[(0, 1), (1, 2), (2, 1)], &[], vec![None; 4]);
        assert!(matches!(&cycle, IcidError::Cycle { variables } if variables.len() == 2), "{cycle}");
        let error = new(&[(0, 1), (1, 2), (2, 0), (0, 3)], &[], vec![Some(0); 4]);
        assert!(error.to_string().contains("form a cycle"), "{error}");
        assert!(matches!(error, IcidError::Cycle { variables } if variables.len() == 3));
    }

    #[test]
    fn children_are_released_before_their_parents() {
        let knowledge = Knowledge::new(&[(0, 1)], &[], vec![Some(0), Some(0), Some(7)]).unwrap();
        let mut waiting = Waiting::new(&knowledge, true);
        assert_eq!([0, 1, 2].map(|i| waiting.is_free(i)), [false, false, true]);
        let mut freed = Vec::new();
        waiting.finish(2, |i| freed.push(i));
        waiting.finish(1, |i| freed.push(i));
        assert_eq!(freed, [1, 0]);
    }
}
