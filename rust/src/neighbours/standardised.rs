//! Standardised data: variables in rows, so that inner products are correlations.

use crate::algebra::check::{check_finite, check_not_empty};
use crate::error::IcidError;
use ndarray::{Array2, ArrayView2};

const WHAT: &str = "the table of standardised variables";
/// A row with a larger squared length is not standardised. A smaller one may be: a ridge added to the variances makes
/// rows shorter.
const TOO_LONG: f64 = 1.001;

/// Variables in rows, centred and of length one, so that inner products are correlations.
///
/// [`standardise`] returns such rows. Where samples are not at hand, a root of the correlation matrix has the same inner
/// products and serves as well.
#[derive(Debug, Clone, Copy)]
pub struct Standardised<'a>(pub(super) ArrayView2<'a, f64>);

impl<'a> Standardised<'a> {
    /// Borrow rows that are stored one after another.
    ///
    /// # Errors
    /// [`IcidError::Empty`] without rows or columns, [`IcidError::NotByRows`] for another layout,
    /// [`IcidError::NotFinite`], and [`IcidError::NotStandardised`] for a row that is zero or longer than one.
    pub fn new(values: &ArrayView2<'a, f64>) -> Result<Self, IcidError> {
        check_not_empty(WHAT, values.len())?;
        if !values.is_standard_layout() {
            return Err(IcidError::NotByRows { what: WHAT });
        }
        for (row, values) in values.rows().into_iter().enumerate() {
            if let Some((column, &value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
                return Err(IcidError::NotFinite { what: WHAT, row, column, value });
            }
            let square: f64 = values.iter().map(|value| value * value).sum();
            if square == 0.0 || square > TOO_LONG {
                return Err(IcidError::NotStandardised { row, length: square.sqrt() });
            }
        }
        Ok(Self(*values))
    }

    /// Number of variables d.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.0.nrows()
    }

    /// The same for a shorter time: views of arrays are not shortened implicitly.
    pub(crate) fn reborrow<'b>(self) -> Standardised<'b>
    where
        'a: 'b,
    {
        Standardised(self.0.reborrow())
    }

    pub(crate) fn values(&self) -> ArrayView2<'a, f64> {
        self.0
    }

    /// Number of samples, or of columns of a root.
    pub(crate) fn samples(&self) -> usize {
        self.0.ncols()
    }

    pub(crate) fn of(&self, variable: u32) -> &'a [f64] {
        let width = self.0.ncols();
        let start = variable as usize * width;
        &self.0.to_slice().expect("the layout was checked")[start..start + width]
    }

    pub(crate) fn correlation(&self, i: u32, j: u32) -> f64 {
        dot(self.of(i), self.of(j))
    }

    /// Write the residual of a variable, given others and their weights.
    pub(crate) fn residual(&self, variable: u32, others: impl Iterator<Item = (u32, f64)>, out: &mut [f64]) {
        out.copy_from_slice(self.of(variable));
        for (other, weight) in others {
            for (out, value) in out.iter_mut().zip(self.of(other)) {
                *out -= weight * value;
            }
        }
    }
}

/// Inner product with eight partial sums, which the compiler vectorises; their order depends on the length alone.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (wide_a, wide_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = wide_a.remainder().iter().zip(wide_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in wide_a.zip(wide_b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Centre variables, which are in rows, and divide each by its length; return them and their variances.
///
/// # Errors
/// [`IcidError::Empty`] without variables or samples, [`IcidError::NotFinite`], and [`IcidError::Constant`] for a variable
/// that is the same in all samples.
///
/// # Examples
/// ```
/// use icid_rs::neighbours::standardise;
/// use ndarray::array;
///
/// let (values, variances) = standardise(array![[1.0, 3.0, 1.0, 3.0]])?;
/// assert_eq!((values, variances), (array![[-0.5, 0.5, -0.5, 0.5]], vec![1.0]));
/// # Ok::<(), icid_rs::IcidError>(())
/// ```
pub fn standardise(mut values: Array2<f64>) -> Result<(Array2<f64>, Vec<f64>), IcidError> {
    check_not_empty("the table of variables", values.len())?;
    check_finite("the table of variables", &values.view())?;
    let n = values.ncols() as f64;
    let mut variances = Vec::with_capacity(values.nrows());
    for (index, mut row) in values.rows_mut().into_iter().enumerate() {
        let mean = row.sum() / n;
        row.mapv_inplace(|x| x - mean);
        let square = row.iter().map(|x| x * x).sum::<f64>();
        // Smaller deviations are rounding errors of a constant.
        if square.sqrt() <= f64::EPSILON * mean.abs() * n {
            return Err(IcidError::Constant { index, value: mean });
        }
        let length = square.sqrt();
        row.mapv_inplace(|x| x / length);
        variances.push(square / n);
    }
    Ok((values.as_standard_layout().into_owned(), variances))
}
