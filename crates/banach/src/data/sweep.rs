//! One pass over a feature matrix: forward product, a map of the reader's choice, backward product.
//!
//! Every algorithm here that touches the data has the same shape: for a block of features that fits in
//! cache form `u = Phi_b' a`, turn it entry by entry into `w`, and add `Phi_b w` to an n-vector. The matrix
//! is read once, by all cores.
//!
//! Blocks are grouped into stripes that depend on the matrix only. Each stripe has its own accumulator and
//! the stripes are combined in order, so results do not depend on the number of threads.

use std::ops::Range;

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use super::{FeatureMatrix, block::FeatureBlock, scratch::Pool};
use crate::workers::checkpoint;

/// Bytes of the matrix in a block: a fraction of a second-level cache.
const BLOCK_BYTES: usize = 192 << 10;
/// Most features in a block, so that the numbers of a block for each dual vector stay in the cache beside it.
pub(crate) const MAX_BLOCK: usize = 1024;
/// Bytes of the matrix in a stripe: long enough to hide the start of a task.
const STRIPE_BYTES: usize = 2 << 20;
/// Most stripes: several for each core of a large machine. All accumulators together, n numbers for each stripe, also stay smaller
/// than the matrix.
const MAX_STRIPES: usize = 256;

/// What the reader sees of one block of features.
pub(crate) struct SweepBlock<'a> {
    /// The numbers of the features of the block, and their entries.
    pub columns: Range<usize>,
    pub features: FeatureBlock<'a>,
    /// What the entries are decoded into, if they are not stored as numbers.
    pub buffer: &'a mut Vec<f64>,
    /// The reader's own numbers, `per_feature` for each feature of the block.
    pub kept: &'a mut [f64],
    /// `Phi_b' a`, one column per dual vector; the first `outputs` columns become `w`.
    pub u: &'a mut [f64],
    /// The stripe's running numbers, zero at its start.
    pub state: &'a mut [f64],
    /// The stripe's running sum of `Phi_b w`, before this block is added.
    pub sum: &'a mut [f64],
}

/// The shape of a pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sweep {
    /// Numbers the reader keeps for each feature.
    pub per_feature: usize,
    /// Running numbers of each stripe.
    pub state: usize,
    /// Columns of `w`; 0 for a pass without the backward product.
    pub outputs: usize,
}

impl Sweep {
    /// Numbers of working memory that a pass for `inputs` dual vectors takes, besides what the reader keeps.
    pub(crate) fn memory(self, samples: usize, features: usize, stored: usize, inputs: usize) -> Option<usize> {
        let layout = Layout::new(samples, features, stored);
        self.area(samples, layout, inputs).checked_mul(layout.stripes)?.checked_add(samples.checked_mul(inputs)?)
    }

    /// Numbers that one stripe takes.
    fn area(self, samples: usize, layout: Layout, inputs: usize) -> usize {
        let blocks = inputs.saturating_mul(2 * layout.block);
        samples.saturating_mul(self.outputs).saturating_add(self.state).saturating_add(blocks)
    }

