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

use rayon::prelude::*;

use super::{
    contract::{PairDerivatives, TwoSided, derivatives},
    layout::{Block, Layout, Stripe},
    multisets::Multisets,
    products::{Products, Work},
};

/// Columns contracted with one dual vector before the next one takes its turn: they stay in cache.
const COLUMNS_IN_TURN: usize = 16;
/// Numbers that one task adds up.
const PIECE: usize = 1 << 12;

/// The batch of a pass.
pub(super) struct Batch<'a> {
    /// `W` of the heads, one list after another.
    pub heads: &'a [f64],
    /// `W` of the tails.
    pub tails: &'a [f64],
    /// The dual vectors, where cross terms are wanted.
    pub cross: Option<Cross<'a>>,
}

/// What the cross terms need.
#[derive(Clone, Copy)]
pub(super) struct Cross<'a> {
    /// The dual vectors.
    pub alphas: &'a [f64],
    /// `dW/dalpha` at the place of every index, for the heads (empty for pairs) and for the tails.
    pub heads: &'a [f64],
    pub tails: &'a [f64],
}

/// What a pass finds: V, Z and, if asked for, C, problem after problem.
pub(super) struct Sums<'a> {
    pub heads: &'a [f64],
    pub tails: &'a [f64],
    /// `C_ab` at `b n + a`.
    pub cross: &'a [f64],
}

/// The sizes of the parts of the memory of a pass.
struct Sizes {
    /// V of the batch.
    heads: usize,
    /// C of the batch.
    cross: usize,
    /// Z of the batch in one stripe.
    stripe_tails: usize,
    /// y for four columns.
    y: usize,
}

impl Sizes {
    fn new(layout: &Layout, problems: usize, cross: bool) -> Self {
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
pub(super) fn memory(layout: &Layout, problems: usize, cross: bool) -> usize {
    let sizes = Sizes::new(layout, problems, cross);
    sizes.stripe() * layout.stripes.len() + sizes.heads + sizes.cross + problems * layout.tails.len()
}

/// Runs the pass over the stored entries or, without them, over tiles filled one by one.
pub(super) fn run<'a>(
    products: &Products<'_>,
    stored: Option<&[f64]>,
    batch: &Batch<'_>,
    memory: &'a mut [f64],
) -> Sums<'a> {
    let layout = products.layout;
    let problems = batch.heads.len() / layout.heads.len();
    let sizes = Sizes::new(layout, problems, batch.cross.is_some());
    let (areas, totals) = memory.split_at_mut(sizes.stripe() * layout.stripes.len());
    areas.par_chunks_mut(sizes.stripe()).zip(&layout.stripes).for_each_init(Work::default, |work, (area, stripe)| {
        let pass = StripePass { layout, stripe, batch, problems };
        pass.run(products, stored, Area::split(area, &sizes), work);
    });
    combine(layout, &sizes, problems, areas, totals)
}

/// Adds up the stripes in their order.
fn combine<'a>(layout: &Layout, sizes: &Sizes, problems: usize, areas: &[f64], totals: &'a mut [f64]) -> Sums<'a> {
    let summed = sizes.heads + sizes.cross;
    let (sums, tails) = totals.split_at_mut(summed);
    sums.par_chunks_mut(PIECE).enumerate().for_each(|(piece, sums)| {
        let place = piece * PIECE..piece * PIECE + sums.len();
        sums.fill(0.0);
        for area in areas.chunks(sizes.stripe()) {
            sums.iter_mut().zip(&area[place.clone()]).for_each(|(sum, part)| *sum += part);
        }
    });
    for (area, stripe) in areas.chunks(sizes.stripe()).zip(&layout.stripes) {
        let parts = area[summed..].chunks(stripe.tails.len());
        for (tails, part) in tails.chunks_mut(layout.tails.len()).zip(parts) {
            tails[stripe.tails.clone()].copy_from_slice(part);
        }
    }
    let (heads, cross) = sums.split_at(sizes.heads);
    Sums { heads, cross, tails: &tails[..problems * layout.tails.len()] }
}

/// The accumulators of a stripe.
struct Area<'a> {
    heads: &'a mut [f64],
    cross: &'a mut [f64],
    tails: &'a mut [f64],
    y: &'a mut [f64],
}

impl<'a> Area<'a> {
    fn split(area: &'a mut [f64], sizes: &Sizes) -> Self {
        area.fill(0.0);
        let (heads, rest) = area.split_at_mut(sizes.heads);
        let (cross, rest) = rest.split_at_mut(sizes.cross);
        let (tails, y) = rest.split_at_mut(sizes.stripe_tails);
        Self { heads, cross, tails, y }
    }
}

