//! What the planner predicts beside what is measured: of evaluations (`routes`), and of whole fits and searches as users wait for them.

pub(super) mod routes;
mod tasks;

use std::{ops::ControlFlow, time::Instant};

use banach::{
    Account, FeatureMatrix, Fit, Memory, Target, Unobserved,
    fit::{Auto, AutoProgress},
    form::{Prediction, Rates},
    solver::Folds,
};
use serde::Serialize;

use self::tasks::FOLDS;
pub use self::tasks::{PlanTask, PlanWork, full, on_request, quick};
use super::timing::processor_seconds;
use crate::{Error, Watch};

/// How far a prediction may be off.
const FACTOR: f64 = 1.5;
/// Short fits are repeated until they have taken so many seconds together, and at most so often.
const ENOUGH_SECONDS: f64 = 1.0;
const MOST_ROUNDS: usize = 50;

/// A prediction, and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct PlanRow {
    /// What was fitted.
    pub task: PlanTask,
    /// Predicted seconds: all, and those of them before the first pass and of passes.
    pub predicted: f64,
    /// See [`predicted`](Self::predicted).
    pub predicted_setup: f64,
    /// See [`predicted`](Self::predicted).
    pub predicted_passes: f64,
    /// The fits that were predicted; 0 for an automatic choice.
    pub fits: usize,
    /// The fits that were made: a search adds gammas where the best lies at the end of its grid.
    pub made: usize,
    /// The best time by the clock.
    pub seconds: f64,
    /// The mean time of all processors together, where the operating system tells.
    pub processor_seconds: Option<f64>,
    /// The mean number of iterations of these.
    pub iterations: f64,
    /// The mean number of passes, where it is known: of a single fit.
    pub passes: Option<f64>,
    /// Threads at work.
    pub threads: usize,
}

impl PlanRow {
    /// What was measured: with one thread the time of the processor, which other programs do not disturb, and with more that of the clock.
    pub fn measured(&self) -> f64 {
        self.processor_seconds.filter(|_| self.threads == 1).unwrap_or(self.seconds)
    }

    /// Measured over predicted.
    pub fn ratio(&self) -> f64 {
        self.measured() / self.predicted
    }

    /// Whether the prediction is as good as it should be.
    pub fn reached(&self) -> bool {
        let ratio = self.ratio();
        ratio.max(1.0 / ratio) <= FACTOR
    }
}

/// Predictions for the machine as it is.
#[derive(Debug, Clone, Serialize)]
pub struct PlanBench {
    /// Threads at work.
    pub threads: usize,
    /// One for every task.
    pub rows: Vec<PlanRow>,
}

impl PlanBench {
    /// Predicts, then measures.
    pub fn run(tasks: Vec<PlanTask>, watch: &mut dyn Watch) -> Result<Self, Error> {
        let threads = rayon::current_num_threads();
        let mut rows = Vec::new();
        for task in tasks {
            watch.begin(task.key, 1);
            rows.push(row(task, threads)?);
            if watch.step(1).is_break() {
                return Err(Error::Stopped);
            }
        }
        Ok(Self { threads, rows })
    }
}

fn row(task: PlanTask, threads: usize) -> Result<PlanRow, Error> {
    let (x, targets) = task.data()?;
    let y = task.target(&targets);
    let predicted = predicted(&task, &x, &y, &Rates::measure()?)?;
    let (mut seconds, mut rounds, mut counted, processor) = (f64::INFINITY, 0, Counted::default(), processor_seconds());
    let started = Instant::now();
    while rounds == 0 || (started.elapsed().as_secs_f64() < ENOUGH_SECONDS && rounds < MOST_ROUNDS) {
        let round = Instant::now();
        counted = done(&task, &x, &y)?;
        seconds = seconds.min(round.elapsed().as_secs_f64());
        rounds += 1;
    }
    let processor = processor_seconds().zip(processor).map(|(after, before)| (after - before) / rounds as f64);
    Ok(PlanRow {
        predicted: predicted.seconds,
        predicted_setup: predicted.setup,
        predicted_passes: predicted.passes,
        fits: predicted.fits,
        seconds,
        // A clock that ticks a hundred times a second may have seen nothing.
        processor_seconds: processor.filter(|seconds| *seconds > 0.0),
        made: counted.fits,
        iterations: counted.iterations,
        passes: counted.passes,
        threads,
        task,
    })
}

