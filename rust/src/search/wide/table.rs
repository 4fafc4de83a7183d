//! What all searches of a wide table share: a numbering of its variables, candidates for edges, and the correlations
//! between them.

use super::super::prepared::{least_dependence, most_candidates};
use crate::algebra::check::check_shape;
use crate::algebra::csr::{Counts, Csr};
use crate::algebra::permutation::inverse;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use crate::neighbours::Standardised;
use rayon::prelude::*;
use sprs::CsMatView;

/// Correlations between the candidates of a variable with more of them than this are not stored: there are too many.
const MOST_STORED: usize = 300;
/// Bytes that a stored correlation takes while it is found and sorted.
type Stored = [u8; 24];

/// A table renumbered for searches, with the correlations that they need most.
///
/// Variables are numbered by the sums of their squared correlations, so that results do not depend on the order of the
/// columns.
#[derive(Debug)]
pub struct WideTable {
    /// The caller's number of each variable.
    pub(super) names: Vec<u32>,
    /// The number of each of the caller's variables.
    pub(super) numbers: Vec<u32>,
    /// The correlations between candidates of each other, and between candidates of the same variable.
    pub(super) stored: Csr<u32>,
    /// Candidates for edges, as symmetric lists, ascending.
    pub(super) candidates: Vec<Vec<u32>>,
}

impl WideTable {
    /// Take the strongest sparse [`correlations`](crate::neighbours::correlations()) and the pairs in a pattern for
    /// candidates, and compute the correlations between them.
    ///
    /// # Errors
    /// [`IcidError::Shape`] if the correlations belong to other variables; [`IcidError::Memory`];
    /// [`IcidError::Interrupted`].
    pub fn new(
        data: Standardised,
        correlations: CsMatView<f64>,
        pattern: CsMatView<f64>,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, IcidError> {
        let d = data.variables();
        check_shape("correlations", correlations.shape(), d)?;
        check_shape("pattern", pattern.shape(), d)?;
        let strength: Vec<f64> = (0..d)
            .map(|i| correlations.outer_view(i).map_or(0.0, |row| row.data().iter().map(|r| r * r).sum()))
            .collect();
        let mut names: Vec<u32> = (0..d as u32).collect();
        names.sort_by(|&i, &j| strength[i as usize].total_cmp(&strength[j as usize]));
        let numbers = inverse(&names);
        let mut candidates = strongest(correlations, &names, &numbers, samples);
        for (_, (i, j)) in pattern.iter().filter(|(_, (i, j))| i != j) {
            candidates[numbers[i] as usize].push(numbers[j]);
            candidates[numbers[j] as usize].push(numbers[i]);
        }
        candidates.par_iter_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        let stored = stored(data, &names, &candidates, interrupt)?;
        Ok(Self { names, numbers, stored, candidates })
    }
}

/// For each variable its strongest correlations above chance, as symmetric lists.
fn strongest(correlations: CsMatView<f64>, names: &[u32], numbers: &[u32], samples: usize) -> Vec<Vec<u32>> {
    let (least, most) = (least_dependence(samples), most_candidates(samples, false));
    let one_sided: Vec<Vec<u32>> = names
        .par_iter()
        .map(|&name| {
            let row = correlations.outer_view(name as usize);
            let row = row.iter().flat_map(|row| row.iter());
            let mut found: Vec<(f64, u32)> =
                row.filter(|(_, r)| r.abs() > least).map(|(j, r)| (-r.abs(), numbers[j])).collect();
            if found.len() > most {
                found.select_nth_unstable_by(most, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                found.truncate(most);
            }
            found.into_iter().map(|(_, j)| j).collect()
        })
        .collect();
    let mut lists = one_sided.clone();
    for (i, others) in one_sided.iter().enumerate() {
        for &j in others {
            lists[j as usize].push(i as u32);
        }
    }
    lists
}

/// The correlations between candidates of each other, and between candidates of the same variable.
fn stored(
    data: Standardised,
    names: &[u32],
    candidates: &[Vec<u32>],
    interrupt: &Interrupt,
) -> Result<Csr<u32>, IcidError> {
    let d = names.len();
    let rows: Vec<Vec<u32>> = (0..d as u32)
        .into_par_iter()
        .map_init(
            || vec![false; d],
            |seen, i| {
                let own = &candidates[i as usize];
                let near = own.iter().map(|&v| &candidates[v as usize]).filter(|list| list.len() <= MOST_STORED);
                let mut later = Vec::new();
                for &j in own.iter().chain(near.flatten()).filter(|&&j| j > i) {
                    if !std::mem::replace(&mut seen[j as usize], true) {
                        later.push(j);
                    }
                }
                for &j in &later {
                    seen[j as usize] = false;
                }
                later.sort_unstable();
                later
            },
        )
        .collect();
    let pairs: usize = rows.iter().map(Vec::len).sum();
    ensure_room::<Stored>("the correlations between candidates", 2 * pairs as u128)?;
    let values: Vec<Vec<f64>> = rows
        .par_iter()
        .enumerate()
        .map(|(i, row)| {
            interrupt.check()?;
            Ok(row.iter().map(|&j| data.correlation(names[i], names[j as usize])).collect())
        })
        .collect::<Result<_, IcidError>>()?;
    let upper = || {
        rows.iter()
            .zip(&values)
            .enumerate()
            .flat_map(|(i, (row, values))| row.iter().zip(values).map(move |(&j, &r)| (i, j, r)))
    };
    let both = || upper().flat_map(|(i, j, r)| [(i, j, r), (j as usize, i as u32, r)]);
    // Rows are complete in ascending order: first the mirror images from earlier rows, then a row's own entries.
    Ok(Counts::new(d, both().map(|(i, ..)| i)).fill(both()).sorted())
}

/// An order in which candidates of each other are as before, but closer together.
///
/// Nothing else about an order matters to a search, and a move costs as much as there are variables between the old place
/// and the new one.
pub(super) fn local_order(candidates: &[Vec<u32>], order: &[u32]) -> Vec<u32> {
    let places = inverse(order);
    let mut is_visited = vec![false; order.len()];
    let mut local = Vec::with_capacity(order.len());
    let mut path: Vec<(u32, usize)> = Vec::new();
    // Each variable follows right after those of its candidates that precede it and have not come before.
    for &last in order.iter().rev() {
        if !std::mem::replace(&mut is_visited[last as usize], true) {
            path.push((last, 0));
        }
        while let Some((variable, next)) = path.last_mut() {
            let variable = *variable;
            if let Some(&other) = candidates[variable as usize].get(*next) {
                *next += 1;
                let precedes = places[other as usize] < places[variable as usize];
                if precedes && !std::mem::replace(&mut is_visited[other as usize], true) {
                    path.push((other, 0));
                }
            } else {
                local.push(variable);
                path.pop();
            }
        }
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn candidates_keep_their_order(
            order in Just((0..30_u32).collect::<Vec<_>>()).prop_shuffle(),
            pairs in prop::collection::vec((0..30_u32, 0..30_u32), 0..60),
        ) {
            let mut candidates = vec![Vec::new(); 30];
            for &(i, j) in pairs.iter().filter(|(i, j)| i != j) {
                candidates[i as usize].push(j);
                candidates[j as usize].push(i);
            }
            let (before, after) = (inverse(&order), inverse(&local_order(&candidates, &order)));
            for (i, list) in candidates.iter().enumerate() {
                for &j in list {
                    prop_assert_eq!(before[i] < before[j as usize], after[i] < after[j as usize]);
                }
            }
        }
    }
}
