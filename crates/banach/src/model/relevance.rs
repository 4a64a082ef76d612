//! How much each variable, each pair of variables and each degree matters to a fitted function.

mod from_tensor;
#[cfg(test)]
mod laws;
mod tensor_reader;

use std::{borrow::Cow, marker::PhantomData};

use super::{DualModel, energy::Energy};
use crate::{
    Error, FeatureMatrix, Memory,
    cost::{feature_count, reads_features},
    data::Scratch,
    error::{Parameter, Remedy},
    exponent::copy_in_range,
    form::Gram,
    kernel::{MonomialScale, ln_norms},
    monomials::{MonomialSweep, Monomials, Tile, Visitor, pass_bytes},
};

/// Instead of shares of all variables or pairs.
const INSTEAD: &[Remedy] = &[Remedy::Do("take fewer variables, or ask for fewer pairs")];

/// Shares of `||w||_p^p`, exact up to rounding for every kernel, also with infinitely many features.
///
/// The share of a variable is the part on the monomials that involve it, `1 - Q(alpha; x_j = 0)/Q(alpha)`. A monomial
/// of several variables counts for each of them, so these shares add up to more than 1 where there are interactions; those
/// of the degrees add up to 1. Everything is 0 for the zero function.
///
/// ```
/// use banach::{Exponent, FeatureMatrix, Memory, kernel::Exponential, model::DualModel};
///
/// let x = FeatureMatrix::from_rows(3, 2, &[0.5, -1.0, 1.0, 0.3, -0.7, 0.9])?;
/// let model = DualModel::new(x, Exponential::new(1.0)?, Exponent::new(4.0 / 3.0)?, &[0.4, -0.9, 0.5])?;
/// let relevance = model.relevance(Memory::default())?;
/// assert!(relevance.variables()[0] < 1.0 && relevance.variables()[1] < 1.0);
/// let degrees: f64 = relevance.degrees().iter().map(|(_, share)| share).sum();
/// assert!((degrees + relevance.rest() - 1.0).abs() < 1e-12);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Relevance {
    pub(super) ln_power_sum: f64,
    p: f64,
    variables: Vec<f64>,
    degrees: Vec<(usize, f64)>,
    rest: f64,
    error: f64,
}

impl Relevance {
    /// The share of every variable.
    pub fn variables(&self) -> &[f64] {
        &self.variables
    }

    /// The share of every degree that has features, lowest first; of an infinite kernel as far as it matters.
    pub fn degrees(&self) -> &[(usize, f64)] {
        &self.degrees
    }

    /// The share of the higher degrees that are not listed.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// How far rounding may have moved a share: at most about this much, and usually far less.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// `||w||_p`, the norm of the function.
    pub fn norm(&self) -> f64 {
        (self.ln_power_sum / self.p).exp()
    }

    /// The variables by decreasing share; those with equal shares in their order.
    pub fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.variables.len()).collect();
        order.sort_by(|&a, &b| self.variables[b].total_cmp(&self.variables[a]));
        order
    }
}

/// Shares of `||w||_p^p` on the monomials that involve both of two variables.
#[derive(Debug, Clone, PartialEq)]
pub struct PairShares {
    variables: Vec<usize>,
    shares: Vec<f64>,
    error: f64,
}

impl PairShares {
    /// Of variables in increasing order, row after row of a square.
    pub(crate) fn new(variables: Vec<usize>, shares: Vec<f64>, error: f64) -> Self {
        Self { variables, shares, error }
    }

    /// No share of any pair of some variables.
    pub(crate) fn none(variables: &[usize]) -> Self {
        let mut variables = variables.to_vec();
        variables.sort_unstable();
        variables.dedup();
        Self { shares: vec![0.0; variables.len() * variables.len()], variables, error: 0.0 }
    }

    /// Adds a multiple of the shares of the same pairs.
    pub(crate) fn add(&mut self, other: &Self, factor: f64) {
        self.shares.iter_mut().zip(&other.shares).for_each(|(sum, share)| *sum += factor * share);
        self.error += factor * other.error;
    }

    /// The variables, in increasing order.
    pub fn variables(&self) -> &[usize] {
        &self.variables
    }

