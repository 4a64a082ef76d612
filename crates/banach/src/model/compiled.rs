//! A fitted function as far as its largest monomials, with a bound on what is left out.

use std::{fmt, sync::Arc};

use super::{
    DualModel, ExplicitModel, TopMonomial,
    explicit::{check_variables, monomial_column},
};
use crate::{
    Error, Exponent, FeatureMatrix, Memory, QForm,
    data::Scratch,
    error::{Parameter, counted},
    form::{Evaluation, Gram},
    kernel::{Monomial, MonomialScale, TensorKernel, ln_norms},
};

/// A function written out as far as its largest monomials, and a bound on what is left out.
///
/// By Hoelder, `|f(x) - f_k(x)| <= ||w_rest||_p ||Phi_rest(x)||_q`, where the weights that are left out have
/// `||w_rest||_p^p = ||w||_p^p - sum |w_k|^p` over those that are kept, and their features
/// `||Phi_rest(x)||_q^q = K(x, ..., x) - sum |phi_k(x)|^q`.
#[derive(Debug, Clone)]
pub struct Compiled {
    model: ExplicitModel,
    kernel: Arc<dyn TensorKernel>,
    exponent: Exponent,
    monomials: Vec<Monomial>,
    rest: f64,
    share: f64,
}

/// What rounding may leave of the difference of two sums, as a share of the larger one: some thousand units in the last place.
const ROUNDING: f64 = 1e-12;

impl Compiled {
    /// The function that is kept.
    pub fn model(&self) -> &ExplicitModel {
        &self.model
    }

    /// `||w_rest||_p`, rounded up.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    /// The share of `||w||_p^p` that is kept.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// A bound on `|f - f_k|` at every sample of a matrix; infinite where the kernel is out of range.
    pub fn bound_at(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        check_variables(&self.monomials, x)?;
        let (n, q) = (x.samples(), self.exponent.q());
        if self.exponent.is_endpoint() {
            // ||Phi(x)||_inf: of plain monomials the largest is a power of the largest entry.
            let (lowest, highest) = self.kernel.degrees();
            let degrees = || lowest..=highest.unwrap_or(lowest);
            let largest = |size: f64| degrees().map(|degree| size.powi(degree as i32)).fold(0.0, f64::max);
            return Ok(x.sample_sizes(&[]).into_iter().map(|(size, _)| self.rest * largest(size)).collect());
        }
        let mut column = vec![0.0; n];
        let norms = ln_norms(&*self.kernel, self.exponent, n, x.features(), |j, out| x.column_into(j, out));
        let lns: Vec<f64> = norms.iter().map(|ln| q * ln).collect();
        let mut kept = vec![0.0; n];
        for monomial in &self.monomials {
            monomial_column(monomial, x, &mut column);
            let exponents: Vec<usize> = monomial.factors().iter().map(|&(_, exponent)| exponent).collect();
            let ln_c = self.kernel.coefficient(&exponents).ln();
            // |phi_k(x)|^q as a part of K(x, ..., x).
            let part = |(x, ln): (&f64, &f64)| if *x == 0.0 { 0.0 } else { (ln_c + q * x.abs().ln() - ln).exp() };
            kept.iter_mut().zip(column.iter().zip(&lns)).for_each(|(kept, own)| *kept += part(own));
        }
        let bound = |(ln, kept): (&f64, &f64)| {
            let rest = if kept.is_finite() { (1.0 - kept + ROUNDING).clamp(ROUNDING, 1.0) } else { 1.0 };
            let bound = if *ln == f64::NEG_INFINITY { 0.0 } else { self.rest * ((ln + rest.ln()) / q).exp() };
            if bound.is_nan() { f64::INFINITY } else { bound }
        };
        Ok(lns.iter().zip(&kept).map(bound).collect())
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.model)?;
        write!(
            f,
            "{} with {:.4} of ||w||_p^p; ||w||_p of the others is {:.3e}",
            counted(self.model.len(), "monomial", "monomials"),
            self.share,
            self.rest
        )
    }
}

