//! Every step of one term from a support, by exact fits.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    Dictionary, Hierarchy, StepScope, Support,
    objective::{Estimate, Objective},
    search::LEAST_IMPROVEMENT,
};
use crate::{monomials::PricedTerm, workers::checkpoint};

/// Numbers that are computed at most to go through all terms one by one, some seconds of work. Of larger dictionaries the terms with the best
/// scores are looked at.
pub(super) const MOST_ENUMERATED: u64 = 1 << 31;
/// Terms of a larger dictionary that are fitted for each kind of step: a few hundred are ahead of what noise explains.
const SHORTLIST: usize = 300;
/// Fits at most that decide about one kind of step: a second of work or two.
const MOST_FITS: usize = 20_000;
/// Terms that a thread takes at a time.
const BLOCK: u64 = 512;
/// Steps at most: each lowers the criterion, so this is never reached but by rounding.
const MOST_STEPS: usize = 200;
/// Terms whose parents are not there that are tried together with them.
const LIFTED: usize = 40;

/// A term, and the criterion of the support that it leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepTo {
    pub number: u64,
    pub criterion: f64,
}

/// What single steps from a support lead to.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    /// The best additions, the best first.
    pub additions: Vec<StepTo>,
    /// Without each term.
    pub removals: Vec<Removal>,
    /// With another term in the place of each, the best first.
    pub exchanges: Vec<Vec<StepTo>>,
    /// For which steps the criterion is known.
    pub scope: StepScope,
}

/// The criterion without a term, and whether that support is allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Removal {
    pub criterion: f64,
    pub allowed: bool,
}

/// Terms that could come.
enum CandidateTerms {
    All(Range<u64>),
    Some(Vec<u64>),
}

/// The supports around one, for an objective over a dictionary.
#[derive(Debug)]
pub(super) struct Neighbourhood<'n, 'x, O> {
    pub dictionary: &'n Dictionary<'x>,
    pub objective: &'n O,
    pub hierarchy: Hierarchy,
}

/// A support with its criterion.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub numbers: Vec<u64>,
    pub criterion: f64,
}

impl<O: Objective> Neighbourhood<'_, '_, O> {
    /// A support with its criterion; infinite if it is not allowed, too large, or has terms that depend on others.
    pub(super) fn standing(&self, mut numbers: Vec<u64>) -> Standing {
        numbers.sort_unstable();
        numbers.dedup();
        let allowed = numbers.len() <= self.objective.most_terms() && self.hierarchy.allows(self.dictionary, &numbers);
        let criterion = if allowed { self.criterion(&numbers) } else { f64::INFINITY };
        Standing { numbers, criterion }
    }

    /// The criterion of a support; infinite if one of its terms depends on those before it.
    fn criterion(&self, numbers: &[u64]) -> f64 {
        match self.fit(numbers) {
            Some(fit) => self.objective.criterion(self.objective.left(&fit), numbers.len()),
            None => f64::INFINITY,
        }
    }

    /// The fit of a support; `None` if one of its terms depends on those before it.
    pub(super) fn fit(&self, numbers: &[u64]) -> Option<O::Fit> {
        let columns: Vec<Vec<f64>> =
            numbers.iter().map(|&number| self.dictionary.column(number)).collect::<Option<_>>()?;
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        let mut span = Support::empty(&vec![0.0; self.dictionary.samples()]);
        let independent = columns.iter().enumerate().all(|(place, column)| span.push(place, column));
        independent.then(|| self.objective.fit(&columns))
    }

    /// Takes steps while one lowers the criterion; returns the last support and what the steps from it lead to.
    ///
    /// - Solves: which support has the smallest criterion, from a start.
    /// - Returns: a support that no allowed addition, removal or exchange of a single term improves, and the criteria of those steps.
    /// - Cost: for each step, an estimate for every candidate and a fit for the few that it leaves in question.
    pub(super) fn descend(&self, start: Standing, count: usize) -> (Standing, Steps) {
        let mut standing = start;
        let mut steps = self.steps(&standing, count);
        for _ in 0..MOST_STEPS {
            let Some(next) = Self::best(&standing, &steps).or_else(|| self.lifted(&standing)) else { break };
            standing = next;
            steps = self.steps(&standing, count);
        }
        (standing, steps)
    }

    /// The best of the supports that steps lead to, if it is better.
    fn best(standing: &Standing, steps: &Steps) -> Option<Standing> {
        let own = &standing.numbers;
        let without = |i: usize| own.iter().enumerate().filter(move |(at, _)| *at != i).map(|(_, number)| *number);
        let additions = steps.additions.iter().take(1);
        let additions = additions.map(|step| (step.criterion, [&own[..], &[step.number]].concat()));
        let removals = steps.removals.iter().enumerate().filter(|(_, removal)| removal.allowed);
        let removals = removals.map(|(i, removal)| (removal.criterion, without(i).collect::<Vec<_>>()));
        let exchanges = steps.exchanges.iter().enumerate().filter_map(|(i, steps)| Some((i, steps.first()?)));
        let exchanges = exchanges.map(|(i, step)| (step.criterion, without(i).chain([step.number]).collect()));
        let (criterion, mut numbers) =
            additions.chain(removals).chain(exchanges).min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        numbers.sort_unstable();
        (criterion < standing.criterion - LEAST_IMPROVEMENT).then_some(Standing { numbers, criterion })
    }

