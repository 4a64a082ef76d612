//! What a loss is: the few methods that determine one, and what follows from them.

use std::fmt;

/// The targets a loss is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// Any finite number: regression. The loss depends on `y - t` alone.
    Real,
    /// Numbers >= 0: counts, or rates of counts, which need not be whole.
    Counts,
    /// -1 or 1: classification.
    Signs,
}

impl Targets {
    /// Whether they stand for classes.
    pub fn are_classes(self) -> bool {
        self == Self::Signs
    }
}

/// How Algorithm 3.3 divides the dual into a smooth part and a part with a proximity operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The conjugate is differentiable inside its domain and belongs to the smooth part; `phi_2 = 0`.
    Smooth,
    /// The conjugate is `phi_2`, handled by its proximity operator.
    Proximal,
}

/// The conjugate `psi` of a loss, as one of the two kinds that the solvers know.
#[derive(Debug, Clone, Copy)]
pub enum Conjugate<'a> {
    /// `psi(s) = a s^2/2 - y s + k|s|` on the [`domain`](Loss::domain).
    Quadratic {
        /// The curvature, at least 0.
        a: f64,
        /// The size of the kink at 0, at least 0.
        k: f64,
    },
    /// Differentiable inside the domain.
    Smooth(&'a dyn SmoothConjugate),
}

impl Conjugate<'_> {
    /// Whether `psi'` exists: strictly inside the domain, and not at a kink.
    fn has_slope(self, (lower, upper): (f64, f64), s: f64) -> bool {
        let at_kink = matches!(self, Self::Quadratic { k, .. } if k > 0.0 && s == 0.0);
        s > lower && s < upper && !at_kink
    }
}

/// A conjugate that is differentiable inside its domain, for [`Conjugate::Smooth`]. Every `s` that a method is given lies in the
/// domain, and inside of it where there is a derivative.
pub trait SmoothConjugate: fmt::Debug {
    /// A modulus of strong convexity of `psi` on its whole domain; 0 where there is none.
    fn modulus(&self) -> f64;

    /// A modulus, above 0, between `s` and every `r` whose Bregman distance `psi(s) - psi(r) - psi'(r)(s - r)` is at most `distance`.
    /// One whose [`modulus`](Self::modulus) is above 0 keeps this default.
    fn modulus_near(&self, _y: f64, _s: f64, _distance: f64) -> f64 {
        self.modulus()
    }

    /// `psi(s)`.
    fn psi(&self, y: f64, s: f64) -> f64;

    /// `psi'(s)`.
    fn psi_slope(&self, y: f64, s: f64) -> f64;

    /// `psi''(s)`.
    fn psi_curvature(&self, y: f64, s: f64) -> f64;

    /// `psi(to) - psi(from) - psi'(from)(to - from)`, free of cancellation.
    fn psi_bregman(&self, y: f64, from: f64, to: f64) -> f64;

    /// `argmin_s lambda psi(s) + (s - v)^2/2` for `lambda > 0`.
    fn psi_prox(&self, y: f64, lambda: f64, v: f64) -> f64;

    /// `L(y, t) + psi(s) + s t`, free of cancellation: the certificate.
    fn fenchel_young(&self, y: f64, t: f64, s: f64) -> f64;

    /// The loss over slices, where that is faster than sample by sample: it decides how long many samples take.
    fn slices(&self) -> Option<&dyn LossSlices> {
        None
    }
}

/// A smooth loss over slices of samples, entry by entry what its methods for one sample say, but for roundings.
pub trait LossSlices: fmt::Debug {
    /// `L(y, t)`.
    fn values(&self, y: &[f64], t: &[f64], out: &mut [f64]);

    /// `s = -L'(y, t)`, kept strictly inside the domain, and `psi''(s)`.
    fn answers(&self, y: &[f64], t: &[f64], s: &mut [f64], curvatures: &mut [f64]);

    /// What a certificate is made of. `moved` are bounds on how far the predictions and the dual variables may be from t and s.
    fn terms(&self, samples: [&[f64]; 3], moved: [&[f64]; 2], out: SliceTerms<'_>);
}

/// What [`LossSlices::terms`] writes for y, t and s.
#[derive(Debug)]
pub struct SliceTerms<'a> {
    /// `L(y, t)`.
    pub values: &'a mut [f64],
    /// `psi(s)`.
    pub conjugates: &'a mut [f64],
    /// `L(y, t) + psi(s) + s t`, free of cancellation: a bound on it wherever the dual variable may be, for a prediction that is known.
    pub gaps: &'a mut [f64],
    /// The same wherever the prediction may be too.
    pub bounds: &'a mut [f64],
}

/// The share of itself by which a term of the gap may be rounded (derived in `loss/logistic/slices.rs`, which needs the most).
pub(crate) const GAP_ROUNDING: f64 = 8192.0 * f64::EPSILON;

