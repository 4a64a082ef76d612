//! How the monomials of a kernel are cut into tiles, and the tiles into stripes.

use std::ops::Range;

use super::degrees::Degree;
use crate::{kernel::MAX_DEGREE, workers::checkpoint};

/// Variables in a block of a tile, at most: two blocks of a few hundred samples and the tile fit in a second-level
/// cache, and products of this size run at full speed.
pub(super) const WIDTH: usize = 128;
/// Most stripes. Each has sums of its own, so that more would take more memory; there are enough for the cores of most machines.
const MAX_STRIPES: usize = 32;
/// Entries of the feature matrix in a stripe: long enough to hide the start of a task.
const STRIPE_ENTRIES: u64 = 1 << 18;

/// The tiles of all monomials, in order, cut into stripes of about equal work. It depends on the data alone.
///
/// A tile holds the monomials `x_prefix x_j x_k` of one degree, one prefix of degree - 2 variables, j in one block of
/// variables and k in another that is not before it. Blocks begin at the last variable of the prefix. Degree 1 is a row of tiles
/// without j, degree 0 a single one.
#[derive(Debug, Clone)]
pub(super) struct Tiling {
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

    /// The fewest leading variables for which this tile, the first of its prefix, is the first of all that begin with them.
    fn first_known(&self, degree: &Degree) -> usize {
        let (prefix, step) = (self.prefix(degree), usize::from(degree.distinct));
        let least = |place: usize| place.checked_sub(1).map_or(0, |before| prefix[before] + step);
        (0..prefix.len()).rev().find(|&place| prefix[place] > least(place)).map_or(0, |place| place + 1)
    }

    /// Whether the tile is the first of its prefix.
    pub(super) fn begins_prefix(&self) -> bool {
        self.outer == 0 && self.inner == 0
    }
}

/// A number of tiles, and of the entries of the feature matrix in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    tiles: u64,
    entries: u64,
}

impl std::ops::Add for Extent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { tiles: self.tiles + other.tiles, entries: self.entries + other.entries }
    }
}

/// The extent of the tiles of a degree whose prefixes begin alike.
struct Groups {
    /// Element `[count - 1][last]` is that of the prefixes whose first `count` variables are given and end with `last`.
    by_last: Vec<Vec<Extent>>,
    all: Extent,
}

impl Groups {
    fn new(layout: &Tiling, degree: &Degree) -> Self {
        let (size, step) = (degree.degree.saturating_sub(2), usize::from(degree.distinct));
        if size == 0 {
            return Self { by_last: Vec::new(), all: layout.of_prefix(degree, &[]) };
        }
        let mut by_last: Vec<Vec<Extent>> = Vec::with_capacity(size);
        // From a variable on, the sum over those that can be at the place that was looked at last.
        let mut following: Vec<Extent> = Vec::new();
        for place in (0..size).rev() {
            let of = |variable: usize| match following.get(variable + step) {
                _ if place + 1 == size => layout.of_prefix(degree, &[variable]),
                following => following.copied().unwrap_or_default(),
            };
            let own: Vec<Extent> = (0..=layout.last(degree, place)).map(of).collect();
            following.clone_from(&own);
            (0..following.len() - 1).rev().for_each(|at| following[at] = following[at] + following[at + 1]);
            by_last.push(own);
        }
        by_last.reverse();
        Self { by_last, all: following[0] }
    }

    fn beginning_with(&self, variables: &[usize]) -> Extent {
        variables.last().map_or(self.all, |&last| self.by_last[variables.len() - 1][last])
    }
}

