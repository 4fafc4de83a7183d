//! The equivalence class of a graph: which edges point the same way in every graph with the same independences.

use sprs::{CsMat, CsMatView};

/// Mark the edges of an acyclic graph that are compelled, by the algorithm of Chickering (1995): in the order of their
/// effects, causes first, each group of edges into one variable is settled by what is known of the edges before.
///
/// Returns the pattern of the class: `[i, j]` without `[j, i]` for a compelled edge i → j, both for a reversible one.
/// `order` holds the variables, causes first.
#[must_use]
pub fn equivalence_class(graph: CsMatView<f64>, order: &[usize]) -> CsMat<f64> {
    let d = graph.rows();
    let mut rank = vec![0; d];
    for (place, &i) in order.iter().enumerate() {
        rank[i] = place;
    }
    let mut causes: Vec<Vec<usize>> = vec![Vec::new(); d];
    for (&weight, (i, j)) in graph {
        if weight != 0.0 {
            causes[j].push(i);
        }
    }
    // Compelled causes of each variable, among its causes.
    let mut compelled: Vec<Vec<usize>> = vec![Vec::new(); d];
    let mut is_cause = vec![usize::MAX; d];
    for &y in order {
        for &cause in &causes[y] {
            is_cause[cause] = y;
        }
        let mut open = causes[y].clone();
        // The latest cause first.
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
            // A cause of y besides x that is none of x makes a collider with x, or rests on one.
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
    entries.sort_unstable();
    let mut offsets = vec![0; d + 1];
    for &(i, _) in &entries {
        offsets[i + 1] += 1;
    }
    for i in 0..d {
        offsets[i + 1] += offsets[i];
    }
    let values = vec![1.0; entries.len()];
    CsMat::new((d, d), offsets, entries.into_iter().map(|(_, j)| j).collect(), values)
}
