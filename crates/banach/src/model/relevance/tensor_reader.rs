//! One read of the tensor: the sums of its entries that belong to variables, pairs of variables and degrees.

use std::{
    mem::take,
    ops::{Range, RangeInclusive},
};

use rayon::prelude::*;

use super::from_tensor::{DegreeTerm, ShareSums, SharesWanted};
use crate::{
    kernel::{TensorKernel, involving},
    numeric::{dot_in_lanes, sum_in_lanes},
    tensor::{FillBuffers, Staircase, Stripe, Tensor, TensorTile, TileFiller},
    workers::checkpoint,
};

/// Entries that are handled together: their sums and products, a few lists of 32 KB, stay in the second-level cache.
pub(super) const CHUNK: usize = 4096;
/// Variables whose products are formed together: the sums of a tile are then read once for all of them.
pub(super) const VARIABLES: usize = 64;

/// Reads the tensor once, in stripes that depend on the number of samples alone.
pub(super) fn read(tensor: &Tensor<'_>, alpha: &[f64], asked: &SharesWanted<'_>) -> ShareSums {
    let Staircase { heads, tails, stripes, .. } = &tensor.layout;
    let (mut of_heads, mut of_tails) = (vec![0.0; heads.len()], vec![0.0; tails.len()]);
    heads.weights(alpha, &mut of_heads);
    tails.weights(alpha, &mut of_tails);
    let reader = Reader { products: tensor.products(), heads: &of_heads, tails: &of_tails, asked };
    let read_stripe = |work: &mut (FillBuffers, Buffers), stripe: &Stripe| {
        let mut part = ShareSums::new(asked);
        for tile in &tensor.layout.tiles[stripe.tiles.clone()] {
            checkpoint();
            reader.read_tile(tile, &mut part, &mut work.0, &mut work.1);
        }
        part
    };
    let parts: Vec<ShareSums> = stripes.par_iter().map_init(Default::default, read_stripe).collect();
    let mut whole = ShareSums::new(asked);
    parts.iter().for_each(|part| whole.add(part));
    whole
}

struct Reader<'a> {
    products: TileFiller<'a>,
    /// `W` of the heads and tails.
    heads: &'a [f64],
    tails: &'a [f64],
    asked: &'a SharesWanted<'a>,
}

/// Working memory of one thread.
#[derive(Default)]
struct Buffers {
    /// Of a tile: the sums that the kernel is a function of, the same sums without the variables that are read, and the weight of
    /// every entry in the contraction.
    sums: Vec<f64>,
    others: Vec<f64>,
    weights: Vec<f64>,
    /// Of a tile and some variables: `prod_(i in H) x_ij` and `prod_(i in T) x_ij`, variable after variable.
    rows: Vec<f64>,
    columns: Vec<f64>,
    /// Of a chunk.
    own_sums: Vec<f64>,
    own_others: Vec<f64>,
    values: Vec<f64>,
    z: Vec<f64>,
    involving: Vec<f64>,
    rest: Vec<f64>,
}

/// Some columns of a block: their entries within the tile, the number of rows, and the tails.
struct Chunk {
    entries: Range<usize>,
    height: usize,
    tails: Range<usize>,
}

