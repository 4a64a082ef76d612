//! `Q`, its gradient and its second derivatives, from the sums of a pass.

use super::{
    Gram,
    layout::Layout,
    pass::{self, Batch, Cross, Sums},
    unit,
};
use crate::{
    Scratch,
    exponent::WidePower,
    form::{Evaluation, QForm},
};

/// Most dual vectors of one pass: beyond this it is bound by arithmetic, not by memory.
const MAX_BATCH: u64 = 16;
/// Bytes of working memory that a pass may take for more than one dual vector.
const BATCH_BYTES: u64 = 1 << 27;

/// The number of dual vectors of one pass, given its bytes for one.
pub(super) fn batch(bytes: u64) -> usize {
    (BATCH_BYTES / bytes.max(1)).clamp(1, MAX_BATCH) as usize
}

impl Gram<'_> {
    /// `Q`, `omega` and, if asked for, M, for as many dual vectors at a time as working memory allows.
    pub(super) fn contract(&self, alphas: &[f64], curvature: bool, out: &mut Evaluation, scratch: &mut Scratch) {
        let n = self.samples();
        let problems = alphas.len() / n;
        out.resize(n, problems);
        out.curvatures.resize(if curvature { n * n * problems } else { 0 }, 0.0);
        let batch = batch(8 * pass::memory(&self.layout, 1, curvature) as u64);
        for (pass, alphas) in alphas.chunks(n * batch).enumerate() {
            self.contract_batch(alphas, pass * batch, curvature, out, scratch);
        }
    }

    /// The same for the dual vectors of one pass; `first` is the place of the first one.
    fn contract_batch(
        &self,
        alphas: &[f64],
        first: usize,
        curvature: bool,
        out: &mut Evaluation,
        scratch: &mut Scratch,
    ) {
        let Layout { heads, tails, .. } = &self.layout;
        let n = self.samples();
        let problems = alphas.len() / n;
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

        for (problem, copy) in copies.chunks(n).enumerate() {
            let sums = sums.of_problem(problem, problems);
            let at = first + problem;
            (out.values[at], out.ln_values[at]) =
                self.gradient(copy, exponents[problem], &sums, &mut out.omegas[at * n..(at + 1) * n]);
            if curvature {
                self.second_derivatives(copy, exponents[problem], &sums, &mut out.curvatures[at * n * n..][..n * n]);
            }
        }
    }

    /// `omega`; returns `Q` and its logarithm.
    fn gradient(&self, alpha: &[f64], exponent: f64, sums: &Sums<'_>, omega: &mut [f64]) -> (f64, f64) {
        let q = self.exponent.q();
        omega.fill(0.0);
        self.layout.heads.add_gradient(sums.heads, alpha, omega);
        self.layout.tails.add_gradient(sums.tails, alpha, omega);
        let factorial = self.factorial(1);
        let product: f64 = alpha.iter().zip(&*omega).map(|(alpha, omega)| alpha * omega).sum();
        let power = WidePower::new(1.0, exponent, q - 1.0);
        omega.iter_mut().for_each(|omega| *omega = power.times(*omega * factorial));
        // Rounding may leave a little less than nothing.
        let value = product * factorial / q;
        if value <= 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        let power = WidePower::new(1.0, exponent, q);
        (power.times(value), power.ln_times(value))
    }

    /// M.
    fn second_derivatives(&self, alpha: &[f64], exponent: f64, sums: &Sums<'_>, matrix: &mut [f64]) {
        let n = alpha.len();
        matrix.fill(0.0);
        self.layout.heads.add_hessian(sums.heads, alpha, matrix);
        self.layout.tails.add_hessian(sums.tails, alpha, matrix);
        let power = WidePower::new(1.0, exponent, self.exponent.q() - 2.0);
        let factorial = self.factorial(2);
        for a in 0..n {
            for b in 0..n {
                let entry = matrix[a * n + b] + sums.cross[a * n + b] + sums.cross[b * n + a];
                matrix[a * n + b] = power.times(entry * factorial);
            }
        }
    }
}
