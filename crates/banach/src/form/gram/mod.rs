//! The Gram route: `Q` from a tensor kernel alone, for even q; the only one for infinitely many features.
//!
//! ```text
//! Q(alpha) = (1/q) sum_(i_1, ..., i_q) K(x_(i_1), ..., x_(i_q)) alpha_(i_1) ... alpha_(i_q)      (15) [eq:dualellp2]
//! ```
//!
//! `multisets.rs` holds the algebra of symmetric tensors, `layout.rs` the packed storage, `products.rs` how it is filled,
//! `pass.rs` and `contract.rs` how it is read.

mod contract;
mod diagonal;
#[cfg(test)]
mod laws;
mod layout;
mod multisets;
mod pass;
mod predictor;
mod products;
mod subset;

use std::{fmt, sync::Arc};

use rayon::prelude::*;

use self::{
    diagonal::Diagonal,
    layout::Layout,
    pass::{Batch, Cross, Sums},
    products::{Products, Work},
};
use super::{Evaluation, LinePoint, Lines, Predict, QForm};
use crate::{
    Error, Exponent, FeatureMatrix, Memory, Scratch,
    exponent::{WidePower, binary_exponent, largest, scale_by_exp2},
    kernel::TensorKernel,
};

/// `Q` of the features of a tensor kernel, from the Gram tensor of order q = 2, 4, 6 or 8.
///
/// The tensor is stored with all its symmetries used, `(n+q-1 choose q)` numbers, or recomputed block by block in
/// every pass; both give the same numbers, bit for bit. One evaluation reads the tensor once. The matrix
/// `M(alpha) = sum K alpha_(i_3) ... alpha_(i_q)` costs the same pass, and gives `omega = M alpha` and the Hessian
/// `(q-1) M`.
///
/// Sums over the tensor cancel more than those over features: where `u = Phi_n* alpha` is smaller than its terms by a factor
/// c, `Q` loses as many digits as `c^q` has.
#[derive(Clone)]
pub struct Gram<'a> {
    matrix: FeatureMatrix<'a>,
    kernel: Arc<dyn TensorKernel>,
    exponent: Exponent,
    layout: Layout,
    diagonal: Diagonal,
    /// The packed tensor; `None` if it is streamed.
    entries: Option<Vec<f64>>,
}

/// What to do where a tensor does not fit.
const INSTEAD: &str = "stream the tensor (Gram::streamed), take fewer samples or a smaller q, or list the features";

impl<'a> Gram<'a> {
    /// The stored tensor of a kernel on the samples of a matrix.
    pub fn new(
        matrix: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        let order = exponent.order()?;
        memory.check("the Gram tensor", Self::bytes(matrix.samples(), order), INSTEAD)?;
        let mut gram = Self::streamed(matrix, kernel, exponent, memory)?;
        let mut entries = memory.zeros("the Gram tensor", gram.layout.entries, INSTEAD)?;
        gram.fill(&mut entries);
        gram.entries = Some(entries);
        Ok(gram)
    }

    /// The same form without the tensor: every pass recomputes it, block by block, in memory that it allocates.
    pub fn streamed(
        matrix: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        Self::unfilled(matrix, Arc::new(kernel), exponent, memory)
    }

    fn unfilled(
        matrix: FeatureMatrix<'a>,
        kernel: Arc<dyn TensorKernel>,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        let order = exponent.order()?;
        Self::check_pass(matrix.samples(), order, memory)?;
        let diagonal = Diagonal::of_samples(&*kernel, &matrix, order)?;
        let layout = Layout::gram(matrix.samples(), order);
        Ok(Self { matrix, kernel, exponent, layout, diagonal, entries: None })
    }

    fn check_pass(samples: usize, order: usize, memory: Memory) -> Result<(), Error> {
        let instead = "take fewer samples or a smaller q, or list the features";
        memory.check("a pass over the Gram tensor", working_bytes(samples, order), instead)
    }

    /// The bytes that a stored tensor of n samples takes together with its passes; `None` beyond all counting.
    pub fn bytes(samples: usize, order: usize) -> Option<u64> {
        let entries = u64::try_from(Layout::count(samples, order)?).ok()?;
        entries.checked_mul(8)?.checked_add(working_bytes(samples, order)?)
    }

