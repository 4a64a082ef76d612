//! The memory that a tensor and its passes take.

use crate::{
    form::LINES,
    kernel::TensorKernel,
    tensor::{MAX_STRIPES, TensorTile, count, most_tiles, thread_bytes},
};

/// Bytes of the tensor itself.
pub(super) fn tensor_bytes(samples: usize, order: usize) -> Option<u64> {
    u64::try_from(count(samples, order)?).ok()?.checked_mul(8)
}

/// Bytes for lists of indices, tiles and monomials, for the tiles that threads fill, and for the moduli of the data, which bound the
/// rounding of a certificate. The accumulators of passes are not part of it.
pub(super) fn working_bytes(samples: usize, inputs: usize, kernel: &dyn TensorKernel, order: usize) -> Option<u64> {
    let half = u64::try_from(count(samples, order / 2)?).ok()?;
    // Both lists of indices, and monomials for the lines of a line search.
    let lists = half.checked_mul(8 * order as u64 + 16 * (2 + (LINES * order) as u64 / 2))?;
    let tiles = most_tiles(half).checked_mul(size_of::<TensorTile>() as u64)?;
    let threads = (rayon::current_num_threads() as u64).checked_mul(thread_bytes(half, inputs, kernel))?;
    let moduli = (samples as u64).checked_mul(inputs as u64)?.checked_mul(8)?;
    lists.checked_add(tiles)?.checked_add(threads)?.checked_add(moduli)
}

/// Bytes of the accumulators of a pass for one dual vector.
pub(super) fn pass_bytes(samples: usize, order: usize) -> Option<u64> {
    let half = u64::try_from(count(samples, order / 2)?).ok()?;
    // Second derivatives at q = 2 are the matrix itself.
    let square = if order == 2 { 0 } else { (samples as u64).checked_mul(samples as u64)? };
    half.checked_mul(2)?.checked_add(square)?.checked_mul(8 * MAX_STRIPES as u64)
}
