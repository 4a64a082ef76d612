//! Sums over the samples: of the loss, of its conjugate and of the gap, a slice of samples at a time.

use std::ops::Range;

use rayon::prelude::*;

use super::DualProblem;
use crate::{
    loss::{Conjugate, GAP_ROUNDING, SliceTerms, terms_of_sample},
    numeric::{CHUNK, RunningSum, compensated_sum, two_sum},
};

/// Samples that one thread adds up. The blocks do not depend on the number of threads.
const BLOCK: usize = 1 << 13;
/// The share of itself by which a term of the gap of a loss that is made of parabolas may be rounded: a few units.
const PARABOLA_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// `sum_i gamma_i` times the terms of [`SliceTerms`], at predictions t and dual variables `s = alpha_i/gamma_i`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TermSums {
    pub value: f64,
    pub conjugate: f64,
    /// Both with the rounding of the terms.
    pub gap: f64,
    pub bound: f64,
}

/// Some samples that are present, as columns.
struct SampleChunk {
    length: usize,
    gammas: [f64; CHUNK],
    y: [f64; CHUNK],
    t: [f64; CHUNK],
    s: [f64; CHUNK],
    t_moved: [f64; CHUNK],
    s_moved: [f64; CHUNK],
    out: [[f64; CHUNK]; 4],
}

impl SampleChunk {
    fn new() -> Self {
        let [gammas, y, t, s, t_moved, s_moved] = [[0.0; CHUNK]; 6];
        Self { length: 0, gammas, y, t, s, t_moved, s_moved, out: [[0.0; CHUNK]; 4] }
    }
}

impl DualProblem<'_> {
    /// The loss term of the primal, `sum_i gamma_i L(y_i, t_i)`, with targets from their centre.
    pub(super) fn value_sum(&self, t: impl Fn(usize) -> f64 + Sync) -> f64 {
        let [sum] = self.sum_over(|samples| {
            let (mut chunk, mut sum) = (SampleChunk::new(), RunningSum::default());
            for samples in pieces(samples) {
                chunk.length = 0;
                for i in samples.filter(|&i| self.gammas[i] > 0.0) {
                    let k = chunk.length;
                    (chunk.gammas[k], chunk.y[k], chunk.t[k]) = (self.gammas[i], self.centred(self.y[i]), t(i));
                    chunk.length += 1;
                }
                let SampleChunk { length: n, gammas, y, t, out: [values, ..], .. } = &mut chunk;
                let (y, t, values) = (&y[..*n], &t[..*n], &mut values[..*n]);
                match self.loss.slices() {
                    Some(slices) => slices.values(y, t, values),
                    None => {
                        values.iter_mut().zip(y).zip(t).for_each(|((value, y), t)| *value = self.loss.value(*y, *t));
                    }
                }
                sum.add(&gammas[..*n], values);
            }
            [sum]
        });
        sum
    }

    /// The sums for predictions `t(i)` that are known up to `moved(i)`, and for the dual variables of alpha, which are known up to the rounding
    /// of `alpha_i/gamma_i`. Infinite where an absent sample has `alpha_i != 0`.
    pub(super) fn term_sums(
        &self,
        t: impl Fn(usize) -> f64 + Sync,
        moved: impl Fn(usize) -> f64 + Sync,
        alpha: &[f64],
    ) -> TermSums {
        let [value, conjugate, gap, bound, outside] = self.sum_over(|samples| {
            let (mut chunk, mut sums) = (SampleChunk::new(), [RunningSum::default(); 5]);
            for samples in pieces(samples) {
                chunk.length = 0;
                for i in samples {
                    let (k, gamma) = (chunk.length, self.gammas[i]);
                    if gamma > 0.0 {
                        let s = alpha[i] / gamma;
                        (chunk.gammas[k], chunk.y[k], chunk.s[k]) = (gamma, self.centred(self.y[i]), s);
                        (chunk.t[k], chunk.t_moved[k]) = (t(i), moved(i));
                        // More than a unit of s, unless the quotient is exact.
                        let exact = s.mul_add(gamma, -alpha[i]) == 0.0;
                        chunk.s_moved[k] = if exact { 0.0 } else { s.abs() * f64::EPSILON + f64::MIN_POSITIVE };
                        chunk.length += 1;
                    } else if alpha[i] != 0.0 {
                        sums[4].add(&[1.0], &[f64::INFINITY]);
                    }
                }
                self.terms_into(&mut chunk);
                for (sum, terms) in sums.iter_mut().zip(&chunk.out) {
                    sum.add(&chunk.gammas[..chunk.length], &terms[..chunk.length]);
                }
            }
            sums
        });
        let rounding = match self.loss.conjugate_kind() {
            Conjugate::Quadratic { .. } => PARABOLA_ROUNDING,
            Conjugate::Smooth(_) => GAP_ROUNDING,
        };
        let [gap, bound] = [gap, bound].map(|sum| sum * (1.0 + rounding) + outside);
        TermSums { value, conjugate: conjugate + outside, gap, bound }
    }

    fn terms_into(&self, chunk: &mut SampleChunk) {
        let SampleChunk { length: n, y, t, s, t_moved, s_moved, out: [values, conjugates, gaps, bounds], .. } = chunk;
        let n = *n;
        if let Some(slices) = self.loss.slices() {
            let out = SliceTerms { values, conjugates, gaps, bounds };
            return slices.terms([&y[..n], &t[..n], &s[..n]], [&t_moved[..n], &s_moved[..n]], out);
        }
        for k in 0..n {
            let terms = terms_of_sample(self.loss, [y[k], t[k], s[k]], [t_moved[k], s_moved[k]]);
            [values[k], conjugates[k], gaps[k], bounds[k]] = terms;
        }
    }

    /// The prediction of a sample by omega and b, and how far it may be off, given what rounding does to omega: by the rounding of this sum and
    /// of the target less the centre too.
    pub(super) fn moved(&self, i: usize, omega: f64, b: f64, rounding: f64) -> f64 {
        let (_, lost) = two_sum(omega, b);
        rounding + lost.abs() + self.centring(self.y[i]).abs()
    }

    /// The sums of all blocks of samples, in order.
    fn sum_over<const N: usize>(&self, block: impl Fn(Range<usize>) -> [RunningSum; N] + Sync) -> [f64; N] {
        let samples = self.samples();
        let totals = |at: usize| block(at * BLOCK..samples.min((at + 1) * BLOCK)).map(|sum| sum.total());
        if samples <= BLOCK {
            return totals(0);
        }
        let blocks: Vec<[f64; N]> = (0..samples.div_ceil(BLOCK)).into_par_iter().map(totals).collect();
        std::array::from_fn(|at| compensated_sum(blocks.iter().map(|sums| sums[at])))
    }
}

/// A block of samples, as many at a time as fit in a chunk.
fn pieces(samples: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = samples.end;
    samples.step_by(CHUNK).map(move |first| first..(first + CHUNK).min(end))
}
