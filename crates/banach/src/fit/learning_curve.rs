//! How the error on held-out samples falls with the number of samples that a model is fitted to.

use serde::Serialize;

use super::{Assessment, Fit, Gammas, KernelSpace, Search, Target, hold_out::check_classes};
use crate::{Error, FeatureMatrix, Observer, solver::Folds};

/// Shares of the samples outside of each fold, each a part of the next. The whole is what was assessed already.
const SHARES: [f64; 3] = [0.25, 0.5, 0.75];
/// Fewer samples are not fitted to.
const LEAST_SAMPLES: usize = 8;

/// The error of fits to parts of the samples, all on the same held-out samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearningCurve {
    /// What is fitted to every part.
    pub what: Learner,
    /// The smallest part first; the last has all samples outside of each fold.
    pub points: Vec<LearningPoint>,
}

/// What is fitted to every part of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Learner {
    /// The parameters that all samples chose.
    ChosenParameters,
    /// The whole search for few terms.
    Terms,
    /// The whole choice of a model.
    Choice,
}

/// One part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LearningPoint {
    /// The mean number of samples of a fit.
    pub samples: f64,
    /// The loss on held-out samples, as a share of that of the constant of all samples outside of each fold.
    pub error: f64,
}

impl LearningCurve {
    /// From the assessment with these folds, and from those that `assess` makes with parts of the samples. A part that is too small, in which a
    /// class is missing, that cannot be fitted or that is ended is left out.
    pub fn new(
        what: Learner,
        whole: &Assessment,
        (folds, target, seed): (&Folds, &Target<'_>, u64),
        assess: &mut dyn FnMut(&Folds) -> Result<Option<Assessment>, Error>,
    ) -> Result<Self, Error> {
        let point = |folds: &Folds, found: &Assessment| {
            let seen = folds.absent().iter().map(|absent| folds.samples() - absent.len()).sum::<usize>();
            LearningPoint { samples: seen as f64 / folds.count() as f64, error: found.loss / whole.constant_loss }
        };
        let mut points = Vec::new();
        for share in SHARES {
            let part = folds.thinned(share, seed)?;
            let least = part.absent().iter().map(|absent| part.samples() - absent.len()).min().unwrap_or(0);
            let missing = matches!(target, Target::Labels(labels) if check_classes(&part, labels).is_err());
            if least < LEAST_SAMPLES || missing {
                continue;
            }
            // The whole has a verdict whatever becomes of a part.
            points.extend(assess(&part).ok().flatten().map(|found| point(&part, &found)));
        }
        points.push(point(folds, whole));
        Ok(Self { what, points })
    }
}

impl Fit {
    /// The learning curve of these parameters, gamma among them: with fewer samples another gamma may be the best.
    pub fn learning_curve(
        &self,
        x: &FeatureMatrix<'_>,
        (y, sample_weight): (&Target<'_>, Option<&[f64]>),
        (folds, seed): (&Folds, u64),
        whole: &Assessment,
        observer: &mut dyn Observer,
    ) -> Result<LearningCurve, Error> {
        let spec = self.spec();
        let search = Search {
            exponents: vec![spec.p],
            gammas: Gammas::Given(vec![spec.gamma]),
            ..Search::new(KernelSpace::Fixed(spec.kernel.clone()))
        };
        LearningCurve::new(Learner::ChosenParameters, whole, (folds, y, seed), &mut |part| {
            let found = search.run(self, x, y, sample_weight, part, observer)?;
            let assessment = found.assessment(y, &**self.loss(), sample_weight)?;
            Ok(assessment.filter(|_| !found.interrupted()))
        })
    }
}