    fn fill(&self, entries: &mut [f64]) {
        let products = self.products();
        let tiles = self.layout.split(entries);
        tiles.into_par_iter().for_each_init(Work::default, |work, (tile, out)| products.fill(tile, out, work));
    }

    /// The samples.
    pub fn matrix(&self) -> &FeatureMatrix<'a> {
        &self.matrix
    }

    /// The kernel.
    pub fn kernel(&self) -> &dyn TensorKernel {
        &*self.kernel
    }

    /// The number of entries of the packed tensor, whether stored or not.
    pub fn entries(&self) -> usize {
        self.layout.entries
    }

    /// Whether the tensor is stored.
    pub fn is_stored(&self) -> bool {
        self.entries.is_some()
    }

    /// The packed tensor as it is stored; `None` if it is streamed.
    pub fn packed(&self) -> Option<&[f64]> {
        self.entries.as_deref()
    }

    /// `K(x_(i_1), ..., x_(i_q))`, from the stored tensor; `None` if there is none.
    ///
    /// # Panics
    ///
    /// If there are not q indices, or one is not below n.
    pub fn entry(&self, indices: &[usize]) -> Option<f64> {
        let Layout { heads, tails, .. } = &self.layout;
        assert_eq!(indices.len(), heads.size() + tails.size(), "an entry has q indices");
        assert!(indices.iter().all(|&i| i < self.samples()), "indices are below n");
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        let (head, tail) = sorted.split_at(heads.size());
        let (head, tail) = (heads.rank(head), tails.rank(tail));
        let stored = self.entries.as_ref()?[self.layout.place(head, tail)];
        Some(stored * products::ways(&self.layout, head, tail))
    }

    fn order(&self) -> usize {
        2 * self.layout.heads.size()
    }

    fn products(&self) -> Products<'_> {
        let Self { layout, kernel, matrix, diagonal, .. } = self;
        Products { layout, kernel: &**kernel, x: matrix, shifts: &diagonal.shifts, points: None }
    }

    fn pass<'b>(&self, batch: &Batch<'_>, memory: &'b mut [f64]) -> Sums<'b> {
        pass::run(&self.products(), self.entries.as_deref(), batch, memory)
    }

    /// `Q`, `omega` and, if asked for, M.
    fn contract(&self, alphas: &[f64], curvature: bool, out: &mut Evaluation, scratch: &mut Scratch) {
        let Layout { heads, tails, .. } = &self.layout;
        let (n, q) = (self.samples(), self.exponent.q());
        let problems = alphas.len() / n;
        out.resize(n, problems);
        let slopes = if curvature {
            (if heads.size() == 2 { 0 } else { heads.len() * heads.size() }, tails.len() * tails.size())
        } else {
            (0, 0)
        };
        let per_problem = n + 1 + heads.len() + tails.len() + slopes.0 + slopes.1;
        let (copies, rest) = scratch.duals.take(problems * per_problem).split_at_mut(n * problems);
        let (exponents, rest) = rest.split_at_mut(problems);
        let (head_weights, rest) = rest.split_at_mut(heads.len() * problems);
        let (tail_weights, rest) = rest.split_at_mut(tails.len() * problems);
        let (head_slopes, tail_slopes) = rest.split_at_mut(slopes.0 * problems);
        for (problem, (alpha, copy)) in alphas.chunks(n).zip(copies.chunks_mut(n)).enumerate() {
            exponents[problem] = unit(alpha, copy);
            heads.weights(copy, &mut head_weights[problem * heads.len()..][..heads.len()]);
            tails.weights(copy, &mut tail_weights[problem * tails.len()..][..tails.len()]);
            if curvature {
                heads.derivatives(copy, &mut head_slopes[problem * slopes.0..][..slopes.0]);
                tails.derivatives(copy, &mut tail_slopes[problem * slopes.1..][..slopes.1]);
            }
        }
        let cross = curvature.then_some(Cross { alphas: copies, heads: head_slopes, tails: tail_slopes });
        let batch = Batch { heads: head_weights, tails: tail_weights, cross };
        let sums = self.pass(&batch, scratch.pass.take(pass::memory(&self.layout, problems, curvature)));

        if curvature {
            out.curvatures.resize(n * n * problems, 0.0);
        }
        for (problem, (copy, omega)) in copies.chunks(n).zip(out.omegas.chunks_mut(n)).enumerate() {
            let head_sums = &sums.heads[problem * heads.len()..][..heads.len()];
            let tail_sums = &sums.tails[problem * tails.len()..][..tails.len()];
            omega.fill(0.0);
            heads.add_gradient(head_sums, copy, omega);
            tails.add_gradient(tail_sums, copy, omega);
            let exponent = exponents[problem];
            // Rounding may leave a little less than nothing.
            let product = copy.iter().zip(&*omega).map(|(alpha, omega)| alpha * omega).sum::<f64>();
            let value = (product * self.factorial(1) / q).max(0.0);
            if value == 0.0 {
                (out.values[problem], out.ln_values[problem]) = (0.0, f64::NEG_INFINITY);
            } else {
                let power = WidePower::new(1.0, exponent, q);
                (out.values[problem], out.ln_values[problem]) = (power.times(value), power.ln_times(value));
            }
            let power = WidePower::new(1.0, exponent, q - 1.0);
            omega.iter_mut().for_each(|omega| *omega = power.times(*omega * self.factorial(1)));
            if curvature {
                let matrix = &mut out.curvatures[problem * n * n..][..n * n];
                matrix.fill(0.0);
                heads.add_hessian(head_sums, copy, matrix);
                tails.add_hessian(tail_sums, copy, matrix);
                let cross = &sums.cross[problem * n * n..][..n * n];
                let power = WidePower::new(1.0, exponent, q - 2.0);
                for a in 0..n {
                    for b in 0..n {
                        let entry = matrix[a * n + b] + cross[a * n + b] + cross[b * n + a];
                        matrix[a * n + b] = power.times(entry * self.factorial(2));
                    }
                }
            }
        }
    }

    /// `(q - less)!`
    fn factorial(&self, less: usize) -> f64 {
        (1..=self.order() - less).map(|m| m as f64).product()
    }
}

