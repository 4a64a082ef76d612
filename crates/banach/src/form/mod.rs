//! The regulariser's dual, `Q(alpha) = (1/q)||Phi_n* alpha||_q^q`, and its representations.
//!
//! A *route* is a way to hold `Q`: [`Features`] keeps the matrix `Phi_n`, [`KernelFeatures`] forms it for a kernel,
//! [`Tiles`] forms a few of its entries at a time in every pass, [`Gram`] keeps the Gram tensor of a kernel, or recomputes it in every pass. All routes obey the laws in `laws.rs`.

mod endpoint;
mod expansion;
mod features;
mod gram;
mod heaviest;
mod in_place;
mod kernel_features;
#[cfg(test)]
pub(crate) mod laws;
mod local;
mod planner;
mod rounding;
mod scattered;
pub(crate) mod sealed;
pub(crate) mod tiles;

pub use endpoint::SparseWeights;
pub(crate) use endpoint::{Endpoint, LargestProducts, WeightedMonomial};
pub use expansion::{Expanded, Expansion, Hessian, HessianPart};
pub(crate) use expansion::{MOST_DENSE, is_in_place};
pub use features::Features;
pub use gram::Gram;
pub(crate) use heaviest::square_of;
pub use in_place::InPlace;
pub(crate) use in_place::{MOST_HEAVIEST, features};
pub use kernel_features::KernelFeatures;
pub use local::LocalModel;
pub(crate) use local::LocalPoint;
pub use planner::{Cost, Fits, Plan, Planner, Route, RoutePlan, Shape};

pub use crate::cost::{PredictedPass, Prediction, Rates};
pub use tiles::Tiles;

use std::fmt;

use crate::{Error, Exponent, FeatureMatrix, data::Scratch, exponent::Running};

/// Lines for which routes count memory: as many as a line search looks along at a time (`TRIALS` of the proximal gradient method).
const LINES: usize = 8;

/// The convex, q-homogeneous form `Q(alpha) = (1/q)||Phi_n* alpha||_q^q` on `R^n`.
///
/// Its gradient `omega = Phi_n J_q(Phi_n* alpha)` is the vector of in-sample predictions of the model
/// `w = J_q(Phi_n* alpha)`, and `<alpha, omega> = q Q(alpha) = ||w||_p^p` (Euler).
///
/// Dual vectors come in batches: n-vectors, one after another in one slice. A batch costs one pass over
/// the data, a very large one a few. Results do not depend on the number of threads, and calls of `evaluate` and
/// `lines` with the same shapes do not allocate after the first, but for the handle of a few words that `lines`
/// returns, where the data are stored.
///
/// Dual vectors are finite and of length n; anything else is a mistake of the caller and may panic. For finite
/// vectors no method returns NaN: a value beyond the range of `f64` is infinite.
///
/// Only this crate implements it: every route needs what an [`Expansion`] keeps, which is private (ADR 20).
pub trait QForm: sealed::Sealed + fmt::Debug + Send + Sync {
    /// The exponents p and q.
    fn exponent(&self) -> Exponent;

    /// The number of samples, n.
    fn samples(&self) -> usize;

    /// `Q` and `omega` at every dual vector of the batch.
    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch);

    /// As [`evaluate`](Self::evaluate), for one expansion per dual vector.
    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch);

    /// Evaluates one dual vector again, more slowly and with smaller [`roundings`](Evaluation::roundings). Returns the passes over the
    /// data that this is worth: 0 on a route that has no better way, which leaves the evaluation as it is.
    fn sharpen(&self, _alpha: &[f64], _at: &mut Evaluation, _scratch: &mut Scratch) -> usize {
        0
    }

    /// The number of features, card(K); `None` on routes without features.
    fn cardinality(&self) -> Option<u64> {
        None
    }

    /// The matrix `Phi_n` itself, on routes that hold it.
    fn listed(&self) -> Option<&FeatureMatrix<'_>> {
        None
    }

    /// The most features that a Hessian can keep.
    fn most_kept(&self) -> usize {
        usize::MAX
    }

    /// The most numbers that the route keeps in an expansion.
    fn expansion_length(&self) -> usize;

    /// Bytes of working memory that a pass takes for every dual vector of its batch; 0 where a large batch is divided.
    fn batch_bytes(&self) -> u64 {
        0
    }

    /// The Hessian of Q at an expansion, `(q-1) M` with `M = Phi_n diag(|u|^(q-2)) Phi_n*`; `omega = M alpha`. Routes
    /// that know their features keep the `keep` heaviest of them, at most [`most_kept`](Self::most_kept), and put the others in
    /// as a multiple of the identity. A tensor is exact, and so is a route that keeps all features.
    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian;

    /// The same on all features that matter, which are read where they are stored, on routes that list them; `None` elsewhere, and where either
    /// side is so small that a matrix costs less.
    fn hessian_in_place(&self, _at: &Expansion) -> Option<Hessian> {
        None
    }

    /// `Q` along the line from an expanded point in the direction d, from the features that a Hessian has kept alone: a lower bound
    /// that costs no pass. `None` from a tensor.
    fn preview<'a>(
        &'a self,
        _at: &Expansion,
        _hessian: &Hessian,
        _d: &[f64],
        _scratch: &'a mut Scratch,
    ) -> Option<Box<dyn Lines + 'a>> {
        None
    }

    /// `Q` near an expanded point, from the `keep` heaviest features, if the others have at most the share `most_left_out` of the trace of
    /// the Hessian. `None` otherwise, from a tensor, for q = 2, where the Hessian is the same everywhere, and where powers of numbers
    /// leave their range.
    fn local(
        &self,
        _at: Expanded<'_>,
        _keep: usize,
        _most_left_out: f64,
        _scratch: &mut Scratch,
    ) -> Option<LocalModel> {
        None
    }

    /// `Q` on the segment from one expanded point to another, t = 0 to t = 1; on routes that keep only the heaviest
    /// features, exactly for those, with the slope of the others interpolated between its two ends.
    fn segment<'a>(&'a self, from: Expanded<'_>, to: Expanded<'_>, scratch: &'a mut Scratch) -> Box<dyn Lines + 'a>;

    /// `Q` restricted to the lines `alpha + t d`, one for every `d` of the batch `directions`.
    fn lines<'a>(&'a self, alpha: &[f64], directions: &[f64], scratch: &'a mut Scratch) -> Box<dyn Lines + 'a>;

    /// The models `f = <w, Phi(.)>` with `w = J_q(Phi_n* alpha)`, one for every dual vector of the batch. They own what
    /// they need, so they outlive the form and its data: the weights where features are listed, else the samples.
    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict>;

    /// The norm of that model, `||f|| = ||w||_p = (q Q(alpha))^(1/p)`, (36) `[eq:20170519a]`.
    fn norm(&self, alpha: &[f64]) -> f64 {
        let mut evaluation = Evaluation::default();
        self.evaluate(alpha, &mut evaluation, &mut Scratch::new());
        let exponent = self.exponent();
        ((evaluation.ln_values[0] + exponent.q().ln()) / exponent.p()).exp()
    }
}

