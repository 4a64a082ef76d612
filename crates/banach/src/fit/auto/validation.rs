//! Held-out predictions of a contender: every fold with what is learned without it.

use std::ops::ControlFlow;

use super::{
    Effort,
    contender::{Blueprint, Contender, Recipe},
    learning_set::{Lane, LearningSet},
};
use crate::{
    Error, FeatureMatrix, Fit, Model, Spec, Status,
    data::ColumnScaling,
    fit::{
        Gammas, SearchOption,
        search::{FormedOption, SearchedSamples},
    },
    solver::{GammaGrid, Path, Progress, leave_one_out_all, path_all},
};

/// The relative duality gap of fits that are only compared.
pub(super) const TOLERANCE: f64 = 1e-4;
/// Their iterations, at most: what takes more hardly ever converges.
const MOST_ITERATIONS: usize = 100;
/// A fit with a larger relative gap is no fit: what it predicts depends on where it began.
const LARGEST_GAP: f64 = 1e-2;
/// The trial of one recipe.
pub(super) struct Trial<'t, 'a> {
    set: &'t LearningSet<'a>,
    pub(super) effort: Effort,
    watch: &'t mut dyn FnMut(f64) -> ControlFlow<()>,
    share: f64,
    ended: bool,
    /// The losses of held-out samples with every gamma that the folds have tested since these were taken.
    looked_at: Vec<Vec<f64>>,
}

/// The best of several parameters, and its held-out predictions.
pub(super) struct Validated {
    pub units: ColumnScaling,
    pub spec: Spec,
    pub predictions: Vec<f64>,
    /// The losses of held-out samples with all parameters that were compared.
    pub looked_at: Vec<Vec<f64>>,
}

impl Validated {
    pub(super) fn contender(self, recipe: Recipe) -> Contender {
        let blueprint = Blueprint::Dense { units: self.units, spec: Box::new(self.spec) };
        let (predictions, looked_at) = (Some(self.predictions), self.looked_at);
        Contender { recipe, blueprint, predictions, looked_at, claimed: None, behind: None, seconds: 0.0 }
    }
}

/// What one gamma comes to.
pub(super) struct Tested {
    pub gamma: f64,
    /// Infinity for fits that did not converge.
    pub loss: f64,
    pub predictions: Vec<f64>,
}

impl<'t, 'a> Trial<'t, 'a> {
    pub(super) fn new(
        set: &'t LearningSet<'a>,
        effort: Effort,
        watch: &'t mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Self {
        Self { set, effort, watch, share: 0.0, ended: false, looked_at: Vec::new() }
    }

    pub(super) fn set(&self) -> &'t LearningSet<'a> {
        self.set
    }

    /// Whether the watcher has ended it.
    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// What the folds have tested since it was asked last.
    pub(super) fn take_looked_at(&mut self) -> Vec<Vec<f64>> {
        std::mem::take(&mut self.looked_at)
    }

    /// How much of the trial is done; whether to go on.
    pub(super) fn reach(&mut self, share: f64) -> bool {
        self.share = share;
        self.ended |= (self.watch)(share).is_break();
        !self.ended
    }

    /// What every gamma predicts of each sample by the others, and the losses. `None` if it was ended.
    pub(super) fn leave_out(
        &mut self,
        x: &FeatureMatrix<'_>,
        spec: &Spec,
        gammas: &[f64],
    ) -> Result<Option<Vec<Tested>>, Error> {
        let (set, n) = (self.set, self.set.x.samples());
        let spec = Spec { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS, ..spec.clone() };
        let fit = Fit::within(&spec, set.account.clone())?;
        let (_, outputs) = set.target.outputs(n, set.loss.targets(), set.sample_weight)?;
        let prepared = fit.prepare(x, outputs.len())?;
        let problems = prepared.problems(&outputs, set.sample_weight)?;
        let grid = GammaGrid::new(gammas.to_vec())?;
        let (watch, ended, share) = (&mut self.watch, &mut self.ended, self.share);
        let mut observer = |_: &Progress| {
            let asked = watch(share);
            *ended |= asked.is_break();
            asked
        };
        let paths = path_all(&problems, &grid, prepared.solver(), &mut observer)?;
        if self.ended {
            return Ok(None);
        }
        let is_solved = |path: &Path, at: usize| path.solutions[at].certificate.relative_gap() <= LARGEST_GAP;
        // All functions of the first gamma that are solved, then those of the next: one batch.
        let (mut solved, mut solutions) = (Vec::new(), Vec::new());
        for (at, &gamma) in gammas.iter().enumerate() {
            for (problem, path) in problems.iter().zip(&paths) {
                if is_solved(path, at) {
                    solved.push(problem.with_gamma(gamma)?);
                    solutions.push(&path.solutions[at]);
                }
            }
        }
        let mut found = leave_one_out_all(&solved, &solutions, prepared.memory()).into_iter();
        let mut tested = Vec::with_capacity(gammas.len());
        for (at, &gamma) in gammas.iter().enumerate() {
            let each = paths.iter().map(|path| if is_solved(path, at) { found.next().flatten() } else { None });
            // Every function takes its own, also behind one that has none.
            let each: Vec<Option<Vec<f64>>> = each.collect();
            tested.push(match each.into_iter().collect::<Option<Vec<_>>>() {
                Some(decisions) => self.tested(gamma, decisions.concat(), true)?,
                None => Tested { gamma, loss: f64::INFINITY, predictions: Vec::new() },
            });
        }
        Ok(Some(tested))
    }

