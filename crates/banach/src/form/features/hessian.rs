//! The Hessian `(q-1) Phi_n diag(|u|^(q-2)) Phi_n*` on the features that carry its weight.
//!
//! For p near 1 nearly all of the trace sits on few features: a model that keeps those and puts the others in as a
//! multiple of the identity is as good for a Newton step, and `card(K)/keep` times as cheap.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::{Features, NEGLIGIBLE};
use crate::{
    Scratch,
    exponent::{WidePower, largest},
    form::{Evaluation, Expansion, Hessian, HessianPart, QForm},
};

/// Beyond this many samples a dense Hessian is not formed.
const MOST_DENSE: usize = 4096;

/// What is found once for a matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// The power of two that brings the entries to at most 1.
    entries: f64,
    /// The squares of the norms of the features, for entries divided by that power.
    squares: Vec<f64>,
    /// `Phi_n Phi_n*` likewise, the Hessian for q = 2.
    gram: OnceLock<Vec<f64>>,
}

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
    let (n, q) = (form.samples(), form.exponent.q());
    let facts = form.facts.get_or_init(|| {
        let (squares, entries) = form.matrix.column_squares();
        Facts { entries, squares, gram: OnceLock::new() }
    });
    if q == 2.0 {
        let gram = facts.gram.get_or_init(|| {
            let all: Vec<usize> = (0..form.matrix.features()).collect();
            let mut gram = vec![0.0; n * n];
            form.matrix.weighted_square(&all, &vec![1.0; all.len()], facts.entries, &mut gram);
            gram
        });
        let power = WidePower::new(1.0, 0.0, 1.0).scaled_by_exp2(2.0 * facts.entries);
        let main = HessianPart::Dense(gram.iter().map(|&entry| power.times(entry)).collect());
        return Hessian { main, tail: 0.0, tail_share: 0.0 };
    }
    let size = largest(&at.kept);
    if size < NEGLIGIBLE {
        return Hessian { main: HessianPart::Factor(Vec::new()), tail: 0.0, tail_share: 0.0 };
    }
    let power = WidePower::new(size, at.exponent, q - 2.0).scaled_by_exp2(2.0 * facts.entries);
    let selection = Selection::heaviest(form, at, size, &facts.squares, keep, scratch);
    let Selection { columns, weights, tail, total } = selection;
    let main = if columns.len() <= n || n > MOST_DENSE {
        let mut factor = form.matrix.weighted_columns(&columns, &weights, facts.entries);
        let root = (q - 1.0).sqrt();
        let power = power.root();
        factor.iter_mut().for_each(|entry| *entry = power.times(root * *entry));
        HessianPart::Factor(factor)
    } else {
        let mut matrix = vec![0.0; n * n];
        form.matrix.weighted_square(&columns, &weights, facts.entries, &mut matrix);
        matrix.iter_mut().for_each(|entry| *entry = power.times((q - 1.0) * *entry));
        HessianPart::Dense(matrix)
    };
    Hessian { main, tail: power.times((q - 1.0) * tail / n as f64), tail_share: tail / total }
}

/// The features that carry the trace of M.
struct Selection {
    columns: Vec<usize>,
    /// `|u/size|^(q-2)` of those.
    weights: Vec<f64>,
    /// The trace without them, and with them.
    tail: f64,
    total: f64,
}

/// Buckets for the contributions of features to the trace: this many for every factor of 2, down to `2^-64` of the largest.
const PER_OCTAVE: usize = 16;
const BUCKETS: usize = 64 * PER_OCTAVE;

impl Selection {
    fn heaviest(
        form: &Features<'_>,
        at: &Expansion,
        size: f64,
        squares: &[f64],
        keep: usize,
        scratch: &mut Scratch,
    ) -> Self {
        let weights = scratch.features.take(at.kept.len());
        let chunk = form.matrix.layout().block;
        let inverse = 1.0 / size;
        weights.par_chunks_mut(chunk).zip(at.kept.par_chunks(chunk)).for_each(|(weights, u)| {
            weights.copy_from_slice(u);
            form.exponent.duality_map(weights, inverse);
            // |u|^(q-2) = |J_q(u)|/|u|, for u relative to the largest.
            weights.iter_mut().zip(u).for_each(|(weight, u)| {
                *weight = if *weight == 0.0 { 0.0 } else { (*weight / (u * inverse)).abs() };
            });
        });
        let contribution = |(weight, square): (&f64, &f64)| weight * square;
        let most = weights.iter().zip(squares).map(contribution).fold(0.0, f64::max);
        let bucket = |contribution: f64| {
            let below = (1.0_f64.to_bits() >> 48).wrapping_sub((contribution / most).to_bits() >> 48);
            (below as usize).min(BUCKETS)
        };
        // The first bucket that does not fit as a whole is taken in the order of its features.
        let (mut last, mut room) = (BUCKETS, 0);
        if keep < weights.len() {
            let mut counts = [0_usize; BUCKETS + 1];
            weights.iter().zip(squares).for_each(|pair| counts[bucket(contribution(pair))] += 1);
            room = keep;
            last = counts
                .iter()
                .position(|&count| {
                    let fits = count <= room;
                    room -= if fits { count } else { 0 };
                    !fits
                })
                .unwrap_or(BUCKETS + 1);
        } else {
            last += 1;
        }
        let mut selection = Self { columns: Vec::new(), weights: Vec::new(), tail: 0.0, total: 0.0 };
        for (column, (&weight, &square)) in weights.iter().zip(squares).enumerate() {
            let contribution = weight * square;
            selection.total += contribution;
            let place = bucket(contribution);
            if contribution > 0.0 && (place < last || (place == last && room > 0)) {
                room -= usize::from(place == last);
                selection.columns.push(column);
                selection.weights.push(weight);
            } else {
                selection.tail += contribution;
            }
        }
        selection
    }
}
