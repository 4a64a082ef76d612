//! Tiles of the Gram tensor from the data: sums over the inputs of products of samples, then the kernel entry by entry.

use std::ops::Range;

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{
    layout::{MAX_COLUMNS, MAX_ROWS, Staircase, TensorTile},
    multisets::binomial,
    symmetric,
};
use crate::{FeatureMatrix, kernel::TensorKernel};

/// Inputs in one product: the factors of a tile then fit in the second-level cache.
const INPUTS: usize = 256;

/// The most roundings of a sum over this many inputs.
pub(crate) fn additions(inputs: usize) -> usize {
    inputs.min(INPUTS) + inputs.div_ceil(INPUTS)
}

/// Fills tiles.
#[derive(Clone, Copy)]
pub(crate) struct TileFiller<'a> {
    pub layout: &'a Staircase,
    pub kernel: &'a dyn TensorKernel,
    /// The samples.
    pub x: &'a FeatureMatrix<'a>,
    /// `ln K(x_i, ..., x_i)/q` of the samples, for a normalised kernel.
    pub shifts: &'a [f64],
    /// The points that every tail is multiplied with, and their shifts.
    pub points: Option<(&'a FeatureMatrix<'a>, &'a [f64])>,
}

/// Working memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct FillBuffers {
    pub rows: Vec<f64>,
    pub columns: Vec<f64>,
    input: Vec<f64>,
    point_input: Vec<f64>,
    edge: Vec<f64>,
    sums: Vec<f64>,
    panels: Vec<f64>,
    pub shifts: Vec<f64>,
    head_shifts: Vec<f64>,
    /// Room for the entries of a tile that is not stored.
    pub tile: Vec<f64>,
}

/// Bytes into which a matrix product packs its factors, about.
const PACKED: u64 = 1 << 20;

/// Bytes of the [`FillBuffers`] of a thread and of the products that it forms, for this many heads and tails.
pub(crate) fn thread_bytes(half: u64, inputs: usize, kernel: &dyn TensorKernel) -> u64 {
    let (rows, columns) = (half.min(MAX_ROWS as u64), half.min(MAX_COLUMNS as u64));
    let (sums, inputs) = (kernel.symmetric() as u64, inputs.min(INPUTS) as u64);
    // The tile, its shifts, the sums at the edge and, where there are several, those of the whole tile.
    let tiles = 1 + u64::from(kernel.normalized()) + sums + if sums > 1 { sums } else { 0 };
    let panels = if sums > 1 { columns * inputs } else { 0 };
    8 * (tiles * rows * columns + (rows + columns) * inputs + panels) + PACKED
}

