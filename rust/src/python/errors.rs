//! Where errors of the crate become exceptions.

use crate::error::IcidError;
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(icid_rs, NumericalError, PyArithmeticError, "Arithmetic broke down: overflow, or a singular matrix.");

#[allow(clippy::needless_pass_by_value)] // the shape `map_err` wants
pub(super) fn to_python(error: IcidError) -> PyErr {
    let message = error.to_string();
    match error {
        IcidError::Memory { .. } => PyMemoryError::new_err(message),
        IcidError::Numerical { .. } | IcidError::Singular { .. } | IcidError::Overflow { .. } => {
            NumericalError::new_err(message)
        }
        IcidError::Interrupted => PyKeyboardInterrupt::new_err(message),
        IcidError::Empty { .. }
        | IcidError::NotSquare { .. }
        | IcidError::NotFinite { .. }
        | IcidError::NotSymmetric { .. }
        | IcidError::Diagonal { .. }
        | IcidError::Length { .. }
        | IcidError::Size { .. }
        | IcidError::Unlike
        | IcidError::Variance { .. }
        | IcidError::Order { .. }
        | IcidError::Range { .. }
        | IcidError::Parameter { .. } => PyValueError::new_err(message),
    }
}
