//! Upper bounds on `|u_k|` over the subtrees of the monomials.
//!
//! A descendant of `x^k` at degree s is `x^k x^e` with an e of degree m in the variables from some place on, and
//! its coefficient is at most `A_(s+m) B(k) B(e)`, because `B(a + b) <= B(a) B(b)`. So with `v_i = alpha_i B(k) y_i^k`
//!
//! ```text
//! |u| <= A_(s+m) sum_i |v_i| T_i(m),    T_i(m) = max_(|e| = m) B(e) |y_i^e|,
//! ```
//!
//! and the distance of the optimum adds `radius ||phi||_2`, which is bounded in the same way. docs/interactions.md has
//! the whole argument.

use std::ops::Range;

use super::{
    SearchEnd,
    search::Meter,
    tree::{LANES, Tree, norm},
};
use crate::workers::checkpoint;

/// Most places from which maxima are kept, which bounds their memory. Other places use those of the nearest place before.
const MOST_STARTS: usize = 64;

/// `T_i(m)` for suffixes of the variables.
#[derive(Debug)]
pub(super) struct Bounds {
    stride: usize,
    highest: usize,
    /// Places between suffixes.
    step: usize,
    /// `T_i(m)`: by suffix, m and sample.
    largest: Vec<f64>,
    /// `max_(m >= 1) A_(s+m) T_i(m)`: by suffix, s and sample.
    reach: Vec<f64>,
    by_degree: Vec<f64>,
    radius: f64,
    /// A factor above 1 that makes up for rounding.
    margin: f64,
}

/// Bounds over a subtree.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Bound {
    /// On `|u_k|`.
    pub value: f64,
    /// On `|u_k|` and its width.
    pub upper: f64,
}

impl Bound {
    /// Over no monomial.
    pub(super) const NONE: Self = Self { value: 0.0, upper: 0.0 };

    pub(super) fn max(self, other: Self) -> Self {
        Self { value: self.value.max(other.value), upper: self.upper.max(other.upper) }
    }
}

impl Bounds {
    /// The bytes of the bounds of a tree.
    pub(super) fn bytes(tree: &Tree) -> u64 {
        let starts = tree.inputs.div_ceil(tree.inputs.div_ceil(MOST_STARTS)) as u64;
        16 * starts * (tree.highest() as u64 + 2) * tree.stride as u64
    }

    /// Finding the bounds takes time if there are many variables and degrees; it ends when the time of the search is over.
    pub(super) fn new(tree: &Tree, meter: &Meter) -> Result<Self, SearchEnd> {
        let (stride, highest, inputs) = (tree.stride, tree.highest(), tree.inputs);
        let step = inputs.div_ceil(MOST_STARTS);
        let starts = inputs.div_ceil(step);
        let row = (highest + 1) * stride;
        let mut largest = vec![0.0; starts * row];
        // By m and sample; no variables, so only the constant.
        let mut suffix = vec![0.0; row];
        suffix[..stride].fill(1.0);
        for place in (0..inputs).rev() {
            checkpoint();
            meter.check_time()?;
            extend(tree, tree.column(place), &mut suffix);
            if place % step == 0 {
                largest[place / step * row..][..row].copy_from_slice(&suffix);
            }
        }
        let by_degree = tree.coefficients.by_degree.clone();
        let mut reach = vec![0.0_f64; starts * row];
        for (reach, largest) in reach.chunks_mut(row).zip(largest.chunks(row)) {
            checkpoint();
            meter.check_time()?;
            for s in 0..highest {
                let reach = &mut reach[s * stride..(s + 1) * stride];
                for m in 1..=highest - s {
                    let terms = largest[m * stride..(m + 1) * stride].iter();
                    reach.iter_mut().zip(terms).for_each(|(reach, t)| *reach = reach.max(by_degree[s + m] * t));
                }
            }
        }
        // Sums of n products of the highest degree and their coefficients, once here and once in `Tree::value`.
        let margin = 1.0 + 8.0 * tree.rounding(highest);
        Ok(Self { stride, highest, step, largest, reach, by_degree, radius: tree.radius, margin })
    }

    fn row(&self, place: usize, at: usize) -> Range<usize> {
        let start = ((place / self.step) * (self.highest + 1) + at) * self.stride;
        start..start + self.stride
    }

    /// For each sample, the most that `|v_i|` of a monomial of degree s is multiplied by in its proper descendants, whose further
    /// variables are from this place on.
    pub(super) fn reach(&self, place: usize, s: usize) -> &[f64] {
        &self.reach[self.row(place, s)]
    }

    /// The bound that the sum of `|v_i| reach_i` and the norm of `z_i reach_i` give.
    pub(super) fn of_sums(&self, sum: f64, norm: f64) -> Bound {
        Bound { value: self.margin * sum, upper: self.margin * (sum + self.radius * norm) }
    }

    /// A sharper bound for the proper descendants of z at degree s: the maximum over their degrees of a sum over samples, instead of
    /// the sum over samples of maxima over degrees.
    pub(super) fn by_degree(&self, z: &[f64], alpha: &[f64], place: usize, s: usize) -> Bound {
        let mut bound = Bound::NONE;
        for m in 1..=self.highest - s {
            let coefficient = self.by_degree[s + m];
            if coefficient > 0.0 {
                let largest = &self.largest[self.row(place, m)];
                let (sum, squares) = sums(z, alpha, largest);
                let norm = norm(squares, || z.iter().zip(largest).map(|(z, t)| (z * t).abs()).sum());
                bound = bound.max(self.of_sums(coefficient * sum, coefficient * norm));
            }
        }
        bound
    }
}

/// The sums of `|alpha_i z_i| t_i` and of `(z_i t_i)^2`.
#[inline(always)]
fn sums(z: &[f64], alpha: &[f64], t: &[f64]) -> (f64, f64) {
    let (mut sum, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let rows = z.as_chunks::<LANES>().0.iter().zip(alpha.as_chunks::<LANES>().0).zip(t.as_chunks::<LANES>().0);
    for ((z, alpha), t) in rows {
        for lane in 0..LANES {
            let size = z[lane] * t[lane];
            sum[lane] += (size * alpha[lane]).abs();
            squares[lane] += size * size;
        }
    }
    (sum.iter().sum(), squares.iter().sum())
}

/// Lets one more variable take part in the maxima: `T(m) <- max_e T(m-e) B(e) |y|^e`.
fn extend(tree: &Tree, column: &[f64], suffix: &mut [f64]) {
    let (stride, highest) = (tree.stride, tree.highest());
    // B(e) |y|^e by e and sample.
    let most = if tree.coefficients.distinct { highest.min(1) } else { highest };
    let mut powers = vec![1.0; (most + 1) * stride];
    for e in 1..=most {
        let (before, after) = powers.split_at_mut(e * stride);
        let before = &before[(e - 1) * stride..];
        for ((after, before), y) in after.iter_mut().zip(before).zip(column) {
            *after = before * y.abs() * tree.coefficients.by_exponent[e];
        }
    }
    for m in (1..=highest).rev() {
        let (lower, own) = suffix.split_at_mut(m * stride);
        for e in 1..=most.min(m) {
            let (lower, powers) =
                (&lower[(m - e) * stride..(m - e + 1) * stride], &powers[e * stride..(e + 1) * stride]);
            for ((own, lower), power) in own.iter_mut().zip(lower).zip(powers) {
                *own = own.max(lower * power);
            }
        }
    }
}
