//! What keeps one sample off the ends and the kink of its conjugate: distances, and multipliers of their own.

use super::term::ProximalTerm;

/// A distance and its multiplier. Both are positive, and their product is to become mu.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct Pair {
    pub x: f64,
    pub z: f64,
}

/// The distances of a sample, and the multipliers with which they enter
///
/// ```text
/// t + a s - y + g - z_l + z_u = 0,    psi(s) = a s^2/2 - y s + k|s| on [l, u]
/// ```
///
/// `s - l` has the multiplier `z_l`, `u - s` has `z_u`. Of the kink, `s = v - v'` with halves that are not negative, v has
/// `k - g` and v' has `k + g`, where g becomes a slope of `k|s|`.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct Guard {
    /// The pairs of the lower end, the upper end, v and v'. An infinite end has none, nor have the halves without a kink.
    pairs: [Option<Pair>; 4],
}

/// What the step of a pair aims at: its product is to become `mu`, of which the product of the changes will be a part.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::solver) struct Aim {
    pub mu: f64,
    /// The products of the changes of each pair, as the predictor knows them.
    pub products: [f64; 4],
}

/// The equation of a sample to first order: `t = right - curvature ds` for the prediction t after the step.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct SampleLine {
    pub curvature: f64,
    pub right: f64,
}

/// At the start the slope g of the kink is at most this share of k, so that both multipliers `k - g` and `k + g` are well above 0.
const MOST_KINK_SLOPE: f64 = 0.9;
/// At the start the smaller of the halves v and v' is this share of the domain: small beside it, and well above 0.
const SMALLER_HALF: f64 = 0.05;

impl Guard {
    /// The pairs at `s`, for the residual `y - t - a s`. No multiplier is smaller than `least`.
    pub(in crate::solver) fn new(term: &ProximalTerm, s: f64, residual: f64, least: f64) -> Self {
        let ProximalTerm { lower, upper, kink, .. } = *term;
        let g = residual.clamp(-MOST_KINK_SLOPE * kink, MOST_KINK_SLOPE * kink);
        let rest = residual - g;
        let end = |distance: f64, force: f64| {
            distance.is_finite().then(|| Pair { x: distance.max(f64::MIN_POSITIVE), z: force.max(0.0) + least })
        };
        let width = upper - lower;
        let half = SMALLER_HALF * if width.is_finite() { width } else { 1.0 + s.abs() };
        let halves = |x: f64, z: f64| (kink > 0.0).then_some(Pair { x: x.max(0.0) + half, z });
        Self { pairs: [end(s - lower, -rest), end(upper - s, rest), halves(s, kink - g), halves(-s, kink + g)] }
    }

    /// The products of all pairs.
    pub(in crate::solver) fn products(&self) -> impl Iterator<Item = f64> {
        self.pairs.iter().flatten().map(|pair| pair.x * pair.z)
    }

    /// The equation of the sample at `s`.
    pub(in crate::solver) fn linear(&self, term: &ProximalTerm, s: f64, aim: &Aim) -> SampleLine {
        let ProximalTerm { y, curvature: a, .. } = *term;
        let mut linear = SampleLine { curvature: a, right: y - a * s };
        for (at, sign) in [(0, 1.0), (1, -1.0)] {
            if let Some(Pair { x, z }) = self.pairs[at] {
                linear.curvature += z / x;
                linear.right += sign * (aim.mu - aim.products[at]) / x;
            }
        }
        if let Some(kink) = self.kink(aim) {
            linear.curvature += kink.curvature;
            linear.right -= kink.slope - kink.curvature * kink.shift;
        }
        linear
    }

    /// The changes of the pairs for a change of s.
    pub(in crate::solver) fn step(&self, ds: f64, aim: &Aim) -> [Pair; 4] {
        let mut step = [Pair { x: 0.0, z: 0.0 }; 4];
        for (at, dx) in [(0, ds), (1, -ds)] {
            if let Some(Pair { x, z }) = self.pairs[at] {
                step[at] = Pair { x: dx, z: (aim.mu - aim.products[at] - z * dx) / x - z };
            }
        }
        if let (Some(kink), [_, _, Some(plus), Some(minus)]) = (self.kink(aim), &self.pairs) {
            let dg = kink.curvature * (ds - kink.shift);
            let [c, c_minus] = [2, 3].map(|at| aim.mu - aim.products[at]);
            step[2] = Pair { x: (c + plus.x * dg) / plus.z - plus.x, z: -dg };
            step[3] = Pair { x: (c_minus - minus.x * dg) / minus.z - minus.x, z: dg };
        }
        step
    }

