//! Watching a solve and ending it early. The solver never prints.

use crate::interrupt::Interrupt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Round of the augmented Lagrangian method, from 1, in the component being solved.
    pub round: usize,
    /// FISTA iterations so far, over all rounds and components.
    pub iteration: usize,
    /// The augmented Lagrangian of the component being solved, penalty included.
    pub objective: f64,
    /// Step size η.
    pub step: f64,
    /// Norm of its proximal gradient, ‖m(Y − B⁺)‖/η: near the end, about Δ(B).
    pub optimality: f64,
    /// Weight ρ of the constraint.
    pub rho: f64,
}

/// A function that receives the progress and returns whether to continue.
pub type Observer<'a> = Box<dyn FnMut(&Progress) -> bool + Send + 'a>;

/// Two ways to end a solve: an observer, called every [`Monitor::EVERY`] iterations, ends it with the current B as the
/// result; the [`Interrupt`] abandons it at once, with an error.
#[derive(Default)]
pub struct Monitor<'a> {
    interrupt: Interrupt,
    observer: Option<Mutex<Observer<'a>>>,
    iterations: AtomicUsize,
    stopped: AtomicBool,
}

impl<'a> Monitor<'a> {
    /// Iterations between two calls of the observer.
    pub const EVERY: usize = 10;

    /// Watch with `observer`, and abandon the solve when `interrupt` is raised.
    #[must_use]
    pub fn new(interrupt: Interrupt, observer: Option<Observer<'a>>) -> Self {
        Self { interrupt, observer: observer.map(Mutex::new), ..Self::default() }
    }

    /// The flag that abandons the solve.
    #[must_use]
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Count an iteration, report every [`Self::EVERY`]-th one, and return whether to continue.
    pub(super) fn proceed(&self, progress: impl FnOnce(usize) -> Progress) -> bool {
        let iteration = self.iterations.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(observer) = &self.observer
            && iteration.is_multiple_of(Self::EVERY)
            && !observer.lock().unwrap_or_else(PoisonError::into_inner)(&progress(iteration))
        {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.has_stopped()
    }

    /// Whether the observer or the interrupt ended the solve.
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.interrupt.is_raised()
    }
}
