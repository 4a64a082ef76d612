//! The best supports of every size among columns at hand, by exchanges.

use super::{Evidence, Prices, Support, WorkingColumns, pruning::PrunedSupport};

/// Walks up and down through all sizes, at most: each starts from what the one before has found.
const WALKS: usize = 6;
/// An exchange must explain this share more of what is left: less is rounding.
const LEAST_GAIN: f64 = 1e-9;
/// Sizes beyond twice that of the best support that are looked at.
const AHEAD: usize = 3;
/// Sizes beyond that of the best support that are looked at while there is no decisive one: ten true terms may be seen together alone. A hundred
/// samples have room for 33 terms; a thousand would have room for ten times as many, and the search would take minutes.
const AHEAD_OF_DOUBT: usize = 40;
/// Exchanges at one size, at most.
const MOST_EXCHANGES: usize = 100;

/// The best support of every size that has been found.
#[derive(Debug, Clone)]
pub(crate) struct Subsets {
    evidence: Evidence,
    /// The support of k columns at k; those after the last have not been looked for.
    best: Vec<Support>,
}

impl Subsets {
    /// The support without columns.
    pub(crate) fn new(target: &[f64], evidence: Evidence) -> Self {
        Self { evidence, best: vec![Support::empty(target)] }
    }

    /// The criterion of a support.
    pub(crate) fn criterion(&self, support: &Support) -> f64 {
        self.evidence.criterion(support.unexplained(), support.len())
    }

    /// The criterion of any support of so many columns that leave so much unexplained.
    pub(crate) fn criterion_of(&self, unexplained: f64, terms: usize) -> f64 {
        self.evidence.criterion(unexplained, terms)
    }

    /// The support with the smallest criterion.
    pub(crate) fn best(&self) -> &Support {
        let smaller = |best: &'_ Support, next: &'_ Support| self.criterion(next) < self.criterion(best);
        self.best.iter().fold(&self.best[0], |best, next| if smaller(best, next) { next } else { best })
    }

    /// The best supports of all sizes.
    pub(crate) fn supports(&self) -> &[Support] {
        &self.best
    }

    /// The best supports of the sizes that are looked at by now. Larger ones were before, in doubt.
    pub(crate) fn looked_at(&self) -> &[Support] {
        &self.best[..self.best.len().min(self.farthest() + 2)]
    }

    /// Takes a support where it is the best of its size so far; returns whether it is.
    fn take(&mut self, support: Support) -> bool {
        let k = support.len();
        if k == self.best.len() {
            self.best.push(support);
            return true;
        }
        let better =
            self.best.get(k).is_some_and(|best| support.unexplained() < best.unexplained() * (1.0 - LEAST_GAIN));
        if better {
            self.best[k] = support;
        }
        better
    }

    /// Improves the supports of all sizes until neither going up nor going down through them helps.
    ///
    /// - Solves: for every size k up to a third of the samples, for k columns that leave least of the target unexplained.
    /// - Returns: supports that no exchange of one column improves.
    /// - Cost: per exchange a product of all columns with k + 1 vectors.
    /// - See: the splicing of J. Zhu et al., "A polynomial algorithm for best-subset selection problem", PNAS 117 (2020).
    pub(crate) fn walk(&mut self, columns: &WorkingColumns, target: &[f64]) {
        for _ in 0..WALKS {
            let up = self.walk_up(columns, target);
            let down = self.walk_down(columns, target);
            if !up && !down {
                break;
            }
        }
    }

    /// Whether the evidence for the best support is so large that a much larger one is not looked for.
    pub(crate) fn is_decided(&self) -> bool {
        self.criterion(self.best()) < -self.evidence.decisive()
    }

    /// The largest size from which it is worth going on: well beyond that of the best support, or any while there is none.
    fn farthest(&self) -> usize {
        let known = self.best().len();
        let farthest = if self.is_decided() { 2 * known + AHEAD } else { known + AHEAD_OF_DOUBT };
        farthest.min(self.evidence.most_terms())
    }

    /// The most columns of a support that is worth pruning: half as many again as the largest that is looked at.
    pub(crate) fn longest(&self) -> usize {
        let farthest = self.farthest().max(AHEAD_OF_DOUBT).min(self.evidence.most_terms());
        farthest + farthest / 2
    }

    /// From every size to the next by the best addition.
    fn walk_up(&mut self, columns: &WorkingColumns, target: &[f64]) -> bool {
        let mut better = false;
        for k in 0..self.evidence.most_terms() {
            if k > self.farthest() {
                break;
            }
            let mut support = self.best[k].clone();
            let prices = Prices::new(&support, target);
            let Some(&(place, _)) = prices.best_additions(&support, columns, 1).first() else { break };
            if !support.push(place, columns.column(place)) {
                break;
            }
            better |= self.take(exchanged(support, columns, target));
            if self.best.len() <= k + 1 {
                break;
            }
        }
        better
    }

    /// From every size to the one below by leaving out what explains least.
    fn walk_down(&mut self, columns: &WorkingColumns, target: &[f64]) -> bool {
        let mut better = false;
        for k in (2..self.best.len().min(self.farthest() + 2)).rev() {
            let support = &self.best[k];
            let Some(weakest) = support.own_directions(target).weakest() else { break };
            let fewer = support.replaced(columns, weakest, None, target);
            if fewer.len() == k - 1 {
                better |= self.take(exchanged(fewer, columns, target));
            }
        }
        better
    }

    /// Takes supports where they are the best of their size so far; they come in increasing size.
    pub(crate) fn take_pruned(&mut self, sizes: &[PrunedSupport], columns: &WorkingColumns, target: &[f64]) {
        for PrunedSupport { places, unexplained } in sizes.iter().take(self.evidence.most_terms()) {
            let known = self.best.get(places.len()).map_or(f64::INFINITY, Support::unexplained);
            if *unexplained < known {
                self.take(Support::of(columns, places.iter().copied(), target));
            }
        }
    }
}

/// Exchanges one column at a time for the one that explains most, until none explains more.
fn exchanged(mut support: Support, columns: &WorkingColumns, target: &[f64]) -> Support {
    for _ in 0..MOST_EXCHANGES {
        let least = LEAST_GAIN * support.unexplained();
        let best = Prices::new(&support, target).best_exchange(&support, columns).filter(|best| best.gain > least);
        let Some(exchange) = best else { break };
        let next = support.replaced(columns, exchange.leaves, Some(exchange.comes), target);
        if next.len() < support.len() || next.unexplained() >= support.unexplained() {
            break;
        }
        support = next;
    }
    support
}
