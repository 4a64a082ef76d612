//! The size of the barrier, and the Newton direction for it.

use super::{
    System,
    run::{Run, SampleTerm},
};
use crate::{Certificate, data::Spare, form::Hessian, numeric::dot};

/// The barrier that smooths ends and kinks.
pub(super) struct Barrier {
    /// Its size, infinite before the first step.
    mu: f64,
    /// The factor by which the barrier shrank last, as a place in [`SHRINK`].
    shrink: usize,
    /// How many ends and kinks it smooths. Without any there is no barrier.
    count: f64,
}

/// A step, and twice the decrease of the smoothed dual that the quadratic model promises.
pub(super) struct Direction {
    pub d: Vec<f64>,
    pub decrease: f64,
}

/// Factors by which the barrier may shrink in one step. Each trial is a linear system, so there are few; three steps of the
/// boldest lead from a gap of 1 to the usual tolerance.
const SHRINK: [f64; 6] = [1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0];
/// A barrier is taken if at least this share of its Newton step is inside the domain: a step that is cut shorter does not come near
/// the minimum under that barrier.
const LEAST_ROOM: f64 = 0.9;
/// The barrier may shrink if the step promises at most this many times the gap that the barrier leaves open. At a centred point the
/// two are about equal; runs that were allowed to shrink it farther off cycled.
const MOST_PROMISED: f64 = 5.0;
/// The barrier must shrink if the step promises at most this share of the gap that the barrier leaves open: the next digit of the gap
/// can then come from the barrier alone.
const LEAST_PROMISED: f64 = 0.1;
/// The smallest barrier leaves open this share of the tolerance, which the gap does not show.
const LEAST_SHARE: f64 = 1e-3;
/// Stands for a tolerance of 0: some tens of units in the last place, below which rounding decides.
const LEAST_TOLERANCE: f64 = 1e-14;
/// A direction that is found by steps may leave this share of the gap open: a Newton step rarely gains more.
const OPEN_SHARE: f64 = 1e-2;
/// The same as a share of what the barrier leaves open.
const OPEN_UNDER_BARRIER: f64 = 0.1;
/// It need not leave less open than this share of the tolerance.
const LEAST_OPEN: f64 = 0.1;

impl Barrier {
    pub(super) fn new(count: usize) -> Self {
        Self { mu: f64::INFINITY, shrink: SHRINK.len() - 1, count: count as f64 }
    }

    /// Returns to the state before the first step.
    pub(super) fn reset(&mut self) {
        (self.mu, self.shrink) = (f64::INFINITY, SHRINK.len() - 1);
    }

    /// Whether there is anything to smooth.
    pub(super) fn is_there(&self) -> bool {
        self.count > 0.0
    }

    /// Whether its size has been chosen, or none is needed.
    pub(super) fn is_known(&self) -> bool {
        self.mu.is_finite() || !self.is_there()
    }

    /// Its size.
    pub(super) fn mu(&self) -> f64 {
        self.mu
    }

    /// Its size in the units of one sample.
    pub(super) fn of_sample(&self, gamma: f64) -> f64 {
        if self.is_there() { self.mu / gamma } else { 0.0 }
    }
}

impl Run<'_> {
    /// The Newton direction for the smallest barrier under which the step neither meets the border nor promises more than
    /// the barrier leaves open.
    pub(super) fn direction(&mut self, hessian: &Hessian, tolerance: f64) -> Vec<f64> {
        let mut memory = std::mem::take(&mut self.scratch.spare);
        let found = self.direction_under_barrier(hessian, tolerance, &mut memory);
        self.scratch.spare = memory;
        found.d
    }

    /// The trials of the barrier: each is a system in the same memory.
    fn direction_under_barrier(&mut self, hessian: &Hessian, tolerance: f64, memory: &mut Spare) -> Direction {
        if !self.barrier.is_there() {
            return self.newton_direction(hessian, 0.0, tolerance, memory);
        }
        let Certificate { primal, dual, gap, .. } = self.certificate;
        let Barrier { mu: mut last, shrink, count } = self.barrier;
        if last.is_infinite() {
            let open = if dual == 0.0 { gap } else { gap.min(dual.abs()) };
            last = open / count;
        }
        let least = LEAST_SHARE * tolerance.max(LEAST_TOLERANCE) * primal.abs().min(dual.abs()) / count;
        let mu = |place: usize| (SHRINK[place] * last).max(least.min(last));
        let fits = |found: &Direction, place: usize| {
            self.room_under(mu(place), &found.d) >= LEAST_ROOM && found.decrease <= MOST_PROMISED * count * mu(place)
        };
        let mut place = shrink;
        let mut found = self.newton_direction(hessian, mu(place), tolerance, memory);
        if fits(&found, place) {
            while place > 0 {
                let bolder = self.newton_direction(hessian, mu(place - 1), tolerance, memory);
                if !fits(&bolder, place - 1) {
                    break;
                }
                (found, place) = (bolder, place - 1);
            }
        } else {
            while place + 1 < SHRINK.len() {
                place += 1;
                found = self.newton_direction(hessian, mu(place), tolerance, memory);
                if fits(&found, place) {
                    break;
                }
            }
        }
        // If the step promises next to nothing, the barrier shrinks whether its step fits or not.
        if place + 1 == SHRINK.len() && found.decrease <= LEAST_PROMISED * count * last {
            place -= 1;
            found = self.newton_direction(hessian, mu(place), tolerance, memory);
        }
        (self.barrier.mu, self.barrier.shrink) = (mu(place), place);
        found
    }

    /// What a direction that is found by steps may leave open of the gap: little of what its end will have.
    fn enough_open(&self, mu: f64, tolerance: f64) -> f64 {
        let least = LEAST_OPEN * tolerance * self.size();
        if self.barrier.is_there() {
            return (OPEN_UNDER_BARRIER * self.barrier.count * mu).max(least);
        }
        // Without what rounding adds, which no step can close.
        let open = OPEN_SHARE * self.plain_gap;
        if open.is_finite() { open.max(least) } else { least }
    }

    fn newton_direction(&self, hessian: &Hessian, mu: f64, tolerance: f64, memory: &mut Spare) -> Direction {
        self.direction_at(hessian, (&self.alpha, &self.t), mu, self.enough_open(mu, tolerance), memory)
    }

    /// The Newton direction at a dual vector with these predictions. One that is found by steps leaves `open` of the gap.
    pub(super) fn direction_at(
        &self,
        hessian: &Hessian,
        (alpha, t): (&[f64], &[f64]),
        mu: f64,
        open: f64,
        memory: &mut Spare,
    ) -> Direction {
        let (mut gradient, mut diagonal) = (Vec::new(), Vec::new());
        for SampleTerm { i, gamma, term } in &self.samples {
            let found = term.linearised(term.inside(alpha[*i] / gamma), t[*i], mu / gamma);
            gradient.push(-found.gradient);
            diagonal.push(found.curvature / gamma);
        }
        let present: Vec<usize> = self.samples.iter().map(|sample| sample.i).collect();
        let n = self.alpha.len();
        let (listed, intercept) = (self.problem.form().listed(), self.problem.has_intercept());
        let system = System::over(listed, hessian, &diagonal, &present, n, intercept, memory);
        let solved = system.solve_to(&gradient, open);
        system.end(memory);
        let mut d = vec![0.0; n];
        present.iter().zip(&solved).for_each(|(&i, solved)| d[i] = *solved);
        Direction { d, decrease: dot(&gradient, &solved) }
    }
}
