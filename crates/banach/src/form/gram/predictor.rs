//! Prediction by the representer formula (17) `[eq:20171009b]`.

use std::{fmt, sync::Arc};

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::{Gram, unit};
use crate::{
    Error, FeatureMatrix,
    form::{Predict, QForm},
    kernel::TensorKernel,
    numeric::WidePower,
    tensor::{Diagonal, FillBuffers, Multisets, Staircase, TileFiller},
    workers::checkpoint,
};

/// Points in a block: as columns of one tail they are enough for a matrix product at full speed.
const POINTS: usize = 256;

/// `f(x) = sum_(i_1, ..., i_(q-1)) K(x_(i_1), ..., x_(i_(q-1)), x) alpha_(i_1) ... alpha_(i_(q-1))`, for one or several
/// alpha. The kernel is computed once for all of them.
#[derive(Debug)]
pub(super) struct GramPredictor {
    matrix: FeatureMatrix<'static>,
    kernel: Arc<dyn TensorKernel>,
    diagonal: Diagonal,
    heads: Multisets,
    functions: Vec<Function>,
}

/// One alpha, by its weights.
struct Function {
    /// The exponent of the power of two by which alpha was divided.
    exponent: f64,
    /// `W` of the heads and of the shorter tails.
    heads: Vec<f64>,
    tails: Vec<f64>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("heads", &self.heads.len()).finish_non_exhaustive()
    }
}

impl GramPredictor {
    pub(super) fn new(gram: &Gram<'_>, alphas: &[f64]) -> Self {
        let n = gram.samples();
        assert_eq!(alphas.len() % n, 0, "every alpha has n entries");
        let heads = gram.tensor.layout.heads.clone();
        let tails = Multisets::tails(n, heads.size() - 1);
        let function = |alpha: &[f64]| {
            let mut copy = vec![0.0; n];
            let exponent = unit(alpha, &mut copy);
            let (mut of_heads, mut of_tails) = (vec![0.0; heads.len()], vec![0.0; tails.len()]);
            heads.weights(&copy, &mut of_heads);
            tails.weights(&copy, &mut of_tails);
            Function { exponent, heads: of_heads, tails: of_tails }
        };
        let functions = alphas.chunks(n).map(function).collect();
        let (matrix, kernel, diagonal) =
            (gram.tensor.matrix.clone().into_owned(), gram.tensor.kernel.clone(), gram.tensor.diagonal.clone());
        Self { matrix, kernel, diagonal, heads, functions }
    }

    fn order(&self) -> usize {
        2 * self.heads.size()
    }

    fn layout(&self, points: usize) -> Staircase {
        Staircase::points(self.heads.clone(), self.matrix.samples(), points)
    }

    /// The sums of one block of points, one function after another, before the powers of two are put back.
    fn predict_block(&self, layout: &Staircase, points: &FeatureMatrix<'_>, shifts: &[f64]) -> Vec<f64> {
        let (count, functions) = (points.samples(), self.functions.len());
        let Self { matrix, kernel, diagonal, .. } = self;
        let points = Some((points, shifts));
        let products = TileFiller { layout, kernel: &**kernel, x: matrix, shifts: &diagonal.shifts, points };
        let parts: Vec<Vec<f64>> = layout
            .stripes
            .par_iter()
            .map_init(FillBuffers::default, |work, stripe| {
                let columns = stripe.tails.len() * count;
                let mut sums = vec![0.0; columns * functions];
                let mut buffer = std::mem::take(&mut work.tile);
                for tile in &layout.tiles[stripe.tiles.clone()] {
                    checkpoint();
                    buffer.resize(tile.entries.len(), 0.0);
                    products.fill(tile, &mut buffer, work);
                    for block in layout.tile_blocks(tile) {
                        let (height, width) = (block.rows.len(), block.tails.len() * count);
                        let first = (block.tails.start - stripe.tails.start) * count;
                        let entries = MatRef::from_column_major_slice(&buffer[block.entries], height, width);
                        for (function, sums) in self.functions.iter().zip(sums.chunks_mut(columns)) {
                            let sums = MatMut::from_column_major_slice_mut(&mut sums[first..first + width], width, 1);
                            let weights = &function.heads[block.rows.clone()];
                            let weights = MatRef::from_column_major_slice(weights, height, 1);
                            matmul(sums, Accum::Add, entries.transpose(), weights, 1.0, Par::Seq);
                        }
                    }
                }
                work.tile = buffer;
                let mut parts = vec![0.0; count * functions];
                let each = self.functions.iter().zip(sums.chunks(columns)).zip(parts.chunks_mut(count));
                for ((function, sums), part) in each {
                    for (tail, sums) in stripe.tails.clone().zip(sums.chunks(count)) {
                        part.iter_mut().zip(sums).for_each(|(part, sum)| *part += function.tails[tail] * sum);
                    }
                }
                parts
            })
            .collect();
        let mut out = vec![0.0; count * functions];
        for part in parts {
            out.iter_mut().zip(part).for_each(|(out, part)| *out += part);
        }
        out
    }
}

impl Predict for GramPredictor {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        Error::check_length("a row of the new X", x.features(), self.matrix.features())?;
        let (order, points) = (self.order(), x.samples());
        let shifts = self.diagonal.of_points(&*self.kernel, x, order)?.shifts;
        let powers = self.functions.iter().map(|function| WidePower::new(1.0, function.exponent, (order - 1) as f64));
        let powers: Vec<WidePower> = powers.collect();
        let orders: f64 = (1..order).map(|m| m as f64).product();
        let mut out = vec![0.0; points * self.functions.len()];
        let mut layout = self.layout(POINTS.min(points));
        for first in (0..points).step_by(POINTS) {
            let rows = first..(first + POINTS).min(points);
            if layout.points != rows.len() {
                layout = self.layout(rows.len());
            }
            let block = x.sample_range(rows.clone())?;
            let shifts = if shifts.is_empty() { &[] } else { &shifts[rows.clone()] };
            let sums = self.predict_block(&layout, &block, shifts);
            for ((sums, out), power) in sums.chunks(rows.len()).zip(out.chunks_mut(points)).zip(&powers) {
                out[rows.clone()].iter_mut().zip(sums).for_each(|(out, sum)| *out = power.times(*sum * orders));
            }
        }
        Ok(out)
    }
}
