//! `Q` along lines.

use super::{Gram, unit};
use crate::{
    data::Scratch,
    form::{Expanded, LinePoint, Lines, QForm},
    numeric::{WidePower, ZERO_EXPONENT, binary_exponent, dot, scale_by_exp2},
    tensor::{Batch, Staircase, pass_length},
};

/// `Q(alpha + t d)` is a polynomial of degree q in t. With the coefficients `W^(r)` of `W(alpha + t d)`, its coefficient
/// of `t^m` is the sum of `<W_H^(r), B W_T^(s)>` over `r + s = m`: nothing is subtracted.
pub(super) fn lines<'a>(
    gram: &Gram<'_>,
    alpha: &[f64],
    directions: &[f64],
    scratch: &'a mut Scratch,
) -> Box<dyn Lines + 'a> {
    let Staircase { heads, tails, .. } = &gram.tensor.layout;
    let (n, half) = (gram.samples(), heads.size());
    let count = directions.len() / n;
    // One list for alpha, then `half` lists for every direction.
    let lists = 1 + half * count;
    let own = n * (1 + count) + (lists + 1 + half) * (heads.len() + tails.len());
    let (copies, rest) = scratch.duals.take(own).split_at_mut(n * (1 + count));
    let (head_weights, rest) = rest.split_at_mut(lists * heads.len());
    let (tail_weights, line) = rest.split_at_mut(lists * tails.len());
    let (head_line, tail_line) = line.split_at_mut((1 + half) * heads.len());
    let kept = scratch.per_feature.take((1 + count) + count * (2 * half + 1));
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
    coefficients.fill(0.0);
    let together = gram.together(false);
    for first in (0..lists).step_by(together) {
        let part = first..(first + together).min(lists);
        let batch = Batch {
            problems: part.len(),
            heads: &head_weights[part.start * heads.len()..part.end * heads.len()],
            tails: &tail_weights[part.start * tails.len()..part.end * tails.len()],
            cross: None,
        };
        let sums = gram.pass(&batch, scratch.pass.take(pass_length(&gram.tensor.layout, part.len(), false)));
        for (list, sums) in part.zip(sums.heads.chunks(heads.len())) {
            // The list of alpha belongs to every line, the others to one.
            let (own, s) = if list == 0 {
                (0..count, 0)
            } else {
                ((list - 1) / half..(list - 1) / half + 1, (list - 1) % half + 1)
            };
            for line in own {
                for r in 0..=half {
                    let with = if r == 0 { 0 } else { line * half + r };
                    let weights = &head_weights[with * heads.len()..][..heads.len()];
                    let product = dot(weights, sums);
                    coefficients[line * (2 * half + 1) + r + s] += gram.factorial(1) * product;
                }
            }
        }
    }
    Box::new(GramLines { order: 2 * half, passes: 1, exponents, coefficients })
}

/// `Q` between two points. Up to degree 4 its polynomial follows from Q, its slope and its curvature at both ends, which are
/// known; otherwise it takes a pass.
pub(super) fn segment<'a>(
    gram: &Gram<'_>,
    (from, at_from): Expanded<'_>,
    (to, at_to): Expanded<'_>,
    scratch: &'a mut Scratch,
) -> Box<dyn Lines + 'a> {
    let (n, order) = (gram.samples(), gram.order());
    let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    let values = [at_from, at_to].map(|at| at.evaluation.values[0]);
    let slopes = [at_from, at_to].map(|at| dot(&at.evaluation.omegas, &d));
    let curvature: f64 =
        d.iter().zip(super::curvature(at_from).chunks(n)).map(|(entry, row)| entry * dot(row, &d)).sum();
    let second = 0.5 * (order as f64 - 1.0) * curvature;
    let rest = values[1] - values[0] - slopes[0] - second;
    let slope_rest = slopes[1] - slopes[0] - 2.0 * second;
    if order > 4 || !(rest.is_finite() && slope_rest.is_finite()) {
        return lines(gram, from, &d, scratch);
    }
    let known = [values[0], slopes[0], second, 4.0 * rest - slope_rest, slope_rest - 3.0 * rest];
    let kept = scratch.per_feature.take(order + 3);
    let (exponents, coefficients) = kept.split_at_mut(2);
    exponents.fill(0.0);
    coefficients.copy_from_slice(&known[..=order]);
    Box::new(GramLines { order, passes: 0, exponents, coefficients })
}

/// Polynomials in the step.
struct GramLines<'a> {
    order: usize,
    passes: usize,
    /// Powers of two by which alpha and each direction were divided.
    exponents: &'a [f64],
    /// For each line the coefficients of `t^0, ..., t^q`.
    coefficients: &'a [f64],
}

impl Lines for GramLines<'_> {
    fn passes(&self) -> usize {
        self.passes
    }

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
