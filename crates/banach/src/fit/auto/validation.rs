//! Held-out predictions of a contender: every fold with what is learned without it.

use std::ops::ControlFlow;

use super::{
    Effort,
    contender::{Blueprint, Contender, Recipe},
    learning_set::{Lane, LearningSet},
};
use crate::{
    Error, FeatureMatrix, Fit, Model, Search, Spec, Status,
    data::ColumnScaling,
    error::Parameter,
    fit::{Gammas, KernelSpace, SearchOption},
    solver::{GammaGrid, LEAST_EXPONENT_LEFT_OUT, Progress, leave_one_out, path_all},
};

/// The relative duality gap of fits that are only compared.
const TOLERANCE: f64 = 1e-4;
/// Their iterations, at most: what takes more hardly ever converges.
const MOST_ITERATIONS: usize = 100;
/// A fit with a larger relative gap is no fit: what it predicts depends on where it began.
const LARGEST_GAP: f64 = 1e-2;
/// Gammas that are tried together.
const TOGETHER: usize = 5;
/// Gammas beyond the grid, at most.
const BEYOND: usize = 15;

/// Smaller gammas that lead to one at which fits do not converge at once, and their ratio.
const LEADING_STEPS: i32 = 4;
const LEADING_STEP: f64 = 10.0;

/// The trial of one recipe.
pub(super) struct Trial<'t, 'a> {
    set: &'t LearningSet<'a>,
    effort: Effort,
    watch: &'t mut dyn FnMut(f64) -> ControlFlow<()>,
    share: f64,
    ended: bool,
}

/// The best of several parameters, and its held-out predictions.
pub(super) struct Validated {
    pub units: ColumnScaling,
    pub spec: Spec,
    pub predictions: Vec<f64>,
}

impl Validated {
    pub(super) fn contender(self, recipe: Recipe) -> Contender {
        let blueprint = Blueprint::Dense { units: self.units, spec: Box::new(self.spec) };
        Contender { recipe, blueprint, predictions: Some(self.predictions), claimed: None, behind: None, seconds: 0.0 }
    }
}

/// Which samples judge gammas and parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    /// Every sample, by the model of all others ([`leave_one_out`]): for units that were learned without targets. Folds where that is not
    /// reliable.
    EachSample,
    /// The folds: what was learned from targets is learned again without them.
    Folds,
}

impl Judge {
    /// Whether each sample judges fits with these parameters: below p = 1.1 the model of all others is not known well enough.
    fn by_each_sample(self, spec: &Spec) -> bool {
        self == Self::EachSample && spec.p >= LEAST_EXPONENT_LEFT_OUT
    }
}

/// What one gamma comes to.
struct Tested {
    gamma: f64,
    loss: f64,
    predictions: Vec<f64>,
}

impl<'t, 'a> Trial<'t, 'a> {
    pub(super) fn new(
        set: &'t LearningSet<'a>,
        effort: Effort,
        watch: &'t mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Self {
        Self { set, effort, watch, share: 0.0, ended: false }
    }

    pub(super) fn set(&self) -> &'t LearningSet<'a> {
        self.set
    }

    /// Whether the watcher has ended it.
    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// How much of the trial is done; whether to go on.
    pub(super) fn reach(&mut self, share: f64) -> bool {
        self.share = share;
        self.ended |= (self.watch)(share).is_break();
        !self.ended
    }

    /// The parameters and the gamma with the smallest loss of samples that were not seen, and what they predict of the folds. Every lane has
    /// columns in units of its own. `None` if it was ended.
    pub(super) fn validate(
        &mut self,
        units: &[ColumnScaling],
        options: &[Spec],
        judge: Judge,
    ) -> Result<Option<Validated>, Error> {
        let set = self.set;
        let lanes: Vec<FeatureMatrix<'static>> =
            units.iter().map(|units| units.apply(set.x)).collect::<Result<_, _>>()?;
        let (mut best, mut refused): (Option<(Tested, &Spec)>, Option<Error>) = (None, None);
        for (at, spec) in options.iter().enumerate() {
            match self.best_gamma(&lanes, spec, judge) {
                Ok(Some(tested)) => {
                    if best.as_ref().is_none_or(|(best, _)| tested.loss < best.loss) {
                        best = Some((tested, spec));
                    }
                }
                Ok(None) => return Ok(None),
                Err(error) => refused = Some(error),
            }
            if !self.reach((at + 1) as f64 / options.len() as f64) {
                return Ok(None);
            }
        }
        let Some((mut tested, spec)) = best else {
            return Err(refused.unwrap_or(Error::Empty { what: "what is tried" }));
        };
        if judge.by_each_sample(spec) {
            let Some(held_out) = self.without_folds(&lanes, spec, tested.gamma)? else { return Ok(None) };
            tested = held_out;
        }
        let units = units.last().expect("there is a lane of all samples").clone();
        let spec = Spec { gamma: tested.gamma, ..spec.clone() };
        Ok(Some(Validated { units, spec, predictions: tested.predictions }))
    }

