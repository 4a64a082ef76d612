//! Long work beside the interpreter.

use std::{
    any::Any,
    collections::HashSet,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

use banach::{FeatureMatrix, Observer, Workers, solver::Progress, workers::Switch};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::{data::Table, errors::exception};

/// How often the interpreter is asked for signals, and told of progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// How work is run.
#[derive(Debug)]
pub(crate) struct Running<'a, 'py> {
    /// The number of threads; 0 for one per core.
    pub threads: usize,
    /// The relative gap at which a fit is finished.
    pub tolerance: f64,
    /// Called with the number of finished fits, the last iteration and its relative gap.
    pub progress: Option<&'a Bound<'py, PyAny>>,
}

/// One line of a convergence table: fit, iteration, passes, primal, dual and relative gap.
pub(crate) type Record = (usize, usize, usize, f64, f64, f64);

struct News {
    finished: usize,
    iteration: usize,
    gap: f64,
}

/// Watches a run from its own thread: writes down what it sees, and sends news once in a while.
pub(crate) struct Watch {
    sender: Option<Sender<News>>,
    tolerance: f64,
    finished: HashSet<usize>,
    last: Instant,
    pub(crate) history: Vec<Record>,
}

impl Observer for Watch {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let Progress { problem, iteration, passes, certificate } = *progress;
        let gap = certificate.relative_gap();
        self.history.push((problem, iteration, passes, certificate.primal, certificate.dual, gap));
        if gap <= self.tolerance {
            self.finished.insert(problem);
        }
        if let Some(sender) = &self.sender
            && self.last.elapsed() >= INTERVAL
        {
            self.last = Instant::now();
            // Nobody listens any more once the work is given up.
            let _ = sender.send(News { finished: self.finished.len(), iteration, gap });
        }
        ControlFlow::Continue(())
    }
}

impl Watch {
    /// Tells of work that has no iterates: so many parts of it are finished.
    pub(crate) fn count(&mut self, finished: usize) {
        if let Some(sender) = &self.sender {
            let _ = sender.send(News { finished, iteration: 0, gap: 0.0 });
        }
    }
}

impl Running<'_, '_> {
    /// Runs work on threads of its own while this one answers to signals. The work does not hold the interpreter.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Watch) -> Result<T, banach::Error> + Send,
    ) -> PyResult<T> {
        let workers = Workers::waiting(self.threads).map_err(exception)?;
        let switch = workers.switch();
        let (sender, mut receiver) = mpsc::channel();
        let mut watch = Watch {
            sender: self.progress.is_some().then(|| sender.clone()),
            tolerance: self.tolerance,
            finished: HashSet::new(),
            last: Instant::now(),
            history: Vec::new(),
        };
        let work = move || {
            let result = work(&mut watch);
            // The receiver learns that the work is done.
            drop((watch, sender));
            result
        };
        let mut interrupted = None;
        let attend = || {
            let mut last = News { finished: 0, iteration: 0, gap: f64::INFINITY };
            loop {
                let receiver = &mut receiver;
                match py.detach(move || receiver.recv_timeout(INTERVAL)) {
                    Err(RecvTimeoutError::Disconnected) => break,
                    Ok(news) => last = news,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                // Also while nothing is new: the clock of a progress bar goes on.
                note(&mut interrupted, self.tell(&last), &switch);
                note(&mut interrupted, py.check_signals(), &switch);
            }
        };
        let result = catch_unwind(AssertUnwindSafe(|| workers.run_beside(work, attend)));
        match (result, interrupted) {
            (_, Some(error)) => Err(error),
            (Ok(Some(result)), None) => result.map_err(exception),
            (Ok(None), None) => Err(PyRuntimeError::new_err("the work was ended from outside")),
            (Err(cause), None) => Err(panicked(&*cause)),
        }
    }

    /// As [`run`](Self::run), for work on a table that nobody writes to meanwhile.
    pub(crate) fn run_over<T: Send>(
        &self,
        py: Python<'_>,
        table: &Table,
        work: impl FnOnce(&FeatureMatrix<'_>, &mut Watch) -> Result<T, banach::Error> + Send,
    ) -> PyResult<T> {
        let table = table.borrow(py)?;
        let numbers = table.numbers()?;
        self.run(py, |watch| work(&numbers.matrix()?, watch))
    }

    fn tell(&self, news: &News) -> PyResult<()> {
        let Some(progress) = self.progress else { return Ok(()) };
        progress.call1((news.finished, news.iteration, news.gap)).map(|_| ())
    }
}

/// The first exception ends the work.
fn note(interrupted: &mut Option<PyErr>, outcome: PyResult<()>, switch: &Switch) {
    if let Err(error) = outcome {
        switch.end();
        interrupted.get_or_insert(error);
    }
}

fn panicked(cause: &(dyn Any + Send)) -> PyErr {
    let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("unknown");
    PyRuntimeError::new_err(format!("a mistake in banach, please report it with the data and this message: {text}"))
}
