//! The functions of a model, ready to predict, whatever its kind.

use banach::{
    Error, FeatureMatrix, Memory, Model,
    fit::{AutoModel, Exposure, SparseModel},
};
use banach_io::Saved;

pub(super) enum Functions {
    Lp(Box<Model>),
    Sparse(SparseModel),
    Auto(Box<AutoModel>),
}

impl Functions {
    pub(super) fn of(model: &Saved, memory: Memory) -> Result<Self, Error> {
        Ok(match model {
            Saved::Lp(model) => Self::Lp(Box::new(model.restore(memory)?)),
            Saved::Sparse(model) => Self::Sparse(model.model.clone()),
            Saved::Auto(model) => Self::Auto(Box::new(model.model.clone())),
        })
    }

    /// All points of the first function, then all of the second, and so on.
    pub(super) fn decisions(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        match self {
            Self::Lp(model) => model.decisions(x),
            Self::Sparse(model) => model.decisions(x),
            Self::Auto(model) => model.decisions(x),
        }
    }

    /// The numbers that are predicted, in the same order: decisions, but for the means of counts.
    pub(super) fn responses(&self, x: &FeatureMatrix<'_>, exposure: Option<Exposure<'_>>) -> Result<Vec<f64>, Error> {
        match self {
            Self::Lp(model) => model.responses(x, exposure),
            Self::Sparse(_) | Self::Auto(_) => self.decisions(x),
        }
    }

    /// For every point the place of its label.
    pub(super) fn labels(&self, x: &FeatureMatrix<'_>) -> Result<Vec<usize>, Error> {
        let (labels, classes) = match self {
            Self::Lp(model) => (model.labels(x)?, model.classes()),
            Self::Sparse(model) => (model.labels(x)?, model.classes()),
            Self::Auto(model) => (model.labels(x)?, model.classes()),
        };
        Ok(labels.iter().filter_map(|label| classes.binary_search(label).ok()).collect())
    }

    /// For every output, how far a prediction is off at most in this share of cases.
    pub(super) fn half_widths(&self, coverage: f64) -> Result<Vec<f64>, Error> {
        match self {
            Self::Lp(model) => model.half_widths(coverage),
            Self::Sparse(model) => model.half_widths(coverage),
            Self::Auto(model) => model.half_widths(coverage),
        }
    }

    /// All points of the first class, then all of the second, and so on.
    pub(super) fn probabilities(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        match self {
            Self::Lp(model) => model.probabilities(x),
            Self::Sparse(model) => model.probabilities(x),
            Self::Auto(model) => model.predictions(x),
        }
    }
}
