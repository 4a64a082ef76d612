//! Fits that are still to be made, and how long they will take.

use super::{Fit, SolverChoice};
use crate::{
    Error, FeatureMatrix, Route,
    form::{Fits, Plan, Prediction, Rates},
    loss::Conjugate,
    solver::chains,
};

/// Iterations of a fit by Newton's method, and more of them for each unit of q (`banach-lab bench plan`).
struct Iterations {
    least: f64,
    for_q: f64,
}

/// From a start of its own, and from the solution for the gamma before it.
const BEGUN: Iterations = Iterations { least: 3.5, for_q: 0.15 };
const FOLLOWED: Iterations = Iterations { least: 2.0, for_q: 0.07 };
/// Of the squared loss where its system is the whole problem: the weights are found exactly, or q = 2.
const EXACT: Iterations = Iterations { least: 1.0, for_q: 0.0 };
/// Of a smooth loss where the weights are found exactly.
const EXACT_SMOOTH: Iterations = Iterations { least: 3.7, for_q: 0.0 };
/// A smooth loss that is no parabola takes so many times as many, and one with kinks.
const CURVED: f64 = 1.6;
const KINKED: f64 = 2.5;
/// Iterations after the tolerance of a model is reached, where the matrix is small (`solver/newton/run.rs`).
const POLISHING: f64 = 2.0;
const MOST_POLISHED: usize = 1 << 20;
const FINAL_TOLERANCE: f64 = 1e-7;
/// Evaluations of the algorithms of the paper, as a multiple of q^2 (Table 1).
const EVALUATIONS_OF_PAPER: f64 = 0.6;
/// Passes of a fit with p = 1.
const PASSES_AT_ONE: f64 = 12.0;
/// The most problems that a route is planned for: more would not run together.
const MOST_TOGETHER: usize = 1 << 20;
/// Seconds of fits from which the machine is asked for its rates: that takes a tenth of a second.
const ASKED_FROM: f64 = 3.0;

/// Fits that are still to be made, each with the plan of its route.
///
/// ```
/// use banach::{FeatureMatrix, Fit, Spec, form::Rates};
///
/// let x = FeatureMatrix::from_columns(10, 500, vec![0.5; 5000])?;
/// let fit = Fit::new(&Spec { p: 1.1, ..Spec::default() })?;
/// let one = fit.planned(&x, 1, 1)?.prediction(&Rates::default());
/// let folds = fit.planned(&x, 5, 20)?.prediction(&Rates::default());
/// assert!(folds.fits == 100 && folds.seconds > one.seconds);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PlannedFits(Vec<(Plan, Fits)>);

impl Fit {
    /// The fits of so many problems that run together, functions times folds, for so many values of gamma.
    pub fn planned(&self, x: &FeatureMatrix<'_>, problems: usize, gammas: usize) -> Result<PlannedFits, Error> {
        Ok(self.planned_by(&self.plan(x, problems.min(MOST_TOGETHER))?, problems, gammas))
    }

    /// The same by a plan that is there.
    pub fn planned_by(&self, plan: &Plan, problems: usize, gammas: usize) -> PlannedFits {
        let (problems, gammas) = (problems.max(1), gammas.max(1));
        PlannedFits(vec![(plan.clone(), self.fits(plan, problems, gammas))])
    }

    /// How the solver goes about them.
    fn fits(&self, plan: &Plan, problems: usize, gammas: usize) -> Fits {
        let (count, q) = (problems.saturating_mul(gammas), self.exponent().q());
        let alone = |evaluations| Fits { count, batches: count, evaluations, steps: 0.0, systems: 1.0 };
        if self.exponent().is_endpoint() {
            return alone(PASSES_AT_ONE);
        }
        if let SolverChoice::Paper(_) = self.spec().solver {
            return alone((EVALUATIONS_OF_PAPER * q * q).max(10.0));
        }
        let solver = self.spec().solver.solver(self.spec().stopping(), crate::Memory::limit(0));
        let batches = gammas.div_ceil(chains(&*solver, gammas));
        let (parabola, smooth) =
            (self.loss().curvature().is_some(), matches!(self.loss().conjugate_kind(), Conjugate::Smooth(_)));
        let times = |iterations: &Iterations| iterations.least + iterations.for_q * q;
        let first = 1.0 / batches as f64;
        let iterations = match () {
            () if parabola && (plan.finds_weights() || q == 2.0) => times(&EXACT),
            () if smooth && plan.finds_weights() => times(&EXACT_SMOOTH),
            () => first * times(&BEGUN) + (1.0 - first) * times(&FOLLOWED),
        };
        let (harder, systems) = match () {
            () if parabola => (1.0, 1.0 / iterations),
            () if smooth && plan.finds_weights() => (1.0, 1.0),
            () if smooth => (CURVED, 1.0),
            () => (KINKED, 2.0),
        };
        let small = plan.chosen() == Route::Features
            && plan.monomials().is_some_and(|features| features * plan.shape().samples as f64 <= MOST_POLISHED as f64);
        let polishing = if small && self.spec().tolerance <= FINAL_TOLERANCE { POLISHING } else { 0.0 };
        let steps = harder * iterations + polishing;
        Fits { count, batches, evaluations: steps + 1.0, steps, systems }
    }
}

