//! What cross-validation found.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Choice, Folds};
use crate::{Certificate, DualProblem, Loss, Solution, Status, loss::Targets};

/// Held-out predictions and scores for every gamma and fold.
#[derive(Debug, Clone)]
pub struct CrossValidation {
    /// The values of gamma, increasing.
    pub gammas: Vec<f64>,
    /// The folds.
    pub folds: Folds,
    /// What [`FoldFit::score`] is.
    pub metric: Metric,
    /// The fits, one list over the folds for every gamma.
    pub fits: Vec<Vec<FoldFit>>,
    /// For every fold the constant that fits the samples that its fits see best: what predictions are compared with.
    pub constants: Vec<f64>,
}

/// The score beside the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// `1 - sum (y - t)^2 / sum (y - mean y)^2`, for real targets.
    #[serde(rename = "r2")]
    RSquared,
    /// `1 - sum L(y, t) / min_c sum L(y, c)`, for counts: the share of the deviance that the predictions explain.
    #[serde(rename = "d2")]
    Deviance,
    /// The share of labels whose sign the prediction has, where 0 counts as -1.
    Accuracy,
}

impl Metric {
    /// That of a loss with these targets.
    pub(crate) fn of(targets: Targets) -> Self {
        match targets {
            Targets::Real => Self::RSquared,
            Targets::Counts => Self::Deviance,
            Targets::Signs => Self::Accuracy,
        }
    }

    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RSquared => "R^2",
            Self::Deviance => "D^2",
            Self::Accuracy => "accuracy",
        }
    }
}

/// The model without one fold, seen from that fold.
#[derive(Debug, Clone)]
pub struct FoldFit {
    /// The predictions for the samples of the fold, in its order.
    pub predictions: Vec<f64>,
    /// The sum of their weights; all sums and means over samples are weighted.
    pub weight: f64,
    /// Their mean loss; NaN for a fold of weight 0.
    pub loss: f64,
    /// Their score, if it is defined: R^2 and D^2 need two different targets.
    pub score: Option<f64>,
    /// The root of their mean squared error, of counts of their mean deviance, and that of the constant that fits the other samples best; none for classes.
    pub root_errors: Option<(f64, f64)>,
    /// How far the model can be from the optimum.
    pub certificate: Certificate,
    /// How its fit ended.
    pub status: Status,
    /// Iterations of its fit.
    pub iterations: usize,
}

/// A mean over folds, which count by their weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    #[serde(rename = "mean")]
    pub value: f64,
    /// Its standard error; NaN for a single fold.
    pub standard_error: f64,
}

impl FoldFit {
    pub(super) fn new(problem: &DualProblem<'_>, held_out: &[usize], solution: &Solution, constant: f64) -> Self {
        let predictions: Vec<f64> = held_out.iter().map(|&i| solution.omega[i] + solution.intercept).collect();
        let samples = held_out_samples(problem, held_out, &predictions);
        Self {
            loss: weighted_mean(&samples, |sample| problem.loss().value(sample.y, sample.t)).unwrap_or(f64::NAN),
            score: score_of(problem, &samples),
            root_errors: match problem.loss().targets() {
                Targets::Real => root_error(&samples, |sample| sample.t).zip(root_error(&samples, |_| constant)),
                Targets::Counts => {
                    let of = |t: &dyn Fn(&HeldOutSample) -> f64| {
                        weighted_mean(&samples, |sample| problem.loss().value(sample.y, t(sample))).map(f64::sqrt)
                    };
                    of(&|sample| sample.t).zip(of(&|_| constant))
                }
                Targets::Signs => None,
            },
            weight: samples.iter().map(|sample| sample.weight).sum(),
            predictions,
            certificate: solution.certificate,
            status: solution.status,
            iterations: solution.iterations,
        }
    }
}

