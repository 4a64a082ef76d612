//! How much variables, and pairs of them, matter to a mixture.

use std::collections::BTreeMap;

use super::{AutoMember, AutoModel, DenseMember, MemberKind};
use crate::{Error, FeatureMatrix, Memory, fit::SparseModel, model::PairShares};

/// Smaller shares of pairs are rounding.
pub(crate) const LEAST_PAIR_SHARE: f64 = 1e-9;

impl AutoModel {
    /// How much every variable matters: the mean of the shares of the members by their weights. The share of a member is that of its norm on
    /// the monomials that involve the variable; of few terms, that of what the terms with it contribute.
    pub fn relevance(&self, memory: Memory) -> Result<Vec<f64>, Error> {
        let mut sum = vec![0.0; self.record().variables];
        for member in self.members() {
            let shares = member.relevance(sum.len(), memory)?;
            sum.iter_mut().zip(&shares).for_each(|(sum, share)| *sum += member.weight * share);
        }
        Ok(sum)
    }

    /// So many variables that matter most, the first first; those without a share are left out.
    pub fn leading_variables(&self, count: usize, memory: Memory) -> Result<Vec<usize>, Error> {
        let shares = self.relevance(memory)?;
        let mut order: Vec<usize> = (0..shares.len()).filter(|&variable| shares[variable] > 0.0).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        order.truncate(count);
        Ok(order)
    }

    /// How much pairs of some variables matter: the same shares, of monomials or terms that involve both.
    ///
    /// ```
    /// use banach::{Account, FeatureMatrix, Memory, Target, fit::Auto};
    ///
    /// // The first two variables act together, the third alone.
    /// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
    /// let x: Vec<f64> = (0..60 * 3).map(|k| jumble(k + 1)).collect();
    /// let y: Vec<f64> = (0..60).map(|i| x[i] * x[60 + i] + x[120 + i]).collect();
    /// let x = FeatureMatrix::from_columns(60, 3, x.clone())?;
    ///
    /// let model = Auto::default().fit(&x, &Target::from(&y), None, &Account::new(Memory::available()))?;
    /// let pairs = model.pair_relevance(&[0, 1, 2], Memory::available())?;
    /// let (first, second, share) = pairs.ranking()[0];
    /// assert!((first, second) == (0, 1) && share > 0.1);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn pair_relevance(&self, variables: &[usize], memory: Memory) -> Result<PairShares, Error> {
        let mut variables = variables.to_vec();
        variables.sort_unstable();
        variables.dedup();
        self.check_variables(&variables)?;
        let count = variables.len();
        let (mut sum, mut error) = (vec![0.0; count * count], 0.0);
        for member in self.members() {
            let (shares, own) = member.pair_shares(&variables, memory)?;
            sum.iter_mut().zip(&shares).for_each(|(sum, share)| *sum += member.weight * share);
            error += member.weight * own;
        }
        Ok(PairShares::new(variables, sum, error))
    }

    pub(super) fn check_variables(&self, variables: &[usize]) -> Result<(), Error> {
        match variables.iter().position(|&variable| variable >= self.record().variables) {
            Some(row) => {
                let (value, allowed) = (variables[row] as f64, "numbers of variables, from 0");
                Err(Error::BadValue { what: "variables", row, value, allowed })
            }
            None => Ok(()),
        }
    }
}

impl AutoMember {
    /// How much every variable of so many matters.
    fn relevance(&self, variables: usize, memory: Memory) -> Result<Vec<f64>, Error> {
        let mut all = vec![0.0; variables];
        match &self.kind {
            MemberKind::Constant(_) => {}
            MemberKind::Terms { shares, .. } => return Ok(variables_of_terms(shares, variables)),
            MemberKind::Dense(member) => {
                let functions = member.model.solutions().len();
                for function in 0..functions {
                    let found = member.model.function(function, &member.x)?.relevance(memory)?;
                    for (&column, share) in member.units.columns().iter().zip(found.variables()) {
                        all[column] += share / functions as f64;
                    }
                }
            }
        }
        Ok(all)
    }

