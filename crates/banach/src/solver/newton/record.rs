//! The best iterate of a run, and whether it still makes progress.

use crate::{Certificate, DualProblem, data::Scratch, form::Evaluation};

/// What a run remembers of its iterates.
pub(super) struct Record {
    /// The iterate with the smallest relative gap.
    best: Option<KeptIterate>,
    /// The iterate whose gap without rounding is the smallest, if that is another one, and that gap.
    clearest: Option<KeptIterate>,
    least_plain: f64,
    /// Iterations without progress, and those of them whose gap is made by rounding.
    idle: usize,
    noisy: usize,
    /// The dual value at the last iteration that made progress by it.
    milestone: f64,
    /// The smallest gap so far, and the smallest relative gap.
    least_gap: f64,
    least_relative: f64,
}

/// An iterate that is worth keeping.
pub(super) struct KeptIterate {
    pub alpha: Vec<f64>,
    pub omega: Vec<f64>,
    pub intercept: f64,
    pub certificate: Certificate,
}

/// What is known of the gap of an iterate.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub certificate: Certificate,
    /// The relative gap without what rounding adds to it.
    pub plain: f64,
    /// Whether rounding makes much of the gap of an iterate that is no progress.
    pub noisy: bool,
}

impl KeptIterate {
    /// The same dual vector with predictions that are rounded less, if they prove more; and its gap without rounding.
    fn sharpened(self, problem: &DualProblem<'_>, passes: &mut usize, scratch: &mut Scratch) -> (Self, f64) {
        let mut evaluation = Evaluation::default();
        problem.form().evaluate(&self.alpha, &mut evaluation, scratch);
        *passes += 1 + problem.form().sharpen(&self.alpha, &mut evaluation, scratch);
        let b = problem.centred_intercept(&evaluation.omegas);
        let certificate = problem.certificate_at(b, &self.alpha, &evaluation, |i| evaluation.roundings[i]);
        let plain = problem.gap_within(0.0, b, &self.alpha, &evaluation);
        if certificate.relative_gap() >= self.certificate.relative_gap() {
            return (self, plain);
        }
        let omega = evaluation.omegas;
        (Self { intercept: problem.uncentred(b), alpha: self.alpha, omega, certificate }, plain)
    }
}

/// Iterations without progress after which a run has stalled. In `tests/library/hard_problems.rs` runs come back from rows of every
/// length up to this, one in twenty of them from more than 18.
const PATIENCE: usize = 30;
/// The same if rounding has made the gap of every one of these iterations: fewer tell as much.
const NOISY_PATIENCE: usize = 8;
/// A smallest gap, relative or not, that shrinks to less than this share is progress. Far from the solution the primal value
/// can be a million times the dual one; the gap itself then shrinks for many steps in which the relative gap stays at 1.
const PROGRESS_IN_GAP: f64 = 0.9;
/// Relative gaps below this are rounding, and do not tell which iterate is better. The later one is taken.
const TIED_GAP: f64 = 4.0 * f64::EPSILON;
/// A fall of the dual value by this share is progress, even if the gap does not show it: far from the solution the gap does
/// not fall for many steps.
const PROGRESS_IN_DUAL: f64 = 0.02;

/// Below this relative gap the primal and the dual value are the same number, whatever further steps take off the gap.
const LEAST_GAP: f64 = f64::EPSILON / 16.0;

impl Record {
    pub(super) fn new() -> Self {
        Self {
            best: None,
            clearest: None,
            least_plain: f64::INFINITY,
            idle: 0,
            noisy: 0,
            milestone: f64::INFINITY,
            least_gap: f64::INFINITY,
            least_relative: f64::INFINITY,
        }
    }

    /// Starts to count again; the best iterate stays.
    pub(super) fn reset(&mut self) {
        (self.idle, self.noisy, self.milestone, self.least_gap) = (0, 0, f64::INFINITY, f64::INFINITY);
    }

    /// Learns of an iterate, which is asked for if it is worth keeping.
    pub(super) fn learn(&mut self, seen: Seen, tolerance: f64, iterate: impl FnOnce() -> KeptIterate) {
        let Seen { certificate, plain, noisy } = seen;
        let gap = certificate.relative_gap();
        let best = self.best.as_ref().map_or(f64::INFINITY, |best| best.certificate.relative_gap());
        let falls = self.falls(&certificate);
        (self.idle, self.noisy) =
            if self.is_progress(&certificate) { (0, 0) } else { (self.idle + 1, self.noisy + usize::from(noisy)) };
        (self.least_gap, self.least_relative) = (self.least_gap.min(certificate.gap), self.least_relative.min(gap));
        if falls || !self.milestone.is_finite() {
            self.milestone = certificate.dual;
        }
        let (is_best, is_clearest) =
            (gap < best.max(TIED_GAP.min(tolerance)) || self.best.is_none(), plain < self.least_plain);
        if is_best || is_clearest {
            self.least_plain = self.least_plain.min(plain);
            let iterate = iterate();
            if is_best {
                // The clearest is another only where it is worse by what rounding adds.
                self.clearest = if is_clearest { None } else { self.clearest.take().or_else(|| self.best.take()) };
                self.best = Some(iterate);
            } else {
                self.clearest = Some(iterate);
            }
        }
    }