impl PlannedFits {
    /// These and others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// All of them so many times.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        for (_, fits) in &mut self.0 {
            fits.count = fits.count.saturating_mul(times);
            fits.batches = fits.batches.saturating_mul(times);
        }
        self
    }

    /// What they are predicted to take on a machine with these rates.
    pub fn prediction(&self, rates: &Rates) -> Prediction {
        self.0.iter().map(|(plan, fits)| plan.prediction(fits, rates)).sum()
    }

    /// What they are predicted to take here: by the usual rates, and where that is seconds by those of this machine as it is now.
    pub fn prediction_here(&self) -> Prediction {
        predicted_here(|rates| self.prediction(rates))
    }
}

/// A prediction by the usual rates, and where that is seconds by those of this machine as it is now.
pub(super) fn predicted_here(predict: impl Fn(&Rates) -> Prediction) -> Prediction {
    let usual = predict(&Rates::default());
    if usual.seconds < ASKED_FROM {
        return usual;
    }
    Rates::measure().map_or(usual, |rates| predict(&rates))
}

#[cfg(test)]
mod laws {
    use super::*;
    use crate::{Spec, fit::PaperOptions, kernel::KernelSpec, loss::LossSpec};

    fn x() -> FeatureMatrix<'static> {
        FeatureMatrix::from_columns(20, 300, (0..6000).map(|k| (f64::from(k) * 0.7).sin()).collect::<Vec<_>>())
            .expect("valid")
    }

    fn seconds(planned: &PlannedFits) -> f64 {
        planned.prediction(&Rates::default()).seconds
    }

    #[test]
    fn folds_and_gammas_take_longer() {
        for spec in [
            Spec::default(),
            Spec { p: 1.0, ..Spec::default() },
            Spec { p: 1.1, kernel: KernelSpec::poly(2), ..Spec::default() },
            Spec { solver: SolverChoice::Paper(PaperOptions::default()), ..Spec::default() },
            Spec { loss: LossSpec::Hinge, ..Spec::default() },
        ] {
            let fit = Fit::new(&spec).expect("valid");
            let of = |problems, gammas| seconds(&fit.planned(&x(), problems, gammas).expect("a route"));
            assert!(of(1, 1) < of(5, 1) && of(1, 1) < of(1, 20) && of(5, 20) < of(5, 40), "{spec:?}");
            assert!(of(5, 20) < of(10, 20) && of(usize::MAX, usize::MAX) > of(1000, 1000), "{spec:?}");
        }
    }

    #[test]
    fn a_loss_with_kinks_takes_longer_than_the_squared_one() {
        let of = |loss| {
            let fit = Fit::new(&Spec { loss, ..Spec::default() }).expect("valid");
            seconds(&fit.planned(&x(), 1, 1).expect("a route"))
        };
        assert!(of(LossSpec::Squared) < of(LossSpec::Logistic) && of(LossSpec::Logistic) < of(LossSpec::Hinge));
    }

    #[test]
    fn planned_fits_add_up() {
        let fit = Fit::new(&Spec::default()).expect("valid");
        let [some, one] =
            [(5, 20), (1, 1)].map(|(problems, gammas)| fit.planned(&x(), problems, gammas).expect("a route"));
        let both = some.clone().and(one.clone());
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b;
        assert!(close(seconds(&both), seconds(&some) + seconds(&one)));
        assert_eq!(both.prediction(&Rates::default()).fits, 101);
        // Shuffled targets set the form up once more each, which is not counted.
        let twice = some.clone().times(2);
        assert!(seconds(&twice) > 1.9 * seconds(&some) - some.prediction(&Rates::default()).setup);
        assert!(seconds(&some.times(0).and(one.clone())) >= seconds(&one));
    }
}
