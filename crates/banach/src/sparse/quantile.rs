//! How many standard errors an interval of confidence reaches.

use std::f64::consts::FRAC_PI_2;

use super::CONFIDENCE;

/// The quantile of the normal distribution at (1 + [`CONFIDENCE`])/2.
const NORMAL: f64 = 1.959_963_984_540_054;
/// From so many degrees of freedom on, the expansion around the normal distribution has nine digits.
const NEARLY_NORMAL: f64 = 200.0;
/// Panels of Simpson's rule: seven digits where the integrand is smooth, five for fewer than two degrees of freedom.
const PANELS: usize = 1000;
/// Halvings of a right angle: as many as a number has bits.
const HALVINGS: usize = 53;

/// The quantile of Student's distribution at (1 + [`CONFIDENCE`])/2, with at least one degree of freedom; infinitely many make it normal.
pub(super) fn confidence_quantile(freedom: f64) -> f64 {
    if freedom >= NEARLY_NORMAL {
        let z = NORMAL;
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
        return z + (first + (second + third / freedom) / freedom) / freedom;
    }
    // With t = sqrt(freedom) tan(angle) the density is a power of the cosine.
    let below = |angle: f64| {
        let at = |i: usize| (angle * i as f64 / PANELS as f64).cos().max(0.0).powf(freedom - 1.0);
        let weight = |i: usize| if i == 0 || i == PANELS { 1.0 } else { f64::from(2 + 2 * u8::from(i % 2 == 1)) };
        (0..=PANELS).map(|i| weight(i) * at(i)).sum::<f64>() * angle
    };
    let wanted = CONFIDENCE * below(FRAC_PI_2);
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if below(middle) < wanted { low = middle } else { high = middle }
    }
    freedom.sqrt() * low.tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the distribution.
    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [
            (1.0, 12.706_204_7),
            (2.0, 4.302_652_7),
            (5.0, 2.570_581_8),
            (30.0, 2.042_272_5),
            (100.0, 1.983_971_5),
            (199.0, 1.971_956_5),
            (1000.0, 1.962_339_1),
            (f64::INFINITY, 1.959_964_0),
        ];
        for (freedom, expected) in table {
            let got = confidence_quantile(freedom);
            assert!((got - expected).abs() < 1e-6 * expected, "{freedom}: {got} {expected}");
        }
    }
}