impl Reader<'_> {
    fn read_tile(&self, tile: &TensorTile, part: &mut ShareSums, work: &mut FillBuffers, buffers: &mut Buffers) {
        let (kernel, length) = (self.products.kernel, tile.entries.len());
        let orders = kernel.symmetric();
        buffers.sums.resize(orders * length, 0.0);
        self.products.sums(orders, &[], tile, &mut buffers.sums, work);
        self.form_weights(tile, &mut buffers.weights);
        let mut shifts = Vec::new();
        if kernel.normalized() {
            self.products.form_shifts(tile, work);
            shifts = take(&mut work.shifts);
        }
        let shifts = |chunk: &Chunk| kernel.normalized().then(|| &shifts[chunk.entries.clone()]);
        for (at, variables) in self.asked.variables.chunks(self.together()).enumerate() {
            self.form_products(tile, variables, work, buffers);
            if orders > 1 {
                buffers.others.resize(orders * length, 0.0);
                self.products.sums(orders, variables, tile, &mut buffers.others, work);
            }
            for chunk in self.chunks(tile) {
                self.read_chunk(tile, &chunk, at == 0, shifts(&chunk), variables, at * VARIABLES, part, buffers);
            }
        }
    }

    /// Variables that are read together: all of them, where pairs are wanted.
    fn together(&self) -> usize {
        if self.asked.pairs { self.asked.variables.len().max(1) } else { VARIABLES }
    }

    fn form_weights(&self, tile: &TensorTile, weights: &mut Vec<f64>) {
        weights.resize(tile.entries.len(), 0.0);
        for block in self.products.layout.tile_blocks(tile) {
            let heads = &self.heads[block.rows.clone()];
            for (tail, column) in block.tails.zip(weights[block.entries].chunks_mut(heads.len())) {
                column.iter_mut().zip(heads).for_each(|(weight, head)| *weight = head * self.tails[tail]);
            }
        }
        self.products.divide_ties(tile, weights);
    }

    fn form_products(&self, tile: &TensorTile, variables: &[usize], work: &mut FillBuffers, buffers: &mut Buffers) {
        let (height, width) = (tile.rows.len(), tile.tails.len());
        buffers.rows.clear();
        buffers.columns.clear();
        for &j in variables {
            self.products.form_rows(&tile.rows, &(j..j + 1), work);
            self.products.form_columns(&tile.tails, &(j..j + 1), work);
            buffers.rows.extend_from_slice(&work.rows[..height]);
            buffers.columns.extend_from_slice(&work.columns[..width]);
        }
    }

    fn chunks(&self, tile: &TensorTile) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for block in self.products.layout.tile_blocks(tile) {
            let height = block.rows.len();
            let step = (CHUNK / height).max(1);
            for start in block.tails.clone().step_by(step) {
                let tails = start..(start + step).min(block.tails.end);
                let first = block.entries.start + (start - block.tails.start) * height;
                chunks.push(Chunk { entries: first..first + tails.len() * height, height, tails });
            }
        }
        chunks
    }

    #[expect(clippy::too_many_arguments, reason = "a chunk of a tile with all that belongs to it")]
    fn read_chunk(
        &self,
        tile: &TensorTile,
        chunk: &Chunk,
        first: bool,
        shifts: Option<&[f64]>,
        variables: &[usize],
        place: usize,
        part: &mut ShareSums,
        buffers: &mut Buffers,
    ) {
        let kernel = self.products.kernel;
        let (length, count) = (tile.entries.len(), chunk.entries.len());
        let Buffers { sums, others, weights, rows, columns, own_sums, own_others, values, z, involving, rest } =
            buffers;
        let weights = &weights[chunk.entries.clone()];
        let own = |of_tile: &[f64], own: &mut Vec<f64>| {
            own.clear();
            of_tile.chunks(length).for_each(|sums| own.extend_from_slice(&sums[chunk.entries.clone()]));
        };
        own(sums, own_sums);
        apply(kernel, own_sums, shifts, count, values);
        if first {
            part.total += dot_in_lanes(weights, values);
            self.read_degrees(own_sums, weights, shifts, &mut part.degrees);
        }
        z.resize(variables.len() * count, 0.0);
        involving.resize(variables.len() * count, 0.0);
        for (at, (z, involving)) in z.chunks_mut(count).zip(involving.chunks_mut(count)).enumerate() {
            let rows = &rows[at * tile.rows.len()..][..chunk.height];
            let columns = &columns[at * tile.tails.len()..][chunk.tails.start - tile.tails.start..];
            for (z, column) in z.chunks_mut(chunk.height).zip(columns) {
                z.iter_mut().zip(rows).for_each(|(z, row)| *z = row * column);
            }
            if kernel.symmetric() == 1 {
                kernel.apply_involving(own_sums, values, z, shifts, involving);
            }
        }
        if kernel.symmetric() > 1 {
            own(others, own_others);
            interactions(self.degrees(), own_others, z, shifts, count, involving);
        }
        for (share, involving) in part.variables[place..].iter_mut().zip(involving.chunks(count)) {
            *share += dot_in_lanes(weights, involving);
        }
        match (self.asked.pairs, kernel.symmetric() > 1) {
            (false, _) => {}
            (true, false) => read_pairs(kernel, weights, shifts, part, own_sums, z, involving, [values, rest]),
            (true, true) => read_pairs_of_interactions(self.degrees(), weights, shifts, part, own_others, z, involving),
        }
    }

    /// The degrees of a kernel of interactions.
    fn degrees(&self) -> RangeInclusive<usize> {
        let (lowest, highest) = self.products.kernel.degrees();
        lowest..=highest.unwrap_or(lowest)
    }

    /// The sum of every degree.
    fn read_degrees(&self, sums: &[f64], weights: &[f64], shifts: Option<&[f64]>, out: &mut [f64]) {
        let count = weights.len();
        let scale = self.products.kernel.scale().unwrap_or(1.0);
        let mut terms: Vec<f64> = match shifts {
            Some(shifts) => weights.iter().zip(shifts).map(|(weight, shift)| weight * (-shift).exp()).collect(),
            None => weights.to_vec(),
        };
        let mut before = DegreeTerm { degree: 0, a: 1.0, interactions: None };
        let mut values = Vec::new();
        for (term, out) in self.asked.degrees.iter().zip(out) {
            if let Some(interactions) = &term.interactions {
                apply(interactions, sums, shifts, count, &mut values);
                *out += term.a * dot_in_lanes(weights, &values);
                continue;
            }
            // From one power to the next, so that neither the power nor its coefficient leaves the range.
            let ratio = term.a / before.a;
            let steps = term.degree - before.degree;
            if steps == 0 {
                terms.iter_mut().for_each(|term| *term *= ratio);
            }
            for step in 0..steps {
                let factor = if step == 0 { ratio * scale } else { scale };
                terms.iter_mut().zip(sums).for_each(|(term, p_1)| *term *= factor * p_1);
            }
            *out += sum_in_lanes(&terms);
            before = DegreeTerm { degree: term.degree, a: term.a, interactions: None };
        }
    }
}

