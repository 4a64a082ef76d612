//! Functions written out: a constant and a few monomials.

use std::fmt::{self, Write};

use rayon::prelude::*;

use super::{DualModel, TopMonomial, bars::name};
use crate::{
    Error, Evaluation, Exponent, FeatureMatrix, Gram, MAX_ENTRY, Memory, Parameter, QForm, Scratch,
    kernel::{Monomial, MonomialScale, TensorKernel, ln_norms},
};

/// The values of monomials at the samples of a matrix, one column for each.
///
/// ```
/// use banach::{FeatureMatrix, kernel::Monomial, model::monomial_matrix};
/// let x = FeatureMatrix::from_rows(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let monomials = [Monomial::new(&[(0, 1), (2, 2)]), Monomial::new(&[])];
/// assert_eq!(monomial_matrix(&monomials, &x)?.row(1), [144.0, 1.0]);
/// # Ok::<(), banach::Error>(())
/// ```
pub fn monomial_matrix(monomials: &[Monomial], x: &FeatureMatrix<'_>) -> Result<FeatureMatrix<'static>, Error> {
    let n = x.samples();
    check_variables(monomials, x)?;
    let mut columns = vec![0.0; n.saturating_mul(monomials.len())];
    columns.par_chunks_mut(n).zip(monomials).for_each(|(out, monomial)| monomial_column(monomial, x, out));
    if let Some(at) = columns.iter().position(|value| value.is_nan() || value.abs() > MAX_ENTRY) {
        let (row, column) = (at % n, at / n);
        return Err(Error::BadEntry { what: "the monomials", row, column, value: columns[at], limit: MAX_ENTRY });
    }
    FeatureMatrix::from_columns(n, monomials.len(), columns)
}

pub(super) fn check_variables(monomials: &[Monomial], x: &FeatureMatrix<'_>) -> Result<(), Error> {
    let last =
        monomials.iter().filter_map(|monomial| monomial.factors().last()).map(|(variable, _)| variable + 1).max();
    match last.filter(|&needed| needed > x.features()) {
        Some(expected) => Err(Error::Shape { what: "a row of X", got: x.features(), expected }),
        None => Ok(()),
    }
}

fn monomial_column(monomial: &Monomial, x: &FeatureMatrix<'_>, out: &mut [f64]) {
    let mut column = vec![0.0; out.len()];
    out.fill(1.0);
    for &(variable, power) in monomial.factors() {
        x.column_into(variable, &mut column);
        out.iter_mut().zip(&column).for_each(|(out, x)| *out *= x.powi(power as i32));
    }
}

/// `f(x) = b + sum_k a_k x^k` over a few monomials; all others have the coefficient 0, exactly.
///
/// ```
/// use banach::{FeatureMatrix, kernel::Monomial, model::ExplicitModel};
/// let terms = vec![(Monomial::new(&[(0, 1), (1, 2)]), 0.98), (Monomial::new(&[(7, 1)]), -0.51)];
/// let model = ExplicitModel::new(1.2, terms)?;
/// assert_eq!(model.equation(&["age", "dose"]), "y = 1.2 + 0.98 * age * dose^2 - 0.51 * x7");
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExplicitModel {
    intercept: f64,
    terms: Vec<(Monomial, f64)>,
}

impl ExplicitModel {
    /// The function with these coefficients, finite numbers.
    pub fn new(intercept: f64, terms: Vec<(Monomial, f64)>) -> Result<Self, Error> {
        if !intercept.is_finite() {
            return Err(Error::parameter(Parameter::Intercept, intercept, "a finite number"));
        }
        if let Some(row) = terms.iter().position(|(_, coefficient)| !coefficient.is_finite()) {
            let value = terms[row].1;
            return Err(Error::BadValue { what: "the coefficients", row, value, allowed: "finite numbers" });
        }
        Ok(Self { intercept, terms })
    }

    /// The constant b.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The monomials with their coefficients.
    pub fn terms(&self) -> &[(Monomial, f64)] {
        &self.terms
    }

    /// The number of monomials.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether it is a constant.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The values at the samples of a matrix.
    pub fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let monomials: Vec<Monomial> = self.terms.iter().map(|(monomial, _)| monomial.clone()).collect();
        check_variables(&monomials, x)?;
        let mut values = vec![self.intercept; x.samples()];
        let mut column = vec![0.0; x.samples()];
        for (monomial, coefficient) in &self.terms {
            monomial_column(monomial, x, &mut column);
            // A coefficient of 0 takes no part, also where its monomial overflows.
            if *coefficient != 0.0 {
                values.iter_mut().zip(&column).for_each(|(value, x)| *value += coefficient * x);
            }
        }
        Ok(values)
    }

    /// The names of the monomials, given those of the variables.
    pub fn column_names<S: AsRef<str>>(&self, names: &[S]) -> Vec<String> {
        self.terms
            .iter()
            .map(|(monomial, _)| product(monomial, |j| name(names, j), " * ", |power| power.to_string()))
            .collect()
    }

    /// As a line of text, with four digits: `y = 1.2 + 0.98 * age * dose^2 - 0.51 * x7`.
    pub fn equation<S: AsRef<str>>(&self, names: &[S]) -> String {
        let monomial = |monomial: &Monomial| product(monomial, |j| name(names, j), " * ", |power| power.to_string());
        self.text(" * ", |number| number, monomial)
    }

    /// As a formula of LaTeX, with four digits: `y = 1.2 + 0.98\, \mathrm{age}\, \mathrm{dose}^{2} - 0.51\, x_{7}`.
    pub fn latex<S: AsRef<str>>(&self, names: &[S]) -> String {
        let variable = |j: usize| match names.get(j) {
            Some(name) => format!("\\mathrm{{{}}}", escaped(name.as_ref())),
            None => format!("x_{{{j}}}"),
        };
        let power_of_ten = |number: String| match number.split_once('e') {
            Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
            None => number,
        };
        let monomial = |monomial: &Monomial| product(monomial, variable, "\\, ", |power| format!("{{{power}}}"));
        self.text("\\, ", power_of_ten, monomial)
    }

    fn text(&self, times: &str, number: impl Fn(String) -> String, monomial: impl Fn(&Monomial) -> String) -> String {
        let mut text = "y =".to_owned();
        let constant = self.intercept != 0.0 || self.terms.is_empty();
        if constant {
            let sign = if self.intercept < 0.0 { "-" } else { "" };
            // Writing to a string does not fail.
            let _ = write!(text, " {sign}{}", number(digits(self.intercept.abs())));
        }
        for (at, (k, coefficient)) in self.terms.iter().enumerate() {
            let sign = match (*coefficient < 0.0, at == 0 && !constant) {
                (false, true) => "",
                (true, true) => "-",
                (false, false) => "+ ",
                (true, false) => "- ",
            };
            let size = number(digits(coefficient.abs()));
            let _ = match k.factors() {
                [] => write!(text, " {sign}{size}"),
                _ => write!(text, " {sign}{size}{times}{}", monomial(k)),
            };
        }
        text
    }
}

