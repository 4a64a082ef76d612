//! How the packed Gram tensor is laid out, and how a pass over it is divided.
//!
//! An entry `K(x_(i_1), ..., x_(i_q))`, `i_1 <= ... <= i_q`, is found by its head, the first half of its indices, and its
//! tail, the others. With heads as rows and tails as columns the tensor is a staircase: a tail whose smallest sample
//! is k meets the heads without a sample above k, which come first in the list of heads. Nothing is stored twice,
//! and there are `(n+q-1 choose q)` entries: `n(n+1)(n+2)(n+3)/24` for q = 4.
//!
//! The staircase is cut into tiles, each contiguous in memory, column after column; they are what a matrix product
//! fills and what a contraction reads. Tiles are gathered into stripes, each with accumulators of its own, that depend on
//! the number of samples alone.
//!
//! For predictions the last index is a new point: tails are shorter by one, and each stands for one column per point.

use std::ops::Range;

use super::multisets::{Multisets, count};

/// Most rows of a tile: two vectors of this length fit in the first-level cache.
pub(crate) const MAX_ROWS: usize = 1024;
/// Columns of a tile: enough for a matrix product at full speed.
pub(crate) const MAX_COLUMNS: usize = 256;
/// Columns of a product at the edge of the staircase: few, as what is above the edge is computed in vain, and enough for a matrix
/// product.
const EDGE_COLUMNS: usize = 48;
/// Most stripes. Each has accumulators of its own, so that more would take more memory.
pub(crate) const MAX_STRIPES: usize = 32;
/// Least entries of a stripe: enough to hide the start of a task.
const STRIPE_ENTRIES: usize = 1 << 16;

/// Rows, columns, tiles and stripes.
#[derive(Debug, Clone)]
pub(crate) struct Staircase {
    pub heads: Multisets,
    pub tails: Multisets,
    /// Columns for each tail.
    pub points: usize,
    /// Tiles, column group by column group.
    pub tiles: Vec<TensorTile>,
    pub stripes: Vec<Stripe>,
    /// The number of entries.
    pub entries: usize,
}

/// A rectangle of heads and tails, without what is above the staircase.
#[derive(Debug, Clone)]
pub(crate) struct TensorTile {
    pub rows: Range<usize>,
    pub tails: Range<usize>,
    /// Its place among all entries.
    pub entries: Range<usize>,
}

/// Consecutive tiles that share accumulators.
#[derive(Debug, Clone)]
pub(crate) struct Stripe {
    pub tiles: Range<usize>,
    /// The rows and the columns that it meets.
    pub rows: Range<usize>,
    pub tails: Range<usize>,
    /// The samples of its heads are below this one.
    pub heads_below: usize,
    /// The samples of its tails are this one or later ones.
    pub tails_from: usize,
    first_entry: usize,
}

/// A bound on the number of tiles, given that of the heads and tails. Nothing of this size is divided further by its rows
/// than between two samples.
pub(crate) fn most_tiles(half: u64) -> u64 {
    (half / MAX_COLUMNS as u64 + 1).saturating_mul(2 * (half / MAX_ROWS as u64) + 2)
}

/// Neighbouring columns of a tile with the same number of rows.
#[derive(Debug, Clone)]
pub(crate) struct ColumnBlock {
    pub rows: Range<usize>,
    pub tails: Range<usize>,
    /// Its place among the entries of the tile.
    pub entries: Range<usize>,
}

impl Staircase {
    /// A Gram tensor.
    pub(crate) fn gram(samples: usize, order: usize) -> Self {
        Self::new(Multisets::heads(samples, order / 2), Multisets::tails(samples, order / 2), 1)
    }

    /// The kernel at all samples but one, which is a new point.
    pub(crate) fn points(heads: Multisets, samples: usize, points: usize) -> Self {
        let tails = Multisets::tails(samples, heads.size() - 1);
        Self::new(heads, tails, points)
    }

    fn new(heads: Multisets, tails: Multisets, points: usize) -> Self {
        let mut layout = Self { heads, tails, points, tiles: Vec::new(), stripes: Vec::new(), entries: 0 };
        let cuts = layout.row_cuts();
        let group = (MAX_COLUMNS / points).max(1);
        for start in (0..layout.tails.len()).step_by(group) {
            let tails = start..(start + group).min(layout.tails.len());
            let last = layout.height(tails.end - 1);
            for cut in cuts.windows(2).take_while(|cut| cut[0] < last) {
                let rows = cut[0]..cut[1].min(last);
                let length = layout.blocks(&rows, &tails).map(|block| block.entries.len()).sum::<usize>();
                let entries = layout.entries..layout.entries + length;
                layout.entries = entries.end;
                // The tails at the front of the group may end below these rows.
                let tails = tails.clone().find(|&t| layout.height(t) > rows.start).unwrap_or(tails.end)..tails.end;
                layout.tiles.push(TensorTile { rows, tails, entries });
            }
        }
        layout.stripes = layout.stripes();
        layout
    }

