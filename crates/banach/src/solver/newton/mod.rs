//! Newton's method for every loss, many problems at a time.

mod barrier;
mod length;
mod listed;
mod model;
mod record;
mod rounding;
mod run;
mod start;
mod system;
mod term;

use rayon::prelude::*;

use self::{listed::Listed, run::Run, system::System};
use super::{Observer, Solution, Solver, Start, Status, Stopping};
use crate::{DualProblem, Error, Memory, QForm, Scratch, form::MOST_DENSE};

/// Newton's method on the dual, with a barrier where it has ends or kinks.
///
/// - Solves: the dual (24) `[eq:gendual]` for every loss, with or without an intercept.
/// - Given: problems over one form, each with its own loss, targets, weights, gamma and start.
/// - Returns: for each the iterate with the smallest relative gap.
/// - Cost: one pass over the data per step, for all problems that are still running, and one more for steps whose end is
///   refused. A step solves a system with the Hessian of Q, on the heaviest features where they are listed.
/// - See: docs/solvers.md.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Newton {
    /// When to stop.
    pub stopping: Stopping,
    /// What the problems that run together may keep.
    pub memory: Memory,
}

impl Solver for Newton {
    fn shares_passes(&self) -> bool {
        true
    }

    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error> {
        let solutions = self.solve_all(std::slice::from_ref(problem), std::slice::from_ref(start), observer)?;
        Ok(solutions.into_iter().next().expect("one problem has one solution"))
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
        let form = first.form();
        let one_form = problems.iter().all(|problem| std::ptr::addr_eq(problem.form(), form));
        assert!(one_form, "problems that are solved together share one form");
        let (together, keep) = (self.together(form, problems.len())?, kept_features(form)..=most_features(form));
        let mut solutions = Vec::new();
        let mut stopped = false;
        for (group, (problems, starts)) in problems.chunks(together).zip(starts.chunks(together)).enumerate() {
            let runs: Result<Vec<Run<'_>>, Error> =
                problems.iter().zip(starts).map(|(problem, start)| Run::new(problem, start, keep.clone())).collect();
            let mut runs = runs?;
            self.run_together(form, &mut runs, group * together, &mut stopped, observer);
            solutions.extend(runs.into_iter().map(|run| {
                let status = run.status.expect("every run has ended");
                run.solution(status, self.stopping.tolerance)
            }));
        }
        Ok(solutions)
    }
}

impl Newton {
    /// The bytes that one problem keeps.
    fn bytes(form: &dyn QForm) -> Option<u64> {
        let (n, kept) = (form.samples() as u64, form.expansion_length() as u64);
        // Both ends of a step, their copies in a pass, and the products of a line.
        let expansions = kept.checked_mul(6)?;
        // The Hessian is dense, but for very many samples, where it is the features that it keeps.
        let width =
            if form.samples() > MOST_DENSE && form.exponent().q() > 2.0 { most_features(form) as u64 } else { n };
        // With its copy, its factor, and the parts that it is summed from.
        let hessian = n.checked_mul(width)?.checked_mul(8)?;
        let listed = form.listed().map_or(Some(0), |x| Listed::length(x.samples(), x.features()))?;
        expansions.checked_add(hessian)?.checked_add(listed as u64)?.checked_mul(8)
    }

    /// How many problems may run together, so that what they keep fits in memory.
    fn together(&self, form: &dyn QForm, problems: usize) -> Result<usize, Error> {
        let bytes = Self::bytes(form);
        self.memory.check(
            "Newton's method for one problem",
            bytes,
            "use the solver of the paper (ProximalGradient), or fewer samples or features",
        )?;
        let most = self.memory.bytes() / bytes.unwrap_or(u64::MAX).max(1);
        Ok(usize::try_from(most).unwrap_or(usize::MAX).clamp(1, problems))
    }

    /// Runs problems in lockstep: in every round one pass expands Q around a point of each.
    fn run_together(
        &self,
        form: &dyn QForm,
        runs: &mut [Run<'_>],
        first: usize,
        stopped: &mut bool,
        observer: &mut dyn Observer,
    ) {
        let mut scratch = Scratch::new();
        loop {
            let mut running: Vec<(usize, &mut Run<'_>)> =
                runs.iter_mut().enumerate().filter(|(_, run)| run.status.is_none()).collect();
            if running.is_empty() {
                break;
            }
            expand(form, &mut running, &mut scratch);
            let arrived: Vec<bool> =
                running.par_iter_mut().map(|(_, run)| run.absorb(self.stopping.tolerance)).collect();
            let mut arrived: Vec<_> = running.into_iter().zip(arrived).filter(|(_, arrived)| *arrived).collect();
            for ((problem, run), _) in &mut arrived {
                run.status = self.end(run, first + *problem, stopped, observer);
            }
            arrived.par_iter_mut().filter(|((_, run), _)| run.status.is_none()).for_each(|((_, run), _)| {
                run.step(self.stopping.tolerance);
            });
        }
    }

    /// The end of a run that stands at an iterate, if this is it.
    fn end(&self, run: &Run<'_>, problem: usize, stopped: &mut bool, observer: &mut dyn Observer) -> Option<Status> {
        let progress = run.progress(problem);
        let end = if *stopped {
            (progress.certificate.relative_gap() <= self.stopping.tolerance).then_some(Status::Converged)
        } else {
            self.stopping.end(&progress, observer)
        };
        *stopped |= end == Some(Status::Interrupted);
        end.or_else(|| stopped.then_some(Status::Interrupted)).or_else(|| run.dead_end(self.stopping.tolerance))
    }
}

/// One pass for the points of all runs.
fn expand(form: &dyn QForm, running: &mut [(usize, &mut Run<'_>)], scratch: &mut Scratch) {
    let mut points = Vec::new();
    let mut expansions = Vec::new();
    for (_, run) in running {
        let (point, expansion) = run.ask();
        points.extend_from_slice(point);
        expansions.push(expansion);
    }
    form.expand(&points, &mut expansions, scratch);
}

/// How many features a Hessian keeps at first: as many as make it cost a fraction of a pass (measured with `banach bench grid`),
/// but enough for a matrix of full rank. It does not depend on how many problems run together, so that each of them goes the
/// way it would go alone.
fn kept_features(form: &dyn QForm) -> usize {
    let (n, features) = (form.samples(), form.cardinality().unwrap_or(0));
    usize::try_from(features / n as u64).unwrap_or(usize::MAX).max(4 * n).min(form.most_kept())
}

/// The most features that a Hessian keeps: all that can be had, but for very many samples, where their columns take memory.
fn most_features(form: &dyn QForm) -> usize {
    let most = if form.samples() > MOST_DENSE { 4 * kept_features(form) } else { usize::MAX };
    most.min(form.most_kept())
}