    /// The largest share of a step for which every pair stays positive.
    pub(in crate::solver) fn room(&self, step: &[Pair; 4]) -> f64 {
        let room = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        let both = self.pairs.iter().zip(step).filter_map(|(pair, step)| pair.map(|pair| (pair, step)));
        both.fold(f64::INFINITY, |least, (pair, step)| least.min(room(pair.x, step.x)).min(room(pair.z, step.z)))
    }

    /// The products of all pairs after a share of a step.
    pub(in crate::solver) fn products_after(&self, share: f64, step: &[Pair; 4]) -> impl Iterator<Item = f64> {
        let both = self.pairs.iter().zip(step).filter_map(|(pair, step)| pair.map(|pair| (pair, step)));
        both.map(move |(pair, step)| (pair.x + share * step.x) * (pair.z + share * step.z))
    }

    /// Takes a share of a step.
    pub(in crate::solver) fn go(&mut self, share: f64, step: &[Pair; 4]) {
        for (pair, step) in self.pairs.iter_mut().zip(step) {
            if let Some(pair) = pair {
                pair.x = (pair.x + share * step.x).max(f64::MIN_POSITIVE);
                pair.z = (pair.z + share * step.z).max(f64::MIN_POSITIVE);
            }
        }
    }

    /// The kink to first order: its slope becomes `slope + curvature (ds - shift)`.
    fn kink(&self, aim: &Aim) -> Option<LinearisedKink> {
        let [_, _, Some(plus), Some(minus)] = self.pairs else { return None };
        let [c, c_minus] = [2, 3].map(|at| aim.mu - aim.products[at]);
        Some(LinearisedKink {
            slope: 0.5 * (minus.z - plus.z),
            curvature: 1.0 / (plus.x / plus.z + minus.x / minus.z),
            shift: (c / plus.z - plus.x) - (c_minus / minus.z - minus.x),
        })
    }
}

struct LinearisedKink {
    slope: f64,
    curvature: f64,
    shift: f64,
}

/// The products of the changes of a step.
pub(in crate::solver) fn products(step: &[Pair; 4]) -> [f64; 4] {
    step.map(|step| step.x * step.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step solves the equations of a sample to first order: that of its prediction, and those of its pairs.
    #[test]
    fn a_step_solves_the_linear_equations() {
        let plain = ProximalTerm { lower: -1.0, upper: 2.0, y: 0.7, curvature: 0.0, kink: 0.0 };
        for term in [
            plain,
            ProximalTerm { kink: 0.3, ..plain },
            ProximalTerm { lower: f64::NEG_INFINITY, curvature: 1.0, ..plain },
            ProximalTerm { lower: 0.0, upper: f64::INFINITY, curvature: 1.0, kink: 0.2, ..plain },
        ] {
            for (s, ds, residual) in [(0.4, 0.1, 0.5), (1.9, -0.7, -3.0), (0.01, 0.3, 0.0)] {
                let guard = Guard::new(&term, s, residual, 0.05);
                let aim = Aim { mu: 0.02, products: [0.01, -0.02, 0.003, 0.004] };
                let (linear, step) = (guard.linear(&term, s, &aim), guard.step(ds, &aim));
                let multiplier = |at: usize| guard.pairs[at].map_or(0.0, |pair| pair.z + step[at].z);
                let g = 0.5 * (multiplier(3) - multiplier(2));
                let t = linear.right - linear.curvature * ds;
                let rest = t + term.curvature * (s + ds) - term.y + g - multiplier(0) + multiplier(1);
                assert!(rest.abs() < 1e-12 * (1.0 + t.abs()), "{term:?} {s}: {rest:e}");
                for (at, pair) in guard.pairs.iter().enumerate() {
                    let Some(Pair { x, z }) = pair else { continue };
                    let product = x * z + z * step[at].x + x * step[at].z;
                    assert!((product - aim.mu + aim.products[at]).abs() < 1e-12 * (1.0 + x * z), "{term:?} {s}, {at}");
                }
                let [_, _, plus, minus] = step;
                assert!(term.kink == 0.0 || (plus.x - minus.x - ds).abs() < 1e-12, "{term:?}: the halves move by ds");
            }
        }
    }

    #[test]
    fn room_ends_where_a_pair_does() {
        let term = ProximalTerm { lower: -1.0, upper: 1.0, y: 0.0, curvature: 0.0, kink: 0.0 };
        let mut guard = Guard::new(&term, 0.5, 0.2, 0.1);
        let step = guard.step(1.0, &Aim { mu: 0.1, products: [0.0; 4] });
        let room = guard.room(&step);
        assert!(room <= 0.5 && room > 0.0, "{room}");
        guard.go(0.9 * room, &step);
        assert!(guard.products().all(|product| product > 0.0));
    }
}