/// Bytes for index lists and for a pass over a single dual vector.
fn working_bytes(samples: usize, order: usize) -> Option<u64> {
    let half = u64::try_from(multisets::count(samples, order / 2)?).ok()?;
    let lists = half.checked_mul(8 * order as u64)?;
    let square = (samples as u64).checked_mul(samples as u64)?;
    let passes = half.checked_mul(2)?.checked_add(square)?.checked_mul(8 * layout::MAX_STRIPES as u64)?;
    lists.checked_add(passes)
}

/// Copies a dual vector scaled by `2^-k` to a size in [1/2, 1), and returns k.
fn unit(alpha: &[f64], copy: &mut [f64]) -> f64 {
    let size = largest(alpha);
    let k = if size == 0.0 { ZERO_EXPONENT } else { f64::from(binary_exponent(size)) };
    copy.iter_mut().zip(alpha).for_each(|(copy, alpha)| *copy = scale_by_exp2(*alpha, -k));
    k
}

/// The exponent of a zero vector: below every other, so that it never sets a common scale.
const ZERO_EXPONENT: f64 = -1e4;

impl QForm for Gram<'_> {
    fn exponent(&self) -> Exponent {
        self.exponent
    }

    fn samples(&self) -> usize {
        self.matrix.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.contract(alphas, false, out, scratch);
    }

    fn curvature(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.contract(alphas, true, out, scratch);
    }

    /// `Q(alpha + t d)` is a polynomial of degree q in t. With the coefficients `W^(r)` of `W(alpha + t d)`, its coefficient
    /// of `t^m` is the sum of `<W_H^(r), B W_T^(s)>` over `r + s = m`: nothing is subtracted.
    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        let Layout { heads, tails, .. } = &self.layout;
        let (n, half) = (self.samples(), heads.size());
        let count = directions.len() / n;
        // One list for alpha, then `half` lists for every direction.
        let lists = 1 + half * count;
        let own = n * (1 + count) + (lists + 1 + half) * (heads.len() + tails.len());
        let (copies, rest) = scratch.duals.take(own).split_at_mut(n * (1 + count));
        let (head_weights, rest) = rest.split_at_mut(lists * heads.len());
        let (tail_weights, line) = rest.split_at_mut(lists * tails.len());
        let (head_line, tail_line) = line.split_at_mut((1 + half) * heads.len());
        let kept = scratch.features.take((1 + count) + count * (2 * half + 1));
        let (exponents, coefficients) = kept.split_at_mut(1 + count);
        let vectors = std::iter::once(alpha).chain(directions.chunks(n));
        for ((vector, copy), exponent) in vectors.zip(copies.chunks_mut(n)).zip(&mut *exponents) {
            *exponent = unit(vector, copy);
        }
        let (alpha, directions) = copies.split_at(n);
        heads.weights(alpha, &mut head_weights[..heads.len()]);
        tails.weights(alpha, &mut tail_weights[..tails.len()]);
        for (line, d) in directions.chunks(n).enumerate() {
            heads.line_weights(alpha, d, head_line);
            tails.line_weights(alpha, d, tail_line);
            let first = 1 + line * half;
            head_weights[first * heads.len()..][..half * heads.len()].copy_from_slice(&head_line[heads.len()..]);
            tail_weights[first * tails.len()..][..half * tails.len()].copy_from_slice(&tail_line[tails.len()..]);
        }
        let batch = Batch { heads: head_weights, tails: tail_weights, cross: None };
        let sums = self.pass(&batch, scratch.pass.take(pass::memory(&self.layout, lists, false)));
        coefficients.fill(0.0);
        for (line, coefficients) in coefficients.chunks_mut(2 * half + 1).enumerate() {
            let list = |r: usize| if r == 0 { 0 } else { line * half + r };
            for r in 0..=half {
                let weights = &head_weights[list(r) * heads.len()..][..heads.len()];
                for s in 0..=half {
                    let sums = &sums.heads[list(s) * heads.len()..][..heads.len()];
                    let product: f64 = weights.iter().zip(sums).map(|(weight, sum)| weight * sum).sum();
                    coefficients[r + s] += self.factorial(1) * product;
                }
            }
        }
        Box::new(GramLines { order: 2 * half, exponents, coefficients })
    }

    fn predictor<'b>(&'b self, alpha: &[f64]) -> Box<dyn Predict + 'b> {
        Box::new(predictor::GramPredictor::new(self, alpha))
    }
}

