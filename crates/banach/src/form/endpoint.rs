//! The form of p = 1: which dual vectors are allowed, and which features limit them.
//!
//! For p = 1 the conjugate exponent is infinite. `Q` is 0 where `|u_k| <= 1` for every feature, `u = Phi_n* alpha`, and infinite
//! elsewhere; weights do not follow from dual vectors, so a solver keeps them ([`SparseWeights`]). The roots of the kernel's
//! coefficients, `c_k^(1/q)`, are 1, and so is the factor of its scale: features are plain monomials, or monomials of another scale.

use std::{cell::Cell, sync::Arc};

use super::{Evaluation, Expanded, Expansion, Hessian, HessianPart, LinePoint, Lines, Predict, QForm, rounding};
use crate::{
    Error, Exponent, FeatureMatrix,
    data::Scratch,
    error::Parameter,
    exponent::copy_in_range,
    kernel::{Monomial, MonomialScale, TensorKernel, lists_inputs},
    monomials::{Leading, MonomialSweep, Monomials, PricedTerm, Tile, Visitor},
    numeric::scale_by_exp2,
};

/// The weights of a function of which all others are exactly 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseWeights {
    /// The numbers of the features, in increasing order: those of the variables, or of a kernel's
    /// [`FeatureMap`](crate::kernel::FeatureMap).
    pub features: Vec<u64>,
    /// Their weights, none of which is 0.
    pub values: Vec<f64>,
}

/// `Q` of p = 1 on the features of a kernel over samples, none of which is stored.
#[derive(Debug, Clone)]
pub struct Endpoint<'a> {
    x: FeatureMatrix<'a>,
    monomials: Monomials<'a>,
    /// The largest modulus of a feature at each sample.
    sizes: Vec<f64>,
}

/// The features with the largest `|u_k|`.
#[derive(Debug, Clone)]
pub(crate) struct LargestProducts {
    /// The largest first; [`PricedTerm::gain`] is `|u_k|`.
    pub listed: Vec<PricedTerm>,
    /// No feature that is not listed has a larger `|u_k|`.
    pub unlisted: f64,
    /// How far rounding can have moved any `u_k`: a bound.
    pub rounding: f64,
}

impl LargestProducts {
    /// A bound on every `|u_k|`.
    pub(crate) fn bound(&self) -> f64 {
        self.listed.first().map_or(0.0, |term| term.gain) + self.rounding
    }
}

/// Units of rounding of a product beside one for each sample and factor: those of the mean and the size of a monomial, and of the scales
/// by powers of two.
const OTHER_UNITS: f64 = 16.0;

impl<'a> Endpoint<'a> {
    /// The form of a kernel with finitely many features that is not normalised.
    pub(crate) fn new(
        x: FeatureMatrix<'a>,
        kernel: Arc<dyn TensorKernel>,
        monomial_scale: MonomialScale,
    ) -> Result<Self, Error> {
        if kernel.normalized() {
            let allowed = "a kernel that is not normalised for p = 1, or p > 1";
            return Err(Error::Parameter { parameter: Parameter::Kernel, got: kernel.name(), allowed });
        }
        let monomials = Monomials::new(x.clone(), kernel, monomial_scale, Exponent::of_penalty(1.0)?)?;
        let sizes = if monomial_scale == MonomialScale::Raw {
            let degrees: Vec<usize> = monomials.degrees().collect();
            let largest =
                |(size, _): (f64, usize)| degrees.iter().map(|&degree| size.powi(degree as i32)).fold(0.0, f64::max);
            x.sample_sizes(&[]).into_iter().map(largest).collect()
        } else {
            // A column with mean square 1 has no entry above sqrt(n).
            vec![(x.samples() as f64).sqrt(); x.samples()]
        };
        Ok(Self { x, monomials, sizes })
    }

    /// The values of a feature, one per sample.
    pub(crate) fn column_into(&self, feature: u64, out: &mut [f64]) {
        self.monomials.column_into(&self.monomials.variables(feature), out);
    }

