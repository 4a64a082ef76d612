//! The step sizes of Algorithms 2.1 and 3.3.

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    error::{Parameter, names},
};

/// Where the search for a step starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// From `lambda_bar`, in every iteration (Algorithm 3.3 `[dualalgo]`).
    Restart,
    /// From the last step, so that steps never grow (Algorithm 2.1 `[algo:main]`).
    Monotone,
}

names! {
    Rule, Parameter::Rule, "restart, every search from the first trial step, or monotone, steps never grow";
    Restart "restart", Monotone "monotone"
}

/// Trials of one search, after which a run counts as stalled; enough to shrink a step 1e300-fold at theta = 0.93.
pub(crate) const MAX_TRIALS: usize = 10_000;

/// Backtracking: the first of `lambda_bar, theta lambda_bar, theta^2 lambda_bar, ...` with
///
/// ```text
/// phi_1(alpha_hat) - phi_1(alpha) - <alpha_hat - alpha, grad phi_1(alpha)> <= (delta/lambda) ||alpha_hat - alpha||^2
/// ```
///
/// A run in which 10 000 trials in a row fail ends as stalled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linesearch {
    /// Where the search starts.
    pub rule: Rule,
    /// In ]0, 1[: how much of the linear decrease may be lost.
    pub delta: f64,
    /// In ]0, 1[: the factor from one trial to the next.
    pub theta: f64,
    /// The first trial. `None` leaves it to the solver: the largest `gamma_i` in Algorithm 3.3, 99 % of the limit
    /// `gamma/(2(1-delta))` in Algorithm 2.1, 1 in primal gradient descent.
    pub lambda_bar: Option<f64>,
}

impl Default for Linesearch {
    fn default() -> Self {
        Self { rule: Rule::Restart, delta: 0.5, theta: 0.5, lambda_bar: None }
    }
}

impl Linesearch {
    /// The first trial step, given its default, for parameters inside their ranges.
    pub(crate) fn first_step(&self, default: f64) -> Result<f64, Error> {
        for (parameter, value) in [(Parameter::Delta, self.delta), (Parameter::Theta, self.theta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::parameter(parameter, value, "0 < value < 1"));
            }
        }
        let lambda_bar = self.lambda_bar.unwrap_or(default);
        Parameter::LambdaBar.check(lambda_bar, lambda_bar > 0.0 && lambda_bar.is_finite(), "a finite number > 0")?;
        Ok(lambda_bar)
    }

    /// Where the next search starts.
    pub(crate) fn next_start(&self, lambda_bar: f64, accepted: f64) -> f64 {
        match self.rule {
            Rule::Restart => lambda_bar,
            Rule::Monotone => accepted,
        }
    }
}
