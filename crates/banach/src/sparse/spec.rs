//! What is to be found, as values.

use serde::{Deserialize, Serialize};

use super::{
    Hierarchy, SparseFunction, SparsePenalty,
    run::{Fitting, Variables},
    search::MOST_LISTED,
};
use crate::{
    Account, Error, FeatureMatrix, Memory,
    data::Interactions,
    error::Parameter,
    kernel::KernelSpec,
    loss::{LossSpec, Targets},
};

/// What is allowed where terms by evidence are asked for and the targets are counts: what to do instead.
pub(crate) const INSTEAD_OF_COUNTS: &str = "squared or a loss for classes, for terms by evidence; for counts, fit a model with the poisson \
                                            loss without such terms, or the square roots of the counts by the squared loss";

/// Which few monomials of a kernel explain numbers, or tell two classes apart: unless a penalty is asked for, the support with the smallest
/// criterion, and nothing shrunk.
///
/// ```
/// use banach::{FeatureMatrix, kernel::{Degrees, KernelChoice, KernelName}, sparse::SparseSpec};
///
/// // Sixty samples of eight variables; the target is a product of two of them, a third one, and a constant.
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..60 * 8).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = (0..60).map(|i| 3.0 * x[i] * x[60 + i] - x[300 + i] + 10.0 + 0.1 * jumble(i + 1000)).collect();
/// let x = FeatureMatrix::from_columns(60, 8, x)?;
///
/// let kernel = KernelChoice { degree: Some(Degrees::range(1, 2)?), ..KernelChoice::new(KernelName::Poly) };
/// let found = SparseSpec { kernel: kernel.spec()?, ..SparseSpec::default() }.fit(&x, &y)?;
/// let names: Vec<String> = found.terms().iter().map(|term| term.monomial.to_string()).collect();
/// assert_eq!(names, ["x0 * x1", "x5"]);
/// assert!((found.terms()[0].coefficient - 3.0).abs() < 0.2);
/// assert!(found.certificate().holds());
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SparseSpec {
    /// The kernel whose monomials can be named; finitely many.
    pub kernel: KernelSpec,
    /// The most terms; a third of the samples unless told otherwise, and never more.
    pub max_terms: Option<usize>,
    /// Whether a constant is part of the function.
    pub fit_intercept: bool,
    /// The loss that the terms explain by: squared for numbers, logistic for classes, which are targets -1 and 1.
    pub loss: LossSpec,
    /// What keeps the function to few terms.
    pub penalty: SparsePenalty,
    /// Which supports are allowed.
    pub hierarchy: Hierarchy,
    /// Which products of variables are monomials.
    pub interactions: Interactions,
}

impl Default for SparseSpec {
    fn default() -> Self {
        Self {
            kernel: KernelSpec::Linear,
            max_terms: None,
            fit_intercept: true,
            loss: LossSpec::Squared,
            penalty: SparsePenalty::Evidence,
            hierarchy: Hierarchy::None,
            interactions: Interactions::Possible,
        }
    }
}

impl SparseSpec {
    /// The function of the targets.
    pub fn fit(&self, x: &FeatureMatrix<'_>, y: &[f64]) -> Result<SparseFunction, Error> {
        self.run(x, y, None, &Account::new(Memory::available()))
    }

    /// The function of the targets, with optional weights of samples, within the memory of an account.
    ///
    /// Monomials of the variables less their means are tried as well where they could do with fewer terms: a product of such variables is one of
    /// plain ones and its factors. The criterion decides.
    pub fn run(
        &self,
        x: &FeatureMatrix<'_>,
        y: &[f64],
        sample_weight: Option<&[f64]>,
        account: &Account,
    ) -> Result<SparseFunction, Error> {
        self.run_as(x, y, sample_weight, account, MOST_LISTED, true)
    }

    /// As [`run`](Self::run), with all monomials written out where they are at most so many numbers; centred variables are tried on request.
    pub(super) fn run_as(
        &self,
        x: &FeatureMatrix<'_>,
        y: &[f64],
        sample_weight: Option<&[f64]>,
        account: &Account,
        most_listed: u64,
        centring: bool,
    ) -> Result<SparseFunction, Error> {
        self.check_all(x, y, sample_weight)?;
        let fitting = Fitting::new(self, x, y, sample_weight, account, most_listed)?;
        fitting.function(if centring { Variables::Either } else { Variables::AsTheyAre })
    }

    /// Refuses parameters that do not fit each other, or the data.
    pub(super) fn check_all(
        &self,
        x: &FeatureMatrix<'_>,
        y: &[f64],
        sample_weight: Option<&[f64]>,
    ) -> Result<(), Error> {
        self.check()?;
        check(x, y, sample_weight)?;
        if self.loss != LossSpec::Logistic {
            return Ok(());
        }
        if let Some(row) = y.iter().position(|y| y.abs() != 1.0) {
            return Err(Error::BadValue { what: "y", row, value: y[row], allowed: "-1 or 1" });
        }
        let counts = |sign: f64| {
            y.iter().enumerate().any(|(i, y)| *y == sign && sample_weight.is_none_or(|weights| weights[i] > 0.0))
        };
        match (counts(-1.0), counts(1.0)) {
            (true, true) => Ok(()),
            (negative, positive) if negative != positive => {
                Err(Error::OneLabel { label: if positive { 1 } else { -1 } })
            }
            _ => Err(Error::NoWeight { samples: y.len(), largest: 0.0, gamma: 1.0 }),
        }
    }

    /// Refuses parameters that do not fit each other.
    fn check(&self) -> Result<(), Error> {
        Parameter::MaxTerms.check(0.0, self.max_terms != Some(0), "a whole number > 0")?;
        let known = matches!(self.loss, LossSpec::Squared | LossSpec::Logistic);
        let counts = self.loss.targets() == Targets::Counts;
        let allowed = if counts { INSTEAD_OF_COUNTS } else { "squared or logistic, for few terms" };
        Parameter::Loss.check(self.loss.name(), known, allowed)?;
        let fits = self.penalty == SparsePenalty::Evidence || self.hierarchy == Hierarchy::None;
        Parameter::Hierarchy.check(
            self.hierarchy,
            fits,
            "none, with a penalty other than evidence: its weights alone say which terms there are",
        )
    }
}

/// Whether targets and weights are numbers that fit the samples.
fn check(x: &FeatureMatrix<'_>, y: &[f64], sample_weight: Option<&[f64]>) -> Result<(), Error> {
    let n = x.samples();
    if y.len() != n {
        return Err(Error::Shape { what: "y", got: y.len(), expected: n });
    }
    let limit = crate::data::MAX_ENTRY;
    if let Some(row) = y.iter().position(|y| y.is_nan() || y.abs() > limit) {
        let allowed = "finite numbers up to 1e200 in magnitude";
        return Err(Error::BadValue { what: "y", row, value: y[row], allowed });
    }
    let Some(weights) = sample_weight else { return Ok(()) };
    if weights.len() != n {
        return Err(Error::Shape { what: "sample_weight", got: weights.len(), expected: n });
    }
    match weights.iter().position(|weight| !(0.0..f64::INFINITY).contains(weight)) {
        Some(row) => {
            let allowed = "finite numbers >= 0";
            Err(Error::BadValue { what: "sample_weight", row, value: weights[row], allowed })
        }
        None => Ok(()),
    }
}
