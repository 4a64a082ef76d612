//! What a pass over all monomials computes, and the memory that it takes.

use super::{degrees::degrees, layout::WIDTH, ranks, sweep::MonomialSweep};
use crate::{
    Error,
    kernel::{MonomialScale, TensorKernel},
};

/// The size of a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PassSize {
    /// About how many entries of tiles are computed, with those of tiles on the diagonal that are no monomials.
    pub entries: f64,
    /// Tiles.
    pub tiles: f64,
}

impl PassSize {
    /// The size of a pass over the monomials of a kernel in this many variables.
    pub(crate) fn new(inputs: usize, kernel: &dyn TensorKernel) -> Result<Self, Error> {
        let degrees = degrees(kernel, inputs)?;
        let (mut entries, mut tiles) = (ranks::count(inputs, &degrees) as f64, 0.0);
        for degree in &degrees {
            let ways = |size| ranks::ways(inputs, size, degree.distinct).unwrap_or(u64::MAX) as f64;
            tiles += ways(degree.degree.saturating_sub(2));
            if degree.degree >= 2 {
                entries += 0.5 * ways(degree.degree - 1) * inputs.min(WIDTH) as f64;
            }
        }
        Ok(Self { entries, tiles: tiles + entries / (WIDTH * WIDTH) as f64 })
    }
}

/// The bytes of working memory that a pass for this many problems takes, besides the data; `None` if they cannot be counted.
pub(crate) fn pass_bytes(
    samples: usize,
    inputs: usize,
    kernel: &dyn TensorKernel,
    monomial_scale: MonomialScale,
    problems: usize,
) -> Result<Option<u64>, Error> {
    let count = ranks::count(inputs, &degrees(kernel, inputs)?);
    let rescales = monomial_scale != MonomialScale::Raw;
    let pass = |batch, points| MonomialSweep::memory(samples, inputs, count, batch, points, rescales);
    let numbers = || {
        let pass = pass(problems.max(1), samples)?;
        let vectors = samples.checked_mul(problems.max(1))?.checked_mul(2)?;
        // Scaled columns are a copy.
        let copy = if rescales { samples.checked_mul(inputs)? } else { 0 };
        pass.checked_add(vectors)?.checked_add(copy)
    };
    Ok(numbers().and_then(|numbers| u64::try_from(numbers).ok()?.checked_mul(8)))
}
