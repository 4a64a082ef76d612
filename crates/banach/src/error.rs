//! What can be wrong with an input. Not converging is not an error: see [`Status`](crate::Status).

mod message;
mod names;
mod words;

use std::fmt::Display;

use num_bigint::BigUint;

pub(crate) use names::names;
pub use words::{Parameter, Plain, Remedy, Words, counted};

/// An input that can never work: what was got, what is allowed, and how to fix it.
///
/// It carries ids of parameters and values. [`Error::render`] spells it in the words of a door, `to_string` in those of this library.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table or vector without entries.
    Empty {
        /// The name of the argument.
        what: &'static str,
    },
    /// Two arguments that should agree in length do not.
    Shape {
        /// The name of the argument.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length that fits the other arguments.
        expected: usize,
    },
    /// An entry of a matrix that is NaN, infinite, or so large that products with it overflow.
    BadEntry {
        /// The name of the matrix.
        what: &'static str,
        /// Row of the first offending entry.
        row: usize,
        /// Its column.
        column: usize,
        /// What was found there.
        value: f64,
        /// The largest magnitude allowed.
        limit: f64,
    },
    /// A value of a vector outside its range.
    BadValue {
        /// The name of the vector.
        what: &'static str,
        /// Index of the first offending value.
        row: usize,
        /// What was found there.
        value: f64,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A scalar parameter outside its range.
    Parameter {
        /// The parameter.
        parameter: Parameter,
        /// Its value, as given.
        got: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A first trial step that Algorithm 2.1 does not take.
    StepLimit {
        /// The step.
        lambda_bar: f64,
        /// What it must be below, `gamma/(2(1-delta))`.
        limit: f64,
    },
    /// A sample at which a tensor kernel leaves the range of numbers.
    KernelRange {
        /// The kernel with its parameters.
        kernel: String,
        /// The name of the data.
        what: &'static str,
        /// The sample.
        row: usize,
        /// The largest sum of products it takes part in; by itself `sum_j x_ij^q`.
        sum: f64,
        /// The largest sum allowed.
        limit: f64,
        /// The largest scale at which it is in range, if the kernel has one.
        scale: Option<f64>,
        /// Whether it is in range once the kernel is normalised.
        normalize: bool,
    },
    /// More features than can be listed.
    TooManyFeatures {
        /// The kernel with its parameters.
        kernel: String,
        /// The number of variables, d.
        inputs: usize,
        /// The number of features, card(K).
        cardinality: BigUint,
    },
    /// A kernel whose features cannot be listed.
    InfinitelyManyFeatures {
        /// The kernel with its parameters.
        kernel: String,
    },
    /// Products of more different variables than there are.
    TooFewColumns {
        /// The kernel with its parameters.
        kernel: String,
        /// Its highest degree.
        degree: usize,
        /// The number of variables, d.
        inputs: usize,
    },
    /// Labels without anything to tell apart.
    OneLabel {
        /// The label.
        label: i64,
    },
    /// A class whose samples all have weight 0.
    AbsentLabel {
        /// The label.
        label: i64,
    },
    /// No route to `Q` that may be taken.
    NoRoute {
        /// The routes that were asked for, each with what keeps it from being taken.
        refused: Vec<(&'static str, Error)>,
        /// Those that were not asked for and could be taken.
        admissible: Vec<&'static str>,
    },
    /// A sparse matrix whose index arrays contradict each other.
    SparseStructure {
        /// What is wrong.
        problem: &'static str,
        /// The column where it shows.
        column: usize,
    },
    /// Weights that leave no sample.
    NoWeight {
        /// The number of samples.
        samples: usize,
        /// The largest weight.
        largest: f64,
        /// The gamma of the problem.
        gamma: f64,
    },
    /// A term whose coefficient leaves the range of numbers, as a column has very small or very large values.
    CoefficientRange {
        /// The column of X.
        column: usize,
        /// The largest magnitude in it.
        size: f64,
    },
    /// The objective is not a finite number even for the zero model.
    Overflow {
        /// The sum of `gamma_i L(y_i, 0)`.
        value: f64,
    },
    /// The objective is too small a number even for the zero model.
    Underflow {
        /// The sum of `gamma_i L(y_i, 0)`.
        value: f64,
    },
    /// A loss that decreases without end as the intercept grows, because all labels are equal.
    OneClass {
        /// The loss.
        loss: &'static str,
        /// The only label.
        label: f64,
        /// The number of samples of positive weight.
        samples: usize,
    },
    /// Counts that are all 0, with an intercept: the smaller it is, the better it fits.
    NoCounts {
        /// The fold without which they are, if that is why.
        fold: Option<usize>,
        /// The number of samples of positive weight.
        samples: usize,
    },
    /// A dual vector of a problem with an intercept whose entries do not sum to zero.
    Unbalanced {
        /// The name of the vector.
        what: &'static str,
        /// The sum of its entries.
        sum: f64,
    },
    /// No starting point can be represented.
    NoStart {
        /// The best point of the ray.
        t: f64,
    },
    /// The data ask for a gamma that is not a number.
    GammaRange {
        /// Its decimal logarithm.
        log10: f64,
    },
    /// A number of folds that cannot be.
    FoldCount {
        /// The number of folds.
        folds: usize,
        /// The number of samples.
        samples: usize,
    },
    /// A fold that holds out nothing or everything.
    FoldSize {
        /// The fold.
        fold: usize,
        /// The samples it holds out.
        held_out: usize,
        /// The samples it leaves.
        left: usize,
    },
    /// A fold with a sample that does not exist or is there twice.
    FoldSample {
        /// The fold.
        fold: usize,
        /// The sample it names.
        sample: usize,
        /// The number of samples.
        samples: usize,
    },
    /// A fold whose fit would see one class only.
    FoldClass {
        /// The fold.
        fold: usize,
        /// The label that is left.
        label: f64,
        /// The number of samples that are left, of positive weight.
        samples: usize,
    },
    /// Folds without a sample whose prediction counts.
    HeldOutWeight {
        /// The number of samples that are held out.
        samples: usize,
    },
    /// A fold whose fit would see no sample.
    FoldWeight {
        /// The fold.
        fold: usize,
    },
    /// A kernel whose values are too small to be told from zero.
    KernelUnderflow {
        /// The kernel.
        kernel: String,
        /// The name of the matrix.
        what: &'static str,
        /// The sample.
        row: usize,
        /// Its largest entry.
        size: f64,
    },
    /// More memory than is allowed.
    Memory {
        /// What was to be stored.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// What else would work.
        instead: &'static [Remedy],
    },
    /// Threads that the operating system does not give.
    Threads {
        /// The number that was asked for; `None` for one per core.
        threads: Option<std::num::NonZero<usize>>,
        /// What the system says.
        reason: String,
    },
    /// Intervals of a model of which they are not known.
    NoIntervals {
        /// Why, and what to do.
        reason: &'static str,
        /// Whether a fit with held-out samples would have them.
        held_out: bool,
    },
    /// A loss that a solver cannot handle.
    Unsupported {
        /// The solver.
        solver: &'static str,
        /// The loss.
        loss: &'static str,
        /// What it can handle.
        allowed: &'static str,
    },
}

/// Bytes for people to read.
pub(crate) fn bytes_in_words(count: u64) -> String {
    let (mut value, mut unit) = (count as f64, "bytes");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value >= 1000.0 {
            (value, unit) = (value / 1000.0, larger);
        }
    }
    match (count, unit) {
        (u64::MAX, _) => "more than can be counted".to_owned(),
        (_, "bytes") => format!("{count} bytes"),
        _ => format!("{value:.3} {unit}"),
    }
}

impl Error {
    /// A scalar parameter outside its range.
    pub(crate) fn parameter(parameter: Parameter, got: impl Display, allowed: &'static str) -> Self {
        Self::Parameter { parameter, got: got.to_string(), allowed }
    }

    /// Refuses an argument whose length does not fit the others.
    pub(crate) fn check_length(what: &'static str, got: usize, expected: usize) -> Result<(), Self> {
        if got == expected { Ok(()) } else { Err(Self::Shape { what, got, expected }) }
    }

    /// Refuses the first value of a vector that is not allowed.
    pub(crate) fn check_values(
        what: &'static str,
        values: &[f64],
        allowed: &'static str,
        fits: impl Fn(f64) -> bool,
    ) -> Result<(), Self> {
        match values.iter().position(|&value| !fits(value)) {
            Some(row) => Err(Self::BadValue { what, row, value: values[row], allowed }),
            None => Ok(()),
        }
    }
}
