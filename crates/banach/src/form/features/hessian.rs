//! The features that carry the weight of the Hessian.

use std::sync::Mutex;

use rayon::prelude::*;

use super::Features;
use crate::{
    data::Scratch,
    exponent::{NEGLIGIBLE, copy_in_range},
    form::{
        Evaluation, Expanded, Expansion, Hessian, HessianPart, LocalModel, QForm,
        expansion::Products,
        heaviest::{self, HeaviestFeatures},
    },
    numeric::{largest, raise},
};

/// Evaluates a batch and keeps u. The first pass also finds the norms of the features, which the Hessian needs.
pub(super) fn expand(form: &Features<'_>, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
    let (n, q, features) = (form.samples(), form.exponent.q(), form.matrix.features());
    let squares = (q > 2.0 && form.norms.get().is_none()).then(|| Mutex::new(vec![0.0; features]));
    for at in &mut *out {
        at.products_mut().u.resize(features, 0.0);
    }
    if let [at] = out {
        let mut u = std::mem::take(&mut at.products_mut().u);
        form.pass(alphas, &mut u, squares.as_ref(), &mut at.evaluation, scratch);
        at.products_mut().u = u;
    } else {
        let mut together = Evaluation::default();
        let mut kept = std::mem::take(&mut scratch.per_feature);
        let products = kept.take(features * out.len());
        form.pass(alphas, products, squares.as_ref(), &mut together, scratch);
        let (block, count) = (form.matrix.layout().block, out.len());
        out.par_iter_mut().enumerate().for_each(|(problem, at)| {
            for (kept, products) in at.products_mut().u.chunks_mut(block).zip(products.chunks(block * count)) {
                kept.copy_from_slice(&products[problem * kept.len()..][..kept.len()]);
            }
            at.evaluation.copy_from(&together, problem, n);
        });
        scratch.per_feature = kept;
    }
    let squares = squares.map(|squares| squares.into_inner().expect("no pass panics"));
    if let Some(squares) = squares.filter(|squares| (LEAST_SQUARE..=f64::MAX).contains(&largest(squares))) {
        form.norms.get_or_init(|| Norms::new(squares, 0.0, q));
    }
    let copy = scratch.duals.take(n);
    for (alpha, at) in alphas.chunks(n).zip(out) {
        at.products_mut().exponent = copy_in_range(alpha, copy);
    }
}

/// The Hessian at an expansion, on the `keep` heaviest features.
pub(super) fn hessian(form: &Features<'_>, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
    if form.exponent.q() == 2.0 {
        // All features count: as their columns where they are no more than the samples, else as n x n numbers.
        return if form.matrix.features() <= form.samples() {
            HeaviestFeatures::all(&form.matrix).hessian(&form.matrix, 2.0, scratch)
        } else {
            heaviest::square_hessian(&form.square, || heaviest::square(&form.matrix, scratch))
        };
    }
    let products = at.products();
    let size = largest(&products.u);
    if size < NEGLIGIBLE {
        return Hessian::exact(HessianPart::Factor(Vec::new()));
    }
    select(form, norms(form), products, size, keep).hessian(&form.matrix, form.exponent.q(), scratch)
}

/// `Q` near an expansion, from the `keep` heaviest features.
pub(super) fn local(
    form: &Features<'_>,
    (alpha, at): Expanded<'_>,
    keep: usize,
    most_left_out: f64,
    scratch: &mut Scratch,
) -> Option<LocalModel> {
    let (q, products) = (form.exponent.q(), at.products());
    let size = largest(&products.u);
    if q == 2.0 || size < NEGLIGIBLE {
        return None;
    }
    let heaviest = select(form, norms(form), products, size, keep);
    heaviest.local(form.exponent, (alpha, &at.evaluation.omegas), &form.matrix, &products.u, most_left_out, scratch)
}

/// The Hessian at an expansion, made of the features where they are stored.
pub(super) fn in_place(form: &Features<'_>, at: &Expansion) -> Hessian {
    if form.exponent.q() == 2.0 {
        return HeaviestFeatures::all(&form.matrix).in_place(&form.matrix, 2.0);
    }
    let products = at.products();
    let size = largest(&products.u);
    if size < NEGLIGIBLE {
        return Hessian::exact(HessianPart::Factor(Vec::new()));
    }
    select_all(form, norms(form), products, size).in_place(&form.matrix, form.exponent.q())
}