    /// What decisions about samples that were not seen come to.
    fn tested(&self, gamma: f64, decisions: Vec<f64>, solved: bool) -> Result<Tested, Error> {
        let scoring = &self.set.scoring;
        let predictions = scoring.predictions(decisions, self.set.x.samples())?;
        let loss = if solved { scoring.mean(&scoring.losses(&predictions)).value } else { f64::INFINITY };
        Ok(Tested { gamma, loss, predictions })
    }

    /// The held-out predictions and losses of every gamma. `None` if it was ended.
    pub(super) fn test(
        &mut self,
        lanes: &[FeatureMatrix<'_>],
        spec: &Spec,
        gammas: &[f64],
    ) -> Result<Option<Vec<Tested>>, Error> {
        let (set, n) = (self.set, self.set.x.samples());
        let given = Gammas::Given(gammas.to_vec());
        let tolerance = TOLERANCE.max(spec.tolerance);
        let spec = Spec { max_iterations: MOST_ITERATIONS, ..spec.clone() };
        let fit = Fit::within(&spec, set.account.clone())?;
        let option = SearchOption { spec, kernel: None, place: 0 };
        let mut decisions = vec![vec![0.0; set.task.functions() * n]; gammas.len()];
        let mut solved = vec![true; gammas.len()];
        for (lane, x) in set.lanes.iter().zip(lanes) {
            let Some(fold) = &lane.fold else { continue };
            let (watch, ended, share) = (&mut self.watch, &mut self.ended, self.share);
            let mut observer = |_: &Progress| {
                let asked = watch(share);
                *ended |= asked.is_break();
                asked
            };
            let samples = SearchedSamples { x, y: set.target, weight: set.sample_weight };
            let mut combination = FormedOption::new(&fit, &option, samples, fold.count())?;
            let tried = combination.try_out(&given, tolerance, fold, &mut observer)?;
            if self.ended {
                return Ok(None);
            }
            for (function, validated) in tried.functions.iter().enumerate() {
                for ((decisions, solved), fits) in decisions.iter_mut().zip(&mut solved).zip(&validated.fits) {
                    *solved &= fits[0].certificate.relative_gap() <= LARGEST_GAP;
                    for (&i, prediction) in fold.held_out()[0].iter().zip(&fits[0].predictions) {
                        decisions[function * n + i] = *prediction;
                    }
                }
            }
        }
        let found = decisions.into_iter().zip(gammas.iter().zip(solved));
        let tested = found
            .map(|(decisions, (&gamma, solved))| self.tested(gamma, decisions, solved))
            .collect::<Result<Vec<_>, _>>()?;
        let losses = tested.iter().filter(|one| one.loss.is_finite()).map(|one| set.scoring.losses(&one.predictions));
        self.looked_at.extend(losses);
        Ok(Some(tested))
    }

    /// The model of what one lane sees.
    pub(super) fn lane_model(
        &mut self,
        lane: &Lane,
        x: &FeatureMatrix<'_>,
        spec: &Spec,
    ) -> Result<Option<Model>, Error> {
        let set = self.set;
        let spec = Spec { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS, ..spec.clone() };
        let fit = Fit::within(&spec, set.account.clone())?;
        let (watch, share) = (&mut self.watch, self.share);
        let mut observer = |_: &Progress| watch(share);
        let model = fit.run(x, set.target, Some(&lane.weights), &mut observer)?;
        self.ended |= model.status() == Status::Interrupted;
        Ok((!self.ended).then_some(model))
    }
}
