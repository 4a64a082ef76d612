//! The dual problem (24) `[eq:gendual]`: one form, one loss, targets and weights.

mod balance;
mod certify;
mod intercept;
mod terms;

use crate::{
    Certificate, Error, Loss, QForm,
    data::MAX_ENTRY,
    error::Parameter,
    form::Evaluation,
    loss::{Conjugate, Split, Targets},
    numeric::compensated_sum,
};

/// A difference is taken as it stands where it is at least this share of the sum of its parts: it then has lost three of its digits.
const LEAST_EXCESS: f64 = 1e-3;
/// What rounding may add to such a difference, as a share of it. Conjugates over slices are known to 4096 EPSILON = 9.1e-13 of the loss at 0
/// (`loss/logistic/slices.rs`), so that the parts are known to 1e-12 of their sum, and the difference to 1e-9 of itself.
const EXCESS_ROUNDING: f64 = 1e-7;
/// Below this, denormal numbers resolve the objective to less than 1e-9.
const SMALLEST_OBJECTIVE: f64 = 1e-314;

/// Minimise `Lambda(alpha) = Q(alpha) + sum_i gamma_i L*(y_i, -alpha_i/gamma_i)` over alpha in `R^n`, or over those
/// with `sum_i alpha_i = 0` for a problem with an intercept.
///
/// A sample of weight 0 is absent: its `alpha_i` is 0, and its `omega_i` is a prediction.
#[derive(Debug, Clone)]
pub struct DualProblem<'a> {
    form: &'a dyn QForm,
    loss: &'a dyn Loss,
    y: &'a [f64],
    gamma: f64,
    weights: Vec<f64>,
    /// `gamma * weights`.
    gammas: Vec<f64>,
    /// The intercept at `w = 0`, for a problem that has one.
    zero_intercept: Option<f64>,
    zero_value: f64,
}

impl<'a> DualProblem<'a> {
    /// The problem with the same `gamma > 0` for every sample.
    pub fn new(form: &'a dyn QForm, loss: &'a dyn Loss, y: &'a [f64], gamma: f64) -> Result<Self, Error> {
        check_gamma(gamma)?;
        Error::check_length("y", y.len(), form.samples())?;
        let (allowed, fits): (_, fn(f64) -> bool) = match loss.targets() {
            Targets::Real => ("finite numbers up to 1e200 in magnitude", |y| y.abs() <= MAX_ENTRY),
            Targets::Counts => ("counts: finite numbers from 0 to 1e200", |y| (0.0..=MAX_ENTRY).contains(&y)),
            Targets::Signs => ("the labels -1 and 1", |y| y.abs() == 1.0),
        };
        Error::check_values("y", y, allowed, fits)?;
        let (weights, gammas) = (vec![1.0; y.len()], vec![gamma; y.len()]);
        Self { form, loss, y, gamma, weights, gammas, zero_intercept: None, zero_value: 0.0 }.in_range()
    }

    /// The problem with `gamma_i = gamma * weights_i`; weights are non-negative and not all zero.
    pub fn with_sample_weights(mut self, weights: &[f64]) -> Result<Self, Error> {
        Error::check_length("sample_weight", weights.len(), self.y.len())?;
        Error::check_values("sample_weight", weights, "finite numbers >= 0", |w| (0.0..f64::INFINITY).contains(&w))?;
        self.weights.copy_from_slice(weights);
        self.weighted()
    }

    /// The same problem for another gamma; the weights of the samples stay.
    pub fn with_gamma(&self, gamma: f64) -> Result<Self, Error> {
        check_gamma(gamma)?;
        Self { gamma, ..self.clone() }.weighted()
    }

    /// Forms `gamma_i` from gamma and the weights.
    fn weighted(mut self) -> Result<Self, Error> {
        self.gammas.iter_mut().zip(&self.weights).for_each(|(gamma, weight)| *gamma = self.gamma * weight);
        if self.gammas.iter().all(|&gamma| gamma == 0.0) {
            let largest = self.weights.iter().copied().fold(0.0, f64::max);
            return Err(Error::NoWeight { samples: self.samples(), largest, gamma: self.gamma });
        }
        self.settled()
    }

    /// The problem whose weights or intercept were changed, checked.
    fn settled(mut self) -> Result<Self, Error> {
        if self.has_intercept() {
            self.refuse_one_class()?;
            self.zero_intercept = Some(0.0);
            self.zero_intercept = Some(self.intercept(&vec![0.0; self.samples()]));
        }
        self.in_range()
    }

