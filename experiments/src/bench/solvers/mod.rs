//! The second-order solver against its limits: another library's method on the same problem, and evaluations to the
//! tolerance over a grid of problems, and cross-validation in lockstep.
//!
//! One file per figure: `race` against SciPy (whose process is `peer`), `grid`, `lockstep`.

pub mod grid;
pub mod lockstep;
mod peer;
mod race;

use banach::{Newton, Solver, Stopping};

pub use peer::{Answer, Hello};
pub use race::{Contender, Race, Request, Solvers};

/// The solver that is measured.
fn ours(tolerance: f64) -> impl Solver {
    Newton { stopping: Stopping { tolerance, max_iterations: 2000 }, ..Newton::default() }
}
