//! The Hessian `(q-1) Phi_n diag(|u|^(q-2)) Phi_n*` on the features that carry its weight.
//!
//! For p near 1 nearly all of the trace sits on few features: a model that keeps those and puts the others in as a
//! multiple of the identity is as good for a Newton step, and `card(K)/keep` times as cheap.

use rayon::prelude::*;

use super::{Features, NEGLIGIBLE};
use crate::{
    Scratch,
    data::MAX_BLOCK,
    exponent::{WidePower, largest},
    form::{Evaluation, Expansion, Hessian, HessianPart, QForm},
};

/// Beyond this many samples a dense Hessian is not formed.
const MOST_DENSE: usize = 4096;

/// Evaluates a batch and keeps u.
pub(super) fn expand(form: &Features<'_>, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
    let (n, features) = (form.samples(), form.matrix.features());
    for at in &mut *out {
        at.kept.resize(features, 0.0);
        at.degree = 1.0;
    }
    if let [at] = out {
        form.pass(alphas, &mut at.kept, &mut at.evaluation, scratch);
    } else {
        let mut together = Evaluation::default();
        let mut kept = std::mem::take(&mut scratch.features);
        let products = kept.take(features * out.len());
        form.pass(alphas, products, &mut together, scratch);
        let (block, count) = (form.matrix.layout().block, out.len());
        out.par_iter_mut().enumerate().for_each(|(problem, at)| {
            for (kept, products) in at.kept.chunks_mut(block).zip(products.chunks(block * count)) {
                kept.copy_from_slice(&products[problem * kept.len()..][..kept.len()]);
            }
            at.evaluation.copy_from(&together, problem, n);
        });
        scratch.features = kept;
    }
    let copy = scratch.duals.take(n);
    for (alpha, at) in alphas.chunks(n).zip(out) {
        at.exponent = super::scaled(alpha, copy);
    }
}

/// The Hessian at an expansion, on the `keep` heaviest features.
pub(super) fn hessian(form: &Features<'_>, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
    let (n, q, matrix) = (form.samples(), form.exponent.q(), &form.matrix);
    if q == 2.0 {
        return Hessian::exact(HessianPart::Dense(form.square.get_or_init(|| square(form, scratch)).clone()));
    }
    let size = largest(&at.kept);
    if size < NEGLIGIBLE {
        return Hessian::exact(HessianPart::Factor(Vec::new()));
    }
    let Selection { columns, weights, tail } = Selection::heaviest(form, at, size, keep, scratch);
    let entries = matrix.scale_of(&columns);
    let power = WidePower::new(size, at.exponent, q - 2.0).scaled_by_exp2(2.0 * entries);
    let (main, trace) = if columns.len() <= n || n > MOST_DENSE {
        let mut factor = vec![0.0; n * columns.len()];
        matrix.weighted_columns(&columns, &weights, entries, &mut factor);
        let trace: f64 = factor.iter().map(|entry| entry * entry).sum();
        multiply(&mut factor, power.root(), (q - 1.0).sqrt());
        (HessianPart::Factor(factor), trace)
    } else {
        let mut square = vec![0.0; n * n];
        matrix.weighted_square(&columns, &weights, entries, &mut square, &mut scratch.pass);
        let trace: f64 = square.iter().step_by(n + 1).sum();
        multiply(&mut square, power, q - 1.0);
        (HessianPart::Dense(square), trace)
    };
    let tail = tail.trace(form, entries);
    let tail_share = if tail > 0.0 { tail / (tail + trace) } else { 0.0 };
    Hessian { main, tail: power.times((q - 1.0) * tail / n as f64), tail_share, columns }
}

/// `Phi_n Phi_n*`, the Hessian for q = 2.
fn square(form: &Features<'_>, scratch: &mut Scratch) -> Vec<f64> {
    let (n, all) = (form.samples(), (0..form.matrix.features()).collect::<Vec<_>>());
    let entries = form.matrix.scale_of(&all);
    let mut square = vec![0.0; n * n];
    form.matrix.weighted_square(&all, &vec![1.0; all.len()], entries, &mut square, &mut scratch.pass);
    multiply(&mut square, WidePower::new(1.0, 0.0, 1.0).scaled_by_exp2(2.0 * entries), 1.0);
    square
}

