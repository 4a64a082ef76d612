//! Prediction by the representer formula (17) `[eq:20171009b]`.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::{
    Gram,
    layout::Layout,
    multisets::Multisets,
    products::{Products, Work},
    unit,
};
use crate::{
    Error, FeatureMatrix,
    exponent::WidePower,
    form::{Predict, QForm},
};

/// Points in a block: columns enough for one tail to fill a matrix product.
const POINTS: usize = 256;

/// `f(x) = sum_(i_1, ..., i_(q-1)) K(x_(i_1), ..., x_(i_(q-1)), x) alpha_(i_1) ... alpha_(i_(q-1))`.
pub(super) struct GramPredictor<'a> {
    gram: &'a Gram<'a>,
    /// The power of two by which alpha was divided.
    exponent: f64,
    heads: Vec<f64>,
    tails: Vec<f64>,
}

impl<'a> GramPredictor<'a> {
    pub(super) fn new(gram: &'a Gram<'a>, alpha: &[f64]) -> Self {
        assert_eq!(alpha.len(), gram.samples(), "alpha has n entries");
        let mut copy = vec![0.0; alpha.len()];
        let exponent = unit(alpha, &mut copy);
        let list = &gram.layout.heads;
        let mut heads = vec![0.0; list.len()];
        list.weights(&copy, &mut heads);
        let list = Multisets::tails(gram.samples(), list.size() - 1);
        let mut tails = vec![0.0; list.len()];
        list.weights(&copy, &mut tails);
        Self { gram, exponent, heads, tails }
    }

    fn layout(&self, points: usize) -> Layout {
        Layout::points(self.gram.layout.heads.clone(), self.gram.samples(), points)
    }

    /// The sums of one block of points, up to their scale.
    fn predict_block(&self, layout: &Layout, points: &FeatureMatrix<'_>, shifts: &[f64], out: &mut [f64]) {
        let count = points.samples();
        let products = Products { layout, points: Some((points, shifts)), ..self.gram.products() };
        let parts: Vec<Vec<f64>> = layout
            .stripes
            .par_iter()
            .map_init(Work::default, |work, stripe| {
                let mut sums = vec![0.0; stripe.tails.len() * count];
                let mut buffer = std::mem::take(&mut work.tile);
                for tile in &layout.tiles[stripe.tiles.clone()] {
                    buffer.resize(tile.entries.len(), 0.0);
                    products.fill(tile, &mut buffer, work);
                    for block in layout.tile_blocks(tile) {
                        let (height, width) = (block.rows.len(), block.tails.len() * count);
                        let first = (block.tails.start - stripe.tails.start) * count;
                        let sums = MatMut::from_column_major_slice_mut(&mut sums[first..first + width], width, 1);
                        let entries = MatRef::from_column_major_slice(&buffer[block.entries], height, width);
                        let weights = MatRef::from_column_major_slice(&self.heads[block.rows], height, 1);
                        matmul(sums, Accum::Add, entries.transpose(), weights, 1.0, Par::Seq);
                    }
                }
                work.tile = buffer;
                let mut part = vec![0.0; count];
                for (tail, sums) in stripe.tails.clone().zip(sums.chunks(count)) {
                    part.iter_mut().zip(sums).for_each(|(part, sum)| *part += self.tails[tail] * sum);
                }
                part
            })
            .collect();
        out.fill(0.0);
        for part in parts {
            out.iter_mut().zip(part).for_each(|(out, part)| *out += part);
        }
    }
}

impl Predict for GramPredictor<'_> {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let (got, expected) = (x.features(), self.gram.matrix.features());
        if got != expected {
            return Err(Error::Shape { what: "a row of the new X", got, expected });
        }
        let order = self.gram.order();
        let shifts = self.gram.diagonal.of_points(self.gram.kernel(), x, order)?.shifts;
        let power = WidePower::new(1.0, self.exponent, (order - 1) as f64);
        let mut out = vec![0.0; x.samples()];
        let mut layout = self.layout(POINTS.min(out.len()));
        for (block, out) in out.chunks_mut(POINTS).enumerate() {
            if layout.points != out.len() {
                layout = self.layout(out.len());
            }
            let rows = block * POINTS..block * POINTS + out.len();
            let points = x.sample_range(rows.clone())?;
            let shifts = if shifts.is_empty() { &[] } else { &shifts[rows] };
            self.predict_block(&layout, &points, shifts, out);
            out.iter_mut().for_each(|out| *out = power.times(*out * self.gram.factorial(1)));
        }
        Ok(out)
    }
}
