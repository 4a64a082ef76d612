//! The problem on the features at hand: by one run of the interior-point method, or by several where the loss is no parabola.

use super::{
    interior::{Interior, all_products},
    parabolas::Parabolas,
    run::WorkingRun,
};
use crate::{
    Certificate, FeatureMatrix,
    loss::{Split, Squared},
    solver::newton::{run::SampleTerm, term::Term},
};

/// The restricted problem is solved to this share of the gap that is open, and at the end of the tolerance.
const INNER_SHARE: f64 = 0.1;
/// The largest relative gap to which a restricted problem is solved.
const LARGEST_INNER: f64 = 1e-2;
/// Steps of the interior-point method in one round, at most. It takes 8 to 30.
const MOST_STEPS: usize = 80;
/// Steps in search of exact zeros after the gap is small enough without them: each makes weights that vanish a tenth or less.
const STEPS_FOR_ZEROS: usize = 8;
/// Parabolas by which a loss that is none is approached in one round, at most. Newton's method takes 4 to 12.
const MOST_PARABOLAS: usize = 40;
/// Where parabolas lead to no better weights, the next ones are solved to this share of the gap.
const FINER: f64 = 1e-2;
/// Beyond this curvature of the conjugate a sample does not move: its loss is flat to the last digit.
const MOST_CURVATURE: f64 = 1e12;
/// Steps that are shorter lead nowhere: rounding decides.
const SHORTEST_STEP: f64 = 1e-8;
/// The start of a restricted problem is the last dual vector but for this share, which is well inside.
const INNER_PART: f64 = 0.1;
/// Unless the walls shorten it to less than this.
const SHORTEST_INNER: f64 = 1e-4;
/// No `|u_k|` of the last dual vector is beyond this at such a start.
const NEAREST_WALL: f64 = 0.99;
/// Barriers come down to this share of the gap that is aimed at, and below it only if that is not enough: the smaller a barrier, the more
/// digits its systems lose.
const LEAST_SHARE: f64 = 0.2;
/// Stands for a tolerance of 0: some tens of units in the last place, below which rounding decides.
const LEAST_TOLERANCE: f64 = 1e-14;

/// What a method has found on the features at hand: a dual vector over the samples that are present, and weights.
struct RestrictedSolution {
    alpha: Vec<f64>,
    weights: Vec<f64>,
    steps: usize,
}

impl<'a> WorkingRun<'a> {
    /// Solves the problem on the features at hand.
    pub(super) fn solve(&mut self, tolerance: f64, max_iterations: usize) {
        let (m, k) = (self.present.len(), self.working.features().len());
        if k == 0 {
            return;
        }
        let Ok(x) = FeatureMatrix::from_columns(m, k, self.working.rows(&self.present)) else { return };
        let goal = (INNER_SHARE * self.relative_gap()).min(LARGEST_INNER).max(INNER_SHARE * tolerance);
        let is_bent = self.problem.loss().split() == Split::Smooth && self.problem.loss().curvature().is_none();
        let found = if is_bent {
            self.solve_bent(&x, goal, max_iterations)
        } else {
            self.solve_at_once(&x, goal, max_iterations)
        };
        let RestrictedSolution { alpha, weights, steps } = found;
        self.iterations += steps;
        self.weights = weights;
        self.present.iter().zip(&alpha).for_each(|(&i, alpha)| self.alpha[i] = *alpha);
    }

    /// One run of the interior-point method.
    fn solve_at_once(&self, x: &FeatureMatrix<'_>, goal: f64, max_iterations: usize) -> RestrictedSolution {
        let at_present = |vector: &[f64]| -> Vec<f64> { self.present.iter().map(|&i| vector[i]).collect() };
        // Well inside of the walls and of the domain.
        let size = |alpha: &[f64]| all_products(x, alpha).iter().map(|u| u.abs()).fold(0.0, f64::max);
        let (last, inner) = (at_present(&self.alpha), at_present(&self.inner));
        let (mut shorter, mut inner_length) = ((NEAREST_WALL / size(&last)).min(1.0), (0.5 / size(&inner)).min(1.0));
        if shorter.min(inner_length) < SHORTEST_INNER {
            // So close to 0, and to an end of the domain of some losses, that a start beyond the walls is better.
            (shorter, inner_length) = (1.0, 1.0);
        }
        let mix = last.iter().zip(&inner);
        let alpha: Vec<f64> =
            mix.map(|(last, inner)| (1.0 - INNER_PART) * shorter * last + INNER_PART * inner_length * inner).collect();
        let start = self.restricted(x, &alpha, &self.weights);
        let least = goal * start.primal.abs().min(start.gap);
        let interior = self.interior(x, &self.samples, (alpha, self.predictions(x, &self.weights)), start.gap);
        let certificate = |alpha: &[f64], weights: &[f64]| self.restricted(x, alpha, weights).relative_gap();
        self.descend(interior, least, goal, max_iterations, certificate)
    }

