//! What was fitted, and how.

use banach::{
    Classification, Classifier, DualModel, Error, FeatureMatrix, Memory, Plan, Regression, Regressor, Route, Solution,
    SolverChoice, Status,
    kernel::{KernelSpec, MonomialScale},
    loss::{LossSpec, Targets},
};
use serde::{Deserialize, Serialize};

use super::{Observed, SavedModel, document::named};

/// The parameters of an estimator, as values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// The exponent of the penalty.
    pub p: f64,
    /// The weight of the loss.
    pub gamma: f64,
    /// The kernel.
    pub kernel: KernelSpec,
    /// The scale of its monomials.
    #[serde(with = "named")]
    pub monomials: MonomialScale,
    /// The loss.
    pub loss: LossSpec,
    /// Whether there is a constant.
    pub fit_intercept: bool,
    /// The relative duality gap that was asked for.
    pub tolerance: f64,
    /// The most iterations.
    pub max_iterations: usize,
    /// The algorithm that was asked for, and what it was told.
    pub solver: SolverChoice,
    /// The route that was asked for.
    #[serde(with = "named::option")]
    pub route: Option<Route>,
}

/// A model, ready to predict.
#[derive(Debug, Clone)]
pub enum Fitted {
    /// Numbers.
    Regression(Regression),
    /// Classes, by their places among the labels.
    Classification(Classification),
}

/// Calls a method that both models have.
macro_rules! both {
    ($fitted:expr, $model:ident => $call:expr) => {
        match $fitted {
            Fitted::Regression($model) => $call,
            Fitted::Classification($model) => $call,
        }
    };
}

impl Fitted {
    /// `f(x) + b` at every point: all points of the first function, then all of the second, and so on.
    pub fn decisions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        match self {
            Self::Regression(model) => model.predict(x),
            Self::Classification(model) => model.decision_function(x),
        }
    }

    /// One solution for every function.
    pub fn solutions(&self) -> &[Solution] {
        both!(self, model => model.solutions())
    }

    /// The end that is farthest from convergence.
    pub fn status(&self) -> Status {
        both!(self, model => model.status())
    }

    /// The route that was taken.
    pub fn plan(&self) -> &Plan {
        both!(self, model => model.plan())
    }

    /// A function by its dual vector and the samples that it was fitted to.
    pub fn function<'x>(&self, function: usize, x: &'x FeatureMatrix<'_>) -> Result<DualModel<'x>, Error> {
        both!(self, model => model.function(function, x))
    }
}

impl ModelSpec {
    /// A kernel and a loss, with the other parameters as they are unless told otherwise.
    pub fn new(kernel: KernelSpec, loss: LossSpec) -> Self {
        Self {
            p: 4.0 / 3.0,
            gamma: 1.0,
            kernel,
            monomials: MonomialScale::Raw,
            loss,
            fit_intercept: true,
            tolerance: 1e-8,
            max_iterations: 1000,
            solver: SolverChoice::Auto,
            route: None,
        }
    }

    pub(super) fn restore(&self, saved: &SavedModel<'_>, memory: Memory) -> Result<Fitted, Error> {
        let (kernel, loss) = (self.kernel.build()?, self.loss.build()?);
        // The two builders have the same parameters.
        macro_rules! told {
            ($builder:expr) => {
                $builder
                    .p(self.p)
                    .gamma(self.gamma)
                    .kernel(kernel)
                    .monomials(self.monomials)
                    .loss(loss)
                    .fit_intercept(self.fit_intercept)
                    .tolerance(self.tolerance)
                    .max_iterations(self.max_iterations)
                    .solver(self.solver)
                    .route(self.route)
                    .memory(memory)
            };
        }
        let (x, solutions, radii, route) = (&saved.x, saved.solutions.clone(), saved.radii.clone(), saved.route);
        match (&saved.observed, self.loss.targets()) {
            (Observed::Classes { labels, .. }, Targets::Signs) => {
                let classes = (0..labels.len() as i64).collect();
                let classifier = told!(Classifier::new());
                classifier.restore(x, classes, solutions, radii, route).map(Fitted::Classification)
            }
            _ => told!(Regressor::new()).restore(x, solutions, radii, route).map(Fitted::Regression),
        }
    }
}

#[cfg(test)]
mod tests {
    use banach::{PaperAlgorithm, PaperOptions, Rule};

    use super::*;

    #[test]
    fn a_solver_is_its_name_or_an_object_and_comes_back() {
        for choice in SolverChoice::ALL {
            assert_eq!(serde_json::to_string(&choice).expect("text"), format!("\"{}\"", choice.name()));
        }
        let told = PaperOptions {
            algorithm: Some(PaperAlgorithm::Gradient),
            rule: Some(Rule::Restart),
            delta: Some(0.3),
            theta: Some(0.1 + 0.2),
            lambda_bar: Some(0.2),
        };
        let json = r#"{"name":"paper","algorithm":"2.1","rule":"restart","delta":0.3,"theta":0.30000000000000004,"lambda_bar":0.2}"#;
        assert_eq!(serde_json::to_string(&SolverChoice::Paper(told)).expect("text"), json);
        let some = PaperOptions { theta: Some(0.9), ..PaperOptions::default() };
        for choice in SolverChoice::ALL.into_iter().chain([told, some].map(SolverChoice::Paper)) {
            let json = serde_json::to_string(&choice).expect("text");
            assert_eq!(serde_json::from_str::<SolverChoice>(&json).expect("valid"), choice, "{json}");
        }
    }

    #[test]
    fn a_solver_that_is_written_wrongly_is_refused() {
        for (json, expected) in [
            (r#""magic""#, "magic"),
            (r#"{"name":"newton","delta":0.5}"#, "the name of a solver"),
            (r#"{"name":"paper","gamma":0.5}"#, "the name of a solver"),
            (r#"{"name":"paper","algorithm":"2.2"}"#, "the name of a solver"),
            (r#"{"name":"paper","delta":1.5}"#, "delta = 1.5"),
            ("3", "the name of a solver"),
        ] {
            let error = serde_json::from_str::<SolverChoice>(json).expect_err("wrong").to_string();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
}
