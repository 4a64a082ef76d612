//! The model: fitted functions, and what they predict.

use std::{fmt, sync::Arc};

use super::{Exposure, Fit, Residuals, Task};
use crate::{
    Certificate, Error, Exponent, FeatureMatrix, Loss, Solution, Status,
    error::{Parameter, Plain, Words, counted},
    form::{Plan, Predict},
    kernel::{MonomialScale, TensorKernel},
    loss::Targets,
    model::DualModel,
};

/// Fitted functions `f + b`, one for every output or class. It owns what it needs: the weights where features are listed, else a copy of
/// the samples.
#[derive(Debug, Clone)]
pub struct Model {
    task: Task,
    loss: Arc<dyn Loss>,
    gamma: f64,
    plan: Plan,
    functions: Arc<dyn Predict>,
    solutions: Vec<Solution>,
    radii: Vec<Option<f64>>,
    residuals: Option<Residuals>,
}

impl Model {
    pub(super) fn new(
        fit: &Fit,
        task: Task,
        plan: Plan,
        functions: Box<dyn Predict>,
        solutions: Vec<Solution>,
        radii: Vec<Option<f64>>,
    ) -> Self {
        let (loss, gamma) = (fit.loss().clone(), fit.spec().gamma);
        Self { task, loss, gamma, plan, functions: functions.into(), solutions, radii, residuals: None }
    }

    /// The same with how far such a model was off on held-out samples, if that is known.
    #[must_use]
    pub fn with_residuals(self, residuals: Option<Residuals>) -> Self {
        Self { residuals, ..self }
    }

    /// How far the search that chose it was off on held-out samples.
    pub fn residuals(&self) -> Option<&Residuals> {
        self.residuals.as_ref()
    }

    /// For every output, how far a prediction is off at most in this share of cases ([`Residuals`]).
    pub fn half_widths(&self, coverage: f64) -> Result<Vec<f64>, Error> {
        if self.loss.targets() == Targets::Counts {
            return Err(Error::NoIntervals { reason: OF_COUNTS, held_out: false });
        }
        half_widths(&self.task, self.residuals.as_ref(), coverage, UNSEEN)
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

    /// `f(x) + b` at every point: all points of the first function, then all of the second, and so on. For two classes the one function is positive for the larger label.
    pub fn decisions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let mut values = self.functions.predict(x)?;
        for (values, solution) in values.chunks_mut(x.samples()).zip(&self.solutions) {
            values.iter_mut().for_each(|value| *value += solution.intercept);
        }
        Ok(values)
    }

    /// The number that is predicted at every point ([`Loss::response`]), in the order of [`decisions`](Self::decisions): the decision
    /// itself, for counts the mean under the exposure of the point, 1 unless told otherwise.
    pub fn responses(&self, x: &FeatureMatrix<'_>, exposure: Option<Exposure<'_>>) -> Result<Vec<f64>, Error> {
        let mut values = self.decisions(x)?;
        if let Some(exposure) = exposure {
            if self.loss.targets() != Targets::Counts {
                return Err(self.refused("poisson, with an exposure or an offset"));
            }
            exposure.add_to(&mut values, x.samples())?;
        }
        values.iter_mut().for_each(|value| *value = self.loss.response(*value));
        Ok(values)
    }

    /// The label of every point: the class whose function is largest; of two classes, the larger one where the function
    /// is positive.
    pub fn labels(&self, x: &FeatureMatrix<'_>) -> Result<Vec<i64>, Error> {
        let Task::Classes(classes) = &self.task else {
            return Err(self.refused("a loss for classes, for labels"));
        };
        Ok(labels_of(classes, &self.decisions(x)?, x.samples()))
    }

    /// The probability of every class at every point, all points of the first class, then all of the second, and so on.
    /// For more than two classes the probabilities of each against the others are divided by their sum.
    ///
    /// Losses whose decisions tell no probability ([`Loss::probability`]) are refused.
    pub fn probabilities(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        probabilities(&*self.loss, &self.decisions(x)?, x.samples())
    }

    fn refused(&self, allowed: &'static str) -> Error {
        Error::Parameter { parameter: Parameter::Loss, got: self.loss.name().to_owned(), allowed }
    }