/// The part of K on monomials with both of two variables: that on monomials with the second, less that on monomials with the second
/// and without the first.
#[expect(clippy::too_many_arguments, reason = "a chunk of a tile with all that belongs to it")]
fn read_pairs(
    kernel: &dyn TensorKernel,
    weights: &[f64],
    shifts: Option<&[f64]>,
    part: &mut ShareSums,
    sums: &[f64],
    z: &[f64],
    involving: &[f64],
    [values, rest]: [&mut Vec<f64>; 2],
) {
    let count = weights.len();
    let variables = z.len() / count;
    for a in 0..variables {
        let z_a = &z[a * count..(a + 1) * count];
        let without: Vec<f64> = sums.iter().zip(z_a).map(|(sum, z)| sum - z).collect();
        apply(kernel, &without, shifts, count, values);
        rest.resize(count, 0.0);
        part.pairs[a * variables + a] += dot_in_lanes(weights, &involving[a * count..(a + 1) * count]);
        for b in a + 1..variables {
            kernel.apply_involving(&without, values, &z[b * count..(b + 1) * count], shifts, rest);
            let all = &involving[b * count..(b + 1) * count];
            rest.iter_mut().zip(all).for_each(|(rest, all)| *rest = all - *rest);
            let both = dot_in_lanes(weights, rest);
            part.pairs[a * variables + b] += both;
            part.pairs[b * variables + a] += both;
        }
    }
}

/// For each of some variables the part of `K exp(-shift)` on the interactions that involve it, given the sums of the other variables.
fn interactions(
    degrees: RangeInclusive<usize>,
    others: &[f64],
    z: &[f64],
    shifts: Option<&[f64]>,
    count: usize,
    out: &mut [f64],
) {
    involving(degrees, others, z, count, out);
    if let Some(shifts) = shifts {
        let factors: Vec<f64> = shifts.iter().map(|shift| (-shift).exp()).collect();
        for out in out.chunks_mut(count) {
            out.iter_mut().zip(&factors).for_each(|(out, factor)| *out *= factor);
        }
    }
}

/// The interactions with both of two variables are `z_a` times those with the second, one degree lower, without the first.
fn read_pairs_of_interactions(
    degrees: RangeInclusive<usize>,
    weights: &[f64],
    shifts: Option<&[f64]>,
    part: &mut ShareSums,
    others: &[f64],
    z: &[f64],
    involving: &[f64],
) {
    let count = weights.len();
    let variables = z.len() / count;
    let lower = degrees.start() - 1..=degrees.end() - 1;
    for a in 0..variables {
        part.pairs[a * variables + a] += dot_in_lanes(weights, &involving[a * count..(a + 1) * count]);
        let rest: Vec<f64> =
            z.chunks(count).enumerate().filter(|(b, _)| *b != a).flat_map(|(_, z)| z).copied().collect();
        let mut both = vec![0.0; rest.len()];
        interactions(lower.clone(), others, &rest, shifts, count, &mut both);
        let z_a = &z[a * count..(a + 1) * count];
        for (b, both) in (a + 1..variables).zip(both.chunks_mut(count).skip(a)) {
            both.iter_mut().zip(z_a).for_each(|(both, z)| *both *= z);
            let both = dot_in_lanes(weights, both);
            part.pairs[a * variables + b] += both;
            part.pairs[b * variables + a] += both;
        }
    }
}

/// `K exp(-shift)` of every entry.
fn apply(kernel: &dyn TensorKernel, sums: &[f64], shifts: Option<&[f64]>, count: usize, values: &mut Vec<f64>) {
    values.clear();
    values.extend_from_slice(&sums[..kernel.symmetric() * count]);
    match shifts {
        None => kernel.apply(values, count),
        Some(shifts) => kernel.apply_shifted(values, shifts),
    }
    values.truncate(count);
}
