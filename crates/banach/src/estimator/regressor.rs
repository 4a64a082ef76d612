//! Regression, with one target or several.

use std::{fmt, sync::Arc};

use super::{
    Ground, SolverChoice,
    fitted::{Fitted, fitted},
    parameters::{Parameters, parameters},
};
use crate::{
    Certificate, DualModel, Error, FeatureMatrix, Loss, Memory, Observer, Plan, Rates, Route, Solution, Squared,
    Status, Unobserved,
    kernel::{MonomialScale, TensorKernel},
    loss::Targets,
};

/// Fits numbers: `min_(w, b) sum_i gamma_i L(y_i, <Phi(x_i), w> + b) + (1/p)||w||_p^p`.
///
/// Parameters are checked when data are fitted. The loss is the squared one unless told otherwise.
///
/// ```
/// use banach::{FeatureMatrix, Regressor, kernel::Polynomial, model::Budget};
///
/// // Sixty samples of eight variables; the target is a product of two of them, and a constant.
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..60 * 8).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = (0..60).map(|i| 3.0 * x[i] * x[60 + i] + 10.0).collect();
/// let x = FeatureMatrix::from_columns(60, 8, x)?;
///
/// let model = Regressor::new().p(1.1).gamma(10.0).kernel(Polynomial::new(2, 1.0, 0.0)?).fit(&x, &y)?;
///
/// assert!(model.certificate().relative_gap() <= 1e-8, "{model}");
/// let new = FeatureMatrix::from_rows(1, 8, &[0.5, -0.8, 0.1, 0.2, -0.3, 0.4, 0.9, -0.6])?;
/// assert!((model.predict(&new)?[0] - 8.8).abs() < 0.1, "{:?}", model.predict(&new)?); // 3 * 0.5 * -0.8 + 10
/// println!("{model}\n{}", model.plan());
///
/// let top = model.function(0, &x)?.top_monomials(3, Budget::default())?;
/// assert_eq!(top.entries[0].monomial.to_string(), "x0 * x1", "{top}");
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Regressor {
    parameters: Parameters,
}

impl Default for Regressor {
    fn default() -> Self {
        Self::new()
    }
}

impl Regressor {
    /// A regressor with the default parameters.
    pub fn new() -> Self {
        Self { parameters: Parameters::new(Squared) }
    }

    parameters!();

    /// The model of one target.
    pub fn fit(&self, x: &FeatureMatrix<'_>, y: &[f64]) -> Result<Regression, Error> {
        self.fit_observed(x, &[y], None, &mut Unobserved)
    }

    /// The model of one target, with `gamma_i = gamma * sample_weight_i`. A sample of weight 0 is absent.
    pub fn fit_weighted(&self, x: &FeatureMatrix<'_>, y: &[f64], sample_weight: &[f64]) -> Result<Regression, Error> {
        self.fit_observed(x, &[y], Some(sample_weight), &mut Unobserved)
    }

    /// The model of several targets, each with its own weights. What is built from the data is built once for all.
    pub fn fit_outputs(&self, x: &FeatureMatrix<'_>, outputs: &[&[f64]]) -> Result<Regression, Error> {
        self.fit_observed(x, outputs, None, &mut Unobserved)
    }

    /// As [`fit_outputs`](Self::fit_outputs), with optional weights, watched by an observer that may end it.
    pub fn fit_observed(
        &self,
        x: &FeatureMatrix<'_>,
        outputs: &[&[f64]],
        sample_weight: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Regression, Error> {
        let fitted = self.parameters.check(Targets::Real)?.fit(x, outputs, sample_weight, observer)?;
        Ok(Regression { fitted })
    }

    /// What every route to the data would cost, for so many problems at a time, and the one that would be taken.
    pub fn plan(&self, x: &FeatureMatrix<'_>, problems: usize) -> Result<Plan, Error> {
        self.parameters.check(Targets::Real)?.planned(x, problems)
    }

    /// The form of the data, for so many problems at a time; see [`Ground`].
    pub fn ground<'x>(&self, x: &'x FeatureMatrix<'_>, problems: usize) -> Result<Ground<'x>, Error> {
        self.parameters.check(Targets::Real)?.ground(x, problems)
    }

    /// The model with the [solutions](Regression::solutions) and [radii](Regression::radii) of a fit to the same samples, by
    /// the route that was taken, without fitting it again.
    pub fn restore(
        &self,
        x: &FeatureMatrix<'_>,
        solutions: Vec<Solution>,
        radii: Vec<Option<f64>>,
        route: Route,
    ) -> Result<Regression, Error> {
        let fitted = self.parameters.check(Targets::Real)?.restore(x, solutions, radii, route)?;
        Ok(Regression { fitted })
    }
}

/// A fitted regression. It owns what it needs: the weights where features are listed, else a copy of the samples.
#[derive(Debug, Clone)]
pub struct Regression {
    fitted: Fitted,
}

impl Regression {
    /// `f(x) + b` at every point; with several outputs, all points of the first, then all of the second, and so on.
    pub fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        self.fitted.decisions(x)
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.fitted.solutions().len()
    }

    fitted!();
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outputs() {
            1 => writeln!(f, "regression, intercept {:.6}", self.intercept(0))?,
            outputs => writeln!(f, "regression, {outputs} outputs")?,
        }
        write!(f, "{}", self.fitted)
    }
}
