//! The intercept b of `F(w, b) = sum_i gamma_i L(y_i, <Phi(x_i), w> + b) + (1/p)||w||_p^p`.

use super::DualProblem;
use crate::{
    Error, Loss,
    loss::{Split, Targets},
    numeric::{search, two_sum},
};

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
            (true, None) => self.constant_by_formula(omega).unwrap_or_else(|| self.middle_of_minimisers(omega)),
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

    /// The slope of the sum grows with b. It is compared with zero as the sums of its falling and of its rising parts,
    /// up to their rounding, so that slopes which cancel do.
    fn middle_of_minimisers(&self, omega: &[f64]) -> f64 {
        let gammas = self.present().map(|i| self.gammas[i]);
        let (smallest, largest) = gammas.fold((f64::INFINITY, 0.0_f64), |(s, l), gamma| (s.min(gamma), l.max(gamma)));
        let scale = smallest.sqrt() * largest.sqrt();
        let slopes = |b: f64, side: fn((f64, f64)) -> f64| {
            self.present().fold((0.0, 0.0), |(falling, rising), i| {
                let slope = self.gammas[i] / scale * side(self.loss.slopes(self.centred(self.y[i]), omega[i] + b));
                (falling + (-slope).max(0.0), rising + slope.max(0.0))
            })
        };
        let rounding = self.samples() as f64 * f64::EPSILON;
        let falls = |b: f64| {
            let (falling, rising) = slopes(b, |(_, right)| right);
            falling * (1.0 - rounding) > rising * (1.0 + rounding)
        };
        let rises = |b: f64| {
            let (falling, rising) = slopes(b, |(left, _)| left);
            rising * (1.0 - rounding) > falling * (1.0 + rounding)
        };
        let hint = (!self.loss.has_kinks()).then(|| {
            let size = self.present().map(|i| self.centred(self.y[i]).abs() + omega[i].abs()).fold(0.0, f64::max);
            search::near(size, |b| {
                let (falling, rising) = slopes(b, |(_, right)| right);
                rising - falling
            })
        });
        let lower = search::last(hint, falls).next_up();
        let upper = search::last(Some(lower), |b| !rises(b));
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

/// Whether `L(y, .)` has a minimiser, which is a slope of its conjugate at 0.
fn attains_minimum(loss: &dyn Loss, y: f64) -> bool {
    loss.split() == Split::Proximal || loss.conjugate_slope(y, 0.0).is_some()
}
