//! Where a monotone function changes its sign, to the last digit and at any scale.
//!
//! [`last`] decides, [`near`] only saves it work: what it answers may be wrong.

/// The largest finite number for which `holds` is true, minus infinity if there is none. `holds` is true up to some
/// number and false from there on.
///
/// The bit patterns of floating-point numbers are ordered as the numbers are. Halving their range takes 64 steps at any
/// scale and leaves no digit open; from a good `hint` it takes a few.
pub(super) fn last(hint: Option<f64>, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut yes, mut no) = (ordinal(f64::NEG_INFINITY), ordinal(f64::INFINITY));
    if let Some(hint) = hint.filter(|hint| hint.is_finite()) {
        let (first, end) = (ordinal(hint), no);
        let upward = holds(hint);
        let mut distance = 0_i64;
        // Ever longer steps from the hint, until one passes the border.
        loop {
            let place = if upward { first.saturating_add(distance) } else { first.saturating_sub(distance) };
            if place >= end || place <= -end || distance == i64::MAX {
                break;
            }
            let held = if distance == 0 { upward } else { holds(number(place)) };
            if held {
                yes = place;
            } else {
                no = place;
            }
            if held != upward {
                break;
            }
            distance = distance.saturating_mul(8).saturating_add(1);
        }
    }
    while no - 1 > yes {
        let middle = i64::midpoint(yes, no);
        if holds(number(middle)) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    number(yes)
}

/// A number near the zero of the increasing function `f`, of a size around `scale`, by false position with the halving
/// of the Illinois method. Good where `f` is smooth or piecewise linear.
pub(super) fn near(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    let scale = scale.clamp(f64::MIN_POSITIVE, 1e300);
    let (mut lower, mut upper) = (-scale, scale);
    let (mut below, mut above) = (f(lower), f(upper));
    let (mut x, mut last_value) = (0.0, 0.0);
    for _ in 0..60 {
        if below == 0.0 || above == 0.0 {
            return if below == 0.0 { lower } else { upper };
        }
        if below > 0.0 {
            (upper, above) = (lower, below);
            lower *= 4.0;
            below = f(lower);
        } else if above < 0.0 {
            (lower, below) = (upper, above);
            upper *= 4.0;
            above = f(upper);
        } else {
            let next = upper - above * ((upper - lower) / (above - below));
            let value = f(next);
            let done = (next - x).abs() <= 4.0 * f64::EPSILON * next.abs();
            x = next;
            if done || value == 0.0 || !(x > lower && x < upper) {
                break;
            }
            // An end that stays twice is given half its value.
            let stays = if value * last_value > 0.0 { 0.5 } else { 1.0 };
            if value < 0.0 {
                (lower, below, above) = (x, value, stays * above);
            } else {
                (upper, above, below) = (x, value, stays * below);
            }
            last_value = value.signum();
        }
    }
    x
}

/// The place of a number among all numbers.
fn ordinal(x: f64) -> i64 {
    let bits = x.to_bits().cast_signed();
    if bits < 0 { -(bits & i64::MAX) } else { bits }
}

/// The number at a place.
fn number(ordinal: i64) -> f64 {
    let size = f64::from_bits(ordinal.unsigned_abs());
    if ordinal < 0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_number() {
        let numbers = [-f64::MAX, -1e200, -1.0, -1e-310, 0.0, 5e-324, 1e-200, 0.1, 3.0, 1e200, f64::MAX];
        let hints = numbers.map(Some).into_iter().chain([None, Some(f64::NAN), Some(0.1_f64.next_up())]);
        for hint in hints {
            for border in numbers {
                assert_eq!(last(hint, |x| x <= border), border, "{hint:?}");
                assert_eq!(last(hint, |x| x < border), border.next_down(), "{hint:?}");
            }
            assert_eq!(last(hint, |_| false), f64::NEG_INFINITY);
            assert_eq!(last(hint, |_| true), f64::MAX);
        }
    }

    #[test]
    fn comes_near() {
        for root in [-1e200, -3.0, -1e-200, 1e-200, 0.1, 3.0, 1e200] {
            for scale in [0.5, 1.0, 100.0] {
                let x = near(scale * f64::abs(root), |x| (x - root).max(0.1 * (x - root)));
                assert!((x - root).abs() <= 1e-12 * root.abs(), "{root}: {x}");
            }
        }
    }
}
