//! Stability selection: which monomials are among the largest of most halves of the samples.
//!
//! N. Meinshausen and P. Buhlmann, "Stability selection", J. R. Stat. Soc. B 72 (2010); complementary pairs and the bounds
//! below are those of R. Shah and R. Samworth, "Variable selection with error control: another look at stability
//! selection", J. R. Stat. Soc. B 75 (2013).

use std::collections::HashMap;

use super::Ranking;
use crate::{
    DualProblem, Error, Observer, Solver, Status,
    error::Parameter,
    kernel::Monomial,
    loss::Targets,
    solver::{SplitMix64, Start, shuffle},
};

/// Pairs of subsamples, and terms of each, at most: more is a mistake, and would take all memory.
const MOST_ASKED_FOR: usize = 100_000;

/// What stability selection is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityOptions {
    /// Pairs of complementary halves, B; there are twice as many fits. From 1 to 100000.
    pub pairs: usize,
    /// How many monomials each fit selects: its largest. At most 100000.
    pub terms: usize,
    /// The share of the fits that must select a monomial for it to be stable, above 1/2.
    pub threshold: f64,
    /// The halves for the same seed are the same, on every machine and in every version.
    pub seed: u64,
}

impl StabilityOptions {
    /// Fifty pairs and the threshold 3/4.
    pub fn new(terms: usize) -> Self {
        Self { pairs: 50, terms, threshold: 0.75, seed: 0 }
    }

    fn check(&self) -> Result<(), Error> {
        if !(1..=MOST_ASKED_FOR).contains(&self.pairs) {
            return Err(Error::parameter(Parameter::Pairs, self.pairs as f64, "a whole number from 1 to 100000"));
        }
        if self.terms > MOST_ASKED_FOR {
            return Err(Error::parameter(Parameter::Terms, self.terms as f64, "a whole number up to 100000"));
        }
        if self.threshold > 0.5 && self.threshold <= 1.0 {
            return Ok(());
        }
        Err(Error::parameter(Parameter::Threshold, self.threshold, "a number above 1/2, at most 1"))
    }
}

/// How often a monomial is selected.
#[derive(Debug, Clone, PartialEq)]
pub struct StableMonomial {
    /// The monomial.
    pub monomial: Monomial,
    /// The share of the fits that select it.
    pub frequency: f64,
}

/// What the halves agree on.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Every monomial that a fit has selected, the most frequent first. Equally frequent ones are ordered by degree, then by variables.
    pub entries: Vec<StableMonomial>,
    /// The fits that count: all, unless the observer stopped some.
    pub subsamples: usize,
    /// The mean number of monomials that a fit selects.
    pub selected_per_fit: f64,
    /// Fits that did not converge and count all the same.
    pub unconverged: usize,
    /// What was asked.
    pub options: StabilityOptions,
    features: Option<f64>,
}

impl Stability {
    /// The stable monomials: those that reach the threshold.
    pub fn stable(&self) -> &[StableMonomial] {
        // Frequencies are ratios of whole numbers, which the threshold may mean exactly.
        let reached = self.options.threshold * (1.0 - 4.0 * f64::EPSILON);
        &self.entries[..self.entries.partition_point(|entry| entry.frequency >= reached)]
    }

    /// A bound on the expected number of stable monomials that are selected no more often than by chance,
    /// `q^2/((2 pi - 1) card(K))` with q monomials per fit and the threshold pi; `None` for infinitely many features.
    ///
    /// *By chance* is a probability of selection of at most `q/card(K)`, that of a random choice. No assumption is made on
    /// the data but that samples are exchangeable.
    pub fn expected_false(&self) -> Option<f64> {
        Some(self.selected_per_fit.powi(2) / self.features? / (2.0 * self.options.threshold - 1.0))
    }

    /// A smaller bound, which holds if the distribution of how many of the pairs select a monomial in both halves has one
    /// mode. `None` where it does not apply: below the threshold `1/2 + 1/B`, or beyond `q/card(K) = 1/sqrt 3`.
    pub fn expected_false_unimodal(&self) -> Option<f64> {
        let pairs = (self.subsamples / 2) as f64;
        let (threshold, chance) = (self.options.threshold, self.selected_per_fit / self.features?);
        let least = (0.5 + chance * chance).min(0.5 + 0.5 / pairs + 0.75 * chance * chance);
        if pairs == 0.0 || threshold < 0.5 + 1.0 / pairs || threshold <= least || chance > 1.0 / 3.0_f64.sqrt() {
            return None;
        }
        let factor = if threshold <= 0.75 {
            1.0 / (2.0 * (2.0 * threshold - 1.0 - 0.5 / pairs))
        } else {
            4.0 * (1.0 - threshold + 0.5 / pairs) / (1.0 + 1.0 / pairs)
        };
        Some(factor * chance * self.selected_per_fit)
    }
}

