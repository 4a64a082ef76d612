//! The intercept b of `F(w, b) = sum_i gamma_i L(y_i, <Phi(x_i), w> + b) + (1/p)||w||_p^p`.

use rayon::prelude::*;

use super::DualProblem;
use crate::{
    Error, Loss,
    loss::{Split, Targets},
    numeric::{search, two_sum},
};

/// Samples whose terms are added up by one thread. The blocks do not depend on the number of threads.
const BLOCK: usize = 1 << 13;
/// The most steps of Newton's method for the intercept; most take five.
const MOST_STEPS: usize = 40;

impl DualProblem<'_> {
    /// The problem with an intercept: a constant `b` without penalty is added to every prediction, and the dual
    /// vectors are those with `sum_i alpha_i = 0`.
    ///
    /// Refuses the logistic loss with one class and counts that are all 0, whose objective decreases as `b` moves without end.
    pub fn with_intercept(mut self) -> Result<Self, Error> {
        self.zero_intercept = Some(0.0);
        self.settled()
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.zero_intercept.is_some()
    }

    /// The `b` that minimises `sum_i gamma_i L(y_i, omega_i + b)`, to rounding: for the squared loss the mean of
    /// `y - omega`, for the absolute loss a median. Where every `b` of an interval does, it is the middle, or the end
    /// that is finite. Without an intercept it is 0.
    ///
    /// # Panics
    ///
    /// If `omega` does not have n entries.
    pub fn intercept(&self, omega: &[f64]) -> f64 {
        assert_eq!(omega.len(), self.samples(), "omega has n entries");
        self.uncentred(self.centred_intercept(omega))
    }

    /// The intercept of which this is the part beyond the [`centre`](Self::centre).
    pub(crate) fn uncentred(&self, b: f64) -> f64 {
        self.centre() + b
    }

    /// The intercept for targets from their [`centre`](Self::centre), as far as the sum of both is a number: a certificate is that
    /// of the intercept which is returned.
    pub(crate) fn centred_intercept(&self, omega: &[f64]) -> f64 {
        let b = match (self.has_intercept(), self.loss.curvature()) {
            (false, _) => 0.0,
            (true, Some(curvature)) => self.newton_step(omega, curvature),
            (true, None) => self
                .constant_by_formula(omega)
                .or_else(|| self.smooth_minimiser(omega))
                .unwrap_or_else(|| self.middle_of_minimisers(omega)),
        };
        (self.centre() + b) - self.centre()
    }

    /// `y_i` from the [`centre`](Self::centre) of the targets.
    pub(crate) fn centred(&self, y: f64) -> f64 {
        y - self.centre()
    }

    /// What rounding has taken from [`centred`](Self::centred).
    pub(super) fn centring(&self, y: f64) -> f64 {
        two_sum(y, -self.centre()).1
    }

    /// A constant that can be taken from all targets: with an intercept the dual of a loss of `y - t` does not change,
    /// and the digits that a large constant costs are kept. It is the intercept at `w = 0`.
    fn centre(&self) -> f64 {
        match self.loss.targets() {
            Targets::Real => self.zero_intercept.unwrap_or(0.0),
            Targets::Counts | Targets::Signs => 0.0,
        }
    }

    /// The intercept at `w = 0` for targets from their centre, where `F(0, b) = min F(0, .)`.
    pub(crate) fn centred_zero_intercept(&self) -> f64 {
        self.zero_intercept.unwrap_or(0.0) - self.centre()
    }

    /// Without a minimum of `L(y, .)` both classes are needed to keep `b` finite.
    pub(super) fn refuse_one_class(&self) -> Result<(), Error> {
        let mut labels = self.present().map(|i| self.y[i]);
        let label = labels.next().expect("a sample is present");
        if attains_minimum(self.loss, label) || labels.any(|y| y != label) {
            return Ok(());
        }
        if self.loss.targets() == Targets::Counts {
            return Err(Error::NoCounts { fold: None, samples: self.present().count() });
        }
        Err(Error::OneClass { loss: self.loss.name(), label, samples: self.present().count() })
    }

    /// [`Loss::best_constant`], where it is a number.
    fn constant_by_formula(&self, omega: &[f64]) -> Option<f64> {
        let mut samples = self.present().map(|i| (self.gammas[i], self.centred(self.y[i]), omega[i]));
        self.loss.best_constant(&mut samples).filter(|b| b.is_finite())
    }

    /// A quadratic is minimised by one step of Newton's method. The second one removes the rounding of the first.
    fn newton_step(&self, omega: &[f64], curvature: f64) -> f64 {
        let scale = self.largest_gamma();
        let total: f64 = self.present().map(|i| self.gammas[i] / scale).sum();
        let slope = |i: usize, b: f64| self.loss.slopes(self.centred(self.y[i]), omega[i] + b).0;
        let step =
            |b: f64| self.present().map(|i| self.gammas[i] / scale / total * slope(i, b)).sum::<f64>() / curvature;
        let b = -step(0.0);
        b - step(b)
    }

    /// The minimiser for a loss whose slope is differentiable, by Newton's method inside a bracket: a few sums over the samples, where a
    /// search by signs takes a hundred. `None` for other losses, and where it does not settle.
    fn smooth_minimiser(&self, omega: &[f64]) -> Option<f64> {
        if self.loss.split() != Split::Smooth {
            return None;
        }
        let scale = self.largest_gamma();
        // The slope of the sum, the sum of the moduli of all slopes, and the curvature of the sum. That of a sample is the inverse of the
        // curvature of its conjugate.
        let sums = |b: f64| {
            let sample = |i: usize| {
                let y = self.centred(self.y[i]);
                let slope = self.loss.slopes(y, omega[i] + b).0;
                let curvature = self.loss.conjugate_curvature(y, -slope).map_or(0.0, f64::recip);
                (self.gammas[i] / scale * slope, self.gammas[i] / scale * curvature)
            };
            let part = |block: usize| {
                let samples = block * BLOCK..((block + 1) * BLOCK).min(self.samples());
                let present = samples.filter(|&i| self.gammas[i] > 0.0).map(sample);
                present.fold([0.0; 3], |[sum, size, rise], (slope, curvature)| {
                    [sum + slope, size + slope.abs(), rise + curvature]
                })
            };
            let parts: Vec<[f64; 3]> = (0..self.samples().div_ceil(BLOCK)).into_par_iter().map(part).collect();
            parts.iter().fold([0.0; 3], |sum, part| [sum[0] + part[0], sum[1] + part[1], sum[2] + part[2]])
        };
        let longest = 1.0 + self.present().map(|i| omega[i].abs()).fold(0.0, f64::max);
        let (mut low, mut high, mut b) = (f64::NEG_INFINITY, f64::INFINITY, 0.0_f64);
        for _ in 0..MOST_STEPS {
            let [slope, size, rise] = sums(b);
            if slope.abs() <= f64::EPSILON * size {
                // Of a plateau the middle is wanted, and not where it begins.
                return (rise > f64::EPSILON * size).then_some(b);
            }
            if slope > 0.0 {
                high = b;
            } else {
                low = b;
            }
            let step = (-slope / rise).clamp(-longest, longest);
            let next = b + step;
            let next = match next > low && next < high {
                true => next,
                false if low.is_finite() && high.is_finite() => 0.5 * (low + high),
                false => return None,
            };
            if (next - b).abs() <= f64::EPSILON * b.abs() {
                return Some(next);
            }
            b = next;
        }
        None
    }

    /// The slope of the sum grows with b. It is compared with zero as the sums of its falling and of its rising parts,
    /// up to their rounding, so that slopes which cancel do.
    fn middle_of_minimisers(&self, omega: &[f64]) -> f64 {
        let gammas = self.present().map(|i| self.gammas[i]);
        let (smallest, largest) = gammas.fold((f64::INFINITY, 0.0_f64), |(s, l), gamma| (s.min(gamma), l.max(gamma)));
        let scale = smallest.sqrt() * largest.sqrt();
        let slope = |i: usize, b: f64, side: fn((f64, f64)) -> f64| {
            self.gammas[i] / scale * side(self.loss.slopes(self.centred(self.y[i]), omega[i] + b))
        };
        let hint = (!self.loss.has_kinks()).then(|| {
            let size = self.present().map(|i| self.centred(self.y[i]).abs() + omega[i].abs()).fold(0.0, f64::max);
            search::near(size, |b| self.present().map(|i| slope(i, b, |(_, right)| right)).sum())
        });
        let rounding = self.samples() as f64 * f64::EPSILON;
        let mut right = SlopeSum::new(self.present(), |i, b| slope(i, b, |(_, right)| right));
        let lower = search::last(hint, |b| {
            right.compare(b, |falling, rising| falling * (1.0 - rounding) > rising * (1.0 + rounding))
        });
        let lower = lower.next_up();
        let mut left = SlopeSum::new(self.present(), |i, b| slope(i, b, |(left, _)| left));
        let upper = search::last(Some(lower), |b| {
            left.compare(b, |falling, rising| rising * (1.0 - rounding) <= falling * (1.0 + rounding))
        });
        match (lower > -f64::MAX, upper < f64::MAX) {
            (true, true) if lower == upper => lower,
            (true, true) => 0.5 * lower + 0.5 * upper,
            (true, false) if lower.is_finite() => lower,
            (false, true) if upper.is_finite() => upper,
            _ => 0.0,
        }
    }

    /// The samples of positive weight.
    pub(super) fn present(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.samples()).filter(|&i| self.gammas[i] > 0.0)
    }
}