    /// The share of the monomials that involve both variables; of one and the same, those that involve it. `None` for a
    /// variable that was not asked for.
    pub fn share(&self, i: usize, j: usize) -> Option<f64> {
        let place = |variable| self.variables.binary_search(&variable).ok();
        Some(self.shares[place(i)? * self.variables.len() + place(j)?])
    }

    /// The pairs of different variables by decreasing share.
    pub fn ranking(&self) -> Vec<(usize, usize, f64)> {
        let count = self.variables.len();
        let mut pairs: Vec<_> = (0..count)
            .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
            .map(|(a, b)| (self.variables[a], self.variables[b], self.shares[a * count + b]))
            .collect();
        pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
        pairs
    }

    /// How far rounding may have moved a share.
    pub fn error(&self) -> f64 {
        self.error
    }
}

/// Adds up the monomials of every tile.
struct AddShares<'e>(PhantomData<&'e ()>);

impl<'e> Visitor for AddShares<'e> {
    type Own = Energy<'e>;

    fn visit(&self, tile: Tile<'_>, energy: &mut Energy<'e>) -> bool {
        let Tile { place, factor, u, .. } = tile;
        u.iter_mut().for_each(|u| *u *= factor);
        let mut prefix = place.prefix.to_vec();
        match place.degree {
            0 => energy.add(&prefix, None, u),
            1 => energy.add(&prefix, Some(place.inner.start), u),
            _ => {
                for (j, u) in place.outer.clone().zip(u.chunks(place.inner.len())) {
                    prefix.push(j);
                    // In a tile on the diagonal, entries with k < j are no monomials.
                    let first = place.inner.start.max(j);
                    energy.add(&prefix, Some(first), &u[first - place.inner.start..]);
                    prefix.pop();
                }
            }
        }
        false
    }
}

