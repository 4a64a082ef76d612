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
//!
//! Samples whose entry of D is the largest of its row, which no kink holds, are eliminated beforehand: they are coupled by the features
//! alone, so that one product of matrices does it, and what is left is the size of the features and the samples at kinks.

use faer::{
    Accum, MatMut, MatRef, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        lu::partial_pivoting::{
            factor::{lu_in_place, lu_in_place_scratch},
            solve::{solve_in_place, solve_in_place_scratch},
        },
        matmul::matmul,
    },
    perm::PermRef,
};

use crate::{FeatureMatrix, numeric::dot_in_lanes};

/// The matrix, whose rows and columns were brought to the size 1, and factors of what elimination leaves of it. The intercept is one more
/// feature, of ones.
pub(super) struct Saddle {
    /// What the equations of samples and of features were multiplied with.
    scale: Vec<f64>,
    /// D and -1/h.
    diagonal: Vec<f64>,
    /// The features, one after another.
    columns: Vec<f64>,
    features: usize,
    /// The samples that are left.
    left: Vec<usize>,
    /// 1/D of the samples that are eliminated, and 0 for the others.
    pivots: Vec<f64>,
    factors: Vec<f64>,
    forward: Vec<usize>,
    inverse: Vec<usize>,
    /// What the equations that are left were multiplied with.
    scale_left: Vec<f64>,
}

/// Rounds in which rows and columns are divided by the roots of their largest entries; each halves the digits that they are off.
const ROUNDS: usize = 4;
/// Samples and features of the largest system that is factorised: it takes half a second.
pub(super) const LARGEST: usize = 2000;
/// A sample is eliminated if its entry of D is this share of the largest of its row: the smaller, the more are, and the more digits are lost.
const LEAST_PIVOT: f64 = 0.1;
/// Where so many would be left that a step takes long, as before kinks hold any, this share is enough; solutions are improved afterwards.
const LEAST_PIVOT_OF_MANY: f64 = 1e-4;
/// So many, and two for each feature, are not many: kinks hold one for each, unless some hold several.
const FEW: usize = 100;
/// Times that a solution is improved by what it leaves: once takes what elimination has lost.
const REFINEMENTS: usize = 2;

impl Saddle {
    /// Whether a system can be factorised: wherever elimination leaves room for as many samples as features.
    pub(super) fn fits(samples: usize, features: usize) -> bool {
        features + features.min(samples) <= LARGEST || samples + features <= LARGEST
    }

    /// The matrix of some features, the diagonals D and h, and a row for an intercept.
    pub(super) fn new(x: &FeatureMatrix<'_>, diagonal: &[f64], h: &[f64], intercept: bool) -> Self {
        let (n, m) = (diagonal.len(), h.len() + usize::from(intercept));
        let mut columns = vec![1.0; n * m];
        columns.chunks_mut(n).take(h.len()).enumerate().for_each(|(k, column)| x.column_into(k, column));
        let of_features = h.iter().map(|h| -1.0 / h).chain(intercept.then_some(0.0));
        let mut diagonal: Vec<f64> = diagonal.iter().copied().chain(of_features).collect();
        let mut scale = vec![1.0; n + m];
        for _ in 0..ROUNDS {
            let factors: Vec<f64> = largest_of_rows(&diagonal, &columns, n).into_iter().map(inverse_root).collect();
            let (of_samples, of_features) = factors.split_at(n);
            for (column, of_feature) in columns.chunks_mut(n).zip(of_features) {
                column.iter_mut().zip(of_samples).for_each(|(entry, of_sample)| *entry *= of_feature * of_sample);
            }
            diagonal.iter_mut().zip(&factors).for_each(|(entry, factor)| *entry *= factor * factor);
            scale.iter_mut().zip(&factors).for_each(|(scale, factor)| *scale *= factor);
        }
        let left = samples_left(&diagonal, &columns, n, LARGEST.saturating_sub(m));
        let mut pivots: Vec<f64> = diagonal[..n].iter().map(|entry| 1.0 / entry).collect();
        left.iter().for_each(|&i| pivots[i] = 0.0);
        let size = left.len() + m;
        let mut matrix = vec![0.0; size * size];
        let eliminated = product_of_eliminated(&columns, &pivots, m);
        for (k, column) in columns.chunks(n).enumerate() {
            let at = left.len() + k;
            for (place, &i) in left.iter().enumerate() {
                matrix[at * size + place] = column[i];
                matrix[place * size + at] = column[i];
            }
            for l in 0..m {
                matrix[at * size + left.len() + l] = -eliminated[k * m + l];
            }
            matrix[at * size + at] += diagonal[n + k];
        }
        left.iter().enumerate().for_each(|(place, &i)| matrix[place * size + place] = diagonal[i]);
        let scale_left = equilibrate(&mut matrix, size);
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
        let features = h.len();
        Self { scale, diagonal, columns, features, left, pivots, factors: matrix, forward, inverse, scale_left }
    }

    /// d and v for a right-hand side of the samples.
    pub(super) fn solve(&self, right: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = right.len();
        let mut rest: Vec<f64> = self.scale.iter().zip(right).map(|(scale, right)| scale * right).collect();
        rest.resize(self.scale.len(), 0.0);
        let whole = rest.clone();
        let mut solution = self.solve_once(&rest);
        for _ in 0..REFINEMENTS {
            rest.clone_from(&whole);
            self.take_product(&solution, &mut rest);
            solution.iter_mut().zip(self.solve_once(&rest)).for_each(|(solution, change)| *solution += change);
        }
        solution.iter_mut().zip(&self.scale).for_each(|(solution, scale)| *solution *= scale);
        let v = solution[n..][..self.features].to_vec();
        solution.truncate(n);
        (solution, v)
    }