impl CrossValidation {
    /// Room for the fits.
    pub(super) fn empty(problem: &DualProblem<'_>, gammas: &[f64], folds: &Folds, constants: Vec<f64>) -> Self {
        let metric = Metric::of(problem.loss().targets());
        let fits = gammas.iter().map(|_| Vec::with_capacity(folds.count())).collect();
        Self { gammas: gammas.to_vec(), folds: folds.clone(), metric, fits, constants }
    }

    /// With the fits of other gammas for the same problem and folds, all of them smaller or all larger.
    pub(crate) fn join(&mut self, other: Self) {
        let below = other.gammas.last() < self.gammas.first();
        let at = if below { 0 } else { self.gammas.len() };
        self.gammas.splice(at..at, other.gammas);
        self.fits.splice(at..at, other.fits);
    }

    /// The held-out loss of a gamma, by its index: its mean over the folds.
    pub fn loss(&self, gamma: usize) -> Mean {
        let folds = self.fits[gamma].iter().filter(|fit| fit.weight > 0.0);
        Mean::over(&folds.map(|fit| (fit.weight, fit.loss)).collect::<Vec<_>>())
    }

    /// The score of a gamma, by its index, over all held-out samples together. R^2 and D^2 are against the constants of the folds, and have no standard
    /// error: a mean of R^2 over folds would be at the mercy of folds whose targets hardly differ.
    pub fn score(&self, gamma: usize) -> Option<Mean> {
        if self.metric != Metric::Accuracy {
            return self.pooled(gamma).map(|value| Mean { value, standard_error: f64::NAN });
        }
        let folds = self.fits[gamma].iter().filter_map(|fit| fit.score.map(|score| (fit.weight, score)));
        let folds: Vec<_> = folds.collect();
        (!folds.is_empty()).then(|| Mean::over(&folds))
    }

    /// `1 - sum (y - t)^2 / sum (y - constant)^2` over all folds; `None` where the constants leave nothing to explain.
    fn pooled(&self, gamma: usize) -> Option<f64> {
        let folds: Vec<(f64, f64, f64)> = self.fits[gamma]
            .iter()
            .filter_map(|fit| fit.root_errors.map(|(own, constant)| (fit.weight, own, constant)))
            .collect();
        let size = folds.iter().fold(0.0_f64, |size, (_, own, constant)| size.max(own.abs()).max(constant.abs()));
        let total: f64 = folds.iter().map(|(weight, ..)| weight).sum();
        let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| -> f64 {
            folds.iter().map(|fold| fold.0 / total * (of(fold) / size).powi(2)).sum()
        };
        let (own, constant) = (sum(&|fold| fold.1), sum(&|fold| fold.2));
        (constant > 0.0).then(|| 1.0 - own / constant)
    }

    /// The index of the gamma with the smallest held-out loss, the smaller one of equals. `None` if a stop left no
    /// gamma with all its folds.
    pub fn best(&self) -> Option<usize> {
        Choice::Best.pick(&self.losses())
    }

    /// The index of the smallest gamma, and hence the simplest model, whose held-out loss is within one standard error
    /// of the best.
    pub fn one_standard_error(&self) -> Option<usize> {
        Choice::OneStandardError.pick(&self.losses())
    }

    /// The gamma of [`best`](Self::best).
    pub fn best_gamma(&self) -> Option<f64> {
        self.best().map(|gamma| self.gammas[gamma])
    }

    /// Whether the best gamma is the first or last of several, so that a wider grid may hold a better one.
    pub(crate) fn best_is_at_end(&self) -> bool {
        let last = self.gammas.len() - 1;
        last > 0 && self.best().is_some_and(|best| best == 0 || best == last)
    }