    /// A bound on `||phi_k||_2` over the samples, for every feature.
    pub(crate) fn largest_norm(&self) -> f64 {
        if self.monomials.monomial_scale == MonomialScale::Raw {
            let largest = self.sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            largest * self.sizes.iter().map(|size| (size / largest).powi(2)).sum::<f64>().sqrt() * (1.0 + 1e-12)
        } else {
            (self.samples() as f64).sqrt() * (1.0 + 1e-6)
        }
    }

    /// How far rounding can have moved `<phi_k, v>`, for any feature and a vector over the samples: a bound. A standardised monomial
    /// loses as many digits as its mean is larger than its deviation, of which `spread` is the square.
    pub(crate) fn rounding(&self, vector: &[f64], spread: f64) -> f64 {
        let moduli: f64 = vector.iter().zip(&self.sizes).map(|(v, size)| v.abs() * size).sum();
        self.units(self.samples()) * rounding::UNIT * moduli * (1.0 + spread.sqrt())
    }

    /// The same of `sum_k w_k phi_k(x_i)` over some features, for weights whose moduli sum to `norm`.
    pub(crate) fn rounding_at(&self, sample: usize, norm: f64, features: usize, spread: f64) -> f64 {
        self.units(features) * rounding::UNIT * norm * self.sizes[sample] * (1.0 + spread.sqrt())
    }

    /// The units of rounding of a sum of so many products. Means are sums over all samples.
    fn units(&self, terms: usize) -> f64 {
        let of_mean = if self.monomials.monomial_scale == MonomialScale::Raw { 0 } else { 2 * self.samples() };
        (terms + of_mean + 2 * self.monomials.highest()) as f64 + OTHER_UNITS
    }

    /// The `(mean/deviation)^2` of a feature where monomials are standardised, else 0.
    pub(crate) fn spread(&self, feature: u64) -> f64 {
        if self.monomials.monomial_scale != MonomialScale::Standardized {
            return 0.0;
        }
        let (centre, factor) = self.scale_of(feature);
        (centre * factor).powi(2)
    }

    /// What is taken from `x^k`, and the factor that follows.
    fn scale_of(&self, feature: u64) -> (f64, f64) {
        let mut column = vec![1.0; self.samples()];
        self.monomials.variables(feature).iter().for_each(|&j| self.x.multiply_by_column(j as usize, &mut column));
        self.monomials.monomial_scale.of_column(&column)
    }

    /// For every dual vector of a batch the features with the largest `|u_k|`, by one pass.
    pub(crate) fn largest(&self, alphas: &[f64], count: usize, scratch: &mut Scratch) -> Vec<LargestProducts> {
        let n = self.samples();
        let copies = scratch.duals.take(alphas.len());
        let exponents: Vec<f64> =
            alphas.chunks(n).zip(copies.chunks_mut(n)).map(|(alpha, copy)| copy_in_range(alpha, copy)).collect();
        let sweep = MonomialSweep { monomials: &self.monomials, group: 1, state: 0, output: None };
        let empty = || StripeLargest { leading: exponents.iter().map(|_| Leading::new(count)).collect(), spread: 0.0 };
        let mut stripes: Vec<StripeLargest> = (0..self.monomials.stripes()).map(|_| empty()).collect();
        sweep.run(copies, &mut stripes, &mut scratch.pass, &LargestPass, |_, _| {});
        let mut whole = empty();
        for stripe in stripes {
            whole.spread = whole.spread.max(stripe.spread);
            whole.leading.iter_mut().zip(stripe.leading).for_each(|(whole, part)| whole.merge(part));
        }
        let spread = whole.spread;
        let found = |((leading, exponent), alpha): ((Leading, &f64), &[f64])| {
            let mut listed = leading.into_sorted();
            listed.iter_mut().for_each(|term| term.gain = scale_by_exp2(term.gain, *exponent));
            // If there are fewer than were asked for, all others are 0.
            let unlisted = if listed.len() < count { 0.0 } else { listed.last().map_or(0.0, |term| term.gain) };
            LargestProducts { listed, unlisted, rounding: self.rounding(alpha, spread) }
        };
        whole.leading.into_iter().zip(&exponents).zip(alphas.chunks(n)).map(found).collect()
    }