    /// How much the pairs of some variables matter, row after row of a square, and what rounding may have done.
    fn pair_shares(&self, variables: &[usize], memory: Memory) -> Result<(Vec<f64>, f64), Error> {
        let count = variables.len();
        match &self.kind {
            MemberKind::Constant(_) => Ok((vec![0.0; count * count], 0.0)),
            MemberKind::Dense(member) => member.pair_shares(variables, memory),
            MemberKind::Terms { shares, .. } => Ok((pairs_of_terms(shares, variables), 0.0)),
        }
    }
}

impl DenseMember {
    fn pair_shares(&self, variables: &[usize], memory: Memory) -> Result<(Vec<f64>, f64), Error> {
        let (count, functions) = (variables.len(), self.model.solutions().len());
        let (mut all, mut error) = (vec![0.0; count * count], 0.0);
        // The variables that it has: their places among those asked for, and among its columns.
        let own =
            |(place, variable): (usize, &usize)| Some((place, self.units.columns().binary_search(variable).ok()?));
        let own: Vec<(usize, usize)> = variables.iter().enumerate().filter_map(own).collect();
        let columns: Vec<usize> = own.iter().map(|(_, column)| *column).collect();
        for function in 0..functions {
            let found = self.model.function(function, &self.x)?.pair_shares(&columns, memory)?;
            for &(a, first) in &own {
                for &(b, second) in &own {
                    all[a * count + b] += found.share(first, second).unwrap_or(0.0) / functions as f64;
                }
            }
            error += found.error() / functions as f64;
        }
        Ok((all, error))
    }
}

/// For every set of variables that terms are made of the share of what these terms contribute, by their variances over the samples that
/// count; the mean over the functions.
pub(crate) fn term_shares(
    model: &SparseModel,
    x: &FeatureMatrix<'_>,
    weights: &[f64],
) -> Result<Vec<(Vec<usize>, f64)>, Error> {
    let whole: f64 = weights.iter().sum();
    let mut shares = BTreeMap::new();
    for function in model.functions() {
        let variance = |values: &Vec<f64>| {
            // What an absent sample has may be out of range.
            let counted = || values.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
            let mean = counted().map(|(value, weight)| weight / whole * value).sum::<f64>();
            counted().map(|(value, weight)| weight * (value - mean).powi(2)).sum::<f64>()
        };
        let variances: Vec<f64> = function.term_values(x)?.iter().map(variance).collect();
        let total: f64 = variances.iter().sum();
        for (term, variance) in function.terms().iter().zip(variances).filter(|_| total > 0.0 && total.is_finite()) {
            let variables: Vec<usize> = term.monomial.factors().iter().map(|(variable, _)| *variable).collect();
            *shares.entry(variables).or_insert(0.0) += variance / total / model.functions().len() as f64;
        }
    }
    Ok(shares.into_iter().collect())
}

/// The shares of so many variables, from those of [`term_shares`].
pub(crate) fn variables_of_terms(shares: &[(Vec<usize>, f64)], variables: usize) -> Vec<f64> {
    let mut all = vec![0.0; variables];
    for (own, share) in shares {
        own.iter().for_each(|variable| all[*variable] += share);
    }
    all
}

/// The shares of the pairs of some variables in increasing order, row after row of a square.
pub(crate) fn pairs_of_terms(shares: &[(Vec<usize>, f64)], variables: &[usize]) -> Vec<f64> {
    let count = variables.len();
    let mut all = vec![0.0; count * count];
    for (own, share) in shares {
        let places = || own.iter().filter_map(|variable| variables.binary_search(variable).ok());
        places().for_each(|a| places().for_each(|b| all[a * count + b] += share));
    }
    all
}
