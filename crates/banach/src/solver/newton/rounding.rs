//! How far rounding moves predictions from listed features.

use crate::{
    FeatureMatrix,
    data::Pool,
    form::{Hessian, HessianPart, features},
    numeric::dot,
};

/// About how far rounding moves a prediction `omega_i`, as a root mean square over the samples.
///
/// A rounded product `<phi_k, alpha>` is the product with an alpha that is off by a unit in the last place of its entries, up or
/// down. The predictions then move by the Hessian of Q times these: near p = 1, where the Hessian has the factor q - 1, by
/// hundreds of units. It is an estimate, which tells whether a run that goes no further has met its limit by rounding; certificates
/// count bounds (`form/rounding.rs`). It costs one product with the Hessian of a step; `listed` are the features, on routes that hold them.
pub(super) fn of_predictions(hessian: &Hessian, listed: Option<&FeatureMatrix<'_>>, alpha: &[f64]) -> f64 {
    let n = alpha.len();
    // Up or down without a pattern.
    let sign = |i: usize| if (0.618_033_988_749_895 * (i * (i + 6)) as f64).fract() < 0.5 { -1.0 } else { 1.0 };
    let shift: Vec<f64> = alpha.iter().enumerate().map(|(i, alpha)| sign(i) * alpha).collect();
    let mut moved: Vec<f64> = shift.iter().map(|shift| hessian.tail * shift).collect();
    match &hessian.main {
        HessianPart::Dense(entries) => {
            for (i, row) in entries.chunks(n).enumerate() {
                // One half of the matrix stands for both.
                moved[i] += dot(&row[i..], &shift[i..]);
                moved[i + 1..].iter_mut().zip(&row[i + 1..]).for_each(|(moved, entry)| *moved += entry * shift[i]);
            }
        }
        HessianPart::Factor(entries) => {
            for column in entries.chunks(n) {
                let product = dot(column, &shift);
                moved.iter_mut().zip(column).for_each(|(moved, entry)| *moved += entry * product);
            }
        }
        HessianPart::InPlace(part) => {
            let product = part.times(features(listed), &hessian.columns, &shift, &mut Pool::default());
            moved.iter_mut().zip(&product).for_each(|(moved, product)| *moved += product);
        }
    }
    let largest = moved.iter().fold(0.0_f64, |largest, moved| largest.max(moved.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let squares = moved.iter().map(|moved| (moved / largest).powi(2)).sum::<f64>();
    f64::EPSILON * largest * (squares / n as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to hold a Hessian say the same, in every unit.
    #[test]
    fn dense_and_factor_agree() {
        let (n, factor, alpha) = (3, vec![1.0, -2.0, 0.5, 0.3, 0.7, -1.1], [0.4, -0.2, 0.9]);
        for size in [1.0, 1e-100, 1e100] {
            let columns: Vec<f64> = factor.iter().map(|entry| entry * size).collect();
            let entry = |at: usize| columns.chunks(n).map(|column| column[at / n] * column[at % n]).sum::<f64>();
            let dense: Vec<f64> = (0..n * n).map(entry).collect();
            let of = |main| of_predictions(&Hessian { tail: 0.3 * size * size, ..Hessian::exact(main) }, None, &alpha);
            let (a, b) = (of(HessianPart::Dense(dense)), of(HessianPart::Factor(columns)));
            assert!((a - b).abs() <= 1e-12 * a && a > 0.0, "{a:e} {b:e}");
        }
    }

    #[test]
    fn nothing_moves_nothing() {
        let hessian = Hessian::exact(HessianPart::Factor(Vec::new()));
        assert_eq!(of_predictions(&hessian, None, &[1.0, 2.0]), 0.0);
    }
}
