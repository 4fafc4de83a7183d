//! The equivalence class of a graph: which edges point the same way in every graph with the same independences.

use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::sem::{check_acyclic, check_weights};
use sprs::{CsMat, CsMatView};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Mark the compelled edges of an acyclic graph, by the algorithm of Chickering (1995): variables are visited causes first,
/// and the edges into each are labelled from those into its parents.
///
/// Returns the pattern of the class: `[i, j]` without `[j, i]` for a compelled edge i → j, both for a reversible one.
/// `order` holds the variables, causes first.
///
/// # Errors
/// When the graph is not square or not finite, or the order is not a permutation of its variables or contradicts an
/// edge.
///
/// # Examples
/// ```
/// use sprs::TriMat;
///
/// // 0 → 2 ← 1 is the only graph with its independences; 0 → 1 alone is not.
/// let mut edges = TriMat::new((3, 3));
/// edges.add_triplet(0, 2, 1.0);
/// edges.add_triplet(1, 2, 1.0);
/// let class = icid_rs::order::equivalence_class(edges.to_csr::<usize>().view(), &[0, 1, 2])?;
/// assert_eq!((class.get(0, 2), class.get(2, 0)), (Some(&1.0), None));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
pub fn equivalence_class(graph: CsMatView<f64>, order: &[usize]) -> Result<CsMat<f64>, IcidError> {
    check_weights(graph)?;
    let d = graph.rows();
    let rank = check_acyclic(graph, order)?;
    let mut causes: Vec<Vec<usize>> = vec![Vec::new(); d];
    for (&weight, (i, j)) in graph {
        if weight != 0.0 {
            causes[j].push(i);
        }
    }
    // The parents of each variable whose edge into it is compelled.
    let mut compelled: Vec<Vec<usize>> = vec![Vec::new(); d];
    let mut is_cause = vec![usize::MAX; d];
    for &y in order {
        for &cause in &causes[y] {
            is_cause[cause] = y;
        }
        let mut open = causes[y].clone();
        // From the last parent in the order to the first.
        open.sort_unstable_by_key(|&x| rank[x]);
        while let Some(&x) = open.last() {
            let outside = compelled[x].iter().find(|&&w| is_cause[w] != y);
            if outside.is_some() {
                // w → x → y without w → y: every edge into y is compelled.
                compelled[y].clone_from(&causes[y]);
                break;
            }
            let inherited = compelled[x].clone();
            for w in inherited {
                if let Some(at) = open.iter().position(|&z| z == w) {
                    open.remove(at);
                    compelled[y].push(w);
                }
            }
            // Another parent of y that is not a parent of x forms a collider with x, or is compelled because of one.
            let collider = causes[y].iter().any(|&z| z != x && !causes[x].contains(&z));
            if collider {
                compelled[y].append(&mut open);
            } else {
                open.clear();
            }
        }
        compelled[y].sort_unstable();
        compelled[y].dedup();
    }
    let mut entries: Vec<(usize, usize)> = Vec::new();
    for y in 0..d {
        for &x in &causes[y] {
            entries.push((x, y));
            if compelled[y].binary_search(&x).is_err() {
                entries.push((y, x));
            }
        }
    }
    Ok(from_entries((d, d), || entries.iter().map(|&(i, j)| (i, j, 1.0))))
}

/// The member of a graph's equivalence class that depends on the class and the numbers of the variables alone, so that
/// rounding does not choose between members, all of which a Gaussian score rates alike.
///
/// Sinks are taken off one after another (Dor and Tarsi 1992), of those possible that with the smallest number. Returns the
/// order, causes first, and the parents of each variable.
pub(crate) fn canonical_member(
    order: &[usize],
    causes: &[Vec<usize>],
) -> Result<(Vec<usize>, Vec<Vec<usize>>), IcidError> {
    let d = causes.len();
    let edges = || causes.iter().enumerate().flat_map(|(j, list)| list.iter().map(move |&i| (i, j, 1.0)));
    let class = equivalence_class(from_entries((d, d), edges).view(), order)?;
    let points = |i: usize, j: usize| class.get(i, j).is_some();
    let mut neighbours = vec![Vec::new(); d];
    for (i, j, _) in edges() {
        neighbours[i].push(j);
        neighbours[j].push(i);
    }
    let mut is_left = vec![true; d];
    let mut waiting: BinaryHeap<Reverse<usize>> = (0..d).map(Reverse).collect();
    let mut sinks = Vec::with_capacity(d);
    let mut parents = vec![Vec::new(); d];
    while let Some(Reverse(sink)) = waiting.pop() {
        if !is_left[sink] {
            continue;
        }
        let around: Vec<usize> = neighbours[sink].iter().copied().filter(|&i| is_left[i]).collect();
        // No edge points away from it, and those joined to it by a reversible edge are joined to all around it: else it
        // would become a collider.
        let is_possible = around.iter().all(|&i| {
            points(i, sink) && (!points(sink, i) || around.iter().all(|&k| k == i || points(i, k) || points(k, i)))
        });
        if is_possible {
            is_left[sink] = false;
            sinks.push(sink);
            // Only now may they have become sinks.
            waiting.extend(around.iter().map(|&i| Reverse(i)));
            parents[sink] = around;
            parents[sink].sort_unstable();
        }
    }
    sinks.reverse();
    Ok((sinks, parents))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::hash::scramble;

    /// A random graph along the order 0, 1, 2, …
    fn random_parents(d: usize, seed: usize) -> Vec<Vec<usize>> {
        let is_edge = |i: usize, j: usize| scramble((seed * d * d + i * d + j) as u64).is_multiple_of(3);
        (0..d).map(|j| (0..j).filter(|&i| is_edge(i, j)).collect()).collect()
    }

    fn class_of(order: &[usize], causes: &[Vec<usize>]) -> CsMat<f64> {
        let edges = || causes.iter().enumerate().flat_map(|(j, list)| list.iter().map(move |&i| (i, j, 1.0)));
        equivalence_class(from_entries((causes.len(), causes.len()), edges).view(), order).unwrap()
    }

    /// Reverse covered edges, whose ends have the same other parents, as often as there are any, in some order.
    fn wander(order: &mut [usize], causes: &mut [Vec<usize>], seed: usize) {
        for step in 0..50 {
            let at = scramble((seed + 97 * step) as u64) as usize % (order.len() - 1);
            let (i, j) = (order[at], order[at + 1]);
            let others = |list: &[usize]| list.iter().copied().filter(|&k| k != i).collect::<Vec<_>>();
            let (of_i, of_j) = (others(&causes[i]), others(&causes[j]));
            let is_edge = causes[j].contains(&i);
            if !is_edge || of_i == of_j {
                order.swap(at, at + 1);
                if is_edge {
                    causes[j] = of_j;
                    causes[i].push(j);
                    causes[i].sort_unstable();
                }
            }
        }
    }

    #[test]
    fn all_members_of_a_class_have_the_same_canonical_one() {
        for seed in 0..200 {
            let d = 3 + seed % 7;
            let (mut order, mut causes) = ((0..d).collect::<Vec<_>>(), random_parents(d, seed));
            let class = class_of(&order, &causes);
            let first = canonical_member(&order, &causes).unwrap();
            assert_eq!(class_of(&first.0, &first.1), class);
            wander(&mut order, &mut causes, seed);
            assert_eq!(class_of(&order, &causes), class);
            assert_eq!(canonical_member(&order, &causes).unwrap(), first);
        }
    }
}
