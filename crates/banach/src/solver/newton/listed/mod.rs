//! Steps for problems whose features are listed and not many: the weights are found exactly, the rest to first order.
//!
//! Where features are no more than samples, the optimality conditions
//!
//! ```text
//! u = X' alpha = J_p(w),    X w + b = -psi'(alpha/gamma),    sum_i alpha_i = 0
//! ```
//!
//! have few equations that are far from linear, those of the weights: near p = 1 a change of u by one percent changes w by a
//! factor. A step that replaces `J_q` by a tangent, as one in alpha alone does, is right only within such a percent. Here only
//! the samples are taken to first order, as in a primal-dual interior-point method with multipliers of its own
//! ([`Guard`]): alpha = alpha_0 + E (c - X w - b) with a diagonal E. What is left, `J_p(w) + G w = r` with
//! `G = X' E X`, is solved for w as it stands ([`Curve`]), and costs no pass. `J_q` and the predictions at an iterate
//! are never needed, however wild they are; the pass of a step is there for the certificate.

mod curve;
mod dual;
mod normal;
mod smooth;

pub(super) use self::smooth::answers_of;
use self::{
    curve::Curve,
    normal::{Normal, WeightSystem},
};
use super::{
    guard::{Aim, Guard, Pair, SampleLine, products},
    run::SampleTerm,
};
use crate::{
    DualProblem, FeatureMatrix,
    form::{MOST_DENSE, is_in_place},
    numeric::{dot, largest},
};

/// The state of an interior-point method.
pub(super) struct ListedMethod<'a> {
    x: &'a FeatureMatrix<'a>,
    /// The numbers of all features.
    columns: Vec<usize>,
    intercept: bool,
    alpha: Vec<f64>,
    /// The predictions, sample by sample: those of the weights of the last step.
    t: Vec<f64>,
    /// One for every sample that is present; none for a loss that is its own barrier.
    guards: Vec<Guard>,
    curve: Curve,
    /// The samples as the weights see them, for a parabola, where that is the same in every step.
    normal: Option<Normal>,
    /// Whether steps are solved for alpha: where there are as many features as samples or more, and where a system for the weights
    /// has lost its digits.
    in_alpha: bool,
    /// The mean product of the pairs before the last step.
    last_mean: f64,
    /// How far the last step has moved the predictions, as a share of their size.
    moved: f64,
}

/// A step: the end of it, and how the pairs of the guards change.
struct Move {
    alpha: Vec<f64>,
    t: Vec<f64>,
    pairs: Vec<[Pair; 4]>,
    /// What is left of `X' alpha = u`, as a share of the largest u.
    rest: f64,
}

/// The equations of the samples to first order, `alpha = alpha_0 + answers (right - t)`, with zeros for samples that are absent.
struct SampleLines {
    /// E, by which a dual variable answers to its prediction.
    answers: Vec<f64>,
    right: Vec<f64>,
}

impl SampleLines {
    fn new(samples: usize) -> Self {
        Self { answers: vec![0.0; samples], right: vec![0.0; samples] }
    }
}

impl Move {
    fn is_good(&self) -> bool {
        self.rest <= MOST_REST && self.alpha.iter().all(|alpha| alpha.is_finite())
    }
}

/// The most features of a small problem, as a multiple of the samples.
const FEATURES_PER_SAMPLE: usize = 2;
/// Features in a part of the sum that makes a matrix (`SQUARE_COLUMNS` of form/heaviest.rs), for the count of memory.
const FEATURES_PER_PART: usize = 512;
/// About how many vectors of one number for each feature a step keeps, for the count of memory.
const VECTORS: usize = 12;
/// And for each sample: of a loss with kinks what guards its ends, and both moves of a step.
const VECTORS_OF_SAMPLES: usize = 52;
/// The most samples of a problem with fewer features that may turn to systems for alpha: these are n x n, and stay small.
const MOST_SAMPLES: usize = 512;
/// Entries, targets and gammas must be between the inverse of this and itself: products of seven of them are numbers.
const IN_RANGE: f64 = 1e40;
/// The share of the way to the border that a step may go: close to it, and still inside for the next step.
const SHARE_OF_WAY: f64 = 0.995;
/// The smallest multiplier at a start of the method's own, as a share of the mean distance of targets from predictions. Such a start
/// tells nothing of the multipliers, so that none begins near 0.
const LEAST_MULTIPLIER: f64 = 0.5;
/// The same at a start that was given: small, so that the start is not lost.
const LEAST_MULTIPLIER_GIVEN: f64 = 1e-2;
/// The shortest share of a Newton step on the primal. If the primal value does not fall even there, rounding decides.
const SHORTEST_SHARE: f64 = 1e-6;
/// The products of the pairs shrink by at most this factor in one step: six digits of the gap.
const MOST_SHRINK: f64 = 1e-6;
/// A step that leaves more than this share of the products is slow.
const LEFT_BY_SLOW_STEP: f64 = 0.8;
/// After a slow step the next one aims at no less than this share of the products: it leads back to the middle.
const AIM_AFTER_SLOW_STEP: f64 = 0.3;
/// Predictions are found when a step moves them by at most this share of their size: steps are Newton's, and the next would be rounding.
const SETTLED_SHARE: f64 = 1e-9;
/// The largest error of `X' alpha = u`, as a share of the largest u. Systems for the weights leave more if columns or samples are alike.
const MOST_REST: f64 = 1e-6;
/// The most refinements of the dual vector of a step. `X' alpha = u` must hold to the last digits, and alpha can be much larger than u.
const REFINEMENTS: usize = 2;
/// Where so little is left of `X' alpha = u` there is none: the gap that is left to find is of the size of its square.
const ENOUGH_REST: f64 = 1e-11;

