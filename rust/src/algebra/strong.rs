//! Strongly connected components, by Tarjan's algorithm without recursion.

use sprs::CsMatView;

/// Components in topological order: every edge leads from a component to itself or a later one.
pub(crate) fn strong_components(graph: CsMatView<f64>) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let d = graph.rows();
    let children = |node: u32| -> &[usize] {
        let range = graph.indptr().outer_inds_sz(node as usize);
        &graph.indices()[range]
    };
    let (mut index, mut low) = (vec![UNSEEN; d], vec![0; d]);
    let mut on_stack = vec![false; d];
    let (mut stack, mut path) = (Vec::new(), Vec::new());
    let mut components = Vec::new();
    let mut count = 0;
    for root in 0..d as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some(&(node, done)) = path.last() {
            let n = node as usize;
            if done == 0 {
                index[n] = count;
                low[n] = count;
                count += 1;
                stack.push(node);
                on_stack[n] = true;
            }
            if let Some(&child) = children(node).get(done) {
                path.last_mut().expect("the node itself").1 += 1;
                if index[child] == UNSEEN {
                    path.push((child as u32, 0));
                } else if on_stack[child] {
                    low[n] = low[n].min(index[child]);
                }
                // A first visit must not be taken for another one when there are no children left.
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[n]);
            }
            if low[n] == index[n] {
                let start = stack.iter().rposition(|&other| other == node).expect("the node is on the stack");
                let component = stack.split_off(start);
                for &member in &component {
                    on_stack[member as usize] = false;
                }
                components.push(component);
            }
        }
    }
    // Tarjan finds effects before causes.
    components.reverse();
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::csr::from_entries;
    use sprs::CsMat;

    fn graph(d: usize, edges: &[(usize, usize)]) -> CsMat<f64> {
        from_entries((d, d), || edges.iter().map(|&(i, j)| (i, j, 1.0)))
    }

    #[test]
    fn cycles_are_found_and_ordered() {
        // 3 → {0 ⇄ 1} → 2, and a lonely 4.
        let graph = graph(5, &[(0, 1), (1, 0), (1, 2), (3, 0)]);
        let mut components = strong_components(graph.view());
        for component in &mut components {
            component.sort_unstable();
        }
        let place = |node: u32| components.iter().position(|c| c.contains(&node)).unwrap();
        assert_eq!(components.len(), 4);
        assert_eq!(place(0), place(1));
        assert!(place(3) < place(0) && place(0) < place(2));
    }

    #[test]
    fn long_paths_and_rings_do_not_overflow_the_stack() {
        let d = 100_000;
        let mut edges: Vec<_> = (0..d - 1).map(|i| (i, i + 1)).collect();
        assert_eq!(strong_components(graph(d, &edges).view()).len(), d);
        edges.push((d - 1, 0));
        assert_eq!(strong_components(graph(d, &edges).view()).len(), 1);
    }
}
