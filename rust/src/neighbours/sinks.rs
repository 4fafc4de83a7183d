//! A causal order from samples: elimination by regressions, where there are too many variables to fit Θ first.
//!
//! If noise variances are equal, the variable with the largest residual variance given its neighbours is a sink. It is
//! removed, and its neighbours are regressed again, also on each other; neighbours that fail the test are dropped. Each
//! regression uses the samples, not earlier estimates, so that errors do not accumulate, and variables that were
//! neighbours only through the sink are separated.

use super::Standardised;
use super::check::{check_scales, check_symmetric};
use super::stepwise::{Chosen, Test};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use rayon::prelude::*;
use sprs::CsMatView;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Find an order of the variables, causes first, from their neighbours in a symmetric pattern.
///
/// `variances` are those of the variables, divided by their noise variances if these are known.
///
/// # Errors
/// [`IcidError::Shape`], [`IcidError::Size`] or [`IcidError::Positive`] for arguments that do not fit the data;
/// [`IcidError::OneSided`] for a pattern with an entry that has no mirror image; [`IcidError::Interrupted`].
pub fn eliminate_sinks(
    data: Standardised,
    variances: &[f64],
    pattern: CsMatView<f64>,
    test: Test,
    interrupt: &Interrupt,
) -> Result<Vec<usize>, IcidError> {
    check_scales("variances", data, variances)?;
    check_symmetric("pattern", data, pattern)?;
    let d = data.variables();
    let mut neighbours: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); d];
    for (_, (i, j)) in pattern.iter().filter(|(_, (i, j))| i != j) {
        neighbours[i].insert(j as u32);
    }
    let mut versions = vec![0; d];
    let chosen = |variable: u32, others: &BTreeSet<u32>| Chosen::among(data, variable, others.iter().copied(), test);
    // The residual variance of a variable given its neighbours, which is positive and so has the order of its bits. The
    // smaller of two variables with the same variance comes first, and of several versions of one the last is valid.
    let residual = |variable: u32, fit: &Chosen, version: u32| {
        let n = test.samples() as f64;
        let degrees = n / (n - fit.neighbours.len() as f64);
        ((fit.left * degrees * variances[variable as usize]).to_bits(), Reverse(variable), version)
    };
    let first: Vec<_> =
        (0..d as u32).into_par_iter().map(|j| residual(j, &chosen(j, &neighbours[j as usize]), 0)).collect();
    let mut heap = BinaryHeap::from(first);
    let mut order = Vec::with_capacity(d);
    while let Some((_, Reverse(variable), version)) = heap.pop() {
        if version != versions[variable as usize] {
            continue;
        }
        interrupt.check()?;
        order.push(variable as usize);
        let around = std::mem::take(&mut neighbours[variable as usize]);
        versions[variable as usize] = u32::MAX;
        let fits: Vec<Chosen> = around
            .iter()
            .map(|&i| {
                let mut others = &neighbours[i as usize] | &around;
                others.remove(&variable);
                others.remove(&i);
                chosen(i, &others)
            })
            .collect();
        for (&i, fit) in around.iter().zip(&fits) {
            neighbours[i as usize].remove(&variable);
            for &(other, _) in fit.neighbours.iter().filter(|(other, _)| around.contains(other)) {
                neighbours[i as usize].insert(other);
                neighbours[other as usize].insert(i);
            }
        }
        for (&i, fit) in around.iter().zip(&fits) {
            versions[i as usize] += 1;
            heap.push(residual(i, fit, versions[i as usize]));
        }
    }
    order.reverse();
    Ok(order)
}
