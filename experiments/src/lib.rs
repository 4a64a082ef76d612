//! The paper's tables and figures, with the paper's numbers beside ours, and the benchmarks of banach.
//!
//! Every experiment generates its data from a seed, runs, and returns plain data. Printing and files are the business
//! of the binary `banach-lab`, in `command/`.

pub mod bench;
mod comparison;
mod data;
mod figure;
pub mod figure1;
mod runs;
#[cfg(doctest)]
mod snippets;
pub mod stress;
pub mod table1;
pub mod table2;
mod watch;

pub use comparison::{Comparison, Printed};
pub use figure::Picture;
pub use runs::{Algorithm, End, Outcome, Settings};
pub use watch::Watch;

/// Why an experiment has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A problem could not be set up.
    #[error(transparent)]
    Banach(#[from] banach::Error),
    /// The one who watched asked to stop.
    #[error("stopped before the end")]
    Stopped,
    /// The reference solution, to which all others are compared, was not reached.
    #[error("the reference solution at p = {p} ended as {status:?} with relative gap {gap:.1e}, wanted {wanted:.0e}")]
    NoReference {
        /// The exponent.
        p: f64,
        /// How the run ended.
        status: banach::Status,
        /// Its gap.
        gap: f64,
        /// The gap that was wanted.
        wanted: f64,
    },
    /// A measurement in a process of its own failed.
    #[error("{}, started for a measurement of its own: {reason}", program.display())]
    Child {
        /// The program.
        program: std::path::PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A picture could not be drawn.
    #[error("drawing failed: {0}")]
    Drawing(String),
}
