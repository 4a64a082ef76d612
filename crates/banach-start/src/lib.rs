//! Whether standard output was open when the process started.
//!
//! Rust's runtime opens `/dev/null` in the place of a closed standard output before `main` runs, and what is written there is lost without
//! a word. A function that the loader calls before the runtime starts can still tell.

use std::process::ExitCode;

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

/// The exit code of a program, which is not run where what it prints would be lost: standard output was closed when the process
/// started, as by `>&-` in a shell.
#[must_use]
pub fn run(program: impl FnOnce() -> u8) -> ExitCode {
    if stdout_was_closed() {
        eprintln!("error: standard output is closed; send it to a file, or to /dev/null");
        return ExitCode::from(2);
    }
    ExitCode::from(program())
}

/// Always `false` outside Unix.
fn stdout_was_closed() -> bool {
    #[cfg(unix)]
    return before_main::stdout_was_closed();
    #[cfg(not(unix))]
    return false;
}
