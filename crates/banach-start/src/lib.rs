//! Whether standard output was open when the process started.
//!
//! Rust's runtime opens `/dev/null` in the place of a closed standard output before `main` runs, and what is written there is lost without
//! a word. A function that the loader calls before the runtime starts can still tell.

#[cfg(unix)]
mod before_main {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    // It asks the kernel one question and allocates nothing, so that it needs nothing of the runtime.
    #[ctor::ctor(unsafe)]
    fn look() {
        CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
    }

    pub(crate) fn stdout_was_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}

/// Whether standard output was closed when the process started, as by `>&-` in a shell. Always `false` outside Unix.
#[must_use]
pub fn stdout_was_closed() -> bool {
    #[cfg(unix)]
    return before_main::stdout_was_closed();
    #[cfg(not(unix))]
    return false;
}