/// Whether there are few features for the samples that are present, of all. Beyond, steps with the heaviest part of the Hessian are faster,
/// in spite of the passes they take.
fn is_small(present: usize, samples: usize, features: usize) -> bool {
    features <= FEATURES_PER_SAMPLE.saturating_mul(present) && !is_in_place(samples, features)
}

/// The matrix of a problem that can be solved in this way, and when it is.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub x: &'a FeatureMatrix<'a>,
    /// From the start, or only where steps in alpha alone have taken long.
    pub at_once: bool,
}

impl<'a> Matrix<'a> {
    pub(super) fn of(problem: &DualProblem<'a>) -> Option<Self> {
        let x = problem.form().listed()?;
        let present = problem.gammas().iter().filter(|gamma| **gamma > 0.0).count();
        let is_plain = |number: f64| number == 0.0 || (IN_RANGE.recip()..IN_RANGE).contains(&number.abs());
        let plain =
            is_plain(x.size()) && problem.targets().iter().chain(problem.gammas()).all(|number| is_plain(*number));
        let at_once = is_small(present, x.samples(), x.features());
        (plain && (at_once || x.samples() <= MOST_DENSE)).then_some(Self { x, at_once })
    }
}

impl<'a> ListedMethod<'a> {
    /// The numbers that a step keeps at a time: systems of features or samples, and vectors.
    pub(super) fn length(samples: usize, features: usize) -> Option<usize> {
        let may_be_small = is_small(samples, samples, features);
        if !may_be_small && samples > MOST_DENSE {
            return Some(0);
        }
        let side = if samples <= MOST_SAMPLES { samples } else { samples.min(features) };
        // A matrix, its factor, and the parts of its sum.
        let systems = side.checked_add(FEATURES_PER_PART)?.checked_mul(side)?.checked_mul(9)?;
        systems.checked_add(features.checked_mul(VECTORS)?)?.checked_add(samples.checked_mul(VECTORS_OF_SAMPLES)?)
    }

