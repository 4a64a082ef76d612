//! The place of a tile among all monomials.

use std::ops::Range;

use super::Roots;
use crate::data::ExcludedProducts;

/// The monomials of a tile: `x_prefix x_j x_k` for j in `outer` and k in `inner`. An entry of the tile is at
/// `(j - outer.start) inner.len() + (k - inner.start)`. Below degree 2 there is no j and `outer` is empty; the constant
/// has no k either.
#[derive(Debug)]
pub(crate) struct Place<'t> {
    /// The degree of the monomials.
    pub degree: usize,
    /// Where that degree is in the list of those that the kernel has.
    pub block: usize,
    /// The variables that all of them begin with.
    pub prefix: &'t [usize],
    pub outer: Range<usize>,
    pub inner: Range<usize>,
    pub(super) inputs: usize,
    pub(super) distinct: bool,
    /// The number of the first monomial with this prefix, and the first variable that may follow it.
    pub(super) first: u64,
    pub(super) from: usize,
}

impl Place<'_> {
    /// How many k there are for every j.
    pub(crate) fn inner_len(&self) -> usize {
        self.inner.len().max(1)
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.outer.len().max(1) * self.inner_len()
    }

    /// The number of the monomial in column `j - outer.start` and row `k - inner.start`. In a tile on the diagonal only those
    /// with j <= k (j < k for distinct variables) are monomials.
    pub(crate) fn index(&self, column: usize, row: usize) -> u64 {
        match self.degree {
            0 => self.first,
            1 => self.first + (self.inner.start + row) as u64,
            _ => {
                let (j, k) = (self.outer.start + column, self.inner.start + row);
                let step = usize::from(self.distinct);
                // Pairs of variables from m on.
                let pairs = |m: usize| {
                    let count = (self.inputs - m) as u64;
                    if self.distinct { count * count.saturating_sub(1) / 2 } else { count * (count + 1) / 2 }
                };
                self.first + pairs(self.from) - pairs(j) + (k - j - step) as u64
            }
        }
    }

    fn is_diagonal(&self) -> bool {
        self.degree >= 2 && self.outer == self.inner
    }

    /// Whether all monomials have the coefficient of distinct variables.
    pub(super) fn is_uniform(&self) -> bool {
        !self.is_diagonal() && (self.distinct || self.prefix.is_empty() || self.outer.start > self.from)
    }

    /// Sets the entries of products that are excluded to 0, in a tile whose prefix is not.
    pub(super) fn mask(&self, excluded: &ExcludedProducts, entries: &mut [f64]) {
        if self.degree < 2 {
            return;
        }
        let free_prefix = !self.prefix.iter().any(|&variable| excluded.concerns(variable));
        for (j, entries) in self.outer.clone().zip(entries.chunks_mut(self.inner.len())) {
            if excluded.conflicts(self.prefix, j) {
                entries.fill(0.0);
            } else if !free_prefix || excluded.concerns(j) {
                for (k, entry) in self.inner.clone().zip(entries) {
                    if excluded.pair(j, k) || excluded.conflicts(self.prefix, k) {
                        *entry = 0.0;
                    }
                }
            }
        }
    }

    /// Multiplies the entries of a tile that is not uniform by the roots of their coefficients.
    pub(super) fn weigh(&self, roots: &Roots, entries: &mut [f64]) {
        let last = self.prefix.last().filter(|_| !self.distinct);
        for (column, entries) in entries.chunks_mut(self.inner.len()).enumerate() {
            let is_last = last == Some(&(self.outer.start + column));
            let (pair, square) =
                if is_last { (roots.last_pair, roots.last_square) } else { (roots.pair, roots.square) };
            if self.is_diagonal() {
                entries[..column].fill(0.0);
                entries[column] *= square;
                entries[column + 1..].iter_mut().for_each(|entry| *entry *= pair);
            } else {
                entries.iter_mut().for_each(|entry| *entry *= pair);
            }
        }
    }
}
