//! Certificates of iterates, with a second look where only rounding is in the way.

use super::DualProblem;
use crate::{Certificate, Evaluation, Scratch};

/// The certificate of an iterate.
pub(crate) struct Certified {
    pub certificate: Certificate,
    /// Passes over the data that it took besides the evaluation.
    pub passes: usize,
    /// Whether the tolerance is met but for what rounding may have done to the predictions, which is then a good part of the gap: where
    /// it is not, the next iterate may do without it.
    pub blurred: bool,
}

/// A gap that is so many times the one without rounding is due to rounding.
const ROUNDED: f64 = 1.5;

impl DualProblem<'_> {
    /// The certificate of a dual vector. Where only the rounding of its predictions keeps the gap above the tolerance, they are computed
    /// again with less of it ([`QForm::sharpen`](crate::QForm::sharpen)), and the evaluation becomes that one.
    pub(crate) fn certify(
        &self,
        alpha: &[f64],
        evaluation: &mut Evaluation,
        tolerance: f64,
        scratch: &mut Scratch,
    ) -> Certified {
        let certificate = self.certificate(alpha, evaluation);
        let is_met = |certificate: &Certificate| certificate.relative_gap() <= tolerance;
        if is_met(&certificate) || !is_met(&self.certificate_within(0.0, alpha, evaluation)) {
            return Certified { certificate, passes: 0, blurred: false };
        }
        let passes = self.form().sharpen(alpha, evaluation, scratch);
        let certificate = self.certificate(alpha, evaluation);
        let plain = self.certificate_within(0.0, alpha, evaluation);
        let blurred = !is_met(&certificate) && is_met(&plain) && certificate.gap > ROUNDED * plain.gap;
        Certified { certificate, passes, blurred }
    }

    /// The certificate as it would be if rounding had moved every prediction by so much.
    pub(crate) fn certificate_within(&self, rounding: f64, alpha: &[f64], evaluation: &Evaluation) -> Certificate {
        let Evaluation { values, ln_values, omegas, .. } = evaluation.clone();
        let roundings = vec![rounding; omegas.len()];
        self.certificate(alpha, &Evaluation { values, ln_values, omegas, roundings, curvatures: Vec::new() })
    }
}
