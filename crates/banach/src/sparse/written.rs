//! How a function of few terms is written: in the units of the columns, and multiplied out where that loses no digits.
//!
//! A term is a product of differences, `a prod_j ((x_j - m_j)/s_j)^e_j`. Multiplied out, its summands can be much larger than the function
//! itself, and what is left of them after they cancel has as many wrong digits more. How many is computed, not guessed: with the range of
//! every variable on the samples, `|c| prod_j max|x_j|^e_j` is the largest value of every summand.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::SparseFunction;
use crate::{
    Error, FeatureMatrix,
    data::ColumnUnits,
    kernel::Monomial,
    model::{EQUATION_DIGITS, ExplicitModel, digits, escaped, in_backticks, latex_name, latex_number, text_name},
};

/// Summands that are together so many times the values of a function cost four digits of the sixteen of a number, and four digits more on paper:
/// beyond it, a function is not multiplied out.
const MOST_CANCELLATION: f64 = 1e4;
/// Nobody reads an equation of more monomials that did not have them before.
const MOST_MONOMIALS: usize = 64;
/// All digits that a number has.
const ALL_DIGITS: usize = 17;
/// Digits of a number that is taken from a variable whose range is not known.
const DIGITS_OF_MEAN: usize = 6;

/// Where the samples of a function lie, and how much it varies there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleExtent {
    /// The standard deviation of its values.
    pub deviation: f64,
    /// Every variable of its terms with its least and its largest value.
    pub ranges: Vec<(usize, f64, f64)>,
}

/// A function of few terms as an equation: of the variables as they were measured, or of [`Substitution`]s of some of them.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenFunction {
    model: ExplicitModel,
    substitutions: Vec<Substitution>,
}

/// What stands in an equation for a variable: `(x - minus)/over`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Substitution {
    /// The variable x.
    pub variable: usize,
    /// What is taken from it.
    pub minus: f64,
    /// What the difference is divided by.
    pub over: f64,
    /// Significant digits of both in texts.
    #[serde(skip)]
    pub digits: usize,
}

impl SparseFunction {
    /// The function as an equation in the units of the columns before they were standardised, if they were.
    ///
    /// It is multiplied out where at the samples the summands together are at most 10^4 times the largest of what they were before and the
    /// deviation of the values: then it agrees with [`predict`](Self::predict) to 10^-10 of these. Where they are larger, the range of a variable
    /// is not known, or there would be more than 64 monomials, the terms stay products of differences.
    ///
    /// Numbers have so many digits, four or more, that rounding each changes no value at the samples by more than 0.5 % of the deviation.
    pub fn written(&self, units: Option<ColumnUnits<'_>>) -> Result<WrittenFunction, Error> {
        let scaled = self.scaled(units)?;
        if scaled.substitutions.is_empty() {
            return scaled.with_digits(self.reach(units).as_ref());
        }
        let reach = self.reach(units);
        let (Some(expanded), Some(known)) = (scaled.multiplied_out(), &reach) else {
            return scaled.with_digits(reach.as_ref());
        };
        let total = |written: &WrittenFunction| written.sizes(known).iter().sum::<f64>();
        let largest = scaled.sizes(known).into_iter().fold(known.deviation, f64::max);
        let exact = total(&expanded) <= MOST_CANCELLATION * largest;
        if exact { expanded } else { scaled }.with_digits(reach.as_ref())
    }

    /// The terms as they are, with what their variables are of the columns as they were measured.
    fn scaled(&self, units: Option<ColumnUnits<'_>>) -> Result<WrittenFunction, Error> {
        let substitutions = substitutions(self.variables(), |variable| self.centre(variable), units);
        Ok(WrittenFunction { model: self.explicit()?, substitutions })
    }

    /// The variables of the terms, in increasing order.
    pub fn variables(&self) -> Vec<usize> {
        variables(self.terms.iter().map(|term| &term.monomial))
    }