    /// The held-out prediction of every sample for a gamma, by its index: the mean over the folds that hold the sample
    /// out, `None` for a sample that no fold does.
    pub fn held_out(&self, gamma: usize) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0.0); self.folds.samples()];
        for (held_out, fit) in self.folds.held_out().iter().zip(&self.fits[gamma]) {
            for (&i, prediction) in held_out.iter().zip(&fit.predictions) {
                sums[i] = (sums[i].0 + prediction, sums[i].1 + 1.0);
            }
        }
        sums.iter().map(|&(sum, count)| (count > 0.0).then(|| sum / count)).collect()
    }

    /// The fits that did not converge: index of gamma, index of fold, and how the fit ended.
    pub fn unconverged(&self) -> impl Iterator<Item = (usize, usize, Status)> + '_ {
        let fits = self.fits.iter().enumerate();
        let fits = fits.flat_map(|(gamma, fits)| fits.iter().enumerate().map(move |(fold, fit)| (gamma, fold, fit)));
        fits.filter(|(_, _, fit)| fit.status != Status::Converged).map(|(gamma, fold, fit)| (gamma, fold, fit.status))
    }

    fn is_finished(&self, gamma: usize) -> bool {
        self.fits[gamma].iter().all(|fit| fit.status != Status::Interrupted)
    }

    /// The held-out loss of every gamma that no stop has cut short.
    fn losses(&self) -> Vec<Option<Mean>> {
        (0..self.gammas.len()).map(|gamma| self.is_finished(gamma).then(|| self.loss(gamma))).collect()
    }
}

impl Mean {
    /// Over folds, each a weight > 0 and a value; NaN over none.
    pub fn over(folds: &[(f64, f64)]) -> Self {
        let value = mean(folds, |value| value);
        // Relative to the largest deviation, whose square may be out of range.
        let size = folds.iter().fold(0.0_f64, |size, (_, fold)| size.max((fold - value).abs()));
        let variance = if size > 0.0 { mean(folds, |fold| ((fold - value) / size).powi(2)) } else { 0.0 };
        Self { value, standard_error: size * (variance / (folds.len() as f64 - 1.0)).sqrt() }
    }
}

/// `sum_i weight_i f(x_i) / sum_i weight_i`.
fn mean(terms: &[(f64, f64)], f: impl Fn(f64) -> f64) -> f64 {
    // Relative to the largest weight, so that their sum is in range.
    let largest = terms.iter().fold(0.0_f64, |largest, (weight, _)| largest.max(*weight));
    let total: f64 = terms.iter().map(|(weight, _)| weight / largest).sum();
    terms.iter().map(|&(weight, x)| weight / largest / total * f(x)).sum()
}

/// A held-out sample of positive weight.
struct HeldOutSample {
    weight: f64,
    y: f64,
    t: f64,
}

fn held_out_samples(problem: &DualProblem<'_>, held_out: &[usize], predictions: &[f64]) -> Vec<HeldOutSample> {
    let (y, weights) = (problem.targets(), problem.sample_weights());
    let samples = held_out.iter().zip(predictions).map(|(&i, &t)| HeldOutSample { weight: weights[i], y: y[i], t });
    samples.filter(|sample| sample.weight > 0.0).collect()
}

/// The score of predictions for samples that a model has not seen: R^2, the share of the deviance, or that of signs that are right.
pub(crate) fn score(problem: &DualProblem<'_>, held_out: &[usize], predictions: &[f64]) -> Option<f64> {
    score_of(problem, &held_out_samples(problem, held_out, predictions))
}

fn score_of(problem: &DualProblem<'_>, samples: &[HeldOutSample]) -> Option<f64> {
    match Metric::of(problem.loss().targets()) {
        Metric::RSquared => r_squared(samples),
        Metric::Deviance => explained_deviance(problem.loss(), samples),
        Metric::Accuracy => weighted_mean(samples, |&HeldOutSample { y, t, .. }| f64::from((t > 0.0) == (y > 0.0))),
    }
}

fn weighted_mean(samples: &[HeldOutSample], f: impl Fn(&HeldOutSample) -> f64) -> Option<f64> {
    let terms: Vec<_> = samples.iter().map(|sample| (sample.weight, f(sample))).collect();
    (!terms.is_empty()).then(|| mean(&terms, |x| x))
}

