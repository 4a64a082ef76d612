//! What is to be fitted, as values.

use serde::{Deserialize, Serialize};

use super::{Fit, Model, SolverChoice, Target};
use crate::{
    Error, FeatureMatrix, Route, Unobserved,
    data::Interactions,
    kernel::{KernelSpec, MonomialScale},
    loss::LossSpec,
};

/// The parameters of a model `min_(w, b) sum_i gamma_i L(y_i, <Phi(x_i), w> + b) + (1/p)||w||_p^p`, and how it is computed.
///
/// They are checked when a [`Fit`] is made of them. In files they are an object of these names.
///
/// ```
/// use banach::{FeatureMatrix, Spec, kernel::KernelSpec, model::Budget};
///
/// // Sixty samples of eight variables; the target is a product of two of them, and a constant.
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..60 * 8).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = (0..60).map(|i| 3.0 * x[i] * x[60 + i] + 10.0).collect();
/// let x = FeatureMatrix::from_columns(60, 8, x)?;
///
/// let spec = Spec { p: 1.1, gamma: 10.0, kernel: KernelSpec::poly(2), ..Spec::default() };
/// let model = spec.fit(&x, &y)?;
///
/// assert!(model.certificate().relative_gap() <= 1e-8, "{model}");
/// let new = FeatureMatrix::from_rows(1, 8, &[0.5, -0.8, 0.1, 0.2, -0.3, 0.4, 0.9, -0.6])?;
/// assert!((model.decisions(&new)?[0] - 8.8).abs() < 0.1, "{:?}", model.decisions(&new)?); // 3 * 0.5 * -0.8 + 10
/// println!("{model}\n{}", model.plan());
///
/// let top = model.function(0, &x)?.top_monomials(3, Budget::default())?;
/// assert_eq!(top.entries[0].monomial.to_string(), "x0 * x1", "{top}");
/// # Ok::<(), banach::Error>(())
/// ```
///
/// With a loss for classes the targets are integers. Two classes take one function, which is positive for the larger label; more take
/// one each, fitted to that class against all others.
///
/// ```
/// use banach::{FeatureMatrix, Spec, loss::LossSpec};
///
/// let x = FeatureMatrix::from_rows(6, 2, &[0.1, 1.0, 0.2, -1.0, -0.1, 0.9, 1.1, 0.1, -0.9, 0.2, -1.2, -0.1])?;
/// let model = Spec { gamma: 10.0, loss: LossSpec::Logistic, ..Spec::default() }.fit(&x, &[7, 9, 7, 8, 5, 5])?;
/// assert_eq!(model.classes(), [5, 7, 8, 9]);
/// assert_eq!(model.labels(&x)?, [7, 9, 7, 8, 5, 5]);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The exponent of the penalty, 1 <= p <= 2. Nearer to 1, fewer features matter; for p = 1 most weights are exactly 0.
    pub p: f64,
    /// The weight of the loss, > 0. The larger, the closer the fit.
    pub gamma: f64,
    /// The tensor kernel, whose features the model is made of.
    pub kernel: KernelSpec,
    /// The scale of its monomials.
    pub monomials: MonomialScale,
    /// Which products of variables are monomials.
    #[serde(default = "Interactions::of_old_files")]
    pub interactions: Interactions,
    /// The loss, which tells whether numbers or classes are predicted.
    pub loss: LossSpec,
    /// Whether a constant without penalty is part of the model.
    pub fit_intercept: bool,
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// The most iterations.
    pub max_iterations: usize,
    /// The algorithm, and what it is told.
    pub solver: SolverChoice,
    /// The route to take; the cheapest that can be taken if `None`.
    pub route: Option<Route>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            p: 4.0 / 3.0,
            gamma: 1.0,
            kernel: KernelSpec::Linear,
            monomials: MonomialScale::Raw,
            interactions: Interactions::Possible,
            loss: LossSpec::Squared,
            fit_intercept: true,
            tolerance: 1e-8,
            max_iterations: 1000,
            solver: SolverChoice::Auto,
            route: None,
        }
    }
}

impl Spec {
    /// The model of the targets.
    pub fn fit<'y>(&self, x: &FeatureMatrix<'_>, y: impl Into<Target<'y>>) -> Result<Model, Error> {
        Fit::new(self)?.run(x, &y.into(), None, &mut Unobserved)
    }

    /// As [`fit`](Self::fit), with `gamma_i = gamma * sample_weight_i`. A sample of weight 0 is absent.
    ///
    /// ```
    /// use banach::{FeatureMatrix, Spec};
    ///
    /// let x = FeatureMatrix::from_rows(3, 1, &[1.0, 2.0, 3.0])?;
    /// let model = Spec { gamma: 1e3, ..Spec::default() }.fit_weighted(&x, &[2.0, 4.0, 100.0], &[1.0, 1.0, 0.0])?;
    /// assert!((model.decisions(&x)?[2] - 6.0).abs() < 0.1);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn fit_weighted<'y>(
        &self,
        x: &FeatureMatrix<'_>,
        y: impl Into<Target<'y>>,
        sample_weight: &[f64],
    ) -> Result<Model, Error> {
        Fit::new(self)?.run(x, &y.into(), Some(sample_weight), &mut Unobserved)
    }
}
