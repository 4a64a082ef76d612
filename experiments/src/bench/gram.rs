//! The Gram tensor against the product it is made of, and against the memory's bandwidth.

use banach::{
    Exponent, FeatureMatrix, Memory, QForm,
    data::Scratch,
    form::{Evaluation, Gram},
    kernel::{Exponential, Polynomial},
};
use faer::{
    Accum, MatMut, MatRef, Par,
    linalg::matmul::{
        matmul,
        triangular::{self, BlockStructure},
    },
};

use super::{
    Figure, Side, Target,
    timing::{Best, ColdCache, read, rounds},
};
use crate::{Error, Watch};

/// Dual vectors in the batch.
const BATCH: usize = 8;
/// Inputs of the tensors that are evaluated; an evaluation does not depend on them.
const FEW_INPUTS: usize = 20;
/// A measurement that takes as long as this many others has as many times fewer rounds.
const SLOW: usize = 4;
const SLOWEST: usize = 10;

/// Building the tensor of the degree-2 polynomial kernel against the plain product of the matrix of pairs.
pub(super) fn build(
    (samples, inputs): (usize, usize),
    count: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Figure>, Error> {
    let columns = jumble(samples * inputs, 1.0);
    let gram = || {
        let matrix = FeatureMatrix::from_columns(samples, inputs, &columns[..])?;
        Gram::new(matrix, Polynomial::new(2, 1.0, 0.0)?, exponent()?, Memory::available())
    };
    let matrix = FeatureMatrix::from_columns(samples, inputs, &columns[..])?;
    let streamed = Gram::streamed(matrix, Polynomial::new(2, 1.0, 0.0)?, exponent()?, Memory::available())?;
    let entries = streamed.entries();
    let alpha = jumble(samples, 1.0);
    let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
    let pairs = samples * (samples + 1) / 2;
    let factor = jumble(pairs * inputs, 1.0);
    // Both layouts of the factor; the faster one counts.
    let factors =
        [MatRef::from_column_major_slice(&factor, pairs, inputs), MatRef::from_row_major_slice(&factor, pairs, inputs)];
    let mut square = vec![0.0; pairs * pairs];
    let (mut own, mut again, mut product, mut symmetric) = (Best::new(), Best::new(), Best::new(), Best::new());
    rounds("building the Gram tensor", count.div_ceil(SLOW), watch, || {
        own.time(gram);
        again.time(|| streamed.evaluate(&alpha, &mut evaluation, &mut scratch));
        for factor in factors {
            let mut out = MatMut::from_column_major_slice_mut(&mut square, pairs, pairs);
            product.time(|| matmul(out.as_mut(), Accum::Replace, factor, factor.transpose(), 1.0, Par::rayon(0)));
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            symmetric.time(|| {
                let par = Par::rayon(0);
                triangular::matmul(out, lower, Accum::Replace, factor, full, factor.transpose(), full, 1.0, par);
            });
        }
    })?;
    let inputs = inputs as f64;
    let (entries, squared) = (entries as f64, (pairs * pairs) as f64);
    Ok(vec![
        Figure::new(
            format!("Gram tensor, n = {samples}, d = {inputs}: multiply-adds per second against faer's product"),
            Side::new("build", &own).with_work(entries * inputs),
            Side::new("product of the pairs", &product).with_work(squared * inputs),
            Target::AtLeast(0.6),
        ),
        Figure::new(
            "Gram tensor: time against the symmetric product of the pairs",
            Side::new("build", &own),
            Side::new("symmetric product (SYRK)", &symmetric),
            Target::AtMost(1.0),
        ),
        Figure::new(
            "streamed Gram tensor: multiply-adds per second of one evaluation against faer's product",
            Side::new("one evaluation, K recomputed", &again).with_work(entries * inputs),
            Side::new("product of the pairs", &product).with_work(squared * inputs),
            Target::AtLeast(0.6),
        ),
    ])
}

/// Passes over a stored tensor against reading it.
pub(super) fn evaluate(samples: usize, count: usize, watch: &mut dyn Watch) -> Result<Vec<Figure>, Error> {
    let columns = jumble(samples * FEW_INPUTS, 1.0);
    let matrix = FeatureMatrix::from_columns(samples, FEW_INPUTS, columns)?;
    let gram = Gram::new(matrix, Polynomial::new(2, 1.0, 0.0)?, exponent()?, Memory::available())?;
    let packed = gram.packed().unwrap_or_default();
    let alphas = jumble(samples * BATCH, 1.0);
    let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
    let cache = ColdCache::new();
    let (mut stream, mut one, mut many) = (Best::new(), Best::new(), Best::new());
    let (mut curvature, mut curvatures) = (Best::new(), Best::new());
    rounds(&format!("Gram tensor, n = {samples}"), count, watch, || {
        cache.evict();
        stream.time(|| read(packed));
        cache.evict();
        one.time(|| gram.evaluate(&alphas[..samples], &mut evaluation, &mut scratch));
        cache.evict();
        many.time(|| gram.evaluate(&alphas, &mut evaluation, &mut scratch));
        cache.evict();
        curvature.time(|| gram.curvature(&alphas[..samples], &mut evaluation, &mut scratch));
        cache.evict();
        curvatures.time(|| gram.curvature(&alphas, &mut evaluation, &mut scratch));
    })?;
    let bytes = 8.0 * packed.len() as f64;
    Ok(vec![
        Figure::new(
            format!("Gram tensor, n = {samples}: Q and omega against reading the tensor"),
            Side::new("one evaluation", &one).with_work(bytes),
            Side::new("streaming read", &stream).with_work(bytes),
            Target::AtLeast(0.6),
        ),
        Figure::new(
            format!("Gram tensor, n = {samples}: a batch of 8 dual vectors against one"),
            Side::new("batch of 8", &many),
            Side::new("one evaluation", &one),
            Target::AtMost(3.0),
        ),
        Figure::new(
            format!("Gram tensor, n = {samples}: Q, omega and M against reading the tensor"),
            Side::new("one evaluation with M", &curvature).with_work(bytes),
            Side::new("streaming read", &stream).with_work(bytes),
            Target::AtLeast(0.6),
        ),
        Figure::new(
            format!("Gram tensor, n = {samples}: a batch of 8 with M against one"),
            Side::new("batch of 8 with M", &curvatures),
            Side::new("one evaluation with M", &curvature),
            Target::AtMost(3.0),
        ),
    ])
}

/// Prediction of new points by the exponential kernel against a product of the same shape.
pub(super) fn predict(
    (samples, inputs): (usize, usize),
    points: usize,
    count: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Figure>, Error> {
    // Entries this small keep the exponential in range.
    let matrix = FeatureMatrix::from_columns(samples, inputs, jumble(samples * inputs, 0.3))?;
    let new = FeatureMatrix::from_columns(points, inputs, jumble(points * inputs, 0.3))?;
    let gram = Gram::streamed(matrix, Exponential::new(1.0)?, exponent()?, Memory::available())?;
    let model = gram.predictor(&jumble(samples, 1.0));
    let pairs = samples * (samples + 1) / 2;
    let (left, right) = (jumble(pairs * inputs, 1.0), jumble(points * inputs, 1.0));
    let left = MatRef::from_row_major_slice(&left, pairs, inputs);
    let right = MatRef::from_column_major_slice(&right, inputs, points);
    let mut out = vec![0.0; pairs * points];
    model.predict(&new)?;
    let (mut own, mut product) = (Best::new(), Best::new());
    rounds("prediction", count.div_ceil(SLOWEST), watch, || {
        own.time(|| model.predict(&new));
        let out = MatMut::from_column_major_slice_mut(&mut out, pairs, points);
        product.time(|| matmul(out, Accum::Replace, left, right, 1.0, Par::rayon(0)));
    })?;
    let triples = (samples * (samples + 1) * (samples + 2) / 6) as f64;
    Ok(vec![Figure::new(
        format!(
            "prediction of {points} points, n = {samples}, d = {inputs}: multiply-adds per second against faer's product"
        ),
        Side::new("representer formula, exponential kernel", &own).with_work(triples * (points * inputs) as f64),
        Side::new("product of pairs and points", &product).with_work((pairs * points * inputs) as f64),
        Target::AtLeast(0.5),
    )])
}

fn exponent() -> Result<Exponent, banach::Error> {
    Exponent::from_fraction(4, 3)
}

/// Numbers in (-size, size) without a pattern.
pub(super) fn jumble(count: usize, size: f64) -> Vec<f64> {
    (0..count).map(|k| size * (2.0 * ((k + 1) as f64 * 0.618_033_988_749_895 * (k + 7) as f64).fract() - 1.0)).collect()
}
