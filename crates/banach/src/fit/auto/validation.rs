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
    solver::{GammaGrid, Progress, leave_one_out, path_all},
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

/// Below this p leaving out one sample moves a solution too far for one Newton step: on real spectra gammas were chosen that had five times
/// the held-out loss of the best.
const LEAST_LEFT_OUT: f64 = 1.3;
/// Of so many parameters that are best without each sample the folds choose one.
const FINALISTS: usize = 2;
/// The folds begin so many gammas below the one that is best without each sample.
const BELOW: usize = 2;

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

/// What units have been learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learned {
    /// The columns alone: leaving out each sample, by one step from the fit of all ([`leave_one_out`]), says which parameters are worth
    /// the folds.
    FromColumns,
    /// The targets as well: they have seen every sample, and the folds alone can tell.
    FromTargets,
}

/// What one gamma comes to.
struct Tested {
    gamma: f64,
    loss: f64,
    predictions: Vec<f64>,
}

/// The first with the smallest loss, among fits that converged.
fn least_loss(tested: impl Iterator<Item = Tested>) -> Option<Tested> {
    let finite = tested.filter(|tested| tested.loss.is_finite());
    finite.reduce(|best, tested| if tested.loss < best.loss { tested } else { best })
}

/// Gammas with equal ratios, as many as there are to begin with.
struct GammaScale {
    first: f64,
    ratio: f64,
    count: usize,
}

impl GammaScale {
    fn gamma(&self, place: usize) -> f64 {
        self.first * self.ratio.powi(place as i32)
    }

    /// The place of one of its gammas.
    fn place(&self, gamma: f64) -> usize {
        if self.ratio > 1.0 { ((gamma / self.first).ln() / self.ratio.ln()).round() as usize } else { 0 }
    }
}

