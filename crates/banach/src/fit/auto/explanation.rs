//! What single predictions of a mixture are made of.

use super::{AutoModel, MemberKind, relevance::LEAST_PAIR_SHARE};
use crate::{
    Error, FeatureMatrix, Memory,
    kernel::Monomial,
    sparse::{SparseFunction, SparseTerm},
};

/// The most variables that have a contribution of their own.
const VARIABLES: usize = 50;
/// Pairs are made of so many variables that matter most,
const PAIRED: usize = 8;
/// and so many pairs have a contribution.
const PAIRS: usize = 20;
/// Numbers of a table of points that are predicted together.
const BLOCK: usize = 1 << 20;
/// Differences below this share of what they are the difference of are rounding.
const ROUNDING: f64 = 1e-12;

/// What the values of one function are made of: at every point the constant, the contributions and the others add up to the value.
///
/// The function is the number that is predicted; of two classes the logarithm of the odds of the second, of more classes that of each, as
/// [`AutoModel::decisions`] has them. Probabilities of a mixture are mixed, so that no sum over members is a sum for the odds: the odds of the
/// mixture itself are taken apart, by variables, which can be done to any function.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoExplanation {
    /// The value where all variables are at their centres; of few terms alone, the constant of their equation.
    pub constant: f64,
    /// What variables and pairs add, or terms.
    pub contributions: Vec<PartialContribution>,
    /// What all others add, at every point.
    pub others: Vec<f64>,
}

/// What one variable, pair of variables or term adds.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialContribution {
    /// Whose it is.
    pub source: ContributionSource,
    /// What it adds at every point.
    pub values: Vec<f64>,
}

/// Whose a contribution is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContributionSource {
    /// One variable, moved alone from its centre to the point; or two, and what both do beyond what each does alone.
    Variables(Vec<usize>),
    /// A term of an equation.
    Term(Monomial),
}

impl AutoModel {
    /// What the values of every function at some points are made of.
    ///
    /// A function is taken apart from the centres `c` of the variables: the contribution of variable j is `f(x_j, c) - f(c)`, that of a pair
    /// is what both do beyond that, and the others are the rest. For a polynomial in the units of a member these are its monomials, summed by the
    /// variables that they are made of; they exist for every kernel, mean the same for all members, and of numbers they add up
    /// over members by their weights. The variables are those that matter most, 50 at most, the pairs those of eight. Few terms that are the
    /// whole model of a number or two classes are told term by term.
    ///
    /// ```
    /// use banach::{Account, FeatureMatrix, Memory, Target, fit::Auto};
    ///
    /// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
    /// let x: Vec<f64> = (0..60 * 2).map(|k| jumble(k + 1)).collect();
    /// let y: Vec<f64> = (0..60).map(|i| (4.0 * x[i]).sin() + x[60 + i]).collect();
    /// let (x, y) = (FeatureMatrix::from_columns(60, 2, x)?, Target::from(&y));
    /// let model = Auto::default().fit(&x, &y, None, &Account::new(Memory::available()))?;
    ///
    /// let explained = &model.explain(&x, Memory::available())?[0];
    /// let added: f64 = explained.contributions.iter().map(|one| one.values[0]).sum();
    /// let prediction = model.predictions(&x)?[0];
    /// assert!((explained.constant + added + explained.others[0] - prediction).abs() < 1e-9);
    /// # Ok::<(), banach::Error>(())
    /// ```
    ///
    /// Its cost is that of 71 predictions of every point at most, and two looks at what matters.
    pub fn explain(&self, x: &FeatureMatrix<'_>, memory: Memory) -> Result<Vec<AutoExplanation>, Error> {
        let values = self.decisions(x)?;
        if let [only] = self.members()
            && let MemberKind::Terms { model, .. } = &only.kind
            && let [function] = model.functions()
        {
            return Ok(vec![explain_terms(function, x, &values)?]);
        }
        let constants = self.decisions(&self.ranges().moved(1, &[])?)?;
        let variables = self.leading_variables(VARIABLES, memory)?;
        let pairs = self.explained_pairs(&variables, memory)?;
        let (n, functions) = (x.samples(), constants.len());
        // By how much the functions change where these variables alone are moved from their centres to the points.
        let change = |variables: &[usize]| -> Result<Vec<f64>, Error> {
            let mut moved = self.moved_decisions(x, variables, functions)?;
            for (moved, constant) in moved.chunks_mut(n).zip(&constants) {
                moved.iter_mut().for_each(|value| *value -= constant);
            }
            Ok(moved)
        };
        let alone = variables.iter().map(|&variable| change(&[variable])).collect::<Result<Vec<_>, _>>()?;
        let both = pairs.iter().map(|&(a, b)| change(&[variables[a], variables[b]])).collect::<Result<Vec<_>, _>>()?;
        let explanation = |function: usize| {
            let of = |all: &[f64]| all[function * n..(function + 1) * n].to_vec();
            let single = |(&variable, change): (&usize, &Vec<f64>)| PartialContribution {
                source: ContributionSource::Variables(vec![variable]),
                values: of(change),
            };
            let paired = |(&(a, b), change): (&(usize, usize), &Vec<f64>)| {
                let parts = of(&alone[a]).into_iter().zip(of(&alone[b]));
                let beyond = |(both, (a, b)): (f64, (f64, f64))| {
                    let size = constants[function].abs() + both.abs() + a.abs() + b.abs();
                    unless_rounding(both - a - b, size)
                };
                let mut pair = [variables[a], variables[b]];
                pair.sort_unstable();
                PartialContribution {
                    source: ContributionSource::Variables(pair.to_vec()),
                    values: of(change).into_iter().zip(parts).map(beyond).collect(),
                }
            };
            let singles = variables.iter().zip(&alone).map(single);
            let contributions = singles.chain(pairs.iter().zip(&both).map(paired)).collect();
            AutoExplanation::new(constants[function], contributions, &of(&values))
        };
        Ok((0..functions).map(explanation).collect())
    }

