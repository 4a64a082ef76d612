//! The fits of a search before they are made.

use super::{Search, SearchOption};
use crate::{Error, FeatureMatrix, Fit, Spec, fit::PlannedFits, form::Rates};

/// What is searched, of what, and by how many folds.
#[derive(Clone, Copy)]
struct Given<'a> {
    fit: &'a Fit,
    x: &'a FeatureMatrix<'a>,
    functions: usize,
    folds: usize,
}

impl Search {
    /// The fits of the search: every combination that can be fitted, gamma, function and fold. Of the gammas that it adds while the best lies
    /// at the end of a grid, those of one round are counted, for the combination that takes longest.
    pub fn planned(
        &self,
        fit: &Fit,
        x: &FeatureMatrix<'_>,
        functions: usize,
        sample_weight: Option<&[f64]>,
        folds: usize,
    ) -> Result<PlannedFits, Error> {
        Ok(self.planned_parts(Given { fit, x, functions, folds }, sample_weight)?.0)
    }

    /// As [`planned`](Self::planned), and the fit of all samples with what is chosen, be it the slowest.
    pub fn planned_with_model(
        &self,
        fit: &Fit,
        x: &FeatureMatrix<'_>,
        functions: usize,
        sample_weight: Option<&[f64]>,
        folds: usize,
    ) -> Result<PlannedFits, Error> {
        let (searched, model) = self.planned_parts(Given { fit, x, functions, folds }, sample_weight)?;
        Ok(searched.and(model))
    }

    /// The fits of the folds, and that of all samples.
    fn planned_parts(
        &self,
        given: Given<'_>,
        sample_weight: Option<&[f64]>,
    ) -> Result<(PlannedFits, PlannedFits), Error> {
        let Given { fit, x, functions, folds } = given;
        let mut searched = PlannedFits::default();
        let mut slowest: Option<(f64, SearchOption, PlannedFits)> = None;
        for option in self.options(fit.spec(), x, sample_weight)? {
            // What cannot be planned is left out by the search.
            let Ok((in_folds, model)) = self.planned_option(given, &option) else { continue };
            let seconds = model.prediction(&Rates::default()).seconds;
            if slowest.as_ref().is_none_or(|(most, ..)| seconds > *most) {
                slowest = Some((seconds, option, model));
            }
            searched = searched.and(in_folds);
        }
        let Some((_, option, model)) = slowest else { return Ok((searched, PlannedFits::default())) };
        let beyond = self.gammas.expected_beyond();
        if beyond > 0 {
            // They end at the gap of the final fit, and so does a fit of all samples.
            let more = fit.with_spec(&option.spec)?.planned(x, functions.saturating_mul(folds), beyond)?;
            searched = searched.and(more).and(model.clone());
        }
        Ok((searched, model))
    }

    fn planned_option(&self, given: Given<'_>, option: &SearchOption) -> Result<(PlannedFits, PlannedFits), Error> {
        let Given { fit, x, functions, folds } = given;
        let compared = Spec { tolerance: self.gap(&option.spec), ..option.spec.clone() };
        let problems = functions.saturating_mul(folds);
        Ok((
            fit.with_spec(&compared)?.planned(x, problems, self.gammas.count())?,
            fit.with_spec(&option.spec)?.planned(x, functions, 1)?,
        ))
    }
}