/// The first `length` numbers of a buffer that only grows.
pub(crate) fn room(buffer: &mut Vec<f64>, length: usize) -> &mut [f64] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl TileFiller<'_> {
    /// The entries of a tile, each divided by the number of ways in which its tied samples can be split between head
    /// and tail: `sum_(H, T) W_H W_T entry_HT = (1/q!) sum_(i_1, ..., i_q) K alpha_(i_1) ... alpha_(i_q)`.
    pub(crate) fn fill(&self, tile: &TensorTile, out: &mut [f64], work: &mut FillBuffers) {
        let (orders, length) = (self.kernel.symmetric(), tile.entries.len());
        if orders == 1 {
            self.sums(1, &[], tile, out, work);
            self.apply_kernel(tile, out, work);
        } else {
            let mut sums = std::mem::take(&mut work.sums);
            let own = room(&mut sums, orders * length);
            self.sums(orders, &[], tile, own, work);
            self.apply_kernel(tile, own, work);
            out.copy_from_slice(&own[..length]);
            work.sums = sums;
        }
        self.divide_ties(tile, out);
    }

    /// `e_1, ..., e_orders` of every entry, one after another, without some of the inputs.
    pub(crate) fn sums(
        &self,
        orders: usize,
        without: &[usize],
        tile: &TensorTile,
        out: &mut [f64],
        work: &mut FillBuffers,
    ) {
        let length = tile.entries.len();
        for (rows, tails) in self.layout.products(tile) {
            let area = rows.len() * tails.len() * self.layout.points;
            // A product that is not the whole tile may have as many entries as the tile.
            if tails == tile.tails && area == length {
                self.sums_of_rectangle(orders, without, &rows, &tails, out, work);
            } else {
                let mut edge = std::mem::take(&mut work.edge);
                let sums = room(&mut edge, orders * area);
                self.sums_of_rectangle(orders, without, &rows, &tails, sums, work);
                for (sums, out) in sums.chunks(area).zip(out.chunks_mut(length)) {
                    self.pack(tile, &rows, &tails, sums, out);
                }
                work.edge = edge;
            }
        }
    }

    /// The same for a rectangle: a sum of matrix products over groups of inputs, or products of one variable after another.
    fn sums_of_rectangle(
        &self,
        orders: usize,
        without: &[usize],
        rows: &Range<usize>,
        tails: &Range<usize>,
        out: &mut [f64],
        work: &mut FillBuffers,
    ) {
        let (height, width) = (rows.len(), tails.len() * self.layout.points);
        if orders > 1 {
            out.fill(0.0);
        }
        for start in (0..self.x.features()).step_by(INPUTS) {
            let inputs = start..(start + INPUTS).min(self.x.features());
            self.form_rows(rows, &inputs, work);
            self.form_columns(tails, &inputs, work);
            for &j in without.iter().filter(|j| inputs.contains(j)) {
                work.rows[(j - start) * height..][..height].fill(0.0);
            }
            if orders > 1 {
                let (rows, columns) = (&work.rows[..height * inputs.len()], &work.columns[..width * inputs.len()]);
                symmetric::add(orders, (rows, height), (columns, width), out, &mut work.panels);
                continue;
            }
            let left = MatRef::from_column_major_slice(&work.rows[..height * inputs.len()], height, inputs.len());
            let right = MatRef::from_column_major_slice(&work.columns[..width * inputs.len()], width, inputs.len());
            let accum = if start == 0 { Accum::Replace } else { Accum::Add };
            let out = MatMut::from_column_major_slice_mut(out, height, width);
            matmul(out, accum, left, right.transpose(), 1.0, Par::Seq);
        }
    }

    /// Copies what is below the edge of the staircase.
    fn pack(&self, tile: &TensorTile, rows: &Range<usize>, tails: &Range<usize>, product: &[f64], out: &mut [f64]) {
        for block in self.layout.tile_blocks(tile).filter(|block| tails.contains(&block.tails.start)) {
            let (height, first) = (block.rows.len(), (block.tails.start - tails.start) * self.layout.points);
            let columns = product.chunks(rows.len()).skip(first);
            for (out, column) in out[block.entries].chunks_mut(height).zip(columns) {
                out.copy_from_slice(&column[..height]);
            }
        }
    }

    /// `prod_(i in H) x_ij`, heads by inputs.
    pub(crate) fn form_rows(&self, rows: &Range<usize>, inputs: &Range<usize>, work: &mut FillBuffers) {
        let input = room(&mut work.input, self.x.samples());
        let out = room(&mut work.rows, rows.len() * inputs.len());
        for (j, out) in inputs.clone().zip(out.chunks_mut(rows.len())) {
            self.x.column_into(j, input);
            self.layout.heads.products(rows.clone(), input, out);
        }
    }

    /// `prod_(i in T) x_ij`, times the points if there are any: columns by inputs.
    pub(crate) fn form_columns(&self, tails: &Range<usize>, inputs: &Range<usize>, work: &mut FillBuffers) {
        let points = self.layout.points;
        let input = room(&mut work.input, self.x.samples());
        let out = room(&mut work.columns, tails.len() * points * inputs.len());
        for (j, out) in inputs.clone().zip(out.chunks_mut(tails.len() * points)) {
            self.x.column_into(j, input);
            let Some((new, _)) = self.points else {
                self.layout.tails.products(tails.clone(), input, out);
                continue;
            };
            let point = room(&mut work.point_input, points);
            new.column_into(j, point);
            for (tail, out) in tails.clone().zip(out.chunks_mut(points)) {
                let mut factor = [0.0];
                self.layout.tails.products(tail..tail + 1, input, &mut factor);
                out.iter_mut().zip(&*point).for_each(|(out, point)| *out = factor[0] * point);
            }
        }
    }

    fn apply_kernel(&self, tile: &TensorTile, sums: &mut [f64], work: &mut FillBuffers) {
        let length = tile.entries.len();
        if !self.kernel.normalized() {
            self.kernel.apply(sums, length);
            return;
        }
        self.form_shifts(tile, work);
        self.kernel.apply_shifted(sums, &work.shifts[..length]);
    }

    /// `ln K(x_i, ..., x_i)/q` summed over the samples of every entry, for a normalised kernel.
    pub(crate) fn form_shifts(&self, tile: &TensorTile, work: &mut FillBuffers) {
        let length = tile.entries.len();
        let shifts = room(&mut work.shifts, length);
        let heads = room(&mut work.head_shifts, tile.rows.len());
        let own = tile.rows.clone().map(|head| self.layout.heads.sum(head, self.shifts));
        heads.iter_mut().zip(own).for_each(|(shift, own)| *shift = own);
        for block in self.layout.tile_blocks(tile) {
            let columns = shifts[block.entries.clone()].chunks_mut(block.rows.len());
            let points = block.tails.flat_map(|tail| (0..self.layout.points).map(move |point| (tail, point)));
            for (column, (tail, point)) in columns.zip(points) {
                let new = self.points.map_or(0.0, |(_, shifts)| shifts[point]);
                let own = self.layout.tails.sum(tail, self.shifts) + new;
                column.iter_mut().zip(&*heads).for_each(|(shift, head)| *shift = own + head);
            }
        }
    }

    pub(crate) fn divide_ties(&self, tile: &TensorTile, out: &mut [f64]) {
        let Staircase { heads, tails, points, .. } = self.layout;
        for block in self.layout.tile_blocks(tile) {
            let height = block.rows.len();
            for (tail, columns) in block.tails.zip(out[block.entries].chunks_mut(height * points)) {
                let Some(&k) = tails.get(tail).first() else { continue };
                // The heads that hold k are the last ones below the staircase.
                for head in heads.below(k as usize).max(block.rows.start)..block.rows.end {
                    let (ways, row) = (ways(self.layout, head, tail), head - block.rows.start);
                    columns.chunks_mut(height).for_each(|column| column[row] /= ways);
                }
            }
        }
    }
}

/// The number of ways in which the samples that head and tail share can be split between them.
pub(crate) fn ways(layout: &Staircase, head: usize, tail: usize) -> f64 {
    let Some(&k) = layout.tails.get(tail).first() else { return 1.0 };
    // A head that k belongs to ends with it.
    if layout.heads.get(head).last() != Some(&k) {
        return 1.0;
    }
    let in_head = layout.heads.multiplicity(head, k as usize);
    let in_both = in_head + layout.tails.multiplicity(tail, k as usize);
    binomial(in_both, in_head).expect("at most (8 choose 4)") as f64
}