fn account() -> Account {
    Account::new(Memory::available())
}

fn predicted(task: &PlanTask, x: &FeatureMatrix<'_>, y: &Target<'_>, rates: &Rates) -> Result<Prediction, Error> {
    Ok(match &task.work {
        PlanWork::Fit(spec) => Fit::new(spec)?.planned(x, 1, 1)?.prediction(rates),
        PlanWork::Search(spec, search) => {
            search.planned_with_model(&Fit::new(spec)?, x, 1, None, FOLDS)?.prediction(rates)
        }
        PlanWork::Auto(effort) => {
            let (auto, mut expected) = (Auto { effort: *effort, ..Auto::default() }, None);
            // It is told before the first contender begins.
            let mut watch = |progress: AutoProgress<'_>| {
                expected.get_or_insert_with(|| progress.expected.clone());
                ControlFlow::Break(())
            };
            auto.run(x, y, None, None, &account(), &mut watch)?;
            expected.unwrap_or_default()
        }
    })
}

/// What is counted while work is done.
#[derive(Default)]
struct Counted {
    fits: usize,
    iterations: f64,
    passes: Option<f64>,
}

fn done(task: &PlanTask, x: &FeatureMatrix<'_>, y: &Target<'_>) -> Result<Counted, Error> {
    Ok(match &task.work {
        PlanWork::Fit(spec) => {
            let model = Fit::new(spec)?.run(x, y, None, &mut Unobserved)?;
            let solution = &model.solutions()[0];
            Counted { fits: 1, iterations: solution.iterations as f64, passes: Some(solution.passes as f64) }
        }
        PlanWork::Search(spec, search) => {
            let folds: Folds = y.folds(x.samples(), FOLDS, 0)?;
            let found = search.run(&Fit::new(spec)?, x, y, None, &folds, &mut Unobserved)?;
            Fit::new(&found.chosen_or_middle())?.run(x, y, None, &mut Unobserved)?;
            let functions = found.tried.iter().flat_map(|tried| &tried.functions);
            let iterations: Vec<usize> =
                functions.flat_map(|function| function.fits.iter().flatten()).map(|fit| fit.iterations).collect();
            let mean = iterations.iter().sum::<usize>() as f64 / iterations.len() as f64;
            Counted { fits: iterations.len() + 1, iterations: mean, passes: None }
        }
        PlanWork::Auto(effort) => {
            let auto = Auto { effort: *effort, ..Auto::default() };
            auto.run(x, y, None, None, &account(), &mut |_| ControlFlow::Continue(()))?;
            Counted::default()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn every_task_is_predicted_and_measured() {
        let bench = PlanBench::run(quick(), &mut Count::default()).expect("it runs");
        assert_eq!(bench.rows.len(), quick().len());
        for row in &bench.rows {
            assert!(row.predicted > 0.0 && row.measured() > 0.0 && row.ratio().is_finite(), "{row:?}");
        }
        let near = PlanRow { predicted: 1.0, seconds: 1.4, threads: 2, ..bench.rows[0].clone() };
        assert!(near.reached() && !PlanRow { seconds: 1.6, ..near.clone() }.reached());
        assert!(!PlanRow { seconds: 0.6, ..near }.reached());
    }

    #[test]
    fn a_watcher_can_stop_it() {
        let mut watch = Count { begun: 0, stop_in: Some(1) };
        assert!(matches!(PlanBench::run(quick(), &mut watch), Err(Error::Stopped)));
    }
}
