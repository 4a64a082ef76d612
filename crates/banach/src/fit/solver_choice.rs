//! Which algorithm fits a model, and what it may be told.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Exponent, Memory, Newton, Solver, Stopping,
    error::Parameter,
    solver::{Gradient, Linesearch, ProximalGradient, Rule},
};

/// Which algorithm fits a model. In files it is its name, or an object of its name and what it was told.
///
/// ```
/// use banach::{Spec, fit::{PaperAlgorithm, PaperOptions, SolverChoice}};
///
/// let options = PaperOptions { algorithm: Some(PaperAlgorithm::Gradient), delta: Some(0.3), ..PaperOptions::default() };
/// let spec = Spec { solver: SolverChoice::Paper(options), ..Spec::default() };
/// assert_eq!("paper".parse::<SolverChoice>()?.with_options(options)?, SolverChoice::Paper(options));
/// assert!(SolverChoice::Newton.with_options(options).is_err());
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub enum SolverChoice {
    /// The fastest for the problem at hand: Newton's method so far.
    #[default]
    Auto,
    /// Newton's method, which runs all functions in lockstep.
    Newton,
    /// An algorithm of the paper.
    Paper(PaperOptions),
}

/// An algorithm of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaperAlgorithm {
    /// Algorithm 2.1, [`Gradient`]: for the squared loss.
    #[serde(rename = "2.1")]
    Gradient,
    /// Algorithm 3.3, [`ProximalGradient`]: for every loss.
    #[serde(rename = "3.3")]
    ProximalGradient,
}

/// What the algorithms of the paper may be told. What is not told is as in [`ProximalGradient`] or [`Gradient`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperOptions {
    /// Which of them; 3.3 unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<PaperAlgorithm>,
    /// Where the search for a step starts: restart in 3.3, monotone in 2.1 unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// In ]0, 1[; 0.5 unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// In ]0, 1[; 0.5 unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The first trial step, > 0, and below gamma/(2(1-delta)) in 2.1. Unless told otherwise gamma in 3.3, and 99 % of the limit in
    /// 2.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_bar: Option<f64>,
}

impl PaperAlgorithm {
    /// Both algorithms.
    pub const ALL: [Self; 2] = [Self::Gradient, Self::ProximalGradient];

    /// Its number in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gradient => "2.1",
            Self::ProximalGradient => "3.3",
        }
    }
}

impl FromStr for PaperAlgorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let allowed = "2.1, for the squared loss, or 3.3, for every loss";
        let refused = || Error::Parameter { parameter: Parameter::Algorithm, got: format!("{name:?}"), allowed };
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or_else(refused)
    }
}

impl PaperOptions {
    const NONE: Self = Self { algorithm: None, rule: None, delta: None, theta: None, lambda_bar: None };

    /// What was told.
    fn told(self) -> impl Iterator<Item = (Parameter, String)> {
        let number = |value: Option<f64>| value.map(|value| value.to_string());
        let told = [
            (Parameter::Algorithm, self.algorithm.map(|algorithm| algorithm.name().to_owned())),
            (Parameter::Rule, self.rule.map(|rule| rule.name().to_owned())),
            (Parameter::Delta, number(self.delta)),
            (Parameter::Theta, number(self.theta)),
            (Parameter::LambdaBar, number(self.lambda_bar)),
        ];
        told.into_iter().filter_map(|(parameter, value)| Some((parameter, value?)))
    }

    fn linesearch(self, default: Linesearch) -> Linesearch {
        Linesearch {
            rule: self.rule.unwrap_or(default.rule),
            delta: self.delta.unwrap_or(default.delta),
            theta: self.theta.unwrap_or(default.theta),
            lambda_bar: self.lambda_bar,
        }
    }

    fn solver(self, stopping: Stopping) -> Box<dyn Solver> {
        match self.algorithm {
            Some(PaperAlgorithm::Gradient) => {
                Box::new(Gradient { stopping, linesearch: self.linesearch(Gradient::default().linesearch) })
            }
            Some(PaperAlgorithm::ProximalGradient) | None => {
                Box::new(ProximalGradient { stopping, linesearch: self.linesearch(Linesearch::default()) })
            }
        }
    }
}

impl SolverChoice {
    /// Every choice, without options.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Newton, Self::Paper(PaperOptions::NONE)];