impl DualModel<'_> {
    /// How much every variable and every degree matters.
    ///
    /// Finitely many features are listed one after another, for any q, and not stored. Infinitely many are summed in closed form over
    /// the Gram tensor, which is not stored either, for q = 2, 4, 6 and 8; with another q they are refused. Samples with
    /// `alpha_i = 0` cost nothing where monomials are raw.
    pub fn relevance(&self, memory: Memory) -> Result<Relevance, Error> {
        let found = self.shares(None, memory)?;
        // Degrees are left out of an infinite kernel alone.
        let listed = found.ln_power_sum == f64::NEG_INFINITY || self.kernel.degrees().1.is_some();
        let rest = (1.0 - found.degrees.iter().map(|(_, share)| share).sum::<f64>()).max(0.0);
        Ok(Relevance {
            ln_power_sum: found.ln_power_sum,
            p: self.exponent.p(),
            rest: if listed { 0.0 } else { rest },
            variables: found.variables,
            degrees: found.degrees,
            error: found.error,
        })
    }

    /// How much of the function is on monomials that involve both of two variables, for all pairs of some.
    pub fn pair_shares(&self, variables: &[usize], memory: Memory) -> Result<PairShares, Error> {
        let mut variables = variables.to_vec();
        variables.sort_unstable();
        variables.dedup();
        if let Some(&beyond) = variables.last().filter(|&&variable| variable >= self.samples.features()) {
            let (row, allowed) = (variables.len() - 1, "numbers of variables, from 0");
            return Err(Error::BadValue { what: "variables", row, value: beyond as f64, allowed });
        }
        if variables.is_empty() {
            return Ok(PairShares { variables, shares: Vec::new(), error: 0.0 });
        }
        let found = self.shares(Some(&variables), memory)?;
        Ok(PairShares { variables, shares: found.pairs, error: found.error })
    }

    fn shares(&self, pairs: Option<&[usize]>, memory: Memory) -> Result<FoundShares, Error> {
        if let Some(terms) = &self.terms {
            return Ok(self.shares_of_terms(terms, pairs));
        }
        let (samples, alpha) = self.present()?;
        let copied = if let Cow::Owned(samples) = &samples { 16 * samples.stored() as u64 } else { 0 };
        let memory = memory.less(copied);
        if alpha.iter().all(|&alpha| alpha == 0.0) {
            return Ok(FoundShares::nothing(self.samples.features(), pairs.map_or(0, <[usize]>::len)));
        }
        if self.lists_features(alpha.len())? {
            return self.listed_shares(&samples, &alpha, pairs, memory);
        }
        self.tensor_shares(&samples, &alpha, pairs, memory)
    }

    fn tensor_shares(
        &self,
        samples: &FeatureMatrix<'_>,
        alpha: &[f64],
        pairs: Option<&[usize]>,
        memory: Memory,
    ) -> Result<FoundShares, Error> {
        let variables = pairs.map_or(samples.features(), <[usize]>::len);
        let shares = from_tensor::bytes(&*self.kernel, variables, pairs.is_some());
        memory.check("the sums of a pass over the tensor", Some(shares), INSTEAD)?;
        let gram = Gram::streamed(samples.view(), self.kernel.clone(), self.exponent, memory.less(shares))?;
        from_tensor::shares(&gram, alpha, pairs)
    }

    /// The samples with `alpha_i != 0`, and their dual vector. Unless monomials are raw, all samples: their sizes depend on all.
    pub(super) fn present(&self) -> Result<(Cow<'_, FeatureMatrix<'_>>, Vec<f64>), Error> {
        let present: Vec<usize> = (0..self.alpha.len()).filter(|&i| self.alpha[i] != 0.0).collect();
        if self.monomial_scale != MonomialScale::Raw || present.is_empty() || present.len() == self.alpha.len() {
            return Ok((Cow::Borrowed(&self.samples), self.alpha.clone()));
        }
        let alpha = present.iter().map(|&i| self.alpha[i]).collect();
        Ok((Cow::Owned(self.samples.select_samples(&present)?), alpha))
    }

    /// Whether to go through the features rather than the tensor.
    pub(super) fn lists_features(&self, samples: usize) -> Result<bool, Error> {
        let (kernel, inputs) = (&*self.kernel, self.samples.features());
        let order = self.exponent.order();
        let Some(features) = feature_count(kernel, inputs) else {
            if self.monomial_scale != MonomialScale::Raw {
                let allowed = "raw for a kernel with infinitely many features";
                return Err(Error::parameter(Parameter::Monomials, self.monomial_scale, allowed));
            }
            return match order {
                Ok(_) => Ok(false),
                Err(_) => Err(Error::InfinitelyManyFeatures { kernel: kernel.name() }),
            };
        };
        let Ok(order) = order else { return Ok(true) };
        if self.monomial_scale != MonomialScale::Raw || self.samples.excluded().is_some() {
            return Ok(true);
        }
        Ok(reads_features(features, samples, inputs, order))
    }

    fn listed_shares(
        &self,
        samples: &FeatureMatrix<'_>,
        alpha: &[f64],
        pairs: Option<&[usize]>,
        memory: Memory,
    ) -> Result<FoundShares, Error> {
        let (inputs, chosen) = (samples.features(), pairs.unwrap_or(&[]));
        let (lowest, highest) = self.kernel.degrees();
        let highest = highest.unwrap_or(lowest);
        let pass = pass_bytes(samples.samples(), inputs, &*self.kernel, self.monomial_scale, 1)?;
        let monomials = Monomials::new(samples.view(), self.kernel.clone(), self.monomial_scale, self.exponent)?;
        let sums = (monomials.stripes() as u64).saturating_mul(Energy::bytes(inputs, highest, chosen.len()));
        let bytes = pass.map(|pass| pass.saturating_add(sums));
        memory.check("the sums of a pass over all features", bytes, INSTEAD)?;
        let new = || Energy::new(self.exponent, inputs, highest, chosen);
        let mut parts: Vec<Energy<'_>> = (0..monomials.stripes()).map(|_| new()).collect();
        let mut copy = vec![0.0; alpha.len()];
        let exponent = copy_in_range(alpha, &mut copy);
        let pass = MonomialSweep { monomials: &monomials, group: 1, state: 0, output: None };
        pass.run(&copy, &mut parts, &mut Scratch::new().pass, &AddShares(PhantomData), |_, _| {});
        let mut energy = new();
        parts.iter().for_each(|part| energy.merge(part));
        let ln_power_sum = energy.ln_power_sum(exponent);
        let shares = energy.degree_shares().into_iter().enumerate();
        let of_degree =
            |degree: usize| self.kernel.unscaled_coefficient(&vec![1; degree]) > 0.0 || has_powers(self, degree);
        Ok(FoundShares {
            ln_power_sum,
            variables: energy.variable_shares(),
            pairs: energy.pair_shares(),
            degrees: shares.skip(lowest).filter(|(degree, _)| of_degree(*degree)).collect(),
            error: self.listed_error(samples, alpha, ln_power_sum, monomials.count()),
        })
    }

    /// Rounding moves `u` by at most a few units of `sum_i |alpha_i| |phi_k(x_i)|`, in the norm of `l^q` at most
    /// `sum_i |alpha_i| ||Phi(x_i)||_q` (Minkowski), and then `||u||_q^q` by at most q times as much (Hoelder).
    fn listed_error(&self, samples: &FeatureMatrix<'_>, alpha: &[f64], ln_power_sum: f64, features: u64) -> f64 {
        let (n, q) = (samples.samples(), self.exponent.q());
        if ln_power_sum == f64::NEG_INFINITY {
            return 0.0;
        }
        let units = (n + 64) as f64 * f64::EPSILON;
        let ln_terms = if self.monomial_scale == MonomialScale::Raw {
            let norms = self.ln_norms(samples);
            let largest = norms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            alpha.iter().zip(&norms).map(|(alpha, ln)| alpha.abs() * (ln - largest).exp()).sum::<f64>().ln() + largest
        } else {
            // Every feature has the norm sqrt n, and ||.||_q <= card(K)^(1/q) max.
            let norm = alpha.iter().map(|alpha| alpha * alpha).sum::<f64>().sqrt();
            (norm * (n as f64).sqrt()).ln() + (features as f64).ln() / q
        };
        bounded(2.0 * q * units * (ln_terms - ln_power_sum / q).exp())
    }

    /// `ln ||Phi(x_i)||_q`.
    fn ln_norms(&self, samples: &FeatureMatrix<'_>) -> Vec<f64> {
        if self.kernel.normalized() {
            return vec![0.0; samples.samples()];
        }
        let column = |j: usize, out: &mut [f64]| samples.column_into(j, out);
        ln_norms(&*self.kernel, self.exponent, samples.samples(), samples.features(), column)
    }
}

