//! The weights of a linearised problem: `J_p(w) + G w = r`.

use super::normal::{Normal, WeightSystem};
use crate::Exponent;

/// Weights w and `u = J_p(w)`, feature by feature. Where w is too small for f64, u is not.
#[derive(Clone)]
pub(super) struct Curve {
    pub w: Vec<f64>,
    pub u: Vec<f64>,
    exponent: Exponent,
}

/// Weights are found when none changes by more than this share: Newton's method is quadratic, and the next change would be rounding.
const FOUND: f64 = 1e-12;
/// A change below this share that is no longer halved by a step is rounding.
const ROUNDING: f64 = 1e-9;
/// The most Newton steps. Most systems take four; weights that have powers of ten to go take more.
pub(super) const MOST_STEPS: usize = 60;
/// The change of u counts relative to u, and to at least this share of what is asked of u: a u near 0 needs no digits of its own.
const LEAST_MEASURE: f64 = 1e-3;
/// A large number whose square is still a number.
const LARGEST_SQUARABLE: f64 = 1e150;

impl Curve {
    pub(super) fn new(features: usize, exponent: Exponent) -> Self {
        Self { w: vec![0.0; features], u: vec![0.0; features], exponent }
    }

    pub(super) fn p(&self) -> f64 {
        self.exponent.p()
    }

    /// Moves to given weights.
    pub(super) fn place(&mut self, w: Vec<f64>) {
        let p = self.exponent.p();
        self.u = w.iter().map(|w| w.abs().powf(p - 1.0).copysign(*w)).collect();
        self.w = w;
    }

    /// Moves to the weights `J_q(u)`, as far as they are numbers.
    pub(super) fn place_at(&mut self, u: Vec<f64>) {
        let q = self.exponent.q();
        let weight = |u: &f64| u.abs().powf(q - 1.0).min(LARGEST_SQUARABLE).copysign(*u);
        self.w = u.iter().map(weight).collect();
        self.u = u;
    }

    /// Moves to the solution of `J_p(w) + G w = r`, the stationary point of a convex function, by Newton's method on the curve.
    /// Returns the system of a step from there.
    ///
    /// Tangents of `w -> J_p(w)` and of `u -> J_q(u)` lead to the same first-order step, (dw, du), but not to the same point of
    /// the curve. `J_p` is concave for w > 0, so that an equation in one weight is never passed by a step in w that makes the
    /// weight grow, nor by a step in u that makes it shrink: each weight takes the one that is safe. A weight that grows where
    /// G hardly holds it, up to its reach, follows u too, since it may have powers of ten to go.
    pub(super) fn settle(&mut self, normal: &Normal, r: &[f64]) -> WeightSystem {
        let mut system = WeightSystem::default();
        let even = self.even(normal);
        let [mut asked, mut rest, mut dw, mut du] = [(); 4].map(|()| vec![0.0; r.len()]);
        let mut h = Vec::with_capacity(r.len());
        let mut last = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            normal.times(&self.w, &mut asked);
            asked.iter_mut().zip(r).for_each(|(image, r)| *image = r - *image);
            rest.iter_mut().zip(&asked).zip(&self.u).for_each(|((rest, asked), u)| *rest = asked - u);
            self.slopes(&mut h);
            normal.prepare(&h, &mut system);
            dw.copy_from_slice(&rest);
            system.solve(&mut dw);
            change_of_u(normal, &h, &dw, &rest, &mut du);
            let change = self.advance(normal, &even, &dw, &du, &asked);
            if is_found(change, last) {
                break;
            }
            last = change;
        }
        self.slopes(&mut h);
        normal.prepare(&h, &mut system);
        system
    }

    /// Takes a step of all weights, and returns the largest relative change of one. `asked` is `r - G w`, which u is to become.
    pub(super) fn advance(&mut self, normal: &Normal, even: &[f64], dw: &[f64], du: &[f64], asked: &[f64]) -> f64 {
        let q = self.exponent.q();
        let mut change = 0.0_f64;
        for k in 0..self.w.len() {
            let least = LEAST_MEASURE * asked[k].abs() + f64::MIN_POSITIVE;
            change = change.max((q - 1.0) * (du[k] / self.u[k].abs().max(least)).abs());
            let own = normal.diagonal()[k];
            // The size up to which the weight may follow u when it grows: where G and the curve are equally steep, or half of where
            // G alone would lead it.
            let reach = even[k].max(0.5 * (asked[k] + own * self.w[k]).abs() / own);
            self.go(k, dw[k], du[k], reach);
        }
        change
    }

    /// The size of every weight at which G and the curve are equally steep.
    pub(super) fn even(&self, normal: &Normal) -> Vec<f64> {
        let (p, q) = (self.exponent.p(), self.exponent.q());
        let even = |own: &f64| if p < 2.0 { ((q - 1.0) * own).recip().powf((2.0 - p).recip()) } else { f64::INFINITY };
        normal.diagonal().iter().map(even).collect()
    }

    /// `dw/du` along the curve, `(q-1) w/u`.
    pub(super) fn slopes(&self, h: &mut Vec<f64>) {
        let q = self.exponent.q();
        let slope =
            |(w, u): (&f64, &f64)| if *w == 0.0 { 0.0 } else { ((q - 1.0) * (w / u).abs()).min(LARGEST_SQUARABLE) };
        h.clear();
        h.extend(self.w.iter().zip(&self.u).map(slope));
    }

    /// Adds a change of the last digits, to first order.
    pub(super) fn correct(&mut self, dw: &[f64]) {
        let mut h = Vec::new();
        self.slopes(&mut h);
        for (k, dw) in dw.iter().enumerate().filter(|(k, _)| h[*k] > 0.0) {
            let (w, u) = (self.w[k] + dw, self.u[k] + dw / h[k]);
            let is_small = w.signum() == self.w[k].signum() && u.signum() == self.u[k].signum();
            if is_small {
                (self.w[k], self.u[k]) = (w, u);
            }
        }
    }

    /// Takes a step of one weight.
    fn go(&mut self, k: usize, dw: f64, du: f64, reach: f64) {
        let (p, q) = (self.exponent.p(), self.exponent.q());
        let (w, u) = (self.w[k], self.u[k] + du);
        let by_u = u.abs().powf(q - 1.0).min(LARGEST_SQUARABLE);
        let grows = w != 0.0 && u.signum() == w.signum() && u.abs() > self.u[k].abs();
        let size = match () {
            () if grows && by_u > reach => (w + dw).abs().max(by_u.min(reach)),
            () if grows => by_u,
            () => by_u.min(w.abs().max(reach)),
        };
        self.w[k] = size.copysign(u);
        self.u[k] = if size == by_u { u } else { size.powf(p - 1.0).copysign(u) };
    }
}

