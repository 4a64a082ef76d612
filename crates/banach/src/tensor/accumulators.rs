//! What a pass over the Gram tensor adds up: V, Z and C of every dual vector, in every stripe, and their sums over the stripes.
//!
//! The dual vectors of a batch stand in groups, of eight or of one, with the numbers of a group side by side. A stripe has room for the rows,
//! columns and samples that it meets.

use std::{array::from_fn, ops::Range};

use rayon::prelude::*;

use super::{
    layout::{Staircase, Stripe},
    pairs::{COLUMNS, CrossPlace, EIGHT, padded},
};
use crate::numeric::vectorised;

/// Numbers that one task adds up: enough to hide its start.
const PIECE: usize = 1 << 12;
/// Numbers in a cache line of 64 bytes.
pub(super) const CACHE_LINE: usize = 8;

/// What a pass finds: V, Z and, if asked for, C, problem after problem.
pub(crate) struct PassSums<'a> {
    pub heads: &'a [f64],
    pub tails: &'a [f64],
    /// `C_ab` at `b n + a`.
    pub cross: &'a [f64],
}

impl PassSums<'_> {
    /// The part of one of the problems.
    pub(crate) fn of_problem(&self, problem: usize, problems: usize) -> Self {
        let part = |sums: &'_ [f64]| problem * (sums.len() / problems)..(problem + 1) * (sums.len() / problems);
        let Self { heads, tails, cross } = *self;
        Self { heads: &heads[part(heads)], tails: &tails[part(tails)], cross: &cross[part(cross)] }
    }
}

/// Numbers that a pass needs as working memory.
pub(crate) fn pass_length(layout: &Staircase, problems: usize, cross: bool) -> usize {
    let shape = PassShape::new(layout, problems, cross);
    let own = shape.stripe * layout.stripes.len() + shape.group + shape.duals;
    // Memory begins anywhere, and is used from the next cache line on.
    own + SumSizes::all(layout, cross).length(problems) + CACHE_LINE - 1
}

/// The groups of a batch.
pub(super) fn groups(problems: usize, paired: bool) -> impl Iterator<Item = Range<usize>> {
    let eights = if paired { problems / EIGHT } else { 0 };
    let ones = (eights * EIGHT..problems).map(|problem| problem..problem + 1);
    (0..eights).map(|group| group * EIGHT..(group + 1) * EIGHT).chain(ones)
}

/// Whether C is wanted, and heads and tails are pairs.
fn is_paired(layout: &Staircase, cross: bool) -> bool {
    cross && layout.heads.size() == 2
}

/// The sizes of the parts of the memory of a pass.
struct PassShape {
    /// The accumulators of a stripe, behind its y.
    stripe: usize,
    y: usize,
    /// The sums over the stripes of a group of eight.
    group: usize,
    /// The dual vectors, with the numbers of a group side by side.
    duals: usize,
}

impl PassShape {
    fn new(layout: &Staircase, problems: usize, cross: bool) -> Self {
        let paired = is_paired(layout, cross);
        let widest = groups(problems, paired).map(|group| group.len()).max().unwrap_or(0);
        let samples = padded(layout.heads.samples());
        let y = if cross { COLUMNS * widest * samples } else { 0 };
        let stripes = layout.stripes.iter().map(|stripe| SumSizes::of(layout, stripe, cross).length(problems));
        let group = if widest > 1 { SumSizes::all(layout, cross).length(widest) } else { 0 };
        Self { stripe: stripes.max().unwrap_or(0) + y, y, group, duals: if paired { problems * samples } else { 0 } }
    }
}

/// Numbers of V, C and Z for one problem.
#[derive(Clone, Copy)]
struct SumSizes {
    heads: usize,
    cross: usize,
    tails: usize,
}

impl SumSizes {
    /// In one stripe.
    fn of(layout: &Staircase, stripe: &Stripe, cross: bool) -> Self {
        let cross = if cross { CrossPlace::of(stripe).length(layout.heads.samples()) } else { 0 };
        Self { heads: stripe.rows.len(), cross, tails: stripe.tails.len() }
    }

    fn all(layout: &Staircase, cross: bool) -> Self {
        let cross = if cross { layout.heads.samples().pow(2) } else { 0 };
        Self { heads: layout.heads.len(), cross, tails: layout.tails.len() }
    }

