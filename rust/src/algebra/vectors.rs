//! Loops compiled for the widest vectors of the processor.

use pulp::{Arch, Simd, WithSimd};

/// Run a loop with the widest vectors that the processor has.
///
/// What it calls must be inlined, or else is compiled for the vectors that all processors have. Sums are not reordered,
/// so that the bits do not depend on the processor. `benches/search.py shapes` and `cargo bench --bench search` show the
/// difference.
pub(crate) fn vectorised(compute: impl FnMut()) {
    Arch::new().dispatch(Loop(compute));
}

/// A closure that is called by reference, which inlines it; `Arch` calls closures by value, through a function that is
/// compiled once for all processors.
struct Loop<F>(F);

impl<F: FnMut()> WithSimd for Loop<F> {
    type Output = ();

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        (self.0)();
    }
}
