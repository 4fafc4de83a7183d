//! Connected components of an undirected graph.

/// Disjoint sets of `0..n` that can be merged (union-find with path halving).
pub(crate) struct DisjointSets {
    /// A smaller member of the same set, or the node itself if it is the smallest.
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Every node alone.
    pub fn new(nodes: usize) -> Self {
        Self { parent: (0..nodes as u32).collect() }
    }

    /// Merge the sets of two nodes.
    pub fn join(&mut self, one: u32, two: u32) {
        let (one, two) = (self.smallest(one), self.smallest(two));
        self.parent[one.max(two) as usize] = one.min(two);
    }

    /// The smallest member of a node's set.
    pub fn smallest(&mut self, mut node: u32) -> u32 {
        let parent = &mut self.parent;
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        node
    }

    /// All sets, ordered by their smallest members, each ascending.
    pub fn into_sets(mut self) -> Vec<Vec<u32>> {
        let mut sets: Vec<Vec<u32>> = vec![Vec::new(); self.parent.len()];
        for node in 0..self.parent.len() as u32 {
            sets[self.smallest(node) as usize].push(node);
        }
        sets.retain(|set| !set.is_empty());
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_the_components_that_a_walk_finds(
            n in 1_usize..30, edges in prop::collection::vec((0_u32..30, 0_u32..30), 0..40),
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|(a, b)| (*a.max(b) as usize) < n).collect();
            let mut sets = DisjointSets::new(n);
            for &(a, b) in &edges {
                sets.join(a, b);
            }
            let mut label: Vec<u32> = (0..n as u32).collect();
            for _ in 0..n {
                for &(a, b) in &edges {
                    let least = label[a as usize].min(label[b as usize]);
                    (label[a as usize], label[b as usize]) = (least, least);
                }
            }
            let expected: Vec<Vec<u32>> = (0..n as u32)
                .filter(|&first| label[first as usize] == first)
                .map(|first| (0..n as u32).filter(|&i| label[i as usize] == first).collect())
                .collect();
            prop_assert_eq!(sets.into_sets(), expected);
        }
    }
}
