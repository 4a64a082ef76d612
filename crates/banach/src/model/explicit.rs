//! Functions written out: a constant and a few monomials.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

use rayon::prelude::*;

use crate::{Error, FeatureMatrix, data::MAX_ENTRY, error::Parameter, kernel::Monomial};

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

pub(super) fn monomial_column(monomial: &Monomial, x: &FeatureMatrix<'_>, out: &mut [f64]) {
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
/// assert_eq!(model.equation("y", &["age", "dose"]), "y = 1.2 + 0.98 * age * dose^2 - 0.51 * x7");
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExplicitModel {
    intercept: f64,
    terms: Vec<(Monomial, f64)>,
    /// Significant digits of the constant and of every coefficient in texts.
    digits: Vec<usize>,
}

/// Significant digits of a number of an equation, unless others are asked for.
pub const EQUATION_DIGITS: usize = 4;

impl ExplicitModel {
    /// The function with these coefficients, finite numbers.
    pub fn new(intercept: f64, terms: Vec<(Monomial, f64)>) -> Result<Self, Error> {
        Parameter::Intercept.check(intercept, intercept.is_finite(), "a finite number")?;
        if let Some(row) = terms.iter().position(|(_, coefficient)| !coefficient.is_finite()) {
            let value = terms[row].1;
            return Err(Error::BadValue { what: "the coefficients", row, value, allowed: "finite numbers" });
        }
        let digits = vec![EQUATION_DIGITS; terms.len() + 1];
        Ok(Self { intercept, terms, digits })
    }

    /// With so many significant digits of the constant and of every coefficient in its texts.
    pub fn with_digits(self, digits: Vec<usize>) -> Result<Self, Error> {
        Error::check_length("the digits", digits.len(), self.terms.len() + 1)?;
        Ok(Self { digits, ..self })
    }

    /// The significant digits of the constant and of every coefficient in texts.
    pub fn digits(&self) -> &[usize] {
        &self.digits
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

    /// As a line of text with `left` before the equals sign, and four digits unless others are asked for: `y = 1.2 + 0.98 * age * dose^2 - 0.51 * x7`. Names that could be
    /// taken for something else are in backticks.
    pub fn equation<S: AsRef<str>>(&self, left: &str, names: &[S]) -> String {
        self.text_of(left, |j| text_name(names, j))
    }

    /// The same with any texts for the variables.
    pub(crate) fn text_of(&self, left: &str, variable: impl Fn(usize) -> String) -> String {
        let factor = |&(j, power): &(usize, usize)| match power {
            1 => variable(j),
            _ => format!("{}^{power}", variable(j)),
        };
        let monomial = |monomial: &Monomial| monomial.factors().iter().map(factor).collect::<Vec<_>>().join(" * ");
        self.text(left, " * ", |number| number, monomial)
    }

    /// As a formula of LaTeX, with as many digits: `y = 1.2 + 0.98\, \mathrm{age}\, \mathrm{dose}^{2} - 0.51\, x_{7}`.
    pub fn latex<S: AsRef<str>>(&self, left: &str, names: &[S]) -> String {
        self.latex_of(left, |j| latex_name(names, j))
    }

    /// The same with any formulas for the variables.
    pub(crate) fn latex_of(&self, left: &str, variable: impl Fn(usize) -> String) -> String {
        let factor = |&(j, power): &(usize, usize)| match power {
            1 => variable(j),
            _ => format!("{}^{{{power}}}", variable(j)),
        };
        let monomial = |monomial: &Monomial| monomial.factors().iter().map(factor).collect::<Vec<_>>().join("\\, ");
        self.text(&latex_left(left), "\\, ", latex_number, monomial)
    }

    fn text(
        &self,
        left: &str,
        times: &str,
        number: impl Fn(String) -> String,
        monomial: impl Fn(&Monomial) -> String,
    ) -> String {
        let mut text = format!("{left} =");
        let constant = self.intercept != 0.0 || self.terms.is_empty();
        if constant {
            let sign = if self.intercept < 0.0 { "-" } else { "" };
            // Writing to a string does not fail.
            let _ = write!(text, " {sign}{}", number(digits(self.intercept.abs(), self.digits[0])));
        }
        for (at, (k, coefficient)) in self.terms.iter().enumerate() {
            let sign = match (*coefficient < 0.0, at == 0 && !constant) {
                (false, true) => "",
                (true, true) => "-",
                (false, false) => "+ ",
                (true, false) => "- ",
            };
            let size = number(digits(coefficient.abs(), self.digits[at + 1]));
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
        f.write_str(&self.equation::<&str>("y", &[]))
    }
}

/// The name of a variable in an equation.
pub(crate) fn text_name<S: AsRef<str>>(names: &[S], j: usize) -> String {
    names.get(j).map_or_else(|| format!("x{j}"), |name| in_backticks(name.as_ref()).into_owned())
}

/// The same in LaTeX.
pub(crate) fn latex_name<S: AsRef<str>>(names: &[S], j: usize) -> String {
    names.get(j).map_or_else(|| format!("x_{{{j}}}"), |name| format!("\\mathrm{{{}}}", escaped(name.as_ref())))
}

/// What stands before the equals sign, in LaTeX: a letter as it is, a name upright.
fn latex_left(left: &str) -> String {
    if left.chars().count() == 1 { escaped(left) } else { format!("\\mathrm{{{}}}", escaped(left)) }
}

/// A number in LaTeX.
pub(crate) fn latex_number(number: String) -> String {
    match number.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => number,
    }
}

/// A name as it is, or in backticks where a reader could take it for a number or for several things.
pub(crate) fn in_backticks(name: &str) -> Cow<'_, str> {
    let joins = |c: char| c.is_whitespace() || "+-*/^=()<>,;:|&!`\\".contains(c);
    let plain = !name.is_empty() && !name.contains(joins) && !name.starts_with(|c: char| c.is_ascii_digit());
    // Backticks within are doubled.
    if plain { Cow::Borrowed(name) } else { Cow::Owned(format!("`{}`", name.replace('`', "``"))) }
}

/// A name in LaTeX.
pub(crate) fn escaped(name: &str) -> String {
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

/// A number >= 0 with so many significant digits, without zeros at the end.
pub(crate) fn digits(value: f64, count: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = count.max(1) - 1;
    let scientific = format!("{value:.decimals$e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if (-4..7.max(count as i32)).contains(&exponent) {
        // The rounded number, so that 0.99999 is 1 and not 1.0000.
        let rounded: f64 = scientific.parse().unwrap_or(value);
        trim(&format!("{rounded:.*}", (decimals as i32 - exponent).max(0) as usize))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Numbers in [-1, 1) without a pattern.
    pub(in crate::model) fn jumble(count: usize, seed: f64) -> Vec<f64> {
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
        assert_eq!(model.equation("y", &names), "y = 1.2 + 0.98 * age * dose_1^2 - 0.51 * x7 + 12350 - 1.5e-9 * x2^3");
        assert_eq!(
            model.latex("y", &names),
            "y = 1.2 + 0.98\\, \\mathrm{age}\\, \\mathrm{dose\\_1}^{2} - 0.51\\, x_{7} + 12350 - 1.5 \\cdot 10^{-9}\\, x_{2}^{3}"
        );
        let product = ExplicitModel::new(0.0, vec![(monomial(&[(0, 1), (1, 2), (2, 1)]), 2.0)]).expect("finite");
        assert_eq!(product.equation("mg/l", &["a-b", "color=red", "ok_1"]), "mg/l = 2 * `a-b` * `color=red`^2 * ok_1");
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
}
