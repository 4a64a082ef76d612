//! How the monomials of a kernel are cut into tiles, and the tiles into stripes.

use std::ops::Range;

use super::monomials::Degree;
use crate::kernel::MAX_DEGREE;

/// Most stripes.
const MAX_STRIPES: usize = 32;
/// Entries of the feature matrix in a stripe: long enough to hide the start of a task.
const STRIPE_ENTRIES: u64 = 1 << 18;

/// The tiles of all monomials, in order, cut into stripes of about equal work. It depends on the data alone.
///
/// A tile holds the monomials `x_prefix x_j x_k` of one degree, one prefix of degree - 2 variables, j in one block of
/// variables and k in another that is not before it. Blocks begin at the last variable of the prefix. Degree 1 is a row of tiles
/// without j, degree 0 a single one.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    inputs: usize,
    /// Most variables in a block.
    pub width: usize,
    /// The number of monomials.
    pub count: u64,
    /// Where each stripe begins, and its number of tiles.
    pub stripes: Vec<(Cursor, u64)>,
}

/// A tile among all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    /// Its place in the list of degrees.
    pub degree: usize,
    prefix: [usize; MAX_DEGREE],
    /// The blocks of j and k.
    outer: usize,
    inner: usize,
}

impl Cursor {
    /// The variables that all monomials of the tile begin with.
    pub(super) fn prefix(&self, degree: &Degree) -> &[usize] {
        &self.prefix[..degree.degree.saturating_sub(2)]
    }

    /// Whether the tile is the first of its prefix.
    pub(super) fn begins_prefix(&self) -> bool {
        self.outer == 0 && self.inner == 0
    }
}

impl Layout {
    pub(super) fn new(samples: usize, inputs: usize, degrees: &[Degree], width: usize) -> Self {
        let count = super::ranks::count(inputs, degrees);
        let mut layout = Self { inputs, width, count, stripes: Vec::new() };
        let wanted = Self::stripes(samples, count) as u64;
        let start = Self::start(degrees, 0);
        let (mut cursor, mut begin, mut tiles, mut done, mut total) = (Some(start), start, 0, 0, 0);
        while let Some(at) = cursor {
            let [outer, inner] = layout.ranges(degrees, &at);
            total += (outer.len().max(1) * inner.len().max(1)) as u64;
            cursor = layout.next(degrees, at);
        }
        cursor = Some(start);
        while let Some(at) = cursor {
            let [outer, inner] = layout.ranges(degrees, &at);
            tiles += 1;
            done += (outer.len().max(1) * inner.len().max(1)) as u64;
            cursor = layout.next(degrees, at);
            let end = (layout.stripes.len() as u64 + 1) * total.div_ceil(wanted);
            if let Some(next) = cursor
                && done >= end
            {
                layout.stripes.push((begin, tiles));
                (begin, tiles) = (next, 0);
            }
        }
        layout.stripes.push((begin, tiles));
        layout
    }

    /// The most stripes of so many samples and monomials.
    pub(super) fn stripes(samples: usize, count: u64) -> usize {
        (count.saturating_mul(samples as u64) / STRIPE_ENTRIES).clamp(1, MAX_STRIPES as u64) as usize
    }

    /// The first tile of a degree.
    fn start(degrees: &[Degree], degree: usize) -> Cursor {
        let mut prefix = [0; MAX_DEGREE];
        if degrees[degree].distinct {
            prefix.iter_mut().enumerate().for_each(|(place, variable)| *variable = place);
        }
        Cursor { degree, prefix, outer: 0, inner: 0 }
    }

    /// The first variable that may follow a prefix, and the size and the number of the blocks from there on.
    fn blocks(&self, degree: &Degree, prefix: &[usize]) -> (usize, usize, usize) {
        let first = prefix.last().map_or(0, |last| last + usize::from(degree.distinct));
        let length = self.inputs - first;
        let size = length.div_ceil(length.div_ceil(self.width)).next_multiple_of(8).min(self.width);
        (first, size, length.div_ceil(size))
    }

    /// The most roundings of a sum over all monomials: additions in a tile, from tile to tile with a change of scale, and from stripe to
    /// stripe.
    pub(super) fn additions(&self) -> f64 {
        let tiles = self.stripes.iter().map(|(_, tiles)| *tiles).max().unwrap_or(0);
        2.0 * self.width as f64 + 8.0 * (tiles as f64 + self.stripes.len() as f64)
    }

