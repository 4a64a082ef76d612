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

use std::{hint::black_box, ops::Range};

use rayon::prelude::*;

use super::{
    accumulators::{Accumulators, CACHE_LINE, PassSums, StripeSums, groups},
    contract::{TOGETHER, TwoSided, derivatives},
    layout::{ColumnBlock, Staircase, Stripe},
    pairs::{COLUMNS, CrossPlace, EIGHT, MOST_COLUMNS, Pairs, padded},
    products::{FillBuffers, TileFiller},
};
use crate::{numeric::dot, workers::checkpoint};

/// Columns that are fetched together. With at most 1024 rows they are 128 KB, and stay in the second-level cache.
const COLUMNS_IN_TURN: usize = MOST_COLUMNS;
/// Rows of four columns that are contracted together: 16 KB, which stay in the first-level cache.
const ROWS_IN_TURN: usize = 512;

/// The batch of a pass.
pub(crate) struct Batch<'a> {
    /// The number of dual vectors.
    pub problems: usize,
    /// `W` of the heads, one list after another; empty for cross terms of pairs, which follow from the dual vectors.
    pub heads: &'a [f64],
    /// `W` of the tails, in the same way.
    pub tails: &'a [f64],
    /// The dual vectors, where cross terms are wanted.
    pub cross: Option<Cross<'a>>,
}

/// What the cross terms need.
#[derive(Clone, Copy)]
pub(crate) struct Cross<'a> {
    /// The dual vectors.
    pub alphas: &'a [f64],
    /// `dW/dalpha` at the place of every index, for the heads and for the tails; empty for pairs.
    pub heads: &'a [f64],
    pub tails: &'a [f64],
}

/// Runs the pass over the stored entries or, without them, over tiles filled one by one.
pub(crate) fn pass<'a>(
    products: &TileFiller<'_>,
    stored: Option<&[f64]>,
    batch: &Batch<'_>,
    memory: &'a mut [f64],
) -> PassSums<'a> {
    let layout = products.layout;
    let problems = batch.problems;
    let mut sums = Accumulators::new(layout, problems, batch.cross.map(|cross| cross.alphas), memory);
    sums.stripes(layout).for_each_init(FillBuffers::default, |work, (stripe, duals, area)| {
        StripePass { layout, stripe, batch, duals, problems }.run(products, stored, area, work);
    });
    sums.combine(layout)
}

struct StripePass<'a> {
    layout: &'a Staircase,
    stripe: &'a Stripe,
    batch: &'a Batch<'a>,
    /// The dual vectors as groups.
    duals: &'a [f64],
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
            if !self.reads_in_order() {
                fetch(columns);
            }
            match self.batch.cross {
                None => self.contract(columns, &turn, area),
                Some(_) if self.is_paired() => {
                    groups(self.problems, true).for_each(|group| self.contract_pairs(&group, columns, &turn, area));
                }
                Some(cross) => {
                    (0..self.problems).for_each(|problem| self.contract_twice(problem, cross, columns, &turn, area));
                }
            }
        }
    }

    /// Whether the contraction begins with one column after another, so that nothing is gained by fetching them.
    fn reads_in_order(&self) -> bool {
        self.is_paired() && self.problems < EIGHT
    }

    /// Whether cross terms of pairs are wanted.
    fn is_paired(&self) -> bool {
        self.batch.cross.is_some() && self.layout.heads.size() == 2
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
                    let (place, own) = (self.stripe_place(problem, start), self.stripe_rows(problem, &rows));
                    TwoSided {
                        block: block_entries,
                        stride: height,
                        rows_in: &self.batch.heads[problem * heads..][rows.clone()],
                        columns_in: &self.batch.tails[problem * tails..][columns.clone()],
                        rows: &mut area.heads[own],
                        columns: &mut area.tails[place..place + columns.len()],
                    }
                    .run();
                }
            }
        }
    }

    /// V, Z and C of pairs, for a group of problems.
    fn contract_pairs(&self, group: &Range<usize>, block: &[f64], place: &ColumnBlock, area: &mut StripeSums<'_>) {
        let Staircase { heads, tails, .. } = self.layout;
        let (n, many, cross) = (heads.samples(), group.len(), CrossPlace::of(self.stripe));
        let all = |length: usize| group.start * length..group.end * length;
        let part = |range: &Range<usize>, first: usize| (range.start - first) * many..(range.end - first) * many;
        let first = heads.get(place.rows.start);
        Pairs {
            block,
            tails: tails.range(place.tails.clone()),
            first: (first[0] as usize, first[1] as usize),
            alpha: &self.duals[all(padded(n))],
            rows: &mut area.heads[all(self.stripe.rows.len())][part(&place.rows, self.stripe.rows.start)],
            columns: &mut area.tails[all(self.stripe.tails.len())][part(&place.tails, self.stripe.tails.start)],
            cross: &mut area.cross[all(cross.length(n))],
            place: cross,
            y: &mut area.y[..COLUMNS * many * padded(n)],
        }
        .run(many);
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
        let rows = &mut area.heads[self.stripe_rows(problem, &block.rows)];
        let sums = &mut area.tails[place..place + block.tails.len()];
        let CrossPlace { first, width } = CrossPlace::of(self.stripe);
        let length = CrossPlace { first, width }.length(n);
        let matrix = &mut area.cross[problem * length..(problem + 1) * length];
        let head_slopes = &cross.heads[problem * heads.len() * half..];
        let y = &mut area.y[..n];
        for (at, (column, sum)) in columns.chunks(block.rows.len()).zip(sums).enumerate() {
            derivatives(heads, block.rows.start, column, head_slopes, columns_in[at], rows, y);
            *sum += dot(y, alpha) / half as f64;
            for (&b, slope) in tails.get(block.tails.start + at).iter().zip(&slopes[at * half..]) {
                let column = &mut matrix[(b as usize - first) * width..][..width];
                column.iter_mut().zip(&*y).for_each(|(sum, y)| *sum += slope * y);
            }
        }
    }

    /// Where V of some rows is in the stripe.
    fn stripe_rows(&self, problem: usize, rows: &Range<usize>) -> Range<usize> {
        let first = problem * self.stripe.rows.len();
        first + rows.start - self.stripe.rows.start..first + rows.end - self.stripe.rows.start
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