/// The sum of slopes that grow with b, each by its own function, while a search narrows b down. A slope that is the same at both ends of
/// where b can be is added up once and for all: after a few steps few samples are left.
struct SlopeSum<F> {
    slope: F,
    /// Where b can be, without the ends.
    between: (f64, f64),
    /// Samples whose slopes differ at the ends, with these slopes.
    open: Vec<(usize, f64, f64)>,
    /// The sums of the others, without sign, that fall and that rise.
    settled: (f64, f64),
    /// The slopes of the open samples where they were asked for last.
    last: Vec<f64>,
}

impl<F: Fn(usize, f64) -> f64> SlopeSum<F> {
    fn new(samples: impl Iterator<Item = usize>, slope: F) -> Self {
        let open = samples.map(|i| (i, f64::NEG_INFINITY, f64::INFINITY)).collect();
        Self { slope, between: (f64::NEG_INFINITY, f64::INFINITY), open, settled: (0.0, 0.0), last: Vec::new() }
    }

    /// Whether the sums of the falling and of the rising slopes at b satisfy a condition that holds up to some b and not beyond.
    fn compare(&mut self, b: f64, condition: impl Fn(f64, f64) -> bool) -> bool {
        if b <= self.between.0 || b >= self.between.1 {
            return b <= self.between.0;
        }
        self.last.clear();
        self.last.extend(self.open.iter().map(|&(i, ..)| (self.slope)(i, b)));
        let (falling, rising) = self.last.iter().copied().fold(self.settled, add_slope);
        let holds = condition(falling, rising);
        if holds {
            self.between.0 = b;
        } else {
            self.between.1 = b;
        }
        for (sample, slope) in self.open.iter_mut().zip(&self.last) {
            if holds {
                sample.1 = *slope;
            } else {
                sample.2 = *slope;
            }
        }
        let settled = &mut self.settled;
        self.open.retain(|(_, low, high)| {
            if low == high {
                *settled = add_slope(*settled, *low);
            }
            low != high
        });
        holds
    }
}

fn add_slope((falling, rising): (f64, f64), slope: f64) -> (f64, f64) {
    (falling + (-slope).max(0.0), rising + slope.max(0.0))
}

/// Whether `L(y, .)` has a minimiser, which is a slope of its conjugate at 0.
fn attains_minimum(loss: &dyn Loss, y: f64) -> bool {
    loss.split() == Split::Proximal || loss.conjugate_slope(y, 0.0).is_some()
}