/// The terms of one sample: the same for every loss. A term is convex in the prediction and in s, so it is largest at ends of the intervals
/// where these may be.
pub(crate) fn terms_of_sample(
    loss: &(impl Loss + ?Sized),
    [y, t, s]: [f64; 3],
    [t_moved, s_moved]: [f64; 2],
) -> [f64; 4] {
    let (lower, upper) = loss.domain(y);
    let inside = (lower..=upper).contains(&s);
    let ends = if s_moved > 0.0 && inside { [s.next_down().max(lower), s.next_up().min(upper)] } else { [s, s] };
    let at = |t: f64| match ends {
        [first, last] if first == last => loss.gap(y, t, first),
        ends => ends.into_iter().map(|s| loss.gap(y, t, s)).fold(0.0, f64::max),
    };
    let gap = at(t);
    let bound = match t_moved {
        0.0 => gap,
        moved if moved.is_finite() => at((t - moved).next_down()).max(at((t + moved).next_up())),
        _ => f64::INFINITY,
    };
    [loss.value(y, t), loss.conjugate(y, s), gap, bound]
}

/// A loss `L(y, t)`, convex and non-negative in the prediction `t`.
///
/// Its conjugate appears as `psi(s) = L*(y, -s)`, a convex function on the interval
/// [`domain`](Self::domain), and all derivatives of the conjugate are taken in `s`. For all `t` and `s`
///
/// ```text
/// L(y, t) + psi(s) + s t >= 0,    with equality exactly when -s is a slope of L(y, .) at t
/// ```
///
/// (Fenchel-Young); the left side is [`gap`](Self::gap). The sum of the gaps is the duality gap.
///
/// Six methods determine a loss; [`probability`](Self::probability), [`response`](Self::response) and
/// [`best_constant`](Self::best_constant) add to it where there is something to add. The others follow from them: a loss that overrides
/// one of those breaks its certificate. What lies above a target, and nothing else, costs here:
///
/// ```
/// use banach::loss::{Conjugate, Loss, Targets};
///
/// #[derive(Debug)]
/// struct Excess;
///
/// impl Loss for Excess {
///     fn name(&self) -> &'static str {
///         "excess"
///     }
///     fn targets(&self) -> Targets {
///         Targets::Real
///     }
///     fn value(&self, y: f64, t: f64) -> f64 {
///         (t - y).max(0.0)
///     }
///     fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
///         (f64::from(u8::from(t > y)), f64::from(u8::from(t >= y)))
///     }
///     fn domain(&self, _y: f64) -> (f64, f64) {
///         (-1.0, 0.0)
///     }
///     fn conjugate_kind(&self) -> Conjugate<'_> {
///         Conjugate::Quadratic { a: 0.0, k: 0.0 }
///     }
/// }
///
/// assert_eq!(Excess.gap(2.0, 3.0, -0.25), Excess.value(2.0, 3.0) + Excess.conjugate(2.0, -0.25) - 0.25 * 3.0);
/// ```
pub trait Loss: fmt::Debug + Send + Sync {
    /// The name used in messages.
    fn name(&self) -> &'static str;

    /// The targets it is defined for.
    fn targets(&self) -> Targets;

    /// `L(y, t)`.
    fn value(&self, y: f64, t: f64) -> f64;

    /// The derivatives of `L(y, .)` at `t` from the left and from the right, which differ at kinks.
    fn slopes(&self, y: f64, t: f64) -> (f64, f64);

    /// The closed interval of `s` on which the conjugate is finite; its ends may be infinite.
    fn domain(&self, y: f64) -> (f64, f64);

    /// The conjugate on the domain.
    fn conjugate_kind(&self) -> Conjugate<'_>;

    /// The probability of the label `y` at the prediction `t`, for a loss whose predictions tell it; others keep this default.
    fn probability(&self, _y: f64, _t: f64) -> Option<f64> {
        None
    }

    /// The number that is predicted where the prediction is `t`: `t` itself, but for a loss that predicts a function of it.
    fn response(&self, t: f64) -> f64 {
        t
    }

    /// The `b` that minimises `sum_i gamma_i L(y_i, omega_i + b)`, for samples `(gamma_i, y_i, omega_i)` of which one attains a minimum,
    /// where there is a formula for it; others keep this default, and it is searched for.
    fn best_constant(&self, _samples: &mut dyn Iterator<Item = (f64, f64, f64)>) -> Option<f64> {
        None
    }

    /// The loss over slices, where that is faster.
    fn slices(&self) -> Option<&dyn LossSlices> {
        match self.conjugate_kind() {
            Conjugate::Quadratic { .. } => None,
            Conjugate::Smooth(conjugate) => conjugate.slices(),
        }
    }

    /// How Algorithm 3.3 treats it.
    fn split(&self) -> Split {
        match self.conjugate_kind() {
            Conjugate::Quadratic { .. } if self.curvature().is_none() => Split::Proximal,
            _ => Split::Smooth,
        }
    }

