//! What must hold of every result, or else there must be an error.

use crate::fitting::{equivalence, knowledge, regression, searching};
use crate::inputs::Bytes;
use crate::missing::incomplete;
use icid_rs::model::{AugmentedLagrangian, KernelChoice, Smooth};
use icid_rs::moments::{Missing, Moments};
use icid_rs::order::{Rule, eliminate_dense, eliminate_sparse, heaviest_acyclic};
use icid_rs::pattern::TwoHop;
use icid_rs::solver::Monitor;
use icid_rs::{IcidError, Interrupt, LinearSem, Problem, Schedule, Settings, decompose};
use ndarray::s;
use sprs::CsMat;
use std::collections::BTreeSet;

/// Variables at most: small, so that there are many executions and every size below a block is met.
const MOST: usize = 8;

pub type Target = fn(&mut Bytes);

pub const TARGETS: [(&str, Target); 10] = [
    ("decompose", decomposition),
    ("eliminate", elimination),
    ("pattern", pattern),
    ("kernels", kernels),
    ("moments", moments),
    ("projection", projection),
    ("regression", regression),
    ("search", searching),
    ("equivalence", equivalence),
    ("incomplete", incomplete),
];

pub fn said(error: &IcidError) {
    assert!(!error.to_string().is_empty());
}

pub fn is_order(order: &[usize], d: usize) -> bool {
    order.len() == d && order.iter().copied().collect::<BTreeSet<_>>().into_iter().eq(0..d)
}

/// Finite weights that point forward along an order of all variables.
pub fn assert_acyclic(b: &CsMat<f64>, order: &[usize], d: usize) {
    assert_eq!(b.shape(), (d, d));
    assert!(is_order(order, d), "{order:?}");
    let mut place = vec![0; d];
    for (k, &i) in order.iter().enumerate() {
        place[i] = k;
    }
    for (&weight, (i, j)) in b {
        assert!(weight.is_finite(), "B[{i}, {j}] = {weight}");
        assert!(place[i] < place[j], "{i} -> {j} against {order:?}");
    }
}

fn decomposition(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let theta = bytes.theta(d);
    let given = bytes.sparse(&theta);
    let noise = bytes.noise(d);
    let mut problem = match Problem::new(given.view(), noise.as_deref()) {
        Ok(problem) => problem,
        Err(error) => return said(&error),
    };
    if bytes.once_in(3) {
        let skewness = bytes.matrix(d, d);
        let (skewness, weight) = (bytes.sparse(&skewness), bytes.wild());
        problem = match problem.with_skewness(skewness.view(), weight) {
            Ok(problem) => problem,
            Err(error) => return said(&error),
        };
    }
    let settings = Settings {
        l1_weight: if bytes.once_in(6) { bytes.wild() } else { bytes.scale() },
        max_alm_iter: bytes.below(3),
        max_fista_iter: bytes.below(24),
        tol: if bytes.once_in(6) { bytes.wild() } else { 5e-3 },
        fista_tol: 1e-4,
        schedule: if bytes.once_in(2) { Schedule::Paper } else { Schedule::Restart },
        kernel: [KernelChoice::Auto, KernelChoice::Clique, KernelChoice::Dense][bytes.below(3)],
    };
    match decompose(&problem, &settings, &Monitor::default()) {
        Ok(solution) => {
            assert_eq!(solution.b.shape(), (d, d));
            assert!(solution.residual >= 0.0, "residual {}", solution.residual);
            for (&weight, (i, j)) in &solution.b {
                assert!(weight.is_finite() && i != j, "B[{i}, {j}] = {weight}");
                assert!(theta[[i, j]] != 0.0 || theta[[j, i]] != 0.0, "({i}, {j}) is outside the support");
            }
        }
        Err(error) => said(&error),
    }
}

fn elimination(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let theta = bytes.theta(d);
    let given = bytes.sparse(&theta);
    let noise = bytes.noise(d);
    let drop = if bytes.once_in(4) { bytes.wild() } else { 0.0 };
    let (mut order, knowledge) = (bytes.order(d), knowledge(bytes, d));
    if bytes.once_in(8) {
        order[0] = bytes.below(d + 1);
    }
    let rule = match bytes.below(3) {
        0 => Rule::Along(&order),
        1 => Rule::Respecting { noise_variances: noise.as_deref(), knowledge: &knowledge },
        _ => Rule::SmallestPivot { noise_variances: noise.as_deref() },
    };
    let interrupt = Interrupt::default();
    let check = |result: &Result<LinearSem, IcidError>| match result {
        Ok(LinearSem { b, order, noise_variances, .. }) => {
            assert_acyclic(b, order, d);
            assert!(noise_variances.iter().all(|v| *v > 0.0 && v.is_finite()), "{noise_variances:?}");
        }
        Err(error) => said(error),
    };
    let sparse = eliminate_sparse(given.view(), rule, drop, &interrupt);
    let dense = eliminate_dense(&theta.view(), rule, drop, &interrupt);
    check(&sparse);
    check(&dense);
}

