//! The internal numbering of the variables, which depends on Θ and D alone and not on the order of the columns.
//!
//! Variables are told apart by fingerprints: hashes of their own entries, then of their neighbours', as in colour
//! refinement. Whatever is computed in this order comes out the same, to the bit, when the columns of a table are
//! permuted; only variables that refinement cannot tell apart fall back on their numbers.

use crate::algebra::hash::scramble;
use rayon::prelude::*;

/// Largest number of refinement rounds, each of which looks one neighbour further.
const MAX_ROUNDS: usize = 64;

/// Hashes of variables, equal only for those with the same own value, the same entries and the same kind of neighbours,
/// as far as refinement can tell; and the variables from the smallest hash to the largest.
///
/// `row(i)` gives the off-diagonal entries of row i in any order.
pub(crate) fn fingerprints<R: Iterator<Item = (usize, f64)>>(
    own: impl Iterator<Item = [f64; 2]>,
    row: impl Fn(usize) -> R + Sync,
) -> (Vec<u64>, Vec<u32>) {
    let mut prints: Vec<u64> = own.map(|[a, b]| scramble(a.to_bits() ^ scramble(b.to_bits()))).collect();
    let mut ranked: Vec<(u64, u32)> = Vec::new();
    let mut known = 0;
    for _ in 0..MAX_ROUNDS {
        // A sum does not depend on the order of its terms.
        let seen_from = |i: usize| {
            let terms = row(i).map(|(j, value)| scramble(value.to_bits() ^ prints[j]));
            scramble(prints[i].wrapping_add(terms.fold(0, u64::wrapping_add)))
        };
        prints = (0..prints.len()).into_par_iter().with_min_len(1024).map(seen_from).collect();
        ranked.clear();
        ranked.extend(prints.iter().copied().zip(0..));
        ranked.par_sort_unstable();
        let same = ranked.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        // Variables without neighbours are interchangeable.
        let ties = same.filter(|pair| row(pair[0].1 as usize).next().is_some()).count();
        let distinct = prints.len() - ties;
        if ties == 0 || distinct == known {
            break;
        }
        known = distinct;
    }
    (prints, ranked.into_iter().map(|(_, i)| i).collect())
}

/// The variables in breadth-first order, and where the connected components begin.
pub(crate) fn breadth_first<R: Iterator<Item = u32>>(
    fingerprints: &[u64],
    ranked: &[u32],
    neighbours: impl Fn(usize) -> R,
) -> (Vec<u32>, Vec<usize>) {
    let d = fingerprints.len();
    let mut seen = vec![false; d];
    let mut order: Vec<u32> = Vec::with_capacity(d);
    let mut component_starts = Vec::new();
    for &start in ranked {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut next = order.len();
        component_starts.push(next);
        order.push(start);
        while let Some(&i) = order.get(next) {
            next += 1;
            let found = order.len();
            order.extend(neighbours(i as usize).filter(|&j| !std::mem::replace(&mut seen[j as usize], true)));
            order[found..].sort_unstable_by_key(|&j| (fingerprints[j as usize], j));
        }
    }
    component_starts.push(d);
    (order, component_starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::permutation::inverse;

    /// A path 0 - 1 - 2 - 3 whose ends differ, and a bystander.
    fn row(i: usize) -> impl Iterator<Item = (usize, f64)> {
        let edges = [(0, 1, 0.5), (1, 2, 0.5), (2, 3, 0.25)];
        edges
            .into_iter()
            .flat_map(move |(a, b, v)| [(a, b, v), (b, a, v)])
            .filter(move |e| e.0 == i)
            .map(|e| (e.1, e.2))
    }

    #[test]
    fn fingerprints_tell_apart_what_neighbours_tell_apart() {
        let (prints, _) = fingerprints([[1.0, 1.0]; 5].into_iter(), row);
        assert!((0..5).all(|i| (0..i).all(|j| prints[i] != prints[j])));
        let (twins, _) = fingerprints([[1.0, 1.0]; 2].into_iter(), |_| std::iter::empty());
        assert_eq!(twins[0], twins[1]);
    }

    #[test]
    fn every_bit_of_the_own_values_counts() {
        let bit = |k: u32| f64::from_bits(1 << k);
        let own = (0..64).flat_map(|k| [[bit(k), 1.0], [1.0, bit(k)]]);
        let (mut prints, _) = fingerprints(own, |_| std::iter::empty());
        prints.sort_unstable();
        assert!(prints.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn components_are_contiguous_and_neighbours_follow() {
        let (prints, ranked) = fingerprints([[1.0, 1.0]; 5].into_iter(), row);
        let (order, starts) = breadth_first(&prints, &ranked, |i| row(i).map(|(j, _)| j as u32));
        assert_eq!((order.len(), starts.len()), (5, 3));
        let alone = order.iter().position(|&i| i == 4).unwrap();
        assert!(alone == 0 || alone == 4);
        let numbers = inverse(&order);
        assert!(order.iter().enumerate().all(|(k, &i)| numbers[i as usize] as usize == k));
    }
}