    /// The derivative of `L(y, .)` at `t`, or `None` at a kink.
    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        let (left, right) = self.slopes(y, t);
        // At a prediction that is no number the slope is none either, which is no kink.
        if left < right { None } else { Some(left) }
    }

    /// The second derivative of `L(y, .)`, where it is one constant: the squared loss.
    fn curvature(&self) -> Option<f64> {
        match self.conjugate_kind() {
            Conjugate::Quadratic { a, k: 0.0 } if self.domain(1.0) == (f64::NEG_INFINITY, f64::INFINITY) => {
                Some(1.0 / a)
            }
            _ => None,
        }
    }

    /// Whether the loss has kinks: predictions at which its slope jumps.
    fn has_kinks(&self) -> bool {
        matches!(self.conjugate_kind(), Conjugate::Quadratic { a: 0.0, .. })
    }

    /// A Lipschitz constant of the slope, or `None` where it has none.
    fn smoothness(&self) -> Option<f64> {
        let modulus = self.strong_convexity();
        (modulus > 0.0).then(|| 1.0 / modulus)
    }

    /// `psi(s)`; infinite outside the domain.
    fn conjugate(&self, y: f64, s: f64) -> f64 {
        within(self.domain(y), s, || match self.conjugate_kind() {
            Conjugate::Quadratic { a, k } => (0.5 * a * s - y + k * s.signum()) * s,
            Conjugate::Smooth(conjugate) => conjugate.psi(y, s),
        })
    }

    /// `psi'(s)`, or `None` where it does not exist: at kinks, at the ends of the domain and outside it.
    fn conjugate_slope(&self, y: f64, s: f64) -> Option<f64> {
        let kind = self.conjugate_kind();
        kind.has_slope(self.domain(y), s).then(|| match kind {
            Conjugate::Quadratic { a, k } => a * s - y + k * s.signum(),
            Conjugate::Smooth(conjugate) => conjugate.psi_slope(y, s),
        })
    }

    /// `psi''(s)`, or `None` where [`conjugate_slope`](Self::conjugate_slope) is.
    fn conjugate_curvature(&self, y: f64, s: f64) -> Option<f64> {
        let kind = self.conjugate_kind();
        kind.has_slope(self.domain(y), s).then(|| match kind {
            Conjugate::Quadratic { a, .. } => a,
            Conjugate::Smooth(conjugate) => conjugate.psi_curvature(y, s),
        })
    }

    /// A modulus of strong convexity of `psi`; 0 where there is none.
    fn strong_convexity(&self) -> f64 {
        match self.conjugate_kind() {
            Conjugate::Quadratic { a, .. } => a,
            Conjugate::Smooth(conjugate) => conjugate.modulus(),
        }
    }

    /// `k` of [`Conjugate::Quadratic`].
    fn kink(&self) -> f64 {
        match self.conjugate_kind() {
            Conjugate::Quadratic { k, .. } => k,
            Conjugate::Smooth(_) => 0.0,
        }
    }

    /// `argmin_s lambda psi(s) + (s - v)^2/2` for `lambda > 0`.
    fn prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        match self.conjugate_kind() {
            Conjugate::Quadratic { a, k } => {
                let (lower, upper) = self.domain(y);
                let shifted = v + lambda * y;
                let shrunk = shifted - shifted.clamp(-lambda * k, lambda * k);
                (shrunk / (1.0 + lambda * a)).clamp(lower, upper)
            }
            Conjugate::Smooth(conjugate) => conjugate.psi_prox(y, lambda, v),
        }
    }

    /// `L(y, t) + psi(s) + s t`, free of cancellation; infinite outside the domain.
    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        within(self.domain(y), s, || match self.conjugate_kind() {
            Conjugate::Quadratic { a, k } => {
                // L(y, t) = -psi(r) - r t for every r with a slope -r of the loss. None of the three terms is negative: the
                // second is the distance from r times the force that holds r at an end of the domain or at the kink.
                let r = -self.slopes(y, t).0;
                let side = if r == 0.0 { s.signum() } else { r.signum() };
                let step = s - r;
                0.5 * a * step * step + step * (t - y + a * r + k * side) + k * (s.abs() - side * s)
            }
            Conjugate::Smooth(conjugate) => conjugate.fenchel_young(y, t, s),
        })
    }

    /// `psi(to) - psi(from) - psi'(from)(to - from)`, free of cancellation, for a [`Split::Smooth`] loss and `from` inside the
    /// domain; infinite for `to` outside.
    fn conjugate_bregman(&self, y: f64, from: f64, to: f64) -> f64 {
        within(self.domain(y), to, || match self.conjugate_kind() {
            Conjugate::Quadratic { a, .. } => 0.5 * a * (to - from) * (to - from),
            Conjugate::Smooth(conjugate) => conjugate.psi_bregman(y, from, to),
        })
    }
}

/// `inside` for `s` in the domain, else infinity.
fn within((lower, upper): (f64, f64), s: f64, inside: impl FnOnce() -> f64) -> f64 {
    if s >= lower && s <= upper { inside() } else { f64::INFINITY }
}
