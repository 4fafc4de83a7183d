//! Nothing allocates inside the FISTA loop.
#![allow(missing_docs)]
// A global allocator cannot be written without it; it forwards to the system's and counts.
#![allow(unsafe_code)]

mod common;

use icid_rs::model::KernelChoice;
use icid_rs::solver::Monitor;
use icid_rs::{Problem, Schedule, Settings, decompose};
use sprs::{CsMat, TriMat};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of a solve with this many iterations.
fn allocations(problem: &Problem, schedule: Schedule, iterations: usize) -> usize {
    let settings = Settings {
        schedule,
        max_alm_iter: 1,
        max_fista_iter: iterations,
        fista_tol: 1e-300,
        kernel: KernelChoice::Clique,
        ..Settings::default()
    };
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let solution = decompose(problem, &settings, &Monitor::default()).unwrap();
    let after = ALLOCATIONS.load(Ordering::Relaxed);
    assert_eq!(solution.info.iterations, iterations);
    after - before
}

/// The inverse covariance of a chain of variables, closed to a ring by a last effect of two causes.
fn ring(d: usize) -> CsMat<f64> {
    let mut triplets = TriMat::new((d, d));
    for i in 0..d - 1 {
        triplets.add_triplet(i, i + 1, 0.8);
    }
    triplets.add_triplet(0, d - 1, -0.6);
    common::precision(&triplets.to_csr(), &vec![1.0; d])
}

/// One test, for the counter is shared.
#[test]
fn iterations_do_not_allocate() {
    // A ring is one component; random graphs have many, each with vectors of its own.
    let problem = Problem::new(ring(20_000).view(), None).unwrap();
    for schedule in [Schedule::Restart, Schedule::Paper] {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let count = |iterations| pool.install(|| allocations(&problem, schedule, iterations));
            // The pool's own queues settle in the first run; the result's vectors grow by doubling.
            count(30);
            let (short, long) = (count(30), count(130));
            assert!(long <= short + 4, "{schedule:?}, {threads} threads: {short} then {long} allocations");
        }
    }
}
