//! Moments of a stream of rows: number, means, covariance and, if asked for, `E[x_i² x_j]`.
//!
//! These are sufficient for the method and can be merged: rows may come in chunks, from several files or several machines. Every block of rows is centred at its own mean, and blocks are joined by the pairwise formulas of
//! Chan, Golub and `LeVeque` (1979), and of Pébay (2008) for third moments, so that no digits are lost where means are
//! large and deviations small. Means are kept as differences from a first row: the difference of two means is then exact.
//!
//! | module | what it holds |
//! |---|---|
//! | `blocks` | how rows are divided into blocks |
//! | `incomplete` | expectations of missing values |
//! | `scan` | the first pass over a block: finiteness, sums, a hash of each row |
//! | `packing` | centred rows in the layout that the products read |
//! | `product` | products of packed rows, which fill tiles |
//! | `tiles` | matrices in tiles, and how they are merged |
//!
//! Blocks depend on the number of columns and rows alone, so that results are the same to the bit for any number of threads.

// Functions that use the widest vector instructions must be inlined where these are enabled.
#![allow(clippy::inline_always)]

mod blocks;
mod incomplete;
mod packing;
mod product;
mod scan;
mod tiles;

use crate::algebra::check::{check_finite, check_not_empty, check_not_negative, check_positive, check_size};
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::memory::ensure_room;
use ndarray::{Array2, ArrayView2, Axis, aview1, s};
use packing::{DEPTH, Packed};
use pulp::Arch;
use rayon::prelude::*;
use scan::Scan;
use tiles::{Shape, Tiles};

pub use incomplete::{Expected, expectations};
pub use scan::Value;

/// How rows with NaN or infinite entries are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The chunk is refused with an error.
    Refuse,
    /// They are left out.
    Drop,
}

/// Weighted sums about the mean, of any number of rows.
///
/// # Examples
/// ```
/// use icid_rs::Interrupt;
/// use icid_rs::moments::{Missing, Moments};
/// use ndarray::array;
///
/// let mut moments = Moments::new(2, false)?;
/// for chunk in [array![[1.0, 0.0], [3.0, 0.0]], array![[1.0, 2.0], [3.0, 2.0]]] {
///     moments.update(&chunk.view(), None, Missing::Refuse, None, &Interrupt::default())?;
/// }
/// assert_eq!(moments.covariance()?, array![[1.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Moments {
    /// Number of rows.
    pub(crate) rows: u64,
    /// Sum of the weights W, and of their squares.
    pub(crate) weight: [f64; 2],
    /// The origin that the means are relative to: the first row.
    pub(crate) shift: Vec<f64>,
    /// Means minus the shift.
    pub(crate) mean: Vec<f64>,
    /// `Σ w y_i y_j` with `y = x − mean`.
    second: Tiles,
    /// `Σ w y_i² y_j`.
    third: Option<Tiles>,
}

/// Which rows an update used.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Seen {
    /// A hash of each row and the seed, if there was one.
    pub keys: Vec<u64>,
    /// Which rows count: finite, of positive weight.
    pub kept: Vec<bool>,
}

impl Moments {
    /// Moments of no rows.
    ///
    /// # Errors
    /// [`IcidError::Empty`] without columns; [`IcidError::Memory`] if the sums do not fit.
    pub fn new(columns: usize, third: bool) -> Result<Self, IcidError> {
        check_not_empty("moments", columns)?;
        // Besides these, memory is needed for the sums of a chunk and of the blocks that are computed at once.
        let matrices = 2 + if columns <= blocks::WIDEST_PAIR { 2 } else { 1 };
        let halves = if third { 3 } else { 1 };
        ensure_room::<f64>("moments", matrices * halves * (columns as u128).pow(2) / 2)?;
        Ok(Self {
            rows: 0,
            weight: [0.0; 2],
            shift: vec![0.0; columns],
            mean: vec![0.0; columns],
            second: Tiles::zeros(columns, Shape::Upper),
            third: third.then(|| Tiles::zeros(columns, Shape::Full)),
        })
    }

