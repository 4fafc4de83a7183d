//! The Gaussian maximum likelihood estimate of Θ with a given support.
//!
//! The fitted covariance W equals the sample covariance wherever Θ may be nonzero. Algorithm 17.1 of Hastie, Tibshirani
//! and Friedman (2009) sweeps over the variables: it regresses each on its neighbours, with covariances from W, and
//! replaces its row of W by the covariances that follow from this regression. W stays positive definite. Connected
//! components are fitted separately.

use super::check::check_symmetric;
use super::{Standardised, from_rows};
use crate::algebra::check::check_parameter;
use crate::algebra::components::DisjointSets;
use crate::algebra::product::gram;
use crate::algebra::spd::Spd;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};

/// Sweeps over all variables, at most.
const SWEEPS: usize = 100;
/// Sweeps end when no correlation changes by more than this.
const TOLERANCE: f64 = 1e-4;

/// Neighbours of a variable and its regression weights on them.
struct Node {
    neighbours: Vec<usize>,
    weights: Vec<f64>,
    /// The share of its variance that they leave unexplained.
    left: f64,
}

/// Fit Θ, for variables of unit variance, to correlations that are first shrunk by a share.
///
/// Shrunk correlations are positive definite however few the samples, so that the estimate exists.
///
/// # Errors
/// [`IcidError::Shape`] or [`IcidError::OneSided`] for a support that does not fit the variables,
/// [`IcidError::Parameter`] for a share outside of 0 to 1, [`IcidError::Singular`] if neighbours of a variable are
/// linear combinations of each other and nothing is shrunk, [`IcidError::Memory`] if a connected component is too large,
/// [`IcidError::Interrupted`].
pub fn refit(
    data: Standardised,
    support: CsMatView<f64>,
    shrinkage: f64,
    interrupt: &Interrupt,
) -> Result<CsMat<f64>, IcidError> {
    check_symmetric("support", data, support)?;
    check_parameter("shrinkage", shrinkage, (0.0..=1.0).contains(&shrinkage), "between 0 and 1")?;
    let components = components(support);
    let largest = components.iter().map(Vec::len).max().unwrap_or(0) as u128;
    ensure_room::<f64>("the covariance of the largest connected component", largest * largest)?;
    let fits = components
        .par_iter()
        .map(|members| fit(data, support, members, shrinkage, interrupt))
        .collect::<Result<Vec<_>, _>>()?;
    let mut rows = vec![Vec::new(); data.variables()];
    for (members, nodes) in components.iter().zip(fits) {
        for (&member, node) in members.iter().zip(nodes) {
            let precision = 1.0 / node.left;
            rows[member as usize].push((member, precision));
            for (neighbour, weight) in node.neighbours.into_iter().zip(node.weights) {
                rows[member as usize].push((members[neighbour], -weight * precision));
            }
        }
    }
    Ok(from_rows(&rows))
}

/// The connected components, each in ascending order.
fn components(support: CsMatView<f64>) -> Vec<Vec<u32>> {
    let mut sets = DisjointSets::new(support.rows());
    for (_, (i, j)) in &support {
        sets.join(i as u32, j as u32);
    }
    sets.into_sets()
}

fn fit(
    data: Standardised,
    support: CsMatView<f64>,
    members: &[u32],
    shrinkage: f64,
    interrupt: &Interrupt,
) -> Result<Vec<Node>, IcidError> {
    let inside = |i: usize| members.binary_search(&(i as u32)).expect("a neighbour is in the same component");
    let mut nodes: Vec<Node> = members
        .iter()
        .map(|&j| {
            let row = support.outer_view(j as usize).map_or_else(Vec::new, |row| row.indices().to_vec());
            let neighbours: Vec<usize> = row.into_iter().filter(|&i| i != j as usize).map(inside).collect();
            Node { weights: vec![0.0; neighbours.len()], neighbours, left: 1.0 }
        })
        .collect();
    if members.len() == 1 {
        return Ok(nodes);
    }
    let sample = |i: usize, j: usize| (1.0 - shrinkage) * data.correlation(members[i], members[j]);
    let targets: Vec<Vec<f64>> =
        nodes.par_iter().enumerate().map(|(j, node)| node.neighbours.iter().map(|&i| sample(i, j)).collect()).collect();
    let mut covariance = correlations(data, members, shrinkage);
    let mut column = vec![0.0; members.len()];
    let mut buffer = Vec::new();
    for _ in 0..SWEEPS {
        let mut change = 0.0_f64;
        for (j, (node, target)) in nodes.iter_mut().zip(&targets).enumerate() {
            interrupt.check()?;
            let neighbours = &node.neighbours;
            let entry = |a: usize, b: usize| covariance[[neighbours[a], neighbours[b]]];
            let factor = Spd::factorise(neighbours.len(), entry, std::mem::take(&mut buffer));
            let factor = factor.ok_or(IcidError::Singular { index: members[j] as usize, pivot: 0.0, diagonal: 1.0 })?;
            node.weights = factor.solve(target.clone());
            buffer = factor.into_buffer();
            node.left = 1.0 - node.weights.iter().zip(target).map(|(w, t)| w * t).sum::<f64>();
            column.fill(0.0);
            for (&neighbour, weight) in neighbours.iter().zip(&node.weights) {
                for (sum, value) in column.iter_mut().zip(covariance.row(neighbour)) {
                    *sum += weight * value;
                }
            }
            column[j] = 1.0;
            for (old, new) in covariance.row(j).iter().zip(&column) {
                change = change.max((old - new).abs());
            }
            covariance.row_mut(j).iter_mut().zip(&column).for_each(|(entry, &new)| *entry = new);
            covariance.column_mut(j).iter_mut().zip(&column).for_each(|(entry, &new)| *entry = new);
        }
        if change <= TOLERANCE {
            break;
        }
    }
    Ok(nodes)
}

/// Correlations between some variables, shrunk.
fn correlations(data: Standardised, members: &[u32], shrinkage: f64) -> Array2<f64> {
    let members: Vec<usize> = members.iter().map(|&member| member as usize).collect();
    let mut covariance = gram(data.0.select(Axis(0), &members).view(), 1.0 - shrinkage);
    covariance.diag_mut().fill(1.0);
    covariance
}
