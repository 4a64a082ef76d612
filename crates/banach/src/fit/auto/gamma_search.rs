//! Which parameters of a contender are the best.

use super::{
    Effort,
    validation::{Tested, Trial, Validated},
};
use crate::{Error, FeatureMatrix, Fit, Spec, data::ColumnScaling, error::Parameter, solver::GammaGrid};

/// Gammas that are tried together.
pub(super) const TOGETHER: usize = 5;
/// A larger gamma must lower the logarithmic loss of classes by so much, divided by the number of samples, which weights repeat.
const SLACK_OF_CLASSES: f64 = 0.5;
/// Gammas beyond the grid, at most.
const BEYOND: usize = 15;

/// Below this p leaving out one sample moves a solution too far for one Newton step: on real spectra gammas were chosen that had five times
/// the held-out loss of the best.
pub(super) const LEAST_LEFT_OUT: f64 = 1.3;
/// Of so many parameters that are best without each sample the folds choose one.
pub(super) const FINALISTS: usize = 2;
/// The folds begin so many gammas below the one that is best without each sample.
const BELOW: usize = 2;

/// What units have been learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learned {
    /// The columns alone: leaving out each sample, by one step from the fit of all ([`leave_one_out`](crate::solver::leave_one_out)),
    /// says which parameters are worth the folds.
    FromColumns,
    /// The targets as well: they have seen every sample, and the folds alone can tell.
    FromTargets,
}

/// The place of the smallest gamma whose loss is at most the smallest and a slack, among fits that converged; gammas increase.
fn least_loss(tested: &[Tested], slack: f64) -> Option<usize> {
    let least = tested.iter().map(|tested| tested.loss).fold(f64::INFINITY, f64::min);
    tested.iter().position(|tested| tested.loss.is_finite() && tested.loss <= least + slack)
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

/// Parameters that the folds choose among, with the gamma that is best without each sample, if it is known.
#[derive(Clone, Copy)]
struct Finalist<'o> {
    spec: &'o Spec,
    around: Option<f64>,
}

/// What some gammas come to; `None` if it was ended.
type Test<'f, T> = dyn FnMut(&mut T, &[f64]) -> Result<Option<Vec<Tested>>, Error> + 'f;

impl Trial<'_, '_> {
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
        for (at, &Finalist { spec, around }) in finalists.iter().enumerate() {
            match self.best_gamma(lanes, spec, around) {
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
        let (units, looked_at) = (units.clone(), self.take_looked_at());
        Ok(Some(Validated { units, spec, predictions: tested.predictions, looked_at }))
    }

    /// The best parameters without each sample; all of them, without a gamma, where that cannot be told. `None` if it was ended.
    fn finalists<'o>(
        &mut self,
        lanes: &[FeatureMatrix<'_>],
        options: &'o [Spec],
        learned: Learned,
    ) -> Result<Option<Vec<Finalist<'o>>>, Error> {
        let everyone = || options.iter().map(|spec| Finalist { spec, around: None }).collect();
        let exchangeable = self.set().folds.is_exchangeable();
        if learned == Learned::FromTargets || !exchangeable || options.iter().any(|spec| spec.p < LEAST_LEFT_OUT) {
            return Ok(Some(everyone()));
        }
        let all = lanes.last().expect("there is a lane of all samples");
        let mut found: Vec<(&Spec, Tested)> = Vec::new();
        for spec in options {
            let scale = self.gamma_scale(all, spec)?;
            let mut tested =
                match self.climb(&scale, 0, scale.count, &mut |trial, gammas| trial.leave_out(all, spec, gammas)) {
                    Ok(Some(tested)) => tested,
                    Ok(None) => return Ok(None),
                    Err(_) => return Ok(Some(everyone())),
                };
            match least_loss(&tested, 0.0) {
                Some(place) => found.push((spec, tested.swap_remove(place))),
                None => return Ok(Some(everyone())),
            }
        }
        found.sort_by(|a, b| a.1.loss.total_cmp(&b.1.loss));
        found.truncate(FINALISTS);
        Ok(Some(found.into_iter().map(|(spec, tested)| Finalist { spec, around: Some(tested.gamma) }).collect()))
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
        let slack = self.slack();
        let Some(mut tested) = self.climb(&scale, from, least, test)? else { return Ok(None) };
        // Downwards, as long as the smallest is the best, or none converges.
        while from > 0 && least_loss(&tested, slack).is_none_or(|place| place == 0) {
            let below = from.saturating_sub(TOGETHER);
            let gammas: Vec<f64> = (below..from).map(|at| scale.gamma(at)).collect();
            let Some(mut found) = test(self, &gammas)? else { return Ok(None) };
            found.append(&mut tested);
            (tested, from) = (found, below);
        }
        match least_loss(&tested, slack) {
            Some(place) => Ok(Some(tested.swap_remove(place))),
            None => Err(Error::Parameter {
                parameter: Parameter::Gamma,
                got: format!("{:.2e} to {:.2e}", scale.first, scale.gamma(scale.count - 1)),
                allowed: "values at which fits converge",
            }),
        }
    }

    /// What gammas come to from one place upwards: at least so many, and beyond them as long as the largest are the best. `None` if it was ended.
    fn climb(
        &mut self,
        scale: &GammaScale,
        from: usize,
        least: usize,
        test: &mut Test<'_, Self>,
    ) -> Result<Option<Vec<Tested>>, Error> {
        let mut tested: Vec<Tested> = Vec::new();
        while from + tested.len() < scale.count + BEYOND {
            let first = from + tested.len();
            let gammas: Vec<f64> = (first..first + TOGETHER).map(|at| scale.gamma(at)).collect();
            if gammas.iter().any(|gamma| !gamma.is_normal()) {
                break;
            }
            let Some(mut found) = test(self, &gammas)? else { return Ok(None) };
            let solved = found.iter().all(|found| found.loss.is_finite());
            tested.append(&mut found);
            let rises = least_loss(&tested, 0.0).is_some_and(|place| place + 2 < tested.len());
            if !solved || rises && tested.len() >= least {
                break;
            }
        }
        Ok(Some(tested))
    }

    /// What a larger gamma must gain. Classes that can be told apart without a mistake are told apart by any larger gamma with less and less
    /// loss; but n samples say nothing of mistakes that are rarer than one in n, and probabilities must not either.
    fn slack(&self) -> f64 {
        let total: f64 = self.set().all().weights.iter().sum();
        if self.set().scoring.numbers().is_some() { 0.0 } else { SLACK_OF_CLASSES / total }
    }

    /// The gammas to begin with, by all samples.
    fn gamma_scale(&self, x: &FeatureMatrix<'_>, spec: &Spec) -> Result<GammaScale, Error> {
        let count = if self.effort == Effort::Thorough { 20 } else { 10 };
        let set = self.set();
        let fit = Fit::within(spec, set.account.clone())?;
        let (_, outputs) = set.target.outputs(x.samples(), set.loss.targets(), set.sample_weight)?;
        let prepared = fit.prepare(x, 1)?;
        let problems = prepared.problems(&outputs[..1], set.sample_weight)?;
        let grid = GammaGrid::from_data(&problems[0], count)?;
        let (first, last) = (grid.values()[0], grid.values()[grid.values().len() - 1]);
        let ratio = (last / first).powf(1.0 / (grid.values().len().max(2) - 1) as f64);
        Ok(GammaScale { first, ratio, count: grid.values().len() })
    }
}
