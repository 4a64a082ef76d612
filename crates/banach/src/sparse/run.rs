//! From samples and targets to a function: which variables monomials are made of, and which search is made.

use std::{
    borrow::Cow,
    collections::HashSet,
    f64::consts::LN_2,
    hash::{DefaultHasher, Hasher},
    sync::Arc,
};

use super::{
    Design, Dictionary, Evidence, Hierarchy, SparseFunction, SparseSpec,
    assembly::{Estimates, FoundTerms},
    classes::{search_classes, search_hierarchy},
    evidence::{DevianceEvidence, decisive},
    logistic::Classes,
    objective::LeastSquares,
    penalised::penalised,
    penalised_classes::PenalisedClasses,
    search::{columns_bytes, search},
};
use crate::{
    Account, Error, FeatureMatrix,
    error::Remedy,
    kernel::{Monomial, TensorKernel},
    loss::LossSpec,
};

/// What it costs to say which of two kinds of products a function has: it must be better by as much.
const SECOND_KIND: f64 = 2.0 * LN_2;
/// A variable whose mean is so many of its deviations from 0 has products with itself of which less than 0.1 % is not told by the variable alone:
/// monomials are then made of the variables less their means.
const FAR: f64 = 30.0;
/// A variable whose deviation is this share of its mean is a constant, but for rounding.
const CONSTANT_VARIABLE: f64 = 1e-13;

/// Which variables monomials are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variables {
    /// As they are and less their means, by the criterion.
    Either,
    /// As they are, unless one is too far from 0.
    AsTheyAre,
    /// Less their means.
    Centred,
}

/// Samples, targets and weights that fit each other, and what they are fitted with.
pub(super) struct Fitting<'f> {
    spec: &'f SparseSpec,
    kernel: Arc<dyn TensorKernel>,
    x: FeatureMatrix<'f>,
    y: Cow<'f, [f64]>,
    weights: Vec<f64>,
    design: Design,
    account: &'f Account,
    most_listed: u64,
}

impl<'f> Fitting<'f> {
    /// Checked samples. Those without weight do not count for classes and are left out, so that every one has a curvature.
    pub(super) fn new(
        spec: &'f SparseSpec,
        x: &'f FeatureMatrix<'f>,
        y: &'f [f64],
        sample_weight: Option<&[f64]>,
        account: &'f Account,
        most_listed: u64,
    ) -> Result<Self, Error> {
        let design = Design::new(y, sample_weight, spec.fit_intercept)?;
        let weights = sample_weight.map_or_else(|| vec![1.0; y.len()], <[f64]>::to_vec);
        let kernel = spec.kernel.build()?;
        let x = x.view().with_excluded(spec.interactions.excluded(x, kernel.degrees().1));
        let some: Vec<usize> = (0..y.len()).filter(|&i| design.roots()[i] > 0.0).collect();
        if spec.loss == LossSpec::Squared || some.len() == y.len() {
            let y = Cow::Borrowed(y);
            return Ok(Self { spec, kernel, x, y, weights, design, account, most_listed });
        }
        let x = x.select_samples(&some)?;
        let y: Vec<f64> = some.iter().map(|&i| y[i]).collect();
        let weights: Vec<f64> = some.iter().map(|&i| weights[i]).collect();
        let design = Design::new(&y, Some(&weights), spec.fit_intercept)?;
        Ok(Self { spec, kernel, x, y: Cow::Owned(y), weights, design, account, most_listed })
    }

    /// The function by monomials of the variables as they are or less their means, with where the samples lie.
    pub(super) fn function(&self, variables: Variables) -> Result<SparseFunction, Error> {
        let found = self.found(variables)?;
        found.check_range(&self.x)?;
        Ok(found.with_extent(&self.x, &self.weights))
    }

