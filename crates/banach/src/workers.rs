//! Threads of one's own, whose work can be ended from outside in the middle of a pass over the data.

use std::{
    cell::RefCell,
    num::NonZero,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::Error;

thread_local! {
    /// The switch of the workers that this thread belongs to.
    static SWITCH: RefCell<Option<Switch>> = const { RefCell::new(None) };
}

/// Threads for computations that must be able to end at once: an [`Observer`](crate::Observer) is asked between two
/// iterations and keeps the best of them; a [`Switch`] ends what runs within a few milliseconds and keeps nothing.
///
/// ```
/// use banach::{FeatureMatrix, Spec, Workers};
/// # let x = FeatureMatrix::from_rows(2, 2, &[1.0, 0.5, -0.3, 1.0])?;
/// let workers = Workers::new(2)?;
/// let switch = workers.switch(); // for another thread, or for the handler of a signal
/// let model = workers.run(|| Spec::default().fit(&x, &[1.0, -1.0])).expect("nobody ended it")?;
/// switch.end();
/// assert!(workers.run(|| Spec::default().fit(&x, &[1.0, -1.0])).is_none());
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug)]
pub struct Workers {
    pool: ThreadPool,
    switch: Switch,
}

/// Ends the work of the [`Workers`] it was taken from.
#[derive(Debug, Clone, Default)]
pub struct Switch(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the work is ended, for good.
    ended: AtomicBool,
    /// Whether the pass is ended in which a solver is, or the next one.
    pass_ended: AtomicBool,
    /// Whether a solver is in a pass that it can do without.
    in_pass: AtomicBool,
}

impl Switch {
    /// Ends what runs, for good.
    pub fn end(&self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }

    /// Ends the pass over the data in which Newton's method is, which keeps the best of the iterates before it. What else runs goes on:
    /// an [`Observer`](crate::Observer) is to end that.
    pub fn end_pass(&self) {
        self.0.pass_ended.store(true, Ordering::Relaxed);
    }

    fn is_ended(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }

    fn has_ended_pass(&self) -> bool {
        self.0.pass_ended.load(Ordering::Relaxed) && self.0.in_pass.load(Ordering::Relaxed)
    }
}

/// What unwinds a thread whose work is ended.
struct Ended;
/// What unwinds a thread whose pass is ended.
struct PassEnded;

/// Starts the threads of all work outside of [`Workers`], as many as for [`Workers::new`], and returns what ends it. `None` if they have
/// been started before.
pub fn start(threads: usize) -> Result<Option<Switch>, Error> {
    let switch = Switch::default();
    let of_thread = switch.clone();
    let pool =
        ThreadPoolBuilder::new().num_threads(threads).start_handler(move |_| SWITCH.set(Some(of_thread.clone())));
    match pool.build_global() {
        Ok(()) => {
            SWITCH.set(Some(switch.clone()));
            Ok(Some(switch))
        }
        // Without a cause: there is a pool already.
        Err(error) if std::error::Error::source(&error).is_none() => Ok(None),
        Err(error) => Err(Error::Threads { threads: NonZero::new(threads), reason: error.to_string() }),
    }
}

impl Workers {
    /// This many threads; 0 stands for one per core, or for the number in the variable `RAYON_NUM_THREADS`.
    pub fn new(threads: usize) -> Result<Self, Error> {
        let switch = Switch::default();
        let of_thread = switch.clone();
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|thread| format!("banach-{thread}"))
            .start_handler(move |_| SWITCH.set(Some(of_thread.clone())))
            .build()
            .map_err(|error| Error::Threads { threads: NonZero::new(threads), reason: error.to_string() })?;
        Ok(Self { pool, switch })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// What ends the work.
    pub fn switch(&self) -> Switch {
        self.switch.clone()
    }

    /// Threads that an earlier computation of this process has left waiting, or else new ones: to start a thread takes longer than a small
    /// computation does.
    pub fn waiting(threads: usize) -> Result<WaitingWorkers, Error> {
        let found = Waiting::of_this_process().as_mut().and_then(|waiting| {
            let at = waiting.workers.iter().position(|(count, _)| *count == threads)?;
            Some(waiting.workers.swap_remove(at).1)
        });
        let workers = found.map_or_else(|| Self::new(threads), Ok)?;
        Ok(WaitingWorkers { threads, workers: Some(workers) })
    }