    /// Runs the pass for the dual vectors `alphas` (n-vectors, one after another) and hands the running
    /// numbers and the sum of every stripe, in order, to `reduce`.
    pub(crate) fn run(
        self,
        matrix: &FeatureMatrix<'_>,
        alphas: &[f64],
        kept: &mut [f64],
        pool: &mut Pool,
        visit: impl Fn(SweepBlock<'_>) + Sync,
        mut reduce: impl FnMut(&[f64], &[f64]),
    ) {
        let n = matrix.samples();
        let inputs = alphas.len() / n;
        debug_assert!(self.outputs <= inputs && alphas.len() == n * inputs);
        debug_assert_eq!(kept.len(), matrix.features() * self.per_feature);
        let layout = matrix.layout();
        let sum_length = n * self.outputs;
        let area = self.area(n, layout, inputs);
        // One vector is its own transpose.
        let turned = if inputs == 1 { 0 } else { n * inputs };
        let (numbers, buffers) = pool.take_with_blocks(turned + area * layout.stripes);
        let (rows, areas) = numbers.split_at_mut(turned);
        if turned > 0 {
            let transposed = MatRef::from_row_major_slice(alphas, inputs, n);
            MatMut::from_column_major_slice_mut(rows, inputs, n).copy_from(transposed);
        }
        let rows = if turned > 0 { &*rows } else { alphas };

        let with_buffer = |stripe: usize, area: &mut [f64], mut kept: &mut [f64], buffer: &mut Vec<f64>| {
            let (sum, rest) = area.split_at_mut(sum_length);
            let (state, rest) = rest.split_at_mut(self.state);
            let (u, turned) = rest.split_at_mut(layout.block * inputs);
            sum.fill(0.0);
            state.fill(0.0);
            for columns in layout.blocks(stripe) {
                checkpoint();
                let width = columns.len();
                let (own, left) = std::mem::take(&mut kept).split_at_mut(width * self.per_feature);
                kept = left;
                let u = &mut u[..width * inputs];
                let features = matrix.block(columns.clone());
                features.adjoint(alphas, rows, buffer, u, turned);
                visit(SweepBlock { columns, features, buffer, kept: own, u, state, sum });
                if self.outputs > 0 {
                    features.apply(&u[..width * self.outputs], buffer, sum);
                }
            }
        };
        let run_stripe = |stripe: usize, area: &mut [f64], kept: &mut [f64]| {
            buffers.lend(|buffer| with_buffer(stripe, area, kept, buffer));
        };
        let stripe_kept = layout.stripe * self.per_feature;
        if layout.stripes == 1 {
            run_stripe(0, areas, kept);
        } else if self.per_feature == 0 {
            areas.par_chunks_mut(area).enumerate().for_each(|(stripe, area)| run_stripe(stripe, area, &mut []));
        } else {
            areas
                .par_chunks_mut(area)
                .zip(kept.par_chunks_mut(stripe_kept))
                .enumerate()
                .for_each(|(stripe, (area, kept))| run_stripe(stripe, area, kept));
        }
        for area in areas.chunks(area) {
            let (sum, rest) = area.split_at(sum_length);
            reduce(&rest[..self.state], sum);
        }
    }
}

/// How the features are divided, from the matrix alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    features: usize,
    /// Features in a block; only the last block may be shorter.
    pub block: usize,
    stripe: usize,
    stripes: usize,
}

impl Layout {
    pub(super) fn new(samples: usize, features: usize, stored: usize) -> Self {
        let bytes = (stored.saturating_mul(8) / features).max(1);
        let block = (BLOCK_BYTES / bytes).clamp(16, MAX_BLOCK) / 8 * 8;
        let most = (stored / samples).clamp(1, MAX_STRIPES);
        let wanted = (STRIPE_BYTES / bytes).max(features.div_ceil(most));
        let stripe = wanted.div_ceil(block) * block;
        Self { features, block, stripe, stripes: features.div_ceil(stripe) }
    }

    /// The most roundings of a sum over all features: additions in a stripe, and changes of the running size from block to block and
    /// from stripe to stripe.
    pub(crate) fn additions(self) -> f64 {
        let blocks = self.stripe.min(self.features).div_ceil(self.block);
        (self.stripe.min(self.features) + 8 * blocks + 8 * self.stripes) as f64
    }

    fn blocks(self, stripe: usize) -> impl Iterator<Item = Range<usize>> {
        let end = ((stripe + 1) * self.stripe).min(self.features);
        (stripe * self.stripe..end).step_by(self.block).map(move |start| start..(start + self.block).min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_feature_once_in_order() {
        for (samples, features) in [(1, 1), (3, 7), (200, 5000), (1, 100_000), (40_000, 30)] {
            let matrix = FeatureMatrix::from_columns(samples, features, vec![1.0; samples * features]).expect("valid");
            let layout = matrix.layout();
            let covered: Vec<usize> = (0..layout.stripes).flat_map(|s| layout.blocks(s)).flatten().collect();
            assert_eq!(covered, (0..features).collect::<Vec<_>>());
            assert!(layout.stripes <= MAX_STRIPES && layout.stripes <= features.max(1));
        }
    }
}