/// Features that are read where they are stored are all kept, but for those whose part of the trace is below this share of a mean one:
/// to keep them would not gain a digit.
const NEGLIGIBLE_SHARE: f64 = 1e-6;

/// All features that matter.
fn select_all(form: &Features<'_>, norms: &Norms, at: &Products, size: f64) -> HeaviestFeatures {
    let (power, root) = (form.exponent.q() - 2.0, root(form.exponent.q()));
    let weigh = |(u, rho): (&f64, &f64)| {
        let weight = (u.abs() / size).powf(power);
        (weight, norms.largest * rho.powf(power / root) * weight)
    };
    let weighed: Vec<(f64, f64)> = at.u.par_iter().zip(&norms.relative).with_min_len(1 << 10).map(weigh).collect();
    let total: f64 = weighed.iter().map(|(_, part)| part).sum();
    let least = NEGLIGIBLE_SHARE * total / weighed.len() as f64;
    let kept = |part: f64| part >= least && part > 0.0;
    let tail = weighed.iter().filter(|(_, part)| !kept(*part)).map(|(_, part)| part).sum();
    let of_kept = weighed.iter().enumerate().filter(|(_, (_, part))| kept(*part));
    let (columns, weights) = of_kept.map(|(column, (weight, _))| (column, *weight)).unzip();
    HeaviestFeatures { columns, weights, size, exponent: at.exponent, tail, tail_exponent: norms.exponent }
}

/// If the largest of the squares is below this, smaller ones lose digits to underflow.
const LEAST_SQUARE: f64 = 1e-200;

/// The norms of the features.
#[derive(Debug, Clone)]
pub(super) struct Norms {
    /// The square of the largest norm, for entries divided by `2^exponent`.
    largest: f64,
    exponent: f64,
    /// `rho_k^theta` with `rho_k = (||phi_k||/max ||phi||)^(2/(q-2))` and the theta of [`root`]: `|rho_k u_k|^(q-2)` is proportional to
    /// the share of a feature in the trace of M.
    relative: Vec<f64>,
}

impl Norms {
    /// From the squares of the norms, for entries divided by `2^exponent`.
    fn new(mut squares: Vec<f64>, exponent: f64, q: f64) -> Self {
        let largest = largest(&squares);
        squares.par_chunks_mut(1 << 12).for_each(|squares| {
            squares.iter_mut().for_each(|square| *square = if largest > 0.0 { *square / largest } else { 1.0 });
            raise(squares, root(q) / (q - 2.0));
        });
        Self { largest, exponent, relative: squares }
    }
}

/// Features are ordered by `(|u| rho)^theta`; theta is 1 for q >= 4. Near q = 2 rho itself is out of range for all but the largest
/// features, and its power is not.
fn root(q: f64) -> f64 {
    (0.5 * (q - 2.0)).min(1.0)
}

/// The norms of the features, found once.
fn norms<'a>(form: &'a Features<'_>) -> &'a Norms {
    if let Some(norms) = form.norms.get() {
        return norms;
    }
    let (squares, exponent) = form.matrix.scaled_squares();
    form.norms.get_or_init(|| Norms::new(squares, exponent, form.exponent.q()))
}

/// Buckets for every factor of 2 in the sizes of features: the first four bits of a mantissa tell the bucket.
const PER_OCTAVE: usize = 16;
/// All buckets: for sizes down to `2^-64` of the largest, and one for the rest.
const BUCKETS: usize = 64 * PER_OCTAVE + 1;
/// About how many features are sampled to judge the sizes of all: shares are then known to about a percent.
const JUDGED: usize = 16_384;

