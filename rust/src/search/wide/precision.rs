//! Θ of so many variables that nothing of size d × d is stored: that of a graph found by a search.

use super::missing::missing_pairs;
use super::pivots::smallest_pivots;
use super::searcher::WideSearcher;
use super::sparse::Sparse;
use super::table::WideTable;
use crate::algebra::check::{check_length, check_positive};
use crate::algebra::csr::from_entries;
use crate::algebra::hash::Random;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::knowledge::Knowledge;
use crate::memory::ensure_room;
use crate::neighbours::{Standardised, correlations, lasso_level};
use crate::score::{Noise, Score, edge_penalty};
use crate::search::{Budget, Scoring, SearchOptions};
use crate::sem::LinearSem;
use ndarray::s;
use rayon::prelude::*;
use sprs::{CsMat, CsMatView};
use std::time::{Duration, Instant};

/// Rounds of looking for missing parents, at most. In each, only variables whose parents have changed are checked.
const ROUNDS: usize = 4;
/// Approximate number of variables from whose correlations the number of all correlations above the cut is estimated.
const FEW: usize = 256;
/// Bytes that one correlation takes while it is found, sorted and returned.
type Room = [u8; 48];
/// Columns of a product that are computed at a time.
const BLOCK: usize = 1024;

/// An estimate of Θ by [`wide_precision`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WidePrecision {
    /// The inverse covariance in the units of the data, exactly symmetric.
    pub theta: CsMat<f64>,
    /// Correlations above `√(log d / n)`: both entries of each pair, without the diagonal.
    pub correlations: CsMat<f64>,
    /// The graph behind Θ, in the units of the data.
    pub sem: LinearSem,
    /// Time spent on the correlations.
    pub correlation_time: Duration,
    /// Time spent on candidates and the correlations between them.
    pub candidate_time: Duration,
    /// Time spent on the graph.
    pub fit_time: Duration,
}

/// Estimate Θ from sparse correlations and a graph B with noise variances Ω: `Θ = (I − B) Ω⁻¹ (I − B)ᵀ`.
///
/// The graph is found by descents from the smallest pivots and from a random order, and trials from the better one. `data` holds the standardised variables, `variances` their
/// variances before.
///
/// # Errors
/// [`IcidError::Samples`] with fewer than five samples; [`IcidError::Length`] or [`IcidError::Positive`] for the variances;
/// [`IcidError::Copies`] if two variables are the same up to scale; [`IcidError::Memory`] if there will be more
/// correlations above the cut than fit, extrapolated from those of some variables; [`IcidError::Interrupted`].
pub fn wide_precision(
    data: Standardised,
    variances: &[f64],
    samples: usize,
    interrupt: &Interrupt,
) -> Result<WidePrecision, IcidError> {
    let begin = Instant::now();
    let d = data.variables();
    crate::neighbours::check_samples(samples)?;
    check_length("variances", variances.len(), d)?;
    check_positive("variances", variances.iter().copied())?;
    let cut = lasso_level(samples, d);
    ensure_room::<Room>("the correlations above the cut", expected_correlations(data, cut))?;
    let correlations = correlations(data, cut, interrupt)?;
    if let Some((_, (first, second))) = correlations.iter().find(|(r, _)| r.abs() > crate::neighbours::SAME) {
        return Err(IcidError::Copies { first, second });
    }
    let correlation_time = begin.elapsed();
    let none = CsMat::zero((d, d));
    let mut table = WideTable::new(data, correlations.view(), none.view(), samples, interrupt)?;
    let candidate_time = begin.elapsed().saturating_sub(correlation_time);

    let knowledge = Knowledge::none(d);
    let descent = Budget { trials: 0, patience: 0, time: None, seed: 0 };
    let penalty = edge_penalty(samples as f64, d);
    let score = Score::new(samples as f64, penalty, Noise::Unequal)?;
    let search = |table: &WideTable, starts: &[Vec<usize>], budget: Budget| {
        let options = SearchOptions::new(penalty, Scoring::new(Noise::Unequal), budget);
        let searcher = WideSearcher::new(data, variances, table, samples, &knowledge)?;
        Ok::<_, IcidError>(searcher.search(starts, &options, interrupt)?.sem)
    };
    let pivots = smallest_pivots(Sparse::new(data.reborrow(), &table), &table.candidates, &score, interrupt)?;
    let starts = [table.by_name(&pivots), table.random_order(&mut Random::new(0))];
    let mut sem = search(&table, &starts, descent)?;
    let mut causes = table.causes(&sem);
    let mut unchecked: Vec<u32> = (0..d as u32).collect();
    let mut further = Vec::new();
    for _ in 0..ROUNDS {
        let missing = missing_pairs(data, &table, &causes, &unchecked, &score, interrupt)?;
        if missing.is_empty() {
            break;
        }
        further.extend(missing);
        further.sort_unstable();
        further.dedup();
        let pattern = from_entries((d, d), || further.iter().map(|&(i, j)| (i, j, 1.0)));
        table = WideTable::new(data, correlations.view(), pattern.view(), samples, interrupt)?;
        sem = search(&table, &[sem.order], descent)?;
        let before = std::mem::replace(&mut causes, table.causes(&sem));
        unchecked = (0..d as u32).filter(|&i| causes[i as usize] != before[i as usize]).collect();
    }
    // A descent leaves some edges wrong way round, and others that make up for them.
    sem = search(&table, &[sem.order], Budget::for_variables(d))?;
    let theta = precision(&sem);
    let fit_time = begin.elapsed().saturating_sub(correlation_time + candidate_time);
    Ok(WidePrecision { theta, correlations, sem, correlation_time, candidate_time, fit_time })
}