    /// As [`run`](Self::run), while this thread does something else, which must end once the computation has.
    pub fn run_beside<T: Send>(&self, work: impl FnOnce() -> T + Send, meanwhile: impl FnOnce()) -> Option<T> {
        let mut result = None;
        let both = || {
            self.pool.in_place_scope(|scope| {
                scope.spawn(|_| {
                    checkpoint();
                    result = Some(work());
                });
                meanwhile();
            });
        };
        match catch_unwind(AssertUnwindSafe(both)) {
            Ok(()) => result,
            Err(cause) if cause.is::<Ended>() => None,
            Err(cause) => resume_unwind(cause),
        }
    }

    /// The result of a computation on these threads; `None` if it was ended.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Option<T> {
        let work = || {
            checkpoint();
            work()
        };
        match catch_unwind(AssertUnwindSafe(|| self.pool.install(work))) {
            Ok(result) => Some(result),
            Err(cause) if cause.is::<Ended>() => None,
            Err(cause) => resume_unwind(cause),
        }
    }
}

/// Workers that were left waiting, and will be again if nobody has ended them.
#[derive(Debug)]
pub struct WaitingWorkers {
    threads: usize,
    workers: Option<Workers>,
}

impl Deref for WaitingWorkers {
    type Target = Workers;

    fn deref(&self) -> &Workers {
        self.workers.as_ref().expect("they are given back when this goes")
    }
}

impl Drop for WaitingWorkers {
    fn drop(&mut self) {
        let Some(workers) = self.workers.take() else { return };
        if !workers.switch.is_ended()
            && !std::thread::panicking()
            && let Some(waiting) = Waiting::of_this_process().as_mut()
            && waiting.workers.len() < MOST_WAITING
        {
            waiting.workers.push((self.threads, workers));
        }
    }
}

/// Workers that wait at a time: one for a computation, and some for those that other threads of a program have run.
const MOST_WAITING: usize = 4;

/// The workers that wait, with the number of threads that was asked for.
struct Waiting {
    process: u32,
    workers: Vec<(usize, Workers)>,
}

impl Waiting {
    /// Those of this process: one that was forked has none of the threads of its parent, whose workers would wait for ever.
    fn of_this_process() -> MutexGuard<'static, Option<Waiting>> {
        static WAITING: Mutex<Option<Waiting>> = Mutex::new(None);
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if waiting.as_ref().is_none_or(|waiting| waiting.process != process)
            && let Some(of_parent) = waiting.replace(Waiting { process, workers: Vec::new() })
        {
            std::mem::forget(of_parent);
        }
        waiting
    }
}

/// Takes a pass that a solver can do without; `false` if it was ended in the middle.
pub(crate) fn pass(work: impl FnOnce()) -> bool {
    let Some(switch) = SWITCH.with_borrow(Clone::clone) else {
        work();
        return true;
    };
    switch.0.in_pass.store(true, Ordering::Relaxed);
    let done = catch_unwind(AssertUnwindSafe(work));
    switch.0.in_pass.store(false, Ordering::Relaxed);
    switch.0.pass_ended.store(false, Ordering::Relaxed);
    match done {
        Ok(()) => true,
        Err(cause) if cause.is::<PassEnded>() => false,
        Err(cause) => resume_unwind(cause),
    }
}

/// Forgets that a pass was to be ended: what an observer was told before a solver began is no concern of its passes.
pub(crate) fn forget_ended_pass() {
    SWITCH.with_borrow(|switch| switch.iter().for_each(|switch| switch.0.pass_ended.store(false, Ordering::Relaxed)));
}