    /// How many heads a tail meets: those without a sample above its smallest one.
    fn height(&self, tail: usize) -> usize {
        self.tails.get(tail).first().map_or(self.heads.len(), |&k| self.heads.below(k as usize + 1))
    }

    /// Rows are cut where the largest sample of the head changes, as far as that keeps tiles small.
    fn row_cuts(&self) -> Vec<usize> {
        let mut cuts = vec![0];
        let mut last = 0;
        let mut k = 0;
        while last < self.heads.len() {
            let (next, start) = (self.heads.below(k + 1), cuts[cuts.len() - 1]);
            if next - start > MAX_ROWS && last > start {
                cuts.push(last);
                continue;
            }
            while next - cuts[cuts.len() - 1] > MAX_ROWS {
                cuts.push(cuts[cuts.len() - 1] + MAX_ROWS);
            }
            last = next;
            k += 1;
        }
        cuts.push(last);
        cuts.dedup();
        cuts
    }

    /// Consecutive tiles with about equally many entries.
    fn stripes(&self) -> Vec<Stripe> {
        let wanted = self.entries.div_ceil(MAX_STRIPES).max(STRIPE_ENTRIES);
        let mut stripes: Vec<Stripe> = Vec::new();
        for (at, tile) in self.tiles.iter().enumerate() {
            // Stripes end at fixed shares of the entries.
            match stripes.last_mut() {
                Some(stripe) if tile.entries.start / wanted == stripe.first_entry / wanted => {
                    stripe.tiles.end = at + 1;
                    stripe.rows = stripe.rows.start.min(tile.rows.start)..stripe.rows.end.max(tile.rows.end);
                    stripe.tails = stripe.tails.start.min(tile.tails.start)..tile.tails.end;
                }
                _ => stripes.push(Stripe {
                    tiles: at..at + 1,
                    rows: tile.rows.clone(),
                    tails: tile.tails.clone(),
                    heads_below: 0,
                    tails_from: 0,
                    first_entry: tile.entries.start,
                }),
            }
        }
        for stripe in &mut stripes {
            // The last sample of a head is its largest one, and the first of a tail its smallest.
            stripe.heads_below = self.heads.get(stripe.rows.end - 1).last().map_or(0, |&i| i as usize + 1);
            stripe.tails_from = self.tails.get(stripe.tails.start).first().map_or(0, |&k| k as usize);
        }
        stripes
    }