/// The root of the mean squared distance of the targets from predictions, relative to the largest, whose square may be out of range.
fn root_error(samples: &[HeldOutSample], prediction: impl Fn(&HeldOutSample) -> f64) -> Option<f64> {
    let size = samples.iter().fold(0.0_f64, |size, sample| size.max((sample.y - prediction(sample)).abs()));
    // Up to the rounding of the constant.
    let rounding = samples.iter().fold(0.0_f64, |size, sample| size.max(4.0 * f64::EPSILON * sample.y.abs()));
    if size <= rounding {
        return (!samples.is_empty()).then_some(0.0);
    }
    weighted_mean(samples, |sample| ((sample.y - prediction(sample)) / size).powi(2)).map(|mean| size * mean.sqrt())
}

/// Deviations relative to the largest, whose square may be out of range.
fn r_squared(samples: &[HeldOutSample]) -> Option<f64> {
    let centre = weighted_mean(samples, |sample| sample.y)?;
    let size = samples.iter().fold(0.0_f64, |size, sample| size.max((sample.y - centre).abs()));
    // One target, up to the rounding of the mean.
    if size <= 4.0 * f64::EPSILON * centre.abs() {
        return None;
    }
    let squares = |f: &dyn Fn(&HeldOutSample) -> f64| weighted_mean(samples, |sample| (f(sample) / size).powi(2));
    Some(1.0 - squares(&|sample| sample.y - sample.t)? / squares(&|sample| sample.y - centre)?)
}

/// The constant that counts are compared with is their mean, which predicts the logarithm of itself.
fn explained_deviance(loss: &dyn Loss, samples: &[HeldOutSample]) -> Option<f64> {
    let mean = weighted_mean(samples, |sample| sample.y)?;
    let constant = mean.ln();
    let of_constant = weighted_mean(samples, |sample| loss.value(sample.y, constant))?;
    // One count, up to the rounding of the mean.
    let spread = samples.iter().any(|sample| (sample.y - mean).abs() > 4.0 * f64::EPSILON * mean);
    let explained = 1.0 - weighted_mean(samples, |sample| loss.value(sample.y, sample.t))? / of_constant;
    (spread && explained.is_finite()).then_some(explained)
}

/// A number as it is to be written, or a dash where nobody knows it.
fn known(number: f64, written: impl Fn(f64) -> String) -> String {
    if number.is_nan() { "-".to_owned() } else { written(number) }
}

/// A table over gamma; `*` is the best, `+` the simplest within one standard error.
impl fmt::Display for CrossValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} gammas, {} folds", self.gammas.len(), self.folds.count())?;
        writeln!(f, "  {:>11}  {:>11} {:>9}  {:>8} {:>8}  converged", "gamma", "loss", "+-", self.metric.name(), "+-")?;
        let (best, simplest) = (self.best(), self.one_standard_error());
        for (gamma, fits) in self.fits.iter().enumerate() {
            let mark = match Some(gamma) {
                at if at == best => '*',
                at if at == simplest => '+',
                _ => ' ',
            };
            let loss = self.loss(gamma);
            let error = known(loss.standard_error, |error| format!("{error:.2e}"));
            write!(f, "{mark} {:>11.4e}  {:>11.4e} {error:>9}", self.gammas[gamma], loss.value)?;
            match self.score(gamma) {
                Some(score) => {
                    let error = known(score.standard_error, |error| format!("{error:.4}"));
                    write!(f, "  {:>8.4} {error:>8}", score.value)?;
                }
                None => write!(f, "  {:>8} {:>8}", "-", "-")?,
            }
            let converged = fits.iter().filter(|fit| fit.status == Status::Converged).count();
            writeln!(f, "  {converged} of {}", fits.len())?;
        }
        let unconverged = self.unconverged().count();
        if unconverged > 0 {
            writeln!(f, "{unconverged} of {} fits did not converge", self.gammas.len() * self.folds.count())?;
        }
        if self.best_is_at_end() {
            writeln!(f, "the best gamma is at an end of the grid: a wider one may hold a better gamma")?;
        }
        Ok(())
    }
}
