//! `Q`, its gradient and its second derivatives, from the sums of a pass.

use std::f64::consts::LN_2;

use rayon::prelude::*;

use super::{Gram, unit};
use crate::{
    data::Scratch,
    form::{
        Evaluation, QForm,
        rounding::{self, UNIT},
    },
    kernel::condition,
    numeric::{WidePower, dot},
    tensor::{Batch, Cross, PassSums, Staircase, additions, pass_length, ways},
};

/// Most dual vectors of one pass: beyond this it is bound by arithmetic, not by memory.
const MAX_BATCH: u64 = 16;
/// Bytes of working memory that a pass may take to serve more than one dual vector: 128 MB, which most machines can spare.
const BATCH_BYTES: u64 = 1 << 27;

/// The most dual vectors of one pass, given its bytes for one and those that may be taken.
pub(super) fn batch(bytes: u64, room: u64) -> usize {
    (room.min(BATCH_BYTES) / bytes.max(1)).clamp(1, MAX_BATCH) as usize
}

impl Gram<'_> {
    /// The most dual vectors of one pass over this tensor.
    pub(super) fn together(&self, curvature: bool) -> usize {
        let bytes = |problems: u64| 8 * pass_length(&self.tensor.layout, problems as usize, curvature) as u64;
        let room = self.room.min(BATCH_BYTES);
        (2..=MAX_BATCH).rev().find(|&problems| bytes(problems) <= room).unwrap_or(1) as usize
    }

    /// `Q`, `omega` and, if asked for, M, for as many dual vectors at a time as working memory allows.
    pub(super) fn contract(&self, alphas: &[f64], curvature: bool, out: &mut Evaluation, scratch: &mut Scratch) {
        let n = self.samples();
        let problems = alphas.len() / n;
        out.resize(n, problems);
        out.curvatures.resize(if curvature { n * n * problems } else { 0 }, 0.0);
        if curvature && self.order() == 2 {
            // M is the Gram matrix at every dual vector.
            out.curvatures.chunks_mut(n * n).for_each(|matrix| self.matrix_of_pairs(matrix));
        }
        let curvature = curvature && self.order() > 2;
        let batch = self.together(curvature);
        for (pass, alphas) in alphas.chunks(n * batch).enumerate() {
            self.contract_batch(alphas, pass * batch, curvature, out, scratch);
        }
    }

    /// The Gram matrix of order 2.
    fn matrix_of_pairs(&self, matrix: &mut [f64]) {
        let (layout, n) = (&self.tensor.layout, self.samples());
        let mut filled = Vec::new();
        let packed = self.packed().unwrap_or_else(|| {
            filled.resize(layout.entries, 0.0);
            self.tensor.fill(&mut filled);
            &filled
        });
        for tile in &layout.tiles {
            for block in layout.tile_blocks(tile) {
                let columns = packed[tile.entries.clone()][block.entries].chunks(block.rows.len());
                for (k, column) in block.tails.zip(columns) {
                    for (i, entry) in block.rows.clone().zip(column) {
                        let entry = entry * ways(layout, i, k);
                        (matrix[i * n + k], matrix[k * n + i]) = (entry, entry);
                    }
                }
            }
        }
    }

    /// [`contract`](Self::contract) for the dual vectors of one pass; `first` is the place of the first one.
    fn contract_batch(
        &self,
        alphas: &[f64],
        first: usize,
        curvature: bool,
        out: &mut Evaluation,
        scratch: &mut Scratch,
    ) {
        let Staircase { heads, tails, .. } = &self.tensor.layout;
        let n = self.samples();
        let problems = alphas.len() / n;
        // The second derivatives of pairs follow from the dual vectors alone.
        let paired = curvature && heads.size() == 2;
        let weights = if paired { (0, 0) } else { (heads.len(), tails.len()) };
        let slopes = if curvature { (weights.0 * heads.size(), weights.1 * tails.size()) } else { (0, 0) };
        let per_problem = n + 1 + weights.0 + weights.1 + slopes.0 + slopes.1;
        let (copies, rest) = scratch.duals.take(problems * per_problem).split_at_mut(n * problems);
        let (exponents, rest) = rest.split_at_mut(problems);
        let (head_weights, rest) = rest.split_at_mut(weights.0 * problems);
        let (tail_weights, rest) = rest.split_at_mut(weights.1 * problems);
        let (head_slopes, tail_slopes) = rest.split_at_mut(slopes.0 * problems);
        for (problem, (alpha, copy)) in alphas.chunks(n).zip(copies.chunks_mut(n)).enumerate() {
            exponents[problem] = unit(alpha, copy);
            if !paired {
                heads.weights(copy, &mut head_weights[problem * heads.len()..][..heads.len()]);
                tails.weights(copy, &mut tail_weights[problem * tails.len()..][..tails.len()]);
            }
            if curvature && !paired {
                heads.derivatives(copy, &mut head_slopes[problem * slopes.0..][..slopes.0]);
                tails.derivatives(copy, &mut tail_slopes[problem * slopes.1..][..slopes.1]);
            }
        }
        let cross = curvature.then_some(Cross { alphas: copies, heads: head_slopes, tails: tail_slopes });
        let batch = Batch { problems, heads: head_weights, tails: tail_weights, cross };
        let sums = self.pass(&batch, scratch.pass.take(pass_length(&self.tensor.layout, problems, curvature)));

        let part = first * n..(first + problems) * n;
        let found = copies.par_chunks(n).zip(&*exponents).enumerate();
        let values = out.values[first..].par_iter_mut().zip(&mut out.ln_values[first..]);
        let vectors = out.omegas[part.clone()].par_chunks_mut(n).zip(out.roundings[part.clone()].par_chunks_mut(n));
        found.zip(values).zip(vectors).for_each(
            |(((problem, (copy, exponent)), (value, ln_value)), (omega, roundings))| {
                (*value, *ln_value) = self.gradient(copy, *exponent, &sums.of_problem(problem, problems), omega);
                self.roundings(copy, *exponent, roundings);
            },
        );
        if curvature {
            let matrices = out.curvatures[part.start * n..part.end * n].par_chunks_mut(n * n);
            copies.par_chunks(n).zip(&*exponents).zip(matrices).enumerate().for_each(
                |(problem, ((copy, exponent), matrix))| {
                    self.second_derivatives(copy, *exponent, &sums.of_problem(problem, problems), matrix);
                },
            );
        }
    }

    /// `omega`; returns `Q` and its logarithm.
    fn gradient(&self, alpha: &[f64], exponent: f64, sums: &PassSums<'_>, omega: &mut [f64]) -> (f64, f64) {
        let q = self.exponent.q();
        omega.fill(0.0);
        self.tensor.layout.heads.add_gradient(sums.heads, alpha, omega);
        self.tensor.layout.tails.add_gradient(sums.tails, alpha, omega);
        let factorial = self.factorial(1);
        let product = dot(alpha, omega);
        let power = WidePower::new(1.0, exponent, q - 1.0);
        omega.iter_mut().for_each(|omega| *omega = power.times(*omega * factorial));
        // Rounding may leave a negative number.
        let value = product * factorial / q;
        if value <= 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        let power = WidePower::new(1.0, exponent, q);
        (power.times(value), power.ln_times(value))
    }

    /// How far rounding can have moved `omega`; see `form/rounding.rs`.
    fn roundings(&self, alpha: &[f64], exponent: f64, out: &mut [f64]) {
        let ln_norms = &self.tensor.diagonal.ln_sizes;
        let ln_moduli = rounding::ln_moduli(alpha, ln_norms) + exponent * LN_2;
        rounding::of_tensor(self.exponent.q(), ln_moduli, ln_norms.iter().copied(), self.units(), out);
    }

    /// The units in the last place by which an entry and the sums over all of them can be off, relative to the kernel at the
    /// moduli of the data.
    ///
    /// An entry is a function of a sum over the inputs of products of q numbers; a relative error of the sum grows by the
    /// kernel's [`condition`]. Evaluating a kernel takes fewer than 64 units, or a few for every degree, and the division of a
    /// normalised one those of its logarithms. A sum over the tensor meets every head and tail once at most.
    fn units(&self) -> f64 {
        let Staircase { heads, tails, stripes, .. } = &self.tensor.layout;
        let (n, q, d) = (self.samples() as f64, self.exponent.q(), self.tensor.matrix.features());
        let condition = condition(&*self.tensor.kernel, self.tensor.diagonal.largest);
        let inputs = if self.tensor.kernel.symmetric() > 1 { d } else { additions(d) };
        let entry = condition * (inputs as f64 + q + 12.0) + 64.0;
        let divided = if self.tensor.kernel.normalized() { entry + 4.0 * self.tensor.diagonal.largest_ln } else { 0.0 };
        let sum = (heads.len() + tails.len() + stripes.len()) as f64 + 3.0 * n + 6.0 * q;
        entry + divided + sum
    }

    /// Bounds the rounding of one evaluation again, by the tensor of the moduli of the data instead of what bounds its entries.
    pub(super) fn sharpen_roundings(&self, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
        let Ok(tensor) = self.tensor.moduli() else { return 0 };
        let moduli = Gram { tensor, exponent: self.exponent, entries: None, room: self.room };
        let alpha: Vec<f64> = alpha.iter().map(|alpha| alpha.abs()).collect();
        let mut evaluation = Evaluation::default();
        moduli.evaluate(&alpha, &mut evaluation, scratch);
        let unit = 1.01 * UNIT * self.units();
        for (rounding, omega) in at.roundings.iter_mut().zip(&evaluation.omegas) {
            *rounding = rounding.min(unit * omega.abs());
        }
        1
    }

    /// M.
    fn second_derivatives(&self, alpha: &[f64], exponent: f64, sums: &PassSums<'_>, matrix: &mut [f64]) {
        let n = alpha.len();
        matrix.fill(0.0);
        self.tensor.layout.heads.add_hessian(sums.heads, alpha, matrix);
        self.tensor.layout.tails.add_hessian(sums.tails, alpha, matrix);
        let power = WidePower::new(1.0, exponent, self.exponent.q() - 2.0);
        let factorial = self.factorial(2);
        for a in 0..n {
            // Both halves are the same numbers.
            for b in 0..=a {
                let entry = matrix[a * n + b] + sums.cross[a * n + b] + sums.cross[b * n + a];
                let entry = power.times(entry * factorial);
                (matrix[a * n + b], matrix[b * n + a]) = (entry, entry);
            }
        }
    }
}
