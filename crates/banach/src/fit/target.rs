//! What is to be predicted: numbers or classes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Error, error::Parameter, loss::Targets, solver::Folds};

/// The targets of the samples. References to numbers and to integers are targets.
#[derive(Debug, Clone)]
pub enum Target<'a> {
    /// Numbers, one vector for every output.
    Numbers(Outputs<'a>),
    /// Classes, each known by an integer.
    Labels(Cow<'a, [i64]>),
}

/// The targets of every function.
pub type Outputs<'a> = Vec<Cow<'a, [f64]>>;

/// What a model predicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// This many numbers, each by a function of its own.
    Numbers(usize),
    /// Classes, in increasing order. Two classes have one function, which is positive for the second; more have one each.
    Classes(Vec<i64>),
}

impl<'a> From<&'a [f64]> for Target<'a> {
    fn from(y: &'a [f64]) -> Self {
        Self::Numbers(vec![Cow::Borrowed(y)])
    }
}

/// Several outputs.
impl<'a> From<&[&'a [f64]]> for Target<'a> {
    fn from(outputs: &[&'a [f64]]) -> Self {
        Self::Numbers(outputs.iter().map(|y| Cow::Borrowed(*y)).collect())
    }
}

impl<'a> From<&'a Vec<f64>> for Target<'a> {
    fn from(y: &'a Vec<f64>) -> Self {
        Self::from(&y[..])
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Target<'a> {
    fn from(y: &'a [f64; N]) -> Self {
        Self::from(&y[..])
    }
}

impl<'a> From<&'a [i64]> for Target<'a> {
    fn from(y: &'a [i64]) -> Self {
        Self::Labels(Cow::Borrowed(y))
    }
}

impl<'a> From<&'a Vec<i64>> for Target<'a> {
    fn from(y: &'a Vec<i64>) -> Self {
        Self::from(&y[..])
    }
}

impl<'a, const N: usize> From<&'a [i64; N]> for Target<'a> {
    fn from(y: &'a [i64; N]) -> Self {
        Self::from(&y[..])
    }
}

impl Task {
    /// The number of functions.
    pub fn functions(&self) -> usize {
        match self {
            Self::Numbers(outputs) => *outputs,
            Self::Classes(_) => self.positive().len(),
        }
    }

    /// For every function 1 for the labels of its class and -1 for all others.
    pub(super) fn signs(&self, labels: &[i64]) -> Vec<Vec<f64>> {
        let sign = |class: &i64| labels.iter().map(|label| if label == class { 1.0 } else { -1.0 }).collect();
        self.positive().iter().map(sign).collect()
    }

    /// The classes that a function is fitted for.
    fn positive(&self) -> &[i64] {
        match self {
            Self::Numbers(_) => &[],
            Self::Classes(classes) if classes.len() == 2 => &classes[1..],
            Self::Classes(classes) => classes,
        }
    }
}

impl Target<'_> {
    /// The folds unless told otherwise: the usual number, as in scikit-learn.
    pub(super) const FOLDS: usize = 5;

    /// Weights that give every class the same part, with the mean that the given weights have; refused for numbers.
    pub fn balanced(&self, sample_weight: Option<&[f64]>) -> Result<Vec<f64>, Error> {
        let Self::Labels(labels) = self else {
            return Err(Error::parameter(Parameter::ClassWeight, "numbers as targets", "classes"));
        };
        self.check_lengths(labels.len(), sample_weight)?;
        let weight = |i: usize| sample_weight.map_or(1.0, |weights| weights[i]);
        let classes = classes(labels, sample_weight)?;
        let mut sums = vec![0.0; classes.len()];
        let place = |label: &i64| classes.partition_point(|class| class < label);
        labels.iter().enumerate().for_each(|(i, label)| sums[place(label)] += weight(i));
        let total: f64 = sums.iter().sum();
        let each = total / classes.len() as f64;
        Ok(labels.iter().enumerate().map(|(i, label)| weight(i) * each / sums[place(label)]).collect())
    }

    /// What is predicted, and the targets of every function: numbers, or 1 for its class and -1 for all others. Refused are targets whose
    /// number is not that of the samples, or whose kind is not that of the loss.
    pub fn outputs(
        &self,
        samples: usize,
        targets: Targets,
        sample_weight: Option<&[f64]>,
    ) -> Result<(Task, Outputs<'_>), Error> {
        self.check_lengths(samples, sample_weight)?;
        match (self, targets) {
            (Self::Numbers(outputs), Targets::Real | Targets::Counts) => {
                let outputs: Outputs<'_> = outputs.iter().map(|y| Cow::Borrowed(&**y)).collect();
                Ok((Task::Numbers(outputs.len()), outputs))
            }
            (Self::Labels(labels), Targets::Signs) => {
                let task = Task::Classes(classes(labels, sample_weight)?);
                let signs = task.signs(labels).into_iter().map(Cow::Owned).collect();
                Ok((task, signs))
            }
            (Self::Numbers(_), Targets::Signs) => Err(Error::Parameter {
                parameter: Parameter::Target,
                got: "numbers".to_owned(),
                allowed: "integers, one for each class, with a loss for classes",
            }),
            (Self::Labels(_), Targets::Real | Targets::Counts) => Err(Error::Parameter {
                parameter: Parameter::Target,
                got: "classes".to_owned(),
                allowed: "numbers, with a loss for numbers",
            }),
        }
    }

    /// Wrong lengths are found before anything is built.
    fn check_lengths(&self, samples: usize, sample_weight: Option<&[f64]>) -> Result<(), Error> {
        let own: Vec<usize> = match self {
            Self::Numbers(outputs) => outputs.iter().map(|y| y.len()).collect(),
            Self::Labels(labels) => vec![labels.len()],
        };
        if own.is_empty() {
            return Err(Error::Empty { what: "y" });
        }
        let weights = sample_weight.map(|weights| ("sample_weight", weights.len()));
        match own.into_iter().map(|length| ("y", length)).chain(weights).find(|(_, length)| *length != samples) {
            Some((what, got)) => Err(Error::Shape { what, got, expected: samples }),
            None => Ok(()),
        }
    }

    /// So many random folds; every class is spread evenly over them.
    pub fn folds(&self, samples: usize, count: usize, seed: u64) -> Result<Folds, Error> {
        match self {
            Self::Numbers(_) => Folds::shuffled(samples, count, seed),
            Self::Labels(labels) => {
                let strata: Vec<f64> = labels.iter().map(|label| *label as f64).collect();
                Folds::stratified(&strata, count, seed)
            }
        }
    }
}

/// The labels that occur, in order. Each needs a sample that counts.
fn classes(y: &[i64], sample_weight: Option<&[f64]>) -> Result<Vec<i64>, Error> {
    let mut classes = y.to_vec();
    classes.sort_unstable();
    classes.dedup();
    if let [label] = classes[..] {
        return Err(Error::OneLabel { label });
    }
    let Some(weights) = sample_weight else { return Ok(classes) };
    let counts = |class: i64| y.iter().zip(weights).any(|(label, weight)| *label == class && *weight != 0.0);
    match classes.iter().find(|class| !counts(**class)) {
        Some(&label) => Err(Error::AbsentLabel { label }),
        None => Ok(classes),
    }
}