/// What [`QForm::evaluate`] finds, for every dual vector of the batch.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// `Q(alpha)`.
    pub values: Vec<f64>,
    /// `ln Q(alpha)`, finite also where `Q` itself is out of range; minus infinity for `Q = 0`.
    pub ln_values: Vec<f64>,
    /// `omega`, one n-vector after another.
    pub omegas: Vec<f64>,
    /// How far rounding can have moved each entry of `omega`: a bound (`form/rounding.rs`), which certificates count. It also covers
    /// the rounding of `t alpha` and its predictions when a dual vector moves along its ray.
    pub roundings: Vec<f64>,
    /// M, one n x n matrix after another; only [`Gram::curvature`] fills it.
    pub curvatures: Vec<f64>,
}

impl Evaluation {
    /// Room for `batch` dual vectors of length `n`.
    pub(crate) fn resize(&mut self, n: usize, batch: usize) {
        self.values.resize(batch, 0.0);
        self.ln_values.resize(batch, 0.0);
        self.omegas.resize(n * batch, 0.0);
        self.roundings.clear();
        self.roundings.resize(n * batch, 0.0);
        self.curvatures.clear();
    }

    /// Takes in the sums of a pass for one dual vector of the batch, which was divided by `2^exponent`. On entry omega holds sums
    /// relative to the running size.
    pub(crate) fn finish(&mut self, problem: usize, total: Running, exponent: f64, q: f64) {
        let n = self.omegas.len() / self.values.len();
        let omega = &mut self.omegas[problem * n..][..n];
        (self.values[problem], self.ln_values[problem]) = total.finish(exponent, q, omega);
    }

    /// Becomes the evaluation of one dual vector of a batch.
    pub(crate) fn copy_from(&mut self, batch: &Evaluation, problem: usize, n: usize) {
        self.resize(n, 1);
        self.values[0] = batch.values[problem];
        self.ln_values[0] = batch.ln_values[problem];
        self.omegas.copy_from_slice(&batch.omegas[problem * n..][..n]);
        self.roundings.copy_from_slice(&batch.roundings[problem * n..][..n]);
    }
}

/// Fitted functions, one for every dual vector they were made from.
pub trait Predict: fmt::Debug + Send + Sync {
    /// The values at new points, the rows of `x`, which have the variables of the samples that were fitted: all values of the first
    /// function, then all values of the second, and so on.
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error>;

    /// The weights w of the features, one function after another; `None` where the features are not listed.
    fn weights(&self) -> Option<Vec<f64>> {
        None
    }
}

/// `Q` along the lines of [`QForm::lines`].
pub trait Lines {
    /// The point `alpha + t d` of the given line.
    fn at(&self, line: usize, t: f64) -> LinePoint;

    /// The passes over the data that these lines have taken so far: when they were made, or for their points.
    fn passes(&self) -> usize;
}

/// `Q` at a point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinePoint {
    /// `Q(alpha + t d)`.
    pub value: f64,
    /// Its derivative in t.
    pub slope: f64,
    /// `Q(alpha + t d) - Q(alpha) - t <d, grad Q(alpha)>`, free of cancellation.
    pub bregman: f64,
}
