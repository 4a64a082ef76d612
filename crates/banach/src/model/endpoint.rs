//! Functions of p = 1: a few monomials with weights, and all others exactly 0.

use std::sync::Arc;

use super::{DualModel, SearchEnd, TopMonomial, TopMonomials, relevance::FoundShares};
use crate::{
    Error, Exponent, FeatureMatrix,
    form::{Endpoint, Predict, SparseWeights, WeightedMonomial},
    kernel::{Monomial, MonomialScale, TensorKernel},
};

impl<'a> DualModel<'a> {
    /// The function of p = 1 with these weights, which do not follow from its dual vector.
    pub(crate) fn of_weights(
        samples: FeatureMatrix<'a>,
        kernel: Arc<dyn TensorKernel>,
        monomial_scale: MonomialScale,
        alpha: &[f64],
        weights: &SparseWeights,
    ) -> Result<Self, Error> {
        let form = Endpoint::new(samples.view(), kernel.clone(), monomial_scale)?;
        form.check(weights)?;
        let terms = form.terms(weights);
        let model = Self::of_any_exponent(samples, kernel, Exponent::of_penalty(1.0)?, alpha)?;
        Ok(Self { terms: Some(terms), monomial_scale, ..model })
    }

    /// The function, ready to be evaluated.
    pub(super) fn endpoint_predictor(&self) -> Box<dyn Predict> {
        Endpoint::predictor_of(self.samples.features(), self.terms.clone().unwrap_or_default())
    }

    /// The shares of `||w||_1`.
    pub(super) fn shares_of_terms(&self, terms: &[WeightedMonomial], pairs: Option<&[usize]>) -> FoundShares {
        let chosen = pairs.unwrap_or(&[]);
        let mut found = FoundShares::nothing(self.samples.features(), chosen.len());
        let norm = norm(terms);
        if norm == 0.0 {
            return found;
        }
        let (lowest, highest) = self.kernel.degrees();
        found.degrees = (lowest..=highest.unwrap_or(lowest)).map(|degree| (degree, 0.0)).collect();
        if pairs.is_some() {
            found.variables = vec![0.0; chosen.len()];
        }
        for term in terms {
            let share = term.weight.abs() / norm;
            let has = |variable: usize| term.monomial.factors().iter().any(|(own, _)| *own == variable);
            if let Some((_, sum)) = found.degrees.iter_mut().find(|(degree, _)| *degree == term.monomial.degree()) {
                *sum += share;
            }
            if pairs.is_none() {
                term.monomial.factors().iter().for_each(|(variable, _)| found.variables[*variable] += share);
            }
            for (i, &first) in chosen.iter().enumerate().filter(|(_, first)| has(**first)) {
                found.variables[i] += share;
                let both = chosen.iter().enumerate().filter(|(_, second)| **second == first || has(**second));
                both.for_each(|(j, _)| found.pairs[i * chosen.len() + j] += share);
            }
        }
        found.ln_power_sum = norm.ln();
        // A sum of so many numbers.
        found.error = terms.len() as f64 * f64::EPSILON;
        found
    }
}

/// The largest of the monomials with a weight.
pub(super) fn top_of_terms(terms: &[WeightedMonomial], count: usize) -> TopMonomials {
    let mut order: Vec<&WeightedMonomial> = terms.iter().collect();
    order.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then_with(|| a.monomial.cmp_listed(&b.monomial)));
    TopMonomials {
        entries: order.iter().take(count).map(|term| entry(terms, term)).collect(),
        end: SearchEnd::Complete,
        nodes: terms.len() as u64,
        unlisted: order.get(count).map_or(0.0, |term| term.weight.abs()),
        set_proven: false,
        order_proven: false,
    }
}

/// What is known of a monomial, which has the weight 0 unless it is listed.
pub(super) fn entry_of_terms(terms: &[WeightedMonomial], monomial: &Monomial) -> TopMonomial {
    let zero = || WeightedMonomial { monomial: monomial.clone(), weight: 0.0, coefficient: 0.0, centre: 0.0 };
    let found = terms.iter().find(|term| term.monomial == *monomial).cloned().unwrap_or_else(zero);
    entry(terms, &found)
}

fn norm(terms: &[WeightedMonomial]) -> f64 {
    terms.iter().map(|term| term.weight.abs()).sum()
}

fn entry(terms: &[WeightedMonomial], term: &WeightedMonomial) -> TopMonomial {
    let norm = norm(terms);
    TopMonomial {
        monomial: term.monomial.clone(),
        weight: term.weight,
        coefficient: term.coefficient,
        share: (norm > 0.0).then(|| term.weight.abs() / norm),
        interval: None,
    }
}
