//! What was fitted, and by which route.

use serde::{Serialize, Serializer};

use crate::{
    Certificate, Error, Exponent, Fit, Route,
    form::{Plan, RoutePlan},
    kernel::MonomialScale,
};

/// The parameters of a model in numbers and names.
#[derive(Debug, Clone, Serialize)]
pub struct ModelSummary {
    /// The kernel.
    pub kernel: String,
    /// The lowest degree of its monomials.
    pub min_degree: usize,
    /// The highest; none if there is no highest.
    pub max_degree: Option<usize>,
    /// How many monomials it has, without those that the samples exclude; none if infinitely many.
    pub features: Option<f64>,
    /// How they are scaled.
    pub monomials: MonomialScale,
    /// p and q, as they are printed.
    #[serde(skip)]
    pub exponent: Exponent,
    /// The exponent of the norm.
    pub p: f64,
    /// Its conjugate.
    pub q: f64,
    /// The loss.
    pub loss: &'static str,
    /// The weight of the loss; none for a path over many.
    pub gamma: Option<f64>,
    /// Whether a constant is fitted.
    pub intercept: bool,
}

impl ModelSummary {
    /// Of a fit by a plan, with its gamma if it has one.
    pub fn new(fit: &Fit, plan: &Plan, gamma: Option<f64>) -> Self {
        let (spec, kernel, exponent) = (fit.spec(), fit.kernel(), fit.exponent());
        let (min_degree, max_degree) = kernel.degrees();
        Self {
            kernel: kernel.name(),
            min_degree,
            max_degree,
            features: plan.monomials(),
            monomials: spec.monomials,
            exponent,
            p: exponent.p(),
            q: exponent.q(),
            loss: fit.loss().name(),
            gamma,
            intercept: spec.fit_intercept,
        }
    }
}

/// The route that was taken, among all.
#[derive(Debug, Clone, Serialize)]
pub struct RouteSummary {
    /// The route that was taken.
    pub chosen: Route,
    /// What every route would cost.
    pub candidates: Vec<RouteCost>,
}

/// What a route would cost, or why it cannot be taken.
#[derive(Debug, Clone, Serialize)]
pub struct RouteCost {
    /// The route.
    pub route: Route,
    /// Time.
    pub seconds: Option<f64>,
    /// Memory.
    pub bytes: Option<u64>,
    /// Why it cannot be taken.
    #[serde(serialize_with = "as_text")]
    pub refused: Option<Error>,
}

impl From<&Plan> for RouteSummary {
    fn from(plan: &Plan) -> Self {
        let candidate = |candidate: &RoutePlan| {
            let cost = candidate.outcome.as_ref().ok();
            RouteCost {
                route: candidate.route,
                seconds: cost.map(|cost| cost.total),
                bytes: cost.map(|cost| cost.bytes),
                refused: candidate.outcome.as_ref().err().cloned(),
            }
        };
        Self { chosen: plan.chosen(), candidates: plan.routes().iter().map(candidate).collect() }
    }
}

/// An error as it reads in the words of the library.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn as_text<S: Serializer>(error: &Option<Error>, serializer: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(ToString::to_string).serialize(serializer)
}

/// A [`Certificate`] with its relative gap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CertificateValues {
    /// The value of the primal objective.
    pub primal: f64,
    /// The value of the dual objective.
    pub dual: f64,
    /// The duality gap.
    pub gap: f64,
    /// The gap relative to the values.
    pub relative_gap: f64,
    /// A bound on the distance to the optimal weights.
    pub distance: f64,
}

impl From<Certificate> for CertificateValues {
    fn from(certificate: Certificate) -> Self {
        let Certificate { primal, dual, gap, distance } = certificate;
        Self { primal, dual, gap, relative_gap: certificate.relative_gap(), distance }
    }
}