struct StripePass<'a> {
    layout: &'a Layout,
    stripe: &'a Stripe,
    batch: &'a Batch<'a>,
    problems: usize,
}

impl StripePass<'_> {
    fn run(&self, products: &Products<'_>, stored: Option<&[f64]>, mut area: Area<'_>, work: &mut Work) {
        let mut buffer = std::mem::take(&mut work.tile);
        for tile in &self.layout.tiles[self.stripe.tiles.clone()] {
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
    fn contract_block(&self, entries: &[f64], block: &Block, area: &mut Area<'_>) {
        let height = block.rows.len();
        for start in block.tails.clone().step_by(COLUMNS_IN_TURN) {
            let tails = start..(start + COLUMNS_IN_TURN).min(block.tails.end);
            let first = (start - block.tails.start) * height;
            let columns = &entries[first..first + tails.len() * height];
            for problem in 0..self.problems {
                let turn = Block { rows: block.rows.clone(), tails: tails.clone(), entries: 0..columns.len() };
                match self.batch.cross {
                    None => self.contract(problem, columns, &turn, area),
                    Some(cross) => self.contract_twice(problem, cross, columns, &turn, area),
                }
            }
        }
    }

    /// V and Z.
    fn contract(&self, problem: usize, columns: &[f64], block: &Block, area: &mut Area<'_>) {
        let (heads, tails) = (self.layout.heads.len(), self.layout.tails.len());
        let place = self.stripe_place(problem, block);
        TwoSided {
            block: columns,
            rows_in: &self.batch.heads[problem * heads..][block.rows.clone()],
            columns_in: &self.batch.tails[problem * tails..][block.tails.clone()],
            rows: &mut area.heads[problem * heads..][block.rows.clone()],
            columns: &mut area.tails[place..place + block.tails.len()],
        }
        .run();
    }

    /// V, Z and C. With `y_a = sum_H dW_H/da B_HT` of a tail, its `Z` is `<alpha, y>/h` (Euler).
    fn contract_twice(&self, problem: usize, cross: Cross<'_>, columns: &[f64], block: &Block, area: &mut Area<'_>) {
        let Layout { heads, tails, .. } = self.layout;
        let (n, height) = (heads.samples(), block.rows.len());
        let alpha = &cross.alphas[problem * n..(problem + 1) * n];
        let sums = &mut area.cross[problem * n * n..(problem + 1) * n * n];
        for start in block.tails.clone().step_by(4) {
            let quad = start..(start + 4).min(block.tails.end);
            let first = (start - block.tails.start) * height;
            let columns = &columns[first..first + quad.len() * height];
            let y = &mut area.y[..quad.len() * n];
            y.fill(0.0);
            let columns_in = &self.batch.tails[problem * tails.len()..][quad.clone()];
            let rows = &mut area.heads[problem * heads.len()..][block.rows.clone()];
            if let [i, j] = *heads.get(block.rows.start) {
                let first = (i as usize, j as usize);
                PairDerivatives { block: columns, first, alpha, columns_in, rows, y }.run();
            } else {
                let slopes = &cross.heads[problem * heads.len() * heads.size()..];
                for ((column, weight), y) in columns.chunks(height).zip(columns_in).zip(y.chunks_mut(n)) {
                    derivatives(heads, block.rows.start, column, slopes, *weight, rows, y);
                }
            }
            let slopes = &cross.tails[problem * tails.len() * tails.size()..];
            // No head below the end of the rows has a larger sample than the last one.
            let top = heads.get(block.rows.end - 1).last().map_or(0, |&j| j as usize + 1);
            let place = self.stripe_place(problem, block) + start - block.tails.start;
            for ((tail, y), z) in quad.zip(y.chunks(n)).zip(&mut area.tails[place..]) {
                let y = &y[..top];
                *z += y.iter().zip(alpha).map(|(y, alpha)| y * alpha).sum::<f64>() / heads.size() as f64;
                add_cross(tails, tail, slopes, y, sums, n);
            }
        }
    }

    /// Where the Z of a block begins in the stripe.
    fn stripe_place(&self, problem: usize, block: &Block) -> usize {
        problem * self.stripe.tails.len() + block.tails.start - self.stripe.tails.start
    }
}

/// `C_ab += y_a dW_T/db` for the samples b of a tail.
fn add_cross(tails: &Multisets, tail: usize, slopes: &[f64], y: &[f64], sums: &mut [f64], n: usize) {
    let size = tails.size();
    for (&b, &slope) in tails.get(tail).iter().zip(&slopes[tail * size..(tail + 1) * size]) {
        if slope != 0.0 {
            let column = &mut sums[b as usize * n..][..y.len()];
            column.iter_mut().zip(y).for_each(|(sum, y)| *sum += slope * y);
        }
    }
}