    /// The method at its start: a dual vector inside the domain, and its predictions or those of a constant.
    pub(super) fn new(
        problem: &DualProblem<'a>,
        x: &'a FeatureMatrix<'a>,
        samples: &[SampleTerm<'_>],
        (alpha, t): (Vec<f64>, Vec<f64>),
        given: bool,
    ) -> Self {
        let present =
            |value: &dyn Fn(&SampleTerm<'_>) -> f64| samples.iter().map(value).sum::<f64>() / samples.len() as f64;
        let mean = present(&|sample| (sample.term.target() - t[sample.i]).abs());
        let least = (if given { LEAST_MULTIPLIER_GIVEN } else { LEAST_MULTIPLIER } * mean).max(f64::MIN_POSITIVE);
        let guard = |sample: &SampleTerm<'_>| {
            let (term, s) = (sample.term.proximal()?, alpha[sample.i] / sample.gamma);
            Some(Guard::new(&term, s, term.y - t[sample.i] - term.curvature * s, least))
        };
        let guards = samples.iter().filter_map(guard).collect();
        let columns: Vec<usize> = (0..x.features()).collect();
        let curve = Curve::new(x.features(), problem.form().exponent());
        let in_alpha = x.features() >= alpha.len();
        Self {
            x,
            columns,
            intercept: problem.has_intercept(),
            alpha,
            t,
            guards,
            curve,
            normal: None,
            in_alpha,
            last_mean: f64::INFINITY,
            moved: f64::INFINITY,
        }
    }

    /// Begins at the weights of its dual vector, for a start that is not far from a solution. Elsewhere those can be wild, and no
    /// weights are a better beginning.
    pub(super) fn begin_at_weights(&mut self) {
        self.curve.place_at(self.plain_products(&self.alpha));
    }

    /// Solves for alpha from now on: these systems keep their digits if columns are alike. `false` if it cannot, or does so already.
    pub(super) fn turn_to_alpha(&mut self) -> bool {
        let turns = !self.in_alpha && self.alpha.len() <= MOST_SAMPLES;
        self.in_alpha |= turns;
        turns
    }

    /// Whether the equations hold in the variables of this method, and leave open at most `enough` of the gap.
    pub(super) fn is_solved(&self, samples: &[SampleTerm<'_>], enough: f64) -> bool {
        if self.guards.is_empty() {
            return self.moved <= SETTLED_SHARE;
        }
        let terms =
            samples.iter().zip(&self.guards).map(|(sample, guard)| sample.gamma * guard.products().sum::<f64>());
        terms.sum::<f64>() <= enough
    }

    /// Takes a step, and returns its end.
    pub(super) fn step(&mut self, problem: &DualProblem<'_>, samples: &[SampleTerm<'_>], least: f64) -> &mut [f64] {
        if self.guards.is_empty() {
            self.step_smooth(problem, samples);
        } else {
            self.step_guarded(samples, least);
        }
        &mut self.alpha
    }

    /// Predictor and corrector of Mehrotra: one matrix, two right-hand sides.
    fn step_guarded(&mut self, samples: &[SampleTerm<'_>], least: f64) {
        let plain = vec![Aim::default(); samples.len()];
        let SampleLines { answers, right } = self.linear_guarded(samples, &plain);
        let system = self.normal_of(answers);
        let predictor = self.solve_first(samples, &system, &right, &plain);
        let aims = self.aims(&predictor, least);
        let corrector = self.solve(samples, &system, &self.linear_guarded(samples, &aims).right, &aims);
        let share = (SHARE_OF_WAY * self.room(&corrector)).min(1.0);
        self.go(share, &corrector);
    }

    /// The equations of the samples of a loss with guards.
    fn linear_guarded(&self, samples: &[SampleTerm<'_>], aims: &[Aim]) -> SampleLines {
        let mut lines = SampleLines::new(self.alpha.len());
        for (at, SampleTerm { i, gamma, term }) in samples.iter().enumerate() {
            let term = term.proximal().expect("a loss with guards is made of parabolas");
            let SampleLine { curvature, right } = self.guards[at].linear(&term, self.alpha[*i] / gamma, &aims[at]);
            (lines.right[*i], lines.answers[*i]) = (right, gamma / curvature);
        }
        lines
    }

    /// E and `G = X_c' E X_c`.
    fn normal_of(&self, answers: Vec<f64>) -> (Vec<f64>, Normal) {
        let normal = Normal::new(self.x, &answers, self.intercept, !self.in_alpha);
        (answers, normal)
    }

    /// The step for given aims. If the system for the weights has lost its digits, this and all later steps are solved for alpha.
    fn solve_first(
        &mut self,
        samples: &[SampleTerm<'_>],
        system: &(Vec<f64>, Normal),
        right: &[f64],
        aims: &[Aim],
    ) -> Move {
        let from = (!self.in_alpha).then(|| self.curve.clone());
        let found = self.solve(samples, system, right, aims);
        match from {
            Some(curve) if !found.is_good() && self.turn_to_alpha() => {
                self.curve = curve;
                self.solve(samples, system, right, aims)
            }
            _ => found,
        }
    }

    /// The step for given aims.
    fn solve(
        &mut self,
        samples: &[SampleTerm<'_>],
        (answers, normal): &(Vec<f64>, Normal),
        right: &[f64],
        aims: &[Aim],
    ) -> Move {
        if self.in_alpha {
            let mut alpha = self.alpha.clone();
            self.settle_in_alpha(samples, normal, (answers, right), &mut alpha);
            return self.moved(samples, answers, right, aims, alpha, 0.0);
        }
        let (mut alpha, system) = self.settle_weights(answers, normal, right);
        let rest = self.refine(answers, normal, &system, &mut alpha);
        self.moved(samples, answers, right, aims, alpha, rest)
    }

    /// Moves to the weights at the end of a step. Returns the dual vector there and the system of these weights.
    fn settle_weights(&mut self, answers: &[f64], normal: &Normal, right: &[f64]) -> (Vec<f64>, WeightSystem) {
        let total: f64 = answers.iter().sum();
        let b = if self.intercept { (self.alpha.iter().sum::<f64>() + dot(answers, right)) / total } else { 0.0 };
        // The end of the step for w = 0, and then for the weights that go with it.
        let each = self.alpha.iter().zip(answers).zip(right);
        let mut alpha: Vec<f64> = each.map(|((alpha, answer), right)| alpha + answer * (right - b)).collect();
        let rest = self.products(normal, &alpha);
        let system = self.curve.settle(normal, &rest);
        self.subtract(normal, answers, &self.curve.w, &mut alpha);
        (alpha, system)
    }

    /// Refines the dual vector and the weights of a step until `X' alpha = u` holds. Returns what is left, as a share of the largest u.
    fn refine(&mut self, answers: &[f64], normal: &Normal, system: &WeightSystem, alpha: &mut [f64]) -> f64 {
        let total: f64 = answers.iter().sum();
        let mut refinements = 0;
        loop {
            let is_last = refinements == REFINEMENTS;
            if self.intercept && !is_last {
                let excess = alpha.iter().sum::<f64>() / total;
                alpha.iter_mut().zip(answers).for_each(|(alpha, answer)| *alpha -= answer * excess);
            }
            let mut rest = self.products(normal, alpha);
            rest.iter_mut().zip(&self.curve.u).for_each(|(rest, u)| *rest -= u);
            let left = largest(&rest) / largest(&self.curve.u).max(f64::MIN_POSITIVE);
            if is_last || left <= ENOUGH_REST {
                return left;
            }
            system.solve(&mut rest);
            self.curve.correct(&rest);
            self.subtract(normal, answers, &rest, alpha);
            refinements += 1;
        }
    }

    /// The step to a dual vector.
    fn moved(
        &self,
        samples: &[SampleTerm<'_>],
        answers: &[f64],
        right: &[f64],
        aims: &[Aim],
        alpha: Vec<f64>,
        rest: f64,
    ) -> Move {
        let mut t = vec![0.0; alpha.len()];
        let mut pairs = Vec::new();
        for (at, SampleTerm { i, gamma, .. }) in samples.iter().enumerate() {
            let d = alpha[*i] - self.alpha[*i];
            t[*i] = right[*i] - d / answers[*i];
            pairs.extend(self.guards.get(at).map(|guard| guard.step(d / gamma, &aims[at])));
        }
        Move { alpha, t, pairs, rest }
    }

    /// `X_c' alpha`.
    fn products(&self, normal: &Normal, alpha: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.columns.len()];
        self.x.products(&self.columns, alpha, &mut products);
        let excess: f64 = alpha.iter().sum();
        products.iter_mut().zip(normal.means()).for_each(|(product, mean)| *product -= mean * excess);
        products
    }

    /// `alpha - E X_c w`.
    fn subtract(&self, normal: &Normal, answers: &[f64], w: &[f64], alpha: &mut [f64]) {
        let shift = dot(normal.means(), w);
        let predictions = self.x.times(w);
        let each = alpha.iter_mut().zip(answers).zip(&predictions);
        each.for_each(|((alpha, answer), prediction)| *alpha -= answer * (prediction - shift));
    }

    /// Mehrotra's choice: the closer the predictor comes to the end, the smaller the products that are aimed at.
    fn aims(&mut self, predictor: &Move, least: f64) -> Vec<Aim> {
        let share = self.room(predictor).min(1.0);
        let (mut now, mut then, mut count) = (0.0, 0.0, 0.0);
        for (guard, step) in self.guards.iter().zip(&predictor.pairs) {
            now += guard.products().sum::<f64>();
            then += guard.products_after(share, step).sum::<f64>();
            count += guard.products().count() as f64;
        }
        let mean = now / count;
        // Where the last step has not made the products smaller, the next one leads back to the middle.
        let least_share = if mean > LEFT_BY_SLOW_STEP * self.last_mean { AIM_AFTER_SLOW_STEP } else { MOST_SHRINK };
        self.last_mean = mean;
        let mu = (mean * (then / now).powi(3).clamp(least_share, 1.0)).max(least / count);
        predictor.pairs.iter().map(|step| Aim { mu, products: products(step) }).collect()
    }

    /// The largest share of a step that stays inside.
    fn room(&self, step: &Move) -> f64 {
        self.guards.iter().zip(&step.pairs).map(|(guard, step)| guard.room(step)).fold(f64::INFINITY, f64::min)
    }

    fn go(&mut self, share: f64, step: &Move) {
        let towards = |from: &mut [f64], to: &[f64]| {
            from.iter_mut().zip(to).for_each(|(from, to)| *from += share * (to - *from));
        };
        towards(&mut self.alpha, &step.alpha);
        towards(&mut self.t, &step.t);
        self.guards.iter_mut().zip(&step.pairs).for_each(|(guard, step)| guard.go(share, step));
    }
}
