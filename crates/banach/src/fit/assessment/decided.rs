//! From the decisions of functions about samples that they have not seen to an assessment.

use super::{Assessment, Predicted, PredictedNumber, Unseen};
use crate::{
    DualProblem, Error, Exponent, FeatureMatrix, Loss, Target, fit::Task, form::Features, loss::LossSpec, solver::Folds,
};

/// Decisions about samples, one after another, and what they are compared with.
pub(crate) struct Decided<'a> {
    /// How samples were held out.
    pub how: String,
    pub task: &'a Task,
    pub loss: &'a dyn Loss,
    /// The targets of all samples that `samples` can name, and their weights.
    pub target: &'a Target<'a>,
    pub sample_weight: Option<&'a [f64]>,
    /// The sample of every decision, what counts as one witness with it, and the part of the samples that it was held out with.
    pub samples: Vec<usize>,
    pub witnesses: Vec<usize>,
    pub parts: Vec<usize>,
    /// For every part and function the best constant of the samples that were seen, and for every part their largest class.
    pub constants: Vec<Vec<f64>>,
    pub largest: Vec<usize>,
}

/// For every function the decisions about all samples.
pub(crate) type Decisions = Vec<Vec<f64>>;

impl<'a> Decided<'a> {
    /// Decisions about the samples of every fold in turn, by functions that have not seen them.
    pub(crate) fn in_folds(
        folds: &Folds,
        task: &'a Task,
        loss: &'a dyn Loss,
        target: &'a Target<'a>,
        sample_weight: Option<&'a [f64]>,
        constants: Vec<Vec<f64>>,
    ) -> Self {
        let samples = folds.held_out().concat();
        let seen = |absent: &Vec<usize>| {
            let mut weights = sample_weight.map_or_else(|| vec![1.0; folds.samples()], <[f64]>::to_vec);
            absent.iter().for_each(|&i| weights[i] = 0.0);
            largest_class(task, target, &weights)
        };
        let parts = folds.held_out().iter().enumerate().flat_map(|(part, held_out)| vec![part; held_out.len()]);
        Self {
            how: folds.to_string(),
            task,
            loss,
            target,
            sample_weight,
            witnesses: samples.iter().map(|&i| folds.witness(i)).collect(),
            samples,
            parts: parts.collect(),
            constants,
            largest: folds.absent().iter().map(seen).collect(),
        }
    }

    /// What the decisions of one of several candidates come to.
    pub(crate) fn assessment(&self, candidates: &[Decisions], chosen: usize, name: Option<String>) -> Assessment {
        let outputs = outputs(self.task, self.target);
        let places = 0..self.samples.len();
        let y = |function: usize, at: usize| outputs[function][self.samples[at]];
        let total = |t: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let loss = |at: usize| (0..outputs.len()).map(|f| self.loss.value(y(f, at), t(f, at))).sum();
            places.clone().map(loss).collect()
        };
        let of_constant = |function: usize, at: usize| self.constants[self.parts[at]][function];
        let decisions = &candidates[chosen];
        let predicted = match (self.task, self.target) {
            (Task::Classes(classes), Target::Labels(labels)) => Predicted::Classes {
                labels: classes.iter().map(ToString::to_string).collect(),
                truth: self.samples.iter().map(|&i| classes.binary_search(&labels[i]).unwrap_or(0)).collect(),
                scores: match &decisions[..] {
                    [one] => vec![one.iter().map(|t| -t).collect(), one.clone()],
                    several => several.to_vec(),
                },
                constant: self.parts.iter().map(|&part| self.largest[part]).collect(),
            },
            _ => Predicted::Numbers(
                (0..outputs.len())
                    .map(|function| PredictedNumber {
                        y: places.clone().map(|at| y(function, at)).collect(),
                        t: decisions[function].iter().map(|t| self.loss.response(*t)).collect(),
                        constant: places.clone().map(|at| self.loss.response(of_constant(function, at))).collect(),
                    })
                    .collect(),
            ),
        };
        let weight = |&i: &usize| self.sample_weight.map_or(1.0, |weights| weights[i]);
        let unseen = Unseen {
            how: self.how.clone(),
            witnesses: self.witnesses.clone(),
            weights: self.samples.iter().map(weight).collect(),
            predicted,
            loss_name: self.loss.name(),
            constant: total(&of_constant),
            candidates: candidates.iter().map(|of| total(&|function, at| of[function][at])).collect(),
            looked_at: Vec::new(),
            chosen,
            candidate: name,
        };
        // Folds that are dealt several times predict a sample as often.
        let mut samples: Vec<usize> = self.samples.iter().copied().filter(|i| weight(i) > 0.0).collect();
        samples.sort_unstable();
        samples.dedup();
        Assessment { rows: samples.len(), ..unseen.assessment() }
    }
}