    /// What one gamma predicts of the folds. Fits that do not converge at once are led there along smaller gammas, and else the folds choose
    /// another one.
    fn without_folds(&mut self, lanes: &[FeatureMatrix<'_>], spec: &Spec, gamma: f64) -> Result<Option<Tested>, Error> {
        for steps in [0, LEADING_STEPS] {
            let gammas: Vec<f64> = (0..=steps).rev().map(|step| gamma * LEADING_STEP.powi(-step)).collect();
            let Some(mut tested) = self.test(lanes, spec, &gammas)? else { return Ok(None) };
            if let Some(last) = tested.pop().filter(|last| last.loss.is_finite()) {
                return Ok(Some(last));
            }
        }
        self.best_gamma(lanes, spec, Judge::Folds)
    }

    /// The gamma with the smallest loss. Gammas beyond the grid are tried as long as the largest are the best.
    fn best_gamma(&mut self, lanes: &[FeatureMatrix<'_>], spec: &Spec, judge: Judge) -> Result<Option<Tested>, Error> {
        let all = lanes.last().expect("there is a lane of all samples");
        let grid = self.grid(all, spec)?;
        let (first, last) = (grid[0], grid[grid.len() - 1]);
        let ratio = (last / first).powf(1.0 / (grid.len().max(2) - 1) as f64);
        let (mut best, mut tried): (Option<Tested>, usize) = (None, 0);
        while tried < grid.len() + BEYOND {
            let gammas: Vec<f64> = (tried..tried + TOGETHER).map(|at| first * ratio.powi(at as i32)).collect();
            if gammas.iter().any(|gamma| !gamma.is_normal()) {
                break;
            }
            let tested = if judge.by_each_sample(spec) {
                self.leave_out(all, spec, &gammas)?
            } else {
                self.test(lanes, spec, &gammas)?
            };
            let Some(tested) = tested else { return Ok(None) };
            tried += TOGETHER;
            let solved = tested.iter().all(|tested| tested.loss.is_finite());
            for tested in tested {
                if tested.loss.is_finite() && best.as_ref().is_none_or(|best| tested.loss < best.loss) {
                    best = Some(tested);
                }
            }
            let rises = best.as_ref().is_some_and(|best| best.gamma < gammas[TOGETHER - 2]);
            if !solved || rises && tried >= grid.len() {
                break;
            }
        }
        match best {
            Some(best) => Ok(Some(best)),
            None => Err(Error::Parameter {
                parameter: Parameter::Gamma,
                got: format!("{first:.2e} to {last:.2e}"),
                allowed: "values at which fits converge",
            }),
        }
    }

    /// The gammas to begin with, by all samples.
    fn grid(&self, x: &FeatureMatrix<'_>, spec: &Spec) -> Result<Vec<f64>, Error> {
        let count = if self.effort == Effort::Thorough { 20 } else { 10 };
        let set = self.set;
        let fit = Fit::new(spec)?.with_account(set.account.clone());
        let (_, outputs) = set.target.outputs(x.samples(), set.loss.targets(), set.sample_weight)?;
        let prepared = fit.prepare(x, 1)?;
        let problems = prepared.problems(&outputs[..1], set.sample_weight)?;
        Ok(GammaGrid::from_data(&problems[0], count)?.values().to_vec())
    }

    /// What every gamma predicts of each sample by the others, and the losses. `None` if it was ended.
    fn leave_out(&mut self, x: &FeatureMatrix<'_>, spec: &Spec, gammas: &[f64]) -> Result<Option<Vec<Tested>>, Error> {
        let (set, n) = (self.set, self.set.x.samples());
        let spec = Spec { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS, ..spec.clone() };
        let fit = Fit::new(&spec)?.with_account(set.account.clone());
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
        let tested = |(at, &gamma): (usize, &f64)| -> Result<Tested, Error> {
            let mut decisions = Vec::with_capacity(n * problems.len());
            for (problem, path) in problems.iter().zip(&paths) {
                let solution = &path.solutions[at];
                let solved = solution.certificate.relative_gap() <= LARGEST_GAP;
                let problem = problem.with_gamma(gamma)?;
                let found = if solved { leave_one_out(&problem, solution, prepared.memory()) } else { None };
                match found {
                    Some(found) => decisions.extend(found),
                    None => return Ok(Tested { gamma, loss: f64::INFINITY, predictions: Vec::new() }),
                }
            }
            self.tested(gamma, decisions, true)
        };
        gammas.iter().enumerate().map(tested).collect::<Result<_, _>>().map(Some)
    }

    /// What decisions about samples that were not seen come to.
    fn tested(&self, gamma: f64, decisions: Vec<f64>, solved: bool) -> Result<Tested, Error> {
        let scoring = &self.set.scoring;
        let predictions = scoring.predictions(decisions, self.set.x.samples())?;
        let loss = if solved { scoring.mean(&scoring.losses(&predictions)).value } else { f64::INFINITY };
        Ok(Tested { gamma, loss, predictions })
    }

    /// The held-out predictions and losses of every gamma. `None` if it was ended.
    fn test(&mut self, lanes: &[FeatureMatrix<'_>], spec: &Spec, gammas: &[f64]) -> Result<Option<Vec<Tested>>, Error> {
        let (set, n) = (self.set, self.set.x.samples());
        let search = Search {
            gammas: Gammas::Given(gammas.to_vec()),
            tolerance: TOLERANCE,
            ..Search::new(KernelSpace::Fixed(spec.kernel.clone()))
        };
        let spec = Spec { max_iterations: MOST_ITERATIONS, ..spec.clone() };
        let fit = Fit::new(&spec)?.with_account(set.account.clone());
        let option = SearchOption { spec, kernel: None };
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
            let tried = search.try_out(&fit, &option, x, set.target, set.sample_weight, fold, &mut observer)?;
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
        found
            .map(|(decisions, (&gamma, solved))| self.tested(gamma, decisions, solved))
            .collect::<Result<_, _>>()
            .map(Some)
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
        let fit = Fit::new(&spec)?.with_account(set.account.clone());
        let (watch, share) = (&mut self.watch, self.share);
        let mut observer = |_: &Progress| watch(share);
        let model = fit.run(x, set.target, Some(&lane.weights), &mut observer)?;
        self.ended |= model.status() == Status::Interrupted;
        Ok((!self.ended).then_some(model))
    }
}