    /// Whether an iterate with this certificate would be progress.
    pub(super) fn is_progress(&self, certificate: &Certificate) -> bool {
        let shrinks = certificate.relative_gap() < PROGRESS_IN_GAP * self.least_relative
            || certificate.gap < PROGRESS_IN_GAP * self.least_gap;
        (shrinks && self.least_relative > LEAST_GAP) || self.falls(certificate)
    }

    fn falls(&self, certificate: &Certificate) -> bool {
        certificate.dual < self.milestone - PROGRESS_IN_DUAL * self.milestone.abs()
    }

    /// Whether there is an iterate.
    pub(super) fn has_iterate(&self) -> bool {
        self.best.is_some()
    }

    /// The primal value of the best iterate.
    pub(super) fn least_primal(&self) -> f64 {
        self.best.as_ref().map_or(0.0, |best| best.certificate.primal)
    }

    /// The best iterate.
    pub(super) fn best_alpha(&self) -> Vec<f64> {
        self.best.as_ref().map_or_else(Vec::new, |best| best.alpha.clone())
    }

    /// Iterations without progress.
    pub(super) fn idle(&self) -> usize {
        self.idle
    }

    /// Whether rounding has made the gap of most of them.
    pub(super) fn is_noisy(&self) -> bool {
        2 * self.noisy > self.idle
    }

    /// Whether no step makes progress any more.
    pub(super) fn has_stalled(&self) -> bool {
        self.idle > PATIENCE
    }

    /// Whether rounding has made the gap of every iterate for a while.
    pub(super) fn is_lost(&self) -> bool {
        self.noisy > NOISY_PATIENCE && self.noisy == self.idle
    }

    pub(super) fn into_best(self) -> KeptIterate {
        self.best.expect("a run ends at an iterate")
    }

    /// The best iterate, evaluated once more with less rounding, and its gap without rounding.
    pub(super) fn into_sharpened(
        self,
        problem: &DualProblem<'_>,
        passes: &mut usize,
        scratch: &mut Scratch,
    ) -> (KeptIterate, f64) {
        let clearest = self.clearest.map(|iterate| iterate.sharpened(problem, passes, scratch));
        let best = self.best.expect("a run ends at an iterate").sharpened(problem, passes, scratch);
        let gap = |looked: &(KeptIterate, f64)| looked.0.certificate.relative_gap();
        match clearest {
            Some(clearest) if gap(&clearest) < gap(&best) => clearest,
            _ => best,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(record: &mut Record, dual: f64, gap: f64) {
        let certificate = Certificate { primal: 1.0, dual, gap, distance: 0.0 };
        learn_of(record, certificate);
    }

    fn learn_of(record: &mut Record, certificate: Certificate) {
        let best = || KeptIterate { alpha: vec![certificate.gap], omega: Vec::new(), intercept: 0.0, certificate };
        record.learn(Seen { certificate, plain: certificate.relative_gap(), noisy: false }, 0.0, best);
    }

    #[test]
    fn keeps_the_smallest_gap_and_counts_what_leads_nowhere() {
        let mut record = Record::new();
        for (dual, gap, idle) in
            [(-1.0, 0.5, 0), (-1.0, 0.6, 1), (-1.0, 0.49, 2), (-1.0, 0.4, 0), (-1.1, 0.7, 0), (-1.1, 0.7, 1)]
        {
            learn(&mut record, dual, gap);
            assert_eq!(record.idle(), idle, "{dual} {gap}");
        }
        (0..PATIENCE).for_each(|_| learn(&mut record, -1.1, 0.7));
        assert!(record.has_stalled());
        record.reset();
        assert!(!record.has_stalled());
        assert_eq!(record.into_best().alpha, [0.4]);
    }

    /// Where the relative gap stays at 1, the gap itself tells.
    #[test]
    fn sees_the_gap_behind_a_relative_gap_of_one() {
        let mut record = Record::new();
        for step in 0..=PATIENCE {
            let gap = 1e9 * 0.8_f64.powi(i32::try_from(step).expect("small"));
            let certificate = Certificate { primal: gap, dual: -1e-3, gap, distance: 0.0 };
            learn_of(&mut record, certificate);
            assert_eq!(record.idle(), 0, "{step}");
        }
    }

    /// A first iterate without a finite gap is kept all the same.
    #[test]
    fn keeps_something() {
        let mut record = Record::new();
        learn(&mut record, f64::INFINITY, f64::INFINITY);
        assert_eq!(record.into_best().alpha, [f64::INFINITY]);
    }
}
