//! One pass over the Gram tensor: contractions with a batch of dual vectors.
//!
//! With `W` as in `multisets.rs`, `S(alpha) = sum_(H, T) W_H B_HT W_T = (1/q!) sum K alpha_(i_1) ... alpha_(i_q)`, where
//! B is the staircase of `layout.rs`. A pass forms `V = B W_T` and `Z = B' W_H`; what else there is to know of S
//! follows from them on vectors as short as a row or a column:
//!
//! ```text
//! dS/da        = sum_H V_H dW_H/da + sum_T Z_T dW_T/da
//! d^2S/da db   = sum_H V_H d^2W_H/da db + sum_T Z_T d^2W_T/da db + C_ab + C_ba,
//! C_ab         = sum_(H, T) dW_H/da B_HT dW_T/db
//! ```
//!
//! Only the cross term C needs the tensor once more, in the same read.

use std::hint::black_box;

use rayon::prelude::*;

use super::{
    contract::{Pairs, TOGETHER, TwoSided, derivatives},
    layout::{ColumnBlock, Staircase, Stripe},
    products::{FillBuffers, TileFiller},
};
use crate::{numeric::dot, workers::checkpoint};

/// Columns that are fetched together. With at most 1024 rows they are 128 KB, and stay in the second-level cache.
const COLUMNS_IN_TURN: usize = 16;
/// Rows of four columns that are contracted together: 16 KB, which stay in the first-level cache.
const ROWS_IN_TURN: usize = 512;
/// Numbers in a cache line of 64 bytes.
const CACHE_LINE: usize = 8;
/// Numbers that one task adds up: enough to hide its start.
const PIECE: usize = 1 << 12;

/// The batch of a pass.
pub(crate) struct Batch<'a> {
    /// `W` of the heads, one list after another.
    pub heads: &'a [f64],
    /// `W` of the tails.
    pub tails: &'a [f64],
    /// The dual vectors, where cross terms are wanted.
    pub cross: Option<Cross<'a>>,
}

/// What the cross terms need.
#[derive(Clone, Copy)]
pub(crate) struct Cross<'a> {
    /// The dual vectors.
    pub alphas: &'a [f64],
    /// `dW/dalpha` at the place of every index, for the heads (empty for pairs) and for the tails.
    pub heads: &'a [f64],
    pub tails: &'a [f64],
}

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

/// The sizes of the parts of the memory of a pass.
struct PassSizes {
    /// V of the batch.
    heads: usize,
    /// C of the batch.
    cross: usize,
    /// Z of the batch in one stripe.
    stripe_tails: usize,
    /// y for four columns.
    y: usize,
}

impl PassSizes {
    fn new(layout: &Staircase, problems: usize, cross: bool) -> Self {
        let n = layout.heads.samples();
        let stripe_tails = layout.stripes.iter().map(|stripe| stripe.tails.len()).max().unwrap_or(0);
        Self {
            heads: problems * layout.heads.len(),
            cross: if cross { problems * n * n } else { 0 },
            stripe_tails: problems * stripe_tails,
            y: if cross { 4 * n } else { 0 },
        }
    }

    fn stripe(&self) -> usize {
        self.heads + self.cross + self.stripe_tails + self.y
    }
}

/// Numbers that a pass needs as working memory.
pub(crate) fn pass_length(layout: &Staircase, problems: usize, cross: bool) -> usize {
    let sizes = PassSizes::new(layout, problems, cross);
    sizes.stripe() * layout.stripes.len() + sizes.heads + sizes.cross + problems * layout.tails.len()
}

