//! Classification: two classes by one function, more by one function for each class against the others.

use std::{fmt, sync::Arc};

use super::{
    Ground, SolverChoice,
    fitted::{Fitted, fitted},
    parameters::{Parameters, parameters},
};
use crate::{
    Certificate, DualModel, Error, FeatureMatrix, Logistic, Loss, Memory, Observer, Plan, Rates, Route, Solution,
    Status, Unobserved,
    kernel::{MonomialScale, TensorKernel},
    loss::Targets,
};

/// Fits classes, each known by an integer.
///
/// Two classes take one function, which is positive for the larger label. More take one function each, fitted to that
/// class against all others; what is built from the data is built once for all. Parameters are checked when data are
/// fitted. The loss is the logistic one unless told otherwise.
///
/// ```
/// use banach::{Classifier, FeatureMatrix};
///
/// let x = FeatureMatrix::from_rows(6, 2, &[0.1, 1.0, 0.2, -1.0, -0.1, 0.9, 1.1, 0.1, -0.9, 0.2, -1.2, -0.1])?;
/// let model = Classifier::new().gamma(10.0).fit(&x, &[7, 9, 7, 8, 5, 5])?;
/// assert_eq!(model.classes(), [5, 7, 8, 9]);
/// assert_eq!(model.predict(&x)?, [7, 9, 7, 8, 5, 5]);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    parameters: Parameters,
}

impl Default for Classifier {
    fn default() -> Self {
        Self::new()
    }
}

impl Classifier {
    /// A classifier with the default parameters.
    pub fn new() -> Self {
        Self { parameters: Parameters::new(Logistic) }
    }

    parameters!();

    /// The model of labels.
    pub fn fit(&self, x: &FeatureMatrix<'_>, y: &[i64]) -> Result<Classification, Error> {
        self.fit_observed(x, y, None, &mut Unobserved)
    }

    /// The model of labels, with `gamma_i = gamma * sample_weight_i`. A sample of weight 0 is absent.
    pub fn fit_weighted(
        &self,
        x: &FeatureMatrix<'_>,
        y: &[i64],
        sample_weight: &[f64],
    ) -> Result<Classification, Error> {
        self.fit_observed(x, y, Some(sample_weight), &mut Unobserved)
    }