    /// Refuses an objective that leaves the range of f64.
    fn in_range(mut self) -> Result<Self, Error> {
        let b = self.centred_zero_intercept();
        let value = self.value_sum(|_| b);
        self.zero_value = value;
        let slopes = self.present().map(|i| self.loss.slope(self.centred(self.y[i]), self.centred_zero_intercept()));
        let optimal = { slopes }.all(|slope| slope.is_none_or(|slope| slope == 0.0));
        match value {
            _ if !value.is_finite() => Err(Error::Overflow { value }),
            _ if value < SMALLEST_OBJECTIVE && !optimal => Err(Error::Underflow { value }),
            _ => Ok(self),
        }
    }

    /// The form Q.
    pub fn form(&self) -> &'a dyn QForm {
        self.form
    }

    /// The loss L.
    pub fn loss(&self) -> &'a dyn Loss {
        self.loss
    }

    /// The targets y.
    pub fn targets(&self) -> &'a [f64] {
        self.y
    }

    /// The gamma that all samples share.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The weights of the samples.
    pub(crate) fn sample_weights(&self) -> &[f64] {
        &self.weights
    }

    /// `gamma_i = gamma * weight_i`.
    pub fn gammas(&self) -> &[f64] {
        &self.gammas
    }

    /// The number of samples, n.
    pub fn samples(&self) -> usize {
        self.y.len()
    }

    /// The largest `gamma_i`.
    pub(crate) fn largest_gamma(&self) -> f64 {
        self.gammas.iter().copied().fold(0.0, f64::max)
    }

    /// `F(0) = sum_i gamma_i L(y_i, 0)`; with an intercept `min_b F(0, b)`.
    pub(crate) fn zero_value(&self) -> f64 {
        self.zero_value
    }

    /// The loss term of the primal, `sum_i gamma_i L(y_i, t_i)`.
    pub(crate) fn loss_sum(&self, t: &[f64]) -> f64 {
        self.value_sum(|i| t[i])
    }

    /// The same at predictions between t and others.
    pub(crate) fn loss_sum_between(&self, t: &[f64], other: &[f64], share: f64) -> f64 {
        self.value_sum(|i| t[i] + share * (other[i] - t[i]))
    }

    /// The loss term of the dual, `sum_i gamma_i L*(y_i, -alpha_i/gamma_i)`; infinite outside its domain.
    pub(crate) fn conjugate_sum(&self, alpha: &[f64]) -> f64 {
        let t = self.centred_zero_intercept();
        self.term_sums(|_| t, |_| 0.0, alpha).conjugate
    }

    /// Adds the gradient of the conjugate sum to `gradient`, at a point inside the domain; with an intercept up to a
    /// constant.
    pub(crate) fn add_conjugate_gradient(&self, alpha: &[f64], gradient: &mut [f64]) {
        for (i, gradient) in gradient.iter_mut().enumerate() {
            if self.gammas[i] > 0.0 {
                let slope = self.loss.conjugate_slope(self.centred(self.y[i]), alpha[i] / self.gammas[i]);
                *gradient += slope.expect("the point is inside the domain of a smooth conjugate");
            } else {
                *gradient = 0.0;
            }
        }
    }

    /// The Bregman distance of the conjugate sum; infinite outside its domain.
    pub(crate) fn conjugate_bregman(&self, from: &[f64], to: &[f64]) -> f64 {
        let terms = self.gammas.iter().zip(self.y).zip(from).zip(to).filter(|(((gamma, _), _), _)| **gamma > 0.0);
        terms.map(|(((&gamma, &y), &from), &to)| gamma * self.loss.conjugate_bregman(y, from / gamma, to / gamma)).sum()
    }

    /// `prox_{lambda phi_2}(v)` in place, for `phi_2` the conjugate sum.
    pub(crate) fn prox(&self, lambda: f64, v: &mut [f64]) {
        if self.has_intercept() {
            return self.prox_balanced(lambda, v);
        }
        for (i, v) in v.iter_mut().enumerate() {
            *v = if self.gammas[i] > 0.0 { self.prox_of_sample(i, lambda, *v) } else { 0.0 };
        }
    }

    /// One entry of [`prox`](Self::prox) for a sample that is present; with an intercept up to a constant in `v`.
    fn prox_of_sample(&self, i: usize, lambda: f64, v: f64) -> f64 {
        let (gamma, y) = (self.gammas[i], self.centred(self.y[i]));
        self.inside(i, gamma * self.loss.prox(y, lambda / gamma, v / gamma))
    }

    /// The number of the domain next to `alpha`: rounding must not lead out of it.
    fn inside(&self, i: usize, mut alpha: f64) -> f64 {
        let (gamma, (lower, upper)) = (self.gammas[i], self.loss.domain(self.y[i]));
        alpha = alpha.clamp(gamma * lower, gamma * upper);
        while alpha / gamma > upper {
            alpha = alpha.next_down();
        }
        while alpha / gamma < lower {
            alpha = alpha.next_up();
        }
        alpha
    }

    /// The first entry at which a dual vector cannot be an iterate: Lambda must be finite, and the conjugate
    /// differentiable where it belongs to the smooth part.
    pub(crate) fn first_inadmissible(&self, alpha: &[f64]) -> Option<usize> {
        (0..alpha.len()).find(|&i| {
            let (gamma, y) = (self.gammas[i], self.y[i]);
            !match (gamma > 0.0, self.loss.split()) {
                (false, _) => alpha[i] == 0.0,
                (true, Split::Smooth) => {
                    alpha[i].is_finite() && self.loss.conjugate_slope(y, alpha[i] / gamma).is_some()
                }
                (true, Split::Proximal) => self.loss.conjugate(y, alpha[i] / gamma).is_finite(),
            }
        })
    }

    /// Whether a dual vector can start a solver.
    pub(crate) fn check_start(&self, alpha: &[f64]) -> Result<(), Error> {
        Error::check_length("alpha_0", alpha.len(), self.samples())?;
        match self.first_inadmissible(alpha) {
            None if self.is_balanced(alpha) => Ok(()),
            None => Err(Error::Unbalanced { what: "alpha_0", sum: compensated_sum(alpha.iter().copied()) }),
            Some(row) => Err(Error::BadValue {
                what: "alpha_0",
                row,
                value: alpha[row],
                allowed: "finite numbers in the domain of the dual (strictly inside it for a loss that is smooth and no parabola)",
            }),
        }
    }

    /// The certificate of a dual vector, given the form there (the first of its batch).
    ///
    /// # Panics
    ///
    /// If `alpha` does not have n entries, or the evaluation is not that of a dual vector.
    pub fn certificate(&self, alpha: &[f64], evaluation: &Evaluation) -> Certificate {
        let b = self.centred_intercept(&evaluation.omegas[..self.samples()]);
        self.certificate_at(b, alpha, evaluation, |i| evaluation.roundings[i])
    }
}