impl Assessment {
    /// How well functions predict samples of a test, which nothing was chosen by: their targets and the decisions of one function after
    /// another, against the best constant of the samples that were fitted, which have targets and weights.
    pub fn of_test(
        task: &Task,
        loss: LossSpec,
        (fitted, sample_weight): (&Target<'_>, Option<&[f64]>),
        (target, decisions): (&Target<'_>, &[f64]),
        how: String,
    ) -> Result<Self, Error> {
        let count = |target: &Target<'_>| match target {
            Target::Numbers(outputs) => outputs.first().map_or(0, |y| y.len()),
            Target::Labels(labels) => labels.len(),
        };
        let (seen, rows, loss) = (count(fitted), count(target), loss.build()?);
        Error::check_length("the decisions", decisions.len(), rows * task.functions())?;
        if rows == 0 {
            return Err(Error::Empty { what: "the test" });
        }
        let weights = sample_weight.map_or_else(|| vec![1.0; seen], <[f64]>::to_vec);
        let decided = Decided {
            how,
            task,
            loss: &*loss,
            target,
            sample_weight: None,
            samples: (0..rows).collect(),
            witnesses: (0..rows).collect(),
            parts: vec![0; rows],
            constants: vec![best_constants(task, fitted, &*loss, &weights)?],
            largest: vec![largest_class(task, fitted, &weights)],
        };
        Ok(decided.assessment(&[decisions.chunks(rows).map(<[f64]>::to_vec).collect()], 0, None))
    }
}

/// The targets of every function of a task.
fn outputs(task: &Task, target: &Target<'_>) -> Vec<Vec<f64>> {
    match target {
        Target::Numbers(outputs) => outputs.iter().map(|y| y.to_vec()).collect(),
        Target::Labels(labels) => task.signs(labels),
    }
}

/// The place of the class with the most weight.
fn largest_class(task: &Task, target: &Target<'_>, weights: &[f64]) -> usize {
    let (Task::Classes(classes), Target::Labels(labels)) = (task, target) else { return 0 };
    let mut sums = vec![0.0; classes.len()];
    for (label, weight) in labels.iter().zip(weights) {
        if let Ok(place) = classes.binary_search(label) {
            sums[place] += weight;
        }
    }
    (1..sums.len()).fold(0, |best, class| if sums[class] > sums[best] { class } else { best })
}

/// The best constant of every function, by a loss, for samples of these weights.
pub(crate) fn best_constants(
    task: &Task,
    target: &Target<'_>,
    loss: &dyn Loss,
    weights: &[f64],
) -> Result<Vec<f64>, Error> {
    // Features that are all 0 leave nothing but the constant.
    let form =
        Features::new(FeatureMatrix::from_columns(weights.len(), 1, vec![0.0; weights.len()])?, Exponent::new(2.0)?);
    let constant = |y: &Vec<f64>| -> Result<f64, Error> {
        let problem = DualProblem::new(&form, loss, y, 1.0)?.with_sample_weights(weights)?.with_intercept()?;
        Ok(problem.intercept(&vec![0.0; weights.len()]))
    };
    outputs(task, target).iter().map(constant).collect()
}