/// Leaves the computation if it was ended. Every loop over blocks of data passes here once in a while. The thread unwinds without
/// the message of a panic: the user wished it to end.
pub(crate) fn checkpoint() {
    let of_switch = |of: fn(&Switch) -> bool| SWITCH.with_borrow(|switch| switch.as_ref().is_some_and(of));
    if of_switch(Switch::is_ended) {
        resume_unwind(Box::new(Ended));
    }
    if of_switch(Switch::has_ended_pass) {
        resume_unwind(Box::new(PassEnded));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        thread,
        time::{Duration, Instant},
    };

    use rayon::prelude::*;

    use super::*;
    use crate::{FeatureMatrix, Spec, kernel::KernelSpec};

    #[test]
    fn work_that_is_ended_leaves_at_its_next_checkpoint() {
        let workers = Workers::new(2).expect("threads");
        let switch = workers.switch();
        let begin = Instant::now();
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                switch.end();
            });
            workers.run(|| {
                (0..1_000_000_u64).into_par_iter().for_each(|_| {
                    checkpoint();
                    thread::sleep(Duration::from_millis(1));
                });
            })
        });
        assert!(result.is_none() && begin.elapsed() < Duration::from_secs(10));
        assert!(Workers::new(3).expect("threads").run(|| 7) == Some(7), "others are not concerned");
    }

    /// 6.5 billion monomials: what is done before the first pass has its checkpoints too.
    #[test]
    fn the_set_up_of_very_many_monomials_is_ended() {
        let columns: Vec<f64> = (0..6 * 60).map(|k| f64::from(k).sin()).collect();
        let x = FeatureMatrix::from_columns(6, 60, columns).expect("valid");
        let spec = Spec { p: 1.1, kernel: KernelSpec::poly(8), ..Spec::default() };
        let (workers, y) = (Workers::new(2).expect("threads"), [1.0, -1.0, 0.5, 2.0, 0.0, 1.0]);
        let switch = workers.switch();
        let ended = thread::scope(|scope| {
            let timer = scope.spawn(move || {
                thread::sleep(Duration::from_millis(50));
                switch.end();
                Instant::now()
            });
            let result = workers.run(|| spec.fit(&x, &y));
            assert!(result.is_none(), "a fit to billions of monomials takes minutes");
            timer.join().expect("it only sleeps")
        });
        // A second is promised; machines that do much else get more.
        assert!(ended.elapsed() < Duration::from_secs(5), "{:?}", ended.elapsed());
    }

    /// Whoever ends a pass gets the best iterate before it, at the latest the null model; what follows is not concerned.
    #[test]
    fn a_pass_that_is_ended_keeps_what_was_found() {
        let (n, d) = (20, 2000);
        let x =
            FeatureMatrix::from_columns(n, d, (0..n * d).map(|k| (k as f64).sin()).collect::<Vec<_>>()).expect("valid");
        let y: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let form = crate::form::Features::new(x, crate::Exponent::new(1.2).expect("inside"));
        let problem = crate::DualProblem::new(&form, &crate::loss::Squared, &y, 1.0).expect("valid");
        let workers = Workers::new(2).expect("threads");
        for ended in [0, 1, 3] {
            let switch = workers.switch();
            let mut seen = 0;
            let mut watch = |_: &crate::solver::Progress| {
                seen += 1;
                if seen == ended {
                    switch.end_pass();
                }
                std::ops::ControlFlow::Continue(())
            };
            let solution = workers
                .run(|| crate::Solver::solve(&crate::Newton::default(), &problem, &mut watch).expect("valid"))
                .expect("only a pass is ended");
            if ended == 0 {
                assert_eq!(solution.status, crate::Status::Converged);
                continue;
            }
            assert_eq!((solution.status, seen), (crate::Status::Interrupted, ended));
            assert!(solution.certificate.gap.is_finite() && solution.iterations < ended);
        }
    }

    #[test]
    fn a_panic_stays_a_panic() {
        let workers = Workers::new(1).expect("threads");
        let caught = catch_unwind(AssertUnwindSafe(|| workers.run(|| resume_unwind(Box::new("a mistake")))));
        assert!(matches!(caught, Err(cause) if cause.is::<&str>()));
    }

    #[test]
    fn workers_that_nobody_has_ended_wait_for_the_next_computation() {
        // A number of threads that no other test asks for.
        let id = |workers: &Workers| workers.run(|| thread::current().id()).expect("nobody ended it");
        let first = Workers::waiting(5).expect("threads");
        let others = Workers::waiting(5).expect("threads");
        let of_first: Vec<_> = first.pool.broadcast(|_| thread::current().id());
        assert!(!of_first.contains(&id(&others)), "two computations at a time have threads of their own");
        drop(first);
        let again = Workers::waiting(5).expect("threads");
        assert!(of_first.contains(&id(&again)));
        again.switch().end();
        drop(again);
        let new = Workers::waiting(5).expect("threads");
        assert_eq!(new.run_beside(|| 7, || {}), Some(7), "those that were ended are gone");
        new.switch().end();
        assert_eq!(new.run_beside(|| 7, || {}), None);
        let caught = catch_unwind(AssertUnwindSafe(|| others.run_beside(|| panic!("a mistake"), || {})));
        assert!(matches!(caught, Err(cause) if cause.is::<&str>()));
    }

    #[test]
    fn elsewhere_a_checkpoint_does_nothing() {
        checkpoint();
    }
}
