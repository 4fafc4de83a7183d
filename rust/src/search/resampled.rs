//! The equivalence classes of resamples of a table's rows.
//!
//! Each search starts from the order that was found for the whole table, so that most of them need a single descent. With
//! few variables the best graph of each resample is computed.

use super::exact::{Cost, exact};
use super::options::Budget;
use super::prepared::Prepared;
use super::searcher::Searcher;
use super::{Evidence, search};
use crate::algebra::check::check_length;
use crate::algebra::csr::from_entries;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::moments::{Missing, Moments};
use crate::order::equivalence_class;
use crate::score::{Noise, Score};
use crate::support::renumbered_correlations;
use ndarray::ArrayView2;
use rayon::prelude::*;
use sprs::CsMat;
use std::collections::HashMap;

/// The best graph of a resample is computed if that takes at most so many operations, a few milliseconds.
const EXACT_OPERATIONS: f64 = 2e7;

/// How often the classes of resamples join two variables, and in which direction.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resampled {
    /// `[i, j]`, and the same `[j, i]`: how many classes join the two.
    pub joined: CsMat<f64>,
    /// `[i, j]`: in how many classes i → j is compelled.
    pub compelled: CsMat<f64>,
}

impl Searcher<'_> {
    /// Find the equivalence class of each resample of the rows, with Gaussian residuals, and count their edges.
    ///
    /// `rows` are those of the table, and `counts` says how often each of them comes in each resample. Searches start from
    /// `order`, causes first, and make at most the trials of the budget each.
    ///
    /// # Examples
    /// ```
    /// use icid_rs::search::{Budget, Searcher};
    /// use icid_rs::{Interrupt, Knowledge};
    /// use ndarray::Array2;
    /// use sprs::CsMat;
    ///
    /// // Two variables that are nearly the same.
    /// let rows = Array2::from_shape_fn((100, 2), |(k, j)| (k % 10) as f64 + (k % (j + 3)) as f64 / 5.0);
    /// let centred = &rows - &rows.mean_axis(ndarray::Axis(0)).unwrap();
    /// let covariance = centred.t().dot(&centred) / 100.0;
    /// let (theta, knowledge) = (CsMat::eye(2), Knowledge::none(2));
    /// let searcher = Searcher::new(covariance.view(), theta.view(), None, 100, &knowledge)?;
    /// let (once, budget) = (Array2::from_elem((3, 100), 1), Budget::for_variables(2));
    /// let found = searcher.search_resamples(rows.view(), once.view(), &[0, 1], 10.0, budget, &Interrupt::default())?;
    /// assert_eq!((found.joined.get(0, 1), found.compelled.nnz()), (Some(&3.0), 0));
    /// # Ok::<(), icid_rs::IcidError>(())
    /// ```
    ///
    /// # Errors
    /// When sizes do not fit together, or an entry is not finite; when a column of a resample is constant; when the order is
    /// not one of the variables; or when interrupted.
    pub fn search_resamples(
        &self,
        rows: ArrayView2<f64>,
        counts: ArrayView2<u16>,
        order: &[usize],
        penalty: f64,
        budget: Budget,
        interrupt: &Interrupt,
    ) -> Result<Resampled, IcidError> {
        check_length("counts", counts.ncols(), rows.nrows())?;
        let Prepared { names, numbers, knowledge, candidates, .. } = self.prepared()?;
        check_length("a row", rows.ncols(), names.len())?;
        let start: Vec<u32> = self.knowledge.arrange(order)?.into_iter().map(|i| numbers[i]).collect();
        let score = Score::new(self.samples as f64, penalty, Noise::Unequal)?;
        let is_exact = Cost::new(knowledge, None).operations <= EXACT_OPERATIONS;
        let class = |counts: ndarray::ArrayView1<u16>| {
            let weights: Vec<f64> = counts.iter().map(|&count| f64::from(count)).collect();
            let mut moments = Moments::new(names.len(), false)?;
            moments.update(&rows, Some(&weights), Missing::Refuse, None, interrupt)?;
            let correlation = renumbered_correlations(moments.covariance()?.view(), names)?;
            drop(moments);
            let evidence = Evidence::new(correlation.view(), score, knowledge)?;
            let (order, causes) = if is_exact {
                let found = exact(&evidence, false, interrupt)?;
                (found.order, found.causes)
            } else {
                let found = search(&evidence, candidates, std::slice::from_ref(&start), budget, interrupt)?;
                (found.order, found.causes)
            };
            let edges = || causes.iter().enumerate().flat_map(|(j, list)| list.iter().map(move |&i| (i, j, 1.0)));
            equivalence_class(from_entries(correlation.dim(), edges).view(), &order)
        };
        let classes: Vec<CsMat<f64>> =
            counts.rows().into_iter().collect::<Vec<_>>().into_par_iter().map(class).collect::<Result<_, _>>()?;
        let (mut joined, mut compelled) = (HashMap::new(), HashMap::new());
        for class in &classes {
            for (_, (i, j)) in class {
                let (one, two) = (names[i] as usize, names[j] as usize);
                let is_reversible = class.get(j, i).is_some();
                *joined.entry((one, two)).or_insert(0.0) += 1.0;
                if !is_reversible {
                    *joined.entry((two, one)).or_insert(0.0) += 1.0;
                    *compelled.entry((one, two)).or_insert(0.0) += 1.0;
                }
            }
        }
        let d = names.len();
        let matrix = |counts: &HashMap<(usize, usize), f64>| {
            from_entries((d, d), || counts.iter().map(|(&(i, j), &count)| (i, j, count)))
        };
        Ok(Resampled { joined: matrix(&joined), compelled: matrix(&compelled) })
    }
}
