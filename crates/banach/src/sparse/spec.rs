//! What is to be found, as values.

use std::{
    collections::HashSet,
    f64::consts::LN_2,
    hash::{DefaultHasher, Hasher},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    Design, Dictionary, Evidence, Hierarchy, SparsePenalty,
    model::{SparseFunction, centred, function},
    search::{MOST_LISTED, columns_bytes, search},
};
use crate::{
    Account, Error, FeatureMatrix, Memory,
    error::{Parameter, Remedy},
    kernel::{KernelSpec, Monomial, TensorKernel},
    loss::LossSpec,
};

/// Which few monomials of a kernel explain numbers, without a parameter that shrinks them: the support with the smallest criterion.
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

    /// Refuses parameters that do not fit each other.
    fn check(&self) -> Result<(), Error> {
        Parameter::MaxTerms.check(0.0, self.max_terms != Some(0), "a whole number > 0")?;
        Parameter::Loss.check(self.loss.name(), self.loss == LossSpec::Squared, "squared, for few terms")?;
        Parameter::Penalty.check(self.penalty, self.penalty == SparsePenalty::Evidence, "evidence")?;
        Parameter::Hierarchy.check(self.hierarchy, self.hierarchy == Hierarchy::None, "none")
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
        self.check()?;
        check(x, y, sample_weight)?;
        let design = Design::new(y, sample_weight, self.fit_intercept)?;
        let kernel = self.kernel.build()?;
        let rows = different_rows(x, y, &design);
        // The function by monomials of the variables less the centres.
        let of_variables = |x: &FeatureMatrix<'_>, centres: Vec<f64>| {
            let dictionary = Dictionary::new(x.view(), kernel.clone(), &design)?;
            let evidence =
                Evidence::new(rows, design.samples(), self.fit_intercept, dictionary.count(), self.max_terms);
            let bytes = bytes_of(x).saturating_add(columns_bytes(&dictionary, evidence));
            let _taken = account.take(bytes).map_err(|short| {
                short.error("the search for terms", &[Remedy::Do("take a lower degree or fewer columns")])
            })?;
            function(&search(&dictionary, &design, evidence, most_listed), &dictionary, &design, x, y, centres)
        };
        let found = of_variables(x, Vec::new())?;
        if !centring || !self.fit_intercept || !could_be_centred(&found, &kernel, &design, x) {
            return Ok(found);
        }
        let _copy = account
            .take(bytes_of(x))
            .map_err(|short| short.error("the variables less their means", &[Remedy::Do("take fewer columns")]))?;
        let means = means(x, &design);
        let centred = of_variables(&centred(x, &means)?, means)?;
        Ok(if centred.criterion() + SECOND_KIND < found.criterion() { centred } else { found })
    }
}

/// What it costs to say which of two kinds of products a function has: it must be better by as much.
const SECOND_KIND: f64 = 2.0 * LN_2;

/// The bytes of a dense copy of a matrix.
fn bytes_of(x: &FeatureMatrix<'_>) -> u64 {
    8 * (x.samples() as u64) * (x.features() as u64)
}

/// Whether a function of the variables less their means could be better than this one of the variables as they are: one with a product and a
/// factor of it, or one for which there is little evidence.
fn could_be_centred(
    found: &SparseFunction,
    kernel: &Arc<dyn TensorKernel>,
    design: &Design,
    x: &FeatureMatrix<'_>,
) -> bool {
    if kernel.degrees().1.is_none_or(|highest| highest < 2) {
        return false;
    }
    let evidence = Evidence::new(x.samples(), design.samples(), true, found.dictionary(), None);
    let divides = |a: &Monomial, b: &Monomial| {
        let power =
            |variable: usize| b.factors().iter().find(|(own, _)| *own == variable).map_or(0, |(_, power)| *power);
        a != b && a.factors().iter().all(|&(variable, own)| own <= power(variable))
    };
    let has_factor = |product: &Monomial| found.terms().iter().any(|term| divides(&term.monomial, product));
    found.criterion() > -evidence.decisive() || found.terms().iter().any(|term| has_factor(&term.monomial))
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

/// How many of the rows that count are different: one that is repeated is not seen better by that.
fn different_rows(x: &FeatureMatrix<'_>, y: &[f64], design: &Design) -> usize {
    let mut rows: Vec<DefaultHasher> = vec![DefaultHasher::new(); x.samples()];
    let mut take = |column: &[f64]| rows.iter_mut().zip(column).for_each(|(row, x)| row.write_u64(x.to_bits()));
    let mut column = vec![0.0; x.samples()];
    take(y);
    for j in 0..x.features() {
        x.column_into(j, &mut column);
        take(&column);
    }
    let present = rows.iter().zip(design.roots()).filter(|(_, root)| **root > 0.0);
    present.map(|(row, _)| row.finish()).collect::<HashSet<_>>().len()
}

/// The weighted means of the variables.
fn means(x: &FeatureMatrix<'_>, design: &Design) -> Vec<f64> {
    let mut column = vec![0.0; x.samples()];
    let mean = |j: usize| {
        x.column_into(j, &mut column);
        design.mean_of(&column)
    };
    (0..x.features()).map(mean).collect()
}
