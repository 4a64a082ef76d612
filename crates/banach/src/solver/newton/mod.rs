//! Newton's method for every loss, many problems at a time.

mod barrier;
mod between;
mod free;
pub(super) mod guard;
mod lending;
mod length;
mod listed;
mod model;
mod preconditioner;
mod record;
mod rounding;
pub(super) mod run;
mod start;
pub(super) mod system;
pub(super) mod term;
mod turn;

use rayon::prelude::*;

use self::{
    between::most_local_features,
    free::FreeSystem,
    lending::Lending,
    listed::ListedMethod,
    run::{PointRole, Run},
    system::System,
};
use super::{KnownPoint, Observer, Solution, Solver, Start, Status, Stopping};
use crate::{
    DualProblem, Error, FeatureMatrix, Memory, QForm,
    data::Scratch,
    error::{Parameter, Remedy},
    form::{InPlace, MOST_DENSE, is_in_place},
    workers,
};

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
        let solutions = self.solve_on(problems, starts.to_vec(), observer)?;
        Ok(solutions.into_iter().map(|(solution, _)| solution).collect())
    }

    fn solve_on(
        &self,
        problems: &[DualProblem<'_>],
        mut starts: Vec<Start>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(Solution, Option<KnownPoint>)>, Error> {
        assert_eq!(problems.len(), starts.len(), "every problem has a start");
        self.stopping.check()?;
        let Some(first) = problems.first() else { return Ok(Vec::new()) };
        first.form().exponent().refuse_endpoint()?;
        let form = first.form();
        let one_form = problems.iter().all(|problem| std::ptr::addr_eq(problem.form(), form));
        assert!(one_form, "problems that are solved together share one form");
        let ((together, keeps), keep) =
            (self.together(form, problems.len())?, kept_features(form)..=most_features(form));
        let mut solutions = Vec::new();
        let mut stopped = false;
        workers::forget_ended_pass();
        for (group, (problems, starts)) in problems.chunks(together).zip(starts.chunks_mut(together)).enumerate() {
            let runs: Result<Vec<Run<'_>>, Error> =
                problems.iter().zip(starts).map(|(problem, start)| Run::new(problem, start, keep.clone())).collect();
            let mut runs = runs?;
            self.run_together(form, &mut runs, group * together, &mut stopped, observer);
            solutions.extend(runs.into_iter().map(|run| {
                let status = run.status.expect("every run has ended");
                let (solution, known) = run.solution(status, self.stopping.tolerance);
                (solution, known.map(|known| if keeps { known } else { KnownPoint { expansion: None, ..known } }))
            }));
        }
        Ok(solutions)
    }
}

/// About how many vectors of one number for each sample a run keeps, for the count of memory.
const VECTORS: u64 = 28;
/// The same for a problem that waits: its weights, start and solution.
const VECTORS_WAITING: u64 = 12;
/// Numbers of a local model for every feature, besides its column: products, weights, squares.
const LOCAL_NUMBERS: u64 = 8;
/// What is known at starts and solutions is kept if it takes at most this part of the memory: it saves a pass each. Where it is not kept, it
/// is found again, so that a path takes the same steps up to rounding.
const MOST_KNOWN_SHARE: u64 = 4;
/// Features in a part of the sum that makes a Hessian (`SQUARE_COLUMNS` of form/heaviest.rs), for the count of memory.
const HESSIAN_COLUMNS: u64 = 512;

impl Newton {
    /// The features, where they are no more than the samples and the Hessian is kept as their columns.
    pub(super) fn columns(form: &dyn QForm) -> Option<u64> {
        let kept = form.exponent().q() > 2.0 || form.listed().is_some();
        form.cardinality().filter(|features| kept && *features <= form.samples() as u64)
    }

    /// The features, where both sides are large and the Hessian is made of them where they are stored.
    fn in_place(form: &dyn QForm) -> Option<&FeatureMatrix<'_>> {
        form.listed().filter(|x| is_in_place(x.samples(), x.features()))
    }

    /// The bytes that a problem keeps, and those that a thread takes for the step of one.
    pub(super) fn bytes(form: &dyn QForm) -> Option<(u64, u64)> {
        let Some(x) = Self::in_place(form) else { return Self::formed_bytes(form) };
        let (n, kept) = (x.samples() as u64, form.expansion_length() as u64);
        let (hessian, step) =
            (InPlace::length(x.samples(), x.features()), FreeSystem::length(x.samples(), x.features()));
        let listed = ListedMethod::length(x.samples(), x.features())? as u64;
        let vectors = n.checked_mul(VECTORS)?.checked_add(kept.checked_mul(3)?)?;
        let own = hessian.checked_add(vectors)?.checked_add(listed)?;
        let step = step.checked_add(kept.checked_mul(4)?)?;
        Some((own.checked_mul(8)?.checked_add(form.batch_bytes())?, step.checked_mul(8)?))
    }

    /// The same where the Hessian is formed, or copies of its columns are kept.
    pub(super) fn formed_bytes(form: &dyn QForm) -> Option<(u64, u64)> {
        let (n, kept) = (form.samples() as u64, form.expansion_length() as u64);
        let curved = form.exponent().q() > 2.0;
        let by_features = form.cardinality().is_some() && (curved || form.listed().is_some());
        // The Hessian is dense, unless it is kept as columns: of all features, or of the heaviest for very many samples.
        let width = match Self::columns(form) {
            Some(features) => features,
            None if by_features && curved && form.samples() > MOST_DENSE => {
                (most_features(form) as u64).min(form.cardinality().unwrap_or(u64::MAX))
            }
            None => n,
        };
        let hessian = n.checked_mul(width)?;
        // Both ends of a step and their copy in a pass; the last Hessian; and vectors: iterates, predictions, the best so far.
        let problem = kept.checked_mul(3)?.checked_add(hessian)?.checked_add(n.checked_mul(VECTORS)?)?;
        // A line, or the same products with twice the digits; the Hessian with its copy, its factor and the parts of its sum.
        let parts = if by_features && width == n {
            n.checked_add(HESSIAN_COLUMNS)?.checked_mul(n)?.checked_mul(4)?
        } else {
            0
        };
        // The columns of a local model with a few numbers for each, and the heaviest of them once more with weights.
        let local = (most_local_features(form) as u64).checked_mul(n.checked_add(LOCAL_NUMBERS)?)?.checked_mul(2)?;
        let local = if by_features && curved { local } else { 0 };
        let step = kept.checked_mul(4)?.checked_add(hessian.checked_mul(4)?)?.checked_add(parts)?.checked_add(local)?;
        let listed = form.listed().map_or(Some(0), |x| ListedMethod::length(x.samples(), x.features()))?;
        let own = problem.checked_add(listed as u64)?.checked_mul(8)?.checked_add(form.batch_bytes())?;
        Some((own, step.checked_mul(8)?))
    }

    /// How many problems may run together, so that what they keep fits in memory, and whether what is known at starts and solutions
    /// may be kept besides.
    fn together(&self, form: &dyn QForm, problems: usize) -> Result<(usize, bool), Error> {
        // Every problem has its weights, its start and its solution, also while others run.
        let waiting = (problems as u64).saturating_mul(form.samples() as u64).saturating_mul(8 * VECTORS_WAITING);
        // A start and a solution, and the start of the next batch.
        let known = (problems as u64).saturating_mul(form.expansion_length() as u64).saturating_mul(8 * 3);
        let keeps = known <= self.memory.bytes() / MOST_KNOWN_SHARE;
        let memory = self.memory.less(waiting).less(if keeps { known } else { 0 });
        Ok((Self::fitting(form, problems, memory)?, keeps))
    }

    fn fitting(form: &dyn QForm, problems: usize, memory: Memory) -> Result<usize, Error> {
        let bytes = Self::bytes(form);
        // As many steps are under way as there are threads and problems.
        let of = |together: u64| {
            let (problem, step) = bytes?;
            problem
                .checked_mul(together)?
                .checked_add(step.checked_mul(together.min(rayon::current_num_threads() as u64))?)
        };
        memory.check(
            "Newton's method for one problem",
            of(1),
            &[Remedy::Choose(Parameter::Solver, "paper"), Remedy::Do("take fewer samples or features")],
        )?;
        let fits = |together: u64| of(together).is_some_and(|bytes| bytes <= memory.bytes());
        let (mut fewest, mut most) = (1, problems as u64);
        while fewest < most {
            let middle = fewest + (most - fewest).div_ceil(2);
            if fits(middle) { fewest = middle } else { most = middle - 1 }
        }
        Ok(fewest as usize)
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
        // Where there are very many samples working memory is large beside what the runs keep, and soon made again.
        let keeps = form.samples() <= MOST_DENSE;
        let lending = Lending::new(keeps);
        loop {
            let mut running: Vec<(usize, &mut Run<'_>)> =
                runs.iter_mut().enumerate().filter(|(_, run)| run.status.is_none()).collect();
            if running.is_empty() {
                break;
            }
            let mut asking: Vec<&mut Run<'_>> =
                running.iter_mut().filter(|(_, run)| run.role != PointRole::Known).map(|(_, run)| &mut **run).collect();
            if !asking.is_empty() && !workers::pass(|| expand(form, &mut asking, &mut scratch)) {
                *stopped = true;
                running.iter_mut().for_each(|(_, run)| run.status = Some(Status::Interrupted));
                break;
            }
            if !keeps {
                scratch = Scratch::new();
            }
            let tolerance = self.stopping.tolerance;
            let absorb = |(_, run): &mut (usize, &mut Run<'_>)| lending.lend(run, |run| run.absorb(tolerance));
            let arrived: Vec<bool> = running.par_iter_mut().map(absorb).collect();
            let mut arrived: Vec<_> = running.into_iter().zip(arrived).filter(|(_, arrived)| *arrived).collect();
            for ((problem, run), _) in &mut arrived {
                run.status = self.end(run, first + *problem, stopped, observer);
            }
            let going_on = arrived.par_iter_mut().filter(|((_, run), _)| run.status.is_none());
            going_on.for_each(|((_, run), _)| lending.lend(run, |run| run.step(tolerance)));
        }
    }

    /// How a run that stands at an iterate ends; `None` if it goes on.
    fn end(
        &self,
        run: &mut Run<'_>,
        problem: usize,
        stopped: &mut bool,
        observer: &mut dyn Observer,
    ) -> Option<Status> {
        let progress = run.progress(problem);
        let end = if *stopped {
            (progress.certificate.relative_gap() <= self.stopping.tolerance).then_some(Status::Converged)
        } else {
            self.stopping.end(&progress, observer)
        };
        *stopped |= end == Some(Status::Interrupted);
        if end == Some(Status::Converged) || run.has_reached() {
            let goes_on =
                end == Some(Status::Converged) && !*stopped && progress.iteration < self.stopping.max_iterations;
            return if goes_on && run.polishes(self.stopping.tolerance) { None } else { Some(Status::Converged) };
        }
        end.or_else(|| stopped.then_some(Status::Interrupted)).or_else(|| run.dead_end(self.stopping.tolerance))
    }
}

/// One pass for the points of all runs.
fn expand(form: &dyn QForm, running: &mut [&mut Run<'_>], scratch: &mut Scratch) {
    let mut points = Vec::new();
    let mut expansions = Vec::new();
    for run in running {
        let (point, expansion) = run.ask();
        points.extend_from_slice(point);
        expansions.push(expansion);
    }
    form.expand(&points, &mut expansions, scratch);
}

/// How many features a Hessian keeps at first: as many as make it cost a fraction of a pass (measured with `banach-lab bench grid`),
/// but enough for a matrix of full rank. It does not depend on how many problems run together, so that each of them goes the
/// way it would go alone.
pub(super) fn kept_features(form: &dyn QForm) -> usize {
    let (n, features) = (form.samples(), form.cardinality().unwrap_or(0));
    usize::try_from(features / n as u64).unwrap_or(usize::MAX).max(4 * n).min(form.most_kept())
}

/// The most features that a Hessian keeps: all that can be had, but for very many samples, where their columns take memory.
fn most_features(form: &dyn QForm) -> usize {
    let most = if form.samples() > MOST_DENSE { 4 * kept_features(form) } else { usize::MAX };
    most.min(form.most_kept())
}
