//! How much of the Hessian a run asks for, and when.

use std::ops::RangeInclusive;

use crate::{
    QForm,
    data::Scratch,
    form::{Expansion, Hessian},
};

/// The Hessian of the last step, and what steps have gained with it.
///
/// Where features are listed it keeps the heaviest of them. It keeps twice as many when a whole step gains less than a
/// digit, serves another step when it has gained much and a new one would not gain more, and is corrected by what steps
/// tell of the features that it leaves out.
pub(super) struct HessianModel {
    hessian: Option<Hessian>,
    keep: usize,
    most: usize,
    gap: f64,
    /// The factors by which the last two steps, if they were whole, have shrunk the gap.
    factors: [f64; 2],
    /// The last iterate, and the gradient of Q there.
    last: Option<(Vec<f64>, Vec<f64>)>,
}

/// A whole step that leaves more than this share of the gap, and so gains less than a digit, asks for more features.
const SHRINKS_TOO_LITTLE: f64 = 0.1;
/// A step that leaves at most this share of the gap may pass its Hessian on to the next, which saves forming one.
const SHRINKS_WELL: f64 = 0.03;
/// Features that are left out do not matter if their share of the trace is below this: to keep them would not gain a digit.
const NEGLIGIBLE: f64 = 1e-6;

/// If the features that are left out have more than this share of the trace, a good last step tells more of them than a multiple of the
/// identity does. Otherwise the kept features have changed too much since that step (both measured, p = 4/3 to 1.05).
const LEAST_TAIL_TO_CORRECT: f64 = 0.5;

impl HessianModel {
    /// A model that keeps between these numbers of features.
    pub(super) fn new(keep: RangeInclusive<usize>) -> Self {
        let (keep, most) = keep.into_inner();
        Self { hessian: None, keep, most, gap: f64::INFINITY, factors: [1.0; 2], last: None }
    }

    /// Learns the relative gap that a step has led to, and whether the step was whole.
    pub(super) fn learn(&mut self, gap: f64, whole: bool) {
        let factor = if whole { gap / self.gap } else { 1.0 };
        self.factors = [self.factors[1], factor];
        self.gap = gap;
        let left_out = self.hessian.as_ref().map_or(0.0, |hessian| hessian.tail_share);
        if whole && factor > SHRINKS_TOO_LITTLE && left_out > NEGLIGIBLE {
            self.keep = self.keep.saturating_mul(2).min(self.most);
        }
    }

    /// The Hessian for the next step, which may be the last one. It is to be put back.
    pub(super) fn take(
        &mut self,
        form: &dyn QForm,
        (alpha, here): (&[f64], &Expansion),
        tolerance: f64,
        scratch: &mut Scratch,
    ) -> Hessian {
        let mut hessian = match self.hessian.take() {
            Some(hessian) if hessian.tail_share > 0.0 && self.serves_again(tolerance) => hessian,
            last => {
                last.into_iter().for_each(|last| last.end(scratch));
                form.hessian_in_place(here).unwrap_or_else(|| form.hessian(here, self.keep, scratch))
            }
        };
        if hessian.tail_share > 0.0 {
            self.correct(&mut hessian, alpha, &here.evaluation.omegas, form.exponent().q());
        }
        hessian
    }

    /// Corrects a model that leaves features out by what is known without them: what the last step did to the gradient of
    /// Q, and `H alpha = (q-1) omega`, as `omega` is homogeneous of degree q-1.
    fn correct(&mut self, hessian: &mut Hessian, alpha: &[f64], omega: &[f64], q: f64) {
        let last = self.last.replace((alpha.to_vec(), omega.to_vec()));
        if let Some((last_alpha, last_omega)) = last
            && hessian.tail_share > LEAST_TAIL_TO_CORRECT
            && self.factors[1] < SHRINKS_TOO_LITTLE
        {
            let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
            hessian.correct(&difference(alpha, &last_alpha), &difference(omega, &last_omega));
        }
        hessian.correct(alpha, &omega.iter().map(|omega| (q - 1.0) * omega).collect::<Vec<f64>>());
    }

    pub(super) fn put_back(&mut self, hessian: Hessian) {
        self.hessian = Some(hessian);
    }

    /// Whether the same factor once more is enough, or a new Hessian has not made the factors smaller.
    fn serves_again(&self, tolerance: f64) -> bool {
        let [before, last] = self.factors;
        last <= SHRINKS_WELL && (last * self.gap <= 0.3 * tolerance || last >= 0.3 * before)
    }
}
