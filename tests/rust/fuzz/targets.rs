//! What must hold of every result, or else there must be an error.

use crate::inputs::Bytes;
use icid_rs::model::{AugmentedLagrangian, KernelChoice, Smooth};
use icid_rs::moments::{Missing, Moments};
use icid_rs::order::{
    Elimination, Noise, Regression, Rule, eliminate, eliminate_dense, equivalence_class, heaviest_acyclic,
    regress_along, regress_within,
};
use icid_rs::pattern::TwoHop;
use icid_rs::search::{Budget, Evidence, NoiseModel, search};
use icid_rs::solver::Monitor;
use icid_rs::{IcidError, Interrupt, Knowledge, Problem, Schedule, Settings, decompose};
use ndarray::{Array2, s};
use sprs::CsMat;
use std::collections::BTreeSet;

/// Variables at most: small, so that there are many executions and every size below a block is met.
const MOST: usize = 8;

pub type Target = fn(&mut Bytes);

pub const TARGETS: [(&str, Target); 9] = [
    ("decompose", decomposition),
    ("eliminate", elimination),
    ("pattern", pattern),
    ("kernels", kernels),
    ("moments", moments),
    ("projection", projection),
    ("regression", regression),
    ("search", searching),
    ("equivalence", equivalence),
];

fn said(error: &IcidError) {
    assert!(!error.to_string().is_empty());
}

fn is_order(order: &[usize], d: usize) -> bool {
    order.len() == d && order.iter().copied().collect::<BTreeSet<_>>().into_iter().eq(0..d)
}

/// Finite weights that point forward along an order of all variables.
fn assert_acyclic(b: &CsMat<f64>, order: &[usize], d: usize) {
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
    let check = |result: &Result<Elimination, IcidError>| match result {
        Ok(Elimination { b, order, noise_variances }) => {
            assert_acyclic(b, order, d);
            assert!(noise_variances.iter().all(|v| *v > 0.0 && v.is_finite()), "{noise_variances:?}");
        }
        Err(error) => said(error),
    };
    let sparse = eliminate(given.view(), rule, drop, &interrupt);
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
    for i in 0..d {
        assert_eq!(support.position(i, i), Some(support.diagonal(i)));
        for (k, &j) in support.row(i).zip(support.neighbours(i)) {
            let mirrored = support.mirror()[k] as usize;
            assert_eq!((support.columns()[mirrored] as usize, support.mirror()[mirrored] as usize), (i, k));
            reached[i].extend(support.neighbours(j as usize));
        }
    }
    let two_hop = TwoHop::new(support, &Interrupt::default()).unwrap();
    assert_eq!(two_hop.len(), reached.iter().map(BTreeSet::len).sum::<usize>());
    assert!(reached.iter().enumerate().all(|(r, set)| two_hop.row(r).len() == set.len()));
    let again = problem.to_matrix(&problem.gather(given.view()));
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
    let mut b = problem.gather(bytes.sparse(&point).view());
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
        let before = moments.rows;
        match moments.update(&rows, None, missing, seed, &interrupt) {
            Ok(seen) => {
                assert_eq!(seen.kept.len(), rows.nrows());
                assert!(seed.is_none() || seen.keys.len() == rows.nrows());
                let finite = rows.rows().into_iter().filter(|row| row.iter().all(|x| x.is_finite())).count();
                assert_eq!((moments.rows - before) as usize, finite);
                kept += finite;
            }
            Err(error) => {
                said(&error);
                assert_eq!(moments.rows, before);
            }
        }
    }
    whole.merge(&part).unwrap();
    assert_eq!(whole.rows as usize, kept);
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

