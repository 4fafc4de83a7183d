//! The equivalence class of a graph: which edges point the same way in every graph with the same independences.

use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::sem::{check_acyclic, check_weights};
use sprs::{CsMat, CsMatView};

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