    /// Takes the product of the matrix with a vector from another.
    fn take_product(&self, vector: &[f64], from: &mut [f64]) {
        let n = self.pivots.len();
        from.iter_mut().zip(&self.diagonal).zip(vector).for_each(|((from, entry), x)| *from -= entry * x);
        let (samples, features) = from.split_at_mut(n);
        for ((column, from), x) in self.columns.chunks(n).zip(features).zip(&vector[n..]) {
            samples.iter_mut().zip(column).for_each(|(sample, entry)| *sample -= entry * x);
            *from -= dot_in_lanes(column, &vector[..n]);
        }
    }

    /// The solution for a right-hand side of samples and features.
    fn solve_once(&self, right: &[f64]) -> Vec<f64> {
        let (n, size) = (self.pivots.len(), self.scale_left.len());
        let (of_samples, of_features) = right.split_at(n);
        let eliminated: Vec<f64> = of_samples.iter().zip(&self.pivots).map(|(right, pivot)| right * pivot).collect();
        let of_features =
            self.columns.chunks(n).zip(of_features).map(|(column, right)| right - dot_in_lanes(column, &eliminated));
        let mut left: Vec<f64> = self.left.iter().map(|&i| of_samples[i]).chain(of_features).collect();
        left.iter_mut().zip(&self.scale_left).for_each(|(left, scale)| *left *= scale);
        let factors = MatRef::from_column_major_slice(&self.factors, size, size);
        let mut memory = MemBuffer::new(solve_in_place_scratch::<usize, f64>(size, 1, Par::Seq));
        solve_in_place(
            factors,
            factors,
            PermRef::new_checked(&self.forward, &self.inverse, size),
            MatMut::from_column_major_slice_mut(&mut left, size, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        left.iter_mut().zip(&self.scale_left).for_each(|(left, scale)| *left *= scale);
        let (at_kinks, of_features) = left.split_at(self.left.len());
        let mut solution = of_samples.to_vec();
        for (column, v) in self.columns.chunks(n).zip(of_features) {
            solution.iter_mut().zip(column).for_each(|(solution, entry)| *solution -= entry * v);
        }
        solution.iter_mut().zip(&self.pivots).for_each(|(solution, pivot)| *solution *= pivot);
        self.left.iter().zip(at_kinks).for_each(|(&i, d)| solution[i] = *d);
        solution.extend_from_slice(of_features);
        solution
    }
}

/// The largest entry of every row of samples and of features.
fn largest_of_rows(diagonal: &[f64], columns: &[f64], n: usize) -> Vec<f64> {
    let mut largest: Vec<f64> = diagonal.iter().map(|entry| entry.abs()).collect();
    let (of_samples, of_features) = largest.split_at_mut(n);
    for (column, of_feature) in columns.chunks(n).zip(of_features) {
        for (entry, of_sample) in column.iter().zip(&mut *of_samples) {
            *of_sample = of_sample.max(entry.abs());
            *of_feature = of_feature.max(entry.abs());
        }
    }
    largest
}

/// The samples, at most so many, whose entry of D is small beside others of its row.
fn samples_left(diagonal: &[f64], columns: &[f64], n: usize, most: usize) -> Vec<usize> {
    let largest = largest_of_rows(diagonal, columns, n);
    let share = |i: &usize| diagonal[*i] / largest[*i];
    // A row of zeros is left, and so is one that is no number.
    let mut left: Vec<usize> = (0..n).filter(|i| share(i).is_nan() || share(i) < LEAST_PIVOT).collect();
    let held = left.iter().filter(|i| share(i).is_nan() || share(i) < LEAST_PIVOT_OF_MANY).count();
    let most = most.min(held.max(FEW + 2 * columns.len() / n));
    if left.len() > most {
        left.sort_by(|i, j| share(i).total_cmp(&share(j)));
        left.truncate(most);
        left.sort_unstable();
    }
    left
}

/// `Phi' diag(pivots) Phi` of m features.
fn product_of_eliminated(columns: &[f64], pivots: &[f64], m: usize) -> Vec<f64> {
    let (n, mut product) = (pivots.len(), vec![0.0; m * m]);
    let roots: Vec<f64> = pivots.iter().map(|pivot| pivot.sqrt()).collect();
    let weighted: Vec<f64> =
        columns.chunks(n).flat_map(|column| column.iter().zip(&roots).map(|(entry, root)| entry * root)).collect();
    let weighted = MatRef::from_column_major_slice(&weighted, n, m);
    let out = MatMut::from_column_major_slice_mut(&mut product, m, m);
    matmul(out, Accum::Replace, weighted.transpose(), weighted, 1.0, Par::Seq);
    product
}

/// What brings an entry to the size 1, if it is multiplied twice; 1 where nothing does.
fn inverse_root(largest: f64) -> f64 {
    if largest > 0.0 && largest.is_finite() { 1.0 / largest.sqrt() } else { 1.0 }
}

/// Brings the largest entry of every row and column of a symmetric matrix to about 1; returns by what they were multiplied.
fn equilibrate(matrix: &mut [f64], size: usize) -> Vec<f64> {
    let mut scale = vec![1.0; size];
    for _ in 0..ROUNDS {
        let largest = |column: &[f64]| column.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        let factors: Vec<f64> = matrix.chunks(size).map(|column| inverse_root(largest(column))).collect();
        for (column, of_column) in matrix.chunks_mut(size).zip(&factors) {
            column.iter_mut().zip(&factors).for_each(|(entry, of_row)| *entry *= of_column * of_row);
        }
        scale.iter_mut().zip(&factors).for_each(|(scale, factor)| *scale *= factor);
    }
    scale
}
