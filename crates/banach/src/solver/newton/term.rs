//! One sample's term of the dual, smoothed.

use crate::{
    Loss,
    loss::{Split, Targets},
};

/// The conjugate `psi` of one sample, smoothed by a barrier of size `mu` where it has ends or a kink.
///
/// A [`Split::Proximal`] loss has `psi(s) = a s^2/2 - y s + k|s|` on its domain `[l, u]`. The barrier replaces `|s|` by the
/// least `v + v'` with `v - v' = s`, and keeps everything inside:
///
/// ```text
/// psi_mu(s) = a s^2/2 - y s + min_(v - v' = s) {k (v + v') - mu ln(v v')} - mu ln(s - l) - mu ln(u - s)
/// ```
///
/// A [`Split::Smooth`] loss is its own barrier.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct Term<'a> {
    // What follows from both is asked for when it is needed: there may be very many samples.
    loss: &'a dyn Loss,
    y: f64,
}

/// A [`Split::Proximal`] term in numbers: `a s^2/2 - y s + k|s|` on `[lower, upper]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct ProximalTerm {
    pub lower: f64,
    pub upper: f64,
    pub y: f64,
    pub curvature: f64,
    pub kink: f64,
}

/// What a Newton step needs of a term at a prediction.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct Linearised {
    /// `psi_mu'(s) + t`.
    pub gradient: f64,
    /// The curvature with which a Newton step leads to the dual variable that the prediction asks for.
    pub curvature: f64,
}

/// Two dual variables are close if they differ by at most this share of their distance from an end: a tangent is then good for both.
const CLOSE_SHARE: f64 = 1e-2;
/// A secant may be this many times flatter than the tangent: it leads to steps that much longer, and Q may not allow more.
const FLATTEST: f64 = 3.0;

impl<'a> Term<'a> {
    /// The term of a sample with target `y`, from which a constant may have been taken.
    pub(in crate::solver) fn new(loss: &'a dyn Loss, y: f64) -> Self {
        Self { loss, y }
    }

    /// The target, from which a constant may have been taken.
    pub(in crate::solver) fn target(&self) -> f64 {
        self.y
    }

    /// The term in numbers; `None` for a loss that is its own barrier.
    pub(in crate::solver) fn proximal(&self) -> Option<ProximalTerm> {
        (self.loss.split() == Split::Proximal).then(|| self.numbers())
    }

    fn numbers(&self) -> ProximalTerm {
        let (lower, upper) = self.loss.domain(self.y);
        let (curvature, kink) = (self.loss.strong_convexity(), self.loss.kink());
        ProximalTerm { lower, upper, y: self.y, curvature, kink }
    }

    /// The dual variable that a prediction asks of a smooth loss, and the curvature of the conjugate there, infinite at an end.
    pub(in crate::solver) fn answer(&self, t: f64) -> (f64, f64) {
        let s = self.inside(self.loss.slope(self.y, t).map_or(f64::NAN, |slope| -slope));
        (s, self.loss.conjugate_curvature(self.y, s).unwrap_or(f64::INFINITY))
    }

    /// Whether two dual variables are close beside their distances from the ends.
    pub(in crate::solver) fn is_near(&self, a: f64, b: f64) -> bool {
        let (lower, upper) = self.loss.domain(self.y);
        (a - b).abs() <= CLOSE_SHARE * (b - lower).min(upper - b)
    }

    /// The loss at a prediction.
    pub(in crate::solver) fn value(&self, t: f64) -> f64 {
        self.loss.value(self.y, t)
    }

    /// How many logarithms the barrier adds.
    pub(in crate::solver) fn barriers(&self) -> usize {
        match self.loss.split() {
            Split::Smooth => 0,
            Split::Proximal => {
                let ProximalTerm { lower, upper, kink, .. } = self.numbers();
                [lower.is_finite(), upper.is_finite(), kink > 0.0].into_iter().map(usize::from).sum()
            }
        }
    }

    /// Whether 0 is inside the domain, and not at an end of it.
    pub(in crate::solver) fn has_zero_inside(&self) -> bool {
        let (lower, upper) = self.loss.domain(self.y);
        lower < 0.0 && 0.0 < upper
    }

    /// The largest multiple of `ds` that leads from `s` to an end of the domain.
    pub(in crate::solver) fn room(&self, s: f64, ds: f64) -> f64 {
        let (lower, upper) = self.loss.domain(self.y);
        match () {
            () if ds > 0.0 => (upper - s) / ds,
            () if ds < 0.0 => (lower - s) / ds,
            () => f64::INFINITY,
        }
    }