/// Polynomials in the step.
struct GramLines<'a> {
    order: usize,
    /// Powers of two by which alpha and each direction were divided.
    exponents: &'a [f64],
    /// For each line the coefficients of `t^0, ..., t^q`.
    coefficients: &'a [f64],
}

impl Lines for GramLines<'_> {
    fn at(&self, line: usize, t: f64) -> LinePoint {
        let (q, order) = (self.order as f64, self.order as i32);
        let (start, d_exponent) = (self.exponents[0], self.exponents[1 + line]);
        let step = if t == 0.0 { ZERO_EXPONENT } else { d_exponent + f64::from(binary_exponent(t.abs())) };
        let common = start.max(step);
        let (alpha, d) = (scale_by_exp2(1.0, start - common), scale_by_exp2(t, d_exponent - common));
        let coefficients = &self.coefficients[line * (self.order + 1)..][..=self.order];
        let (mut value, mut slope, mut bregman) = (0.0, 0.0, 0.0);
        for (m, coefficient) in (0..=order).zip(coefficients) {
            let term = coefficient * alpha.powi(order - m);
            value += term * d.powi(m);
            if m >= 1 {
                slope += f64::from(m) * term * d.powi(m - 1);
            }
            if m >= 2 {
                bregman += term * d.powi(m);
            }
        }
        let power = WidePower::new(1.0, common, q);
        LinePoint {
            value: power.times(value.max(0.0)),
            slope: WidePower::new(1.0, common, q - 1.0).scaled_by_exp2(d_exponent).times(slope),
            bregman: power.times(bregman.max(0.0)),
        }
    }
}

impl fmt::Debug for Gram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gram")
            .field("matrix", &self.matrix)
            .field("kernel", &self.kernel)
            .field("exponent", &self.exponent)
            .field("entries", &self.layout.entries)
            .field("stored", &self.is_stored())
            .finish()
    }
}
