//! Telling someone how far an experiment is.

use std::ops::ControlFlow;

use banach_cli::progress::Bar;

/// Told how far an experiment is.
pub trait Watch {
    /// A part of the work begins; it has at most this many steps.
    fn begin(&mut self, what: &str, steps: usize);

    /// So many steps of the part are done. `Break` ends the experiment.
    fn step(&mut self, done: usize) -> ControlFlow<()>;
}

/// The bar of the programs, which never asks to stop.
impl Watch for Bar {
    fn begin(&mut self, what: &str, steps: usize) {
        Bar::begin(self, what, steps);
    }

    fn step(&mut self, done: usize) -> ControlFlow<()> {
        Bar::step(self, done);
        ControlFlow::Continue(())
    }
}

/// Counts the parts of the work, and stops in the one it is told.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct Count {
    pub begun: usize,
    pub stop_in: Option<usize>,
}

#[cfg(test)]
impl Watch for Count {
    fn begin(&mut self, _what: &str, _steps: usize) {
        self.begun += 1;
    }

    fn step(&mut self, _done: usize) -> ControlFlow<()> {
        if self.stop_in == Some(self.begun) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
