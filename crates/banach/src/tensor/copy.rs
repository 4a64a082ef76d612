//! The entries of some of the samples, from those of all.

use rayon::prelude::*;

use super::{layout::Staircase, products::ways};

/// The largest order q of a tensor.
const LARGEST_ORDER: usize = 8;

/// Copies the entries of the given samples, in any order and also repeated, to a tensor of their own.
pub(crate) fn copy(from: &Staircase, stored: &[f64], samples: &[usize], to: &Staircase, entries: &mut [f64]) {
    let places = Places::new(from);
    if samples.windows(2).all(|pair| pair[0] < pair[1]) {
        copy_in_order(&places, stored, samples, to, entries);
    } else {
        copy_in_any_order(&places, stored, samples, to, entries);
    }
}

/// Samples in increasing order: heads stay heads, tails stay tails, and ties stay ties.
fn copy_in_order(places: &Places<'_>, stored: &[f64], samples: &[usize], to: &Staircase, entries: &mut [f64]) {
    let there = |set: &[u32]| set.iter().map(|&i| samples[i as usize]).collect::<Vec<_>>();
    let heads: Vec<_> = (0..to.heads.len()).map(|at| places.row(places.head(&there(to.heads.get(at))))).collect();
    let tails: Vec<_> = (0..to.tails.len()).map(|at| places.tail(&there(to.tails.get(at)))).collect();
    to.split(entries).into_par_iter().for_each(|(tile, out)| {
        for block in to.tile_blocks(tile) {
            for (tail, column) in block.tails.zip(out[block.entries].chunks_mut(block.rows.len())) {
                let rows = column.iter_mut().zip(&heads[block.rows.clone()]);
                rows.for_each(|(entry, &(cut, row))| *entry = stored[places.column(cut, tails[tail]) + row]);
            }
        }
    });
}

fn copy_in_any_order(places: &Places<'_>, stored: &[f64], samples: &[usize], to: &Staircase, entries: &mut [f64]) {
    let half = to.heads.size();
    to.split(entries).into_par_iter().for_each(|(tile, out)| {
        let mut indices = [0; LARGEST_ORDER];
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
                    let (head_there, tail_there) = (places.head(&indices[..half]), places.tail(&indices[half..]));
                    let value = stored[places.place(head_there, tail_there)];
                    *entry = value * ways(places.layout, head_there, tail_there) / ways(to, head, tail);
                }
            }
        }
    });
}

/// Finds many entries, by tables of what [`Staircase::place`] and [`rank`](super::multisets::Multisets::rank) work out.
struct Places<'a> {
    layout: &'a Staircase,
    head_terms: Vec<usize>,
    tail_terms: Vec<usize>,
    /// Where the rows of tiles begin.
    cuts: Vec<usize>,
    /// Where the column of a tail begins, one list of all tails for every cut.
    columns: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(layout: &'a Staircase) -> Self {
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

    /// The rank of a sorted head.
    fn head(&self, indices: &[usize]) -> usize {
        self.layout.heads.rank_of(self.sum(indices, &self.head_terms))
    }

    /// The rank of a sorted tail.
    fn tail(&self, indices: &[usize]) -> usize {
        self.layout.tails.rank_of(self.sum(indices, &self.tail_terms))
    }

    fn sum(&self, indices: &[usize], terms: &[usize]) -> usize {
        indices.iter().zip(terms.chunks(self.layout.heads.samples())).map(|(&i, terms)| terms[i]).sum()
    }

    /// The cut to which a head belongs, and its place there.
    fn row(&self, head: usize) -> (usize, usize) {
        let cut = self.cuts.partition_point(|&cut| cut <= head) - 1;
        (cut, head - self.cuts[cut])
    }

    /// Where the column of a tail begins below a cut.
    fn column(&self, cut: usize, tail: usize) -> usize {
        self.columns[cut * self.layout.tails.len() + tail]
    }

    fn place(&self, head: usize, tail: usize) -> usize {
        let (cut, row) = self.row(head);
        self.column(cut, tail) + row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_know_what_the_layout_works_out() {
        for (samples, order) in [(1, 2), (40, 2), (2500, 2), (1, 4), (13, 4), (60, 4), (6, 6), (16, 6), (11, 8)] {
            let layout = Staircase::gram(samples, order);
            let places = Places::new(&layout);
            for tail in (0..layout.tails.len()).step_by(1 + layout.tails.len() / 50) {
                let k = layout.tails.get(tail)[0] as usize;
                for head in (0..layout.heads.below(k + 1)).step_by(1 + layout.heads.len() / 50) {
                    let both = layout.heads.get(head).iter().chain(layout.tails.get(tail));
                    let indices: Vec<usize> = both.map(|&i| i as usize).collect();
                    let (first, last) = indices.split_at(order / 2);
                    assert_eq!((places.head(first), places.tail(last)), (head, tail), "{samples} {order}");
                    assert_eq!(places.place(head, tail), layout.place(head, tail), "{samples} {order}");
                }
            }
        }
    }
}
