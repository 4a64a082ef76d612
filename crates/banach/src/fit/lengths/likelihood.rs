//! The marginal likelihood of a Gaussian process with a length per input, and its gradient.

use faer::{
    Accum, MatMut, MatRef, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        cholesky::llt::{
            factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch},
            inverse::{inverse, inverse_scratch},
            solve::solve_in_place,
        },
        matmul::triangular::{BlockStructure, matmul},
    },
};

use crate::numeric::{dot, dot_in_lanes, exp_in_place, sum_in_lanes};

/// The penalty on an input, `PENALTY ln(1 + kappa_j^2/NEGLIGIBLE)`: almost constant for lengths that matter, steep below. Measured on
/// Friedman's first function and on draws of processes: twice as much loses inputs that matter, half as much keeps others.
const PENALTY: f64 = 0.5;
/// The `kappa_j^2` below which the penalty draws an input to 0, for inputs of variance 1. An input that acts almost linearly has
/// `kappa_j^2` near 1e-3 beside large a, and must be able to stay.
pub(super) const NEGLIGIBLE: f64 = 1e-4;

/// `y ~ N(b 1, a K + nu I)` with `K_ik = exp(-1/2 sum_j kappa_j^2 (x_ij - x_kj)^2)` and a constant b of which nothing is known.
///
/// The function to minimise is the negative logarithm of the likelihood of all contrasts of y, those combinations that do not depend on b
/// (restricted likelihood; Rasmussen and Williams, "Gaussian Processes for Machine Learning", (2.45)), and the penalty:
///
/// ```text
/// 1/2 y'P y + 1/2 ln det C + 1/2 ln(1'C^-1 1/n) + sum_j PENALTY ln(1 + kappa_j^2/NEGLIGIBLE)
/// C = a K + nu I,   P = C^-1 - C^-1 1 1'C^-1 / 1'C^-1 1
/// ```
///
/// Its parameters are `theta = (ln kappa_1^2, ..., ln kappa_d^2, ln a, ln nu)`. The derivative by one of them is
/// `1/2 tr((P - alpha alpha') dC)`, `alpha = P y`, and that of the penalty. Cost: O(n^3 + n^2 d).
pub(super) struct MarginalLikelihood<'a> {
    /// The inputs, one after another.
    pub x: &'a [f64],
    pub y: &'a [f64],
}

/// What the process makes of one theta.
pub(super) struct Posterior {
    /// The function to minimise.
    pub value: f64,
    /// Its derivative by theta.
    pub gradient: Vec<f64>,
    /// `alpha = P y`.
    pub alpha: Vec<f64>,
    /// The diagonal of P.
    pub diagonal: Vec<f64>,
}