fn pattern(bytes: &mut Bytes) {
    let d = bytes.dim(2 * MOST);
    let theta = bytes.theta(d);
    let given = bytes.sparse(&theta);
    let problem = match Problem::new(given.view(), None) {
        Ok(problem) => problem,
        Err(error) => return said(&error),
    };
    let support = problem.support();
    let mut reached = vec![BTreeSet::<u32>::new(); d];
    for (i, reached) in reached.iter_mut().enumerate() {
        assert_eq!(support.position(i, i), Some(support.diagonal(i)));
        for (k, &j) in support.row(i).zip(support.neighbours(i)) {
            let mirrored = support.mirror()[k] as usize;
            assert_eq!((support.columns()[mirrored] as usize, support.mirror()[mirrored] as usize), (i, k));
            reached.extend(support.neighbours(j as usize));
        }
    }
    let two_hop = TwoHop::new(support, &Interrupt::default()).unwrap();
    assert_eq!(two_hop.len(), reached.iter().map(BTreeSet::len).sum::<usize>());
    assert!(reached.iter().enumerate().all(|(r, set)| two_hop.row(r).len() == set.len()));
    let again = problem.to_matrix(&problem.gather(given.view()).unwrap()).unwrap();
    assert!(again.iter().all(|(_, (i, j))| theta[[i, j]] != 0.0));
}

/// The sparse and the dense kernel say the same.
fn kernels(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let theta = bytes.theta(d);
    let (given, noise) = (bytes.sparse(&theta), bytes.noise(d));
    let problem = match Problem::new(given.view(), noise.as_deref()) {
        Ok(problem) => problem,
        Err(error) => return said(&error),
    };
    let point = bytes.matrix(d, d);
    let mut b = problem.gather(bytes.sparse(&point).view()).unwrap();
    for i in 0..d {
        b[problem.support().diagonal(i)] = 0.0;
    }
    let rho = bytes.scale();
    let evaluate = |choice| {
        let mut model = AugmentedLagrangian::new(&problem, rho, choice, &Interrupt::default()).unwrap();
        model.update_multiplier(&b);
        let mut gradient = vec![0.0; b.len()];
        let value = model.value_and_gradient(&b, &mut gradient);
        (value, model.residual_norm(&b), gradient)
    };
    let (sparse, dense) = (evaluate(KernelChoice::Clique), evaluate(KernelChoice::Dense));
    assert_eq!(sparse.2.len(), dense.2.len());
    if sparse.1.is_finite() && sparse.1 > 0.0 && sparse.1 < 1e100 {
        let size = 1.0 + problem.theta().iter().fold(0.0, |m: f64, t| m.max(t.abs()));
        let weight = b.iter().fold(1.0, |m: f64, b| m.max(b.abs()));
        let precision = problem.noise_precision().iter().fold(0.0, |m: f64, p| m.max(*p));
        let rounding = 1e-12 * (d * d) as f64 * (size + precision * weight * weight);
        assert!((sparse.1 - dense.1).abs() <= rounding + 1e-12 * sparse.1, "{} and {}", sparse.1, dense.1);
    }
}

fn moments(bytes: &mut Bytes) {
    let (n, d) = (bytes.below(24), bytes.below(MOST + 1));
    let rows = bytes.matrix(n, d);
    let (third, drop, seed) = (bytes.once_in(2), bytes.once_in(2), bytes.once_in(2).then_some(1));
    let missing = if drop { Missing::Drop } else { Missing::Refuse };
    let mut whole = match Moments::new(d, third) {
        Ok(moments) => moments,
        Err(error) => return said(&error),
    };
    let mut part = whole.clone();
    let cut = bytes.below(n + 1);
    let interrupt = Interrupt::default();
    let mut kept = 0;
    for (rows, moments) in [(rows.slice(s![..cut, ..]), &mut whole), (rows.slice(s![cut.., ..]), &mut part)] {
        let before = moments.rows();
        match moments.update(&rows, None, missing, seed, &interrupt) {
            Ok(seen) => {
                assert_eq!(seen.kept.len(), rows.nrows());
                assert!(seed.is_none() || seen.keys.len() == rows.nrows());
                let finite = rows.rows().into_iter().filter(|row| row.iter().all(|x| x.is_finite())).count();
                assert_eq!((moments.rows() - before) as usize, finite);
                kept += finite;
            }
            Err(error) => {
                said(&error);
                assert_eq!(moments.rows(), before);
            }
        }
    }
    whole.merge(&part).unwrap();
    assert_eq!(whole.rows() as usize, kept);
    let largest = rows.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest < 1e70 {
        let second = whole.second();
        assert!(second.iter().all(|v| v.is_finite()) && second.diag().iter().all(|v| *v >= 0.0));
        assert!(whole.third().is_none_or(|third| third.iter().all(|v| v.is_finite())));
    }
}

fn projection(bytes: &mut Bytes) {
    let d = bytes.below(MOST + 1);
    let columns = if bytes.once_in(16) { d + 1 } else { d };
    let weights = bytes.matrix(d, columns);
    match heaviest_acyclic(bytes.sparse(&weights).view()) {
        Ok(found) => {
            assert_acyclic(&found.graph, &found.order, d);
            for ((i, j), &weight) in weights.indexed_iter() {
                match found.graph.get(i, j) {
                    Some(&kept) => assert_eq!(kept, weight),
                    None => assert!(i == j || weight == 0.0 || closes_cycle(&found.graph, i, j, weight.abs())),
                }
            }
        }
        Err(error) => said(&error),
    }
}

/// Is there a way back from j to i along edges that are at least as heavy?
fn closes_cycle(graph: &CsMat<f64>, i: usize, j: usize, weight: f64) -> bool {
    let mut reached = BTreeSet::from([j]);
    loop {
        let heavy = graph.iter().filter(|(w, (from, _))| w.abs() >= weight && reached.contains(from));
        let further: Vec<usize> = heavy.map(|(_, (_, to))| to).filter(|to| !reached.contains(to)).collect();
        if further.is_empty() {
            return reached.contains(&i);
        }
        reached.extend(further);
    }
}
