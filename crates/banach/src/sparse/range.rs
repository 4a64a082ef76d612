//! Coefficients that can be written as numbers.

use super::SparseFunction;
use crate::{Error, FeatureMatrix, error::Parameter, kernel::Monomial};

impl SparseFunction {
    /// Refuses a function with a coefficient, or a finite bound of one, that is none: too large, or 0 where it is too small.
    pub(super) fn check_range(&self, x: &FeatureMatrix<'_>) -> Result<(), Error> {
        let outside = self.terms.iter().find(|term| {
            let finite = term.coefficient.is_finite() && term.refit.is_finite() && !term.std_error.is_nan();
            // The data may give no bound; but where they give one, it is a number.
            let bounded = term.std_error.is_infinite() || (term.lower.is_finite() && term.upper.is_finite());
            let vanished = term.refit == 0.0 && term.std_error == 0.0;
            !finite || !bounded || vanished
        });
        match outside {
            Some(term) => Err(out_of_range(&term.monomial, x)),
            None => Parameter::Intercept.check(self.intercept, self.intercept.is_finite(), "a finite number"),
        }
    }
}

/// The error of a term out of range, by the column that is to blame: the one of its variables whose values are furthest from 1.
pub(super) fn out_of_range(monomial: &Monomial, x: &FeatureMatrix<'_>) -> Error {
    let mut values = vec![0.0; x.samples()];
    let mut size = |column: usize| {
        x.column_into(column, &mut values);
        values.iter().fold(0.0, |size: f64, x| size.max(x.abs()))
    };
    let sizes = monomial.factors().iter().map(|&(column, _)| (column, size(column)));
    let furthest = sizes.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()));
    let (column, size) = furthest.unwrap_or((0, 1.0));
    Error::CoefficientRange { column, size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::KernelSpec,
        loss::LossSpec,
        sparse::{SparsePenalty, SparseSpec},
    };

    fn jumble(k: usize) -> f64 {
        ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0
    }

    /// Powers of two, so that nothing is rounded by the scaling.
    #[test]
    fn columns_of_any_size_have_finite_coefficients_or_are_refused_by_their_number() {
        let n = 60;
        let plain: Vec<f64> = (0..3 * n).map(|k| jumble(k + 1)).collect();
        let y: Vec<f64> =
            (0..n).map(|i| 3.0 * plain[i] * plain[n + i] - plain[2 * n + i] + 0.1 * jumble(i + 999)).collect();
        let signs: Vec<f64> = (0..n).map(|i| (y[i] + jumble(i + 2000)).signum()).collect();
        let kernel = KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 1.0, degrees: Some((1, 2)) };
        for loss in [LossSpec::Squared, LossSpec::Logistic] {
            for penalty in [SparsePenalty::Evidence, SparsePenalty::Mcp] {
                let spec = SparseSpec { kernel: kernel.clone(), loss, penalty, ..SparseSpec::default() };
                let y = if loss == LossSpec::Squared { &y } else { &signs };
                let names = |found: &SparseFunction| -> Vec<String> {
                    found.terms().iter().map(|term| term.monomial.to_string()).collect()
                };
                let whole = spec.fit(&matrix(&plain, &[0, 0, 0]), y).expect("plain");
                for (exponents, fits) in [
                    ([-997, 0, 0], true),
                    ([-400, -400, -400], true),
                    ([300, 300, 300], true),
                    ([600, 0, 0], true),
                    ([-997, -997, 0], false),
                    ([600, 600, 0], false),
                ] {
                    let x = matrix(&plain, &exponents);
                    match spec.fit(&x, y) {
                        Ok(found) => {
                            assert!(fits, "{loss:?} {penalty:?} {exponents:?}");
                            assert_eq!(names(&found), names(&whole), "{loss:?} {penalty:?} {exponents:?}");
                            let values = found.predict(&x).expect("finite");
                            let expected = whole.predict(&matrix(&plain, &[0, 0, 0])).expect("finite");
                            let near = values.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
                            assert!(near, "{loss:?} {penalty:?} {exponents:?}");
                        }
                        Err(error) => {
                            let named = matches!(error, Error::CoefficientRange { column: 0 | 1, .. });
                            assert!(!fits && named, "{loss:?} {penalty:?} {exponents:?}: {error}");
                        }
                    }
                }
            }
        }
    }

    fn matrix(plain: &[f64], exponents: &[i32; 3]) -> FeatureMatrix<'static> {
        let n = plain.len() / 3;
        let scaled: Vec<f64> = plain.iter().enumerate().map(|(k, x)| x * 2.0_f64.powi(exponents[k / n])).collect();
        FeatureMatrix::from_columns(n, 3, scaled).expect("in range")
    }
}