impl fmt::Display for ExplicitModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.equation::<&str>(&[]))
    }
}

fn product(
    monomial: &Monomial,
    variable: impl Fn(usize) -> String,
    times: &str,
    power: impl Fn(usize) -> String,
) -> String {
    let factor = |&(j, exponent): &(usize, usize)| match exponent {
        1 => variable(j),
        _ => format!("{}^{}", variable(j), power(exponent)),
    };
    match monomial.factors() {
        [] => "1".to_owned(),
        factors => factors.iter().map(factor).collect::<Vec<_>>().join(times),
    }
}

/// A name in LaTeX.
fn escaped(name: &str) -> String {
    let escape = |c: char| match c {
        '_' | '%' | '&' | '#' | '$' | '{' | '}' => format!("\\{c}"),
        '\\' => "\\backslash{}".to_owned(),
        '^' => "\\hat{}".to_owned(),
        '~' => "\\sim{}".to_owned(),
        ' ' => "\\ ".to_owned(),
        _ => c.to_string(),
    };
    name.chars().map(escape).collect()
}

/// A number >= 0 with four significant digits, without zeros at the end.
fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.3e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if (-4..7).contains(&exponent) {
        // The rounded number, so that 0.99999 is 1 and not 1.0000.
        let rounded: f64 = scientific.parse().unwrap_or(value);
        trim(&format!("{rounded:.*}", (3 - exponent).max(0) as usize))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

/// A function written out as far as its largest monomials, and a bound on what is left out.
///
/// By Hoelder, `|f(x) - f_k(x)| <= ||w_rest||_p ||Phi_rest(x)||_q`, where the weights that are left out have
/// `||w_rest||_p^p = ||w||_p^p - sum |w_k|^p` over those that are kept, and their features
/// `||Phi_rest(x)||_q^q = K(x, ..., x) - sum |phi_k(x)|^q`.
#[derive(Debug, Clone)]
pub struct Compiled {
    model: ExplicitModel,
    kernel: std::sync::Arc<dyn TensorKernel>,
    exponent: Exponent,
    monomials: Vec<Monomial>,
    rest: f64,
    share: f64,
}

/// Rounding of sums that are subtracted, as a part of the larger one.
const ROUNDING: f64 = 1e-12;

impl Compiled {
    /// The function that is kept.
    pub fn model(&self) -> &ExplicitModel {
        &self.model
    }

    /// `||w_rest||_p`, rounded up.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// The share of `||w||_p^p` that is kept.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// A bound on `|f - f_k|` at every sample of a matrix; infinite where the kernel is out of range.
    pub fn bound_at(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        check_variables(&self.monomials, x)?;
        let (n, q) = (x.samples(), self.exponent.q());
        let mut column = vec![0.0; n];
        let norms = ln_norms(&*self.kernel, self.exponent, n, x.features(), |j, out| x.column_into(j, out));
        let lns: Vec<f64> = norms.iter().map(|ln| q * ln).collect();
        let mut kept = vec![0.0; n];
        for monomial in &self.monomials {
            monomial_column(monomial, x, &mut column);
            let exponents: Vec<usize> = monomial.factors().iter().map(|&(_, exponent)| exponent).collect();
            let ln_c = self.kernel.coefficient(&exponents).ln();
            // |phi_k(x)|^q as a part of K(x, ..., x).
            let part = |(x, ln): (&f64, &f64)| if *x == 0.0 { 0.0 } else { (ln_c + q * x.abs().ln() - ln).exp() };
            kept.iter_mut().zip(column.iter().zip(&lns)).for_each(|(kept, own)| *kept += part(own));
        }
        let bound = |(ln, kept): (&f64, &f64)| {
            let rest = if kept.is_finite() { (1.0 - kept + ROUNDING).clamp(ROUNDING, 1.0) } else { 1.0 };
            let bound = if *ln == f64::NEG_INFINITY { 0.0 } else { self.rest * ((ln + rest.ln()) / q).exp() };
            if bound.is_nan() { f64::INFINITY } else { bound }
        };
        Ok(lns.iter().zip(&kept).map(bound).collect())
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.model)?;
        write!(
            f,
            "{} monomials with {:.4} of ||w||_p^p; ||w||_p of the others is {:.3e}",
            self.model.len(),
            self.share,
            self.rest
        )
    }
}

