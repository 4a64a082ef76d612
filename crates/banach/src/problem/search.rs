//! Bisection over all numbers at once.

/// The largest finite number for which `holds` is true, minus infinity if there is none. `holds` is true up to some
/// number and false from there on.
///
/// The bit patterns of floating-point numbers are ordered as the numbers are. Halving their range takes 64 steps at any
/// scale and leaves no digit open.
pub(crate) fn last(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut yes, mut no) = (ordinal(f64::NEG_INFINITY), ordinal(f64::INFINITY));
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
        for border in [-f64::MAX, -1e200, -1.0, -1e-310, 0.0, 5e-324, 1e-200, 0.1, 3.0, 1e200, f64::MAX] {
            assert_eq!(last(|x| x <= border), border);
            assert_eq!(last(|x| x < border), border.next_down());
        }
        assert_eq!(last(|_| false), f64::NEG_INFINITY);
        assert_eq!(last(|_| true), f64::MAX);
    }
}