/// Rows of a model, with now and then a copy of a column or other units, and their covariance.
fn sample(bytes: &mut Bytes, d: usize) -> Array2<f64> {
    let n = d + 3 + bytes.below(24);
    let (b, order) = (bytes.dag(d), bytes.order(d));
    let mut x = Array2::from_shape_fn((n, d), |_| bytes.tame());
    for _ in 0..d {
        let noise = Array2::from_shape_fn((n, d), |(k, j)| x[[k, order[j]]]);
        x = x.dot(&b) * 0.5 + noise;
    }
    if bytes.once_in(6) {
        let (from, to) = (bytes.below(d), bytes.below(d));
        let copy = &x.column(from) * 3.0;
        x.column_mut(to).assign(&copy);
    }
    for mut column in x.columns_mut() {
        let mean = column.sum() / n as f64;
        column.mapv_inplace(|value| value - mean);
    }
    x
}

fn regression(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let x = sample(bytes, d);
    let mut covariance = x.t().dot(&x) / x.nrows() as f64;
    if bytes.once_in(3) {
        let scales: Vec<f64> = (0..d).map(|_| bytes.scale().sqrt()).collect();
        covariance.indexed_iter_mut().for_each(|((i, j), value)| *value *= scales[i] * scales[j]);
    }
    let (theta, knowledge) = (bytes.theta(d), knowledge(bytes, d));
    let noise = bytes.noise(d).filter(|noise| noise.len() == d);
    let data = Regression {
        covariance: covariance.view(),
        samples: x.nrows(),
        penalty: f64::from(bytes.byte()) / 8.0,
        noise: noise.as_deref().map_or(Noise::Equal, Noise::Known),
        knowledge: &knowledge,
    };
    let arranged = knowledge.arrange(&bytes.order(d).into_iter().map(|i| i as u32).collect::<Vec<_>>());
    let order: Vec<usize> = arranged.into_iter().map(|i| i as usize).collect();
    let interrupt = Interrupt::default();
    let along = regress_along(&data, &theta.view(), Rule::Along(&order), &interrupt);
    let within = regress_within(&data, &order, bytes.sparse(&theta).view(), &interrupt);
    for fit in [along, within] {
        match fit {
            Ok(fit) => {
                assert_acyclic(&fit.b, &fit.order, d);
                assert!(fit.noise_variances.iter().all(|v| *v > 0.0 && v.is_finite()), "{:?}", fit.noise_variances);
                assert!(fit.b.iter().all(|(_, (i, j))| knowledge.allows(i as u32, j as u32)));
            }
            Err(error) => said(&error),
        }
    }
}

/// Required edges along an order, forbidden ones that are not required, and tiers that the order respects.
fn knowledge(bytes: &mut Bytes, d: usize) -> Knowledge {
    if bytes.once_in(2) {
        return Knowledge::none(d);
    }
    let order = bytes.order(d);
    let (mut required, mut forbidden) = (Vec::new(), Vec::new());
    for _ in 0..bytes.below(4) {
        let (a, b) = (bytes.below(d), bytes.below(d));
        if a < b {
            required.push((order[a] as u32, order[b] as u32));
        }
    }
    for _ in 0..bytes.below(4) {
        let edge = (bytes.below(d) as u32, bytes.below(d) as u32);
        if !required.contains(&edge) {
            forbidden.push(edge);
        }
    }
    let width = 1 + bytes.below(d);
    let mut tiers = vec![None; d];
    for (place, &i) in order.iter().enumerate() {
        tiers[i] = (bytes.below(4) > 0).then_some((place / width) as u32);
    }
    Knowledge::new(&required, &forbidden, tiers)
}

