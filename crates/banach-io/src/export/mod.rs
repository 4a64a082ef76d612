//! Equations as code: functions of few terms in languages that need nothing of this library.
//!
//! A [`Saved`] model of few terms becomes [`Equations`] of the columns of a table, and these a text in a [`Language`].

mod c;
mod excel;
mod expression;
mod python;
mod r;
mod sql;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use banach::{
    data::ColumnUnits,
    fit::{SparseModel, Task},
    sparse::{Substitution, WrittenFunction},
};
use serde::Serialize;
use thiserror::Error;

use crate::{Encoding, Label, Saved, Standardization};

/// A language that equations can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Functions of a row, or of a data frame, that need the standard library alone.
    Python,
    /// Functions of a data frame.
    R,
    /// A query of a table, in standard SQL.
    Sql,
    /// Two lines of cells to paste into a spreadsheet.
    Excel,
    /// Functions of an array, of C99.
    C,
    /// The equations as data.
    Json,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Python, Self::R, Self::Sql, Self::Excel, Self::C, Self::Json];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::R => "r",
            Self::Sql => "sql",
            Self::Excel => "excel",
            Self::C => "c",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|language| language.name() == text);
        known.ok_or_else(|| format!("one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Why there is no code.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ExportError {
    /// A model that is no equation of few terms.
    #[error(
        "this model is a function of all its features and not an equation; fit one of few terms, or let the model be chosen: the \
         choice offers an equation beside its model"
    )]
    NoEquation,
    /// A choice in which no term could be named.
    #[error("no term can be named at this number of rows, so there is no equation")]
    NothingNamed,
    /// A formula that a spreadsheet does not take.
    #[error("the formula has {length} characters, and spreadsheets take at most {most}; choose another language")]
    TooLong {
        /// Its characters.
        length: usize,
        /// The most.
        most: usize,
    },
    /// A coefficient out of range.
    #[error(
        "the coefficient of a term is {0} in the units of the columns; bring the columns nearer to 1 and fit again"
    )]
    OutOfRange(f64),
    /// A function that cannot be written.
    #[error(transparent)]
    Function(#[from] banach::Error),
    /// What JSON does not take.
    #[error("the equations cannot be written as JSON: {0}")]
    Json(String),
}

/// Equations of the columns of a table, ready to be written in a language.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Equations {
    /// What is predicted: numbers by their names, or a class.
    pub outcome: Outcome,
    /// The columns that the equations need, in the order in which they come in them.
    pub inputs: Vec<InputColumn>,
    /// One for every number or class: the number, or how much speaks for the class. The largest of several classes wins, the first of equal
    /// ones; with `s(t) = 1/(1 + exp(-t))` the probability of class k is `s(t_k)` as a share of the sum over all classes.
    pub equations: Vec<EquationSum>,
}

/// What equations predict.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Numbers.
    Numbers {
        /// Their names.
        names: Vec<String>,
    },
    /// A class.
    Classes {
        /// The name of the target.
        name: String,
        /// The classes, in the order of the equations.
        labels: Vec<Label>,
    },
}

/// A column of a table, as equations see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct InputColumn {
    /// The name of the column.
    pub column: String,
    /// The input is 1 where the column holds this label, and else 0; the numbers of the column if there is none. Truth values are `true` and
    /// `false` here, and numbers that are labels are written as short as they can be (`1`, not `1.0`), however the table writes them.
    pub label: Option<String>,
}

/// `constant + sum_k coefficient_k prod_j (x_j - minus_j)^(power_j)`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EquationSum {
    /// The constant.
    pub constant: f64,
    /// The terms.
    pub terms: Vec<EquationTerm>,
}

/// One term of an equation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EquationTerm {
    /// Its coefficient.
    pub coefficient: f64,
    /// What it is multiplied by.
    pub factors: Vec<EquationFactor>,
}

/// One factor of a term.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EquationFactor {
    /// The place of the column among the inputs.
    pub input: usize,
    /// What is taken from it.
    pub minus: f64,
    /// How often it is a factor.
    pub power: usize,
}

impl Equations {
    /// The equations of functions of columns, in the same order, as people read them: multiplied out unless that would lose digits.
    fn new(
        model: &SparseModel,
        outcome: Outcome,
        columns: &[InputColumn],
        units: Option<ColumnUnits<'_>>,
    ) -> Result<Self, ExportError> {
        let mut inputs = Vec::new();
        let sums =
            model.functions().iter().map(|function| EquationSum::new(&function.written(units)?, columns, &mut inputs));
        let mut equations = sums.collect::<Result<Vec<_>, _>>()?;
        if let (Task::Classes(_), [second]) = (model.task(), &equations[..]) {
            // The one function of two classes speaks for the second, and against the first.
            equations.insert(0, second.negative());
        }
        Ok(Self { outcome, inputs, equations })
    }