/// Multiplies by a number that may be out of range while the products are not.
fn multiply(numbers: &mut [f64], power: WidePower, factor: f64) {
    let both = power.times(factor);
    if both.is_normal() {
        numbers.iter_mut().for_each(|number| *number *= both);
    } else {
        numbers.iter_mut().for_each(|number| *number = power.times(factor * *number));
    }
}

/// The features with the largest `|u|`.
struct Selection {
    columns: Vec<usize>,
    /// `|u/size|^(q-2)` of those.
    weights: Vec<f64>,
    tail: Tail,
}

/// The features that are not kept.
struct Tail {
    /// The sum of their weights.
    weight: f64,
    /// Some of them, drawn in proportion to their weights.
    drawn: Vec<usize>,
}

/// Buckets for the sizes of u: this many for every factor of 2, down to `2^-64` of the largest.
const PER_OCTAVE: usize = 16;
const BUCKETS: usize = 64 * PER_OCTAVE;
/// Features of the tail whose norms stand for all.
const DRAWN: f64 = 256.0;

impl Selection {
    fn heaviest(form: &Features<'_>, at: &Expansion, size: f64, keep: usize, scratch: &mut Scratch) -> Self {
        let all = relative_weights(form, at, size, scratch);
        let place = |u: f64| ((size.to_bits() >> 48) - (u.abs().to_bits() >> 48)).min(BUCKETS as u64) as usize;
        // The first bucket that does not fit as a whole is taken in the order of its features.
        let (mut last, mut room) = (BUCKETS + 1, 0);
        if keep < all.len() {
            let mut counts = [0_usize; BUCKETS + 1];
            at.kept.iter().for_each(|&u| counts[place(u)] += 1);
            (last, room) = (0, keep);
            while counts[last] <= room {
                room -= counts[last];
                last += 1;
            }
        }
        let (mut columns, mut weights) = (Vec::new(), Vec::new());
        let mut weight_of_tail = 0.0;
        for (column, (&u, &weight)) in at.kept.iter().zip(all).enumerate() {
            let place = place(u);
            if place < last || (place == last && room > 0) {
                room -= usize::from(place == last);
                columns.push(column);
                weights.push(weight);
            } else {
                weight_of_tail += weight;
            }
        }
        let tail = Tail::new(weight_of_tail, all, &columns);
        Self { columns, weights, tail }
    }
}

/// `|u/size|^(q-2) = |J_q(u/size)|/|u/size|` of every feature.
fn relative_weights<'a>(form: &Features<'_>, at: &Expansion, size: f64, scratch: &'a mut Scratch) -> &'a [f64] {
    let weights = scratch.features.take(at.kept.len());
    let inverse = 1.0 / size;
    weights.par_chunks_mut(MAX_BLOCK).zip(at.kept.par_chunks(MAX_BLOCK)).with_min_len(8).for_each(|(weights, u)| {
        weights.copy_from_slice(u);
        form.exponent.duality_map(weights, inverse);
        let pairs = weights.iter_mut().zip(u);
        pairs.for_each(|(weight, u)| *weight = if *weight == 0.0 { 0.0 } else { (*weight / (u * inverse)).abs() });
    });
    weights
}

impl Tail {
    /// The features beside the columns that are kept, given in order.
    fn new(weight: f64, weights: &[f64], columns: &[usize]) -> Self {
        let step = weight / DRAWN;
        let (mut drawn, mut sum, mut next) = (Vec::new(), 0.0, 0.5 * step);
        if step == 0.0 {
            return Self { weight, drawn };
        }
        let mut kept = columns.iter().peekable();
        for (feature, &weight) in weights.iter().enumerate() {
            if kept.next_if_eq(&&feature).is_some() {
                continue;
            }
            sum += weight;
            while sum > next {
                drawn.push(feature);
                next += step;
            }
        }
        Self { weight, drawn }
    }

    /// The sum of weights times squares of norms, for entries divided by `2^exponent`.
    fn trace(&self, form: &Features<'_>, exponent: f64) -> f64 {
        let squares = self.drawn.iter().map(|&column| form.matrix.column_square(column, exponent));
        if self.drawn.is_empty() { 0.0 } else { self.weight * squares.sum::<f64>() / self.drawn.len() as f64 }
    }
}