fn searching(bytes: &mut Bytes) {
    let d = bytes.dim(MOST - 2);
    let x = sample(bytes, d);
    let n = x.nrows() as f64;
    let mut values = x.t().as_standard_layout().into_owned();
    for mut row in values.rows_mut() {
        let size = (row.dot(&row) / n).sqrt();
        if size == 0.0 {
            return;
        }
        row.mapv_inplace(|value| value / size);
    }
    let mut correlation = values.dot(&values.t()) / n;
    correlation.diag_mut().fill(1.0);
    // Whoever calls has inverted the covariance, so that it is not singular.
    if eliminate_dense(&correlation.view(), Rule::SmallestPivot { noise_variances: None }, 0.0, &Interrupt::default())
        .is_err()
    {
        return;
    }
    let knowledge = knowledge(bytes, d);
    let mut joined = Array2::from_elem((d, d), false);
    for i in 0..d {
        for j in 0..i {
            let both =
                bytes.below(3) > 0 || knowledge.requires(i as u32, j as u32) || knowledge.requires(j as u32, i as u32);
            (joined[[i, j]], joined[[j, i]]) = (both, both);
        }
    }
    let candidates: Vec<Vec<u32>> =
        (0..d).map(|i| (0..d as u32).filter(|&j| joined[[i, j as usize]]).collect()).collect();
    let starts: Vec<Vec<u32>> = (0..1 + bytes.below(2))
        .map(|_| knowledge.arrange(&bytes.order(d).into_iter().map(|i| i as u32).collect::<Vec<_>>()))
        .collect();
    let evidence = Evidence {
        correlation: correlation.view(),
        values: bytes.once_in(3).then_some(values.view()),
        samples: n * if bytes.once_in(4) { 1e6 } else { 1.0 },
        penalty: f64::from(bytes.byte()) / 16.0,
        noise: if bytes.once_in(4) { NoiseModel::Known(bytes.variances(d)) } else { NoiseModel::Unequal },
        knowledge: &knowledge,
    };
    let budget = Budget { trials: bytes.below(6), time: None, seed: bytes.word() };
    let found = search(&evidence, &candidates, &starts, budget, &Interrupt::default()).unwrap();
    assert!(found.score.is_finite() && is_order(&found.order, d), "{found:?}");
    let mut place = vec![0; d];
    for (k, &i) in found.order.iter().enumerate() {
        place[i] = k;
    }
    for (effect, causes) in found.causes.iter().enumerate() {
        for &cause in causes {
            assert!(place[cause] < place[effect], "{cause} -> {effect} against {:?}", found.order);
            assert!(knowledge.allows(cause as u32, effect as u32));
        }
        let required = knowledge.causes(effect as u32);
        assert!(
            required.iter().all(|&cause| causes.contains(&(cause as usize))),
            "{effect}: {required:?}, not {causes:?}"
        );
    }
}

/// Reversing an edge whose ends have the same other causes leaves the class as it is (Chickering 1995).
fn equivalence(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let known = knowledge(bytes, d);
    let order: Vec<u32> = bytes.order(d).into_iter().map(|i| i as u32).collect();
    let arranged = known.arrange(&order);
    let place = |i: u32| arranged.iter().position(|&j| j == i).unwrap();
    assert!(is_order(&arranged.iter().map(|&i| i as usize).collect::<Vec<_>>(), d));
    assert!((0..d as u32).all(|effect| known.causes(effect).iter().all(|&cause| place(cause) < place(effect))));

    let b = bytes.dag(d).mapv(|weight| f64::from(weight != 0.0));
    let class = class_of(&b);
    for ((i, j), &edge) in b.indexed_iter() {
        if edge == 0.0 {
            assert!(b[[j, i]] != 0.0 || class[[i, j]] == 0.0);
            continue;
        }
        assert!(class[[i, j]] != 0.0);
        let covered = (0..d).all(|k| k == i || b[[k, j]] == b[[k, i]]);
        if covered {
            let mut other = b.clone();
            (other[[i, j]], other[[j, i]]) = (0.0, 1.0);
            assert_eq!(class_of(&other), class);
            assert!(class[[j, i]] != 0.0);
        }
    }
}

fn class_of(graph: &Array2<f64>) -> Array2<f64> {
    let mut triplets = sprs::TriMat::new(graph.dim());
    for ((i, j), &edge) in graph.indexed_iter() {
        if edge != 0.0 {
            triplets.add_triplet(i, j, edge);
        }
    }
    let graph: CsMat<f64> = triplets.to_csr();
    let projection = heaviest_acyclic(graph.view()).unwrap();
    assert_eq!(projection.graph.nnz(), graph.nnz());
    equivalence_class(graph.view(), &projection.order).to_dense()
}
