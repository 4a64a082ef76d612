//! Hot calls do not allocate: after the first call with the same shapes, an evaluation and a line search reuse
//! the caller's memory.

use allocation_counter::measure;
use banach::{
    Exponent, FeatureMatrix, Memory, QForm,
    data::Scratch,
    form::{Evaluation, Features, Gram, Tiles},
    kernel::{Exponential, MonomialScale, Polynomial},
};

/// The second of two equal steps allocates nothing but the handle that `lines` returns, a few words.
fn assert_reuses(what: &str, mut step: impl FnMut() -> f64) {
    let expected = step();
    let mut value = 0.0;
    let counted = measure(|| value = step());
    assert_eq!(value, expected);
    assert!(counted.count_total <= 1 && counted.bytes_total <= 128, "{what}: {counted:?}");
}

/// Several blocks, one stripe: the work stays on this thread, where allocations are counted.
#[test]
fn evaluations_and_lines_reuse_memory() {
    let (n, d, batch) = (20, 2000, 8);
    let values: Vec<f64> = (0..n * d).map(|k| (k as f64).sin()).collect();
    let alphas: Vec<f64> = (0..n * batch).map(|k| (k as f64).cos()).collect();
    for p in [2.0, 4.0 / 3.0, 1.27, 1.08] {
        let matrix = FeatureMatrix::from_columns(n, d, &values[..]).expect("valid");
        let form = Features::new(matrix, Exponent::new(p).expect("inside"));
        let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
        assert_reuses(&format!("p = {p}"), || {
            form.evaluate(&alphas, &mut evaluation, &mut scratch);
            let lines = form.lines(&alphas[..n], &alphas[n..], &mut scratch);
            lines.at(1, 0.3).bregman + lines.at(0, 0.1).slope
        });
    }
}

/// Several tiles, one stripe: degree 3 with all lower degrees, dense and sparse.
#[test]
fn tiles_reuse_memory() {
    let (n, d, batch) = (6, 40, 3);
    let values: Vec<f64> = (0..n * d).map(|k| (k as f64).sin()).collect();
    let alphas: Vec<f64> = (0..n * batch).map(|k| (k as f64).cos()).collect();
    let dense = FeatureMatrix::from_columns(n, d, &values[..]).expect("valid");
    let (starts, rows) = ((0..=d).map(|k| k * n).collect::<Vec<_>>(), (0..n * d).map(|k| k % n).collect::<Vec<_>>());
    let sparse = FeatureMatrix::from_sparse_columns(n, d, starts, rows, &values[..]).expect("valid");
    for (scale, p) in MonomialScale::ALL.into_iter().zip([4.0 / 3.0, 1.27, 1.05]) {
        for x in [&dense, &sparse] {
            let (kernel, exponent) = (Polynomial::new(3, 0.5, 1.0).expect("valid"), Exponent::new(p).expect("inside"));
            let form = Tiles::new(x.view(), kernel, scale, exponent, Memory::default()).expect("finite");
            let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
            assert_reuses(&format!("tiles, {scale}"), || {
                form.evaluate(&alphas, &mut evaluation, &mut scratch);
                let lines = form.lines(&alphas[..n], &alphas[n..], &mut scratch);
                lines.at(1, 0.3).bregman + lines.at(0, 0.1).slope
            });
        }
    }
}

/// A stored tensor of one stripe, also with second derivatives.
#[test]
fn tensors_reuse_memory() {
    for (q, n) in [(2, 60), (4, 30), (6, 12), (8, 8)] {
        let (d, batch) = (3, 2);
        let values: Vec<f64> = (0..n * d).map(|k| (k as f64).sin()).collect();
        let alphas: Vec<f64> = (0..n * batch).map(|k| (k as f64).cos()).collect();
        let matrix = FeatureMatrix::from_columns(n, d, &values[..]).expect("valid");
        let exponent = Exponent::from_fraction(q, q - 1).expect("inside");
        let kernel = Exponential::new(0.1).expect("valid");
        let form = Gram::new(matrix, kernel, exponent, Memory::default()).expect("in range");
        let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
        assert_reuses(&format!("q = {q}, evaluate and lines"), || {
            form.evaluate(&alphas, &mut evaluation, &mut scratch);
            let lines = form.lines(&alphas[..n], &alphas[n..], &mut scratch);
            lines.at(0, 0.3).bregman + lines.at(0, 0.1).slope
        });
        assert_reuses(&format!("q = {q}, curvature"), || {
            form.curvature(&alphas[..n], &mut evaluation, &mut scratch);
            evaluation.curvatures[1] + evaluation.omegas[0]
        });
    }
}
