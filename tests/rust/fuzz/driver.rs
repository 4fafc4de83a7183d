//! Executions one after another, each from a seed and a number, so that any of them can be repeated.

use crate::common::Random;
use crate::inputs::Bytes;
use crate::targets::Target;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Bytes of an input at most; most are shorter.
const LONGEST: usize = 512;
/// An execution that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// When to stop. The standing run counts, a long one looks at the clock.
#[derive(Clone, Copy)]
#[allow(dead_code)]
pub enum Until {
    Time(Duration),
    Executions(u64),
}

/// The input of an execution.
pub fn input(seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random(Random(seed).bits() ^ number);
    let length = random.below(LONGEST);
    let mut bytes: Vec<u8> = (0..=length / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

/// One execution; what it panicked with, if it did.
pub fn execute(target: Target, seed: u64, number: u64) -> Result<(), String> {
    let bytes = input(seed, number);
    catch_unwind(AssertUnwindSafe(|| target(&mut Bytes::new(&bytes)))).map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".into())
    })
}

/// Execute a target again and again, from execution `first` on, on one thread; how many times, or the first that failed.
pub fn run(name: &str, target: Target, seed: u64, first: u64, until: Until) -> Result<u64, (u64, String)> {
    let current = AtomicU64::new(first);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        let current = &current;
        scope.spawn(move || watch(name, seed, current, &stopped));
        let outcome = pool.install(|| {
            let start = Instant::now();
            for count in 0_u64.. {
                let finished = match until {
                    Until::Time(time) => count % 64 == 0 && start.elapsed() >= time,
                    Until::Executions(most) => count == most,
                };
                if finished {
                    return Ok(count);
                }
                current.store(first + count, Ordering::Relaxed);
                execute(target, seed, first + count).map_err(|cause| (first + count, cause))?;
            }
            unreachable!()
        });
        drop(stop);
        outcome
    })
}

/// End the process when an execution does not end.
fn watch(name: &str, seed: u64, current: &AtomicU64, stopped: &Receiver<()>) {
    let mut last = u64::MAX;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PATIENCE) {
        let now = current.load(Ordering::Relaxed);
        if now == last {
            eprintln!("{name}: execution {now} of seed {seed} takes more than {} s", PATIENCE.as_secs());
            abort();
        }
        last = now;
    }
}
