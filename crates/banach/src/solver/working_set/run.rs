//! One problem on its way: the dual vector that it asks to be held against all features, and what it makes of the answer.

use super::{
    interior::{Interior, all_products},
    working::WorkingSet,
};
use crate::{
    Certificate, DualProblem, Error, FeatureMatrix,
    form::{Endpoint, LargestProducts, SparseWeights},
    numeric::dot_in_lanes,
    solver::{
        Progress, Solution, Start, Status,
        gamma_grid::first_alpha,
        newton::{run::SampleTerm, term::Term},
        path::untouched,
        start::{inner_direction, ray_length},
    },
};

/// Features that join at the start, at least; as many as samples if these are more. A solution has at most as many as samples.
const FIRST_FEATURES: usize = 100;
/// Features that join in a round, at most, for each that has a weight, and at least.
const JOIN_PER_ACTIVE: usize = 2;
const LEAST_JOIN: usize = 50;
/// Features of a pass that are remembered: those that join next are among them, and the bound on all others falls with their number.
pub(super) const REMEMBERED: usize = 1000;
/// Times that remembered features join before the next pass.
const JOINS_PER_PASS: usize = 4;
/// The restricted problem is solved to this share of the gap that is open, and at the end of the tolerance.
const INNER_SHARE: f64 = 0.1;
/// The largest relative gap to which a restricted problem is solved.
const LARGEST_INNER: f64 = 1e-2;
/// Steps of the interior-point method in one round, at most. It takes 8 to 30.
const MOST_STEPS: usize = 80;
/// Steps that are shorter lead nowhere: rounding decides.
const SHORTEST_STEP: f64 = 1e-8;
/// The start goes at most this share of the way to the border.
const RAY_SHARE: f64 = 0.5;
/// The start of a restricted problem is the last dual vector but for this share, which is well inside.
const INNER_PART: f64 = 0.1;
/// No `|u_k|` of the last dual vector is beyond this at such a start.
const NEAREST_WALL: f64 = 0.99;
/// Rounds that do not bring the gap down before a run ends.
const MOST_IDLE_ROUNDS: usize = 3;
/// Barriers come down to this share of the gap that is aimed at, and below it only if that is not enough: the smaller a barrier, the more
/// digits its systems lose.
const LEAST_SHARE: f64 = 0.2;
/// The size of a weight beside which others are small, as a share of the primal value, which no weight exceeds: where all vanish, none is
/// large beside the others.
const LEAST_WEIGHT: f64 = 1e-3;
/// Stands for a tolerance of 0: some tens of units in the last place, below which rounding decides.
const LEAST_TOLERANCE: f64 = 1e-14;

/// The state of one problem.
pub(super) struct Run<'a> {
    problem: &'a DualProblem<'a>,
    form: &'a Endpoint<'a>,
    samples: Vec<SampleTerm<'a>>,
    /// The samples that are present.
    present: Vec<usize>,
    /// A dual vector well inside the domain, or 0.
    inner: Vec<f64>,
    working: WorkingSet,
    /// The weights of the features at hand.
    weights: Vec<f64>,
    /// The dual vector that goes with them, with `|u_k| <= 1` for features at hand.
    alpha: Vec<f64>,
    /// The dual vector of the last pass, and what it found.
    passed: Option<(Vec<f64>, LargestProducts)>,
    best: Option<Iterate>,
    idle_rounds: usize,
    pub(super) iterations: usize,
    passes: usize,
    pub(super) status: Option<Status>,
}

/// Weights, a dual vector that all features allow, and the certificate of both.
struct Iterate {
    alpha: Vec<f64>,
    omega: Vec<f64>,
    intercept: f64,
    weights: SparseWeights,
    certificate: Certificate,
    /// Whether the gap would be within the tolerance but for rounding.
    blurred: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(problem: &'a DualProblem<'a>, form: &'a Endpoint<'a>, start: &Start) -> Result<Self, Error> {
        let sample = |i: usize| {
            let gamma = problem.gammas()[i];
            (gamma > 0.0).then(|| SampleTerm {
                i,
                gamma,
                term: Term::new(problem.loss(), problem.centred(problem.targets()[i])),
            })
        };
        let samples: Vec<SampleTerm<'a>> = (0..problem.samples()).filter_map(sample).collect();
        let direction = inner_direction(problem);
        let length = ray_length(problem, &direction, f64::NEG_INFINITY, RAY_SHARE);
        let inner: Vec<f64> = direction.iter().map(|a| length * a).collect();
        let alpha = match start {
            Start::At(alpha) => {
                problem.check_start(alpha)?;
                alpha.clone()
            }
            Start::Auto | Start::Ray => first_alpha(problem),
        };
        Ok(Self {
            problem,
            form,
            present: samples.iter().map(|sample| sample.i).collect(),
            samples,
            inner,
            working: WorkingSet::default(),
            weights: Vec::new(),
            alpha,
            passed: None,
            best: None,
            idle_rounds: 0,
            iterations: 0,
            passes: 0,
            status: None,
        })
    }

