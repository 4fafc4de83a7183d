//! Watching a solve and ending it early. The solver never prints.

use crate::interrupt::Interrupt;

/// Where a solve stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Round of the augmented Lagrangian method, from 1.
    pub round: usize,
    /// FISTA iterations so far, over all rounds.
    pub iteration: usize,
    /// The augmented Lagrangian, penalty included.
    pub objective: f64,
    /// Step size η.
    pub step: f64,
    /// Norm of the proximal gradient step, ‖Y − B⁺‖/η: near the end, about Δ(B).
    pub optimality: f64,
    /// Weight ρ of the equation.
    pub rho: f64,
}

/// A function that is told of the progress.
pub type Observer<'a> = Box<dyn FnMut(&Progress) + Send + 'a>;

/// An observer, told of the progress every [`Monitor::EVERY`] iterations, and the flag by which anyone may stop.
#[derive(Default)]
pub struct Monitor<'a> {
    interrupt: Interrupt,
    observer: Option<Observer<'a>>,
}

impl<'a> Monitor<'a> {
    /// Iterations between two calls of the observer.
    pub const EVERY: usize = 10;

    /// Watch with `observer`, and stop when `interrupt` is raised, by the observer or anyone else.
    #[must_use]
    pub fn new(interrupt: Interrupt, observer: Option<Observer<'a>>) -> Self {
        Self { interrupt, observer }
    }

    /// The flag that stops the solve.
    #[must_use]
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub(super) fn report(&mut self, progress: &Progress) {
        if let Some(observer) = &mut self.observer {
            observer(progress);
        }
    }
}
