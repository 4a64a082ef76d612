use super::{
    MAX_DEGREE, MAX_VALUE, Series, TensorKernel, by_difference, checked_scale, inside, linear::sign, multinomial,
};
use crate::{
    Error,
    error::Parameter,
    numeric::{search::bisect, vectorised},
};

/// `K = sum_s a_s (scale p_1)^s` with `a_s >= 0`: every monomial of a degree s with `a_s > 0` is a feature, and
/// `c_k = a_s scale^s s!/k!`.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerSeries {
    terms: Terms,
    scale: f64,
    limit: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Terms {
    Named(Series),
    /// The coefficients, lowest first, the last one positive; and what they are.
    Finite {
        a: Vec<f64>,
        name: String,
    },
}

impl PowerSeries {
    /// The kernel `series(scale t)`, with `scale > 0`.
    pub fn new(series: Series, scale: f64) -> Result<Self, Error> {
        let scale = checked_scale(scale)?;
        Ok(Self { terms: Terms::Named(series), scale, limit: inside(series.limit() / scale) })
    }

    /// The kernel `a_0 + a_1 (scale t) + a_2 (scale t)^2 + ...`, with `scale > 0`.
    pub fn from_coefficients(coefficients: Vec<f64>, scale: f64) -> Result<Self, Error> {
        let degree = coefficients.iter().rposition(|&a| a > 0.0).unwrap_or(0);
        let name = format!("a power series of degree {degree} in {scale} t");
        Self::finite(coefficients, scale, name)
    }

    /// The degrees `min_degree` to `max_degree` of another kernel, and nothing else.
    ///
    /// The cut kernel is not normalised: cut first, then normalise.
    pub fn cut(kernel: &dyn TensorKernel, min_degree: usize, max_degree: usize) -> Result<Self, Error> {
        let refuse = |allowed| Err(Error::parameter(Parameter::Kernel, kernel.name(), allowed));
        if kernel.symmetric() > 1 {
            return refuse("a function of one sum; the ANOVA kernel has a range of degrees of its own");
        }
        if kernel.normalized() {
            return refuse("a kernel that is not normalised: cut first, then normalise");
        }
        let (lowest, highest) = kernel.degrees();
        let range = min_degree.max(lowest)..=highest.map_or(max_degree, |highest| max_degree.min(highest));
        let fits = min_degree <= max_degree && !range.is_empty();
        Parameter::Degree.check(
            format!("{min_degree} to {max_degree}"),
            fits,
            "a range with a feature of the kernel",
        )?;
        Parameter::Degree.check(max_degree, *range.end() <= MAX_DEGREE, "a whole number up to 64")?;
        let scale = kernel.scale().unwrap_or(1.0);
        let coefficient = |s: usize| kernel.unscaled_coefficient(&[s]);
        let a = (0..=*range.end()).map(|s| if range.contains(&s) { coefficient(s) } else { 0.0 }).collect();
        Self::finite(a, scale, format!("{}, degrees {min_degree} to {max_degree}", kernel.name()))
    }

    fn finite(mut a: Vec<f64>, scale: f64, name: String) -> Result<Self, Error> {
        let scale = checked_scale(scale)?;
        // Up to the root of the largest value, so that there is room for the data.
        let largest = MAX_VALUE.sqrt();
        Error::check_values("the coefficients", &a, "numbers from 0 to 1e140", |a| (0.0..=largest).contains(&a))?;
        a.truncate(a.iter().rposition(|&a| a > 0.0).map_or(0, |last| last + 1));
        let allowed = "at least one positive, the last one at degree 64 or below";
        let fits = (1..=MAX_DEGREE + 1).contains(&a.len());
        Parameter::Coefficients.check(format!("{} of them", a.len()), fits, allowed)?;
        let limit = inside(limit(&a) / scale);
        Ok(Self { terms: Terms::Finite { a, name }, scale, limit })
    }
}

/// Largest `t >= 1` with `sum_s a_s t^s <= MAX_VALUE`, by bisection of `ln t`.
fn limit(a: &[f64]) -> f64 {
    if a.len() == 1 {
        return f64::INFINITY;
    }
    bisect(0.0, f64::MAX.ln(), 60, |ln_t| ln_polynomial(a, ln_t.exp(), ln_t).1 <= MAX_VALUE.ln()).exp()
}

