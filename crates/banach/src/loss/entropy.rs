//! What relative entropies are made of.

/// `(1+x) log(1+x) - x >= 0` for `x >= -1`.
pub(super) fn excess(x: f64) -> f64 {
    if x <= -1.0 {
        return 1.0;
    }
    if x.abs() < 0.03 {
        // x^2/2 - x^3/6 + x^4/12 - ... with coefficients (-1)^j / (j (j-1)).
        let series = (2..12).rev().fold(0.0, |sum, j| {
            let j = f64::from(j);
            1.0 / (j * (j - 1.0)) - x * sum
        });
        return x * x * series;
    }
    (1.0 + x) * x.ln_1p() - x
}
