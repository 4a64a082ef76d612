//! The progress bar on standard error.

use std::{ops::ControlFlow, time::Duration};

use banach_experiments::Watch;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows what is being done; invisible when standard error is not a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    fn style(template: &str) -> ProgressStyle {
        ProgressStyle::with_template(template).expect("the templates of this file are valid")
    }
}

impl Watch for Bar {
    fn begin(&mut self, what: &str, steps: usize) {
        self.0.reset();
        self.0.set_length(steps as u64);
        self.0.set_style(Self::style(if steps > 0 {
            "{spinner} {msg:40} {bar:30} {pos}/{len} {eta}"
        } else {
            "{spinner} {msg:40} {pos}"
        }));
        self.0.set_message(what.to_owned());
    }

    fn step(&mut self, done: usize) -> ControlFlow<()> {
        self.0.set_position(done as u64);
        ControlFlow::Continue(())
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