    /// What the solver found: one solution for every function.
    pub fn solutions(&self) -> &[Solution] {
        &self.solutions
    }

    /// For every function a bound on the distance from its dual vector to the optimal one, where the loss gives one
    /// ([`DualProblem::radius`](crate::DualProblem::radius)).
    pub fn radii(&self) -> &[Option<f64>] {
        &self.radii
    }

    /// The weights w of a function, in the order of the variables or, for a kernel whose features were listed, of
    /// its [`FeatureMap`](crate::kernel::FeatureMap); `None` where the features were not listed.
    ///
    /// # Panics
    ///
    /// If there is no such function.
    pub fn weights(&self, function: usize) -> Option<Vec<f64>> {
        let weights = self.functions.weights()?;
        let features = weights.len() / self.solutions.len();
        Some(weights[function * features..(function + 1) * features].to_vec())
    }

    /// A function by its dual vector and the samples that it was fitted to, which tells its largest monomials and how
    /// much every variable matters; without the intercept.
    ///
    /// # Panics
    ///
    /// If there is no such function.
    pub fn function<'x>(&self, function: usize, x: &'x FeatureMatrix<'_>) -> Result<DualModel<'x>, Error> {
        let plan = &self.plan;
        let (got, expected) = (x.features(), plan.shape().inputs);
        if got != expected {
            return Err(Error::Shape { what: "a row of X", got, expected });
        }
        let (solution, radius) = (&self.solutions[function], self.radii[function]);
        let x = x.view().with_excluded(plan.excluded().cloned());
        function_of(plan.shared_kernel(), plan.exponent(), plan.monomial_scale(), x, solution, radius)
    }

    /// How far the model can be from the optimum; with several functions, the one with the largest relative gap.
    pub fn certificate(&self) -> Certificate {
        let worse = |a: Certificate, b: Certificate| if b.relative_gap() > a.relative_gap() { b } else { a };
        self.solutions.iter().map(|solution| solution.certificate).fold(self.solutions[0].certificate, worse)
    }

    /// How the fit ended; with several functions, the end that is farthest from convergence.
    pub fn status(&self) -> Status {
        Status::worst(self.solutions.iter().map(|solution| solution.status))
    }

    /// The route that was taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Why a model of counts has no intervals of one width.
const OF_COUNTS: &str = "the model predicts counts, which are off by more where they are larger; for bounds fit two quantiles of the counts (the \
                         quantile loss, at 0.05 and at 0.95), or the square roots of the counts by the squared loss and square the ends of \
                         its intervals";

/// Why a model has no residuals.
const UNSEEN: &str = "no sample was held out when the model was fitted; fit it again by cross-validation";
pub(super) const BY_EVIDENCE: &str = "the terms of the model were found by evidence on all samples, and none was held out; fit it \
                                      again with folds";
pub(super) const NOT_ALL: &str = "not every sample was held out of the model, as with folds forward in time, and how far it is off on the \
                                  others is not known; fit it again with folds of all samples";

/// The widths by what is known of held-out samples.
pub(super) fn half_widths(
    task: &Task,
    residuals: Option<&Residuals>,
    coverage: f64,
    unknown: &'static str,
) -> Result<Vec<f64>, Error> {
    match (task, residuals) {
        (Task::Classes(_), _) => Err(Error::NoIntervals {
            reason: "the model predicts classes; ask for their probabilities",
            held_out: false,
        }),
        (Task::Numbers(_), None) => Err(Error::NoIntervals { reason: unknown, held_out: true }),
        (Task::Numbers(_), Some(residuals)) => residuals.half_widths(coverage),
    }
}

/// The labels of points by the decisions of the functions of a task with classes.
pub(super) fn labels_of(classes: &[i64], decisions: &[f64], points: usize) -> Vec<i64> {
    let label = |point: usize| {
        if let [first, second] = classes[..] {
            return if decisions[point] > 0.0 { second } else { first };
        }
        let decision = |class: usize| decisions[class * points + point];
        // Of equal ones the first.
        let best =
            (1..classes.len()).fold(0, |best, class| if decision(class) > decision(best) { class } else { best });
        classes[best]
    };
    (0..points).map(label).collect()
}

/// The function of a solution, with a bound on the distance to the optimal dual vector where there is one.
pub(super) fn function_of<'x>(
    kernel: Arc<dyn TensorKernel>,
    exponent: Exponent,
    monomial_scale: MonomialScale,
    x: FeatureMatrix<'x>,
    solution: &Solution,
    radius: Option<f64>,
) -> Result<DualModel<'x>, Error> {
    let model = match &solution.weights {
        Some(weights) => DualModel::of_weights(x, kernel, monomial_scale, &solution.alpha, weights)?,
        None => DualModel::new(x, kernel, exponent, &solution.alpha)?.with_monomial_scale(monomial_scale),
    };
    let model = model.with_omega(&solution.omega)?;
    match radius.filter(|radius| radius.is_finite()) {
        Some(radius) => model.with_radius(radius),
        None => Ok(model),
    }
}

