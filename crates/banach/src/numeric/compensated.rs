//! Sums whose rounding is added in the end (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005).

use super::dot::LANES;

/// The sum of two numbers, and what rounding has taken from it.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The sum of some terms, with the rounding of its additions added in the end. An infinite sum stays infinite.
pub(crate) fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (sum, lost) = terms.fold((0.0_f64, 0.0), |(sum, lost), term| {
        let (next, own) = two_sum(sum, term);
        (next, lost + own)
    });
    if sum.is_finite() { sum + lost } else { sum }
}

/// A sum that grows by slices, with the rounding of every addition kept; see [`compensated_sum`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunningSum {
    high: [f64; LANES],
    low: [f64; LANES],
}

impl RunningSum {
    /// Adds `sum_k factor_k term_k`. Products are rounded.
    #[inline(always)]
    pub(crate) fn add(&mut self, factors: &[f64], terms: &[f64]) {
        for (factors, terms) in factors.chunks(LANES).zip(terms.chunks(LANES)) {
            let lanes = self.high.iter_mut().zip(&mut self.low);
            for ((high, low), (factor, term)) in lanes.zip(factors.iter().zip(terms)) {
                let (sum, lost) = two_sum(*high, factor * term);
                *high = sum;
                *low += lost;
            }
        }
    }

    /// The sum. An infinite one stays infinite.
    pub(crate) fn total(&self) -> f64 {
        let high = compensated_sum(self.high.iter().copied());
        if high.is_finite() { high + self.low.iter().sum::<f64>() } else { high }
    }
}

/// `sum_k a_k b_k` as the sum of two numbers, and `sum_k |a_k b_k|`.
pub(crate) struct Product {
    pub high: f64,
    pub low: f64,
    pub moduli: f64,
}

/// `sum_k a_k b_k`, with the rounding of every product and every addition kept.
pub(crate) fn compensated_dot(a: &[f64], b: &[f64]) -> Product {
    let (mut high, mut low, mut moduli) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for (lane, (a, b)) in a.iter().zip(b).enumerate() {
            let product = a * b;
            let (sum, lost) = two_sum(high[lane], product);
            high[lane] = sum;
            low[lane] += lost + a.mul_add(*b, -product);
            moduli[lane] += product.abs();
        }
    }
    let (mut sum, mut rest) = (0.0, low.iter().sum::<f64>());
    for lane in high {
        let (next, lost) = two_sum(sum, lane);
        (sum, rest) = (next, rest + lost);
    }
    let (high, low) = two_sum(sum, rest);
    Product { high, low, moduli: moduli.iter().sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_where_terms_cancel() {
        let terms = [1e16, 1.0, -1e16, 1.0];
        assert_eq!(compensated_sum(terms.into_iter()), 2.0);
        let Product { high, low, moduli } = compensated_dot(&terms, &[1.0; 4]);
        assert_eq!((high + low, moduli), (2.0, 2e16));
        assert_eq!(compensated_sum([f64::INFINITY, 1.0].into_iter()), f64::INFINITY);
        let mut sum = RunningSum::default();
        (0..3).for_each(|_| sum.add(&[1.0; 9], &[1e16, 1.0, -1e16, 1.0, 0.5, 0.5, 1.0, -1.0, -1e16]));
        sum.add(&[3.0], &[1e16]);
        assert_eq!(sum.total(), 9.0);
        sum.add(&[1.0], &[f64::INFINITY]);
        assert_eq!(sum.total(), f64::INFINITY);
    }
}