    /// As [`fit`](Self::fit), with optional weights, watched by an observer that may end it.
    /// [`Progress::problem`](crate::Progress::problem) is the number of the function.
    pub fn fit_observed(
        &self,
        x: &FeatureMatrix<'_>,
        y: &[i64],
        sample_weight: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Classification, Error> {
        let checked = self.parameters.check(Targets::Signs)?;
        if y.len() != x.samples() {
            return Err(Error::Shape { what: "y", got: y.len(), expected: x.samples() });
        }
        let (classes, signs) = Self::signs(y, sample_weight)?;
        let outputs: Vec<&[f64]> = signs.iter().map(|signs| &signs[..]).collect();
        let fitted = checked.fit(x, &outputs, sample_weight, observer)?;
        Ok(Classification { fitted, classes, loss: self.parameters.loss.clone() })
    }

    /// The labels that occur, in order, and the targets of every function: 1 for its class, -1 for all others.
    pub fn signs(y: &[i64], sample_weight: Option<&[f64]>) -> Result<(Vec<i64>, Vec<Vec<f64>>), Error> {
        let classes = classes(y, sample_weight)?;
        let against_others =
            |class: &i64| -> Vec<f64> { y.iter().map(|label| if label == class { 1.0 } else { -1.0 }).collect() };
        let signs = positive(&classes).iter().map(against_others).collect();
        Ok((classes, signs))
    }

    /// The probability of every class from the decisions of some points, as [`Classification::predict_proba`]: all points
    /// of the first function, then all of the second, and so on.
    pub fn probabilities(&self, decisions: &[f64], points: usize) -> Result<Vec<f64>, Error> {
        if points == 0 || !decisions.len().is_multiple_of(points) {
            return Err(Error::Shape { what: "the decisions", got: decisions.len(), expected: points });
        }
        probabilities(&*self.parameters.loss, decisions, points)
    }

    /// What every route to the data would cost, for so many problems at a time, and the one that would be taken.
    pub fn plan(&self, x: &FeatureMatrix<'_>, problems: usize) -> Result<Plan, Error> {
        self.parameters.check(Targets::Signs)?.planned(x, problems)
    }

    /// The form of the data, for so many problems at a time; see [`Ground`].
    pub fn ground<'x>(&self, x: &'x FeatureMatrix<'_>, problems: usize) -> Result<Ground<'x>, Error> {
        self.parameters.check(Targets::Signs)?.ground(x, problems)
    }

    /// The model with the [solutions](Classification::solutions) and [radii](Classification::radii) of a fit to the same
    /// samples, by the route that was taken, without fitting it again. The classes are in increasing order.
    pub fn restore(
        &self,
        x: &FeatureMatrix<'_>,
        classes: Vec<i64>,
        solutions: Vec<Solution>,
        radii: Vec<Option<f64>>,
        route: Route,
    ) -> Result<Classification, Error> {
        let (got, expected) = (solutions.len(), positive(&classes).len());
        if classes.len() < 2 || got != expected || !classes.is_sorted_by(|a, b| a < b) {
            return Err(Error::Shape { what: "the solutions for these classes", got, expected });
        }
        let fitted = self.parameters.check(Targets::Signs)?.restore(x, solutions, radii, route)?;
        Ok(Classification { fitted, classes, loss: self.parameters.loss.clone() })
    }
}

/// Probabilities from decisions: one function tells those of two classes, more one each.
fn probabilities(loss: &dyn Loss, decisions: &[f64], points: usize) -> Result<Vec<f64>, Error> {
    let against = |label: f64| -> Result<Vec<f64>, Error> {
        let (name, got, allowed) = ("loss", loss.name(), "the logistic loss, for probabilities");
        let refused = || Error::Parameter { name, got: got.to_owned(), allowed };
        decisions.iter().map(|&decision| loss.probability(label, decision)).collect::<Option<_>>().ok_or_else(refused)
    };
    if decisions.len() == points {
        return Ok([against(-1.0)?, against(1.0)?].concat());
    }
    let (classes, mut probabilities) = (decisions.len() / points, against(1.0)?);
    for point in 0..points {
        let sum: f64 = probabilities[point..].iter().step_by(points).sum();
        let shares = probabilities[point..].iter_mut().step_by(points);
        // No class is likely at all: none is likelier than another.
        shares.for_each(|share| *share = if sum > 0.0 { *share / sum } else { 1.0 / classes as f64 });
    }
    Ok(probabilities)
}

/// The labels that occur, in order. Each needs a sample that counts.
fn classes(y: &[i64], sample_weight: Option<&[f64]>) -> Result<Vec<i64>, Error> {
    let mut classes = y.to_vec();
    classes.sort_unstable();
    classes.dedup();
    if let [label] = classes[..] {
        return Err(Error::OneLabel { label });
    }
    let Some(weights) = sample_weight.filter(|weights| weights.len() == y.len()) else { return Ok(classes) };
    let counts = |class: i64| y.iter().zip(weights).any(|(label, weight)| *label == class && *weight != 0.0);
    match classes.iter().find(|class| !counts(**class)) {
        Some(&label) => Err(Error::AbsentLabel { label }),
        None => Ok(classes),
    }
}

/// The classes that a function is fitted for.
fn positive(classes: &[i64]) -> &[i64] {
    if classes.len() == 2 { &classes[1..] } else { classes }
}

/// A fitted classifier. It owns what it needs: the weights where features are listed, else a copy of the samples.
#[derive(Debug, Clone)]
pub struct Classification {
    fitted: Fitted,
    classes: Vec<i64>,
    loss: Arc<dyn Loss>,
}

impl Classification {
    /// The labels, in increasing order.
    pub fn classes(&self) -> &[i64] {
        &self.classes
    }

    /// The place of a label among the classes.
    pub fn class_index(&self, label: i64) -> Result<usize, Error> {
        let unknown = |_| Error::UnknownLabel { label, classes: self.classes.clone() };
        self.classes.binary_search(&label).map_err(unknown)
    }

    /// `f(x) + b` at every point. Two classes have one function, positive for the larger label; more have one each, and
    /// all points of the first class come before those of the second, and so on.
    pub fn decision_function(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        self.fitted.decisions(x)
    }

    /// The label of every point: the class whose function is largest; of two classes, the larger one where the function
    /// is positive.
    pub fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<i64>, Error> {
        let (decisions, points) = (self.decision_function(x)?, x.samples());
        let label = |point: usize| {
            if let [first, second] = self.classes[..] {
                return if decisions[point] > 0.0 { second } else { first };
            }
            let decision = |class: usize| decisions[class * points + point];
            // Of equal ones the first.
            let best = (1..self.classes.len())
                .fold(0, |best, class| if decision(class) > decision(best) { class } else { best });
            self.classes[best]
        };
        Ok((0..points).map(label).collect())
    }

    /// The probability of every class at every point, all points of the first class, then all of the second, and so on.
    /// For more than two classes the probabilities of each against the others are divided by their sum.
    ///
    /// Losses whose decision function tells no probability ([`Loss::probability`]) are refused.
    pub fn predict_proba(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        probabilities(&*self.loss, &self.decision_function(x)?, x.samples())
    }

    fitted!();
}

impl fmt::Display for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "classification, {} classes", self.classes.len())?;
        write!(f, "{}", self.fitted)
    }
}