impl Tiling {
    pub(super) fn new(samples: usize, inputs: usize, degrees: &[Degree], width: usize) -> Self {
        let count = super::ranks::count(inputs, degrees);
        let mut layout = Self { inputs, width, count, stripes: Vec::new() };
        let wanted = Self::stripes(samples, count) as u64;
        let groups: Vec<Groups> = degrees.iter().map(|degree| Groups::new(&layout, degree)).collect();
        let share = groups.iter().map(|groups| groups.all.entries).sum::<u64>().div_ceil(wanted);
        let start = Self::start(degrees, 0);
        let (mut cursor, mut begin, mut tiles, mut done) = (Some(start), start, 0, 0);
        while let Some(at) = cursor {
            checkpoint();
            let end = (layout.stripes.len() as u64 + 1) * share;
            let (extent, after) = layout.leap(degrees, &groups, &at, end.saturating_sub(done));
            (tiles, done, cursor) = (tiles + extent.tiles, done + extent.entries, after);
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

    /// The largest group of tiles that begins with this one and has fewer than `room` entries, or this tile alone; and the tile after
    /// the group. Tiles of a degree in tens of variables are too many to be walked through one by one.
    fn leap(&self, degrees: &[Degree], groups: &[Groups], at: &Cursor, room: u64) -> (Extent, Option<Cursor>) {
        let degree = &degrees[at.degree];
        if at.begins_prefix() {
            let prefix = at.prefix(degree);
            for known in at.first_known(degree)..=prefix.len() {
                let group = groups[at.degree].beginning_with(&prefix[..known]);
                if group.entries < room {
                    return (group, self.after(degrees, *at, known));
                }
            }
        }
        let [outer, inner] = self.ranges(degrees, at);
        let entries = (outer.len().max(1) * inner.len().max(1)) as u64;
        (Extent { tiles: 1, entries }, self.next(degrees, *at))
    }

    /// The most stripes for these numbers of samples and monomials.
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

    /// The tiles of one prefix. They depend on its last variable alone.
    fn of_prefix(&self, degree: &Degree, prefix: &[usize]) -> Extent {
        let (first, size, blocks) = self.blocks(degree, prefix);
        let (length, blocks) = ((self.inputs - first) as u64, blocks as u64);
        match degree.degree {
            0 => Extent { tiles: 1, entries: 1 },
            1 => Extent { tiles: blocks, entries: length },
            _ => {
                // Pairs of blocks; those of a block with itself are whole squares.
                let rest = length - (blocks - 1) * size as u64;
                let squares = (blocks - 1) * (size * size) as u64 + rest * rest;
                Extent { tiles: blocks * (blocks + 1) / 2, entries: (length * length).midpoint(squares) }
            }
        }
    }

    /// The most roundings of a sum over all monomials: additions in a tile, and changes of the running size from tile to tile and from
    /// stripe to stripe.
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
        self.after(degrees, at, at.prefix(degree).len())
    }

    /// The first tile after all those whose first `known` variables are those of this one.
    fn after(&self, degrees: &[Degree], mut at: Cursor, known: usize) -> Option<Cursor> {
        (at.outer, at.inner) = (0, 0);
        if self.advance(&degrees[at.degree], &mut at.prefix, known) {
            return Some(at);
        }
        (at.degree + 1 < degrees.len()).then(|| Self::start(degrees, at.degree + 1))
    }

    /// The last variable that can be at a place of a prefix. Distinct variables leave room for those that follow in the prefix, and
    /// for the two after it.
    fn last(&self, degree: &Degree, place: usize) -> usize {
        self.inputs - 1 - usize::from(degree.distinct) * (degree.degree - 1 - place)
    }

    /// Moves to the next prefix with another variable among the first `known`; `false` after the last.
    fn advance(&self, degree: &Degree, prefix: &mut [usize; MAX_DEGREE], known: usize) -> bool {
        let (size, step) = (degree.degree.saturating_sub(2), usize::from(degree.distinct));
        let Some(place) = (0..known).rev().find(|&place| prefix[place] < self.last(degree, place)) else {
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

    /// The stripes by walking through all tiles.
    fn walked(layout: &Tiling, samples: usize, degrees: &[Degree]) -> Vec<(Cursor, u64)> {
        let tiles = || std::iter::successors(Some(Tiling::start(degrees, 0)), |at| layout.next(degrees, *at));
        let entries =
            |at: &Cursor| layout.ranges(degrees, at).map(|range| range.len().max(1) as u64).iter().product::<u64>();
        let total: u64 = tiles().map(|at| entries(&at)).sum();
        let share = total.div_ceil(Tiling::stripes(samples, layout.count) as u64);
        let (mut stripes, mut done) = (vec![(Tiling::start(degrees, 0), 0)], 0);
        for at in tiles() {
            if done >= stripes.len() as u64 * share {
                stripes.push((at, 0));
            }
            stripes.last_mut().expect("the first").1 += 1;
            done += entries(&at);
        }
        stripes
    }

    /// Groups of tiles are leapt over, and the stripes are those of walking.
    #[test]
    fn stripes_are_found_without_walking() {
        let kernels: [Box<dyn TensorKernel>; 5] = [
            Box::new(Linear),
            Box::new(Polynomial::new(2, 1.0, 1.0).expect("valid")),
            Box::new(Polynomial::new(6, 1.0, 1.0).expect("valid")),
            Box::new(Anova::new(1, 6).expect("valid")),
            Box::new(Anova::new(4, 4).expect("valid")),
        ];
        let told = |stripes: &[(Cursor, u64)]| -> Vec<_> {
            stripes.iter().map(|(at, tiles)| (at.degree, at.prefix, at.outer, at.inner, *tiles)).collect()
        };
        for kernel in kernels {
            for inputs in [1, 4, 6, 7, 13, 20] {
                for (samples, width) in [(1, 8), (50, 128), (1 << 14, 8), (1 << 14, 16), (1 << 20, 128)] {
                    let Ok(degrees) = super::super::degrees::degrees(&*kernel, inputs) else { continue };
                    let layout = Tiling::new(samples, inputs, &degrees, width);
                    let walked = walked(&layout, samples, &degrees);
                    assert_eq!(told(&layout.stripes), told(&walked), "{} {inputs} {samples} {width}", kernel.name());
                }
            }
        }
    }

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
                    let Ok(degrees) = super::super::degrees::degrees(&*kernel, inputs) else { continue };
                    let layout = Tiling::new(1 << 14, inputs, &degrees, width);
                    let mut met = std::collections::BTreeSet::new();
                    let mut expected = Some(Tiling::start(&degrees, 0));
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
