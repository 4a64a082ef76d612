//! The search for the best support: where it starts, how it goes on, and what holds at its end.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{
    Design, Dictionary, Evidence, Penalty, Prices, Subsets, Support, WorkingColumns,
    dictionary::Offers,
    objective::LeastSquares,
    path::{PathPoint, path},
    pruning::{PrunedSupport, pruned},
};
use crate::{monomials::PricedTerm, solver::SplitMix64};

/// A dictionary of at most so many numbers, 8 MB, is written out.
pub(crate) const MOST_LISTED: u64 = 1 << 20;
/// Terms of a larger one that are written out first: those most correlated with the target.
const FIRST: usize = 500;
/// Terms that join of each list of offers.
const JOIN: usize = 100;
/// Terms that join for each residual of a path.
const JOIN_OF_RESIDUAL: usize = 30;
/// Residuals of a path for which terms join.
const RESIDUALS: usize = 6;
/// The most columns at hand of a dictionary that is not written out as a whole.
pub(super) const MOST_COLUMNS: usize = 10_000;
/// Rounds of a search and a pass over the dictionary, at most.
const ROUNDS: usize = 12;
/// The paths that supports are taken from. No one is best everywhere.
const PENALTIES: [Penalty; 4] = [Penalty::Lasso, Penalty::Mcp(3.0), Penalty::Mcp(1.5), Penalty::Scad(3.7)];
/// Paths with penalties that are drawn anew, which are followed together, and how often. On 100 draws of 100 samples of 10,000 columns, 10
/// true, one path of MCP missed a far better support in 8, and these in 2.
const RESTARTS: u64 = 8;
const RESTART_ROUNDS: u64 = 2;
/// The logarithms of the factors of such penalties are uniform within this: larger ones lose what the data say.
const RESTART_SPREAD: f64 = 0.15;
/// Rounds that follow, and their spread, while no support is beyond doubt. Of 4 draws of 60 in which nothing or little was named although the true
/// ten are far better, this found 3.
const DOUBTFUL_ROUNDS: u64 = 5;
const DOUBTFUL_SPREAD: f64 = 0.3;
/// A support that so many starts lead to is believed to be the best.
const CONVINCING: usize = 3;
/// Criteria that differ by less are equal: the rest is rounding.
pub(super) const LEAST_IMPROVEMENT: f64 = 1e-6;
/// A path goes on until it leaves this share of what the best support leaves: beyond it follows the noise.
const FOLLOWED: f64 = 0.5;

/// What a search has found.
#[derive(Debug)]
pub(crate) struct FoundSupport {
    /// The terms at hand.
    pub columns: WorkingColumns,
    /// The best supports of all sizes.
    pub subsets: Subsets,
    /// The terms that would explain most, given the best support, of all that were not at hand when it was looked at. Some may be by now.
    pub offers: Offers,
    /// The best support in the form in which columns are priced.
    pub prices: Prices,
    /// Passes over the dictionary.
    pub passes: usize,
}

/// Looks for the support with the smallest criterion.
///
/// - Solves: which few terms of a dictionary explain the target, by the criterion of [`Evidence`].
/// - Given: the dictionary, of which only a working set of columns is ever written out.
/// - Returns: a support that no addition, removal or single exchange of any term of the dictionary improves.
/// - Cost: searches among the columns at hand; for a large dictionary a pass with k + 2 vectors for every round, of which there are few, and one
///   with a few dozen wherever no step improves the best support.
pub(crate) fn search(
    dictionary: &Dictionary<'_>,
    design: &Design,
    evidence: Evidence,
    most_listed: u64,
) -> FoundSupport {
    let lists_all = dictionary.entries() <= most_listed;
    let mut search = SupportSearch {
        dictionary,
        lists_all,
        loss: LeastSquares { design, evidence },
        target: design.target(),
        columns: first_columns(dictionary, design.target(), most_listed),
        subsets: Subsets::new(design.target(), evidence),
        offered: None,
        passes: usize::from(!lists_all),
    };
    search.rounds();
    if search.restart() {
        search.rounds();
    }
    let offers = search.offers();
    let prices = Prices::new(search.subsets.best(), search.target);
    let SupportSearch { columns, subsets, passes, .. } = search;
    FoundSupport { columns, subsets, offers, prices, passes }
}

