//! The form of some of the samples, from the tensor of all.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Gram, INSTEAD, layout::Layout, products::ways};
use crate::{Error, Memory};

impl Gram<'_> {
    /// The form of some of the samples, in any order and also repeated: folds, subsamples, resamples. The entries
    /// of a stored tensor are copied, not recomputed.
    ///
    /// To leave samples out without a copy, give them weight 0 instead
    /// ([`DualProblem::with_sample_weights`](crate::DualProblem::with_sample_weights)); their `omega` is then their
    /// prediction.
    pub fn subset(&self, samples: &[usize], memory: Memory) -> Result<Gram<'static>, Error> {
        if self.entries.is_some() {
            memory.check("the Gram tensor", Self::bytes(samples.len(), self.order()), INSTEAD)?;
        }
        Self::check_pass(samples.len(), self.order(), memory)?;
        let matrix = self.matrix.select_samples(samples)?;
        let mut subset = Gram::unfilled(matrix, self.kernel.clone(), self.exponent, memory)?;
        if let Some(from) = &self.entries {
            let mut entries = memory.zeros("the Gram tensor", subset.layout.entries, INSTEAD)?;
            copy(&self.layout, from, samples, &subset.layout, &mut entries);
            subset.entries = Some(Arc::new(entries));
        }
        Ok(subset)
    }
}

/// Copies the entries of the given samples.
fn copy(from: &Layout, stored: &[f64], samples: &[usize], to: &Layout, entries: &mut [f64]) {
    let places = Places::new(from);
    let half = to.heads.size();
    to.split(entries).into_par_iter().for_each(|(tile, out)| {
        let mut indices = [0; MAX_ORDER];
        let indices = &mut indices[..2 * half];
        for block in to.tile_blocks(tile) {
            let columns = block.tails.zip(out[block.entries].chunks_mut(block.rows.len()));
            for (tail, column) in columns {
                for (head, entry) in block.rows.clone().zip(column) {
                    let both = to.heads.get(head).iter().chain(to.tails.get(tail));
                    indices.iter_mut().zip(both).for_each(|(index, &i)| *index = samples[i as usize]);
                    if !indices.is_sorted() {
                        indices.sort_unstable();
                    }
                    let (head_there, tail_there) = places.ranks(indices);
                    let value = stored[places.place(head_there, tail_there)] * ways(from, head_there, tail_there);
                    *entry = value / ways(to, head, tail);
                }
            }
        }
    });
}

/// Finds many entries: all that [`Layout::place`] and [`rank`](super::multisets::Multisets::rank) work out, in tables.
struct Places<'a> {
    layout: &'a Layout,
    head_terms: Vec<usize>,
    tail_terms: Vec<usize>,
    /// Where the rows of tiles begin.
    cuts: Vec<usize>,
    /// Where the column of a tail begins, one list of all tails for every cut.
    columns: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(layout: &'a Layout) -> Self {
        let mut cuts: Vec<usize> = layout.tiles.iter().map(|tile| tile.rows.start).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut columns = vec![0; cuts.len() * layout.tails.len()];
        for tile in &layout.tiles {
            let list = cuts.partition_point(|&cut| cut < tile.rows.start) * layout.tails.len();
            for block in layout.tile_blocks(tile) {
                let (first, height) = (tile.entries.start + block.entries.start, block.rows.len());
                let starts = columns[list + block.tails.start..list + block.tails.end].iter_mut().enumerate();
                starts.for_each(|(column, start)| *start = first + column * height);
            }
        }
        Self { head_terms: layout.heads.rank_terms(), tail_terms: layout.tails.rank_terms(), layout, cuts, columns }
    }

    /// The ranks of the head and of the tail of sorted indices.
    fn ranks(&self, indices: &[usize]) -> (usize, usize) {
        let Layout { heads, tails, .. } = self.layout;
        let n = heads.samples();
        let sum = |indices: &[usize], terms: &[usize]| indices.iter().zip(terms.chunks(n)).map(|(&i, t)| t[i]).sum();
        let (head, tail) = indices.split_at(heads.size());
        (heads.rank_of(sum(head, &self.head_terms)), tails.rank_of(sum(tail, &self.tail_terms)))
    }

    fn place(&self, head: usize, tail: usize) -> usize {
        let cut = self.cuts.partition_point(|&cut| cut <= head) - 1;
        self.columns[cut * self.layout.tails.len() + tail] + head - self.cuts[cut]
    }
}

/// The largest q.
const MAX_ORDER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_know_what_the_layout_works_out() {
        for (samples, order) in [(1, 2), (40, 2), (2500, 2), (1, 4), (13, 4), (60, 4), (6, 6), (16, 6), (11, 8)] {
            let layout = Layout::gram(samples, order);
            let places = Places::new(&layout);
            for tail in (0..layout.tails.len()).step_by(1 + layout.tails.len() / 50) {
                let k = layout.tails.get(tail)[0] as usize;
                for head in (0..layout.heads.below(k + 1)).step_by(1 + layout.heads.len() / 50) {
                    let both = layout.heads.get(head).iter().chain(layout.tails.get(tail));
                    let indices: Vec<usize> = both.map(|&i| i as usize).collect();
                    assert_eq!(places.ranks(&indices), (head, tail), "{samples} {order}");
                    assert_eq!(places.place(head, tail), layout.place(head, tail), "{samples} {order}");
                }
            }
        }
    }
}