/// The values of a polynomial, in place.
fn horner(a: &[f64], t: &mut [f64]) {
    const CHUNK: usize = 64;
    vectorised(
        #[inline(always)]
        move || {
            for t in t.chunks_mut(CHUNK) {
                let mut sums = [0.0; CHUNK];
                for a in a.iter().rev() {
                    sums.iter_mut().zip(&*t).for_each(|(sum, t)| *sum = *sum * t + a);
                }
                t.copy_from_slice(&sums[..t.len()]);
            }
        },
    );
}

/// `(f(t) - f(r))/(t - r)` of a polynomial, by two Horner schemes in one.
fn divided_difference(a: &[f64], t: f64, r: f64) -> f64 {
    let step = |(difference, value): (f64, f64), a: &f64| (difference * r + value, value * t + a);
    a.iter().rev().fold((0.0, 0.0), step).0
}

/// The sign of a polynomial at `t` and the logarithm of its modulus, given `ln |t|`.
fn ln_polynomial(a: &[f64], t: f64, ln_t: f64) -> (f64, f64) {
    let (value, ln) = if t.abs() <= 1.0 {
        // t^s (a_s + a_(s+1) t + ...) with the lowest degree s: the power may be out of range.
        let lowest = a.iter().position(|&a| a > 0.0).unwrap_or(0);
        let flip = if t < 0.0 && !lowest.is_multiple_of(2) { -1.0 } else { 1.0 };
        let ln = if lowest == 0 { 0.0 } else { lowest as f64 * ln_t };
        (flip * a[lowest..].iter().rfold(0.0, |sum, a| sum * t + a), ln)
    } else {
        // t^s (a_s + a_(s-1)/t + ...): the powers of 1/t stay in range.
        let degree = a.len() - 1;
        let flip = if t < 0.0 && !degree.is_multiple_of(2) { -1.0 } else { 1.0 };
        (flip * a.iter().fold(0.0, |sum, a| sum / t + a), degree as f64 * ln_t)
    };
    let ln = ln + value.abs().ln();
    (if ln == f64::NEG_INFINITY { 0.0 } else { sign(value) }, ln)
}

impl TensorKernel for PowerSeries {
    fn name(&self) -> String {
        match &self.terms {
            Terms::Named(series) => format!("{series}({} t)", self.scale),
            Terms::Finite { name, .. } => name.clone(),
        }
    }

    fn apply(&self, sums: &mut [f64], count: usize) {
        let t = &mut sums[..count];
        t.iter_mut().for_each(|t| *t *= self.scale);
        match &self.terms {
            Terms::Named(series) => series.apply(t),
            Terms::Finite { a, .. } => horner(a, t),
        }
    }

    fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
        let t = self.scale * sums[0];
        match &self.terms {
            Terms::Named(series) => series.ln_value(t),
            Terms::Finite { a, .. } => ln_polynomial(a, t, self.scale.ln() + sums[0].abs().ln()),
        }
    }

    fn apply_involving(&self, sums: &[f64], values: &[f64], z: &[f64], shifts: Option<&[f64]>, out: &mut [f64]) {
        if shifts.is_some() {
            return by_difference(self, sums, values, z, shifts, out);
        }
        let ends = sums.iter().zip(z).map(|(p_1, z)| (self.scale * p_1, self.scale * (p_1 - z), self.scale * z));
        match &self.terms {
            Terms::Named(series) => {
                out.iter_mut().zip(ends).for_each(|(out, (t, rest, z))| *out = series.difference(t, rest, z));
            }
            Terms::Finite { a, .. } => {
                out.iter_mut().zip(ends).for_each(|(out, (t, rest, z))| *out = z * divided_difference(a, t, rest));
            }
        }
    }

    fn radius(&self) -> f64 {
        match self.terms {
            Terms::Named(series) => series.radius() / self.scale,
            Terms::Finite { .. } => f64::INFINITY,
        }
    }

    fn limit(&self) -> f64 {
        self.limit
    }

    fn scale(&self) -> Option<f64> {
        Some(self.scale)
    }

    fn degrees(&self) -> (usize, Option<usize>) {
        match &self.terms {
            Terms::Named(series) => (series.lowest(), None),
            Terms::Finite { a, .. } => (a.iter().take_while(|&&a| a == 0.0).count(), Some(a.len() - 1)),
        }
    }

    fn unscaled_coefficient(&self, exponents: &[usize]) -> f64 {
        let degree = exponents.iter().sum();
        let a = match &self.terms {
            Terms::Named(series) => series.coefficient(degree),
            Terms::Finite { a, .. } => a.get(degree).copied().unwrap_or(0.0),
        };
        a * multinomial(exponents)
    }
}
