//! The best order of the variables, by dynamic programming over sets (Silander and Myllymäki 2006).

use super::limits::Mask;

/// Entries of a table above which its halves are worth two threads.
const LARGE: usize = 1 << 14;

/// Replace each row of a table with rows for all masks by the entrywise minimum over the rows of its subsets.
pub(super) fn spread_to_supersets(table: &mut [f64], width: usize) {
    if table.len() <= width {
        return;
    }
    // The masks of the second half are those of the first, and the highest member.
    let is_large = table.len() > LARGE;
    let (without, with) = table.split_at_mut(table.len() / 2);
    if is_large {
        rayon::join(|| spread_to_supersets(without, width), || spread_to_supersets(with, width));
    } else {
        spread_to_supersets(without, width);
        spread_to_supersets(with, width);
    }
    for (with, &without) in with.iter_mut().zip(&*without) {
        *with = if without < *with { without } else { *with };
    }
}

/// The members of a set, ascending.
pub(super) fn members(mut set: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let member = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (member < Mask::BITS as usize).then_some(member)
    })
}

/// An acyclic graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    /// The variables, causes first.
    pub order: Vec<usize>,
    /// The parents of each variable.
    pub parents: Vec<Mask>,
}

/// Scores of the best graphs along orders of the variables.
#[derive(Debug)]
pub(super) struct Orders {
    d: usize,
    /// Of each variable, the best local score with parents among the members of each set.
    best: Vec<f64>,
    /// For each set the best score of all variables outside it, if they come after it.
    after: Vec<f64>,
}

impl Orders {
    /// From a table of local scores.
    pub fn new(d: usize, scores: Vec<f64>) -> Self {
        let mut best = scores;
        spread_to_supersets(&mut best, d);
        let all = 1 << d;
        let mut after = vec![f64::INFINITY; all];
        after[all - 1] = 0.0;
        for set in (0..all - 1).rev() {
            let row = &best[set * d..(set + 1) * d];
            let outside = members((!set & (all - 1)) as Mask);
            after[set] = outside.map(|j| row[j] + after[set | 1 << j]).fold(f64::INFINITY, f64::min);
        }
        Self { d, best, after }
    }

    /// Score of the best graph; infinite if none is permitted.
    pub fn optimum(&self) -> f64 {
        self.after[0]
    }

    /// Local score of a variable with the best parents among the members of a set.
    pub fn best(&self, variable: usize, among: usize) -> f64 {
        self.best[among * self.d + variable]
    }

    /// Best score of all variables outside a set, if they come after it.
    pub fn after(&self, set: usize) -> f64 {
        self.after[set]
    }

    /// For each set the best score of its members, if they come before all others.
    pub fn before(&self) -> Vec<f64> {
        let mut before = vec![f64::INFINITY; self.after.len()];
        before[0] = 0.0;
        for set in 1..before.len() {
            let last = |j: usize| before[set & !(1 << j)] + self.best(j, set & !(1 << j));
            before[set] = members(set as Mask).map(last).fold(f64::INFINITY, f64::min);
        }
        before
    }

    /// The best graph. Among equally good ones: at each place of the order the variable with the smallest number, and
    /// parents of which no subset is as good.
    pub fn graph(&self) -> Graph {
        let mut graph = Graph { order: Vec::with_capacity(self.d), parents: vec![0; self.d] };
        let (mut set, all) = (0, self.after.len() - 1);
        while set != all {
            let score = |&j: &usize| self.best(j, set) + self.after[set | 1 << j];
            let outside = members((!set & all) as Mask);
            let next = outside.min_by(|a, b| score(a).total_cmp(&score(b))).expect("a variable outside the set");
            graph.parents[next] = self.parents(next, set) as Mask;
            graph.order.push(next);
            set |= 1 << next;
        }
        graph
    }

    /// The smallest of the best sets of parents among the members of a set.
    fn parents(&self, variable: usize, among: usize) -> usize {
        let best = self.best(variable, among);
        members(among as Mask).fold(among, |parents, i| {
            let fewer = parents & !(1 << i);
            if self.best(variable, fewer) == best { fewer } else { parents }
        })
    }
}