    fn found(&self, variables: Variables) -> Result<SparseFunction, Error> {
        let linear = self.kernel.degrees().1.is_some_and(|highest| highest < 2);
        if self.spec.fit_intercept && (variables == Variables::Centred || self.is_far()) {
            let centred = self.of_centred()?;
            return Ok(if linear { centred.of_plain_variables() } else { centred });
        }
        let found = self.of_variables(&self.x, Vec::new())?;
        let either = variables == Variables::Either && self.spec.fit_intercept && !linear;
        if !either || self.spec.hierarchy != Hierarchy::None || !could_be_centred(&found) {
            return Ok(found);
        }
        let centred = self.of_centred()?;
        Ok(if centred.criterion() + SECOND_KIND < found.criterion() { centred } else { found })
    }

    /// Whether a variable is too far from 0 for products.
    fn is_far(&self) -> bool {
        let samples: f64 = self.design.roots().iter().map(|root| root * root).sum();
        let mut column = vec![0.0; self.x.samples()];
        let mut far = |j: usize| {
            self.x.column_into(j, &mut column);
            let (mean, size) = (self.design.mean_of(&column).abs(), self.design.size_of(&column));
            let deviation = size / samples.sqrt();
            mean > FAR * deviation && deviation > CONSTANT_VARIABLE * mean
        };
        (0..self.x.features()).any(&mut far)
    }

    /// The function by monomials of the variables less their means.
    fn of_centred(&self) -> Result<SparseFunction, Error> {
        let _copy = self
            .account
            .take(bytes_of(&self.x))
            .map_err(|short| short.error("the variables less their means", &[Remedy::Do("take fewer columns")]))?;
        let mut column = vec![0.0; self.x.samples()];
        let mean = |j: usize| {
            self.x.column_into(j, &mut column);
            self.design.mean_of(&column)
        };
        let means: Vec<f64> = (0..self.x.features()).map(mean).collect();
        let centred = self.x.map_columns(|j, column| column.iter_mut().for_each(|x| *x -= means[j]))?;
        self.of_variables(&centred, means)
    }

    /// The function by monomials of variables, which are the samples less the centres.
    fn of_variables(&self, x: &FeatureMatrix<'_>, centres: Vec<f64>) -> Result<SparseFunction, Error> {
        match self.spec.loss {
            LossSpec::Logistic => self.of_classes(x, centres),
            _ => self.of_numbers(x, centres),
        }
    }

    fn of_numbers(&self, x: &FeatureMatrix<'_>, centres: Vec<f64>) -> Result<SparseFunction, Error> {
        let (design, spec) = (&self.design, self.spec);
        let dictionary = Dictionary::new(x.view(), self.kernel.clone(), design)?;
        let rows = different_rows(x, &self.y, |i| design.roots()[i] > 0.0);
        let evidence = Evidence::new(rows, design.samples(), spec.fit_intercept, dictionary.count(), spec.max_terms);
        let _taken = self.take(x, columns_bytes(&dictionary, evidence))?;
        let estimates = |found: &FoundTerms, weights: Option<&[f64]>| {
            Estimates::least_squares(&found.numbers, weights, &dictionary, design, x, &self.y)
        };
        if let Some(penalty) = spec.penalty.of_weights() {
            let found = penalised(&dictionary, &LeastSquares { design, evidence }, penalty, self.most_listed);
            let estimates = estimates(&found.terms, Some(&found.weights))?;
            return Ok(found.terms.function(estimates, &dictionary, centres));
        }
        let found = match spec.hierarchy {
            Hierarchy::None => FoundTerms::of_support(&search(&dictionary, design, evidence, self.most_listed)),
            hierarchy => search_hierarchy(&dictionary, design, evidence, hierarchy, self.most_listed),
        };
        let estimates = estimates(&found, None)?;
        Ok(found.function(estimates, &dictionary, centres))
    }