    /// The best support that a term and the parents that it needs make together, if it is better.
    fn lifted(&self, standing: &Standing) -> Option<Standing> {
        if self.hierarchy == Hierarchy::None {
            return None;
        }
        let fit = self.fit(&standing.numbers)?;
        let offers = self.objective.offers(self.dictionary, &standing.numbers, &fit, LIFTED);
        let closures = |term: &PricedTerm| self.hierarchy.closures(self.dictionary, &standing.numbers, term.number);
        let supports: Vec<Vec<u64>> = offers.additions.iter().flat_map(closures).collect();
        let standings: Vec<Standing> = supports.into_par_iter().map(|numbers| self.standing(numbers)).collect();
        let best = standings.into_iter().min_by(|a, b| a.criterion.total_cmp(&b.criterion))?;
        (best.criterion < standing.criterion - LEAST_IMPROVEMENT).then_some(best)
    }

    /// What single steps lead to, with the `count` best of every kind.
    fn steps(&self, standing: &Standing, count: usize) -> Steps {
        let own = &standing.numbers;
        let (k, samples) = (own.len() as u64, self.dictionary.samples() as u64);
        let work = self.dictionary.entries().saturating_mul((k + 1).saturating_mul(k + 1));
        let offers = (self.hierarchy == Hierarchy::None && work > MOST_ENUMERATED.max(samples)).then(|| {
            let fit = self.fit(own);
            fit.map(|fit| self.objective.offers(self.dictionary, own, &fit, SHORTLIST)).unwrap_or_default()
        });
        let mut scope = if offers.is_some() { StepScope::BestScores } else { StepScope::Every };
        let shortlist = |terms: Option<&Vec<PricedTerm>>| {
            CandidateTerms::Some(terms.into_iter().flatten().map(|term| term.number).collect())
        };
        let candidates = |base: &[u64]| match self.hierarchy.additions(self.dictionary, base) {
            Some(numbers) => CandidateTerms::Some(numbers),
            None => CandidateTerms::All(0..self.dictionary.numbers()),
        };
        let mut additions = Vec::new();
        if own.len() < self.objective.most_terms() {
            let those = offers.as_ref().map_or_else(|| candidates(own), |offers| shortlist(Some(&offers.additions)));
            additions = self.besides(own, own, &those, count, &mut scope);
        }
        let (mut removals, mut exchanges) = (Vec::new(), Vec::new());
        for i in 0..own.len() {
            let mut others = own.clone();
            others.remove(i);
            let allowed = self.hierarchy.allows(self.dictionary, &others);
            removals.push(Removal { criterion: self.criterion(&others), allowed });
            let those = match &offers {
                Some(offers) => shortlist(offers.exchanges.get(i)),
                None => candidates(&others),
            };
            exchanges.push(self.besides(&others, own, &those, count, &mut scope));
        }
        Steps { additions, removals, exchanges, scope }
    }

    /// The `count` candidates with the smallest criterion besides the terms of a base, the best first; none of the support itself.
    ///
    /// All candidates are estimated. The most likely ones are fitted, and then all others that can be better than one of those.
    fn besides(
        &self,
        base: &[u64],
        support: &[u64],
        candidates: &CandidateTerms,
        count: usize,
        scope: &mut StepScope,
    ) -> Vec<StepTo> {
        let Some(fit) = self.fit(base) else { return Vec::new() };
        let columns: Vec<Vec<f64>> = base.iter().filter_map(|&number| self.dictionary.column(number)).collect();
        let estimate = |number: u64| {
            if support.contains(&number) {
                return None;
            }
            let estimate = self.objective.besides(&fit, &self.dictionary.column(number)?);
            estimate.likely.is_finite().then_some((number, estimate))
        };
        let of_block = |block: u64| -> Vec<(u64, Estimate)> {
            checkpoint();
            let places = block * BLOCK..(block + 1) * BLOCK;
            match candidates {
                CandidateTerms::All(all) => (places.start..places.end.min(all.end)).filter_map(estimate).collect(),
                CandidateTerms::Some(numbers) => {
                    let end = numbers.len().min(places.end as usize);
                    numbers[places.start as usize..end].iter().filter_map(|&number| estimate(number)).collect()
                }
            }
        };
        let length = match candidates {
            CandidateTerms::All(all) => all.end,
            CandidateTerms::Some(numbers) => numbers.len() as u64,
        };
        let mut estimated: Vec<(u64, Estimate)> =
            (0..length.div_ceil(BLOCK)).into_par_iter().map(of_block).collect::<Vec<_>>().concat();
        estimated.sort_by(|a, b| a.1.likely.total_cmp(&b.1.likely).then(a.0.cmp(&b.0)));
        let fitted_with = |&(number, Estimate { likely, exact, .. }): &(u64, Estimate)| {
            checkpoint();
            let left = match self.dictionary.column(number) {
                Some(column) if !exact => {
                    let all: Vec<&[f64]> = columns.iter().map(|column| &column[..]).chain([&column[..]]).collect();
                    self.objective.left(&self.objective.fit(&all))
                }
                _ => likely,
            };
            (left, number)
        };
        let (first, others) = estimated.split_at(count.min(estimated.len()));
        let mut fitted: Vec<(f64, u64)> = first.par_iter().map(fitted_with).collect();
        let cut = fitted.iter().map(|(left, _)| *left).fold(f64::NEG_INFINITY, f64::max);
        let mut open: Vec<(u64, Estimate)> = others.iter().copied().filter(|(_, other)| other.least < cut).collect();
        if open.len() > MOST_FITS {
            *scope = StepScope::BestScores;
            open.truncate(MOST_FITS);
        }
        fitted.extend(open.par_iter().map(fitted_with).collect::<Vec<_>>());
        fitted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        fitted.truncate(count);
        let criterion = |left: f64| self.objective.criterion(left, base.len() + 1);
        fitted.into_iter().map(|(left, number)| StepTo { number, criterion: criterion(left) }).collect()
    }
}