/// Probabilities from decisions, all points of the first function, then all of the second, and so on. A single function gives those of
/// two classes; several functions give one class each.
pub fn probabilities(loss: &dyn Loss, decisions: &[f64], points: usize) -> Result<Vec<f64>, Error> {
    if points == 0 || !decisions.len().is_multiple_of(points) {
        return Err(Error::Shape { what: "the decisions", got: decisions.len(), expected: points });
    }
    let against = |label: f64| -> Result<Vec<f64>, Error> {
        let (got, allowed) = (loss.name().to_owned(), "the logistic loss, for probabilities");
        let refused = || Error::Parameter { parameter: Parameter::Loss, got, allowed };
        decisions.iter().map(|&decision| loss.probability(label, decision)).collect::<Option<_>>().ok_or_else(refused)
    };
    if decisions.len() == points {
        return Ok([against(-1.0)?, against(1.0)?].concat());
    }
    let (classes, mut probabilities) = (decisions.len() / points, against(1.0)?);
    for point in 0..points {
        let sum: f64 = probabilities[point..].iter().step_by(points).sum();
        let shares = probabilities[point..].iter_mut().step_by(points);
        // If every probability is 0, all classes are equally likely.
        shares.for_each(|share| *share = if sum > 0.0 { *share / sum } else { 1.0 / classes as f64 });
    }
    Ok(probabilities)
}

impl Model {
    /// What was fitted and how that went, in the words of a door.
    pub fn render(&self, words: &dyn Words) -> String {
        let (shape, plan, solutions) = (self.plan.shape(), &self.plan, &self.solutions);
        let total = |count: fn(&Solution) -> usize| solutions.iter().map(count).sum::<usize>();
        let (gamma, tolerance) = (words.name(Parameter::Gamma), words.name(Parameter::Tolerance));
        let task = match &self.task {
            Task::Numbers(1) => format!("regression, intercept {:.6}", solutions[0].intercept),
            Task::Numbers(outputs) => format!("regression, {outputs} outputs"),
            Task::Classes(classes) => format!("classification, {} classes", classes.len()),
        };
        let end = match self.status() {
            Status::Converged => "converged",
            Status::IterationLimit => "not converged: the limit on iterations was reached",
            Status::Rounding => "not converged: rounding keeps the gap above the tolerance",
            Status::Stalled => "not converged: no step makes further progress",
            Status::Interrupted => "interrupted",
        };
        let mut lines = vec![
            task,
            format!(
                "{}, {}, K = {}",
                counted(shape.samples, "sample", "samples"),
                counted(shape.inputs, "variable", "variables"),
                plan.kernel().name()
            ),
            format!("p = {}, {} loss, {gamma} = {}", plan.exponent(), self.loss.name(), self.gamma),
            format!(
                "route {}, {}, {} over the data",
                plan.chosen(),
                counted(total(|solution| solution.iterations), "iteration", "iterations"),
                counted(total(|solution| solution.passes), "pass", "passes"),
            ),
            format!("{end}, relative duality gap {:.1e}", self.certificate().relative_gap()),
        ];
        if matches!(self.status(), Status::Stalled | Status::Rounding) {
            lines.push(format!(
                "to converge: {tolerance} above this gap, a smaller {gamma}, standardised variables or p farther from 1"
            ));
        }
        lines.join("\n  ")
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Plain))
    }
}
