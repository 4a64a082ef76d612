//! What all models are made of.

use std::{fmt, sync::Arc};

use crate::{Certificate, DualModel, Error, FeatureMatrix, Plan, Predict, Solution, Status};

/// Fitted functions `f + b`, one for every output or class.
#[derive(Debug, Clone)]
pub(super) struct Fitted {
    /// The loss and gamma, in words.
    summary: String,
    plan: Plan,
    functions: Arc<dyn Predict>,
    solutions: Vec<Solution>,
    /// How far each dual vector can be from the optimal one, where that is known.
    radii: Vec<Option<f64>>,
}

impl Fitted {
    pub(super) fn new(
        summary: String,
        plan: Plan,
        functions: Box<dyn Predict>,
        solutions: Vec<Solution>,
        radii: Vec<Option<f64>>,
    ) -> Self {
        Self { summary, plan, functions: functions.into(), solutions, radii }
    }

    /// `f(x) + b` at every point: all points of the first function, then all of the second, and so on.
    pub(super) fn decisions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let mut values = self.functions.predict(x)?;
        for (values, solution) in values.chunks_mut(x.samples()).zip(&self.solutions) {
            values.iter_mut().for_each(|value| *value += solution.intercept);
        }
        Ok(values)
    }

    pub(super) fn solutions(&self) -> &[Solution] {
        &self.solutions
    }

    pub(super) fn radii(&self) -> &[Option<f64>] {
        &self.radii
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn weights(&self, function: usize) -> Option<Vec<f64>> {
        let weights = self.functions.weights()?;
        let features = weights.len() / self.solutions.len();
        Some(weights[function * features..(function + 1) * features].to_vec())
    }

    pub(super) fn function<'x>(&self, function: usize, x: &'x FeatureMatrix<'_>) -> Result<DualModel<'x>, Error> {
        let (plan, solution) = (&self.plan, &self.solutions[function]);
        let (got, expected) = (x.features(), plan.shape().inputs);
        if got != expected {
            return Err(Error::Shape { what: "a row of X", got, expected });
        }
        let model = DualModel::new(x.view(), plan.shared_kernel(), plan.exponent(), &solution.alpha)?;
        let model = model.with_scale(plan.scale()).with_omega(&solution.omega)?;
        match self.radii[function] {
            Some(radius) => model.with_radius(radius),
            None => Ok(model),
        }
    }

    /// The certificate with the largest relative gap.
    pub(super) fn certificate(&self) -> Certificate {
        let certificates = self.solutions.iter().map(|solution| solution.certificate);
        let worst = certificates.max_by(|a, b| a.relative_gap().total_cmp(&b.relative_gap()));
        worst.expect("there is at least one function")
    }

    /// The end that is farthest from convergence.
    pub(super) fn status(&self) -> Status {
        let order = [Status::Interrupted, Status::IterationLimit, Status::Stalled, Status::Rounding];
        let met = |status: &Status| self.solutions.iter().any(|solution| solution.status == *status);
        order.into_iter().find(met).unwrap_or(Status::Converged)
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, plan) = (self.plan.shape(), &self.plan);
        let total = |count: fn(&Solution) -> usize| self.solutions.iter().map(count).sum::<usize>();
        let end = match self.status() {
            Status::Converged => "converged",
            Status::IterationLimit => "not converged: the limit on iterations was reached",
            Status::Rounding => "not converged: rounding keeps the gap above the tolerance",
            Status::Stalled => "not converged: no step makes further progress",
            Status::Interrupted => "interrupted",
        };
        let kernel = plan.kernel().name();
        writeln!(f, "  {} samples, {} variables, K = {kernel}", shape.samples, shape.inputs)?;
        writeln!(f, "  p = {}, {}", plan.exponent(), self.summary)?;
        writeln!(
            f,
            "  route {}, {} iterations, {} passes over the data",
            plan.chosen(),
            total(|solution| solution.iterations),
            total(|solution| solution.passes),
        )?;
        write!(f, "  {end}, relative duality gap {:.1e}", self.certificate().relative_gap())?;
        if matches!(self.status(), Status::Stalled | Status::Rounding) {
            let advice = "a tolerance above this gap, a smaller gamma, standardised variables or p farther from 1";
            write!(f, "\n  to converge: {advice}")?;
        }
        Ok(())
    }
}

/// What all models tell, as methods of a model with the field `fitted`.
macro_rules! fitted {
    () => {
        /// What the solver found: one solution for every function.
        pub fn solutions(&self) -> &[Solution] {
            self.fitted.solutions()
        }

        /// For every function a bound on the distance from its dual vector to the optimal one, where the loss gives one
        /// ([`DualProblem::radius`](crate::DualProblem::radius)).
        pub fn radii(&self) -> &[Option<f64>] {
            self.fitted.radii()
        }

        /// The dual vector of a function.
        ///
        /// # Panics
        ///
        /// If there is no such function.
        pub fn alpha(&self, function: usize) -> &[f64] {
            &self.fitted.solutions()[function].alpha
        }

        /// The constant b of a function; 0 for a model without an intercept.
        ///
        /// # Panics
        ///
        /// If there is no such function.
        pub fn intercept(&self, function: usize) -> f64 {
            self.fitted.solutions()[function].intercept
        }

        /// The weights w of a function, in the order of the variables or, for a kernel whose features were listed, of
        /// its [`FeatureMap`](crate::kernel::FeatureMap); `None` where the features were not listed.
        ///
        /// # Panics
        ///
        /// If there is no such function.
        pub fn weights(&self, function: usize) -> Option<Vec<f64>> {
            self.fitted.weights(function)
        }

        /// A function by its dual vector and the samples that it was fitted to, which tells its largest monomials and how
        /// much every variable matters; without the intercept.
        ///
        /// # Panics
        ///
        /// If there is no such function.
        pub fn function<'x>(&self, function: usize, x: &'x FeatureMatrix<'_>) -> Result<DualModel<'x>, Error> {
            self.fitted.function(function, x)
        }

        /// How far the model can be from the optimum; with several functions, the one with the largest relative gap.
        pub fn certificate(&self) -> Certificate {
            self.fitted.certificate()
        }

        /// How the fit ended; with several functions, the end that is farthest from convergence.
        pub fn status(&self) -> Status {
            self.fitted.status()
        }

        /// The route that was taken, and why.
        pub fn plan(&self) -> &Plan {
            self.fitted.plan()
        }
    };
}

pub(super) use fitted;
