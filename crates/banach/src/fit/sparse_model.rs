//! Models of few terms: one sparse function for every output or class.

use std::{borrow::Cow, ops::ControlFlow};

use serde::{Deserialize, Serialize};

use super::{
    Assessment, Decided, Decisions, LEAST_SAMPLES, Residuals, Target, Task, best_constants,
    model::{BY_EVIDENCE, half_widths, labels_of, probabilities},
};
use crate::{
    Account, Error, FeatureMatrix,
    error::Parameter,
    loss::{LossSpec, Targets},
    solver::Folds,
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
    /// How far predictions of held-out samples were off, of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    residuals: Option<Residuals>,
}

/// What a file says that a model is made of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    task: Task,
    loss: LossSpec,
    functions: Vec<SparseFunction>,
    #[serde(default)]
    residuals: Option<Residuals>,
}

impl TryFrom<Parts> for SparseModel {
    type Error = Error;

    /// Refuses functions that are not those of the task: whoever reads a model can use it.
    fn try_from(Parts { task, loss, functions, residuals }: Parts) -> Result<Self, Error> {
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
        let outputs = residuals.as_ref().map(Residuals::outputs);
        if let Some(got) = outputs.filter(|outputs| classes || *outputs != expected) {
            return Err(Error::Shape {
                what: "the outputs with residuals",
                got,
                expected: if classes { 0 } else { expected },
            });
        }
        Ok(Self { task, loss, functions, residuals })
    }
}

impl SparseModel {
    /// Functions of a task, as a loss explains it.
    pub fn new(task: Task, loss: LossSpec, functions: Vec<SparseFunction>) -> Result<Self, Error> {
        Parts { task, loss, functions, residuals: None }.try_into()
    }

    /// With how far predictions of held-out samples were off, of numbers.
    #[must_use]
    pub fn with_residuals(mut self, residuals: Option<Residuals>) -> Self {
        self.residuals = residuals.filter(|known| *self.task() == Task::Numbers(known.outputs()));
        self
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
        Ok(SparseModel { task, loss: self.loss, functions, residuals: None })
    }
}

/// An equation beside a model of many terms, which is a model itself.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectedEquation {
    /// What was looked for.
    pub spec: SparseSpec,
    /// What was found.
    pub model: SparseModel,
}

/// What held-out samples say of few terms.
#[derive(Debug, Clone, PartialEq)]
pub struct UnseenTerms {
    /// How well they are predicted, against a constant.
    pub assessment: Assessment,
    /// How far predictions are off, of numbers: what [`SparseModel::with_residuals`] takes.
    pub residuals: Option<Residuals>,
}

impl SparseSpec {
    /// How well few terms that are found without each fold predict it, beside the evidence of a model of all samples, and how far off they are.
    /// `watch` is told the share that is done, and may end it: then there is nothing to say.
    #[expect(clippy::too_many_arguments, reason = "the arguments of a fit, and what is held out")]
    pub fn held_out(
        &self,
        model: &SparseModel,
        x: &FeatureMatrix<'_>,
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        folds: &Folds,
        account: &Account,
        watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<UnseenTerms>, Error> {
        let (task, _) = target.outputs(x.samples(), self.loss.targets(), sample_weight)?;
        let (n, loss) = (x.samples(), self.loss.build()?);
        let (mut constants, mut decisions): (Vec<Vec<f64>>, Decisions) =
            (Vec::new(), vec![Vec::new(); task.functions()]);
        for (at, (held_out, absent)) in folds.held_out().iter().zip(folds.absent()).enumerate() {
            let mut weights = sample_weight.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
            absent.iter().for_each(|&i| weights[i] = 0.0);
            constants.push(best_constants(&task, target, &*loss, &weights)?);
            let values = self.model(x, target, Some(&weights), account)?.decisions(&x.select_samples(held_out)?)?;
            decisions.iter_mut().zip(values.chunks(held_out.len())).for_each(|(all, new)| all.extend_from_slice(new));
            if watch((at + 1) as f64 / folds.count() as f64).is_break() {
                return Ok(None);
            }
        }
        let decided = Decided::in_folds(folds, &task, &*loss, target, sample_weight, constants);
        let counted = sample_weight.map_or(n, |weights| weights.iter().filter(|weight| **weight > 0.0).count());
        // Evidence takes samples for independent ones.
        let believed = counted >= LEAST_SAMPLES && folds.is_exchangeable();
        let named = model.functions.iter().any(|function| !function.terms().is_empty() && function.criterion() < 0.0);
        let residuals = Residuals::in_folds(folds, target, sample_weight, &decisions);
        let assessment = decided.assessment(&[decisions], 0, None).with_evidence(named && believed);
        Ok(Some(UnseenTerms { assessment, residuals }))
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

    /// For every output, how far a prediction is off at most in this share of cases ([`Residuals`]), where samples were held out.
    pub fn half_widths(&self, coverage: f64) -> Result<Vec<f64>, Error> {
        half_widths(&self.task, self.residuals.as_ref(), coverage, BY_EVIDENCE)
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
