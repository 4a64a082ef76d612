//! The features route against the memory's bandwidth, and vectorised powers against scalar ones.

use std::hint::black_box;

use banach::{
    Exponent, FeatureMatrix, QForm,
    data::Scratch,
    form::{Evaluation, Features},
    synthetic::SparseLinear,
};

use super::{
    Figure, Side, Target,
    timing::{Best, ColdCache, read, rounds},
};
use crate::{Error, Watch};

/// Dual vectors in the batch.
const BATCH: usize = 8;
/// An exponent whose q - 1 is neither a whole nor a half number.
const REAL_P: f64 = 1.27;
/// Elements of the power measurement: they fit in the second-level cache.
const ELEMENTS: usize = 1 << 14;

pub(super) fn figures(
    (samples, features): (usize, usize),
    count: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Figure>, Error> {
    let data = SparseLinear { samples, features, relevant: 1.min(features), noise: 0.05 };
    let sample = data.sample(0);
    let matrix = FeatureMatrix::from_columns(samples, features, &sample.columns[..])?;
    let form = Features::new(matrix, Exponent::from_fraction(4, 3)?);
    let alphas: Vec<f64> = (0..samples * BATCH).map(|i| (i as f64 * 0.7).sin()).collect();
    let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());

    let real = Exponent::new(REAL_P)?;
    let powers: Vec<f64> = (0..ELEMENTS).map(|k| 0.01 + (k as f64 * 0.618).fract() * 2.0).collect();
    let mut buffer = powers.clone();

    let cache = ColdCache::new();
    let (mut stream, mut one, mut many, mut vector, mut scalar) =
        (Best::new(), Best::new(), Best::new(), Best::new(), Best::new());
    rounds("features route", count, watch, || {
        cache.evict();
        stream.time(|| read(&sample.columns));
        cache.evict();
        one.time(|| form.evaluate(&alphas[..samples], &mut evaluation, &mut scratch));
        cache.evict();
        many.time(|| form.evaluate(&alphas, &mut evaluation, &mut scratch));
        buffer.copy_from_slice(&powers);
        vector.time(|| real.j_q(black_box(&mut buffer)));
        buffer.copy_from_slice(&powers);
        scalar.time(|| black_box(&mut buffer).iter_mut().for_each(|u| *u = u.powf(real.q() - 1.0)));
    })?;
    let bytes = 8.0 * (samples * features) as f64;
    Ok(vec![
        Figure::new(
            format!("features, n = {samples}, d = {features}: Q and omega against reading the matrix"),
            Side::new("one evaluation", &one).with_work(bytes),
            Side::new("streaming read", &stream).with_work(bytes),
            Target::AtLeast(0.7),
        ),
        Figure::new(
            "features: a batch of 8 dual vectors against one",
            Side::new("batch of 8", &many),
            Side::new("one evaluation", &one),
            Target::AtMost(2.5),
        ),
        Figure::new(
            "|u|^(q-1) for real q against powf",
            Side::new("vectorised, 16384 elements", &vector),
            Side::new("powf, 16384 elements", &scalar),
            Target::AtLeast(2.0),
        ),
    ])
}
