//! Ctrl-C, and who watches for it.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use banach::{
    Observer, Workers,
    report::{GapAfter, Part, Watch},
    solver::Progress,
    workers::Switch,
};

use crate::{print, progress::Bar};

/// Whether Ctrl-C was pressed.
static PRESSED: AtomicBool = AtomicBool::new(false);
/// Whether somebody looks at [`PRESSED`]; otherwise Ctrl-C ends the program.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was taken over.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Ends what [`stoppable`] does.
static SWITCH: Mutex<Option<Switch>> = Mutex::new(None);
/// Ends a pass of any other work.
static PASSES: OnceLock<Switch> = OnceLock::new();

/// Steps of the bar of a single fit.
const LENGTH: usize = 1000;

/// The exit code of a program that Ctrl-C has ended.
const KILLED: i32 = 130;

/// Takes over Ctrl-C, once.
pub(crate) fn install() -> anyhow::Result<()> {
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let pressed = || {
        let again = PRESSED.swap(true, Ordering::SeqCst);
        let stoppable = SWITCH.lock().is_ok_and(|switch| switch.as_ref().inspect(|switch| switch.end()).is_some());
        if stoppable && !again {
            return;
        }
        if again || !WATCHED.load(Ordering::SeqCst) {
            std::process::exit(KILLED);
        }
        // The solver of the paper has no pass that it can do without.
        PASSES.get().inspect(|passes| passes.end_pass());
        print::message("stopping with the best so far; Ctrl-C again ends at once");
    };
    ctrlc::set_handler(pressed).context("taking over Ctrl-C")
}

/// What ends a pass over the data at the first Ctrl-C.
pub(crate) fn ends_passes_by(switch: Switch) {
    let _ = PASSES.set(switch);
}

/// Whether Ctrl-C has ended a phase.
pub(crate) fn pressed() -> bool {
    PRESSED.load(Ordering::SeqCst)
}

/// The result of work without iterates, which Ctrl-C ends at once; none if it has.
pub(crate) fn stoppable<T: Send>(work: impl FnOnce() -> T + Send) -> Result<Option<T>, banach::Error> {
    let workers = Workers::new(rayon::current_num_threads())?;
    let set = |switch| SWITCH.lock().map(|mut own| *own = switch).unwrap_or_default();
    set(Some(workers.switch()));
    let done = workers.run(work);
    set(None);
    Ok(done)
}

/// While this lives, somebody looks whether Ctrl-C was pressed.
pub(crate) struct Watched;

impl Watched {
    pub(crate) fn begin() -> Self {
        WATCHED.store(true, Ordering::SeqCst);
        Self
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        WATCHED.store(false, Ordering::SeqCst);
    }
}

/// Watches one phase of the work: shows how far it is, and ends it when Ctrl-C is pressed.
pub(crate) struct Phase {
    bar: Bar,
    tolerance: f64,
    many: bool,
    done: HashSet<usize>,
    history: Vec<(usize, GapAfter)>,
    _watched: Watched,
}

impl Phase {
    /// A phase of so many fits.
    pub(crate) fn begin(what: &str, fits: usize, tolerance: f64, quiet: bool) -> Self {
        let bar = Bar::new(quiet);
        let many = fits > 1;
        bar.begin(what, if many { fits } else { LENGTH });
        Self { bar, tolerance, many, done: HashSet::new(), history: Vec::new(), _watched: Watched::begin() }
    }
}

impl Phase {
    /// How far a single fit is: digits of the gap so far, of those that are wanted.
    fn way(&self, gap: f64) -> usize {
        let first = self.history.first().map_or(gap, |(_, step)| step.relative_gap);
        let share = (first / gap).ln() / (first / self.tolerance).ln();
        if share.is_finite() { (share.clamp(0.0, 1.0) * LENGTH as f64) as usize } else { 0 }
    }

    /// What one fit went through.
    pub(crate) fn history(&self, fit: usize) -> Vec<GapAfter> {
        self.history.iter().filter(|(of, _)| *of == fit).map(|(_, step)| *step).collect()
    }
}

impl Observer for Phase {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let step = GapAfter { passes: progress.passes, relative_gap: progress.certificate.relative_gap() };
        self.history.push((progress.problem, step));
        if step.relative_gap <= self.tolerance {
            self.done.insert(progress.problem);
        }
        self.bar.step(if self.many { self.done.len() } else { self.way(step.relative_gap) });
        if pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Lets Ctrl-C end the parts of a report. Where it has ended the fit, searches that have not begun are left out, and the tables of the best
/// iterate are made.
pub(crate) struct Parts;

impl Watch for Parts {
    fn run(&mut self, part: Part, work: &mut (dyn FnMut() + Send)) -> Result<bool, banach::Error> {
        let search = matches!(part, Part::Equation | Part::Stability);
        Ok(!(search && pressed()) && stoppable(work)?.is_some())
    }
}
