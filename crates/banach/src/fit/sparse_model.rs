//! Models of few terms: one sparse function for every output or class.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    Target, Task,
    model::{labels_of, probabilities},
};
use crate::{
    Account, Error, FeatureMatrix,
    error::Parameter,
    loss::{LossSpec, Targets},
    sparse::{SparseFunction, SparseSpec, SparseStability},
};

/// Functions of few terms, one for every output or class as [`Target::outputs`] makes them.
///
/// ```
/// use banach::{Account, FeatureMatrix, Memory, Target, sparse::SparseSpec};
///
/// // Two outputs of sixty samples of five variables, one of each output.
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..60 * 5).map(|k| jumble(k + 1)).collect();
/// let output = |j: usize| -> Vec<f64> { (0..60).map(|i| 2.0 * x[60 * j + i] + 0.1 * jumble(i + 1000)).collect() };
/// let (first, second) = (output(1), output(3));
/// let target = Target::from(&[&first[..], &second[..]][..]);
/// let x = FeatureMatrix::from_columns(60, 5, x.clone())?;
///
/// let model = SparseSpec::default().model(&x, &target, None, &Account::new(Memory::available()))?;
/// let names: Vec<String> = model.functions().iter().map(|f| f.terms()[0].monomial.to_string()).collect();
/// assert_eq!(names, ["x1", "x3"]);
/// assert_eq!(model.decisions(&x)?.len(), 2 * 60);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct SparseModel {
    task: Task,
    loss: LossSpec,
    functions: Vec<SparseFunction>,
}

/// What a file says that a model is made of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    task: Task,
    loss: LossSpec,
    functions: Vec<SparseFunction>,
}

impl TryFrom<Parts> for SparseModel {
    type Error = Error;

    /// Refuses functions that are not those of the task: whoever reads a model can use it.
    fn try_from(Parts { task, loss, functions }: Parts) -> Result<Self, Error> {
        let classes = matches!(&task, Task::Classes(_));
        let ordered = match &task {
            Task::Numbers(_) => true,
            Task::Classes(classes) => classes.len() > 1 && classes.is_sorted_by(|a, b| a < b),
        };
        if !ordered || classes != (loss.targets() == Targets::Signs) {
            return Err(Error::Parameter {
                parameter: Parameter::Target,
                got: format!("{task:?} with the {} loss", loss.name()),
                allowed: "numbers, or two or more classes in increasing order, with a loss for them",
            });
        }
        let expected = task.functions();
        if functions.is_empty() || functions.len() != expected {
            return Err(Error::Shape { what: "the functions", got: functions.len(), expected });
        }
        Ok(Self { task, loss, functions })
    }
}

impl SparseSpec {
    /// The functions of all outputs, or of all classes, with optional weights of samples, within the memory of an account.
    pub fn model(
        &self,
        x: &FeatureMatrix<'_>,
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        account: &Account,
    ) -> Result<SparseModel, Error> {
        let (task, outputs) = target.outputs(x.samples(), self.loss.targets(), sample_weight)?;
        let functions = outputs.iter().map(|y| self.run(x, y, sample_weight, account)).collect::<Result<_, _>>()?;
        Ok(SparseModel { task, loss: self.loss, functions })
    }
}

impl SparseModel {
    /// How often the terms of every function are named when samples are left out, as [`SparseSpec::stability`] has it; the spec, the samples and
    /// the targets are those that the model was fitted with.
    #[expect(clippy::too_many_arguments, reason = "the arguments of a fit, and what is drawn")]
    pub fn stability(
        &self,
        spec: &SparseSpec,
        x: &FeatureMatrix<'_>,
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        resamples: usize,
        seed: u64,
        account: &Account,
    ) -> Result<Vec<SparseStability>, Error> {
        let (task, outputs) = target.outputs(x.samples(), spec.loss.targets(), sample_weight)?;
        if task != self.task {
            let got = format!("{task:?}");
            return Err(Error::Parameter { parameter: Parameter::Target, got, allowed: "the targets of the model" });
        }
        let of_function = |(found, y): (&SparseFunction, &Cow<'_, [f64]>)| {
            spec.stability(found, x, y, sample_weight, resamples, seed, account)
        };
        self.functions.iter().zip(&outputs).map(of_function).collect()
    }

    /// What is predicted.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The labels of the classes, in increasing order; none where numbers are predicted.
    pub fn classes(&self) -> &[i64] {
        match &self.task {
            Task::Numbers(_) => &[],
            Task::Classes(classes) => classes,
        }
    }

    /// The loss that the functions explain by.
    pub fn loss(&self) -> LossSpec {
        self.loss
    }

    /// The function of every output or class; two classes have one, which is positive for the larger label.
    pub fn functions(&self) -> &[SparseFunction] {
        &self.functions
    }

    /// The values of the functions at every point: all points of the first function, then all of the second, and so on.
    pub fn decisions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.functions.iter().map(|f| f.predict(x)).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The label of every point, as [`Model::labels`](super::Model::labels) has it.
    pub fn labels(&self, x: &FeatureMatrix<'_>) -> Result<Vec<i64>, Error> {
        let Task::Classes(classes) = &self.task else {
            let (got, allowed) = (self.loss.name().to_owned(), "a loss for classes, for labels");
            return Err(Error::Parameter { parameter: Parameter::Loss, got, allowed });
        };
        Ok(labels_of(classes, &self.decisions(x)?, x.samples()))
    }

    /// The probability of every class at every point, as [`Model::probabilities`](super::Model::probabilities) has it.
    pub fn probabilities(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        probabilities(&*self.loss.build()?, &self.decisions(x)?, x.samples())
    }
}
