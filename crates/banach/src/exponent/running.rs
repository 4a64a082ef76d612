//! Sums of powers of `u` that stay in range for every q: relative to the largest `|u|` met so far.

use super::LineSums;
use crate::numeric::{WidePower, scaled_copy};

/// Dual vectors are brought to the size `2^300`, about 1e90. Sums of products with entries up to 1e200 then stay finite, and
/// products with denormal entries, down to 5e-324, stay far above [`NEGLIGIBLE`].
const DUAL_SIZE: f64 = 300.0;

/// Copies a dual vector divided by `2^k`, so that its products with entries are in range, and returns k.
pub(crate) fn copy_in_range(alpha: &[f64], copy: &mut [f64]) -> f64 {
    scaled_copy(alpha, DUAL_SIZE, copy)
}

/// Products with dual vectors of the size of [`copy_in_range`] below this are what cancellation leaves of numbers that are at least
/// 1e60 times as large.
pub(crate) const NEGLIGIBLE: f64 = 1e-300;

/// The running sums of one dual vector in one stripe, divided by powers of the largest `|u|` so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Running {
    /// The largest `|u|` so far; 0 before the first.
    pub size: f64,
    /// The sum of `|u / size|^q`.
    pub power_sum: f64,
    /// The largest `(mean/deviation)^2` of a monomial, where monomials are standardised; otherwise 0.
    pub spread: f64,
}

impl Running {
    /// Numbers in the state of a pass: one for each field.
    pub(crate) const LENGTH: usize = 3;

    pub(crate) fn load(state: &[f64]) -> Self {
        Self { size: state[0], power_sum: state[1], spread: state[2] }
    }

    pub(crate) fn store(self, state: &mut [f64]) {
        state.copy_from_slice(&[self.size, self.power_sum, self.spread]);
    }

    /// `1/size`, or 0 where all `u` are negligible.
    pub(crate) fn inverse(self) -> f64 {
        if self.size < NEGLIGIBLE { 0.0 } else { 1.0 / self.size }
    }

    /// Raises the size to `size` if that is larger, and shrinks the sums so far accordingly.
    pub(crate) fn raise(&mut self, size: f64, q: f64, omega: &mut [f64]) {
        if size > self.size {
            let factor = self.shrink_to(size, q);
            omega.iter_mut().for_each(|omega| *omega *= factor);
        }
    }

    /// Moves to a larger size; returns the factor for sums of `J_q(u)`.
    fn shrink_to(&mut self, size: f64, q: f64) -> f64 {
        let ratio = if size > 0.0 { self.size / size } else { 0.0 };
        self.size = size;
        let factor = ratio.powf(q - 1.0);
        self.power_sum *= ratio * factor;
        factor
    }

    /// Adds the sums of a stripe.
    pub(crate) fn merge(&mut self, mut stripe: Self, sum: &[f64], q: f64, omega: &mut [f64]) {
        self.raise(stripe.size, q, omega);
        let factor = stripe.shrink_to(self.size, q);
        self.power_sum += stripe.power_sum;
        self.spread = self.spread.max(stripe.spread);
        omega.iter_mut().zip(sum).for_each(|(omega, sum)| *omega += factor * sum);
    }

    /// Returns `Q` and its logarithm, and turns the sums in `omega` into omega itself, for a dual vector that was divided by
    /// `2^exponent`.
    pub(crate) fn finish(self, exponent: f64, q: f64, omega: &mut [f64]) -> (f64, f64) {
        if self.size == 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        let power = WidePower::new(self.size, exponent, q - 1.0);
        omega.iter_mut().for_each(|omega| *omega = power.times(*omega));
        let power = WidePower::new(self.size, exponent, q);
        (power.times(self.power_sum / q), power.ln_times(self.power_sum / q))
    }
}

/// The running sums along a line: `power` and `bregman` are divided by `size^q`, `slope` by `size^(q-1)`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunningLine {
    pub size: f64,
    pub sums: LineSums,
}

impl RunningLine {
    /// Numbers in the state of a pass: one for each field.
    pub(crate) const LENGTH: usize = 4;

    pub(crate) fn load(state: &[f64]) -> Self {
        Self { size: state[0], sums: LineSums { power: state[1], slope: state[2], bregman: state[3] } }
    }

    pub(crate) fn store(self, state: &mut [f64]) {
        let LineSums { power, slope, bregman } = self.sums;
        state.copy_from_slice(&[self.size, power, slope, bregman]);
    }

    /// Raises the size to `size` if that is larger.
    pub(crate) fn raise(&mut self, size: f64, q: f64) {
        if size > self.size {
            let ratio = self.size / size;
            let factor = ratio.powf(q - 1.0);
            self.sums.slope *= factor;
            self.sums.power *= ratio * factor;
            self.sums.bregman *= ratio * factor;
            self.size = size;
        }
    }

    /// Adds the sums of a stripe.
    pub(crate) fn merge(&mut self, mut stripe: Self, q: f64) {
        self.raise(stripe.size, q);
        stripe.raise(self.size, q);
        self.sums = self.sums + stripe.sums;
    }
}
