//! `Q` along lines.

use super::{
    Gram,
    layout::Layout,
    pass::{self, Batch},
    unit,
};
use crate::{
    Scratch,
    exponent::{WidePower, ZERO_EXPONENT, binary_exponent, scale_by_exp2},
    form::{LinePoint, Lines, QForm},
};

/// `Q(alpha + t d)` is a polynomial of degree q in t. With the coefficients `W^(r)` of `W(alpha + t d)`, its coefficient
/// of `t^m` is the sum of `<W_H^(r), B W_T^(s)>` over `r + s = m`: nothing is subtracted.
pub(super) fn lines<'a>(
    gram: &Gram<'_>,
    alpha: &[f64],
    directions: &[f64],
    scratch: &'a mut Scratch,
) -> Box<dyn Lines + 'a> {
    let Layout { heads, tails, .. } = &gram.layout;
    let (n, half) = (gram.samples(), heads.size());
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
    let sums = gram.pass(&batch, scratch.pass.take(pass::memory(&gram.layout, lists, false)));
    coefficients.fill(0.0);
    for (line, coefficients) in coefficients.chunks_mut(2 * half + 1).enumerate() {
        let list = |r: usize| if r == 0 { 0 } else { line * half + r };
        for r in 0..=half {
            let weights = &head_weights[list(r) * heads.len()..][..heads.len()];
            for s in 0..=half {
                let sums = &sums.heads[list(s) * heads.len()..][..heads.len()];
                let product: f64 = weights.iter().zip(sums).map(|(weight, sum)| weight * sum).sum();
                coefficients[r + s] += gram.factorial(1) * product;
            }
        }
    }
    Box::new(GramLines { order: 2 * half, exponents, coefficients })
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