    /// Its name in parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Newton => "newton",
            Self::Paper(_) => "paper",
        }
    }

    /// What the algorithm was told.
    pub fn options(self) -> PaperOptions {
        match self {
            Self::Paper(options) => options,
            Self::Auto | Self::Newton => PaperOptions::NONE,
        }
    }

    /// The same algorithm with these options. Options that it does not have, or that are out of range, are refused.
    pub fn with_options(self, options: PaperOptions) -> Result<Self, Error> {
        let chosen = match self {
            Self::Paper(_) => Self::Paper(options),
            other => match options.told().next() {
                Some((parameter, got)) => {
                    let allowed = "no value: it is an option of the solver paper";
                    return Err(Error::Parameter { parameter, got, allowed });
                }
                None => other,
            },
        };
        chosen.check()?;
        Ok(chosen)
    }

    /// Whether the options are in range. Only data can tell that Algorithm 2.1 does not take a loss or a `lambda_bar`.
    pub(crate) fn check(self) -> Result<(), Error> {
        self.options().linesearch(Linesearch::default()).first_step(1.0).map(|_| ())
    }

    /// Whether an algorithm was asked for that does not take this exponent.
    pub(crate) fn check_for(self, exponent: Exponent) -> Result<(), Error> {
        if exponent.is_endpoint() && self != Self::Auto {
            return Err(Error::parameter(Parameter::Solver, self.name(), "auto for p = 1, which has one algorithm"));
        }
        Ok(())
    }

    /// The algorithm for p > 1, within this memory.
    pub fn solver(self, stopping: Stopping, memory: Memory) -> Box<dyn Solver> {
        match self {
            Self::Auto | Self::Newton => Box::new(Newton { stopping, memory }),
            Self::Paper(options) => options.solver(stopping),
        }
    }
}

/// Its name, and what it was told in brackets.
impl fmt::Display for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> =
            self.options().told().map(|(told, value)| format!("{} = {value}", told.name())).collect();
        if told.is_empty() { f.pad(self.name()) } else { f.pad(&format!("{} ({})", self.name(), told.join(", "))) }
    }
}

impl FromStr for SolverChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let refused = || Error::Parameter {
            parameter: Parameter::Solver,
            got: format!("{name:?}"),
            allowed: "auto, newton or paper",
        };
        Self::ALL.into_iter().find(|choice| choice.name() == name).ok_or_else(refused)
    }
}

/// A choice in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "the name of a solver, or an object of the name paper and its options")]
enum Written {
    Name(String),
    Told(Told),
}

/// A choice with options.
#[derive(Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
enum Told {
    Paper(PaperOptions),
}

impl From<SolverChoice> for Written {
    fn from(choice: SolverChoice) -> Self {
        match choice.options() {
            PaperOptions::NONE => Self::Name(choice.name().to_owned()),
            options => Self::Told(Told::Paper(options)),
        }
    }
}

impl TryFrom<Written> for SolverChoice {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        match written {
            Written::Name(name) => name.parse(),
            Written::Told(Told::Paper(options)) => Self::Paper(options).with_options(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> PaperOptions {
        PaperOptions {
            algorithm: Some(PaperAlgorithm::Gradient),
            rule: Some(Rule::Restart),
            delta: Some(0.3),
            theta: Some(0.1 + 0.2),
            lambda_bar: Some(0.2),
        }
    }

    #[test]
    fn a_choice_is_told_by_its_name() {
        for choice in SolverChoice::ALL {
            assert_eq!((choice.name().parse(), choice.to_string()), (Ok(choice), choice.name().to_owned()));
        }
        let some = PaperOptions { theta: Some(0.9), ..PaperOptions::default() };
        assert_eq!(SolverChoice::Paper(some).to_string(), "paper (theta = 0.9)");
        assert!("magic".parse::<SolverChoice>().is_err_and(|error| error.to_string().contains("newton")));
    }

    #[test]
    fn options_are_checked_in_one_place() {
        let paper = SolverChoice::Paper(PaperOptions::default());
        assert_eq!(paper.with_options(told()), Ok(SolverChoice::Paper(told())));
        assert_eq!(SolverChoice::Newton.with_options(PaperOptions::default()), Ok(SolverChoice::Newton));
        for (options, name) in [
            (PaperOptions { delta: Some(1.0), ..PaperOptions::default() }, "delta = 1;"),
            (PaperOptions { theta: Some(f64::NAN), ..PaperOptions::default() }, "theta = NaN;"),
            (PaperOptions { lambda_bar: Some(0.0), ..PaperOptions::default() }, "lambda_bar = 0;"),
        ] {
            let error = paper.with_options(options).expect_err("out of range").to_string();
            assert!(error.starts_with(name) && error.contains("allowed"), "{error}");
            let error = SolverChoice::Auto.with_options(options).expect_err("of another solver").to_string();
            assert!(error.contains("option of the solver paper"), "{error}");
        }
        assert!("2.2".parse::<PaperAlgorithm>().is_err_and(|error| error.to_string().contains("3.3")));
    }

    #[test]
    fn the_algorithm_is_told_what_was_said() {
        let stopping = Stopping::default();
        let debug = |choice: SolverChoice| format!("{:?}", choice.solver(stopping, Memory::limit(1)));
        let linesearch = Linesearch { rule: Rule::Restart, delta: 0.3, theta: 0.1 + 0.2, lambda_bar: Some(0.2) };
        assert_eq!(debug(SolverChoice::Paper(told())), format!("{:?}", Gradient { stopping, linesearch }));
        let only = |algorithm| SolverChoice::Paper(PaperOptions { algorithm, ..PaperOptions::default() });
        assert_eq!(
            debug(only(Some(PaperAlgorithm::Gradient))),
            format!("{:?}", Gradient { stopping, ..Gradient::default() })
        );
        for algorithm in [None, Some(PaperAlgorithm::ProximalGradient)] {
            assert_eq!(
                debug(only(algorithm)),
                format!("{:?}", ProximalGradient { stopping, ..ProximalGradient::default() })
            );
        }
    }
}
