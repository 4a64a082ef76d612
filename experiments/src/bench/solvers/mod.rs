//! The second-order solver: evaluations to the tolerance over a grid of problems, and cross-validation in lockstep. Other
//! libraries are its opponents in `experiments/users`.

pub mod grid;
pub mod lockstep;

use banach::{Newton, Solver, Stopping};

/// The solver that is measured.
fn ours(tolerance: f64) -> impl Solver {
    Newton { stopping: Stopping { tolerance, max_iterations: 2000 }, ..Newton::default() }
}