/// Runs the pass over the stored entries or, without them, over tiles filled one by one.
pub(crate) fn pass<'a>(
    products: &TileFiller<'_>,
    stored: Option<&[f64]>,
    batch: &Batch<'_>,
    memory: &'a mut [f64],
) -> PassSums<'a> {
    let layout = products.layout;
    let problems = batch.heads.len() / layout.heads.len();
    let sizes = PassSizes::new(layout, problems, batch.cross.is_some());
    let (areas, totals) = memory.split_at_mut(sizes.stripe() * layout.stripes.len());
    areas.par_chunks_mut(sizes.stripe()).zip(&layout.stripes).for_each_init(
        FillBuffers::default,
        |work, (area, stripe)| {
            let pass = StripePass { layout, stripe, batch, problems };
            pass.run(products, stored, StripeSums::split(area, &sizes), work);
        },
    );
    combine(layout, &sizes, problems, areas, totals)
}

/// Adds up the stripes in their order.
fn combine<'a>(
    layout: &Staircase,
    sizes: &PassSizes,
    problems: usize,
    areas: &[f64],
    totals: &'a mut [f64],
) -> PassSums<'a> {
    let summed = sizes.heads + sizes.cross;
    let (sums, tails) = totals.split_at_mut(summed);
    sums.par_chunks_mut(PIECE).enumerate().for_each(|(piece, sums)| {
        let place = piece * PIECE..piece * PIECE + sums.len();
        sums.fill(0.0);
        for area in areas.chunks(sizes.stripe()) {
            sums.iter_mut().zip(&area[place.clone()]).for_each(|(sum, part)| *sum += part);
        }
    });
    tails.fill(0.0);
    for (area, stripe) in areas.chunks(sizes.stripe()).zip(&layout.stripes) {
        let parts = area[summed..].chunks(stripe.tails.len());
        for (tails, part) in tails.chunks_mut(layout.tails.len()).zip(parts) {
            tails[stripe.tails.clone()].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }
    let (heads, cross) = sums.split_at(sizes.heads);
    PassSums { heads, cross, tails: &tails[..problems * layout.tails.len()] }
}

/// The accumulators of a stripe.
struct StripeSums<'a> {
    heads: &'a mut [f64],
    cross: &'a mut [f64],
    tails: &'a mut [f64],
    y: &'a mut [f64],
}

impl<'a> StripeSums<'a> {
    fn split(area: &'a mut [f64], sizes: &PassSizes) -> Self {
        area.fill(0.0);
        let (heads, rest) = area.split_at_mut(sizes.heads);
        let (cross, rest) = rest.split_at_mut(sizes.cross);
        let (tails, y) = rest.split_at_mut(sizes.stripe_tails);
        Self { heads, cross, tails, y }
    }
}

struct StripePass<'a> {
    layout: &'a Staircase,
    stripe: &'a Stripe,
    batch: &'a Batch<'a>,
    problems: usize,
}