/// The bytes that a search takes: the columns at hand, and the largest pass.
pub(crate) fn columns_bytes(dictionary: &Dictionary<'_>, evidence: Evidence) -> u64 {
    let columns = dictionary.entries().min(MOST_LISTED.max(dictionary.samples() as u64 * MOST_COLUMNS as u64));
    let vectors = PENALTIES.len() * RESIDUALS + evidence.most_terms();
    // WorkingColumns are copied when their list grows.
    16 * columns + if dictionary.entries() <= MOST_LISTED { 0 } else { dictionary.pass_bytes(vectors) }
}

/// All terms, or those most correlated with the target.
pub(super) fn first_columns(dictionary: &Dictionary<'_>, target: &[f64], most_listed: u64) -> WorkingColumns {
    let mut columns = WorkingColumns::new(target.len());
    if dictionary.entries() <= most_listed {
        dictionary.list_all(&mut columns);
    } else {
        let first = dictionary.correlated(target, FIRST, &columns).concat();
        dictionary.list(first.iter().map(|term| term.number), &mut columns);
    }
    columns
}

struct SupportSearch<'s, 'x> {
    dictionary: &'s Dictionary<'x>,
    /// Whether all terms are at hand.
    lists_all: bool,
    loss: LeastSquares<'s>,
    target: &'s [f64],
    columns: WorkingColumns,
    subsets: Subsets,
    /// The support that was the best at the last pass.
    offered: Option<OfferedTerms>,
    passes: usize,
}

/// A support that all terms of the dictionary were priced for.
struct OfferedTerms {
    /// Its columns.
    places: Vec<usize>,
    /// What the terms that were not at hand would explain.
    offers: Offers,
    /// Whether the terms have joined that explain most of the residuals around this support.
    explored: bool,
}

