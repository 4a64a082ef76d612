//! Whether a function is finite at the samples that it was fitted to: a file can claim any dual vector and any kernel.

use super::DualModel;
use crate::{
    Error, Memory, QForm,
    cost::{evaluates_soon, feature_count, tensor_entries},
    form::{Features, Gram, Predict, Tiles},
    kernel::{MonomialScale, lists_inputs, ln_norms},
};

/// A prediction whose logarithm is below this is a number, and so is its sum with an intercept: `e^709` is the largest.
const MAX_LN: f64 = 700.0;
/// The memory that an evaluation may take: 256 MB, which every machine has.
const MOST_BYTES: u64 = 1 << 28;

impl DualModel<'_> {
    /// Refuses a function whose value at one of its own samples is beyond the range of numbers.
    ///
    /// By Hoelder's inequality `|f(x_i)| <= ||u||_q^(q-1) ||Phi(x_i)||_q`, and `||u||_q <= sum_j |alpha_j| ||Phi(x_j)||_q`. Where
    /// the right side is a number, it is enough. Otherwise the function is evaluated, unless that takes long: then it passes.
    ///
    /// ```
    /// use banach::{Exponent, FeatureMatrix, kernel::Linear, model::DualModel};
    ///
    /// let x = FeatureMatrix::from_rows(2, 1, &[1.0, 2.0])?;
    /// let model = |alpha| DualModel::new(x.view(), Linear, Exponent::new(1.01)?, &[alpha, alpha]);
    /// assert!(model(1.0)?.check_finite().is_ok());
    /// assert!(model(1e10)?.check_finite().is_err()); // (3e10)^100
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn check_finite(&self) -> Result<(), Error> {
        if self.terms.is_some() {
            // The function of p = 1 refuses values that are not finite.
            return self.endpoint_predictor().predict(&self.samples).map(|_| ());
        }
        if self.ln_bound() < MAX_LN {
            return Ok(());
        }
        let Some(predictor) = self.predictor()? else { return Ok(()) };
        let allowed = "finite numbers; the dual vector, the samples or the scale of the kernel are too large";
        Error::check_values("f(x)", &predictor.predict(&self.samples)?, allowed, f64::is_finite)
    }

    /// A bound on `ln |f(x_i)|` for all samples, from the largest entry alone.
    fn ln_bound(&self) -> f64 {
        let (n, d, q) = (self.samples.samples(), self.samples.features(), self.exponent.q());
        let ln_norm = if self.monomial_scale == MonomialScale::Raw {
            let most = self.samples.sample_sizes(&[]).iter().fold(0.0, |most: f64, (size, _)| most.max(*size));
            ln_norms(&*self.kernel, self.exponent, 1, d, |_, out| out.fill(most))[0]
        } else {
            // Monomials of mean square 1 are at most sqrt(n) anywhere.
            feature_count(&*self.kernel, d).map_or(f64::INFINITY, |count| count.ln() / q + 0.5 * (n as f64).ln())
        };
        // A sample without features keeps them; the others are divided by their norm.
        let ln_norm = if self.kernel.normalized() && self.monomial_scale == MonomialScale::Raw {
            ln_norm.min(0.0)
        } else {
            ln_norm
        };
        let most = self.alpha.iter().fold(0.0, |most: f64, alpha| most.max(alpha.abs()));
        let ln_alpha = most.ln() + (n as f64).ln();
        let bound = (q - 1.0) * (ln_alpha + ln_norm) + ln_norm;
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// The function, ready to be evaluated, if an evaluation takes a fraction of a second.
    fn predictor(&self) -> Result<Option<Box<dyn Predict>>, Error> {
        let (n, d, memory) = (self.samples.samples(), self.samples.features(), Memory::limit(MOST_BYTES));
        let (x, kernel, exponent) = (self.samples.view(), self.kernel.clone(), self.exponent);
        if self.monomial_scale == MonomialScale::Raw && lists_inputs(&*kernel) {
            // As much work as to read the file.
            return Ok(Some(Features::new(x, exponent).predictor(&self.alpha)));
        }
        if feature_count(&*kernel, d).is_some_and(|count| evaluates_soon(count * n as f64)) {
            return Ok(Some(Tiles::new(x, kernel, self.monomial_scale, exponent, memory)?.predictor(&self.alpha)));
        }
        let order = exponent.order().ok().filter(|_| self.monomial_scale == MonomialScale::Raw);
        match order {
            Some(order) if evaluates_soon(tensor_entries(n, order) * (order * d) as f64) => {
                Ok(Some(Gram::streamed(x, kernel, exponent, memory)?.predictor(&self.alpha)))
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Error, Exponent, FeatureMatrix,
        kernel::{Exponential, Linear, MonomialScale, Normalized, Polynomial, TensorKernel},
        model::DualModel,
    };

    /// What is refused is infinite, and what is infinite is refused, at every size of the dual vector.
    #[test]
    fn what_is_refused_is_infinite() {
        let columns: Vec<f64> = (0..12).map(|k| 1.0 + f64::from(k).sin()).collect();
        let x = FeatureMatrix::from_columns(4, 3, columns).expect("valid");
        let polynomial = Polynomial::new(3, 2.0, 1.0).expect("valid");
        let kernels: [fn(Polynomial) -> Box<dyn TensorKernel>; 4] = [
            |_| Box::new(Linear),
            |polynomial| Box::new(polynomial),
            |polynomial| Box::new(Normalized(polynomial)),
            |_| Box::new(Exponential::new(0.1).expect("valid")),
        ];
        let mut ends = [0, 0];
        for kernel in kernels {
            for p in [2.0, 4.0 / 3.0, 8.0 / 7.0, 1.1, 1.01] {
                for monomial_scale in [MonomialScale::Raw, MonomialScale::Unit] {
                    for power in (-300..=300).step_by(10) {
                        let size = 10_f64.powi(power);
                        let alpha = [size, -0.3 * size, 0.9 * size, 0.2 * size];
                        let exponent = Exponent::new(p).expect("inside");
                        let model = DualModel::new(x.view(), kernel(polynomial), exponent, &alpha).expect("valid");
                        let model = model.with_monomial_scale(monomial_scale);
                        let Ok(Some(predictor)) = model.predictor() else { continue };
                        let finite = predictor.predict(&x).expect("in range").iter().all(|value| value.is_finite());
                        let what = format!("{:?} p = {p}, {monomial_scale}, {size:e}", model.kernel);
                        match model.check_finite() {
                            Ok(()) => assert!(finite, "{what}"),
                            Err(Error::BadValue { what: "f(x)", .. }) => assert!(!finite, "{what}"),
                            Err(other) => panic!("{what}: {other}"),
                        }
                        ends[usize::from(finite)] += 1;
                    }
                }
            }
        }
        assert!(ends.iter().all(|count| *count > 100), "{ends:?}");
    }
}
