//! Where a monotone function changes its sign.
//!
//! [`last`] finds the place to the last digit, whatever its size. [`near`] guesses it to save that search steps, and may be wrong.
//! [`zero_between`] is for functions whose values can be trusted, [`bisect`] for those of which only the sign is known. (`Term` and
//! `Logistic::prox` have derivatives, and use Newton's method instead.)

/// The largest finite number for which `holds` is true, minus infinity if there is none. `holds` is true up to some
/// number and false from there on.
///
/// The bit patterns of floating-point numbers are ordered as the numbers are. Halving their range takes 64 steps at any
/// scale and leaves no digit open; from a good `hint` it takes a few.
pub(crate) fn last(hint: Option<f64>, mut holds: impl FnMut(f64) -> bool) -> f64 {
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

/// A number near the zero of the increasing function `f`, of a magnitude around `size`: a bracket, then false position. Good where
/// `f` is smooth or piecewise linear.
pub(crate) fn near(size: f64, f: impl Fn(f64) -> f64) -> f64 {
    // In units of this size, so that products of places and values stay in range.
    let size = size.clamp(f64::MIN_POSITIVE, 1e300);
    let f = |x: f64| f(size * x);
    let (mut low, mut high) = (-1.0, 1.0);
    let (mut below, mut above) = (f(low), f(high));
    for _ in 0..60 {
        if below > 0.0 {
            (high, above) = (low, below);
            low *= 4.0;
            below = f(low);
        } else if above < 0.0 {
            (low, below) = (high, above);
            high *= 4.0;
            above = f(high);
        } else {
            break;
        }
    }
    size * zero_between((low, below), (high, above), 0.0, f)
}

/// The zero of an increasing function by false position, between a place with a value below 0 and one with a value above. It
/// ends where the function is at most `enough` in modulus, or at the last digits.
///
/// While the upper value is infinite or much larger than the lower one, as that of a power is, it halves the bracket instead.
pub(crate) fn zero_between(
    (mut low, mut below): (f64, f64),
    (mut high, mut above): (f64, f64),
    enough: f64,
    f: impl Fn(f64) -> f64,
) -> f64 {
    let next = |low: f64, below: f64, high: f64, above: f64| {
        let steep = above.is_nan() || above > -10.0 * below;
        if steep { 0.5 * (low + high) } else { low + (high - low) * below / (below - above) }
    };
    let mut x = next(low, below, high, above);
    for _ in 0..100 {
        let value = f(x);
        if value.abs() <= enough || high - low <= 1e-14 * low.abs().max(high.abs()) {
            break;
        }
        // The end that stays counts half, so that the other one moves too.
        if value < 0.0 {
            (low, below, above) = (x, value, 0.5 * above);
        } else {
            (high, above, below) = (x, value, 0.5 * below);
        }
        x = next(low, below, high, above);
    }
    x
}

/// The lower end of the bracket `[low, high]` after `times` halvings, each of which keeps `is_below` true at that end: for functions
/// whose values leave the range of f64.
pub(crate) fn bisect(mut low: f64, mut high: f64, times: usize, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..times {
        let middle = 0.5 * (low + high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
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
            for size in [0.5, 1.0, 100.0] {
                let x = near(size * f64::abs(root), |x| (x - root).max(0.1 * (x - root)));
                assert!((x - root).abs() <= 1e-12 * root.abs(), "{root}: {x}");
            }
        }
    }

    type Function = fn(f64) -> f64;

    #[test]
    fn finds_zeros_in_a_bracket() {
        let functions: [(Function, f64); 5] = [
            (|x| x - 0.3, 0.3),
            (|x| x.powi(300) - 1e-30, 1e-30_f64.powf(1.0 / 300.0)),
            (|x| (x - 1e-9).max(1e-6 * (x - 1e-9)), 1e-9),
            (|x| if x < 0.7 { -1.0 } else { f64::INFINITY }, 0.7),
            (|x| if x < 0.7 { -1e-3 } else { f64::NAN }, 0.7),
        ];
        for (k, (f, zero)) in functions.into_iter().enumerate() {
            for above in [f(1.0), f64::INFINITY] {
                let x = zero_between((0.0, f(0.0)), (1.0, above), 0.0, f);
                assert!((x - zero).abs() <= 1e-13 * zero, "{k}: {x} instead of {zero}");
            }
        }
        let rough = zero_between((0.0, -1.0), (1.0, f64::INFINITY), 0.1, |x| 8.0 * x - 1.0);
        assert!((8.0 * rough - 1.0).abs() <= 0.1, "{rough}");
    }

    #[test]
    fn halves() {
        let x = bisect(-700.0, 700.0, 60, |x| x < 0.3);
        assert!(x < 0.3 && 0.3 - x <= 1e-13, "{x}");
        assert_eq!(bisect(0.0, 1.0, 40, |_| false), 0.0);
    }
}
