//! Algorithms for the dual problem, and the primal baselines of the paper's Table 1.

mod cross_validation;
mod gamma_grid;
mod gradient;
#[cfg(test)]
mod laws;
mod leave_one_out;
mod linesearch;
mod newton;
mod path;
pub mod primal;
mod proximal_gradient;
mod start;
mod warm_start;
mod working_set;

use std::{fmt, ops::ControlFlow};

pub use cross_validation::{Choice, CrossValidation, Dealing, FoldFit, Folds, Mean, Metric, cross_validate};
pub(crate) use cross_validation::{SplitMix64, cross_validate_all, score, shuffle};
pub use gamma_grid::GammaGrid;
pub use gradient::Gradient;
pub use leave_one_out::{leave_one_out, leave_one_out_all};
use linesearch::MAX_TRIALS;
pub use linesearch::{Linesearch, Rule};
pub use newton::Newton;
pub(crate) use path::chains;
pub use path::{Path, path, path_all};
pub use proximal_gradient::ProximalGradient;
pub use start::{KnownPoint, Start};
pub use working_set::WorkingSets;

use serde::{Deserialize, Serialize};

use crate::{
    Certificate, DualProblem, Error,
    error::{Parameter, names},
    form::SparseWeights,
};

/// An algorithm that minimises the dual.
pub trait Solver: fmt::Debug + Send + Sync {
    /// Runs until the relative duality gap is at most the tolerance, or one of the other ends of
    /// [`Status`] is met. The answer is the iterate with the smallest relative gap.
    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error>;

    /// As [`solve_from`](Self::solve_from), from the solver's own choice of a start.
    fn solve(&self, problem: &DualProblem<'_>, observer: &mut dyn Observer) -> Result<Solution, Error> {
        self.solve_from(problem, &Start::Auto, observer)
    }

    /// Whether problems that are solved together cost less than one after another.
    fn shares_passes(&self) -> bool {
        false
    }

    /// As [`solve_all`](Self::solve_all), with the points from which other problems over the form are best started, where that is the
    /// solution itself ([`Start::Known`]).
    fn solve_on(
        &self,
        problems: &[DualProblem<'_>],
        starts: Vec<Start>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(Solution, Option<KnownPoint>)>, Error> {
        let solutions = self.solve_all(problems, &starts, observer)?;
        Ok(solutions.into_iter().map(|solution| (solution, None)).collect())
    }

    /// Solves several problems over one form, each from its own start. [`Progress::problem`] tells the observer which of
    /// them it sees; when it stops one, all that are still running end.
    ///
    /// # Panics
    ///
    /// If there are not as many starts as problems, or if the problems are not over one form.
    fn solve_all(
        &self,
        problems: &[DualProblem<'_>],
        starts: &[Start],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Solution>, Error> {
        assert_eq!(problems.len(), starts.len(), "every problem has a start");
        let mut stopped = ControlFlow::Continue(());
        let runs = problems.iter().zip(starts).enumerate();
        runs.map(|(problem, (dual, start))| {
            let mut one = |progress: &Progress| {
                if stopped.is_continue() {
                    stopped = observer.observe(&Progress { problem, ..*progress });
                }
                stopped
            };
            self.solve_from(dual, start, &mut one)
        })
        .collect()
    }
}

/// When a solver stops by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// The most iterations.
    pub max_iterations: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 10_000 }
    }
}

impl Stopping {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let fits = (0.0..f64::INFINITY).contains(&self.tolerance);
        Parameter::Tolerance.check(self.tolerance, fits, "a finite number >= 0")
    }

    /// How the run ends at this iterate; `None` if it goes on. The observer is told of every iterate.
    pub(crate) fn end(&self, progress: &Progress, observer: &mut dyn Observer) -> Option<Status> {
        let asked = observer.observe(progress);
        if progress.certificate.relative_gap() <= self.tolerance {
            Some(Status::Converged)
        } else if asked.is_break() {
            Some(Status::Interrupted)
        } else {
            (progress.iteration >= self.max_iterations).then_some(Status::IterationLimit)
        }
    }
}

/// How a run ended. Every end comes with a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The relative duality gap is at most the tolerance.
    Converged,
    /// The largest number of iterations was reached first.
    IterationLimit,
    /// The gap is above the tolerance, and what keeps it there is rounding: of the predictions, or of the dual vector itself. The data
    /// are badly scaled for this tolerance, or gamma is so large that every digit of a prediction counts.
    Rounding,
    /// No step makes progress any more, and the gap is still above the tolerance.
    Stalled,
    /// The observer asked to stop.
    Interrupted,
}

names! {
    Status, Parameter::Status, "converged, iteration_limit, rounding, stalled or interrupted";
    Converged "converged", IterationLimit "iteration_limit", Rounding "rounding", Stalled "stalled",
    Interrupted "interrupted"
}

impl Status {
    /// Of several ends the one that is farthest from convergence.
    pub fn worst(ends: impl IntoIterator<Item = Self>) -> Self {
        const FROM_BEST: [Status; 5] =
            [Status::Converged, Status::Rounding, Status::Stalled, Status::IterationLimit, Status::Interrupted];
        let rank = |end: Self| FROM_BEST.iter().position(|known| *known == end).unwrap_or(0);
        FROM_BEST[ends.into_iter().map(rank).max().unwrap_or(0)]
    }
}

/// Where a run stands, once per iteration; iteration 0 is the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Which problem of a batch; 0 for a single one.
    pub problem: usize,
    /// Iterations done, m.
    pub iteration: usize,
    /// Passes over the data so far.
    pub passes: usize,
    /// The certificate of the present iterate.
    pub certificate: Certificate,
}

/// Watches a run and may stop it. Closures are observers.
pub trait Observer {
    /// Called with every iterate; `Break` ends the run.
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;
}

impl<F: FnMut(&Progress) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}

/// The observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A dual vector and what is known of it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The dual vector.
    pub alpha: Vec<f64>,
    /// The in-sample predictions of its model.
    pub omega: Vec<f64>,
    /// The constant b that is added to them; 0 for a problem without an intercept.
    pub intercept: f64,
    /// The weights for p = 1, which do not follow from the dual vector; `None` for p > 1.
    pub weights: Option<SparseWeights>,
    /// How far it can be from the optimum.
    pub certificate: Certificate,
    /// How the run ended.
    pub status: Status,
    /// Iterations done.
    pub iterations: usize,
    /// Passes over the data.
    pub passes: usize,
}