impl SupportSearch<'_, '_> {
    /// Searches among the columns at hand and lets others join, until none improves the best support.
    fn rounds(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.criterion();
            let residuals = self.follow_paths();
            self.subsets.walk(&self.columns, self.target);
            if self.lists_all {
                break;
            }
            let found_better = self.criterion() < before - LEAST_IMPROVEMENT;
            let (improves, joined) = self.join(residuals);
            if !(joined && (improves || found_better)) {
                break;
            }
        }
    }

    /// The criterion of the best support.
    fn criterion(&self) -> f64 {
        self.subsets.criterion(self.subsets.best())
    }

    /// Lets the terms join that would explain most, given the best support, and where none of them improves it, or in doubt, those that explain most of
    /// residuals: several steps may lead to them. Returns whether a term improves the support, and whether any could join. For a support beyond doubt that
    /// was looked at before all have joined; in doubt those join that come next.
    fn join(&mut self, residuals: Vec<f64>) -> (bool, bool) {
        let decided = self.subsets.is_decided();
        if !decided {
            self.offered = None;
        }
        let seen = self.offered().is_some();
        let offers = self.offers();
        let (addition, exchange) = offers.best_criteria(&self.subsets, self.subsets.best());
        let improves = !seen && addition.min(exchange) < self.criterion() - LEAST_IMPROVEMENT;
        let explores = !(improves && decided) && self.offered.as_ref().is_some_and(|offered| !offered.explored);
        let correlated = if explores { self.correlated(residuals) } else { Vec::new() };
        let room = MOST_COLUMNS.saturating_sub(self.columns.len());
        let terms = offers.terms().chain(&correlated).map(|term| term.number);
        self.dictionary.list(terms.take(room), &mut self.columns);
        (improves, room > 0 && (explores || !seen))
    }

    /// The terms with the largest products with residuals: of points of paths, and of the supports of all sizes that are looked at.
    fn correlated(&mut self, mut residuals: Vec<f64>) -> Vec<PricedTerm> {
        for support in self.subsets.looked_at().iter().skip(1).step_by(2) {
            residuals.extend_from_slice(support.residual());
        }
        self.passes += 1;
        self.offered.iter_mut().for_each(|offered| offered.explored = true);
        self.dictionary.correlated(&residuals, JOIN_OF_RESIDUAL, &self.columns).concat()
    }

    /// What is known of the best support from a pass.
    fn offered(&self) -> Option<&OfferedTerms> {
        self.offered.as_ref().filter(|offered| offered.places == self.subsets.best().places())
    }

    /// What the terms that are not at hand would explain, given the best support: one pass, where it was not looked at before.
    fn offers(&mut self) -> Offers {
        if self.lists_all {
            return Offers::default();
        }
        if let Some(offered) = self.offered() {
            return offered.offers.clone();
        }
        let best = self.subsets.best();
        self.passes += 1;
        let offers = self.dictionary.offers(best, &Prices::new(best, self.target), JOIN, &self.columns);
        let places = best.places().to_vec();
        self.offered = Some(OfferedTerms { places, offers: offers.clone(), explored: false });
        offers
    }

    /// Takes the supports of several paths, pruned; returns residuals along them.
    fn follow_paths(&mut self) -> Vec<f64> {
        let factors = vec![1.0; self.columns.len()];
        let (most, enough) = (self.subsets.longest(), self.enough());
        let follow = |penalty: &Penalty| {
            let points = path(&self.loss, &self.columns, *penalty, &factors, most, enough);
            let supports = self.pruned(&points);
            (points, supports)
        };
        let found: Vec<_> = PENALTIES.par_iter().map(follow).collect();
        let mut residuals = Vec::new();
        for (points, supports) in found {
            let step = points.len().div_ceil(RESIDUALS).max(1);
            points.iter().step_by(step).for_each(|point| residuals.extend_from_slice(&point.residual));
            supports.iter().for_each(|sizes| self.subsets.take_pruned(sizes, &self.columns, self.target));
        }
        residuals
    }

    /// What a path may leave unexplained before it ends.
    fn enough(&self) -> f64 {
        if self.subsets.is_decided() { FOLLOWED * self.subsets.best().unexplained() } else { 0.0 }
    }

    /// Follows paths with penalties that are drawn anew, until several of them lead to one support, and longer while none is beyond doubt;
    /// returns whether a better one was found.
    fn restart(&mut self) -> bool {
        let before = self.criterion();
        for round in 0..RESTART_ROUNDS + DOUBTFUL_ROUNDS {
            if round >= RESTART_ROUNDS && self.subsets.is_decided() {
                break;
            }
            let spread = if round < RESTART_ROUNDS { RESTART_SPREAD } else { DOUBTFUL_SPREAD };
            let (most, enough) = (self.subsets.longest(), self.enough());
            let follow = |seed: u64| {
                let mut random = SplitMix64::new(seed);
                let mut uniform = || random.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0;
                let factors: Vec<f64> = (0..self.columns.len()).map(|_| (spread * uniform()).exp()).collect();
                self.pruned(&path(&self.loss, &self.columns, Penalty::Mcp(3.0), &factors, most, enough))
            };
            let found: Vec<_> = (round * RESTARTS..(round + 1) * RESTARTS).into_par_iter().map(follow).collect();
            let least = |supports: &Vec<Vec<PrunedSupport>>| {
                let criterion =
                    |found: &PrunedSupport| self.subsets.criterion_of(found.unexplained, found.places.len());
                supports.iter().flatten().map(criterion).fold(f64::INFINITY, f64::min)
            };
            let criteria: Vec<f64> = found.iter().map(least).collect();
            found.iter().flatten().for_each(|sizes| self.subsets.take_pruned(sizes, &self.columns, self.target));
            let reached = self.criterion() + LEAST_IMPROVEMENT;
            if self.subsets.is_decided() && criteria.iter().filter(|least| **least <= reached).count() >= CONVINCING {
                break;
            }
        }
        self.subsets.walk(&self.columns, self.target);
        self.criterion() < before - LEAST_IMPROVEMENT
    }

    /// The supports of a path, each with all that is left of it by pruning. A support that occurs twice is looked at once.
    fn pruned(&self, points: &[PathPoint]) -> Vec<Vec<PrunedSupport>> {
        let mut seen = HashSet::new();
        let mut supports = Vec::new();
        for point in points {
            let mut places = point.places.clone();
            places.sort_unstable();
            if places.len() <= self.subsets.longest() && seen.insert(places.clone()) {
                supports.push(pruned(&Support::of(&self.columns, places, self.target), self.target));
            }
        }
        supports
    }
}
