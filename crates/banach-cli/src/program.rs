//! How a program starts and ends: its threads, and its exit code with a message.

use std::borrow::Cow;

use anyhow::Context;

use crate::{fit::interrupt, print, visible::visible, words};

/// Starts the threads, before memory is counted: their stacks take addresses.
pub fn start_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let number = threads.map_or_else(|| banach::memory::threads_within_limits(cores()), usize::from);
    // One for every core is rayon's own choice, which a variable may change.
    let number = if threads.is_none() && number == cores() { 0 } else { number };
    let started = banach::workers::start(number)
        .context("starting the threads; ask for fewer with --threads, or for more memory")?;
    // Python may have started them; only a number that is asked for is then too late.
    anyhow::ensure!(
        started.is_some() || threads.is_none(),
        "--threads: the threads of this process have been started before"
    );
    started.into_iter().for_each(interrupt::ends_passes_by);
    Ok(())
}

/// What went wrong and why; a cause that a message already ends with is not said twice.
fn message(error: &anyhow::Error) -> String {
    let add = |said: String, cause: String| if said.ends_with(&cause) { said } else { format!("{said}: {cause}") };
    error.chain().map(words::message).reduce(add).unwrap_or_default()
}

/// Says what went wrong and returns the exit code. It is `code`, but for usage, which has codes of its own, and for a pipe that
/// was closed because its reader has seen enough.
pub fn fail(error: &anyhow::Error, code: u8) -> u8 {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return explain_usage(usage);
    }
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        return 0;
    }
    print::message(format_args!("error: {}", message(error)));
    code
}

/// The help that was asked for, or what is wrong with the arguments, which may hold anything.
fn explain_usage(usage: &clap::Error) -> u8 {
    let text = usage.render().to_string();
    if usage.use_stderr() && matches!(visible(&text), Cow::Owned(_)) {
        print::message(text.trim_end());
    } else if let Err(error) = usage.print() {
        return fail(&error.into(), 2);
    }
    u8::try_from(usage.exit_code()).unwrap_or(2)
}
