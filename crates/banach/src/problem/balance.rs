//! Dual vectors with `sum_i alpha_i = 0`, which is what the intercept asks of them.

use super::DualProblem;
use crate::numeric::{compensated_sum, search};

impl DualProblem<'_> {
    /// Whether `sum_i alpha_i` vanishes, up to the rounding of n numbers, or need not.
    pub(crate) fn is_balanced(&self, alpha: &[f64]) -> bool {
        let size: f64 = alpha.iter().map(|alpha| alpha.abs()).sum();
        !self.has_intercept()
            || compensated_sum(alpha.iter().copied()).abs() <= 4.0 * alpha.len() as f64 * f64::EPSILON * size
    }

    /// Projects a direction onto those that keep the balance.
    pub(crate) fn project(&self, direction: &mut [f64]) {
        if self.has_intercept() {
            let mean = compensated_sum(direction.iter().copied()) / self.present().count() as f64;
            self.present().for_each(|i| direction[i] -= mean);
        }
    }

    /// Takes what rounding left of the sum from the sample that it changes least and that stays inside its domain.
    pub(crate) fn balance(&self, alpha: &mut [f64]) {
        if !self.has_intercept() {
            return;
        }
        let excess = compensated_sum(alpha.iter().copied());
        let room = |i: usize| {
            let (lower, upper) = self.loss.domain(self.y[i]);
            let end = self.gammas[i] * if excess > 0.0 { lower } else { upper };
            (end - alpha[i]).abs().min(alpha[i].abs())
        };
        let roomiest = self.present().max_by(|&i, &j| room(i).total_cmp(&room(j)));
        if let Some(i) = roomiest.filter(|&i| room(i) > 2.0 * excess.abs()) {
            alpha[i] -= excess;
        }
    }

    /// `prox(v)` in place, for the sum of `lambda` times the conjugates and of the constraint `sum_i alpha_i = 0`.
    ///
    /// It is `alpha(mu) = prox(v - mu 1)` without the constraint, at the `mu` where the entries, which fall with `mu`,
    /// sum to zero. That is between two neighbouring numbers, and so is `alpha`.
    pub(super) fn prox_balanced(&self, lambda: f64, v: &mut [f64]) {
        let at = |i: usize, v: f64, mu: f64| self.prox_of_sample(i, lambda, v - mu);
        let total = |mu: f64| self.present().map(|i| at(i, v[i], mu)).sum::<f64>();
        let size =
            self.present().fold(0.0_f64, |size, i| size.max(v[i].abs() + lambda * self.centred(self.y[i]).abs()));
        let hint = search::near(size, |mu| -total(mu));
        let before = search::last(Some(hint), |mu| total(mu) > 0.0).max(-f64::MAX);
        let after = before.next_up().min(f64::MAX);
        let (above, below) = (total(before), -total(after));
        let share = if above > 0.0 && above.is_finite() { below / (above + below) } else { 0.0 };
        for (i, v) in v.iter_mut().enumerate() {
            *v = if self.gammas[i] > 0.0 {
                let (high, low) = (at(i, *v, before), at(i, *v, after));
                self.inside(i, low + share * (high - low))
            } else {
                0.0
            };
        }
        self.balance(v);
    }
}