    /// The pairs with contributions, as places among the leading variables.
    fn explained_pairs(&self, variables: &[usize], memory: Memory) -> Result<Vec<(usize, usize)>, Error> {
        let leading = &variables[..variables.len().min(PAIRED)];
        let place = |variable| leading.iter().position(|other| *other == variable);
        let pairs = self.pair_relevance(leading, memory)?.ranking().into_iter();
        let pairs = pairs.take(PAIRS).filter(|(_, _, share)| *share > LEAST_PAIR_SHARE);
        Ok(pairs.filter_map(|(a, b, _)| Some((place(a)?, place(b)?))).collect())
    }

    /// The decisions at points in which all variables but some are at their centres.
    fn moved_decisions(&self, x: &FeatureMatrix<'_>, variables: &[usize], functions: usize) -> Result<Vec<f64>, Error> {
        let n = x.samples();
        let mut columns = vec![vec![0.0; n]; variables.len()];
        variables.iter().zip(&mut columns).for_each(|(&variable, column)| x.column_into(variable, column));
        let (mut all, step) = (vec![0.0; functions * n], (BLOCK / x.features().max(1)).clamp(1, n));
        for from in (0..n).step_by(step) {
            let rows = from..(from + step).min(n);
            let moved: Vec<(usize, &[f64])> =
                variables.iter().zip(&columns).map(|(&variable, column)| (variable, &column[rows.clone()])).collect();
            let found = self.decisions(&self.ranges().moved(rows.len(), &moved)?)?;
            for (function, found) in found.chunks(rows.len()).enumerate() {
                all[function * n + rows.start..function * n + rows.end].copy_from_slice(found);
            }
        }
        Ok(all)
    }
}

/// The terms, as their equation has them.
fn explain_terms(function: &SparseFunction, x: &FeatureMatrix<'_>, values: &[f64]) -> Result<AutoExplanation, Error> {
    let terms = function.terms().iter().zip(function.term_values(x)?);
    let one = |(term, values): (&SparseTerm, Vec<f64>)| PartialContribution {
        source: ContributionSource::Term(term.monomial.clone()),
        values,
    };
    Ok(AutoExplanation::new(function.intercept(), terms.map(one).collect(), values))
}

impl AutoExplanation {
    /// The others are what is left of the values. Where a number is beyond the range, all is left to them.
    fn new(constant: f64, mut contributions: Vec<PartialContribution>, values: &[f64]) -> Self {
        let mut others = vec![0.0; values.len()];
        for (row, (value, others)) in values.iter().zip(&mut others).enumerate() {
            if !contributions.iter().all(|one| one.values[row].is_finite()) || !value.is_finite() {
                contributions.iter_mut().for_each(|one| one.values[row] = 0.0);
            }
            let added: f64 = contributions.iter().map(|one| one.values[row]).sum();
            let size: f64 = contributions.iter().map(|one| one.values[row].abs()).sum::<f64>() + constant.abs();
            *others = unless_rounding(value - constant - added, size + value.abs());
        }
        Self { constant, contributions, others }
    }
}

/// A difference of numbers of a size, or 0 if it is rounding.
fn unless_rounding(difference: f64, size: f64) -> f64 {
    if difference.abs() <= ROUNDING * size { 0.0 } else { difference }
}

impl ContributionSource {
    /// In words: `age`, `age with dose`, or the monomial of a term. Variables without a name are numbered.
    pub fn with_names<S: AsRef<str>>(&self, names: &[S]) -> String {
        match self {
            Self::Term(monomial) => monomial.with_names(names),
            Self::Variables(variables) => {
                let name = |&variable: &usize| Monomial::new(&[(variable, 1)]).with_names(names);
                variables.iter().map(name).collect::<Vec<_>>().join(" with ")
            }
        }
    }
}