    /// The equations in a language.
    pub fn written_in(&self, language: Language) -> Result<String, ExportError> {
        Ok(match language {
            Language::Python => python::text(self),
            Language::R => r::text(self),
            Language::Sql => sql::text(self),
            Language::Excel => return excel::text(self),
            Language::C => c::text(self),
            Language::Json => {
                serde_json::to_string_pretty(self).map_err(|error| ExportError::Json(error.to_string()))? + "\n"
            }
        })
    }

    /// The names of the numbers that are predicted; none for classes.
    fn names(&self) -> Option<&[String]> {
        match &self.outcome {
            Outcome::Numbers { names } => Some(names),
            Outcome::Classes { .. } => None,
        }
    }

    /// The classes; none for numbers.
    fn labels(&self) -> &[Label] {
        match &self.outcome {
            Outcome::Numbers { .. } => &[],
            Outcome::Classes { labels, .. } => labels,
        }
    }

    /// The labels that columns are compared with.
    fn labels_of_inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().filter_map(|input| input.label.as_deref())
    }

    /// What is predicted, in words.
    fn target(&self) -> String {
        match &self.outcome {
            Outcome::Numbers { names } => names.join(", "),
            Outcome::Classes { name, .. } => name.clone(),
        }
    }
}

impl EquationSum {
    /// The equation of a function; columns that it needs join the inputs.
    fn new(
        written: &WrittenFunction,
        columns: &[InputColumn],
        inputs: &mut Vec<InputColumn>,
    ) -> Result<Self, ExportError> {
        let mut sum = Self { constant: written.model().intercept(), terms: Vec::new() };
        for (monomial, coefficient) in written.model().terms() {
            let (mut coefficient, mut factors) = (*coefficient, Vec::new());
            for &(j, power) in monomial.factors() {
                let input = inputs.iter().position(|input| *input == columns[j]).unwrap_or_else(|| {
                    inputs.push(columns[j].clone());
                    inputs.len() - 1
                });
                let one = written.substitutions().iter().find(|one| one.variable == j);
                let (minus, over) = one.map_or((0.0, 1.0), |Substitution { minus, over, .. }| (*minus, *over));
                coefficient /= over.powi(power as i32);
                factors.push(EquationFactor { input, minus, power });
            }
            if !coefficient.is_finite() {
                return Err(ExportError::OutOfRange(coefficient));
            }
            if factors.is_empty() {
                sum.constant += coefficient;
            } else {
                sum.terms.push(EquationTerm { coefficient, factors });
            }
        }
        Ok(sum)
    }

    fn negative(&self) -> Self {
        let negative = |EquationTerm { coefficient, factors }: &EquationTerm| EquationTerm {
            coefficient: -coefficient,
            factors: factors.clone(),
        };
        Self { constant: -self.constant, terms: self.terms.iter().map(negative).collect() }
    }
}

impl Saved {
    /// The model as equations: of few terms, or of those that a choice offers beside its model.
    pub fn equations(&self) -> Result<Equations, ExportError> {
        let (model, standardization, encodings) = match self {
            Self::Lp(_) => return Err(ExportError::NoEquation),
            Self::Sparse(saved) => (&saved.model, saved.standardization.as_ref(), &saved.encodings),
            Self::Auto(saved) => {
                let terms = saved.model.record().terms.as_ref();
                (terms.ok_or(ExportError::NothingNamed)?, None, &saved.encodings)
            }
        };
        let target = self.target().map_or("y", |name| name).to_owned();
        let outcome = match (model.task(), self.labels()) {
            (Task::Classes(_), Some(labels)) => Outcome::Classes { name: target, labels: labels.to_vec() },
            (Task::Classes(classes), None) => {
                Outcome::Classes { name: target, labels: classes.iter().copied().map(Label::Integer).collect() }
            }
            (Task::Numbers(1), _) => Outcome::Numbers { names: vec![target] },
            (Task::Numbers(outputs), _) => {
                Outcome::Numbers { names: (0..*outputs).map(|output| format!("{target}{output}")).collect() }
            }
        };
        let names = self.variable_names();
        let columns: Vec<InputColumn> = names.iter().map(|name| column(name, encodings)).collect();
        Equations::new(model, outcome, &columns, standardization.map(Standardization::units))
    }
}

/// The column of a variable, by its name or by the label that it stands for.
fn column(name: &str, encodings: &[Encoding]) -> InputColumn {
    let of_label = |encoding: &Encoding| {
        let label = encoding.labels.iter().find(|label| format!("{}={label}", encoding.column) == name)?;
        Some(InputColumn { column: encoding.column.clone(), label: Some(label.clone()) })
    };
    let labelled = encodings.iter().find_map(of_label);
    labelled.unwrap_or_else(|| InputColumn { column: name.to_owned(), label: None })
}
