//! Variables that are blocks of columns, as a category is of indicators.

use crate::algebra::check::check_parameter;
use crate::error::IcidError;
use std::ops::Range;

/// The columns of each variable: variable i has those from `offsets[i]` up to `offsets[i + 1]`.
///
/// # Examples
/// ```
/// use icid_rs::Blocks;
///
/// // A number, a category of three levels, and another number.
/// let blocks = Blocks::new(&[0, 1, 3, 4])?;
/// assert_eq!((blocks.len(), blocks.columns(), blocks.range(1)), (3, 4, 1..3));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    offsets: Vec<u32>,
}

impl Blocks {
    /// Take over where each variable begins, and the number of columns.
    ///
    /// # Errors
    /// When there is no variable, the first does not begin at 0, or one has no columns.
    pub fn new(offsets: &[usize]) -> Result<Self, IcidError> {
        let requirement = "the first column of each variable, ascending from 0, and the number of columns";
        let is_good = |pair: &[usize]| pair[0] < pair[1] && pair[1] < 1 << 31;
        let fault = offsets.windows(2).find(|pair| !is_good(pair)).map(|pair| pair[1]);
        let fault = fault.or(offsets.first().copied().filter(|&first| first != 0 || offsets.len() < 2));
        check_parameter("offsets", fault.unwrap_or(0) as f64, fault.is_none() && !offsets.is_empty(), requirement)?;
        Ok(Self { offsets: offsets.iter().map(|&offset| offset as u32).collect() })
    }

    /// From the number of columns of each variable, each at least 1.
    pub(crate) fn of_widths(widths: impl IntoIterator<Item = usize>) -> Self {
        let mut offsets = vec![0];
        for width in widths {
            offsets.push(offsets[offsets.len() - 1] + width as u32);
        }
        Self { offsets }
    }

    /// Number of variables.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // There is at least one.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.offsets[self.len()] as usize
    }

    /// The columns of a variable.
    ///
    /// # Panics
    /// If there is no such variable.
    #[must_use]
    pub fn range(&self, variable: usize) -> Range<usize> {
        self.offsets[variable] as usize..self.offsets[variable + 1] as usize
    }

    /// The number of columns of a variable.
    ///
    /// # Panics
    /// If there is no such variable.
    #[must_use]
    pub fn width(&self, variable: usize) -> usize {
        self.range(variable).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named() {
        for offsets in [&[][..], &[0], &[1, 2], &[0, 0], &[0, 2, 2], &[0, 3, 1]] {
            assert!(matches!(Blocks::new(offsets), Err(IcidError::Parameter { .. })), "{offsets:?}");
        }
    }

    #[test]
    fn widths_and_offsets_agree() {
        let blocks = Blocks::of_widths([2, 1, 3]);
        assert_eq!(Some(blocks.clone()), Blocks::new(&[0, 2, 3, 6]).ok());
        assert_eq!((0..3).map(|i| blocks.width(i)).collect::<Vec<_>>(), [2, 1, 3]);
    }
}