impl DualModel<'_> {
    /// The function `f + b` as far as the monomials that are kept, with a bound on what is left out. For raw features of a kernel
    /// that is not normalised.
    pub fn compile(&self, kept: &[TopMonomial], intercept: f64, memory: Memory) -> Result<Compiled, Error> {
        if self.kernel.normalized() {
            let allowed = "a kernel that is not normalised: with one that is, f is no polynomial";
            return Err(Error::Parameter { parameter: Parameter::Kernel, got: self.kernel.name(), allowed });
        }
        if self.scale != MonomialScale::Raw {
            let allowed = "raw, as the bound needs the norm of all features at a new point";
            return Err(Error::Parameter { parameter: Parameter::Monomials, got: self.scale.to_string(), allowed });
        }
        let p = self.exponent.p();
        let (ln_power_sum, error) = self.ln_power_sum(memory)?;
        let part = |kept: &TopMonomial| {
            if kept.weight == 0.0 { 0.0 } else { (p * kept.weight.abs().ln() - ln_power_sum).exp() }
        };
        let share: f64 = kept.iter().map(part).sum();
        let left = (1.0 - share).clamp(0.0, 1.0) + ROUNDING + error;
        let rest = ((ln_power_sum + left.ln()) / p).exp();
        let terms = kept.iter().map(|kept| (kept.monomial.clone(), kept.coefficient)).collect();
        Ok(Compiled {
            model: ExplicitModel::new(intercept, terms)?,
            kernel: self.kernel.clone(),
            exponent: self.exponent,
            monomials: kept.iter().map(|kept| kept.monomial.clone()).collect(),
            rest: if ln_power_sum == f64::NEG_INFINITY { 0.0 } else { rest },
            share: share.min(1.0),
        })
    }

    /// `ln ||w||_p^p`, and how far rounding may have moved the norm, as a part of it.
    fn ln_power_sum(&self, memory: Memory) -> Result<(f64, f64), Error> {
        let (samples, alpha) = self.present()?;
        if alpha.iter().all(|&alpha| alpha == 0.0) || self.lists_features(alpha.len())? {
            let relevance = self.relevance(memory)?;
            return Ok((relevance.ln_power_sum, relevance.error()));
        }
        let gram = Gram::streamed(samples.view(), self.kernel.clone(), self.exponent, memory)?;
        let mut evaluation = Evaluation::default();
        gram.evaluate(&alpha, &mut evaluation, &mut Scratch::new());
        let power_sum = evaluation.values[0] * self.exponent.q();
        let moved: f64 = alpha.iter().zip(&evaluation.roundings).map(|(alpha, moved)| (alpha * moved).abs()).sum();
        let error = moved / power_sum;
        Ok((evaluation.ln_values[0] + self.exponent.q().ln(), if error.is_finite() { error } else { 1.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        KernelFeatures,
        kernel::{Exponential, FeatureMap, Normalized, Polynomial},
    };

    fn jumble(count: usize, seed: f64) -> Vec<f64> {
        (0..count)
            .map(|k| ((k as f64 + seed) * 12.9898).sin() * 43_758.545_3)
            .map(|x| 2.0 * (x - x.floor()) - 1.0)
            .collect()
    }

    #[test]
    fn equations_read_well() {
        let monomial = |factors: &[(usize, usize)]| Monomial::new(factors);
        let terms = vec![
            (monomial(&[(0, 1), (1, 2)]), 0.98),
            (monomial(&[(7, 1)]), -0.51),
            (monomial(&[]), 12345.678),
            (monomial(&[(2, 3)]), -1.5e-9),
        ];
        let model = ExplicitModel::new(1.2, terms.clone()).expect("finite");
        let names = ["age", "dose_1"];
        assert_eq!(model.equation(&names), "y = 1.2 + 0.98 * age * dose_1^2 - 0.51 * x7 + 12350 - 1.5e-9 * x2^3");
        assert_eq!(
            model.latex(&names),
            "y = 1.2 + 0.98\\, \\mathrm{age}\\, \\mathrm{dose\\_1}^{2} - 0.51\\, x_{7} + 12350 - 1.5 \\cdot 10^{-9}\\, x_{2}^{3}"
        );
        assert_eq!(model.column_names(&names)[0], "age * dose_1^2");
        let without = ExplicitModel::new(0.0, terms[1..2].to_vec()).expect("finite");
        assert_eq!(without.to_string(), "y = -0.51 * x7");
        assert_eq!(ExplicitModel::new(0.0, vec![]).expect("finite").to_string(), "y = 0");
        assert_eq!(ExplicitModel::new(-0.999_999, vec![]).expect("finite").to_string(), "y = -1");
        assert!(ExplicitModel::new(f64::NAN, vec![]).is_err());
        assert!(ExplicitModel::new(0.0, vec![(monomial(&[]), f64::INFINITY)]).is_err());
    }

    #[test]
    fn predictions_are_sums_of_monomials() {
        let (n, d) = (7, 4);
        let x = FeatureMatrix::from_columns(n, d, jumble(n * d, 0.2)).expect("valid");
        let monomials = [Monomial::new(&[(3, 1), (0, 2)]), Monomial::new(&[(1, 1)]), Monomial::new(&[])];
        let terms = monomials.iter().cloned().zip([0.5, -2.0, 0.25]).collect();
        let model = ExplicitModel::new(3.0, terms).expect("finite");
        let matrix = monomial_matrix(&monomials, &x).expect("in range");
        for (i, value) in model.predict(&x).expect("fits").iter().enumerate() {
            let (x, row) = (x.row(i), matrix.row(i));
            assert!((value - (3.25 + 0.5 * x[3] * x[0] * x[0] - 2.0 * x[1])).abs() < 1e-15);
            assert!((row[0] - monomials[0].value(&x)).abs() < 1e-15 && row[2] == 1.0);
        }
        let narrow = FeatureMatrix::from_columns(2, 3, vec![1.0; 6]).expect("valid");
        assert!(matches!(model.predict(&narrow), Err(Error::Shape { expected: 4, .. })));
        let large = FeatureMatrix::from_columns(1, 4, vec![1e150; 4]).expect("valid");
        assert!(matches!(monomial_matrix(&monomials, &large), Err(Error::BadEntry { .. })));
    }

    /// All features of a finite kernel, with their coefficients.
    fn all(x: &FeatureMatrix<'_>, kernel: &Polynomial, exponent: Exponent, alpha: &[f64]) -> Vec<TopMonomial> {
        let form = KernelFeatures::new(x, *kernel, exponent, Memory::default()).expect("fits");
        let map = FeatureMap::new(kernel, x.features(), exponent, None).expect("finite");
        let weights = form.features().weights(alpha);
        let kept = |((monomial, c), weight): ((Monomial, f64), &f64)| TopMonomial {
            share: None,
            interval: None,
            monomial,
            coefficient: c.powf(1.0 / exponent.q()) * weight,
            weight: *weight,
        };
        let mut all: Vec<TopMonomial> = map.iter().zip(&weights).map(kept).collect();
        all.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        all
    }

    #[test]
    fn what_is_left_out_is_bounded() {
        let (n, d) = (10, 4);
        let x = FeatureMatrix::from_columns(n, d, jumble(n * d, 0.2)).expect("valid");
        let new = FeatureMatrix::from_columns(200, d, jumble(200 * d, 9.2).iter().map(|x| 1.5 * x).collect::<Vec<_>>());
        let (new, alpha) = (new.expect("valid"), jumble(n, 3.0));
        for p in [1.01, 1.05, 4.0 / 3.0, 1.5, 2.0] {
            let exponent = Exponent::new(p).expect("inside");
            let kernel = Polynomial::new(3, 0.7, 0.5).expect("valid");
            let all = all(&x, &kernel, exponent, &alpha);
            let model = DualModel::new(x.view(), kernel, exponent, &alpha).expect("valid");
            let whole = model.compile(&all, 0.3, Memory::default()).expect("raw");
            let f = whole.model().predict(&new).expect("fits");
            let form = KernelFeatures::new(&x, kernel, exponent, Memory::default()).expect("fits");
            let expected = form.predictor(&alpha).predict(&new).expect("fits");
            assert!(
                f.iter().zip(&expected).all(|(f, expected)| (f - 0.3 - expected).abs() < 1e-9 * (1.0 + expected.abs()))
            );
            let mut sharp = 0.0_f64;
            for count in [0, 1, 5, 20, all.len()] {
                let part = model.compile(&all[..count], 0.3, Memory::default()).expect("raw");
                let (values, bounds) = (part.model().predict(&new).expect("fits"), part.bound_at(&new).expect("fits"));
                for ((f, value), bound) in f.iter().zip(&values).zip(&bounds) {
                    assert!((f - value).abs() <= bound + 1e-12, "{p} {count}: {f} {value} {bound}");
                    sharp = sharp.max((f - value).abs() / bound);
                }
            }
            assert!(sharp > 0.05, "{p}: the bound is never of the size of what it bounds: {sharp}");
        }
    }

    #[test]
    fn infinite_kernels_are_bounded_too() {
        let (n, d) = (9, 3);
        let x = FeatureMatrix::from_columns(n, d, jumble(n * d, 0.2)).expect("valid");
        let (kernel, exponent) = (Exponential::new(0.6).expect("valid"), Exponent::new(4.0 / 3.0).expect("inside"));
        let alpha = jumble(n, 3.0);
        let gram = Gram::new(x.view(), kernel, exponent, Memory::default()).expect("fits");
        let model = DualModel::new(x.view(), kernel, exponent, &alpha).expect("valid");
        let phi = |k: &Monomial| -> f64 {
            let exponents: Vec<usize> = k.factors().iter().map(|(_, exponent)| *exponent).collect();
            let c = kernel.coefficient(&exponents).powf(0.25);
            (0..n).map(|i| alpha[i] * c * k.value(&x.row(i))).sum()
        };
        let kept = |factors: &[(usize, usize)]| {
            let monomial = Monomial::new(factors);
            let exponents: Vec<usize> = monomial.factors().iter().map(|(_, exponent)| *exponent).collect();
            let weight = phi(&monomial).powi(3);
            TopMonomial {
                share: None,
                interval: None,
                coefficient: weight * kernel.coefficient(&exponents).powf(0.25),
                weight,
                monomial,
            }
        };
        let list =
            [kept(&[]), kept(&[(0, 1)]), kept(&[(1, 1)]), kept(&[(2, 1)]), kept(&[(0, 1), (1, 1)]), kept(&[(0, 2)])];
        let new = FeatureMatrix::from_columns(100, d, jumble(100 * d, 9.2)).expect("valid");
        let f = gram.predictor(&alpha).predict(&new).expect("fits");
        for count in 0..=list.len() {
            let part = model.compile(&list[..count], 0.0, Memory::default()).expect("raw");
            let (values, bounds) = (part.model().predict(&new).expect("fits"), part.bound_at(&new).expect("fits"));
            let holds =
                f.iter().zip(&values).zip(&bounds).all(|((f, value), bound)| (f - value).abs() <= bound + 1e-12);
            assert!(holds, "{part}");
        }
        let normalized = DualModel::new(x.view(), Normalized(kernel), exponent, &alpha).expect("valid");
        assert!(matches!(normalized.compile(&list, 0.0, Memory::default()), Err(Error::Parameter { .. })));
        let unit = model.clone().with_scale(MonomialScale::Unit);
        assert!(matches!(unit.compile(&list, 0.0, Memory::default()), Err(Error::Parameter { .. })));
        let zero = DualModel::new(x.view(), kernel, exponent, &vec![0.0; n]).expect("valid");
        let nothing = zero.compile(&[], 0.5, Memory::default()).expect("raw");
        assert_eq!(nothing.bound_at(&new).expect("fits"), vec![0.0; 100]);
    }
}