    /// Whether weights that somebody claims are those of features.
    pub(crate) fn check(&self, weights: &SparseWeights) -> Result<(), Error> {
        let SparseWeights { features, values } = weights;
        Error::check_length("the weights", values.len(), features.len())?;
        Error::check_values("the weights", values, "finite numbers", f64::is_finite)?;
        let count = self.monomials.count();
        if !features.is_sorted_by(|a, b| a < b) || features.last().is_some_and(|last| *last >= count) {
            let what = "the numbers of features, increasing and within those of the kernel";
            return Err(Error::Shape { what, got: features.len(), expected: count as usize });
        }
        Ok(())
    }

    /// The monomials with a weight.
    pub(crate) fn terms(&self, weights: &SparseWeights) -> Vec<WeightedMonomial> {
        let term = |(&feature, &weight): (&u64, &f64)| {
            let (centre, factor) = self.scale_of(feature);
            let variables: Vec<usize> = self.monomials.variables(feature).iter().map(|&j| j as usize).collect();
            WeightedMonomial { monomial: Monomial::of_sorted(&variables), weight, coefficient: weight * factor, centre }
        };
        weights.features.iter().zip(&weights.values).map(term).collect()
    }

    /// The functions with these weights.
    pub(crate) fn functions(&self, weights: &[&SparseWeights]) -> Box<dyn Predict> {
        let lists_inputs = self.monomials.monomial_scale == MonomialScale::Raw && lists_inputs(&*self.monomials.kernel);
        Box::new(SparseFunctions {
            inputs: self.x.features(),
            functions: weights.iter().map(|weights| self.terms(weights)).collect(),
            weights: lists_inputs.then(|| weights.iter().flat_map(|weights| self.listed_weights(weights)).collect()),
        })
    }

    /// The function of such monomials, of so many variables.
    pub(crate) fn predictor_of(inputs: usize, terms: Vec<WeightedMonomial>) -> Box<dyn Predict> {
        Box::new(SparseFunctions { inputs, functions: vec![terms], weights: None })
    }

    /// The weights of all features.
    fn listed_weights(&self, weights: &SparseWeights) -> Vec<f64> {
        let mut listed = vec![0.0; self.x.features()];
        weights.features.iter().zip(&weights.values).for_each(|(feature, weight)| listed[*feature as usize] = *weight);
        listed
    }
}

/// What one stripe of a pass keeps.
struct StripeLargest {
    leading: Vec<Leading>,
    spread: f64,
}

/// Looks for the features with the largest products with each dual vector.
struct LargestPass;

impl Visitor for LargestPass {
    type Own = StripeLargest;

    fn visit(&self, tile: Tile<'_>, own: &mut StripeLargest) -> bool {
        own.spread = own.spread.max(tile.spread);
        let leading = &mut own.leading[tile.group];
        // Entries of a tile that are no features are 0.
        let mut threshold = leading.threshold().max(0.0);
        for (at, u) in tile.u.iter().enumerate() {
            let gain = u.abs() * tile.factor;
            if gain > threshold {
                let number = tile.place.index(at / tile.place.inner_len(), at % tile.place.inner_len());
                leading.insert(PricedTerm { number, gain });
                threshold = leading.threshold().max(0.0);
            }
        }
        false
    }
}

/// A monomial with a weight, as a part `a_k (x^k - m_k)` of a function.
#[derive(Debug, Clone)]
pub(crate) struct WeightedMonomial {
    pub monomial: Monomial,
    pub weight: f64,
    pub coefficient: f64,
    pub centre: f64,
}