/// What some gammas come to; `None` if it was ended.
type Test<'f, T> = dyn FnMut(&mut T, &[f64]) -> Result<Option<Vec<Tested>>, Error> + 'f;

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

    /// The parameters and the gamma with the smallest held-out loss. Every lane has columns in units of its
    /// own; `units` are those of all samples. `None` if it was ended.
    pub(super) fn validate(
        &mut self,
        lanes: &[FeatureMatrix<'_>],
        units: &ColumnScaling,
        options: &[Spec],
        learned: Learned,
    ) -> Result<Option<Validated>, Error> {
        let Some(finalists) = self.finalists(lanes, options, learned)? else { return Ok(None) };
        let (mut best, mut refused): (Option<(Tested, &Spec)>, Option<Error>) = (None, None);
        for (at, (spec, around)) in finalists.iter().enumerate() {
            match self.best_gamma(lanes, spec, *around) {
                Ok(Some(tested)) => {
                    if best.as_ref().is_none_or(|(best, _)| tested.loss < best.loss) {
                        best = Some((tested, spec));
                    }
                }
                Ok(None) => return Ok(None),
                Err(error) => refused = Some(error),
            }
            if !self.reach((at + 1) as f64 / finalists.len() as f64) {
                return Ok(None);
            }
        }
        let Some((tested, spec)) = best else {
            return Err(refused.unwrap_or(Error::Empty { what: "what is tried" }));
        };
        let spec = Spec { gamma: tested.gamma, ..spec.clone() };
        Ok(Some(Validated { units: units.clone(), spec, predictions: tested.predictions }))
    }

    /// The parameters that the folds choose among, with the gamma that is best without each sample; all of them, without a gamma, where that
    /// cannot be told. `None` if it was ended.
    fn finalists<'o>(
        &mut self,
        lanes: &[FeatureMatrix<'_>],
        options: &'o [Spec],
        learned: Learned,
    ) -> Result<Option<Vec<(&'o Spec, Option<f64>)>>, Error> {
        let everyone = || options.iter().map(|spec| (spec, None)).collect();
        if learned == Learned::FromTargets || options.iter().any(|spec| spec.p < LEAST_LEFT_OUT) {
            return Ok(Some(everyone()));
        }
        let all = lanes.last().expect("there is a lane of all samples");
        let mut found: Vec<(&Spec, Tested)> = Vec::new();
        for spec in options {
            let scale = self.gamma_scale(all, spec)?;
            match self.climb(&scale, 0, scale.count, &mut |trial, gammas| trial.leave_out(all, spec, gammas)) {
                Ok(Some(tested)) => found.push((spec, tested)),
                Ok(None) if self.ended => return Ok(None),
                _ => return Ok(Some(everyone())),
            }
        }
        found.sort_by(|a, b| a.1.loss.total_cmp(&b.1.loss));
        found.truncate(FINALISTS);
        Ok(Some(found.into_iter().map(|(spec, tested)| (spec, Some(tested.gamma))).collect()))
    }

    /// The gamma with the smallest held-out loss: of the whole scale, or around one of them. `None` if it was ended.
    fn best_gamma(
        &mut self,
        lanes: &[FeatureMatrix<'_>],
        spec: &Spec,
        around: Option<f64>,
    ) -> Result<Option<Tested>, Error> {
        let scale = self.gamma_scale(lanes.last().expect("there is a lane of all samples"), spec)?;
        let test = &mut |trial: &mut Self, gammas: &[f64]| trial.test(lanes, spec, gammas);
        let place = around.map_or(0, |gamma| scale.place(gamma));
        let (mut from, least) =
            if around.is_some() { (place.saturating_sub(BELOW), TOGETHER) } else { (0, scale.count) };
        let mut best = self.climb(&scale, from, least, test)?;
        // Downwards, as long as the smallest is the best, or none converges.
        while from > 0 && !self.ended && best.as_ref().is_none_or(|best| best.gamma <= scale.gamma(from)) {
            let below = from.saturating_sub(TOGETHER);
            let gammas: Vec<f64> = (below..from).map(|at| scale.gamma(at)).collect();
            let Some(tested) = test(self, &gammas)? else { return Ok(None) };
            best = least_loss(best.into_iter().chain(tested));
            from = below;
        }
        match best {
            Some(best) => Ok(Some(best)),
            None if self.ended => Ok(None),
            None => Err(Error::Parameter {
                parameter: Parameter::Gamma,
                got: format!("{:.2e} to {:.2e}", scale.first, scale.gamma(scale.count - 1)),
                allowed: "values at which fits converge",
            }),
        }
    }

    /// The gamma with the smallest loss, from one place upwards: at least so many, and beyond them as long as the largest are the best. `None`
    /// if no fit converges, or it was ended.
    fn climb(
        &mut self,
        scale: &GammaScale,
        from: usize,
        least: usize,
        test: &mut Test<'_, Self>,
    ) -> Result<Option<Tested>, Error> {
        let (mut best, mut tried): (Option<Tested>, usize) = (None, 0);
        while from + tried < scale.count + BEYOND {
            let gammas: Vec<f64> = (from + tried..from + tried + TOGETHER).map(|at| scale.gamma(at)).collect();
            if gammas.iter().any(|gamma| !gamma.is_normal()) {
                break;
            }
            let Some(tested) = test(self, &gammas)? else { return Ok(None) };
            tried += TOGETHER;
            let solved = tested.iter().all(|tested| tested.loss.is_finite());
            best = least_loss(best.into_iter().chain(tested));
            let rises = best.as_ref().is_some_and(|best| best.gamma < gammas[TOGETHER - 2]);
            if !solved || rises && tried >= least {
                break;
            }
        }
        Ok(best)
    }

    /// The gammas to begin with, by all samples.
    fn gamma_scale(&self, x: &FeatureMatrix<'_>, spec: &Spec) -> Result<GammaScale, Error> {
        let count = if self.effort == Effort::Thorough { 20 } else { 10 };
        let set = self.set;
        let fit = Fit::new(spec)?.with_account(set.account.clone());
        let (_, outputs) = set.target.outputs(x.samples(), set.loss.targets(), set.sample_weight)?;
        let prepared = fit.prepare(x, 1)?;
        let problems = prepared.problems(&outputs[..1], set.sample_weight)?;
        let grid = GammaGrid::from_data(&problems[0], count)?;
        let (first, last) = (grid.values()[0], grid.values()[grid.values().len() - 1]);
        let ratio = (last / first).powf(1.0 / (grid.values().len().max(2) - 1) as f64);
        Ok(GammaScale { first, ratio, count: grid.values().len() })
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