    /// As [`room`](Self::room), for the halves `v` and `v'` of a kink, which stay positive, to first order.
    pub(in crate::solver) fn kink_room(&self, s: f64, ds: f64, mu: f64) -> f64 {
        let kink = self.loss.kink();
        if kink == 0.0 || ds == 0.0 {
            return f64::INFINITY;
        }
        let SmoothedKink { positive, negative, .. } = SmoothedKink::at(s, mu / kink);
        let falling = if ds < 0.0 { positive } else { negative };
        (positive / falling * positive + negative / falling * negative) / ds.abs()
    }

    /// The nearest point strictly inside the domain.
    pub(in crate::solver) fn inside(&self, s: f64) -> f64 {
        let (mut low, mut high) = self.loss.domain(self.y);
        if low.is_finite() {
            low += f64::MIN_POSITIVE.max(4.0 * f64::EPSILON * low.abs());
        }
        if high.is_finite() {
            high -= f64::MIN_POSITIVE.max(4.0 * f64::EPSILON * high.abs());
        }
        s.clamp(low, high)
    }

    /// `psi_mu'(s)` for `s` inside the domain.
    pub(in crate::solver) fn slope(&self, s: f64, mu: f64) -> f64 {
        if self.loss.split() == Split::Smooth {
            // Beyond an end the slope is without bound.
            return self.loss.conjugate_slope(self.y, s).unwrap_or_else(|| {
                let (lower, upper) = self.loss.domain(self.y);
                if s > 0.5 * (lower + upper) { f64::INFINITY } else { f64::NEG_INFINITY }
            });
        }
        self.numbers().slope(s, mu)
    }

    /// The term at `s` and at the prediction `t`.
    ///
    /// With `e` the dual variable that the prediction asks for, `psi_mu'(e) = -t`, the curvature is the secant of the slope
    /// between `s` and `e`: if the prediction did not change, a Newton step would lead to `e` exactly, and never out of the
    /// domain. For a barrier that is the matrix of a primal-dual interior-point method. Where `e` is far on the flat side the
    /// secant promises a long step that Q does not allow, so it is bounded by a share of the tangent.
    pub(in crate::solver) fn linearised(&self, s: f64, t: f64, mu: f64) -> Linearised {
        let gradient = self.slope(s, mu) + t;
        let curvature = match self.loss.split() {
            Split::Smooth => self.secant_of_smooth(s, t, gradient),
            Split::Proximal => self.numbers().secant(s, t, mu),
        };
        Linearised { gradient, curvature }
    }

    fn secant_of_smooth(&self, s: f64, t: f64, gradient: f64) -> f64 {
        let tangent = self.loss.conjugate_curvature(self.y, s).unwrap_or(f64::INFINITY);
        if self.loss.curvature().is_some() {
            // A parabola is its own secant.
            return tangent;
        }
        let asked = self.loss.slope(self.y, t).map_or(s, |slope| -slope);
        let secant = gradient / (s - asked);
        // Too close for a difference quotient.
        let near = (s - asked).abs() * tangent <= 1e-6;
        if near || secant.is_nan() || secant <= 0.0 { tangent } else { secant.max(tangent / FLATTEST) }
    }
}

impl ProximalTerm {
    /// The slope under a barrier.
    fn slope(&self, s: f64, mu: f64) -> f64 {
        self.curvature * s - self.y + self.kink_slope(s, mu) - mu / (s - self.lower) + mu / (self.upper - s)
    }

    /// The slope of the smoothed kink, `k s/(v + v')`.
    fn kink_slope(&self, s: f64, mu: f64) -> f64 {
        if self.kink == 0.0 { 0.0 } else { self.kink * s / SmoothedKink::at(s, mu / self.kink).sum }
    }

    fn secant(&self, s: f64, t: f64, mu: f64) -> f64 {
        let asked = self.asked(t, mu);
        let log = |here: f64, there: f64| {
            if here.is_finite() { mu / here / there.min(FLATTEST * here) } else { 0.0 }
        };
        let kink = if self.kink == 0.0 {
            0.0
        } else {
            let (here, there) = (SmoothedKink::at(s, mu / self.kink), SmoothedKink::at(asked.s, mu / self.kink));
            // From the side on which nothing cancels.
            let slope = (s + asked.s) / (here.root + there.root);
            let secant = if slope >= 0.0 {
                0.5 * mu * (1.0 + slope) / here.positive / there.positive
            } else {
                0.5 * mu * (1.0 - slope) / here.negative / there.negative
            };
            secant.max(here.curvature(mu) / FLATTEST)
        };
        self.curvature + log(s - self.lower, asked.above) + log(self.upper - s, asked.below) + kink
    }

