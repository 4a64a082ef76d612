//! How often terms are named again when some of the samples are left out.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    SparseFunction, SparseSpec,
    run::{Fitting, Variables},
    search::MOST_LISTED,
};
use crate::{Account, Error, FeatureMatrix, error::Parameter, kernel::Monomial, loss::Targets, solver::SplitMix64};

/// The samples that a resample leaves out: one of so many. Half of them would be below the number at which most supports can be seen at all.
const LEFT_OUT: usize = 5;

/// How often monomials were named, each time without a fifth of the samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SparseStability {
    /// How many times samples were left out.
    pub resamples: usize,
    /// For every monomial that was ever named the share of the times in which it was; the most frequent first.
    pub named: Vec<(Monomial, f64)>,
}

impl SparseStability {
    /// The share of the times in which a monomial was named.
    pub fn share(&self, monomial: &Monomial) -> f64 {
        self.named.iter().find(|(other, _)| other == monomial).map_or(0.0, |(_, share)| *share)
    }
}

impl SparseSpec {
    /// How often terms are named when a random fifth of the samples, of each class, is left out. The search is made anew every time, by monomials
    /// of the same variables as those of the function; the seed decides what is left out.
    #[expect(clippy::too_many_arguments, reason = "the arguments of a fit, and what is drawn")]
    pub fn stability(
        &self,
        found: &SparseFunction,
        x: &FeatureMatrix<'_>,
        y: &[f64],
        sample_weight: Option<&[f64]>,
        resamples: usize,
        seed: u64,
        account: &Account,
    ) -> Result<SparseStability, Error> {
        Parameter::Resamples.check(resamples, resamples > 0, "a whole number > 0")?;
        self.check_all(x, y, sample_weight)?;
        let variables = if found.centres().is_empty() { Variables::AsTheyAre } else { Variables::Centred };
        let mut counts: HashMap<Monomial, usize> = HashMap::new();
        let mut random = SplitMix64::new(seed);
        for _ in 0..resamples {
            let weights = self.without_some(y, sample_weight, &mut random);
            let fitting = Fitting::new(self, x, y, Some(&weights), account, MOST_LISTED)?;
            for term in fitting.function(variables)?.terms() {
                *counts.entry(term.monomial.clone()).or_default() += 1;
            }
        }
        let share = |(monomial, count): (Monomial, usize)| (monomial, count as f64 / resamples as f64);
        let mut named: Vec<(Monomial, f64)> = counts.into_iter().map(share).collect();
        named.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp_listed(&b.0)));
        Ok(SparseStability { resamples, named })
    }

    /// Weights of samples, a random fifth of those of each class that have one set to 0.
    fn without_some(&self, y: &[f64], sample_weight: Option<&[f64]>, random: &mut SplitMix64) -> Vec<f64> {
        let mut weights = sample_weight.map_or_else(|| vec![1.0; y.len()], <[f64]>::to_vec);
        let signs: &[Option<f64>] =
            if self.loss.targets() == Targets::Signs { &[Some(-1.0), Some(1.0)] } else { &[None] };
        for sign in signs {
            let of_class = |i: &usize| weights[*i] > 0.0 && sign.is_none_or(|sign| y[*i] == sign);
            let mut rows: Vec<usize> = (0..y.len()).filter(of_class).collect();
            for left in (1..=rows.len() / LEFT_OUT).map(|left| left - 1) {
                let other = left + random.below(rows.len() - left);
                rows.swap(left, other);
                weights[rows[left]] = 0.0;
            }
        }
        weights
    }
}