    /// A loss that is smooth and no parabola, by parabolas at the predictions: Newton's method on the primal, shortened until the primal
    /// value falls.
    fn solve_bent(&self, x: &FeatureMatrix<'_>, goal: f64, max_iterations: usize) -> RestrictedSolution {
        let (mut weights, mut steps) = (self.weights.clone(), 0);
        // Where gamma is large, the dual vector that predictions ask for can be far beyond the walls although they are nearly the best.
        let last: Vec<f64> = self.present.iter().map(|&i| self.alpha[i]).collect();
        let mut start = self.asked(&self.predictions(x, &weights));
        let mut alpha = self.closer([&start, &last], x, &weights);
        let mut fineness = 1.0;
        for _ in 0..MOST_PARABOLAS {
            let here = self.restricted(x, &alpha, &weights);
            let gap = here.relative_gap();
            if gap <= goal || self.iterations + steps >= max_iterations {
                break;
            }
            let t = self.predictions(x, &weights);
            let parabola = |(sample, t): (&SampleTerm<'a>, &f64)| {
                let (s, curvature) = sample.term.answer(*t);
                let curvature = curvature.min(MOST_CURVATURE);
                SampleTerm {
                    i: sample.i,
                    gamma: sample.gamma / curvature,
                    term: Term::new(&Squared, t + curvature * s),
                }
            };
            let samples: Vec<SampleTerm<'_>> = self.samples.iter().zip(&t).map(parabola).collect();
            let model = Parabolas { samples: &samples, x, intercept: self.problem.has_intercept() };
            let shorter = NEAREST_WALL / all_products(x, &start).iter().map(|u| u.abs()).fold(NEAREST_WALL, f64::max);
            start.iter_mut().for_each(|alpha| *alpha *= shorter);
            let open = model.gap(&start, &weights);
            // The dual vector that predictions ask for is off by the root of the gap of the parabolas.
            let finest = INNER_SHARE * INNER_SHARE * goal;
            let model_goal = (fineness * (gap * gap).min(INNER_SHARE * LARGEST_INNER)).max(finest);
            let mu = open / (2 * weights.len()) as f64;
            let interior = Interior::new(&samples, model.intercept, x, (start, t), &weights, mu);
            // As a part of the primal value of the loss itself.
            let certificate = |alpha: &[f64], weights: &[f64]| model.gap(alpha, weights) / here.primal;
            let aimed = model_goal * here.primal.min(open);
            let found = self.descend(interior, aimed, model_goal, max_iterations, certificate);
            steps += found.steps;
            let next = self.towards(x, &weights, &found.weights);
            // Weights that are no better are those of parabolas that were solved too coarsely, or rounding decides.
            let ends = next.is_none() && model_goal <= finest;
            fineness = if next.is_none() { FINER * fineness } else { 1.0 };
            weights = next.unwrap_or(weights);
            // That of the parabolas is off by the square of what the other is, where it is inside the domain.
            let inside =
                |(sample, alpha): (&SampleTerm<'_>, &f64)| sample.gamma * sample.term.inside(alpha / sample.gamma);
            let of_parabolas: Vec<f64> = self.samples.iter().zip(&found.alpha).map(inside).collect();
            let asked = self.asked(&self.predictions(x, &weights));
            start = self.closer([&asked, &of_parabolas], x, &weights);
            alpha = self.closer([&start, &alpha], x, &weights);
            if ends {
                break;
            }
        }
        RestrictedSolution { alpha, weights, steps }
    }

    /// The one of two dual vectors that has the smaller gap to weights, the first of equals.
    fn closer(&self, [first, second]: [&[f64]; 2], x: &FeatureMatrix<'_>, weights: &[f64]) -> Vec<f64> {
        let gap = |alpha: &[f64]| self.restricted(x, alpha, weights).relative_gap();
        if gap(second) < gap(first) { second.to_vec() } else { first.to_vec() }
    }

    /// The dual variables that predictions ask for.
    fn asked(&self, t: &[f64]) -> Vec<f64> {
        self.samples.iter().zip(t).map(|(sample, t)| sample.gamma * sample.term.answer(*t).0).collect()
    }

    /// The predictions of weights with the best intercept, at the samples that are present.
    fn predictions(&self, x: &FeatureMatrix<'_>, weights: &[f64]) -> Vec<f64> {
        let omega = x.times(weights);
        let mut whole = vec![0.0; self.problem.samples()];
        self.present.iter().zip(&omega).for_each(|(&i, omega)| whole[i] = *omega);
        let b = self.problem.centred_intercept(&whole);
        omega.iter().map(|omega| omega + b).collect()
    }

    /// The weights on the way from some to others at which the primal value is smaller; `None` if there are none.
    fn towards(&self, x: &FeatureMatrix<'_>, from: &[f64], to: &[f64]) -> Option<Vec<f64>> {
        let primal = |weights: &[f64]| {
            let loss = |(sample, t): (&SampleTerm<'_>, &f64)| sample.gamma * sample.term.value(*t);
            let losses = self.samples.iter().zip(&self.predictions(x, weights)).map(loss).sum::<f64>();
            losses + weights.iter().map(|weight| weight.abs()).sum::<f64>()
        };
        let (here, mut share) = (primal(from), 1.0);
        while share > SHORTEST_STEP {
            let next: Vec<f64> = if share == 1.0 {
                to.to_vec()
            } else {
                from.iter().zip(to).map(|(from, to)| from + share * (to - from)).collect()
            };
            if primal(&next) <= here {
                return Some(next);
            }
            share *= 0.5;
        }
        None
    }

    /// The interior-point method at a start whose gap is known.
    fn interior<'s>(
        &self,
        x: &'s FeatureMatrix<'s>,
        samples: &'s [SampleTerm<'s>],
        start: (Vec<f64>, Vec<f64>),
        gap: f64,
    ) -> Interior<'s> {
        let count = 2 * (x.features() + samples.len());
        let mu = (gap / count as f64).max(f64::MIN_POSITIVE);
        Interior::new(samples, self.problem.has_intercept(), x, start, &self.weights, mu)
    }

    /// Takes steps until weights with exact zeros have a relative gap of at most `goal`. Products of pairs first come down to a share of
    /// `aimed`, and farther only if that is not enough: the smaller they are, the more digits systems lose.
    fn descend(
        &self,
        mut interior: Interior<'_>,
        aimed: f64,
        goal: f64,
        max_iterations: usize,
        gap_of: impl Fn(&[f64], &[f64]) -> f64,
    ) -> RestrictedSolution {
        let mut least = LEAST_SHARE * aimed.max(LEAST_TOLERANCE * aimed / goal);
        let mut best = (f64::INFINITY, interior.alpha().to_vec(), self.weights.clone());
        let (mut steps, mut good_steps) = (0, 0);
        while steps < MOST_STEPS && self.iterations + steps < max_iterations {
            let share = interior.step(least);
            steps += 1;
            // Exact zeros are worth further steps. Where these lead nowhere, the best is taken.
            let weights = interior.weights_that_stay();
            let gap = gap_of(interior.alpha(), &weights);
            if gap <= goal {
                best = (gap, interior.alpha().to_vec(), weights);
                break;
            }
            for (gap, weights) in [(gap, weights), (gap_of(interior.alpha(), &interior.weights()), interior.weights())]
            {
                if gap < best.0 {
                    best = (gap, interior.alpha().to_vec(), weights);
                }
            }
            good_steps += usize::from(best.0 <= goal);
            if good_steps > STEPS_FOR_ZEROS || share < SHORTEST_STEP {
                break;
            }
            if interior.is_at(least) {
                least *= LEAST_SHARE;
            }
        }
        let (_, alpha, weights) = best;
        RestrictedSolution { alpha, weights, steps }
    }

    /// The certificate of weights and a dual vector over the samples that are present, as far as features at hand are concerned.
    fn restricted(&self, x: &FeatureMatrix<'_>, alpha: &[f64], weights: &[f64]) -> Certificate {
        let u = all_products(x, alpha);
        let factor = 1.0 / u.iter().map(|u| u.abs()).fold(1.0, f64::max);
        let n = self.problem.samples();
        let (mut whole, mut omega) = (vec![0.0; n], vec![0.0; n]);
        for ((&i, alpha), prediction) in self.present.iter().zip(alpha).zip(x.times(weights)) {
            (whole[i], omega[i]) = (factor * alpha, prediction);
        }
        self.problem.balance(&mut whole);
        let norm = weights.iter().map(|w| w.abs()).sum();
        let slack = weights.iter().zip(&u).map(|(w, u)| (w.abs() - factor * u * w).max(0.0)).sum();
        let b = self.problem.centred_intercept(&omega);
        self.problem.endpoint_certificate(b, &whole, &omega, |_| 0.0, (norm, slack))
    }
}