    /// The columns of a rectangle, gathered where they have equally many rows. Empty columns are left out.
    pub(crate) fn blocks<'a>(
        &'a self,
        rows: &'a Range<usize>,
        tails: &Range<usize>,
    ) -> impl Iterator<Item = ColumnBlock> + 'a {
        let (mut tail, end, mut entry) = (tails.start, tails.end, 0);
        std::iter::from_fn(move || {
            while tail < end {
                let height = self.height(tail).min(rows.end);
                let first = tail;
                tail = if height == rows.end { end } else { self.next_height(tail).min(end) };
                if height > rows.start {
                    let length = (height - rows.start) * (tail - first) * self.points;
                    let entries = entry..entry + length;
                    entry = entries.end;
                    return Some(ColumnBlock { rows: rows.start..height, tails: first..tail, entries });
                }
            }
            None
        })
    }

    pub(crate) fn tile_blocks<'a>(&'a self, tile: &'a TensorTile) -> impl Iterator<Item = ColumnBlock> + 'a {
        self.blocks(&tile.rows, &tile.tails)
    }

    /// The tails of a tile in groups for one matrix product each, with the rows it needs.
    pub(crate) fn products<'a>(
        &'a self,
        tile: &'a TensorTile,
    ) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + 'a {
        let (mut tail, end) = (tile.tails.start, tile.tails.end);
        std::iter::from_fn(move || {
            let first = tail;
            while tail < end {
                tail = if self.height(tail) >= tile.rows.end { end } else { self.next_height(tail).min(end) };
                if tail == end || (tail - first) * self.points >= EDGE_COLUMNS {
                    return Some((tile.rows.start..self.height(tail - 1).min(tile.rows.end), first..tail));
                }
            }
            None
        })
    }

    /// The first tail after this one with a larger smallest sample.
    fn next_height(&self, tail: usize) -> usize {
        let Some(&k) = self.tails.get(tail).first() else { return self.tails.len() };
        // Tails without a sample up to k are the last ones.
        let samples = self.tails.samples() - 1 - k as usize;
        self.tails.len()
            - if samples == 0 { 0 } else { count(samples, self.tails.size()).expect("a part of the tails") }
    }

    /// The tiles, each with its own part of the entries.
    pub(crate) fn split<'a>(&'a self, entries: &'a mut [f64]) -> Vec<(&'a TensorTile, &'a mut [f64])> {
        let mut rest = entries;
        let own = |tile: &'a TensorTile| {
            let (own, left) = std::mem::take(&mut rest).split_at_mut(tile.entries.len());
            rest = left;
            (tile, own)
        };
        self.tiles.iter().map(own).collect()
    }

    /// The place of an entry among all, given the ranks of its head and its tail.
    pub(crate) fn place(&self, head: usize, tail: usize) -> usize {
        let group = (MAX_COLUMNS / self.points).max(1);
        let first = self.tiles.partition_point(|tile| tile.tails.end <= tail / group * group);
        let mut tiles = self.tiles[first..].iter();
        let tile = tiles.find(|tile| tile.rows.contains(&head)).expect("every entry has its tile");
        let mut blocks = self.tile_blocks(tile);
        let block = blocks.find(|block| block.tails.contains(&tail)).expect("every entry has its block");
        let column = tail - block.tails.start;
        tile.entries.start + block.entries.start + column * block.rows.len() + head - block.rows.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sorted_tuple_has_exactly_one_place() {
        for (samples, order) in [(1, 2), (7, 2), (40, 2), (1, 4), (5, 4), (13, 4), (1, 6), (6, 6), (4, 8)] {
            let layout = Staircase::gram(samples, order);
            assert_eq!(Some(layout.entries), count(samples, order));
            let mut places = Vec::new();
            for tail in 0..layout.tails.len() {
                for head in 0..layout.height(tail) {
                    let (head_set, tail_set) = (layout.heads.get(head), layout.tails.get(tail));
                    assert!([head_set, tail_set].concat().is_sorted());
                    places.push(layout.place(head, tail));
                }
            }
            places.sort_unstable();
            assert!(places.into_iter().eq(0..layout.entries), "{samples} {order}");
        }
    }

    #[test]
    fn stripes_tiles_and_products_cover_everything_in_order() {
        let layouts = [
            Staircase::gram(60, 4),
            Staircase::gram(20, 6),
            Staircase::gram(2000, 2),
            Staircase::points(Multisets::heads(30, 2), 30, 100),
            Staircase::points(Multisets::heads(50, 1), 50, 7),
        ];
        for layout in layouts {
            assert!((1..=MAX_STRIPES).contains(&layout.stripes.len()));
            let tiles: Vec<usize> = layout.stripes.iter().flat_map(|stripe| stripe.tiles.clone()).collect();
            assert!(tiles.into_iter().eq(0..layout.tiles.len()));
            for stripe in &layout.stripes {
                let mut tiles = layout.tiles[stripe.tiles.clone()].iter();
                assert!(tiles.all(|tile| tile.tails.start >= stripe.tails.start && tile.tails.end <= stripe.tails.end));
            }
            let mut end = 0;
            for tile in &layout.tiles {
                assert_eq!(tile.entries.start, end);
                end = tile.entries.end;
                assert!(tile.rows.len() <= MAX_ROWS && !tile.entries.is_empty());
                let blocks: Vec<ColumnBlock> = layout.tile_blocks(tile).collect();
                assert_eq!(blocks.iter().map(|block| block.entries.len()).sum::<usize>(), tile.entries.len());
                let products: Vec<_> = layout.products(tile).collect();
                assert!(products.iter().flat_map(|(_, tails)| tails.clone()).eq(tile.tails.clone()));
                for block in blocks {
                    let covers = |(rows, tails): &(Range<usize>, Range<usize>)| {
                        rows.end >= block.rows.end && tails.contains(&block.tails.start)
                    };
                    assert!(products.iter().any(covers));
                }
            }
            assert_eq!(end, layout.entries);
        }
    }
}