    /// The dual vector that is to be held against all features.
    pub(super) fn point(&self) -> &[f64] {
        &self.alpha
    }

    /// Takes in what a pass found at the point.
    pub(super) fn absorb(&mut self, found: LargestProducts, tolerance: f64) {
        self.passes += 1;
        self.certify(found.bound(), found.rounding, tolerance);
        self.passed = Some((self.alpha.clone(), found));
    }

    pub(super) fn progress(&self, problem: usize) -> Progress {
        let certificate =
            self.best.as_ref().map_or_else(|| untouched(self.problem).certificate, |best| best.certificate);
        Progress { problem, iteration: self.iterations, passes: self.passes, certificate }
    }

    fn relative_gap(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |best| best.certificate.relative_gap())
    }

    /// How a run ends that no round brings forward; `None` if it goes on.
    pub(super) fn dead_end(&self) -> Option<Status> {
        let blurred = self.best.as_ref().is_some_and(|best| best.blurred);
        (self.idle_rounds > MOST_IDLE_ROUNDS).then_some(if blurred { Status::Rounding } else { Status::Stalled })
    }

    /// Lets features join and solves the problem on those at hand, until only a pass can tell whether the solution is one for all.
    pub(super) fn step(&mut self, tolerance: f64, max_iterations: usize) {
        for _ in 0..JOINS_PER_PASS {
            let joined = self.join();
            let before = self.relative_gap();
            self.solve(tolerance, max_iterations);
            let Some(bound) = self.bound_without_pass() else { break };
            self.certify(bound.0, bound.1, tolerance);
            let gap = self.relative_gap();
            self.idle_rounds = if gap < 0.9 * before || joined > 0 { 0 } else { self.idle_rounds + 1 };
            if gap <= tolerance || !self.has_remembered_violator() {
                break;
            }
        }
    }

    /// The products of remembered features with the dual vector, those at hand left out.
    fn remembered(&self) -> Vec<(u64, f64)> {
        let Some((_, found)) = &self.passed else { return Vec::new() };
        let mut column = vec![0.0; self.alpha.len()];
        let others = found.listed.iter().filter(|term| !self.working.has(term.number));
        let product = |number: u64| {
            self.form.column_into(number, &mut column);
            (number, dot_in_lanes(&column, &self.alpha).abs())
        };
        others.map(|term| term.number).map(product).collect()
    }

    fn has_remembered_violator(&self) -> bool {
        self.remembered().iter().any(|(_, u)| *u > 1.0)
    }

    /// Lets features join: at the start those with the largest products, later those that limit the dual vector. Returns how many.
    fn join(&mut self) -> usize {
        let first = self.working.features().is_empty();
        let mut candidates = self.remembered();
        candidates.retain(|(_, u)| *u > if first { 0.0 } else { 1.0 });
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let active = self.weights.iter().filter(|weight| **weight != 0.0).count();
        let most =
            if first { FIRST_FEATURES.max(self.present.len()) } else { LEAST_JOIN.max(JOIN_PER_ACTIVE * active) };
        let samples = self.problem.samples();
        let mut joined = 0;
        for (feature, _) in candidates {
            joined += usize::from(self.working.join(feature, self.form, samples));
            if joined == most {
                break;
            }
        }
        self.weights.resize(self.working.features().len(), 0.0);
        joined
    }

    /// A bound on all products by the last pass: `|u_k(a') - u_k(a)| <= ||phi_k|| ||a' - a||` for those that it did not list, and how far
    /// rounding can have moved them.
    fn bound_without_pass(&self) -> Option<(f64, f64)> {
        let (passed, found) = self.passed.as_ref()?;
        let distance = passed.iter().zip(&self.alpha).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let unlisted = found.unlisted + found.rounding + self.form.largest_norm() * distance * (1.0 + 1e-12);
        let rounding = self.form.rounding(&self.alpha, self.working.spread());
        let remembered = self.remembered().iter().map(|(_, u)| *u).fold(0.0, f64::max);
        let at_hand = self.products().iter().map(|u| u.abs()).fold(0.0, f64::max);
        Some((unlisted.max(remembered.max(at_hand) + rounding), rounding))
    }

    /// The products of the features at hand with the dual vector.
    fn products(&self) -> Vec<f64> {
        (0..self.working.features().len()).map(|place| dot_in_lanes(self.working.column(place), &self.alpha)).collect()
    }

    /// Solves the problem on the features at hand.
    fn solve(&mut self, tolerance: f64, max_iterations: usize) {
        let (m, k) = (self.present.len(), self.working.features().len());
        if k == 0 {
            return;
        }
        let Ok(x) = FeatureMatrix::from_columns(m, k, self.working.rows(&self.present)) else { return };
        let problem = self.problem;
        let at_present = |vector: &[f64]| -> Vec<f64> { self.present.iter().map(|&i| vector[i]).collect() };
        let size = |alpha: &[f64]| all_products(&x, alpha).iter().map(|u| u.abs()).fold(0.0, f64::max);
        // Well inside of the walls and of the domain.
        let (last, inner) = (at_present(&self.alpha), at_present(&self.inner));
        let shorter = (NEAREST_WALL / size(&last)).min(1.0);
        let inner_length = (0.5 / size(&inner)).min(1.0);
        let mix = last.iter().zip(&inner);
        let alpha: Vec<f64> =
            mix.map(|(last, inner)| (1.0 - INNER_PART) * shorter * last + INNER_PART * inner_length * inner).collect();
        let omega = x.times(&self.weights);
        let mut whole = vec![0.0; problem.samples()];
        self.present.iter().zip(&omega).for_each(|(&i, omega)| whole[i] = *omega);
        let b = problem.centred_intercept(&whole);
        let t: Vec<f64> = omega.iter().map(|omega| omega + b).collect();
        let start = self.restricted(&x, &alpha, &self.weights);
        let count = (2 * k + 2 * m) as f64;
        let mu = (start.gap / count).max(f64::MIN_POSITIVE);
        let goal = (INNER_SHARE * self.relative_gap()).min(LARGEST_INNER).max(INNER_SHARE * tolerance);
        let mut least = LEAST_SHARE * goal.max(LEAST_TOLERANCE) * start.primal.abs().min(start.gap);
        let mut interior = Interior::new(&self.samples, problem.has_intercept(), &x, (alpha, t), &self.weights, mu);
        let mut best: Option<(f64, Vec<f64>, Vec<f64>)> = None;
        let mut steps = 0;
        while steps < MOST_STEPS && self.iterations + steps < max_iterations {
            let share = interior.step(least);
            steps += 1;
            let mut weights = interior.weights();
            let largest = weights.iter().map(|w| w.abs()).fold(LEAST_WEIGHT * start.primal.abs(), f64::max);
            (0..k).filter(|&place| interior.vanishes(place, largest)).for_each(|place| weights[place] = 0.0);
            let gap = self.restricted(&x, interior.alpha(), &weights).relative_gap();
            if best.as_ref().is_none_or(|(least, ..)| gap < *least) {
                best = Some((gap, interior.alpha().to_vec(), weights));
            }
            if gap <= goal || share < SHORTEST_STEP {
                break;
            }
            if interior.is_at(least) {
                least *= LEAST_SHARE;
            }
        }
        self.iterations += steps;
        if let Some((_, alpha, weights)) = best {
            self.weights = weights;
            self.present.iter().zip(&alpha).for_each(|(&i, alpha)| self.alpha[i] = *alpha);
        }
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

    /// The certificate of the weights and of the dual vector, shortened so that all features allow it.
    fn certify(&mut self, bound: f64, rounding: f64, tolerance: f64) {
        let (problem, spread) = (self.problem, self.working.spread());
        // Rounding the shortened vector, and balancing it, moves products by less than they are rounded themselves.
        let longest = (bound + 3.0 * rounding).max(1.0);
        let factor = if longest > 1.0 { (1.0 - 4.0 * f64::EPSILON) / longest } else { 1.0 };
        let mut alpha: Vec<f64> = self.alpha.iter().map(|alpha| factor * alpha).collect();
        problem.balance(&mut alpha);
        let active: Vec<usize> = (0..self.weights.len()).filter(|&place| self.weights[place] != 0.0).collect();
        let (mut omega, mut slack, mut norm) = (vec![0.0; alpha.len()], 0.0, 0.0);
        for &place in &active {
            let (weight, column) = (self.weights[place], self.working.column(place));
            let u = dot_in_lanes(column, &alpha);
            slack += (weight.abs() - weight * u).max(0.0) + weight.abs() * rounding;
            norm += weight.abs();
            omega.iter_mut().zip(column).for_each(|(omega, x)| *omega += weight * x);
        }
        let b = problem.centred_intercept(&omega);
        let moved = |i: usize| self.form.rounding_at(i, norm, active.len(), spread);
        let certificate = problem.endpoint_certificate(b, &alpha, &omega, moved, (norm, slack));
        let improves = certificate.relative_gap() < self.relative_gap() || self.best.is_none();
        if !improves {
            return;
        }
        let blurred = certificate.relative_gap() > tolerance
            && problem.endpoint_certificate(b, &alpha, &omega, |_| 0.0, (norm, slack)).relative_gap() <= tolerance;
        let mut weights: Vec<(u64, f64)> =
            active.iter().map(|&place| (self.working.features()[place], self.weights[place])).collect();
        weights.sort_unstable_by_key(|(feature, _)| *feature);
        let (features, values) = weights.into_iter().unzip();
        let intercept = if problem.has_intercept() { problem.uncentred(b) } else { 0.0 };
        let weights = SparseWeights { features, values };
        self.best = Some(Iterate { alpha, omega, intercept, weights, certificate, blurred });
    }

    /// The best iterate.
    pub(super) fn solution(self, status: Status) -> Solution {
        match self.best {
            Some(Iterate { alpha, omega, intercept, weights, certificate, .. }) => Solution {
                alpha,
                omega,
                intercept,
                weights: Some(weights),
                certificate,
                status,
                iterations: self.iterations,
                passes: self.passes,
            },
            None => untouched(self.problem),
        }
    }
}
