//! A function of few terms, with the names of variables.

use serde::Serialize;

use super::{Factor, name};
use crate::{
    Error,
    data::ColumnUnits,
    sparse::{Alternative, BestOfSize, SparseCertificate, SparseFunction, SparseTerm, Substitution, WrittenFunction},
};

/// One function of few terms: of a number, of two classes, or of one class against the others.
#[derive(Debug, Clone, Serialize)]
pub struct SparseFunctionReport {
    /// The class that it is positive for.
    pub class: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub table: SparseTable,
}

/// The few terms that explain a target, and what holds of them.
#[derive(Debug, Clone, Serialize)]
pub struct SparseTable {
    /// The equation as a line of text, in the units of the columns.
    pub equation: String,
    /// What stands in it for variables, a line for each; nothing where it is multiplied out.
    #[serde(rename = "where")]
    pub where_lines: Vec<String>,
    /// The numbers of the equation, with all their digits.
    pub written: WrittenTable,
    /// The constant beside the terms.
    pub intercept: f64,
    /// The terms, the one with the most evidence first.
    pub terms: Vec<SparseEntry>,
    /// What is taken from a variable of the terms before it is multiplied; nothing if the variables are as they were measured.
    pub centres: Vec<Centre>,
    /// The criterion: the smaller, the better, and 0 for a constant.
    pub criterion: f64,
    /// The share of the variance that the terms do not explain; of classes, of the deviance.
    pub unexplained: f64,
    /// The monomials that could have been named.
    pub dictionary: f64,
    /// Whether the terms separate the classes, so that nothing bounds their coefficients.
    pub separated: bool,
    /// What holds at the end of the search; of steps, `null` for one that does not exist.
    pub certificate: SparseCertificate,
    /// The best equation of every number of terms that was looked at.
    pub sizes: Vec<BestOfSize>,
    /// Passes over all monomials.
    pub passes: usize,
}

/// An equation as numbers: `constant + sum_k coefficient_k monomial_k`.
#[derive(Debug, Clone, Serialize)]
pub struct WrittenTable {
    /// Its constant.
    pub constant: f64,
    /// Its terms.
    pub terms: Vec<WrittenTerm>,
    /// What stands for variables: `(variable - minus)/over`.
    pub substitutions: Vec<SubstitutedVariable>,
}

/// One term of an equation.
#[derive(Debug, Clone, Serialize)]
pub struct WrittenTerm {
    /// Its monomial.
    pub monomial: String,
    /// The same in parts.
    pub factors: Vec<Factor>,
    /// Its coefficient.
    pub coefficient: f64,
}

/// What stands for a variable.
#[derive(Debug, Clone, Serialize)]
pub struct SubstitutedVariable {
    /// The variable.
    pub variable: String,
    /// What is taken from it.
    pub minus: f64,
    /// What the difference is divided by.
    pub over: f64,
}

impl WrittenTable {
    fn new(written: &WrittenFunction, names: &[impl AsRef<str>]) -> Self {
        let term = |(monomial, coefficient): &(_, f64)| {
            let monomial: &crate::kernel::Monomial = monomial;
            let factors = Factor::all(monomial, names);
            WrittenTerm { monomial: monomial.with_names(names), factors, coefficient: *coefficient }
        };
        let substituted = |&Substitution { variable, minus, over, .. }: &Substitution| SubstitutedVariable {
            variable: name(names, variable),
            minus,
            over,
        };
        Self {
            constant: written.model().intercept(),
            terms: written.model().terms().iter().map(term).collect(),
            substitutions: written.substitutions().iter().map(substituted).collect(),
        }
    }
}

/// One term.
#[derive(Debug, Clone, Serialize)]
pub struct SparseEntry {
    /// Its monomial.
    pub monomial: String,
    /// The same in parts.
    pub factors: Vec<Factor>,
    /// Its coefficient.
    pub coefficient: f64,
    /// Its coefficient without a penalty; by evidence the same.
    pub refit: f64,
    /// The standard error of the refit, as if the terms had been known beforehand; `null` where there is none.
    pub std_error: f64,
    /// Where the interval of 95 % around the refit begins, likewise.
    pub lower: f64,
    /// Where it ends.
    pub upper: f64,
    /// How much the criterion rises without it.
    pub evidence: f64,
    /// What could stand in its place.
    pub alternatives: Vec<AlternativeEntry>,
}

/// A monomial that could stand in the place of a term.
#[derive(Debug, Clone, Serialize)]
pub struct AlternativeEntry {
    /// Its name.
    pub monomial: String,
    /// How much the criterion rises with it.
    pub evidence: f64,
}

/// A number that is taken from a variable.
#[derive(Debug, Clone, Serialize)]
pub struct Centre {
    /// The variable.
    pub variable: String,
    /// Its mean over the samples.
    pub mean: f64,
}

impl SparseTable {
    /// `left` stands before the equals sign; `units` are those of the columns, if they are standardised.
    pub fn new(
        found: &SparseFunction,
        names: &[impl AsRef<str>],
        units: Option<ColumnUnits<'_>>,
        left: &str,
    ) -> Result<Self, Error> {
        let alternative = |Alternative { monomial, evidence }: &Alternative| AlternativeEntry {
            monomial: monomial.with_names(names),
            evidence: *evidence,
        };
        let entry = |term: &SparseTerm| SparseEntry {
            monomial: term.monomial.with_names(names),
            factors: Factor::all(&term.monomial, names),
            coefficient: term.coefficient,
            refit: term.refit,
            std_error: term.std_error,
            lower: term.lower,
            upper: term.upper,
            evidence: term.evidence,
            alternatives: term.alternatives.iter().map(alternative).collect(),
        };
        let centre = |variable: usize| {
            let mean = *found.centres().get(variable)?;
            Some(Centre { variable: name(names, variable), mean })
        };
        let written = found.written(units)?;
        Ok(Self {
            equation: written.equation(left, names),
            where_lines: written.where_lines(names),
            written: WrittenTable::new(&written, names),
            intercept: found.intercept(),
            terms: found.terms().iter().map(entry).collect(),
            centres: found.variables().into_iter().filter_map(centre).collect(),
            criterion: found.criterion(),
            unexplained: found.unexplained(),
            dictionary: found.dictionary(),
            separated: found.separated(),
            certificate: found.certificate(),
            sizes: found.sizes().to_vec(),
            passes: found.passes(),
        })
    }

    /// Whether the coefficients are smaller than those that the terms get without a penalty.
    pub fn shrinks(&self) -> bool {
        self.terms.iter().any(|term| term.coefficient != term.refit)
    }
}
