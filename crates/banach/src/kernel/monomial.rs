use std::{cmp::Ordering, fmt, iter};

use serde::{Deserialize, Serialize};

/// The sum of exponents, which may come from a file and be anything.
fn sum_of_exponents(factors: &[(usize, usize)]) -> usize {
    factors.iter().fold(0, |sum, (_, exponent)| sum.saturating_add(*exponent))
}

/// A product of powers of variables, `x^k`: the name of a feature. Variables are numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Vec<(usize, usize)>", into = "Vec<(usize, usize)>")]
pub struct Monomial {
    factors: Vec<(usize, usize)>,
}

impl Monomial {
    /// The product of these variables with their exponents, in any order; exponents of the same variable add up, to the largest number at most.
    pub fn new(factors: &[(usize, usize)]) -> Self {
        let mut sorted: Vec<(usize, usize)> = factors.iter().copied().filter(|(_, exponent)| *exponent > 0).collect();
        sorted.sort_unstable();
        let total = |run: &[(usize, usize)]| (run[0].0, sum_of_exponents(run));
        Self { factors: sorted.chunk_by(|a, b| a.0 == b.0).map(total).collect() }
    }

    /// The product of variables, each as often as it is listed, in increasing order.
    pub(crate) fn of_sorted(variables: &[usize]) -> Self {
        let factors = variables.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
        Self { factors }
    }

    /// As features are ordered: by degree, and within a degree as the words of their variables are in a dictionary.
    pub(crate) fn cmp_listed(&self, other: &Self) -> Ordering {
        self.degree().cmp(&other.degree()).then_with(|| self.variables().cmp(&other.variables()))
    }

    /// The variables that occur, in increasing order, each with its exponent; none for the constant 1.
    pub fn factors(&self) -> &[(usize, usize)] {
        &self.factors
    }

    /// The variables, each as often as it occurs, in increasing order.
    pub(crate) fn variables(&self) -> Vec<usize> {
        self.factors.iter().flat_map(|&(variable, exponent)| iter::repeat_n(variable, exponent)).collect()
    }

    /// The sum of the exponents.
    pub fn degree(&self) -> usize {
        sum_of_exponents(&self.factors)
    }

    /// `x^k` for a point that has all its variables.
    pub fn value(&self, x: &[f64]) -> f64 {
        self.factors.iter().map(|&(variable, exponent)| x[variable].powi(exponent as i32)).product()
    }

    /// As displayed, with these names for the variables: `age^2 * height`. Variables without a name are numbered.
    pub fn with_names<S: AsRef<str>>(&self, names: &[S]) -> String {
        self.text(|variable| {
            names.get(variable).map_or_else(|| format!("x{variable}"), |name| name.as_ref().to_owned())
        })
    }

    fn text(&self, name: impl Fn(usize) -> String) -> String {
        let factor = |&(variable, exponent): &(usize, usize)| match exponent {
            1 => name(variable),
            _ => format!("{}^{exponent}", name(variable)),
        };
        match self.factors.as_slice() {
            [] => "1".to_owned(),
            factors => factors.iter().map(factor).collect::<Vec<_>>().join(" * "),
        }
    }
}

impl From<Vec<(usize, usize)>> for Monomial {
    fn from(factors: Vec<(usize, usize)>) -> Self {
        Self::new(&factors)
    }
}

impl From<Monomial> for Vec<(usize, usize)> {
    fn from(monomial: Monomial) -> Self {
        monomial.factors
    }
}

impl fmt::Display for Monomial {
    /// `x3^2 * x7`; the constant is `1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text(|variable| format!("x{variable}")))
    }
}