impl WideTable {
    /// The causes of each variable in a graph of the caller's variables.
    fn causes(&self, sem: &LinearSem) -> Vec<Vec<u32>> {
        let parents = sem.b.to_csc();
        let causes = |&name: &u32| {
            let column = parents.outer_view(name as usize);
            let numbers = column.iter().flat_map(|column| column.iter()).map(|(cause, _)| self.numbers[cause]);
            let mut numbers: Vec<u32> = numbers.collect();
            numbers.sort_unstable();
            numbers
        };
        self.names.iter().map(causes).collect()
    }

    fn by_name(&self, order: &[u32]) -> Vec<usize> {
        order.iter().map(|&i| self.names[i as usize] as usize).collect()
    }

    /// A random order of the variables, in the caller's numbers.
    fn random_order(&self, random: &mut Random) -> Vec<usize> {
        let mut order: Vec<usize> = self.names.iter().map(|&i| i as usize).collect();
        for k in (1..order.len()).rev() {
            order.swap(k, random.below(k + 1));
        }
        order
    }
}

/// Estimated number of correlations above a cut, diagonal included, from those of a few variables with all others.
fn expected_correlations(data: Standardised, cut: f64) -> u128 {
    let values = data.values();
    let d = data.variables();
    let few = values.slice(s![..;(d / FEW).max(1), ..]);
    let above = |start: usize| {
        let products = few.dot(&values.slice(s![start..(start + BLOCK).min(d), ..]).t());
        products.iter().filter(|r| r.abs() > cut).count()
    };
    let found: usize = (0..d).into_par_iter().step_by(BLOCK).map(above).sum();
    found as u128 * d as u128 / few.nrows() as u128
}

/// `(I − B) Ω⁻¹ (I − B)ᵀ`, exactly symmetric and without zeros.
fn precision(sem: &LinearSem) -> CsMat<f64> {
    let d = sem.dim();
    let identity: CsMat<f64> = CsMat::eye(d);
    let rows = &identity - &sem.b;
    let columns = rows.transpose_view().to_csr();
    // Entries of the lower triangle: the products of a column's entries, divided by its noise variance, are summed over
    // the columns.
    let lower = lower_triangle(rows.view(), columns.view(), &sem.noise_variances);
    let entries =
        || lower.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&(j, value)| (i, j as usize, value)));
    let mirrored = || entries().filter(|&(i, j, _)| j < i).map(|(i, j, value)| (j, i, value));
    from_entries((d, d), || entries().chain(mirrored()))
}

fn lower_triangle(rows: CsMatView<f64>, columns: CsMatView<f64>, noise_variances: &[f64]) -> Vec<Vec<(u32, f64)>> {
    let d = rows.rows();
    let row = |i: usize, (sums, touched): &mut (Vec<f64>, Vec<u32>)| {
        for (k, entry) in rows.outer_view(i).iter().flat_map(|row| row.iter()) {
            let weighted = entry / noise_variances[k];
            for (j, other) in columns.outer_view(k).iter().flat_map(|column| column.iter()).filter(|&(j, _)| j <= i) {
                touched.push(j as u32);
                sums[j] += weighted * other;
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let found = touched.drain(..).map(|j| (j, std::mem::take(&mut sums[j as usize])));
        found.filter(|&(_, value)| value != 0.0).collect()
    };
    (0..d).into_par_iter().map_init(|| (vec![0.0; d], Vec::new()), |sums, i| row(i, sums)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::standardise;
    use ndarray::Array2;

    #[test]
    fn with_few_variables_the_expected_number_of_correlations_is_exact() {
        let (values, _) =
            standardise(Array2::from_shape_fn((120, 80), |(i, k)| ((i * i + 7 * k * k) % 31) as f64)).unwrap();
        let data = Standardised::new(&values.view()).unwrap();
        let found = correlations(data, 0.2, &Interrupt::default()).unwrap();
        assert!(found.nnz() > 0);
        assert_eq!(expected_correlations(data, 0.2), (found.nnz() + 120) as u128);
    }
}