    /// Moments from their sums; the lower triangle of `second` is not read.
    ///
    /// # Errors
    /// [`IcidError::Size`] if sizes do not fit together, [`IcidError::Negative`] for a sum of weights that is negative or
    /// not finite, or zero though there are rows; [`IcidError::NotFinite`] for other sums; and as [`Moments::new`].
    pub fn from_sums(
        rows: u64,
        weight: [f64; 2],
        shift: Vec<f64>,
        mean: Vec<f64>,
        second: &ArrayView2<f64>,
        third: Option<&ArrayView2<f64>>,
    ) -> Result<Self, IcidError> {
        let d = shift.len();
        let mut moments = Self::new(d, third.is_some())?;
        for found in [mean.len(), second.nrows(), second.ncols()]
            .into_iter()
            .chain(third.iter().flat_map(|third| [third.nrows(), third.ncols()]))
        {
            check_size("sums", found, d)?;
        }
        check_not_negative("weight", &weight)?;
        if rows > 0 {
            check_positive("weight", weight)?;
        }
        for (what, numbers) in [("shift", &shift), ("mean", &mean)] {
            check_finite(what, &aview1(numbers).insert_axis(Axis(0)))?;
        }
        check_finite("second", second)?;
        third.map_or(Ok(()), |third| check_finite("third", third))?;
        moments.second.fill(second);
        if let (Some(tiles), Some(third)) = (&mut moments.third, third) {
            tiles.fill(third);
        }
        Ok(Self { rows, weight, shift, mean, ..moments })
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.shift.len()
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of the weights, and the sum of their squares.
    #[must_use]
    pub fn weight(&self) -> [f64; 2] {
        self.weight
    }

    /// The origin that [`Moments::mean`] is relative to: the first row.
    #[must_use]
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// The means minus the [`Moments::shift`].
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance matrix, with the sum of the weights as its denominator.
    ///
    /// # Errors
    /// [`IcidError::Empty`] without rows.
    pub fn covariance(&self) -> Result<Array2<f64>, IcidError> {
        check_not_empty("moments", self.rows as usize)?;
        Ok(self.second() / self.weight[0])
    }

    /// `Σ w y_i y_j` in full.
    #[must_use]
    pub fn second(&self) -> Array2<f64> {
        self.second.to_matrix()
    }

    /// `Σ w y_i² y_j`, if it was asked for.
    #[must_use]
    pub fn third(&self) -> Option<Array2<f64>> {
        self.third.as_ref().map(Tiles::to_matrix)
    }

    /// Add the rows of a chunk, or none of them if it fails.
    ///
    /// # Errors
    /// [`IcidError::NotFinite`] with the first such entry, unless such rows are dropped; [`IcidError::Size`] if the
    /// chunk does not fit; [`IcidError::Negative`] for a weight that is negative or not finite;
    /// [`IcidError::Interrupted`].
    pub fn update<T: Value>(
        &mut self,
        chunk: &ArrayView2<T>,
        weights: Option<&[f64]>,
        missing: Missing,
        seed: Option<u64>,
        interrupt: &Interrupt,
    ) -> Result<Seen, IcidError> {
        let d = self.columns();
        check_size("a row of the chunk", chunk.ncols(), d)?;
        check_size("weights", weights.map_or(chunk.nrows(), <[f64]>::len), chunk.nrows())?;
        check_not_negative("weights", weights.unwrap_or_default())?;

        let mut shift = (self.rows > 0).then(|| self.shift.clone());
        let mut sum: Option<Self> = None;
        let mut seen = Seen::default();
        let (height, at_once) = blocks::cut(chunk.nrows(), d);
        let starts: Vec<usize> = (0..chunk.nrows()).step_by(height).collect();
        let mut buffers: Vec<Packed> = (0..at_once).map(|_| Packed::new(d, self.third.is_some())).collect();
        for starts in starts.chunks(at_once) {
            let shift = &*shift.get_or_insert_with(|| scan::first_row(chunk));
            let blocks: Vec<_> = starts
                .par_iter()
                .zip(&mut buffers)
                .map(|(&start, packed)| {
                    let range = start..(start + height).min(chunk.nrows());
                    let rows = chunk.slice(s![range.clone(), ..]);
                    let weights = weights.map(|w| &w[range]);
                    let scan = Scan::new(&rows, weights, shift, seed);
                    if let (Missing::Refuse, Some((row, column))) = (missing, scan.not_finite) {
                        let value = rows[[row, column]].into();
                        return Err(IcidError::NotFinite { what: "chunk", row: start + row, column, value });
                    }
                    let block = of_block(&rows, weights, shift, &scan, packed, interrupt)?;
                    Ok((scan, block))
                })
                .collect();
            // In the order of the rows, not of the threads.
            for block in blocks {
                let (scan, block) = block?;
                seen.keys.extend(scan.keys);
                seen.kept.extend(scan.kept);
                match &mut sum {
                    Some(sum) => sum.merge(&block)?,
                    None => sum = Some(block),
                }
            }
        }
        match sum {
            Some(sum) if self.rows == 0 && sum.rows > 0 => *self = sum,
            Some(sum) => self.merge(&sum)?,
            None => {}
        }
        Ok(seen)
    }

    /// Add the rows of another.
    ///
    /// # Errors
    /// [`IcidError::Size`] if it has other columns; [`IcidError::Unlike`] if only one has third moments.
    pub fn merge(&mut self, other: &Self) -> Result<(), IcidError> {
        check_size("moments", other.columns(), self.columns())?;
        if self.third.is_some() != other.third.is_some() {
            return Err(IcidError::Unlike);
        }
        if other.rows == 0 {
            return Ok(());
        }
        if self.rows == 0 {
            self.clone_from(other);
            return Ok(());
        }
        let ([a, _], [b, _]) = (self.weight, other.weight);
        let total = a + b;
        // Subtract shifts first: their difference is exact where values are close together and far from zero.
        let gap: Vec<f64> =
            (0..self.columns()).map(|j| (other.shift[j] - self.shift[j]) + (other.mean[j] - self.mean[j])).collect();
        if let (Some(third), Some(more)) = (&mut self.third, &other.third) {
            // Shares of the weight instead of weights, so that nothing overflows.
            let (near, far) = (-b / total, a / total);
            // Rows at the mean of either part: a near² near + b far² far, times the gaps.
            let cubes = a * (b / total) * ((a - b) / total);
            let column: Vec<f64> = (0..gap.len())
                .map(|i| near * self.second.get(i, i) + far * other.second.get(i, i) + cubes * gap[i] * gap[i])
                .collect();
            third.join(more, &column, &gap);
            let twice: Vec<f64> = gap.iter().map(|gap| 2.0 * gap).collect();
            third.add_rows(&twice, (near, &self.second), (far, &other.second));
        }
        let share = a * (b / total);
        let column: Vec<f64> = gap.iter().map(|gap| share * gap).collect();
        self.second.join(&other.second, &column, &gap);
        self.mean.par_iter_mut().zip(&gap).for_each(|(mean, gap)| *mean += gap * (b / total));
        self.rows += other.rows;
        self.weight = [total, self.weight[1] + other.weight[1]];
        Ok(())
    }
}

/// The moments of one block, unless it is interrupted.
fn of_block<T: Value>(
    rows: &ArrayView2<T>,
    weights: Option<&[f64]>,
    shift: &[f64],
    scan: &Scan,
    packed: &mut Packed,
    interrupt: &Interrupt,
) -> Result<Moments, IcidError> {
    let d = rows.ncols();
    let [total, _] = scan.weight;
    let mean: Vec<f64> = scan.sums.iter().map(|sum| if total > 0.0 { sum / total } else { 0.0 }).collect();
    let mut second = Tiles::zeros(d, Shape::Upper);
    let mut third = packed.squared().map(|_| Tiles::zeros(d, Shape::Full));
    let arch = Arch::new();
    for start in (0..rows.nrows()).step_by(DEPTH) {
        interrupt.check()?;
        let end = (start + DEPTH).min(rows.nrows());
        let weights = weights.map(|w| &w[start..end]);
        packed.fill(&rows.slice(s![start..end, ..]), weights, &scan.kept[start..end], shift, &mean);
        let (right, depth) = (packed.centred(), packed.depth());
        let mut products: Vec<_> = second.products(packed.weighted(), right, depth).collect();
        if let (Some(third), Some(left)) = (&mut third, packed.squared()) {
            products.extend(third.products(left, right, depth));
        }
        // One product per task, so that no thread has several left at the end.
        products.into_par_iter().with_max_len(1).for_each(|product| arch.dispatch(product));
    }
    Ok(Moments { rows: scan.rows, weight: scan.weight, shift: shift.to_vec(), mean, second, third })
}