/// The features that carry the trace of M.
fn select(form: &Features<'_>, norms: &Norms, at: &Products, size: f64, keep: usize) -> HeaviestFeatures {
    let (power, root) = (form.exponent.q() - 2.0, root(form.exponent.q()));
    let mut v: Vec<f64> = at.u.iter().map(|u| u.abs() / size).collect();
    if root < 1.0 {
        v.par_chunks_mut(1 << 12).for_each(|v| raise(v, root));
    }
    // A zero may come back with a sign.
    v.iter_mut().zip(&norms.relative).for_each(|(v, rho)| *v = (*v * rho).abs());
    let most = largest(&v);
    let every = (v.len() / JUDGED).max(1);
    let place = |v: f64| ((most.to_bits() >> 48) - (v.to_bits() >> 48)).min(BUCKETS as u64 - 1) as usize;
    let mut buckets = vec![Bucket::default(); BUCKETS];
    v.iter().step_by(every).for_each(|&v| buckets[place(v)].add(v));
    // As many buckets as fit, and at least one.
    let (mut end, mut room) = (0, keep / every);
    while end < BUCKETS && buckets[end].count <= room {
        room -= buckets[end].count;
        end += 1;
    }
    let threshold = if keep >= v.len() {
        0.0
    } else {
        f64::from_bits(((most.to_bits() >> 48) + 1).saturating_sub(end.max(1) as u64) << 48)
    };
    let columns = columns_above(&v, threshold, keep);
    let weights: Vec<f64> = columns.iter().map(|&column| (at.u[column].abs() / size).powf(power)).collect();
    // A feature counts as much as the mean of its bucket; those that are sampled stand for all.
    let share = |v: f64| norms.largest * v.powf(power / root);
    let means: Vec<f64> = buckets.iter().map(|bucket| share(bucket.sum / bucket.count.max(1) as f64)).collect();
    let mut kept = columns.iter().peekable();
    let mut tail = 0.0;
    for (column, &v) in v.iter().enumerate().step_by(every) {
        while kept.next_if(|kept| **kept < column).is_some() {}
        if kept.peek() != Some(&&column) && v != 0.0 {
            tail += every as f64 * means[place(v)];
        }
    }
    let (exponent, tail_exponent) = (at.exponent, norms.exponent);
    HeaviestFeatures { columns, weights, size, exponent, tail, tail_exponent }
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

/// How many features are of about the same size, and the sum of their sizes.
#[derive(Clone, Copy, Default)]
struct Bucket {
    count: usize,
    sum: f64,
}

impl Bucket {
    fn add(&mut self, v: f64) {
        self.count += 1;
        self.sum += v;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::{Exponent, FeatureMatrix, data::Pool};

    /// Products with the Hessian in place are those with all of its features copied, in every unit, and its diagonal is theirs.
    #[test]
    fn in_place_is_the_hessian_on_all_features() {
        let (n, d) = (30, 50);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut random = |count: usize| (0..count).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let (columns, alpha, v) = (random(n * d), random(n), random(n));
        for (p, size) in [(4.0 / 3.0, 1.0), (1.1, 1.0), (1.5, 1.0), (2.0, 1.0), (4.0 / 3.0, 1e-30), (4.0 / 3.0, 1e30)] {
            let x: Vec<f64> = columns.iter().map(|x| x * size).collect();
            let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
            let form = Features::new(x.clone(), Exponent::new(p).expect("inside"));
            let (mut at, mut scratch) = (Expansion::default(), Scratch::new());
            form.expand(&alpha, &mut [&mut at], &mut scratch);
            let free = in_place(&form, &at);
            let HessianPart::Dense(dense) = hessian(&form, &at, d, &mut scratch).main else { panic!("more features") };
            let HessianPart::InPlace(part) = &free.main else { panic!("in place") };
            let entry = |i: usize, j: usize| dense[i.min(j) * n + i.max(j)];
            let trace: f64 = (0..n).map(|i| entry(i, i)).sum();
            assert!(free.tail * n as f64 <= 1e-6 * trace && free.columns.len() <= d, "{p} {size:e}");
            let slack = 1e-5 * trace;
            for (i, (found, diagonal)) in
                part.times(&x, &free.columns, &v, &mut Pool::default()).iter().zip(part.diagonal()).enumerate()
            {
                let expected: f64 = (0..n).map(|j| entry(i, j) * v[j]).sum();
                assert!((found - expected).abs() <= slack, "{p} {size:e}: {found:e} {expected:e}");
                assert!((diagonal - entry(i, i)).abs() <= slack, "{p} {size:e}: {diagonal:e}");
            }
            let heaviest: Vec<f64> = part.heaviest().map(|(_, part)| part).collect();
            assert!(heaviest.is_sorted_by(|a, b| a >= b) && heaviest.len() == free.columns.len(), "{p} {size:e}");
            assert!((heaviest.iter().sum::<f64>() - trace).abs() <= slack, "{p} {size:e}");
        }
    }
}