/// `f(x) = sum_k a_k (x^k - m_k)`, one for every output.
#[derive(Debug)]
struct SparseFunctions {
    inputs: usize,
    functions: Vec<Vec<WeightedMonomial>>,
    /// The weights of all features, where these are the variables.
    weights: Option<Vec<f64>>,
}

impl Predict for SparseFunctions {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        Error::check_length("a row of the new X", x.features(), self.inputs)?;
        let n = x.samples();
        let (mut values, mut column) = (vec![0.0; n * self.functions.len()], vec![0.0; n]);
        for (values, terms) in values.chunks_mut(n.max(1)).zip(&self.functions) {
            for WeightedMonomial { monomial, coefficient, centre, .. } in terms {
                column.fill(1.0);
                for &(variable, power) in monomial.factors() {
                    (0..power).for_each(|_| x.multiply_by_column(variable, &mut column));
                }
                values.iter_mut().zip(&column).for_each(|(value, x)| *value += coefficient * (x - centre));
            }
        }
        Error::check_values(
            "the values of f",
            &values,
            "finite numbers: points nearer to the samples",
            f64::is_finite,
        )?;
        Ok(values)
    }

    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone()
    }
}

impl QForm for Endpoint<'_> {
    fn exponent(&self) -> Exponent {
        self.monomials.exponent
    }

    fn samples(&self) -> usize {
        self.monomials.samples()
    }

    /// `Q` is 0 or infinite. Its slope is taken to be 0, which it is where no feature is at its limit.
    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        out.resize(self.samples(), alphas.len() / self.samples());
        out.omegas.fill(0.0);
        for (at, found) in self.largest(alphas, 1, scratch).iter().enumerate() {
            let allowed = found.bound() - found.rounding <= 1.0;
            out.values[at] = if allowed { 0.0 } else { f64::INFINITY };
            out.ln_values[at] = if allowed { f64::NEG_INFINITY } else { f64::INFINITY };
        }
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        for (alpha, out) in alphas.chunks(self.samples()).zip(out) {
            self.evaluate(alpha, &mut out.evaluation, scratch);
        }
    }

    fn cardinality(&self) -> Option<u64> {
        Some(self.monomials.count())
    }

    fn expansion_length(&self) -> usize {
        0
    }

    fn hessian(&self, _at: &Expansion, _keep: usize, _scratch: &mut Scratch) -> Hessian {
        Hessian::exact(HessianPart::Factor(Vec::new()))
    }

    fn segment<'b>(&'b self, from: Expanded<'_>, to: Expanded<'_>, _scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        let direction = to.0.iter().zip(from.0).map(|(to, from)| to - from).collect();
        Box::new(EndpointLines { form: self, alpha: from.0.to_vec(), directions: direction, passes: Cell::new(0) })
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], _scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        let (alpha, directions) = (alpha.to_vec(), directions.to_vec());
        Box::new(EndpointLines { form: self, alpha, directions, passes: Cell::new(0) })
    }

    /// Where no feature is at its limit, all weights are 0.
    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        let zero = SparseWeights::default();
        self.functions(&vec![&zero; alphas.len() / self.samples()])
    }
}

/// `Q` along lines, by a pass for every point.
struct EndpointLines<'b> {
    form: &'b Endpoint<'b>,
    alpha: Vec<f64>,
    directions: Vec<f64>,
    passes: Cell<usize>,
}

impl Lines for EndpointLines<'_> {
    fn at(&self, line: usize, t: f64) -> LinePoint {
        let n = self.alpha.len();
        let point: Vec<f64> = self.alpha.iter().zip(&self.directions[line * n..]).map(|(a, d)| a + t * d).collect();
        let mut evaluation = Evaluation::default();
        self.form.evaluate(&point, &mut evaluation, &mut Scratch::new());
        self.passes.set(self.passes.get() + 1);
        let value = evaluation.values[0];
        LinePoint { value, slope: value, bregman: value }
    }

    fn passes(&self) -> usize {
        self.passes.get()
    }
}
