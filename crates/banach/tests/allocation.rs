//! Hot calls do not allocate: after the first call with the same shapes, an evaluation and a line search reuse
//! the caller's memory.

use allocation_counter::measure;
use banach::{Evaluation, Exponent, FeatureMatrix, Features, QForm, Scratch};

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
        let mut step = || {
            form.evaluate(&alphas, &mut evaluation, &mut scratch);
            let lines = form.lines(&alphas[..n], &alphas[n..], &mut scratch);
            lines.at(1, 0.3).bregman + lines.at(0, 0.1).slope
        };
        let expected = step();
        let mut value = 0.0;
        let counted = measure(|| value = step());
        assert_eq!(value, expected);
        // The one allocation is the handle that `lines` returns, a few words.
        assert!(counted.count_total <= 1 && counted.bytes_total <= 128, "p = {p}: {counted:?}");
    }
}
