//! Seconds that a pass takes on a machine with given rates.

use super::Rates;
use crate::{
    Exponent,
    kernel::{MonomialScale, TensorKernel},
    monomials::PassSize,
};

/// Seconds that a tile takes besides its arithmetic (`banach-lab bench tiles`).
const TILE_OVERHEAD: f64 = 5e-6;

/// The share of the streaming rate that a pass reaches: it also computes with what it reads (`banach-lab bench`).
const STREAMING: f64 = 0.7;

impl Rates {
    /// Seconds for reading stored entries and contracting them with the dual vectors of all problems, in this many passes. The first
    /// dual vector of a pass waits for memory, the others for the arithmetic.
    pub(crate) fn reading(&self, entries: f64, problems: usize, passes: usize) -> f64 {
        let first = (8.0 / (STREAMING * self.stream)).max(1.0 / self.contraction);
        entries * (passes as f64 * first + problems.saturating_sub(passes) as f64 / self.contraction)
    }

    /// Seconds for filling entries of a tensor: sums over the inputs, then the kernel entry by entry.
    pub(crate) fn filling(&self, entries: f64, inputs: usize, kernel: &dyn TensorKernel) -> f64 {
        entries * kernel.symmetric() as f64 * (2.0 * inputs as f64 / self.product + 1.0 / self.kernel)
    }

    /// Seconds for `|u|^(q-1)` of this many numbers.
    pub(crate) fn powers(&self, count: f64, exponent: Exponent) -> f64 {
        count / if exponent.is_fast() { self.power } else { self.real_power }
    }

    /// Seconds for a pass over all monomials: products with the dual vectors of all problems, and back to the samples.
    pub(crate) fn monomials(
        &self,
        samples: usize,
        size: PassSize,
        monomial_scale: MonomialScale,
        problems: usize,
        exponent: Exponent,
    ) -> f64 {
        let (PassSize { entries, tiles }, problems) = (size, problems as f64);
        // Two products for every problem, and one or two for all together that find the means and sizes of monomials.
        let shared = match monomial_scale {
            MonomialScale::Raw => 0.0,
            MonomialScale::Unit => 1.0,
            MonomialScale::Standardized => 2.0,
        };
        let operations = (2.0 * problems + shared) * 2.0 * samples as f64 * entries;
        let overhead = problems * tiles * TILE_OVERHEAD;
        operations / self.product + overhead + self.powers(problems * entries, exponent)
    }
}
