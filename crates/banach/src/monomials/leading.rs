//! The terms of a pass that matter most.

use std::{cmp::Ordering, collections::BinaryHeap};

/// A term by its number, and how much it matters: what it would explain, or how large it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PricedTerm {
    pub number: u64,
    pub gain: f64,
}

impl Eq for PricedTerm {}

impl Ord for PricedTerm {
    /// The smallest is the greatest; of equals, the last.
    fn cmp(&self, other: &Self) -> Ordering {
        other.gain.total_cmp(&self.gain).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for PricedTerm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `count` terms with the largest gains. Of equal ones the first, in whatever order they are offered.
#[derive(Debug, Clone)]
pub(crate) struct Leading {
    count: usize,
    /// The smallest on top.
    kept: BinaryHeap<PricedTerm>,
}

impl Leading {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, kept: BinaryHeap::new() }
    }

    /// A term with a smaller gain is not kept.
    #[inline]
    pub(crate) fn threshold(&self) -> f64 {
        match self.kept.peek() {
            // The next smaller number: an equal gain may still be that of an earlier term.
            Some(term) if self.kept.len() == self.count => term.gain.next_down(),
            _ => f64::NEG_INFINITY,
        }
    }

    pub(crate) fn insert(&mut self, term: PricedTerm) {
        self.kept.push(term);
        if self.kept.len() > self.count {
            self.kept.pop();
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.kept.into_iter().for_each(|term| self.insert(term));
    }

    /// The largest first.
    pub(crate) fn into_sorted(self) -> Vec<PricedTerm> {
        self.kept.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_in_every_order() {
        let gains = [3.0, 1.0, 2.0, 2.0, 5.0];
        for start in 0..gains.len() {
            let mut leading = Leading::new(3);
            for at in (0..gains.len()).map(|i| (start + i) % gains.len()) {
                if gains[at] > leading.threshold() {
                    leading.insert(PricedTerm { number: at as u64, gain: gains[at] });
                }
            }
            let numbers: Vec<u64> = leading.into_sorted().iter().map(|term| term.number).collect();
            assert_eq!(numbers, [4, 0, 2]);
        }
    }
}
