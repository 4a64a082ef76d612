//! Certificates of iterates, with a second look where only rounding is in the way.

use super::DualProblem;
use crate::{Certificate, data::Scratch, form::Evaluation};

/// The certificate of an iterate.
pub(crate) struct Certified {
    pub certificate: Certificate,
    /// The gap if the predictions were not rounded.
    pub plain: f64,
    /// The intercept of the predictions, for targets from their centre.
    pub b: f64,
    /// Passes over the data that it took besides the evaluation.
    pub passes: usize,
    /// Whether what rounding may have done to the predictions is all that keeps the gap above the tolerance, at any better dual
    /// vector too.
    pub blurred: bool,
    /// Whether it is all at this one.
    pub doubtful: bool,
}

/// Where the gap but for rounding is this share of the tolerance and the gap with it is above, a better dual vector does not help:
/// what is to be gained is less than what rounding takes.
const SHARE_TO_BE_GAINED: f64 = 1.0 / 16.0;

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
        let b = self.centred_intercept(&evaluation.omegas);
        let claimed = |b: f64, evaluation: &Evaluation| {
            self.certificate_with_plain(b, alpha, evaluation, |i| evaluation.roundings[i])
        };
        let (certificate, plain) = claimed(b, evaluation);
        if certificate.relative_gap() <= tolerance || certificate.relative(plain) > tolerance {
            return Certified { certificate, plain, b, passes: 0, blurred: false, doubtful: false };
        }
        let passes = self.form().sharpen(alpha, evaluation, scratch);
        let b = self.centred_intercept(&evaluation.omegas);
        let (certificate, plain) = claimed(b, evaluation);
        let (claimed, rest) = (certificate.relative_gap(), certificate.relative(plain));
        // What rounding adds beside a kink does not depend on the gap; what it adds to a parabola falls with the gap's root.
        let lasts = self.loss().has_kinks() && claimed - rest > tolerance;
        // A tolerance of 0 is for runs that go on as far as they can.
        let blurred = claimed > tolerance && tolerance > 0.0 && (lasts || rest <= SHARE_TO_BE_GAINED * tolerance);
        Certified { certificate, plain, b, passes, blurred, doubtful: claimed > tolerance && rest <= tolerance }
    }

    /// The gap as it would be if rounding had moved every prediction by so much, for their centred intercept b.
    pub(crate) fn gap_within(&self, rounding: f64, b: f64, alpha: &[f64], evaluation: &Evaluation) -> f64 {
        self.gap_at(b, alpha, &evaluation.omegas[..self.samples()], |_| rounding)
    }
}
