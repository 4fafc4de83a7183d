//! A flag that ends a long computation from another thread.

use crate::error::IcidError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that any thread may raise; clones share it.
///
/// Long computations check it regularly and return [`IcidError::Interrupted`].
///
/// # Examples
/// ```
/// let interrupt = icid_rs::Interrupt::default();
/// let elsewhere = interrupt.clone();
/// std::thread::spawn(move || elsewhere.raise()).join().unwrap();
/// assert!(interrupt.is_raised());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Ask all computations that hold a clone to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a computation was asked to stop.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fail if the computation was asked to stop.
    pub(crate) fn check(&self) -> Result<(), IcidError> {
        if self.is_raised() { Err(IcidError::Interrupted) } else { Ok(()) }
    }
}
