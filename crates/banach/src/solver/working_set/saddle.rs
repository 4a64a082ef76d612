//! The system of a step for samples and weights together.
//!
//! Where samples are held by kinks, the matrix `Phi h Phi' + D` of the samples alone is the sum of very large and very small numbers,
//! and the small ones, which decide, are lost. The same equations with the changes v of the weights as unknowns of their own,
//!
//! ```text
//! ( D     Phi    1 ) (d)   (right)
//! ( Phi'  -1/h   0 ) (v) = (  0  )
//! ( 1'    0      0 ) (b)   (  0  )
//! ```
//!
//! add up nothing.

use faer::{
    MatMut, MatRef, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::lu::partial_pivoting::{
        factor::{lu_in_place, lu_in_place_scratch},
        solve::{solve_in_place, solve_in_place_scratch},
    },
    perm::PermRef,
};

use crate::FeatureMatrix;

/// The factors of the matrix, whose rows and columns were brought to the size 1.
pub(super) struct Saddle {
    factors: Vec<f64>,
    forward: Vec<usize>,
    inverse: Vec<usize>,
    scale: Vec<f64>,
    samples: usize,
    features: usize,
}

/// Rounds in which rows and columns are divided by the roots of their largest entries; each halves the digits that they are off.
const ROUNDS: usize = 4;

impl Saddle {
    /// The matrix of some features, the diagonals D and h, and a row for an intercept.
    pub(super) fn new(x: &FeatureMatrix<'_>, diagonal: &[f64], h: &[f64], intercept: bool) -> Self {
        let (samples, features) = (diagonal.len(), h.len());
        let size = samples + features + usize::from(intercept);
        let mut matrix = vec![0.0; size * size];
        for (i, entry) in diagonal.iter().enumerate() {
            matrix[i * size + i] = *entry;
        }
        for (k, h) in h.iter().enumerate() {
            let at = samples + k;
            x.column_into(k, &mut matrix[at * size..][..samples]);
            for i in 0..samples {
                matrix[i * size + at] = matrix[at * size + i];
            }
            matrix[at * size + at] = -1.0 / h;
        }
        if intercept {
            for i in 0..samples {
                matrix[(size - 1) * size + i] = 1.0;
                matrix[i * size + size - 1] = 1.0;
            }
        }
        let scale = equilibrate(&mut matrix, size);
        let (mut forward, mut inverse) = (vec![0; size], vec![0; size]);
        let mut memory = MemBuffer::new(lu_in_place_scratch::<usize, f64>(size, size, Par::Seq, Spec::default()));
        lu_in_place(
            MatMut::from_column_major_slice_mut(&mut matrix, size, size),
            &mut forward,
            &mut inverse,
            Par::Seq,
            MemStack::new(&mut memory),
            Spec::default(),
        );
        Self { factors: matrix, forward, inverse, scale, samples, features }
    }

    /// d and v for a right-hand side of the samples.
    pub(super) fn solve(&self, right: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let size = self.scale.len();
        let mut solution = vec![0.0; size];
        let scaled = solution.iter_mut().zip(right).zip(&self.scale);
        scaled.for_each(|((solution, right), scale)| *solution = right * scale);
        let factors = MatRef::from_column_major_slice(&self.factors, size, size);
        let mut memory = MemBuffer::new(solve_in_place_scratch::<usize, f64>(size, 1, Par::Seq));
        solve_in_place(
            factors,
            factors,
            PermRef::new_checked(&self.forward, &self.inverse, size),
            MatMut::from_column_major_slice_mut(&mut solution, size, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        solution.iter_mut().zip(&self.scale).for_each(|(solution, scale)| *solution *= scale);
        let v = solution[self.samples..][..self.features].to_vec();
        solution.truncate(self.samples);
        (solution, v)
    }
}

/// Brings the largest entry of every row and column of a symmetric matrix to about 1; returns by what they were multiplied.
fn equilibrate(matrix: &mut [f64], size: usize) -> Vec<f64> {
    let mut scale = vec![1.0; size];
    for _ in 0..ROUNDS {
        let factor = |column: &[f64]| {
            let largest = column.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
            if largest > 0.0 && largest.is_finite() { 1.0 / largest.sqrt() } else { 1.0 }
        };
        let factors: Vec<f64> = matrix.chunks(size).map(factor).collect();
        for (column, of_column) in matrix.chunks_mut(size).zip(&factors) {
            column.iter_mut().zip(&factors).for_each(|(entry, of_row)| *entry *= of_column * of_row);
        }
        scale.iter_mut().zip(&factors).for_each(|(scale, factor)| *scale *= factor);
    }
    scale
}