impl DualModel<'_> {
    /// The function `f + b` as far as the monomials that are kept, with a bound on what is left out. For raw features of a kernel
    /// that is not normalised.
    pub fn compile(&self, kept: &[TopMonomial], intercept: f64, memory: Memory) -> Result<Compiled, Error> {
        if self.kernel.normalized() {
            let allowed = "a kernel that is not normalised: with one that is, f is no polynomial";
            return Err(Error::parameter(Parameter::Kernel, self.kernel.name(), allowed));
        }
        if self.monomial_scale != MonomialScale::Raw {
            let allowed = "raw, as the bound needs the norm of all features at a new point";
            return Err(Error::parameter(Parameter::Monomials, self.monomial_scale, allowed));
        }
        let p = self.exponent.p();
        let (ln_power_sum, error) = self.ln_power_sum(memory)?;
        let part = |kept: &TopMonomial| {
            if kept.weight == 0.0 { 0.0 } else { (p * kept.weight.abs().ln() - ln_power_sum).exp() }
        };
        let share: f64 = kept.iter().map(part).sum();
        let left = (1.0 - share).clamp(0.0, 1.0) + ROUNDING + error;
        let rest = ((ln_power_sum + left.ln()) / p).exp();
        let terms = kept.iter().map(|kept| (kept.monomial.clone(), kept.coefficient)).collect();
        Ok(Compiled {
            model: ExplicitModel::new(intercept, terms)?,
            kernel: self.kernel.clone(),
            exponent: self.exponent,
            monomials: kept.iter().map(|kept| kept.monomial.clone()).collect(),
            rest: if ln_power_sum == f64::NEG_INFINITY { 0.0 } else { rest },
            share: share.min(1.0),
        })
    }

    /// `ln ||w||_p^p`, and how far rounding may have moved the norm, as a part of it.
    fn ln_power_sum(&self, memory: Memory) -> Result<(f64, f64), Error> {
        let (samples, alpha) = self.present()?;
        if self.terms.is_some() || alpha.iter().all(|&alpha| alpha == 0.0) || self.lists_features(alpha.len())? {
            let relevance = self.relevance(memory)?;
            return Ok((relevance.ln_power_sum, relevance.error()));
        }
        let gram = Gram::streamed(samples.view(), self.kernel.clone(), self.exponent, memory)?;
        let mut evaluation = Evaluation::default();
        gram.evaluate(&alpha, &mut evaluation, &mut Scratch::new());
        let power_sum = evaluation.values[0] * self.exponent.q();
        let moved: f64 = alpha.iter().zip(&evaluation.roundings).map(|(alpha, moved)| (alpha * moved).abs()).sum();
        let error = moved / power_sum;
        Ok((evaluation.ln_values[0] + self.exponent.q().ln(), if error.is_finite() { error } else { 1.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::explicit::tests::jumble, *};
    use crate::{
        form::KernelFeatures,
        kernel::{Exponential, FeatureMap, Normalized, Polynomial},
    };

    /// All features of a finite kernel, with their coefficients.
    fn all(x: &FeatureMatrix<'_>, kernel: &Polynomial, exponent: Exponent, alpha: &[f64]) -> Vec<TopMonomial> {
        let form = KernelFeatures::new(x, *kernel, exponent, Memory::default()).expect("fits");
        let map = FeatureMap::new(kernel, x.features(), exponent, None).expect("finite");
        let weights = form.features().weights(alpha);
        let kept = |((monomial, c), weight): ((Monomial, f64), &f64)| TopMonomial {
            share: None,
            interval: None,
            monomial,
            coefficient: c.powf(1.0 / exponent.q()) * weight,
            weight: *weight,
        };
        let mut all: Vec<TopMonomial> = map.iter().zip(&weights).map(kept).collect();
        all.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        all
    }

    #[test]
    fn what_is_left_out_is_bounded() {
        let (n, d) = (10, 4);
        let x = FeatureMatrix::from_columns(n, d, jumble(n * d, 0.2)).expect("valid");
        let new = FeatureMatrix::from_columns(200, d, jumble(200 * d, 9.2).iter().map(|x| 1.5 * x).collect::<Vec<_>>());
        let (new, alpha) = (new.expect("valid"), jumble(n, 3.0));
        for p in [1.01, 1.05, 4.0 / 3.0, 1.5, 2.0] {
            let exponent = Exponent::new(p).expect("inside");
            let kernel = Polynomial::new(3, 0.7, 0.5).expect("valid");
            let all = all(&x, &kernel, exponent, &alpha);
            let model = DualModel::new(x.view(), kernel, exponent, &alpha).expect("valid");
            let whole = model.compile(&all, 0.3, Memory::default()).expect("raw");
            let f = whole.model().predict(&new).expect("fits");
            let form = KernelFeatures::new(&x, kernel, exponent, Memory::default()).expect("fits");
            let expected = form.predictor(&alpha).predict(&new).expect("fits");
            assert!(
                f.iter().zip(&expected).all(|(f, expected)| (f - 0.3 - expected).abs() < 1e-9 * (1.0 + expected.abs()))
            );
            let mut sharp = 0.0_f64;
            for count in [0, 1, 5, 20, all.len()] {
                let part = model.compile(&all[..count], 0.3, Memory::default()).expect("raw");
                let (values, bounds) = (part.model().predict(&new).expect("fits"), part.bound_at(&new).expect("fits"));
                for ((f, value), bound) in f.iter().zip(&values).zip(&bounds) {
                    assert!((f - value).abs() <= bound + 1e-12, "{p} {count}: {f} {value} {bound}");
                    sharp = sharp.max((f - value).abs() / bound);
                }
            }
            assert!(sharp > 0.05, "{p}: the bound is never of the size of what it bounds: {sharp}");
        }
    }

    #[test]
    fn infinite_kernels_are_bounded_too() {
        let (n, d) = (9, 3);
        let x = FeatureMatrix::from_columns(n, d, jumble(n * d, 0.2)).expect("valid");
        let (kernel, exponent) = (Exponential::new(0.6).expect("valid"), Exponent::new(4.0 / 3.0).expect("inside"));
        let alpha = jumble(n, 3.0);
        let gram = Gram::new(x.view(), kernel, exponent, Memory::default()).expect("fits");
        let model = DualModel::new(x.view(), kernel, exponent, &alpha).expect("valid");
        let phi = |k: &Monomial| -> f64 {
            let exponents: Vec<usize> = k.factors().iter().map(|(_, exponent)| *exponent).collect();
            let c = kernel.coefficient(&exponents).powf(0.25);
            (0..n).map(|i| alpha[i] * c * k.value(&x.row(i))).sum()
        };
        let kept = |factors: &[(usize, usize)]| {
            let monomial = Monomial::new(factors);
            let exponents: Vec<usize> = monomial.factors().iter().map(|(_, exponent)| *exponent).collect();
            let weight = phi(&monomial).powi(3);
            TopMonomial {
                share: None,
                interval: None,
                coefficient: weight * kernel.coefficient(&exponents).powf(0.25),
                weight,
                monomial,
            }
        };
        let list =
            [kept(&[]), kept(&[(0, 1)]), kept(&[(1, 1)]), kept(&[(2, 1)]), kept(&[(0, 1), (1, 1)]), kept(&[(0, 2)])];
        let new = FeatureMatrix::from_columns(100, d, jumble(100 * d, 9.2)).expect("valid");
        let f = gram.predictor(&alpha).predict(&new).expect("fits");
        for count in 0..=list.len() {
            let part = model.compile(&list[..count], 0.0, Memory::default()).expect("raw");
            let (values, bounds) = (part.model().predict(&new).expect("fits"), part.bound_at(&new).expect("fits"));
            let holds =
                f.iter().zip(&values).zip(&bounds).all(|((f, value), bound)| (f - value).abs() <= bound + 1e-12);
            assert!(holds, "{part}");
        }
        let normalized = DualModel::new(x.view(), Normalized(kernel), exponent, &alpha).expect("valid");
        assert!(matches!(normalized.compile(&list, 0.0, Memory::default()), Err(Error::Parameter { .. })));
        let unit = model.clone().with_monomial_scale(MonomialScale::Unit);
        assert!(matches!(unit.compile(&list, 0.0, Memory::default()), Err(Error::Parameter { .. })));
        let zero = DualModel::new(x.view(), kernel, exponent, &vec![0.0; n]).expect("valid");
        let nothing = zero.compile(&[], 0.5, Memory::default()).expect("raw");
        assert_eq!(nothing.bound_at(&new).expect("fits"), vec![0.0; 100]);
    }
}