/// Whether weights are found that change by at most the share `change` in a step, and by `last` in the step before.
pub(super) fn is_found(change: f64, last: f64) -> bool {
    change <= FOUND || (change < ROUNDING && change > 0.5 * last) || change.is_nan()
}

/// The change of `u` that goes with a change of the weights: `du = dw/h`, or `r - G dw` where h is small.
fn change_of_u(normal: &Normal, h: &[f64], dw: &[f64], r: &[f64], du: &mut [f64]) {
    normal.times(dw, du);
    for (k, own) in normal.diagonal().iter().enumerate() {
        du[k] = if h[k] * own > 1.0 { dw[k] / h[k] } else { r[k] - du[k] };
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::FeatureMatrix;

    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// From zero and from a solution of another problem, for samples that hold the weights loosely and tightly.
    #[test]
    fn the_equation_is_solved() {
        let (n, d) = (30, 5);
        let x = FeatureMatrix::from_columns(n, d, random(n * d, 1)).expect("valid");
        for p in [2.0, 1.9999, 1.5, 4.0 / 3.0, 1.1, 1.01] {
            let exponent = Exponent::new(p).expect("inside");
            for size in [1e-4, 1e-2, 1.0, 1e3, 1e6] {
                for intercept in [false, true] {
                    let weights: Vec<f64> = random(n, 2).iter().map(|weight| size * (1.1 + weight)).collect();
                    let normal = Normal::new(&x, &weights, intercept, true);
                    let mut curve = Curve::new(d, exponent);
                    for seed in [3, 4] {
                        let r: Vec<f64> = random(d, seed).iter().map(|r| 10.0 * r * (1.0 + size)).collect();
                        curve.settle(&normal, &r);
                        let mut image = vec![0.0; d];
                        normal.times(&curve.w, &mut image);
                        for (k, r) in r.iter().enumerate() {
                            let rest = curve.u[k] + image[k] - r;
                            assert!(rest.abs() <= 1e-9 * r.abs(), "p = {p}, size {size:e}: {rest:e} of {r:e}");
                            let on_curve = curve.w[k].abs().powf(p - 1.0).copysign(curve.w[k]);
                            let is_tiny = curve.w[k].abs() < 1e-290;
                            assert!(
                                is_tiny || (on_curve - curve.u[k]).abs() <= 1e-9 * on_curve.abs(),
                                "p = {p}, {size:e}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn systems_are_solved() {
        let (n, d) = (20, 4);
        let x = FeatureMatrix::from_columns(n, d, random(n * d, 5)).expect("valid");
        let normal = Normal::new(&x, &vec![3.0; n], true, true);
        let (h, r) = ([2.0, 1e-3, 1e6, 0.5], random(d, 6));
        let solve = |h: &[f64]| {
            let (mut system, mut found) = (WeightSystem::default(), r.clone());
            normal.prepare(h, &mut system);
            system.solve(&mut found);
            found
        };
        let (found, mut image) = (solve(&h), vec![0.0; d]);
        normal.times(&found, &mut image);
        for k in 0..d {
            assert!((found[k] / h[k] + image[k] - r[k]).abs() < 1e-9, "{k}: {found:?}");
        }
        assert_eq!(solve(&[0.0; 4]), [0.0; 4]);
    }
}