impl DualProblem<'_> {
    /// The certificate for the [`centred_intercept`](Self::centred_intercept) b of the predictions, whose search takes longer than all
    /// the rest, if rounding may have moved the prediction of each sample by so much.
    pub(crate) fn certificate_at(
        &self,
        b: f64,
        alpha: &[f64],
        evaluation: &Evaluation,
        rounding: impl Fn(usize) -> f64 + Sync,
    ) -> Certificate {
        self.certificate_with_plain(b, alpha, evaluation, rounding).0
    }

    /// The same, and the gap if the predictions were not rounded.
    fn certificate_with_plain(
        &self,
        b: f64,
        alpha: &[f64],
        evaluation: &Evaluation,
        rounding: impl Fn(usize) -> f64 + Sync,
    ) -> (Certificate, f64) {
        let (value, omega) = (evaluation.values[0], &evaluation.omegas[..self.samples()]);
        let exponent = self.form.exponent();
        // ||w||_p^p = q Q(alpha), also of 0 for p = 1.
        let norm = if value == 0.0 { 0.0 } else { (exponent.q() / exponent.p()) * value };
        assert_eq!(alpha.len(), self.samples(), "alpha has n entries");
        let terms = self.term_sums(|i| omega[i] + b, |i| self.moved(i, omega[i], b, rounding(i)), alpha);
        let primal = terms.value + norm;
        if !self.is_balanced(alpha) {
            return (
                Certificate::of_dual(primal, f64::INFINITY, f64::INFINITY, f64::INFINITY, exponent),
                f64::INFINITY,
            );
        }
        let unbalance = self.unbalance(b, alpha);
        let excess = value + self.conjugate_excess(alpha, terms.conjugate) + unbalance;
        let certificate =
            Certificate::of_dual(primal, value + terms.conjugate, terms.bound + unbalance, excess, exponent);
        (certificate, terms.gap + unbalance)
    }

    /// The excess of the conjugate sum over `-F(0)`: the gaps of the predictions at w = 0 sum to it, without cancellation. Where it is large
    /// beside both, they need not be computed: seven of sixteen digits are more than a bound on a norm needs, and counted.
    fn conjugate_excess(&self, alpha: &[f64], conjugate: f64) -> f64 {
        let t = self.centred_zero_intercept();
        let product = if t == 0.0 { 0.0 } else { t * compensated_sum(alpha.iter().copied()) };
        let excess = self.zero_value() + conjugate + product;
        let size = self.zero_value() + conjugate.abs() + product.abs();
        if self.loss.slices().is_some() && excess > LEAST_EXCESS * size {
            return excess * (1.0 + EXCESS_ROUNDING);
        }
        self.term_sums(|_| t, |_| 0.0, alpha).gap
    }

    /// What the terms of the gap, which sum to `F + Lambda + b sum_i alpha_i`, miss by entries of alpha that sum to rounding instead of 0.
    fn unbalance(&self, b: f64, alpha: &[f64]) -> f64 {
        if self.has_intercept() { b.abs() * compensated_sum(alpha.iter().copied()).abs() } else { 0.0 }
    }

    /// The gap of the [certificate](Self::certificate_at): the only part of it that depends on the rounding of the predictions.
    pub(crate) fn gap_at(&self, b: f64, alpha: &[f64], omega: &[f64], rounding: impl Fn(usize) -> f64 + Sync) -> f64 {
        assert_eq!(alpha.len(), self.samples(), "alpha has n entries");
        if !self.is_balanced(alpha) {
            return f64::INFINITY;
        }
        let moved = |i: usize| self.moved(i, omega[i], b, rounding(i));
        self.term_sums(|i| omega[i] + b, moved, alpha).bound + self.unbalance(b, alpha)
    }

    /// The certificate of weights w for p = 1 beside a dual vector with `|u_k| <= 1` for every feature. The regulariser's part of the
    /// gap is a sum of terms that are not negative either, `slack = sum_k |w_k| - u_k w_k`; `norm` is `||w||_1`.
    pub(crate) fn endpoint_certificate(
        &self,
        b: f64,
        alpha: &[f64],
        omega: &[f64],
        rounding: impl Fn(usize) -> f64 + Sync,
        (norm, slack): (f64, f64),
    ) -> Certificate {
        let evaluation = Evaluation { values: vec![0.0], omegas: omega.to_vec(), ..Evaluation::default() };
        let of_samples = self.certificate_at(b, alpha, &evaluation, rounding);
        Certificate { primal: of_samples.primal + norm, gap: of_samples.gap + slack, ..of_samples }
    }

    /// A bound on `||alpha - alpha_bar||_2`, the distance of a dual vector with this certificate to the optimal one; `None`
    /// where the dual is not strongly convex: for losses with kinks.
    ///
    /// `psi(s) = L*(y, -s)` has a modulus m_i, so `gamma_i psi(alpha_i/gamma_i)` has `m_i/gamma_i`. Then
    /// `min (m_i/gamma_i) ||alpha - alpha_bar||_2^2/2 <= Lambda(alpha) - min Lambda <= gap`; the proof is in docs/interactions.md. Where the
    /// modulus depends on s ([`SmoothConjugate::modulus_near`](crate::loss::SmoothConjugate::modulus_near)), it is one for all s as near as
    /// the optimal ones: `gamma_i` times their Bregman distance is at most the gap too. What the certificate does not count of the rounding
    /// of the predictions is not counted here.
    ///
    /// # Panics
    ///
    /// If `alpha` does not have n entries.
    pub fn radius(&self, alpha: &[f64], certificate: &Certificate) -> Option<f64> {
        assert_eq!(alpha.len(), self.samples(), "alpha has n entries");
        let gap = certificate.gap;
        let moduli = self.present().map(|i| {
            let modulus = match self.loss.conjugate_kind() {
                Conjugate::Quadratic { a, .. } => a,
                Conjugate::Smooth(psi) => psi.modulus_near(self.y[i], alpha[i] / self.gammas[i], gap / self.gammas[i]),
            };
            self.gammas[i] / modulus
        });
        // Two roots, so that the product does not leave the range. Roundings of a few units are rounded up.
        let radius = (2.0 * gap).sqrt() * moduli.fold(0.0, f64::max).sqrt() * (1.0 + 1e-14);
        radius.is_finite().then_some(radius)
    }
}

/// What a gamma must be.
pub(crate) fn check_gamma(gamma: f64) -> Result<(), Error> {
    Parameter::Gamma.check(gamma, gamma > 0.0 && gamma.is_finite(), "a finite number > 0")
}
