//! The Hessian `(q-1) Phi_n diag(|u|^(q-2)) Phi_n*` on the features that carry its weight.
//!
//! For p near 1 nearly all of the trace sits on few features: a model that keeps those and puts the others in as a
//! multiple of the identity is as good for a Newton step, and `card(K)/keep` times as cheap.

use rayon::prelude::*;

use super::{Features, NEGLIGIBLE};
use crate::{
    Scratch,
    exponent::{WidePower, largest},
    form::{Evaluation, Expansion, Hessian, HessianPart, MOST_DENSE, QForm},
};

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
    let Selection { columns, weights, tail } = Selection::heaviest(form, at, size, keep);
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

/// The features with the largest `|u|`, and what is known of the others.
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

/// Buckets for the sizes of u: this many for every factor of 2, down to `2^-64` of the largest, and one for the rest.
const PER_OCTAVE: usize = 16;
const BUCKETS: usize = 64 * PER_OCTAVE + 1;
/// Features by which the sizes of all are judged.
const JUDGED: usize = 16_384;
/// Features of the tail whose norms stand for all.
const DRAWN: f64 = 256.0;

impl Selection {
    fn heaviest(form: &Features<'_>, at: &Expansion, size: f64, keep: usize) -> Self {
        let weight = |u: f64| (u / size).powf(form.exponent.q() - 2.0);
        let every = (at.kept.len() / JUDGED).max(1);
        let place = |u: f64| ((size.to_bits() >> 48) - (u.abs().to_bits() >> 48)).min(BUCKETS as u64 - 1) as usize;
        let mut buckets = vec![Bucket::default(); BUCKETS];
        at.kept.iter().step_by(every).for_each(|&u| buckets[place(u)].add(u));
        // As many buckets as fit, and at least one.
        let (mut end, mut room) = (0, keep / every);
        while end < BUCKETS && buckets[end].count <= room {
            room -= buckets[end].count;
            end += 1;
        }
        let (end, threshold) = if keep >= at.kept.len() {
            (BUCKETS, 0.0)
        } else {
            let end = end.max(1);
            (end, f64::from_bits(((size.to_bits() >> 48) + 1 - end as u64) << 48))
        };
        let columns = columns_above(&at.kept, threshold, keep);
        let weights: Vec<f64> = columns.iter().map(|&column| weight(at.kept[column].abs())).collect();
        // A feature of the tail weighs what the mean of its bucket does.
        let means: Vec<f64> = buckets.iter().map(|bucket| weight(bucket.sum / bucket.count.max(1) as f64)).collect();
        let tails = buckets.iter().zip(&means).skip(end).map(|(bucket, mean)| bucket.count as f64 * mean);
        let total = tails.sum::<f64>();
        let step = total / DRAWN;
        let (mut drawn, mut sum) = (Vec::new(), 0.5 * step);
        for (column, &u) in at.kept.iter().enumerate().step_by(every) {
            let place = place(u);
            sum += if place < end { 0.0 } else { means[place] };
            while sum > step {
                drawn.push(column);
                sum -= step;
            }
        }
        Self { columns, weights, tail: Tail { weight: every as f64 * total, drawn } }
    }
}

/// The columns with `|u|` at or above a threshold, in order; the largest `most` of them if there are more.
fn columns_above(u: &[f64], threshold: f64, most: usize) -> Vec<usize> {
    let mut columns = Vec::new();
    for (block, u) in u.chunks(64).enumerate() {
        // Most blocks have none, which a plain loop sees at once.
        if u.iter().fold(0.0_f64, |size, u| size.max(u.abs())) >= threshold {
            let above = u.iter().enumerate().filter(|(_, u)| u.abs() >= threshold && **u != 0.0);
            columns.extend(above.map(|(at, _)| 64 * block + at));
        }
    }
    if columns.len() > most {
        columns.sort_by(|&a, &b| u[b].abs().total_cmp(&u[a].abs()));
        columns.truncate(most);
        columns.sort_unstable();
    }
    columns
}

/// How many features have a `|u|` of about the same size, and the sum of those.
#[derive(Clone, Copy, Default)]
struct Bucket {
    count: usize,
    sum: f64,
}

impl Bucket {
    fn add(&mut self, u: f64) {
        self.count += 1;
        self.sum += u.abs();
    }
}

impl Tail {
    /// The sum of weights times squares of norms, for entries divided by `2^exponent`.
    fn trace(&self, form: &Features<'_>, exponent: f64) -> f64 {
        let squares = self.drawn.iter().map(|&column| form.matrix.column_square(column, exponent));
        if self.drawn.is_empty() { 0.0 } else { self.weight * squares.sum::<f64>() / self.drawn.len() as f64 }
    }
}
