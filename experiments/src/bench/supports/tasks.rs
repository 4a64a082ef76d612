//! The data that supports are searched in.

use banach::synthetic::{Correlated, EntryDistribution, SparseMonomials, SparseQuadratic};
use serde::Serialize;

/// Data with a truth.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportData {
    /// A few columns.
    Linear(Correlated),
    /// A few products of two variables, and squares.
    Quadratic(SparseQuadratic),
    /// A few products of up to three variables.
    Cubic(SparseMonomials),
}

/// One kind of data.
#[derive(Debug, Clone, Serialize)]
pub struct SupportTask {
    /// How it is asked for.
    pub key: &'static str,
    /// What it is, in a few words.
    pub name: &'static str,
    /// The data.
    pub data: SupportData,
    /// Draws of it.
    pub draws: u64,
    /// What is wanted.
    pub wanted: &'static str,
}

/// Linear data whose noise is so many times the deviation of the rest. Without a true column the targets are noise of deviation 1.
fn linear(samples: usize, features: usize, relevant: usize, noise: f64) -> SupportData {
    // A sum of so many columns of weight 1 or -1 has about this deviation.
    let noise = noise * (relevant.max(1) as f64).sqrt();
    SupportData::Linear(Correlated { samples, features, relevant, noise, correlation: 0.5 })
}

fn quadratic(samples: usize, inputs: usize, relevant: usize) -> SupportData {
    SupportData::Quadratic(SparseQuadratic { samples, inputs, relevant, noise: 0.05 })
}

fn cubic(samples: usize, inputs: usize, relevant: usize, noise: f64) -> SupportData {
    let entries = EntryDistribution::Normal;
    SupportData::Cubic(SparseMonomials { samples, inputs, relevant, noise, entries })
}

/// The tasks at full size, the largest of 46 million monomials.
pub fn full() -> Vec<SupportTask> {
    let task = |key, name, data, draws, wanted| SupportTask { key, name, data, draws, wanted };
    let nothing_false = "nothing false in 9 of 10";
    vec![
        // The first, so that its memory is not that which another has left.
        task("cubic-large", "200 x 650, degree 3: 5 of 46 million", cubic(200, 650, 5, 0.1), 1, "60 s, 300 MB"),
        task("wide", "100 x 10,000: 10 columns, noise 1/5", linear(100, 10_000, 10, 0.2), 20, "the truth in 9 of 10"),
        task("products", "150 x 200, degree 2: 6 of 20,300", quadratic(150, 200, 6), 10, "the truth in all"),
        task("table2", "90 x 650, degree 2: 6 of 212,225", quadratic(90, 650, 6), 30, "the truth in 26 of 30"),
        task("cubic", "200 x 100, degree 3: 5 of 176,850", cubic(200, 100, 5, 0.1), 10, "the truth in all"),
        task("weak", "150 x 2,000: 10 columns, noise 1", linear(150, 2000, 10, 1.0), 20, nothing_false),
        task("many", "100 x 2,000: 50 columns, noise 1/2", linear(100, 2000, 50, 0.5), 20, nothing_false),
        task("all", "100 x 2,000: all columns, noise 1", linear(100, 2000, 2000, 1.0), 20, "nothing named in 9 of 10"),
        task("noise", "100 x 10,000: noise alone", linear(100, 10_000, 0, 1.0), 20, "nothing named in 9 of 10"),
    ]
}

/// Small versions that take seconds.
pub fn quick() -> Vec<SupportTask> {
    let task = |key, name, data, wanted| SupportTask { key, name, data, draws: 3, wanted };
    vec![
        task("linear", "40 x 100: 2 columns", linear(40, 100, 2, 0.15), "the truth in all"),
        task("quadratic", "40 x 10, degree 2: 2 of 65", quadratic(40, 10, 2), "the truth in all"),
        task("cubic", "60 x 8, degree 3: 3 of 164", cubic(60, 8, 3, 0.05), "the truth in all"),
        task("noise", "40 x 100: noise alone", linear(40, 100, 0, 1.0), "nothing named in all"),
    ]
}
