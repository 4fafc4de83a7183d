//! What an exact optimum costs.

use super::limits::Limits;
use crate::knowledge::Knowledge;
use crate::score::Sums;

/// Operations for each variable and each set of parents: regression, logarithm, best parents, best order and margins.
/// Most of that is access to memory, counted as the operations that take as long.
const PER_ENTRY: f64 = 400.0;
/// Operations for each row, each variable and each set of its parents: residual and powers.
const PER_ROW: f64 = 7.0;
/// Tables with an entry for each variable and each set of parents.
pub(super) const TABLES: usize = 3;
/// Half a second on one core of the machine of `benches/exact.py`.
const CHEAP_OPERATIONS: f64 = 5e9;
const CHEAP_BYTES: f64 = 268_435_456.0;

/// About what [`exact`](super::exact) costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Floating-point operations, of which a core makes about 10¹⁰ a second.
    pub operations: f64,
    /// Bytes of memory.
    pub bytes: f64,
}

impl Cost {
    /// Estimate the cost for the variables that some knowledge is about, and the number of rows if the shape of their
    /// residuals counts.
    ///
    /// # Examples
    /// ```
    /// use icid_rs::Knowledge;
    /// use icid_rs::search::Cost;
    ///
    /// assert!(Cost::new(&Knowledge::none(12), None).is_cheap());
    /// assert!(Cost::new(&Knowledge::none(12), Some(10_000)).is_cheap());
    /// assert!(!Cost::new(&Knowledge::none(15), Some(10_000)).is_cheap());
    /// assert!(!Cost::new(&Knowledge::none(100), None).is_cheap());
    /// ```
    #[must_use]
    pub fn new(knowledge: &Knowledge, rows: Option<usize>) -> Self {
        let d = knowledge.dim();
        let entries = d as f64 * (d as f64).exp2();
        let shaped = rows.filter(|_| d <= super::MOST_VARIABLES);
        let with_shapes = shaped.map_or(0.0, |rows| {
            // Residuals of a parent are needed whether or not its own parents are permitted: one a set, on average.
            let pairs = Limits::new(knowledge, f64::INFINITY).pairs() + (d as f64).exp2();
            PER_ROW * rows as f64 * pairs
        });
        let bytes_per_entry = TABLES * size_of::<f64>() + shaped.map_or(0, |_| size_of::<Sums>());
        Self { operations: PER_ENTRY * entries + with_shapes, bytes: bytes_per_entry as f64 * entries }
    }

    /// Whether it takes less than about half a second and 256 megabytes: with Gaussian residuals up to 19 variables, with
    /// shapes up to 16 at 1000 rows and 13 at 10 000. Margins under equal noise variances are not counted: they take 20 to 100
    /// times as long as the rest of a Gaussian optimum.
    #[must_use]
    pub fn is_cheap(&self) -> bool {
        self.operations <= CHEAP_OPERATIONS && self.bytes <= CHEAP_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheap_is_what_the_documentation_says() {
        let is_cheap = |d: usize, rows| Cost::new(&Knowledge::none(d), rows).is_cheap();
        for (rows, most) in [(None, 19), (Some(1000), 16), (Some(10_000), 13)] {
            assert!(is_cheap(most, rows) && !is_cheap(most + 1, rows));
        }
        assert!(!is_cheap(5000, None) && !is_cheap(5000, Some(1000)));
    }

    #[test]
    fn knowledge_saves_passes_over_the_rows() {
        let tiers = (0..14).map(Some).collect();
        let (free, ordered) = (Knowledge::none(14), Knowledge::new(&[], &[], tiers).unwrap());
        let [free, ordered] = [free, ordered].map(|knowledge| Cost::new(&knowledge, Some(10_000)));
        assert!(!free.is_cheap() && ordered.is_cheap() && free.bytes == ordered.bytes);
    }
}
