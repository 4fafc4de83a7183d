//! Long computations run without the interpreter's lock, and can be interrupted.
//!
//! The work runs in a thread pool of its own: a pool that outlived the call would be inherited by forked processes, but
//! without its threads. Meanwhile the calling thread, the only one that may handle signals, waits, runs the callback and
//! checks for Ctrl-C.

// A method path is not general enough in its lifetime for `attach`.
#![allow(clippy::redundant_closure_for_method_calls)]

use super::convert::dict;
use super::errors::to_python;
use crate::error::IcidError;
use crate::interrupt::Interrupt;
use crate::solver::{Monitor, Observer, Progress};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::available_parallelism;
use std::time::Duration;

/// How often the calling thread checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(20);
/// Size of the work below which a second thread costs more than it saves.
const SERIAL_PAIRS: usize = 1 << 14;

pub(super) struct LongCall {
    threads: usize,
    callback: Option<Py<PyAny>>,
}

/// All cores, unless the environment sets a lower limit, as joblib and Dask do for their workers.
fn default_threads() -> usize {
    let limit = |name| -> Option<usize> {
        let value = std::env::var(name).ok()?;
        value.split(',').next()?.trim().parse().ok().filter(|&threads| threads > 0)
    };
    let cores = available_parallelism().map_or(1, NonZero::get);
    ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"].into_iter().find_map(limit).map_or(cores, |threads| threads.min(cores))
}

enum Event {
    Progress(Progress),
    Done,
}

impl LongCall {
    /// Without a number of threads, the size of the work decides: about the number of multiplications of one pass.
    pub(super) fn new(threads: Option<usize>, work: usize, callback: Option<Py<PyAny>>) -> PyResult<Self> {
        let threads = match threads {
            Some(0) => return Err(PyValueError::new_err("n_threads = 0: it must be at least 1")),
            Some(threads) => threads,
            None if work < SERIAL_PAIRS => 1,
            None => default_threads(),
        };
        Ok(Self { threads, callback })
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Run `work`. Exceptions of the callback and of signal handlers take precedence over its own error.
    pub(super) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Monitor) -> Result<T, IcidError> + Send,
    ) -> PyResult<T> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .thread_name(|index| format!("icid-{index}"))
            .build()
            .map_err(|error| PyRuntimeError::new_err(format!("threads could not be started: {error}")))?;
        let interrupt = Interrupt::default();
        let observed = self.callback.is_some();
        let mut result = None;

        let outcome = py.detach(|| {
            let (events, inbox) = sync_channel(1);
            let (answers, answered) = sync_channel(1);
            let (result, interrupt) = (&mut result, &interrupt);
            let run = || {
                pool.in_place_scope(|scope| {
                    scope.spawn(move |_| {
                        // Tells the calling thread to stop waiting even if the work panics.
                        let _done = SendDone(events.clone());
                        let observer = observed.then(|| ask(events, answered));
                        *result = Some(work(&Monitor::new(interrupt.clone(), observer)));
                    });
                    self.attend(&inbox, &answers, interrupt)
                })
            };
            catch_unwind(AssertUnwindSafe(run))
        });
        match outcome {
            Err(_) => Err(PyRuntimeError::new_err("internal error in the compiled core; please report it")),
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) => result.unwrap_or(Err(IcidError::Interrupted)).map_err(to_python),
        }
    }

    /// Wait for the work to be done, on the calling thread.
    fn attend(&self, inbox: &Receiver<Event>, answers: &SyncSender<bool>, interrupt: &Interrupt) -> PyResult<()> {
        let mut outcome = Ok(());
        loop {
            let step = match inbox.recv_timeout(PATIENCE) {
                Ok(Event::Done) | Err(RecvTimeoutError::Disconnected) => return outcome,
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                Ok(Event::Progress(progress)) => {
                    let answer = Python::attach(|py| self.call_back(py, &progress));
                    // The work waits for this answer, so the channel is empty and open.
                    let _ = answers.send(matches!(answer, Ok(true)));
                    answer.map(|_| ())
                }
            };
            if let Err(error) = step {
                interrupt.raise();
                outcome = outcome.and(Err(error));
            }
        }
    }

    /// Report progress to the callback; true to go on.
    fn call_back(&self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        py.check_signals()?;
        let Some(callback) = &self.callback else { return Ok(true) };
        let report = dict!(py, {
            "round": progress.round,
            "iteration": progress.iteration,
            "objective": progress.objective,
            "step": progress.step,
            "optimality": progress.optimality,
            "rho": progress.rho,
        });
        Ok(!callback.bind(py).call1((report,))?.is_truthy()?)
    }
}

/// An observer that sends each report to the calling thread and waits for its answer.
fn ask<'a>(events: SyncSender<Event>, answered: Receiver<bool>) -> Observer<'a> {
    Box::new(move |progress| events.send(Event::Progress(*progress)).is_ok() && answered.recv().unwrap_or(false))
}

struct SendDone(SyncSender<Event>);

impl Drop for SendDone {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Done);
    }
}