    /// The `s` with `psi_mu'(s) = -t`, and its distances from the ends.
    fn asked(&self, t: f64, mu: f64) -> BarrierAnswer {
        // From the end that is near: the lower one if the slope is positive in the middle.
        let middle = 0.5 * (self.lower + self.upper);
        let mirrored = if middle.is_finite() {
            self.curvature * middle + t - self.y + self.kink_slope(middle, mu) < 0.0
        } else {
            self.upper.is_finite()
        };
        let (sign, end) = if mirrored { (-1.0, -self.upper) } else { (1.0, self.lower) };
        let width = self.upper - self.lower;
        let near = self.distance(end, width, sign * (t - self.y), mu);
        let far = width - near;
        let (above, below) = if mirrored { (far, near) } else { (near, far) };
        BarrierAnswer { s: sign * (end + near), above, below }
    }

    /// The root x of `a (l + x) + c + kink'(l + x) - mu/x + mu/(width - x)`, an increasing function that starts at minus
    /// infinity, by Newton's method inside a bracket.
    fn distance(&self, l: f64, width: f64, c: f64, mu: f64) -> f64 {
        let a = self.curvature;
        let value = |x: f64| a * (l + x) + c + self.kink_slope(l + x, mu) - mu / x + mu / (width - x);
        let slope = |x: f64| {
            let kink = if self.kink == 0.0 { 0.0 } else { SmoothedKink::at(l + x, mu / self.kink).curvature(mu) };
            a + kink + mu / x / x + mu / (width - x) / (width - x)
        };
        let (mut low, mut high) =
            if width.is_finite() { (0.0, 0.5 * width) } else { (0.0, (c.abs() + (a * l).abs()) / a + (mu / a).sqrt()) };
        // The root for a constant slope, which is that of a loss without curvature and kink.
        let constant = c + a * l + self.kink_slope(l, mu);
        let mut x = if width.is_finite() {
            2.0 * mu / (constant + 2.0 * mu / width + constant.hypot(2.0 * mu / width))
        } else if constant > 0.0 {
            2.0 * mu / (constant + (constant * constant + 4.0 * a * mu).sqrt())
        } else {
            (-constant + (constant * constant + 4.0 * a * mu).sqrt()) / (2.0 * a)
        };
        for _ in 0..100 {
            if !(x > low && x < high) {
                x = if low > 0.0 { (low * high).sqrt() } else { 0.5 * high };
            }
            let residual = value(x);
            if residual > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let next = x - residual / slope(x);
            if (next - x).abs() <= 1e-13 * x || high - low <= 1e-15 * high {
                break;
            }
            x = next;
        }
        x.min(high).max(f64::MIN_POSITIVE)
    }
}

/// The dual variable that a prediction asks for under a barrier.
struct BarrierAnswer {
    s: f64,
    /// Its distances from the lower end and from the upper.
    above: f64,
    below: f64,
}

/// The least `k (v + v') - mu ln(v v')` with `v - v' = s`: `v + v' = m + sqrt(m^2 + s^2)` for `m = mu/k`.
struct SmoothedKink {
    root: f64,
    sum: f64,
    positive: f64,
    negative: f64,
}

impl SmoothedKink {
    fn at(s: f64, m: f64) -> Self {
        let root = m.hypot(s);
        let sum = m + root;
        // The product of both is m (v + v')/2.
        let larger = 0.5 * (sum + s.abs());
        let smaller = 0.5 * m * sum / larger;
        let (positive, negative) = if s >= 0.0 { (larger, smaller) } else { (smaller, larger) };
        Self { root, sum, positive, negative }
    }

    /// The second derivative in s.
    fn curvature(&self, mu: f64) -> f64 {
        mu / (self.positive * self.positive + self.negative * self.negative)
    }
}

/// Whether a term is that of a regression loss with a bounded domain, whose ray must not follow outliers.
pub(in crate::solver) fn is_bounded_regression(loss: &dyn Loss) -> bool {
    loss.targets() == Targets::Real && loss.split() == Split::Proximal
}
