//! Projection onto acyclic graphs: edges are added by decreasing weight, unless they close a cycle.
//!
//! Only edges inside a strongly connected component can lie on a cycle; all others are kept without a search.

use super::incremental::{Growing, OrderedGraph, Reachability};
use crate::algebra::csr::from_entries;
use crate::algebra::strong::strong_components;
use crate::error::IcidError;
use crate::sem::{Dag, check_weights};
use sprs::CsMatView;

/// The largest component whose descendants are stored as bits (32 MiB).
const LARGEST_BITS: usize = 1 << 14;
/// Edges per node above which that is faster than searching.
const DENSE_DEGREE: usize = 8;

/// Keep edges by decreasing absolute weight unless they close a cycle; the diagonal and stored zeros are dropped.
///
/// # Errors
/// When the matrix is not square or has an entry that is not finite.
pub fn heaviest_acyclic(weights: CsMatView<f64>) -> Result<Dag, IcidError> {
    let weights = weights.to_csr();
    check_weights(weights.view())?;
    let d = weights.rows();
    let components = strong_components(weights.view());
    let mut place = vec![(0, 0); d];
    for (c, component) in components.iter().enumerate() {
        for (k, &node) in component.iter().enumerate() {
            place[node as usize] = (c as u32, k as u32);
        }
    }

    // Edges (from, to, weight).
    let mut kept = Vec::with_capacity(weights.nnz());
    let mut within: Vec<Vec<(usize, usize, f64)>> = vec![Vec::new(); components.len()];
    for (&weight, (from, to)) in &weights {
        if from == to || weight == 0.0 {
            continue;
        }
        let own = (place[from].0 == place[to].0).then_some(place[from].0 as usize);
        let destination = own.map_or(&mut kept, |component| &mut within[component]);
        destination.push((from, to, weight));
    }
    let mut order = Vec::with_capacity(d);
    for (component, mut edges) in components.iter().zip(within) {
        edges.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()).then((a.0, a.1).cmp(&(b.0, b.1))));
        let mut graph: Box<dyn Growing> =
            if component.len() <= LARGEST_BITS && edges.len() > DENSE_DEGREE * component.len() {
                Box::new(Reachability::new(component.len()))
            } else {
                Box::new(OrderedGraph::new(component.len()))
            };
        kept.extend(edges.into_iter().filter(|&(from, to, _)| graph.try_insert(place[from].1, place[to].1)));
        order.extend(graph.order().into_iter().map(|k| component[k as usize] as usize));
    }
    Ok(Dag { graph: from_entries((d, d), || kept.iter().copied()), order })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sprs::{CsMat, TriMat};

    fn graph(d: usize, edges: &[(usize, usize, f64)]) -> CsMat<f64> {
        let mut triplets = TriMat::new((d, d));
        for &(i, j, w) in edges {
            triplets.add_triplet(i, j, w);
        }
        triplets.to_csr()
    }

    #[test]
    fn the_weakest_edge_of_a_cycle_goes() {
        let cycle = graph(3, &[(0, 1, 2.0), (1, 2, -3.0), (2, 0, 1.0), (1, 1, 9.0)]);
        let projection = heaviest_acyclic(cycle.view()).unwrap();
        assert_eq!(projection.graph, graph(3, &[(0, 1, 2.0), (1, 2, -3.0)]));
        assert_eq!(projection.order, [0, 1, 2]);
    }

    #[test]
    fn faults_are_named() {
        let infinite = graph(2, &[(0, 1, f64::INFINITY)]);
        assert!(heaviest_acyclic(infinite.view()).unwrap_err().to_string().contains("B[0, 1] is inf"));
        assert!(heaviest_acyclic(CsMat::zero((2, 3)).view()).is_err());
    }

    proptest! {
        #[test]
        fn kept_edges_follow_the_order_and_dropped_ones_would_close_a_cycle(
            d in 1_usize..12,
            edges in prop::collection::btree_map((0_usize..12, 0_usize..12), -1.0..1.0_f64, 0..100),
        ) {
            let edges: Vec<_> =
                edges.into_iter().filter(|((i, j), _)| *i < d && *j < d).map(|((i, j), w)| (i, j, w)).collect();
            let weights = graph(d, &edges);
            let Dag { graph: kept, order, .. } = heaviest_acyclic(weights.view()).unwrap();
            let mut place = vec![0; d];
            for (p, &node) in order.iter().enumerate() {
                place[node] = p;
            }
            for (_, (i, j)) in &kept {
                prop_assert!(place[i] < place[j]);
            }
            // Reachability by heavier kept edges, the slow way.
            for &(i, j, w) in edges.iter().filter(|(i, j, _)| i != j) {
                if kept.get(i, j).is_some() || w == 0.0 {
                    continue;
                }
                let mut reached = vec![false; d];
                reached[j] = true;
                for _ in 0..d {
                    for (&v, (a, b)) in &kept {
                        reached[b] |= reached[a] && v.abs() >= w.abs();
                    }
                }
                prop_assert!(reached[i], "{i} -> {j} was dropped for nothing");
            }
        }
    }
}