/// Whether a kernel has features of a degree with a power in them.
fn has_powers(model: &DualModel<'_>, degree: usize) -> bool {
    degree >= 2 && model.kernel.unscaled_coefficient(&[&[2], &vec![1; degree - 2][..]].concat()) > 0.0
}

/// A share is never off by more than 1.
fn bounded(error: f64) -> f64 {
    if error < 1.0 { error } else { 1.0 }
}

/// Shares of `||w||_p^p`, from the features or from the tensor.
#[derive(Debug)]
pub(super) struct FoundShares {
    /// `ln ||w||_p^p`; minus infinity for `w = 0`, where all shares are 0.
    pub(super) ln_power_sum: f64,
    /// For each variable, of all or of those whose pairs are wanted, the share of the monomials that involve it.
    pub(super) variables: Vec<f64>,
    /// For each pair of the variables that are wanted, the share of the monomials that involve both: a square, row after row, with the
    /// shares of the variables themselves on its diagonal.
    pub(super) pairs: Vec<f64>,
    /// For each degree, the share of its monomials.
    pub(super) degrees: Vec<(usize, f64)>,
    /// How far rounding may have moved a share.
    pub(super) error: f64,
}

impl FoundShares {
    /// Those of the zero function.
    pub(super) fn nothing(inputs: usize, chosen: usize) -> Self {
        let (variables, pairs) = (vec![0.0; inputs], vec![0.0; chosen * chosen]);
        Self { ln_power_sum: f64::NEG_INFINITY, variables, pairs, degrees: Vec::new(), error: 0.0 }
    }
}