    /// The numbers for a batch, each part of which begins with a cache line.
    fn length(self, problems: usize) -> usize {
        padded(problems * self.heads) + padded(problems * self.cross) + padded(problems * self.tails)
    }

    /// V, C and Z of some of the problems whose accumulators are in `area`.
    fn parts<'a>(self, group: &Range<usize>, problems: usize, area: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64]) {
        let (heads, rest) = area.split_at(padded(problems * self.heads));
        let (cross, rest) = rest.split_at(padded(problems * self.cross));
        let part = |length: usize| group.start * length..group.end * length;
        (&heads[part(self.heads)], &cross[part(self.cross)], &rest[part(self.tails)])
    }

    /// V, C and Z of all problems.
    fn split(self, problems: usize, area: &mut [f64]) -> (&mut [f64], &mut [f64], &mut [f64]) {
        let (heads, rest) = area.split_at_mut(padded(problems * self.heads));
        let (cross, tails) = rest.split_at_mut(padded(problems * self.cross));
        let own = |length: usize| ..problems * length;
        (&mut heads[own(self.heads)], &mut cross[own(self.cross)], &mut tails[own(self.tails)])
    }
}

/// The accumulators of a stripe, problem after problem.
pub(super) struct StripeSums<'a> {
    pub heads: &'a mut [f64],
    pub cross: &'a mut [f64],
    pub tails: &'a mut [f64],
    pub y: &'a mut [f64],
}

/// The memory of a pass.
pub(super) struct Accumulators<'m> {
    problems: usize,
    cross: bool,
    shape: PassShape,
    areas: &'m mut [f64],
    group: &'m mut [f64],
    totals: &'m mut [f64],
    /// The dual vectors as groups, with zeros up to a padded length; where heads and tails are pairs.
    pub duals: &'m [f64],
}

impl<'m> Accumulators<'m> {
    /// Divides memory of [`pass_length`]. The dual vectors are needed where cross terms are wanted.
    pub(super) fn new(
        layout: &Staircase,
        problems: usize,
        alphas: Option<&[f64]>,
        memory: &'m mut [f64],
    ) -> Accumulators<'m> {
        let (n, cross) = (layout.heads.samples(), alphas.is_some());
        let shape = PassShape::new(layout, problems, cross);
        let skipped = memory.as_ptr().addr() / size_of::<f64>() % CACHE_LINE;
        let memory = &mut memory[(CACHE_LINE - skipped) % CACHE_LINE..];
        let (areas, rest) = memory.split_at_mut(shape.stripe * layout.stripes.len());
        let (group, rest) = rest.split_at_mut(shape.group);
        let (duals, totals) = rest.split_at_mut(shape.duals);
        if is_paired(layout, cross) {
            side_by_side(alphas.unwrap_or_default(), n, duals);
        }
        Self { problems, cross, shape, areas, group, totals, duals }
    }

    /// The stripes, each with its accumulators, which are zero.
    pub(super) fn stripes<'a>(
        &'a mut self,
        layout: &'a Staircase,
    ) -> impl IndexedParallelIterator<Item = (&'a Stripe, &'a [f64], StripeSums<'a>)> {
        let (problems, cross, duals, y) = (self.problems, self.cross, self.duals, self.shape.y);
        self.areas.par_chunks_mut(self.shape.stripe).zip(&layout.stripes).map(move |(area, stripe)| {
            let (y, area) = area.split_at_mut(y);
            let (heads, cross, tails) = SumSizes::of(layout, stripe, cross).split(problems, area);
            [&mut *heads, cross, tails].into_iter().for_each(|sums| sums.fill(0.0));
            (stripe, duals, StripeSums { heads, cross, tails, y })
        })
    }

    /// Adds up the stripes in their order.
    pub(super) fn combine(self, layout: &Staircase) -> PassSums<'m> {
        let Self { problems, cross: with_cross, shape, areas, group: together, totals, .. } = self;
        let all = SumSizes::all(layout, with_cross);
        let (heads, cross, tails) = all.split(problems, totals);
        for group in groups(problems, is_paired(layout, with_cross)) {
            let stripes = || {
                areas.chunks(shape.stripe).zip(&layout.stripes).map(|(area, stripe)| {
                    (stripe, SumSizes::of(layout, stripe, with_cross).parts(&group, problems, &area[shape.y..]))
                })
            };
            let part = |length: usize| group.start * length..group.end * length;
            let own = (&mut heads[part(all.heads)], &mut cross[part(all.cross)], &mut tails[part(all.tails)]);
            if group.len() == 1 {
                add_stripes(layout, stripes, own);
                continue;
            }
            let (heads, cross, tails) = all.split(group.len(), together);
            add_stripes(layout, stripes, (&mut *heads, &mut *cross, &mut *tails));
            for (sums, own) in [(heads, own.0), (cross, own.1), (tails, own.2)] {
                part_lanes(sums, own);
            }
        }
        PassSums { heads, tails, cross }
    }
}

