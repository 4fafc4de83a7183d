//! Fitting and searching with what is known of the edges, and what a graph is equivalent to.

use crate::inputs::Bytes;
use crate::targets::{assert_acyclic, is_order, said};
use icid_rs::order::{
    Regression, Rule, eliminate_dense, equivalence_class, heaviest_acyclic, regress_along, regress_within,
};
use icid_rs::score::{Noise, Score};
use icid_rs::search::{Budget, Evidence, search};
use icid_rs::{Interrupt, Knowledge};
use ndarray::Array2;
use sprs::CsMat;

/// Variables at most.
const MOST: usize = 8;

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

pub fn regression(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let x = sample(bytes, d);
    let mut covariance = x.t().dot(&x) / x.nrows() as f64;
    if bytes.once_in(3) {
        let scales: Vec<f64> = (0..d).map(|_| bytes.scale().sqrt()).collect();
        covariance.indexed_iter_mut().for_each(|((i, j), value)| *value *= scales[i] * scales[j]);
    }
    let (theta, knowledge) = (bytes.theta(d), knowledge(bytes, d));
    let noise = bytes.noise(d).filter(|noise| noise.len() == d);
    let noise = noise.as_deref().map_or(Noise::Equal, Noise::Known);
    let score = match Score::new(x.nrows() as f64, f64::from(bytes.byte()) / 8.0, noise) {
        Ok(score) => score,
        Err(error) => return said(&error),
    };
    let data = match Regression::new(covariance.view(), score, &knowledge) {
        Ok(data) => data,
        Err(error) => return said(&error),
    };
    let order = knowledge.arrange(&bytes.order(d)).unwrap();
    let interrupt = Interrupt::default();
    let along = regress_along(&data, &theta.view(), Rule::Along(&order), &interrupt);
    let within = regress_within(&data, &order, bytes.sparse(&theta).view(), &interrupt);
    for fit in [along, within] {
        match fit {
            Ok(fit) => {
                let sem = fit.sem;
                assert_acyclic(&sem.b, &sem.order, d);
                assert!(sem.noise_variances.iter().all(|v| *v > 0.0 && v.is_finite()), "{:?}", sem.noise_variances);
                assert!(sem.b.iter().all(|(_, (i, j))| knowledge.allows(i as u32, j as u32)));
            }
            Err(error) => said(&error),
        }
    }
}

/// Required edges along an order, forbidden ones that are not required, and tiers that the order respects.
pub fn knowledge(bytes: &mut Bytes, d: usize) -> Knowledge {
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
        if edge.0 != edge.1 && !required.contains(&edge) {
            forbidden.push(edge);
        }
    }
    let width = 1 + bytes.below(d);
    let mut tiers = vec![None; d];
    for (place, &i) in order.iter().enumerate() {
        tiers[i] = (bytes.below(4) > 0).then_some((place / width) as u32);
    }
    Knowledge::new(&required, &forbidden, tiers).unwrap()
}

pub fn searching(bytes: &mut Bytes) {
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
    let starts: Vec<Vec<u32>> = (0..=bytes.below(2))
        .map(|_| knowledge.arrange(&bytes.order(d)).unwrap().into_iter().map(|i| i as u32).collect())
        .collect();
    let shaped = bytes.once_in(3);
    let samples = n * if bytes.once_in(4) { 1e6 } else { 1.0 };
    let penalty = f64::from(bytes.byte()) / 16.0;
    let known = bytes.once_in(4).then(|| bytes.variances(d));
    let score = match Score::new(samples, penalty, known.as_deref().map_or(Noise::Unequal, Noise::Known)) {
        Ok(score) => score,
        Err(error) => return said(&error),
    };
    let mut evidence = Evidence::new(correlation.view(), score, &knowledge).unwrap();
    if shaped {
        evidence = evidence.with_values(values.view()).unwrap();
    }
    let budget = Budget { trials: bytes.below(6), patience: 1 + bytes.below(6), time: None, seed: bytes.word() };
    let found = search(&evidence, &candidates, &starts, budget, &Interrupt::default()).unwrap();
    assert!(found.report.score.is_finite() && is_order(&found.order, d), "{found:?}");
    let mut place = vec![0; d];
    for (k, &i) in found.order.iter().enumerate() {
        place[i] = k;
    }
    for (effect, causes) in found.causes.iter().enumerate() {
        for &cause in causes {
            assert!(place[cause] < place[effect], "{cause} -> {effect} against {:?}", found.order);
            assert!(knowledge.allows(cause as u32, effect as u32));
        }
        let required = knowledge.required_parents(effect as u32);
        assert!(
            required.iter().all(|&cause| causes.contains(&(cause as usize))),
            "{effect}: {required:?}, not {causes:?}"
        );
    }
}

/// Reversing an edge whose ends have the same other causes leaves the class as it is (Chickering 1995).
pub fn equivalence(bytes: &mut Bytes) {
    let d = bytes.dim(MOST);
    let known = knowledge(bytes, d);
    let arranged = known.arrange(&bytes.order(d)).unwrap();
    let place = |i: u32| arranged.iter().position(|&j| j == i as usize).unwrap();
    assert!(is_order(&arranged, d));
    assert!(
        (0..d as u32).all(|effect| known.required_parents(effect).iter().all(|&cause| place(cause) < place(effect)))
    );

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
    equivalence_class(graph.view(), &projection.order).unwrap().to_dense()
}
