//! The second-order solver against its limits: another library's method on the same problem, and evaluations to the
//! tolerance over a grid of problems.
//!
//! One file per figure: `race` against SciPy (whose process is `peer`), `grid`.

pub mod grid;
mod peer;
mod race;

use banach::{ProximalGradient, Solver, Stopping};

pub use peer::{Answer, Hello};
pub use race::{Contender, Race, Request, Solvers};

/// The solver that is measured.
fn ours(tolerance: f64) -> impl Solver {
    ProximalGradient { stopping: Stopping { tolerance, max_iterations: 2000 }, ..ProximalGradient::default() }
}
