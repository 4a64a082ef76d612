//! The progress bar on standard error.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows what is being done; invisible when standard error is not a terminal.
#[derive(Debug)]
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar that has nothing to show yet, and never has if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    fn style(template: &str) -> ProgressStyle {
        ProgressStyle::with_template(template).expect("the templates of this file are valid")
    }

    /// A part of the work begins; it has at most so many steps, 0 if that is not known.
    pub fn begin(&self, what: &str, steps: usize) {
        self.0.reset();
        self.0.set_length(steps as u64);
        self.0.set_style(Self::style(if steps > 0 {
            "{spinner} {msg:40} {bar:30} {pos}/{len} {eta}"
        } else {
            "{spinner} {msg:40} {pos}"
        }));
        self.0.set_message(what.to_owned());
    }

    /// So many steps of the part are done.
    pub fn step(&self, done: usize) {
        self.0.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