/// How often each monomial is among the largest of a fit to half of the samples.
///
/// - Solves: the problem for both halves of every pair, all in one batch over one form: the other half has weight 0.
/// - Given: a ranking of monomials by a dual vector.
/// - Returns: the monomials by the share of the fits that select them, with bounds on how many are there by chance.
/// - Cost: `2 pairs` fits in lockstep, and a ranking for each.
///
/// Classes are spread evenly over both halves. Each half has the gamma of the whole. When the observer stops, the fits
/// that were still running do not count.
pub fn stability(
    problem: &DualProblem<'_>,
    ranking: &dyn Ranking,
    options: &StabilityOptions,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Stability, Error> {
    options.check()?;
    let problems = halves(problem, options)?;
    let solutions = solver.solve_all(&problems, &vec![Start::Auto; problems.len()], observer)?;
    let mut counts: HashMap<Monomial, usize> = HashMap::new();
    let (mut subsamples, mut unconverged, mut selected) = (0, 0, 0);
    for solution in solutions.iter().filter(|solution| solution.status != Status::Interrupted) {
        subsamples += 1;
        unconverged += usize::from(solution.status != Status::Converged);
        for monomial in ranking.largest(&solution.alpha, options.terms)? {
            selected += 1;
            *counts.entry(monomial).or_default() += 1;
        }
    }
    let mut counts: Vec<(Monomial, usize)> = counts.into_iter().collect();
    counts.sort_by(|(a, a_count), (b, b_count)| {
        b_count.cmp(a_count).then_with(|| a.degree().cmp(&b.degree())).then_with(|| a.cmp(b))
    });
    let share = |count: usize| count as f64 / subsamples as f64;
    let entry = |(monomial, count): (Monomial, usize)| StableMonomial { monomial, frequency: share(count) };
    Ok(Stability {
        entries: counts.into_iter().map(entry).collect(),
        subsamples,
        selected_per_fit: if subsamples == 0 { 0.0 } else { share(selected) },
        unconverged,
        options: *options,
        features: ranking.features(),
    })
}

/// Pairs of neighbours that are alike, and then pairs of the samples that are left over. Of an odd number the last one is left out.
fn pairs_of(order: &[usize], alike: impl Fn(usize, usize) -> bool) -> Vec<[usize; 2]> {
    let (mut pairs, mut waiting): (Vec<[usize; 2]>, Vec<usize>) = (Vec::new(), Vec::new());
    for &i in order {
        match waiting.iter().position(|&j| alike(i, j)) {
            Some(at) => pairs.push([waiting.remove(at), i]),
            None => waiting.push(i),
        }
    }
    pairs.extend(waiting.as_chunks().0);
    pairs
}

/// The problems of both halves of every pair.
fn halves<'a>(problem: &DualProblem<'a>, options: &StabilityOptions) -> Result<Vec<DualProblem<'a>>, Error> {
    let weights = problem.sample_weights();
    let mut present: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    if present.len() < 2 {
        return Err(Error::parameter(Parameter::Samples, present.len() as f64, "2 or more"));
    }
    let y = problem.targets();
    let classes = problem.loss().targets() == Targets::Signs;
    if classes {
        present.sort_by(|&i, &j| y[i].total_cmp(&y[j]));
        if let Some(class) = present.chunk_by(|&i, &j| y[i] == y[j]).find(|class| class.len() < 2) {
            let allowed = "labels that at least two samples of positive weight share";
            return Err(Error::BadValue { what: "y", row: class[0], value: y[class[0]], allowed });
        }
    }
    let mut random = SplitMix64::new(options.seed);
    let mut problems = Vec::with_capacity(2 * options.pairs);
    for _ in 0..options.pairs {
        shuffle(&mut present, &mut random);
        let pairs = pairs_of(&present, |i, j| !classes || y[i] == y[j]);
        for half in 0..2 {
            let mut own = vec![0.0; weights.len()];
            pairs.iter().for_each(|pair| own[pair[half]] = weights[pair[half]]);
            problems.push(problem.clone().with_sample_weights(&own)?);
        }
    }
    Ok(problems)
}
