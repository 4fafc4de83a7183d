//! Errors of the crate as Python exceptions.

use crate::error::{ErrorKind, IcidError};
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(icid_rs, NumericalError, PyArithmeticError, "Arithmetic broke down: overflow, or a singular matrix.");

pub(super) fn to_python(error: IcidError) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Memory => PyMemoryError::new_err(message),
        ErrorKind::Numerical => NumericalError::new_err(message),
        ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(message),
        ErrorKind::Argument => PyValueError::new_err(message),
    }
}
