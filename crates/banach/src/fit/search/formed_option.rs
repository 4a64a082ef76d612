//! One combination of p and kernel, with the data in its form.

use super::{Gammas, SearchOption, Tried, candidate};
use crate::{
    Error, FeatureMatrix, Fit, Observer, Prepared, Status, Target,
    fit::{Task, target::Outputs},
    solver::{Folds, cross_validate_all},
};

/// What is searched in.
#[derive(Clone, Copy)]
pub(in crate::fit) struct SearchedSamples<'a> {
    pub x: &'a FeatureMatrix<'a>,
    pub y: &'a Target<'a>,
    pub weight: Option<&'a [f64]>,
}

/// A combination whose form is built once, for every gamma that is tried: a grid, a wider one, the choice.
pub(in crate::fit) struct FormedOption<'a> {
    option: SearchOption,
    samples: SearchedSamples<'a>,
    task: Task,
    outputs: Outputs<'a>,
    prepared: Prepared<'a>,
}

impl<'a> FormedOption<'a> {
    /// The combination for so many folds. The loss and the memory are those of `fit`.
    pub(in crate::fit) fn new(
        fit: &Fit,
        option: &SearchOption,
        samples: SearchedSamples<'a>,
        folds: usize,
    ) -> Result<Self, Error> {
        let fit = fit.with_spec(&option.spec)?;
        let SearchedSamples { x, y, weight } = samples;
        let (task, outputs) = y.outputs(x.samples(), fit.loss().targets(), weight)?;
        let prepared = fit.prepare(x, outputs.len() * folds)?;
        Ok(Self { option: option.clone(), samples, task, outputs, prepared })
    }

    /// The held-out scores of every gamma, from fits that end at this relative gap.
    pub(in crate::fit) fn try_out(
        &mut self,
        gammas: &Gammas,
        tolerance: f64,
        folds: &Folds,
        observer: &mut dyn Observer,
    ) -> Result<Tried, Error> {
        self.prepared.set_tolerance(tolerance);
        let SearchedSamples { y, weight, .. } = self.samples;
        let problems = self.prepared.problems(&self.outputs, weight)?;
        let grid = gammas.grid(&problems[0])?;
        let functions = cross_validate_all(&problems, &grid, folds, self.prepared.solver(), observer)?;
        let candidates = candidate::candidates(&functions, &self.task, y, weight);
        Ok(Tried { option: self.option.clone(), plan: self.prepared.plan().clone(), functions, candidates })
    }

    /// Whether the fit of all samples with this gamma converges.
    pub(super) fn converges(&mut self, gamma: f64, tolerance: f64, observer: &mut dyn Observer) -> bool {
        self.prepared.set_tolerance(tolerance);
        let problems = self.prepared.problems(&self.outputs, self.samples.weight);
        let problems = problems.and_then(|problems| problems.iter().map(|problem| problem.with_gamma(gamma)).collect());
        let solutions = problems.and_then(|problems: Vec<_>| self.prepared.solve(&problems, observer));
        // Who ends it wants what there is.
        let ends = |status: Status| matches!(status, Status::Converged | Status::Interrupted);
        solutions.is_ok_and(|solutions| solutions.iter().all(|solution| ends(solution.status)))
    }
}
