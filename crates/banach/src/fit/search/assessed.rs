//! What held-out samples say of the choice of a search.

use super::{Searched, Tried};
use crate::{
    Error, Loss, Target,
    fit::{Assessment, Decided, Decisions},
};

impl Searched {
    /// How well the choice predicts held-out samples, among all that were tried and finished. `None` if nothing was.
    pub fn assessment(
        &self,
        target: &Target<'_>,
        loss: &dyn Loss,
        sample_weight: Option<&[f64]>,
    ) -> Result<Option<Assessment>, Error> {
        let Some(chosen) = self.chosen else { return Ok(None) };
        let (task, _) = target.outputs(self.folds.samples(), loss.targets(), sample_weight)?;
        let functions = &self.tried[chosen.0].functions;
        let constants = |part: usize| functions.iter().map(|function| function.constants[part]).collect();
        let constants = (0..self.folds.count()).map(constants).collect();
        let finished = |(option, tried): (usize, &Tried)| {
            let known = tried.candidates.iter().enumerate().filter(|(_, candidate)| candidate.finished);
            known.map(|(gamma, _)| (option, gamma)).collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> = self.tried.iter().enumerate().flat_map(finished).collect();
        let candidates: Vec<Decisions> =
            places.iter().map(|&(option, gamma)| self.tried[option].decisions(gamma)).collect();
        let at = places.iter().position(|place| *place == chosen).unwrap_or(0);
        let decided = Decided::in_folds(&self.folds, &task, loss, target, sample_weight, constants);
        Ok(Some(decided.assessment(&candidates, at, None)))
    }
}

impl Tried {
    /// The decisions of every function about the samples of every fold in turn.
    fn decisions(&self, gamma: usize) -> Decisions {
        let of = |fits: &Vec<crate::solver::FoldFit>| fits.iter().flat_map(|fit| fit.predictions.clone()).collect();
        self.functions.iter().map(|function| of(&function.fits[gamma])).collect()
    }
}
