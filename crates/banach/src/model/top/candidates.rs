//! The largest of many features, found by a search or by a pass.

use std::{cmp::Ordering, collections::BinaryHeap};

use crate::kernel::Monomial;

/// What names a feature: itself, or its number in the list of all.
pub(crate) trait Listed {
    /// The order of that list.
    fn cmp_listed(&self, other: &Self) -> Ordering;
}

impl Listed for Monomial {
    fn cmp_listed(&self, other: &Self) -> Ordering {
        Monomial::cmp_listed(self, other)
    }
}

impl Listed for u64 {
    fn cmp_listed(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}

/// A feature with `u_k`, up to a factor that all features share.
#[derive(Debug, Clone)]
pub(crate) struct MonomialCandidate<M = Monomial> {
    pub monomial: M,
    /// `u_k`, as computed.
    pub u: f64,
    /// How far `u_k` of the optimal dual vector may be from it. If nothing is known of the optimum it counts rounding alone.
    pub width: f64,
}

impl<M> MonomialCandidate<M> {
    /// The least that `|u_k|` can be.
    pub(crate) fn lower(&self) -> f64 {
        self.u.abs() - self.width
    }

    /// The most that `|u_k|` can be.
    pub(crate) fn upper(&self) -> f64 {
        self.u.abs() + self.width
    }
}

/// The `count` candidates with the largest `|u_k|`, and the most that any other can be.
///
/// Of two with equal `|u_k|` the one that is listed first is larger, so what is kept does not depend on the order in
/// which candidates are offered. Features with `u_k = 0` are no part of the function, and are not kept.
#[derive(Debug, Clone)]
pub(crate) struct Candidates<M = Monomial> {
    count: usize,
    /// The smallest on top.
    kept: BinaryHeap<Smallest<M>>,
    rejected: f64,
}

impl<M: Listed> Candidates<M> {
    /// Room for `count` candidates.
    pub(crate) fn new(count: usize) -> Self {
        Self { count, kept: BinaryHeap::new(), rejected: 0.0 }
    }

    /// Whether all places are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() == self.count
    }

    /// The smallest `|u_k|` that is kept, 0 while there are places: below it, a candidate is not kept.
    pub(crate) fn threshold(&self) -> f64 {
        if self.count == 0 {
            return f64::INFINITY;
        }
        self.kept.peek().filter(|_| self.is_full()).map_or(0.0, |Smallest(candidate)| candidate.u.abs())
    }

    /// The least that any `|u_k|` that is kept can be; at most 0 while there are places.
    pub(crate) fn lower(&self) -> f64 {
        if self.is_full() { self.least() } else { 0.0 }
    }

    /// The least that any `|u_k|` that is kept can be, full or not; infinite for none.
    pub(crate) fn least(&self) -> f64 {
        self.kept.iter().map(|Smallest(candidate)| candidate.lower()).fold(f64::INFINITY, f64::min)
    }

    /// The most that `|u_k|` of a candidate that is not kept can be; 0 if there is none.
    pub(crate) fn rejected(&self) -> f64 {
        self.rejected
    }

    /// Looks at one feature, which is named only if it is kept.
    pub(crate) fn offer(&mut self, u: f64, width: f64, monomial: impl FnOnce() -> M) {
        if u == 0.0 || u.abs() < self.threshold() {
            self.reject(u.abs() + width);
        } else {
            self.insert(MonomialCandidate { monomial: monomial(), u, width });
        }
    }

    /// Notes that a feature with at most this `|u_k|` is not kept.
    pub(crate) fn reject(&mut self, upper: f64) {
        self.rejected = self.rejected.max(upper);
    }

    /// Takes in what was kept of other features.
    pub(crate) fn merge(&mut self, other: Self) {
        self.reject(other.rejected);
        other.kept.into_iter().for_each(|Smallest(candidate)| self.insert(candidate));
    }

    fn insert(&mut self, candidate: MonomialCandidate<M>) {
        self.kept.push(Smallest(candidate));
        if self.kept.len() > self.count
            && let Some(Smallest(last)) = self.kept.pop()
        {
            self.reject(last.upper());
        }
    }

    /// Those that are kept, the largest first.
    pub(crate) fn into_sorted(self) -> Vec<MonomialCandidate<M>> {
        self.kept.into_sorted_vec().into_iter().map(|Smallest(candidate)| candidate).collect()
    }
}

/// A candidate, ordered so that the smallest is the greatest.
#[derive(Debug, Clone)]
struct Smallest<M>(MonomialCandidate<M>);

impl<M: Listed> Ord for Smallest<M> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.0, &other.0);
        b.u.abs().total_cmp(&a.u.abs()).then_with(|| a.monomial.cmp_listed(&b.monomial))
    }
}

impl<M: Listed> PartialOrd for Smallest<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M: Listed> PartialEq for Smallest<M> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<M: Listed> Eq for Smallest<M> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(candidates: &mut Candidates, variable: usize, u: f64) {
        candidates.offer(u, 0.25, || Monomial::of_sorted(&[variable]));
    }

    fn names(candidates: Candidates) -> Vec<String> {
        candidates.into_sorted().iter().map(|candidate| candidate.monomial.to_string()).collect()
    }

    #[test]
    fn the_largest_are_kept_in_every_order_of_offers() {
        let u = [1.0, -3.0, 2.0, 0.0, 2.0, -2.0];
        for start in 0..u.len() {
            for step in [1, 5] {
                let mut candidates = Candidates::new(3);
                (0..u.len()).map(|i| (start + i * step) % u.len()).for_each(|i| offer(&mut candidates, i, u[i]));
                assert_eq!((candidates.threshold(), candidates.lower(), candidates.rejected()), (2.0, 1.75, 2.25));
                assert_eq!(names(candidates), ["x1", "x2", "x4"], "the earlier of equals");
            }
        }
    }

    #[test]
    fn there_is_a_place_for_none_and_for_all() {
        let mut none = Candidates::new(0);
        offer(&mut none, 0, 1.0);
        assert_eq!((none.threshold(), none.rejected(), none.into_sorted().len()), (f64::INFINITY, 1.25, 0));
        let mut all = Candidates::new(9);
        offer(&mut all, 0, 1.0);
        offer(&mut all, 1, 0.0);
        assert_eq!((all.threshold(), all.lower(), all.least(), all.rejected()), (0.0, 0.0, 0.75, 0.25));
        assert_eq!(names(all), ["x0"]);
    }
}