    fn of_classes(&self, x: &FeatureMatrix<'_>, centres: Vec<f64>) -> Result<SparseFunction, Error> {
        let spec = self.spec;
        let plain = Design::new(&self.y, None, spec.fit_intercept)?;
        let dictionary = Dictionary::new(x.view(), self.kernel.clone(), &plain)?;
        let of_class = |sign: f64| {
            let weight: f64 = self.y.iter().zip(&self.weights).filter(|(y, _)| **y == sign).map(|(_, w)| w).sum();
            (weight, weight.min(different_rows(x, &self.y, |i| self.y[i] == sign) as f64))
        };
        let ((first, first_rows), (second, second_rows)) = (of_class(-1.0), of_class(1.0));
        let samples = first + second;
        let deviance = |weight: f64| if weight > 0.0 { 2.0 * weight * (samples / weight).ln() } else { 0.0 };
        let empty = if spec.fit_intercept { deviance(first) + deviance(second) } else { 2.0 * samples * LN_2 };
        let (smaller, count) = (first_rows.min(second_rows), dictionary.count());
        let evidence = DevianceEvidence::new(empty, samples, smaller, count, spec.max_terms);
        let most = Some(evidence.most_terms());
        let guide = Evidence::new(self.y.len(), samples, spec.fit_intercept, count, most);
        // An estimate of each term, where all are gone through.
        let estimates = dictionary.entries().min(super::steps::MOST_ENUMERATED) / (x.samples() as u64) * 24;
        let _taken = self.take(x, columns_bytes(&dictionary, guide).saturating_add(estimates))?;
        let classes =
            Classes { y: self.y.to_vec(), weights: self.weights.clone(), intercept: spec.fit_intercept, evidence };
        if let Some(penalty) = spec.penalty.of_weights() {
            let (design, dictionary) = (&self.design, dictionary.reweighted(&self.design));
            let loss = PenalisedClasses { classes: &classes, design };
            let found = penalised(&dictionary, &loss, penalty, self.most_listed);
            let mut estimates = Estimates::logistic(&found.terms.numbers, &dictionary, design, &classes, x)?;
            estimates.shrink(&found, &dictionary, design, x)?;
            return Ok(found.terms.function(estimates, &dictionary, centres));
        }
        let found = search_classes(&dictionary, &classes, guide, spec.hierarchy, self.most_listed);
        let estimates = Estimates::logistic(&found.numbers, &dictionary, &plain, &classes, x)?;
        Ok(found.function(estimates, &dictionary, centres))
    }

    /// Takes the memory of a search.
    fn take(&self, x: &FeatureMatrix<'_>, bytes: u64) -> Result<impl Drop + use<'f>, Error> {
        self.account
            .take(bytes_of(x).saturating_add(bytes))
            .map_err(|short| short.error("the search for terms", &[Remedy::Do("take a lower degree or fewer columns")]))
    }
}

/// The bytes of a dense copy of a matrix.
fn bytes_of(x: &FeatureMatrix<'_>) -> u64 {
    8 * (x.samples() as u64) * (x.features() as u64)
}

/// Whether a function of the variables less their means could be better than this one of the variables as they are: one with a product and a
/// factor of it, or one for which there is little evidence.
fn could_be_centred(found: &SparseFunction) -> bool {
    let divides = |a: &Monomial, b: &Monomial| {
        let power =
            |variable: usize| b.factors().iter().find(|(own, _)| *own == variable).map_or(0, |(_, power)| *power);
        a != b && a.factors().iter().all(|&(variable, own)| own <= power(variable))
    };
    let has_factor = |product: &Monomial| found.terms().iter().any(|term| divides(&term.monomial, product));
    found.criterion() > -decisive(found.dictionary()) || found.terms().iter().any(|term| has_factor(&term.monomial))
}

/// How many of some rows are different: one that is repeated is not seen better by that.
fn different_rows(x: &FeatureMatrix<'_>, y: &[f64], counts: impl Fn(usize) -> bool) -> usize {
    let mut rows: Vec<DefaultHasher> = vec![DefaultHasher::new(); x.samples()];
    let mut take = |column: &[f64]| rows.iter_mut().zip(column).for_each(|(row, x)| row.write_u64(x.to_bits()));
    let mut column = vec![0.0; x.samples()];
    take(y);
    for j in 0..x.features() {
        x.column_into(j, &mut column);
        take(&column);
    }
    let present = rows.iter().enumerate().filter(|(i, _)| counts(*i));
    present.map(|(_, row)| row.finish()).collect::<HashSet<_>>().len()
}