    /// The variables j and k of a tile; empty where there are none.
    pub(super) fn ranges(&self, degrees: &[Degree], at: &Cursor) -> [Range<usize>; 2] {
        let degree = &degrees[at.degree];
        let (first, size, _) = self.blocks(degree, at.prefix(degree));
        let block = |number: usize| first + number * size..(first + (number + 1) * size).min(self.inputs);
        match degree.degree {
            0 => [0..0, 0..0],
            1 => [0..0, block(at.inner)],
            _ => [block(at.outer), block(at.inner)],
        }
    }

    /// The tile after this one.
    pub(super) fn next(&self, degrees: &[Degree], mut at: Cursor) -> Option<Cursor> {
        let degree = &degrees[at.degree];
        let (_, _, blocks) = self.blocks(degree, at.prefix(degree));
        at.inner += 1;
        if degree.degree >= 1 && at.inner < blocks {
            return Some(at);
        }
        at.outer += 1;
        if degree.degree >= 2 && at.outer < blocks {
            at.inner = at.outer;
            return Some(at);
        }
        (at.outer, at.inner) = (0, 0);
        if self.advance(degree, &mut at.prefix) {
            return Some(at);
        }
        (at.degree + 1 < degrees.len()).then(|| Self::start(degrees, at.degree + 1))
    }

    /// Moves to the next prefix; `false` after the last.
    fn advance(&self, degree: &Degree, prefix: &mut [usize; MAX_DEGREE]) -> bool {
        let (size, step) = (degree.degree.saturating_sub(2), usize::from(degree.distinct));
        // Distinct variables leave room for those that follow, of which there are two after the prefix.
        let room = |place: usize| step * (size + 1 - place) + 1;
        let Some(place) = (0..size).rev().find(|&place| prefix[place] + room(place) < self.inputs) else {
            return false;
        };
        let next = prefix[place] + 1;
        prefix[place..size].iter_mut().enumerate().for_each(|(offset, variable)| *variable = next + step * offset);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Anova, Linear, Polynomial, TensorKernel};

    /// Every monomial is in one tile, and the stripes are all tiles in order.
    #[test]
    fn tiles_cover_every_monomial_once() {
        let kernels: [Box<dyn TensorKernel>; 6] = [
            Box::new(Linear),
            Box::new(Polynomial::new(2, 1.0, 0.0).expect("valid")),
            Box::new(Polynomial::new(3, 1.0, 1.0).expect("valid")),
            Box::new(Polynomial::new(4, 1.0, 0.0).expect("valid")),
            Box::new(Anova::new(1, 4).expect("valid")),
            Box::new(Anova::new(3, 3).expect("valid")),
        ];
        for kernel in kernels {
            for inputs in [1, 2, 3, 5, 9, 17, 30] {
                for width in [8, 16, 128] {
                    let Ok(degrees) = super::super::monomials::degrees(&*kernel, inputs) else { continue };
                    let layout = Layout::new(1 << 14, inputs, &degrees, width);
                    let mut met = std::collections::BTreeSet::new();
                    let mut expected = Some(Layout::start(&degrees, 0));
                    for (begin, tiles) in &layout.stripes {
                        let mut at = Some(*begin);
                        for _ in 0..*tiles {
                            let cursor = at.expect("as many tiles as counted");
                            let same = expected.expect("no more tiles than there are");
                            assert_eq!(
                                (cursor.prefix, cursor.outer, cursor.inner),
                                (same.prefix, same.outer, same.inner)
                            );
                            let degree = &degrees[cursor.degree];
                            let [outer, inner] = layout.ranges(&degrees, &cursor);
                            let prefix = cursor.prefix(degree).to_vec();
                            match degree.degree {
                                0 => assert!(met.insert(vec![])),
                                1 => inner.clone().for_each(|k| assert!(met.insert(vec![k]))),
                                _ => {
                                    for (j, k) in outer.flat_map(|j| inner.clone().map(move |k| (j, k))) {
                                        if j < k || j == k && !degree.distinct {
                                            assert!(met.insert([&prefix[..], &[j, k]].concat()));
                                        }
                                    }
                                }
                            }
                            at = layout.next(&degrees, cursor);
                            expected = at;
                        }
                    }
                    assert!(expected.is_none());
                    assert_eq!(met.len() as u64, layout.count, "{} {inputs} {width}", kernel.name());
                }
            }
        }
    }
}
