//! One problem on its way: the dual vector that it asks to be held against all features, and what it makes of the answer.

use super::working::WorkingSet;
use crate::{
    Certificate, DualProblem, Error,
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
/// The start goes at most this share of the way to the border.
const RAY_SHARE: f64 = 0.5;
/// Rounds that do not bring the gap down before a run ends.
const MOST_IDLE_ROUNDS: usize = 3;

/// The state of one problem.
pub(super) struct WorkingRun<'a> {
    pub(super) problem: &'a DualProblem<'a>,
    form: &'a Endpoint<'a>,
    pub(super) samples: Vec<SampleTerm<'a>>,
    /// The samples that are present.
    pub(super) present: Vec<usize>,
    /// A dual vector well inside the domain, or 0.
    pub(super) inner: Vec<f64>,
    pub(super) working: WorkingSet,
    /// The weights of the features at hand.
    pub(super) weights: Vec<f64>,
    /// The dual vector that goes with them, with `|u_k| <= 1` for features at hand.
    pub(super) alpha: Vec<f64>,
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

impl<'a> WorkingRun<'a> {
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
        let alpha = match start.given() {
            Some(alpha) => {
                problem.check_start(alpha)?;
                alpha.to_vec()
            }
            None => first_alpha(problem),
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

    pub(super) fn relative_gap(&self) -> f64 {
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

    /// Takes the weights and the dual vector, shortened so that all features allow it, if they are the best so far.
    fn certify(&mut self, bound: f64, rounding: f64, tolerance: f64) {
        let mut found = self.iterate(bound + 3.0 * rounding, 1.0);
        let gap = found.certificate.relative_gap();
        found.blurred = gap > tolerance && self.iterate(bound - rounding, 0.0).certificate.relative_gap() <= tolerance;
        match &mut self.best {
            // One that rounding keeps from being proven is no better, and still says why.
            Some(best) if gap >= best.certificate.relative_gap() => best.blurred |= found.blurred,
            best => *best = Some(found),
        }
    }

    /// The weights and the dual vector, shortened by a bound on its products, with `share` of what rounding can have done to predictions.
    /// Rounding the shortened vector, and balancing it, moves products by less than they are rounded themselves, three times which the
    /// bound is to contain.
    fn iterate(&self, bound: f64, share: f64) -> Iterate {
        let (problem, spread) = (self.problem, self.working.spread());
        let factor = if bound > 1.0 { (1.0 - 4.0 * f64::EPSILON) / bound } else { 1.0 };
        let mut alpha: Vec<f64> = self.alpha.iter().map(|alpha| factor * alpha).collect();
        problem.balance(&mut alpha);
        let rounding = share * self.form.rounding(&alpha, spread);
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
        let moved = |i: usize| share * self.form.rounding_at(i, norm, active.len(), spread);
        let certificate = problem.endpoint_certificate(b, &alpha, &omega, moved, (norm, slack));
        let mut weights: Vec<(u64, f64)> =
            active.iter().map(|&place| (self.working.features()[place], self.weights[place])).collect();
        weights.sort_unstable_by_key(|(feature, _)| *feature);
        let (features, values) = weights.into_iter().unzip();
        let intercept = if problem.has_intercept() { problem.uncentred(b) } else { 0.0 };
        let weights = SparseWeights { features, values };
        Iterate { alpha, omega, intercept, weights, certificate, blurred: false }
    }

    /// The best iterate.
    pub(super) fn solution(self) -> Solution {
        let status = self.status.unwrap_or(Status::Interrupted);
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
