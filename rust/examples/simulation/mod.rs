//! Random linear models and their samples, reproducible from a seed: for examples, tests and benches.
// Each of them needs a part.
#![allow(dead_code, unused_imports, missing_docs)]

use ndarray::Array2;
use sprs::{CsMat, TriMat};
use std::collections::BTreeSet;

/// The `SplitMix64` generator (Steele, Lea, Flood 2014): small, seedable, good enough for test data.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Uniform on ±[0.5, 2], the paper's weights.
    pub fn weight(&mut self) -> f64 {
        let size = 0.5 + 1.5 * self.uniform();
        if self.bits().is_multiple_of(2) { size } else { -size }
    }

    /// Standard normal, by the method of Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| 2.0 * self.uniform() - 1.0).collect()
    }
}

/// A random DAG on shuffled nodes with about `degree * d` edges.
pub fn random_dag(d: usize, degree: usize, random: &mut Random) -> CsMat<f64> {
    let mut order: Vec<usize> = (0..d).collect();
    for i in (1..d).rev() {
        order.swap(i, random.below(i + 1));
    }
    let mut edges = std::collections::BTreeMap::new();
    for _ in 0..if d > 1 { degree * d } else { 0 } {
        let (i, j) = (random.below(d), random.below(d));
        if i != j {
            edges.insert((order[i.min(j)], order[i.max(j)]), random.weight());
        }
    }
    let mut triplets = TriMat::new((d, d));
    for ((i, j), w) in edges {
        triplets.add_triplet(i, j, w);
    }
    triplets.to_csr()
}

/// `(I − B) Ω⁻¹ (I − B)ᵀ`.
pub fn precision(b: &CsMat<f64>, noise_variances: &[f64]) -> CsMat<f64> {
    let d = b.rows();
    let identity: CsMat<f64> = CsMat::eye(d);
    let a = &identity - b;
    let mut scaled = a.to_csc();
    for (mut column, variance) in scaled.outer_iterator_mut().zip(noise_variances) {
        for (_, value) in column.iter_mut() {
            *value /= variance;
        }
    }
    let scaled = scaled.to_csr();
    let transposed = a.transpose_view().to_csr();
    &scaled * &transposed
}

/// The inverse covariance of a random model with unit noise.
pub fn random_theta(d: usize, degree: usize, seed: u64) -> CsMat<f64> {
    let b = random_dag(d, degree, &mut Random(seed));
    precision(&b, &vec![1.0; d])
}

/// Draw n samples of the model X = X B + E with Gaussian noise of these variances; variables are in the columns.
pub fn sample(b: &CsMat<f64>, noise_variances: &[f64], n: usize, random: &mut Random) -> Array2<f64> {
    let d = b.rows();
    let parents = b.to_csc();
    let mut rows = Array2::zeros((n, d));
    for mut row in rows.rows_mut() {
        let noise: Vec<f64> = noise_variances.iter().map(|variance| variance.sqrt() * random.normal()).collect();
        row.iter_mut().zip(&noise).for_each(|(x, e)| *x = *e);
        // Values are right after as many sweeps as the longest directed path has edges.
        for _ in 0..d {
            let before = row.to_owned();
            for j in 0..d {
                let column = parents.outer_view(j).expect("a column for each variable");
                row[j] = noise[j] + column.iter().map(|(i, weight)| weight * row[i]).sum::<f64>();
            }
            if row == before {
                break;
            }
        }
    }
    rows
}

/// Print the edges of a graph next to the true ones.
pub fn compare(truth: &CsMat<f64>, found: &CsMat<f64>) {
    let edges = |graph: &CsMat<f64>| graph.iter().filter(|(w, _)| **w != 0.0).map(|(_, e)| e).collect::<BTreeSet<_>>();
    let (truth_edges, found_edges) = (edges(truth), edges(found));
    println!("{:>10} {:>8} {:>8}", "edge", "true", "found");
    for &(i, j) in truth_edges.union(&found_edges) {
        let weight = |graph: &CsMat<f64>| graph.get(i, j).map_or("-".to_owned(), |w| format!("{w:.2}"));
        println!("{:>10} {:>8} {:>8}", format!("{i} -> {j}"), weight(truth), weight(found));
    }
    let both = truth_edges.intersection(&found_edges).count();
    println!("{both} of {} true edges found, {} false ones", truth_edges.len(), found_edges.len() - both);
}
