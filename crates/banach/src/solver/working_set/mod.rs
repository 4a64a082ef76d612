//! p = 1: problems on the features that matter, held against all of them.

mod interior;
#[cfg(test)]
mod laws;
mod parabolas;
mod restricted;
mod run;
mod saddle;
mod working;

use rayon::prelude::*;

use self::{
    interior::MOST_ALWAYS_DENSE,
    run::{REMEMBERED, WorkingRun},
};
use super::{Observer, Solution, Solver, Start, Status, Stopping};
use crate::{
    DualProblem, Error, Memory, QForm,
    data::Scratch,
    error::{Parameter, Remedy},
    form::Endpoint,
    workers,
};

/// Working sets for p = 1.
///
/// - Solves: `min_(w, b) sum_i gamma_i L(y_i, <Phi(x_i), w> + b) + ||w||_1` for every loss, with or without an intercept, over all
///   features of a kernel with finitely many, none of which is stored but those that have mattered.
/// - Given: problems over one form of p = 1, each with its own loss, targets, weights, gamma and start.
/// - Returns: for each the weights with the smallest relative gap over *all* features; most weights are exactly 0.
/// - Cost: a few passes over the features for all problems that are still running, and for each pass an interior-point method on the
///   features at hand.
/// - See: docs/sparse.md.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkingSets {
    /// When to stop.
    pub stopping: Stopping,
    /// What the problems that run together may keep.
    pub memory: Memory,
}

/// Features at hand for each sample, about, for the count of memory.
const FEATURES_PER_SAMPLE: u64 = 4;
/// Copies of the matrix of a system that a step keeps at a time, with its factor and the parts of its sum.
const SYSTEMS: u64 = 8;
/// Copies of the columns at hand that a step keeps at a time where they are fewer than the samples.
const WEIGHTED: u64 = 4;
/// Numbers that a problem and its step keep for every sample.
const VECTORS: u64 = 64;
/// Those of the system of both samples and features, and its factor.
const SADDLE: u64 = 2 * (saddle::LARGEST as u64).pow(2);

impl Solver for WorkingSets {
    fn shares_passes(&self) -> bool {
        true
    }

    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error> {
        let problems = std::slice::from_ref(problem);
        Ok(self.solve_all(problems, std::slice::from_ref(start), observer)?.swap_remove(0))
    }

    fn solve_all(
        &self,
        problems: &[DualProblem<'_>],
        starts: &[Start],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Solution>, Error> {
        assert_eq!(problems.len(), starts.len(), "every problem has a start");
        self.stopping.check()?;
        let Some(first) = problems.first() else { return Ok(Vec::new()) };
        let one_form = problems.iter().all(|problem| std::ptr::addr_eq(problem.form(), first.form()));
        assert!(one_form, "problems that are solved together share one form");
        let Some(form) = first.form().endpoint() else {
            let (got, allowed) = (first.form().exponent().p(), "1 for working sets; Newton's method takes p > 1");
            return Err(Error::parameter(Parameter::P, got, allowed));
        };
        let together = self.together(form, problems.len())?;
        workers::forget_ended_pass();
        let (mut solutions, mut stopped) = (Vec::with_capacity(problems.len()), false);
        for (group, (problems, starts)) in problems.chunks(together).zip(starts.chunks(together)).enumerate() {
            let runs = problems.iter().zip(starts).map(|(problem, start)| WorkingRun::new(problem, form, start));
            let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
            self.run_together(form, &mut runs, group * together, &mut stopped, observer);
            solutions.extend(runs.into_iter().map(WorkingRun::solution));
        }
        Ok(solutions)
    }
}

impl WorkingSets {
    /// How many problems may run together, so that what they keep fits in memory.
    fn together(&self, form: &Endpoint<'_>, problems: usize) -> Result<usize, Error> {
        let n = form.samples() as u64;
        let features = (REMEMBERED as u64 + FEATURES_PER_SAMPLE * n).min(form.cardinality().unwrap_or(u64::MAX));
        let columns = n.checked_mul(features);
        // The columns at hand, those at the samples that are present, and what is kept of every sample.
        let problem =
            columns.and_then(|numbers| numbers.checked_mul(2)?.checked_add(n.checked_mul(VECTORS)?)?.checked_mul(8));
        // The matrix of a step, or where there are fewer features than very many samples their columns, weighted, and a matrix of their number.
        let by_features = features < n && form.samples() > MOST_ALWAYS_DENSE;
        let side = if by_features { features } else { n };
        let weighted = if by_features { columns.and_then(|numbers| numbers.checked_mul(WEIGHTED)) } else { Some(0) };
        let step = side.checked_mul(side).and_then(|numbers| {
            numbers.checked_mul(SYSTEMS)?.checked_add(weighted?)?.checked_add(SADDLE)?.checked_mul(8)
        });
        let bytes = |together: u64| {
            let steps = together.min(rayon::current_num_threads() as u64);
            problem?.checked_mul(together)?.checked_add(step?.checked_mul(steps)?)
        };
        let remedies = &[Remedy::Do("take fewer samples")];
        self.memory.check("the features at hand of one problem", bytes(1), remedies)?;
        let fits = |together: &u64| bytes(*together).is_some_and(|bytes| bytes <= self.memory.bytes());
        Ok((1..=problems as u64).rev().find(fits).unwrap_or(1) as usize)
    }

    /// Runs problems in lockstep: in every round one pass over all features for the dual vectors of all.
    fn run_together(
        &self,
        form: &Endpoint<'_>,
        runs: &mut [WorkingRun<'_>],
        first: usize,
        stopped: &mut bool,
        observer: &mut dyn Observer,
    ) {
        let mut scratch = Scratch::new();
        let Stopping { tolerance, max_iterations } = self.stopping;
        loop {
            let mut running: Vec<(usize, &mut WorkingRun<'_>)> =
                runs.iter_mut().enumerate().filter(|(_, run)| run.status.is_none()).collect();
            if running.is_empty() || *stopped {
                running.iter_mut().for_each(|(_, run)| run.status = Some(Status::Interrupted));
                break;
            }
            let points: Vec<f64> = running.iter().flat_map(|(_, run)| run.point()).copied().collect();
            let mut found = Vec::new();
            if !workers::pass(|| found = form.largest(&points, REMEMBERED, &mut scratch)) {
                *stopped = true;
                continue;
            }
            running.par_iter_mut().zip(found).for_each(|((_, run), found)| run.absorb(found, tolerance));
            self.end(&mut running, first, stopped, observer);
            running.par_iter_mut().filter(|(_, run)| run.status.is_none()).for_each(|(_, run)| {
                run.step(tolerance, max_iterations);
            });
            // What the last pass proves needs no other.
            running.retain(|(_, run)| run.status.is_none() && run.progress(0).certificate.relative_gap() <= tolerance);
            self.end(&mut running, first, stopped, observer);
        }
    }

    /// Ends runs that have converged, that were told to stop, or that no round brings forward.
    fn end(
        &self,
        running: &mut [(usize, &mut WorkingRun<'_>)],
        first: usize,
        stopped: &mut bool,
        observer: &mut dyn Observer,
    ) {
        for (problem, run) in running {
            let progress = run.progress(first + *problem);
            let end = match progress.certificate.relative_gap() <= self.stopping.tolerance {
                true if *stopped => Some(Status::Converged),
                _ if *stopped => Some(Status::Interrupted),
                _ => self.stopping.end(&progress, observer),
            };
            *stopped |= end == Some(Status::Interrupted);
            run.status = end.or_else(|| run.dead_end());
        }
    }
}