/// Dual vectors as groups, with zeros up to a padded length.
fn side_by_side(alphas: &[f64], n: usize, duals: &mut [f64]) {
    duals.fill(0.0);
    for group in groups(alphas.len() / n, true) {
        let own = &mut duals[group.start * padded(n)..group.end * padded(n)];
        for (place, alpha) in alphas[group.start * n..group.end * n].chunks(n).enumerate() {
            own.iter_mut().skip(place).step_by(group.len()).zip(alpha).for_each(|(out, alpha)| *out = *alpha);
        }
    }
}

/// V, C and Z of a group in one stripe.
type GroupSums<'a> = (&'a Stripe, (&'a [f64], &'a [f64], &'a [f64]));

/// The sums over the stripes for one group.
fn add_stripes<'a, I: Iterator<Item = GroupSums<'a>>>(
    layout: &Staircase,
    stripes: impl Fn() -> I + Sync,
    (heads, cross, tails): (&mut [f64], &mut [f64], &mut [f64]),
) {
    let (n, lanes) = (layout.heads.samples(), heads.len() / layout.heads.len());
    heads.par_chunks_mut(PIECE).enumerate().for_each(|(piece, sums)| {
        sums.fill(0.0);
        let (start, end) = (piece * PIECE, piece * PIECE + sums.len());
        for (stripe, (own, ..)) in stripes() {
            let first = stripe.rows.start * lanes;
            let (start, end) = (start.max(first), end.min(first + own.len()));
            if start < end {
                add(&own[start - first..end - first], &mut sums[start - piece * PIECE..]);
            }
        }
    });
    cross.par_chunks_mut(n * lanes).enumerate().for_each(|(b, sums)| {
        sums.fill(0.0);
        for (stripe, (_, own, _)) in stripes().filter(|(stripe, _)| stripe.tails_from <= b) {
            let place = CrossPlace::of(stripe);
            add(&own[(b - place.first) * place.width * lanes..][..stripe.heads_below * lanes], sums);
        }
    });
    tails.fill(0.0);
    for (stripe, (_, _, own)) in stripes() {
        add(own, &mut tails[stripe.tails.start * lanes..]);
    }
}

fn add(part: &[f64], sums: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part),
    );
}

/// Numbers that stand side by side, as one list after another.
fn part_lanes(together: &[f64], mut lists: &mut [f64]) {
    let length = together.len() / EIGHT;
    let lists = from_fn(|_| {
        let (own, left) = std::mem::take(&mut lists).split_at_mut(length);
        lists = left;
        own
    });
    deal(together.as_chunks::<EIGHT>().0, lists);
}

/// Deals the numbers of every group out to the lists, by as many tasks as there are pieces.
fn deal(groups: &[[f64; EIGHT]], lists: [&mut [f64]; EIGHT]) {
    if groups.len() > PIECE {
        let middle = groups.len() / 2;
        let mut halves = lists.map(|list| list.split_at_mut(middle));
        let upper = halves.each_mut().map(|half| std::mem::take(&mut half.1));
        let lower = halves.map(|half| half.0);
        rayon::join(|| deal(&groups[..middle], lower), || deal(&groups[middle..], upper));
        return;
    }
    let [a, b, c, d, e, f, g, h] = lists.map(|list| &mut list[..groups.len()]);
    for (at, group) in groups.iter().enumerate() {
        [a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at]] = *group;
    }
}