    /// The ranges of the variables as they were measured; `None` where they are not known, as of models of earlier versions.
    fn reach(&self, units: Option<ColumnUnits<'_>>) -> Option<Reach> {
        let extent = self.extent.as_ref().filter(|extent| extent.deviation > 0.0)?;
        let measured = |variable: usize| {
            let &(_, least, largest) = extent.ranges.iter().find(|(own, ..)| *own == variable)?;
            let (mean, over) = units.map_or((0.0, 1.0), |units| (units.means[variable], units.deviations[variable]));
            Some((variable, (mean + over * least, mean + over * largest)))
        };
        let ranges = self.variables().into_iter().map(measured).collect::<Option<HashMap<_, _>>>()?;
        Some(Reach { deviation: extent.deviation, ranges })
    }

    /// With where samples of positive weight lie.
    pub(super) fn with_extent(mut self, x: &FeatureMatrix<'_>, weights: &[f64]) -> Self {
        let counted: Vec<usize> = (0..x.samples()).filter(|&i| weights[i] > 0.0).collect();
        let mut column = vec![0.0; x.samples()];
        let mut range = |variable: usize| {
            x.column_into(variable, &mut column);
            let values = || counted.iter().map(|&i| column[i]);
            (variable, values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ranges = self.variables().into_iter().map(&mut range).collect();
        let total: f64 = counted.iter().map(|&i| weights[i]).sum();
        let spread = |values: Vec<f64>| {
            let mean = counted.iter().map(|&i| weights[i] / total * values[i]).sum::<f64>();
            counted.iter().map(|&i| weights[i] / total * (values[i] - mean).powi(2)).sum::<f64>().sqrt()
        };
        let deviation = self.predict(x).map(spread).ok().filter(|deviation| deviation.is_finite());
        self.extent = deviation.filter(|_| !counted.is_empty()).map(|deviation| SampleExtent { deviation, ranges });
        self
    }
}

/// The variables of monomials, in increasing order.
fn variables<'a>(monomials: impl Iterator<Item = &'a Monomial>) -> Vec<usize> {
    let mut variables: Vec<usize> = monomials.flat_map(Monomial::factors).map(|(variable, _)| *variable).collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// What variables less their centres are of the columns as they were measured.
fn substitutions(
    variables: Vec<usize>,
    centre: impl Fn(usize) -> f64,
    units: Option<ColumnUnits<'_>>,
) -> Vec<Substitution> {
    let substitution = |variable: usize| {
        let (mean, over) = units.map_or((0.0, 1.0), |units| (units.means[variable], units.deviations[variable]));
        Substitution { variable, minus: mean + centre(variable) * over, over, digits: DIGITS_OF_MEAN }
    };
    let all = variables.into_iter().map(substitution);
    all.filter(|one| one.minus != 0.0 || one.over != 1.0).collect()
}

/// The ranges of variables as they were measured, and the deviation of a function of them.
struct Reach {
    deviation: f64,
    ranges: HashMap<usize, (f64, f64)>,
}

impl Reach {
    /// The largest size of a variable, or of what stands for it.
    fn of(&self, variable: usize, substitution: Option<&Substitution>) -> f64 {
        let (least, largest) = self.ranges.get(&variable).copied().unwrap_or((0.0, 0.0));
        let (minus, over) = substitution.map_or((0.0, 1.0), |one| (one.minus, one.over));
        ((least - minus) / over).abs().max(((largest - minus) / over).abs())
    }

    /// So many digits that rounding a number, which changes values by a share of `size`, changes them by no more than 0.5 % of the deviation.
    fn digits(&self, size: f64) -> usize {
        let more = (size / self.deviation).log10().floor();
        if more > 0.0 { (EQUATION_DIGITS + more.min(99.0) as usize).min(ALL_DIGITS) } else { EQUATION_DIGITS }
    }
}

impl WrittenFunction {
    /// An equation of variables, in which some stand for others.
    pub fn new(model: ExplicitModel, substitutions: Vec<Substitution>) -> Self {
        Self { model, substitutions }
    }

    /// A function of standardised columns, which stand in it for the columns as they were measured.
    pub fn of_standardized(model: ExplicitModel, units: Option<ColumnUnits<'_>>) -> Self {
        let variables = variables(model.terms().iter().map(|(monomial, _)| monomial));
        Self { substitutions: substitutions(variables, |_| 0.0, units), model }
    }

    /// The constant and the terms.
    pub fn model(&self) -> &ExplicitModel {
        &self.model
    }

    /// What stands for variables; nothing where the equation is one of the variables as they were measured.
    pub fn substitutions(&self) -> &[Substitution] {
        &self.substitutions
    }

    fn substitution(&self, variable: usize) -> Option<&Substitution> {
        self.substitutions.iter().find(|one| one.variable == variable)
    }

    /// The largest value of the constant and of every term at the samples.
    fn sizes(&self, reach: &Reach) -> Vec<f64> {
        let power = |&(j, power): &(usize, usize)| reach.of(j, self.substitution(j)).powi(power as i32);
        let of_term = |(monomial, coefficient): &(Monomial, f64)| {
            coefficient.abs() * monomial.factors().iter().map(power).product::<f64>()
        };
        std::iter::once(self.model.intercept().abs()).chain(self.model.terms().iter().map(of_term)).collect()
    }

    fn with_digits(mut self, reach: Option<&Reach>) -> Result<Self, Error> {
        let Some(reach) = reach else { return Ok(self) };
        let sizes = self.sizes(reach);
        for at in 0..self.substitutions.len() {
            let one = self.substitutions[at];
            // A change of what is taken away by a share of itself changes a term by this share of its size, once for every power.
            let part = one.minus.abs() / (one.over * reach.of(one.variable, Some(&one)));
            let terms = self.model.terms().iter().zip(&sizes[1..]);
            let power = |monomial: &Monomial| {
                monomial.factors().iter().find(|(j, _)| *j == one.variable).map_or(0.0, |(_, power)| *power as f64)
            };
            let size: f64 = terms.map(|((monomial, _), size)| size * power(monomial) * part).sum();
            self.substitutions[at].digits = reach.digits(size);
        }
        let digits = sizes.into_iter().map(|size| reach.digits(size)).collect();
        self.model = self.model.with_digits(digits)?;
        Ok(self)
    }

    /// The same function of the variables as they were measured: the terms first, in their order, and then the monomials that multiplying out
    /// brings in, as a kernel lists them. `None` if there are too many, or a coefficient is out of range.
    fn multiplied_out(&self) -> Option<Self> {
        let own = self.model.terms().len();
        let mut found: Vec<(Monomial, Collected)> =
            self.model.terms().iter().map(|(monomial, _)| (monomial.clone(), Collected::default())).collect();
        let mut places: HashMap<Monomial, usize> =
            found.iter().enumerate().map(|(at, (monomial, _))| (monomial.clone(), at)).collect();
        let mut constant = Collected::default();
        constant.add(self.model.intercept());
        for (monomial, coefficient) in self.model.terms() {
            for (part, coefficient) in self.parts(monomial, *coefficient)? {
                if part.degree() == 0 {
                    constant.add(coefficient);
                    continue;
                }
                let place = *places.entry(part.clone()).or_insert_with(|| {
                    found.push((part, Collected::default()));
                    found.len() - 1
                });
                found[place].1.add(coefficient);
            }
        }
        found[own..].sort_by(|a, b| a.0.cmp_listed(&b.0));
        let terms: Vec<(Monomial, f64)> =
            found.into_iter().map(|(monomial, sum)| (monomial, sum.value())).filter(|(_, sum)| *sum != 0.0).collect();
        let few = terms.len() <= MOST_MONOMIALS.max(own);
        let model = ExplicitModel::new(constant.value(), terms).ok().filter(|_| few)?;
        Some(Self { model, substitutions: Vec::new() })
    }

    /// The monomials of one term, each with its coefficient.
    fn parts(&self, monomial: &Monomial, coefficient: f64) -> Option<Vec<(Monomial, f64)>> {
        let mut parts = vec![(Monomial::new(&[]), coefficient)];
        for &(j, power) in monomial.factors() {
            let (minus, over) = self.substitution(j).map_or((0.0, 1.0), |one| (one.minus, one.over));
            // With nothing to take away there is one summand, x^power.
            let lowest = if minus == 0.0 { power } else { 0 };
            if parts.len().saturating_mul(power - lowest + 1) > MOST_MONOMIALS {
                return None;
            }
            // (x - m)^e = sum_i binomial(e, i) x^i (-m)^(e-i), from the highest i.
            let (mut summands, mut factor) = (Vec::new(), over.powi(-(power as i32)));
            for i in (lowest..=power).rev() {
                summands.push((i, factor));
                factor *= -minus * i as f64 / (power - i + 1) as f64;
            }
            let mut next = Vec::with_capacity(parts.len() * summands.len());
            for (part, coefficient) in &parts {
                let times = |&(i, factor): &(usize, f64)| {
                    (Monomial::new(&[part.factors(), &[(j, i)]].concat()), coefficient * factor)
                };
                next.extend(summands.iter().map(times));
            }
            parts = next;
        }
        Some(parts)
    }

    /// As a line of text with `left` before the equals sign; [`where_lines`](Self::where_lines) say what stands for variables.
    pub fn equation<S: AsRef<str>>(&self, left: &str, names: &[S]) -> String {
        self.model.text_of(left, |j| match self.substitution(j) {
            Some(_) => stand_in(names, j),
            None => text_name(names, j),
        })
    }

    /// What stands for variables, a line for each: `z_age = age - 49.3`.
    pub fn where_lines<S: AsRef<str>>(&self, names: &[S]) -> Vec<String> {
        let line = |one: &Substitution| {
            format!("{} = {}", stand_in(names, one.variable), one.text(text_name(names, one.variable), |number| number))
        };
        self.substitutions.iter().map(line).collect()
    }

    /// The equation, and below it what stands for variables.
    pub fn text<S: AsRef<str>>(&self, left: &str, names: &[S]) -> String {
        let equation = self.equation(left, names);
        match &self.where_lines(names)[..] {
            [] => equation,
            lines => format!("{equation}\nwhere\n  {}", lines.join("\n  ")),
        }
    }

    /// The same as a formula of LaTeX.
    pub fn latex<S: AsRef<str>>(&self, left: &str, names: &[S]) -> String {
        let stand_in = |j: usize| match names.get(j) {
            Some(name) => format!("z_{{\\mathrm{{{}}}}}", escaped(name.as_ref())),
            None => format!("z_{{{j}}}"),
        };
        let equation = self.model.latex_of(left, |j| match self.substitution(j) {
            Some(_) => stand_in(j),
            None => latex_name(names, j),
        });
        let line = |one: &Substitution| {
            format!("{} = {}", stand_in(one.variable), one.text(latex_name(names, one.variable), latex_number))
        };
        match &self.substitutions.iter().map(line).collect::<Vec<_>>()[..] {
            [] => equation,
            lines => format!("{equation} \\quad\\text{{where}}\\quad {}", lines.join(",\\quad ")),
        }
    }
}

/// What stands for a variable.
fn stand_in<S: AsRef<str>>(names: &[S], j: usize) -> String {
    match names.get(j) {
        Some(name) => in_backticks(&format!("z_{}", name.as_ref())).into_owned(),
        None => format!("z{j}"),
    }
}

impl Substitution {
    /// `x - minus`, or `(x - minus)/over`.
    fn text(&self, x: String, number: impl Fn(String) -> String) -> String {
        let minus = number(digits(self.minus.abs(), self.digits));
        let difference = match self.minus {
            0.0 => x,
            minus_of if minus_of < 0.0 => format!("{x} + {minus}"),
            _ => format!("{x} - {minus}"),
        };
        let over = number(digits(self.over, self.digits.max(DIGITS_OF_MEAN)));
        match (self.over, self.minus) {
            (1.0, _) => difference,
            (_, 0.0) => format!("{difference}/{over}"),
            _ => format!("({difference})/{over}"),
        }
    }
}

/// A sum of coefficients.
#[derive(Debug, Clone, Copy, Default)]
struct Collected {
    sum: f64,
    sizes: f64,
}

impl Collected {
    fn add(&mut self, coefficient: f64) {
        self.sum += coefficient;
        self.sizes += coefficient.abs();
    }

    /// The sum; 0 where it is what rounding leaves of summands that cancel.
    fn value(self) -> f64 {
        if self.sum.abs() > 16.0 * f64::EPSILON * self.sizes { self.sum } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
