//! Nothing allocates inside the FISTA loop, nor for each set of parents or block of rows of an exact optimum.
#![allow(missing_docs)]
// A global allocator cannot be written without it; it forwards to the system's and counts.
#![allow(unsafe_code)]

mod common;

use common::Random;
use icid_rs::model::KernelChoice;
use icid_rs::score::{Noise, Score};
use icid_rs::search::{Evidence, exact};
use icid_rs::solver::Monitor;
use icid_rs::{Interrupt, Knowledge, Problem, Schedule, Settings, decompose};
use ndarray::Array2;
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

/// Allocations of the exact optimum of d variables with so many rows.
fn allocations_of_optimum(d: usize, rows: usize) -> usize {
    let values = Array2::from_shape_vec((d, rows), Random(0).vector(d * rows)).unwrap();
    let (correlation, knowledge) = (Array2::eye(d), Knowledge::none(d));
    let score = Score::new(rows as f64, 5.0, Noise::Unequal).unwrap();
    let evidence = Evidence::new(correlation.view(), score, &knowledge).unwrap().with_values(values.view()).unwrap();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    exact(&evidence, false, &Interrupt::default()).unwrap();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// One test, for the counter is shared.
#[test]
fn loops_do_not_allocate() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let count = |d, rows| pool.install(|| allocations_of_optimum(d, rows));
    count(8, 100);
    let [few, more_rows, more_sets] = [(8, 100), (8, 5000), (12, 100)].map(|(d, rows)| count(d, rows));
    // Each of sixteen tasks has seven vectors for each number of parents, of which four more are possible.
    assert!(more_rows <= few + 4 && more_sets <= few + 16 * 4 * 8, "{few}, {more_rows}, {more_sets} allocations");

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
