//! Loops at the width of the machine's vectors.

use pulp::{Arch, Simd, WithSimd};

struct Loop<F>(F);

impl<F: FnOnce() -> T, T> WithSimd for Loop<F> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T {
        (self.0)()
    }
}

/// Runs a plain loop with the instructions that the machine at hand has. The closure must be `#[inline(always)]`: only what is
/// inlined here is compiled for them. It should own the numbers that it uses: behind references, every write might change them.
pub(crate) fn vectorised<T>(work: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(Loop(work))
}