impl MarginalLikelihood<'_> {
    /// The number of samples, n.
    pub(super) fn samples(&self) -> usize {
        self.y.len()
    }

    /// The number of inputs, d.
    pub(super) fn inputs(&self) -> usize {
        self.x.len() / self.samples()
    }

    /// Everything at one theta; `None` where rounding leaves C without a factor. `theta_j` may be minus infinity, for `kappa_j = 0`.
    pub(super) fn at(&self, theta: &[f64]) -> Option<Posterior> {
        let (n, d) = (self.samples(), self.inputs());
        let squares: Vec<f64> = theta[..d].iter().map(|theta| theta.exp()).collect();
        let (a, nu) = (theta[d].exp(), theta[d + 1].exp());
        let kernel = self.kernel(&squares);
        let mut factor: Vec<f64> = kernel.iter().map(|entry| a * entry).collect();
        factor.iter_mut().step_by(n + 1).for_each(|entry| *entry += nu);
        factorise(&mut factor, n)?;
        let half_determinant: f64 = factor.iter().step_by(n + 1).map(|pivot| pivot.ln()).sum();
        let (alpha, ones) = self.solve(&factor);
        let total: f64 = ones.iter().sum();
        let penalty: f64 = squares.iter().map(|square| PENALTY * (square / NEGLIGIBLE).ln_1p()).sum();
        let value = 0.5 * dot(self.y, &alpha) + half_determinant + 0.5 * (total / n as f64).ln() + penalty;

        // (P - alpha alpha') K entry by entry, of which only the part below the diagonal is formed.
        let mut product = inverse_below_diagonal(&factor, n);
        let mut diagonal = Vec::with_capacity(n);
        for (k, (column, kernel)) in product.chunks_mut(n).zip(kernel.chunks(n)).enumerate() {
            let (column, kernel, alpha, ones) = (&mut column[k..], &kernel[k..], &alpha[k..], &ones[k..]);
            let (alpha_k, one_k) = (alpha[0], ones[0] / total);
            diagonal.push(column[0] - one_k * ones[0]);
            for (((entry, kernel), alpha), one) in column.iter_mut().zip(kernel).zip(alpha).zip(ones) {
                *entry = (*entry - one_k * one - alpha_k * alpha) * kernel;
            }
        }
        let on_diagonal: f64 = product.iter().step_by(n + 1).sum();
        product.iter_mut().step_by(n + 1).for_each(|entry| *entry = 0.0);
        let mut gradient = self.by_lengths(&product, &squares, a);
        let below: f64 = product.chunks(n).map(sum_in_lanes).sum();
        gradient.push(a * (below + 0.5 * on_diagonal));
        // K has ones on its diagonal, so that this is the trace of P - alpha alpha'.
        gradient.push(0.5 * nu * on_diagonal);
        Some(Posterior { value, gradient, alpha, diagonal })
    }

    /// K below its diagonal, column by column.
    fn kernel(&self, squares: &[f64]) -> Vec<f64> {
        let (n, d) = (self.samples(), self.inputs());
        let mut kernel = vec![0.0; n * n];
        if d > 0 {
            let columns = self.x.chunks(n).zip(squares);
            let scaled: Vec<f64> =
                columns.flat_map(|(column, square)| column.iter().map(move |x| x * square.sqrt())).collect();
            let scaled = MatRef::from_column_major_slice(&scaled, n, d);
            multiply(&mut kernel, n, scaled, BlockStructure::Rectangular, scaled.transpose(), true);
        }
        let halves: Vec<f64> = kernel.iter().step_by(n + 1).map(|square| 0.5 * square).collect();
        for (k, column) in kernel.chunks_mut(n).enumerate() {
            let (half, column) = (halves[k], &mut column[k..]);
            column.iter_mut().zip(&halves[k..]).for_each(|(entry, other)| *entry = (*entry - half - other).min(0.0));
            exp_in_place(column);
        }
        kernel
    }

    /// `P y` and `C^-1 1`.
    fn solve(&self, factor: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.samples();
        let mut solved = [self.y, &vec![1.0; n]].concat();
        let factor = MatRef::from_column_major_slice(factor, n, n);
        let right = MatMut::from_column_major_slice_mut(&mut solved, n, 2);
        solve_in_place(factor, right, Par::Seq, MemStack::new(&mut []));
        let ones = solved.split_off(n);
        let b = solved.iter().sum::<f64>() / ones.iter().sum::<f64>();
        solved.iter_mut().zip(&ones).for_each(|(alpha, one)| *alpha -= b * one);
        (solved, ones)
    }

    /// The derivative by `ln kappa_j^2`: `-a/4 kappa_j^2 sum_ik T_ik (x_ij - x_kj)^2` for the T of which `product` is the part below the
    /// diagonal, and of the penalty.
    fn by_lengths(&self, product: &[f64], squares: &[f64], a: f64) -> Vec<f64> {
        let (n, d) = (self.samples(), self.inputs());
        // For each sample the sum of its row and of its column.
        let mut sums: Vec<f64> = product.chunks(n).map(sum_in_lanes).collect();
        for column in product.chunks(n) {
            sums.iter_mut().zip(column).for_each(|(sum, entry)| *sum += entry);
        }
        let mut images = vec![0.0; n * d];
        if d > 0 {
            let columns = MatRef::from_column_major_slice(self.x, n, d);
            let product = MatRef::from_column_major_slice(product, n, n);
            multiply(&mut images, d, product, BlockStructure::TriangularLower, columns, false);
        }
        let each = self.x.chunks(n).zip(images.chunks(n)).zip(squares).map(|((x, image), square)| {
            let squared: f64 = x.iter().zip(&sums).map(|(x, sum)| x * x * sum).sum();
            let distances = squared - 2.0 * dot_in_lanes(x, image);
            -0.5 * a * square * distances + PENALTY * square / (square + NEGLIGIBLE)
        });
        each.collect()
    }
}

/// `out = left right`, with n rows and so many columns; only what is below the diagonal, if that is enough.
fn multiply(
    out: &mut [f64],
    columns: usize,
    left: MatRef<'_, f64>,
    left_structure: BlockStructure,
    right: MatRef<'_, f64>,
    below_diagonal: bool,
) {
    let structure = if below_diagonal { BlockStructure::TriangularLower } else { BlockStructure::Rectangular };
    let out = MatMut::from_column_major_slice_mut(out, left.nrows(), columns);
    let whole = BlockStructure::Rectangular;
    matmul(out, structure, Accum::Replace, left, left_structure, right, whole, 1.0, Par::Seq);
}

/// Cholesky's factor in place of a matrix that is given below its diagonal; `None` if it is not positive definite to rounding.
fn factorise(matrix: &mut [f64], n: usize) -> Option<()> {
    let params = Spec::default();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, params));
    let view = MatMut::from_column_major_slice_mut(matrix, n, n);
    cholesky_in_place(view, LltRegularization::default(), Par::Seq, MemStack::new(&mut memory), params).ok()?;
    matrix.iter().step_by(n + 1).all(|pivot| pivot.is_finite() && *pivot > 0.0).then_some(())
}

/// The inverse below its diagonal, and zeros above, of the matrix with this factor.
fn inverse_below_diagonal(factor: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    let mut memory = MemBuffer::new(inverse_scratch::<f64>(n, Par::Seq));
    let factor = MatRef::from_column_major_slice(factor, n, n);
    let view = MatMut::from_column_major_slice_mut(&mut out, n, n);
    inverse(view, factor, Par::Seq, MemStack::new(&mut memory));
    out
}