impl StripePass<'_> {
    fn run(&self, products: &TileFiller<'_>, stored: Option<&[f64]>, mut area: StripeSums<'_>, work: &mut FillBuffers) {
        let mut buffer = std::mem::take(&mut work.tile);
        for tile in &self.layout.tiles[self.stripe.tiles.clone()] {
            checkpoint();
            let entries = if let Some(stored) = stored {
                &stored[tile.entries.clone()]
            } else {
                buffer.resize(tile.entries.len(), 0.0);
                products.fill(tile, &mut buffer, work);
                &buffer
            };
            for block in self.layout.tile_blocks(tile) {
                self.contract_block(&entries[block.entries.clone()], &block, &mut area);
            }
        }
        work.tile = buffer;
    }

    /// All problems take turns on a few columns at a time.
    fn contract_block(&self, entries: &[f64], block: &ColumnBlock, area: &mut StripeSums<'_>) {
        let height = block.rows.len();
        for start in block.tails.clone().step_by(COLUMNS_IN_TURN) {
            let tails = start..(start + COLUMNS_IN_TURN).min(block.tails.end);
            let first = (start - block.tails.start) * height;
            let columns = &entries[first..first + tails.len() * height];
            let turn = ColumnBlock { rows: block.rows.clone(), tails, entries: 0..columns.len() };
            fetch(columns);
            match self.batch.cross {
                None => self.contract(columns, &turn, area),
                Some(cross) => {
                    (0..self.problems).for_each(|problem| self.contract_twice(problem, cross, columns, &turn, area));
                }
            }
        }
    }

    /// V and Z. All problems take turns on what fits in the first-level cache.
    fn contract(&self, entries: &[f64], block: &ColumnBlock, area: &mut StripeSums<'_>) {
        let (heads, tails, height) = (self.layout.heads.len(), self.layout.tails.len(), block.rows.len());
        for start in block.tails.clone().step_by(TOGETHER) {
            let columns = start..(start + TOGETHER).min(block.tails.end);
            for first in block.rows.clone().step_by(ROWS_IN_TURN) {
                let rows = first..(first + ROWS_IN_TURN).min(block.rows.end);
                let block_entries = &entries[(start - block.tails.start) * height + first - block.rows.start..];
                for problem in 0..self.problems {
                    let place = self.stripe_place(problem, start);
                    TwoSided {
                        block: block_entries,
                        stride: height,
                        rows_in: &self.batch.heads[problem * heads..][rows.clone()],
                        columns_in: &self.batch.tails[problem * tails..][columns.clone()],
                        rows: &mut area.heads[problem * heads..][rows.clone()],
                        columns: &mut area.tails[place..place + columns.len()],
                    }
                    .run();
                }
            }
        }
    }

    /// V, Z and C. With `y_a = sum_H dW_H/da B_HT` of a tail, its `Z` is `<alpha, y>/h` (Euler).
    fn contract_twice(
        &self,
        problem: usize,
        cross: Cross<'_>,
        columns: &[f64],
        block: &ColumnBlock,
        area: &mut StripeSums<'_>,
    ) {
        let Staircase { heads, tails, .. } = self.layout;
        let (n, half, place) = (heads.samples(), heads.size(), self.stripe_place(problem, block.tails.start));
        let alpha = &cross.alphas[problem * n..(problem + 1) * n];
        let columns_in = &self.batch.tails[problem * tails.len()..][block.tails.clone()];
        let slopes = &cross.tails[(problem * tails.len() + block.tails.start) * half..][..block.tails.len() * half];
        let rows = &mut area.heads[problem * heads.len()..][block.rows.clone()];
        let sums = &mut area.tails[place..place + block.tails.len()];
        let matrix = &mut area.cross[problem * n * n..(problem + 1) * n * n];
        if let [i, j] = *heads.get(block.rows.start) {
            let first = (i as usize, j as usize);
            let (tails, y) = (tails.range(block.tails.clone()), &mut *area.y);
            Pairs { block: columns, first, alpha, columns_in, tails, slopes, rows, columns: sums, cross: matrix, y }
                .run();
            return;
        }
        let head_slopes = &cross.heads[problem * heads.len() * half..];
        let y = &mut area.y[..n];
        for (at, (column, sum)) in columns.chunks(block.rows.len()).zip(sums).enumerate() {
            derivatives(heads, block.rows.start, column, head_slopes, columns_in[at], rows, y);
            *sum += dot(y, alpha) / half as f64;
            for (&b, slope) in tails.get(block.tails.start + at).iter().zip(&slopes[at * half..]) {
                let column = &mut matrix[b as usize * n..][..n];
                column.iter_mut().zip(&*y).for_each(|(sum, y)| *sum += slope * y);
            }
        }
    }

    /// Where the Z of a tail is in the stripe.
    fn stripe_place(&self, problem: usize, tail: usize) -> usize {
        problem * self.stripe.tails.len() + tail - self.stripe.tails.start
    }
}

/// Reads one number of every cache line. A plain read keeps more of the memory's bandwidth busy than the contraction
/// can, which then finds its columns in the second-level cache.
fn fetch(columns: &[f64]) {
    black_box(columns.iter().step_by(CACHE_LINE).fold(0, |all, entry| all ^ entry.to_bits()));
}
