//! Working memory that runs borrow for their steps.

use std::sync::Mutex;

use super::run::Run;
use crate::data::Scratch;

/// Working memory for as many steps as are under way at a time. It belongs to no problem, as very many may run together, and is not
/// allocated again for every step.
pub(super) struct Lending {
    free: Mutex<Vec<Scratch>>,
    /// Whether memory that comes back is kept.
    keeps: bool,
}

impl Lending {
    pub(super) fn new(keeps: bool) -> Self {
        Self { free: Mutex::default(), keeps }
    }

    /// Does some work of a run, which has working memory meanwhile.
    pub(super) fn lend<'a, T>(&self, run: &mut Run<'a>, work: impl FnOnce(&mut Run<'a>) -> T) -> T {
        run.scratch = self.free().pop().unwrap_or_default();
        let done = work(run);
        let scratch = std::mem::take(&mut run.scratch);
        if self.keeps {
            self.free().push(scratch);
        }
        done
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.free.lock().expect("nothing panics while it holds the list")
    }
}
