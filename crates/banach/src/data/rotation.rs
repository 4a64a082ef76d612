//! Samples turned until no more variables than samples are left.

use faer::{
    Mat, MatMut, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::qr::no_pivoting::factor::{QrParams, qr_in_place, qr_in_place_scratch, recommended_block_size},
    reborrow::ReborrowMut,
};

use super::feature_matrix::FeatureMatrix;
use crate::{Error, workers::checkpoint};

/// Variables that are turned at a time, for every sample: the more, the less is done twice.
const AT_A_TIME: usize = 4;

impl FeatureMatrix<'_> {
    /// As many variables as samples, with the same products of all pairs of samples: all that a function with a quadratic norm can see.
    ///
    /// With `X' = Q R`, `X X' = R'R`: the samples are the columns of R. Blocks of variables are joined to the R of those before them, so that
    /// the memory is that of a block. By reflections, whose errors are of the size of rounding beside the largest entries.
    pub(crate) fn rotated(&self) -> Result<FeatureMatrix<'static>, Error> {
        let (n, d) = (self.samples(), self.features());
        let most = AT_A_TIME * n;
        let mut stacked = Mat::<f64>::zeros(n + most, n);
        let mut values = vec![0.0; n];
        for first in (0..d).step_by(most) {
            checkpoint();
            let count = most.min(d - first);
            for at in 0..count {
                self.column_into(first + at, &mut values);
                values.iter().enumerate().for_each(|(i, x)| stacked[(n + at, i)] = *x);
            }
            triangular(stacked.as_mut().subrows_mut(0, n + count));
        }
        let columns = (0..n).flat_map(|k| (0..n).map(move |i| (k, i)));
        FeatureMatrix::from_columns(n, n, columns.map(|(k, i)| stacked[(k, i)]).collect::<Vec<f64>>())
    }
}

/// R in the place of the first rows of a matrix, zeros below its diagonal.
fn triangular(mut stacked: MatMut<'_, f64>) {
    let (rows, n) = (stacked.nrows(), stacked.ncols());
    let params = Spec::<QrParams, f64>::default();
    let block = recommended_block_size::<f64>(rows, n);
    let mut reflections = Mat::<f64>::zeros(block, n);
    let mut memory = MemBuffer::new(qr_in_place_scratch::<f64>(rows, n, block, Par::Seq, params));
    qr_in_place(stacked.rb_mut(), reflections.as_mut(), Par::Seq, MemStack::new(&mut memory), params);
    for i in 0..n {
        stacked.rb_mut().col_mut(i).subrows_mut(i + 1, rows - i - 1).fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fewer variables than samples, more, and several blocks of them; a variable that is 0, a sample that is 0, and two that are equal.
    #[test]
    fn products_of_samples_stay() {
        let n = 7;
        for d in [3, 7, 28, 29, 100] {
            let value = |k: usize| match (k / n, k % n) {
                (0, _) | (_, 2) => 0.0,
                (j, 5) => ((n * j) as f64 * 0.618_033_988).sin(),
                _ => (k as f64 * 0.618_033_988).sin(),
            };
            let x = FeatureMatrix::from_columns(n, d, (0..n * d).map(value).collect::<Vec<f64>>()).expect("in range");
            let turned = x.rotated().expect("in range");
            let product = |x: &FeatureMatrix<'_>, i: usize, j: usize| -> f64 {
                x.row(i).iter().zip(x.row(j)).map(|(a, b)| a * b).sum()
            };
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (expected, found) = (product(&x, i, j), product(&turned, i, j));
                assert!((expected - found).abs() <= 1e-13 * d as f64, "{d}: {expected} {found}");
            }
        }
    }
}
