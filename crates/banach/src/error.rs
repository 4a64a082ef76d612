//! What can be wrong with an input. Not converging is not an error: see [`Status`](crate::Status).

use num_bigint::BigUint;
use thiserror::Error;

/// An input that can never work: what was got, what is allowed, and how to fix it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A table or vector without entries.
    #[error("{what} is empty; at least one entry is needed")]
    Empty {
        /// The name of the argument.
        what: &'static str,
    },
    /// Two arguments that should agree in length do not.
    #[error("{what} has length {got}, expected {expected}")]
    Shape {
        /// The name of the argument.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length that fits the other arguments.
        expected: usize,
    },
    /// An entry of a matrix that is NaN, infinite, or so large that products with it overflow.
    #[error(
        "{what}[{row}, {column}] = {value:e}; entries must be finite and at most {limit:e} in \
         magnitude: remove or impute the row, or rescale the column"
    )]
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
    #[error("{what}[{row}] = {value:e}; allowed: {allowed}")]
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
    #[error("{name} = {got}; allowed: {allowed}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// Its value, as given.
        got: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A sample at which a tensor kernel leaves the range of numbers.
    #[error(
        "{kernel} at sample {row} of {what}: t = sum_j x_1j ... x_qj reaches {sum:.4e}, and the largest allowed is {limit:.4e}; {advice}"
    )]
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
        /// What to change.
        advice: String,
    },
    /// More features than can be listed.
    #[error(
        "{kernel} in {inputs} variables has {cardinality} features, too many to list: lower the degree, or use a route \
         that does not list features"
    )]
    TooManyFeatures {
        /// The kernel with its parameters.
        kernel: String,
        /// The number of variables, d.
        inputs: usize,
        /// The number of features, card(K).
        cardinality: BigUint,
    },
    /// A kernel whose features cannot be listed.
    #[error(
        "{kernel} has infinitely many features: cut its degrees (a polynomial or a power series by coefficients), or use \
         a Gram tensor, which lists no features (q = 2, 4, 6 or 8)"
    )]
    InfinitelyManyFeatures {
        /// The kernel with its parameters.
        kernel: String,
    },
    /// Products of more different variables than there are.
    #[error(
        "{kernel} has products of {degree} different variables, and there are n_features = {inputs} columns: lower the degree to \
         {inputs} or less, or use a kernel with powers"
    )]
    TooFewColumns {
        /// The kernel with its parameters.
        kernel: String,
        /// Its highest degree.
        degree: usize,
        /// The number of variables, d.
        inputs: usize,
    },
    /// Labels without anything to tell apart.
    #[error("every label is {label}; a classifier needs at least two classes")]
    OneLabel {
        /// The label.
        label: i64,
    },
    /// A class whose samples all have weight 0.
    #[error("all samples with the label {label} have weight 0: leave them out, or give one of them a weight > 0")]
    AbsentLabel {
        /// The label.
        label: i64,
    },
    /// No route to `Q` that may be taken.
    #[error("{}", no_route(refused, admissible))]
    NoRoute {
        /// The routes that were asked for, each with what keeps it from being taken.
        refused: Vec<(&'static str, Error)>,
        /// Those that were not asked for and could be taken.
        admissible: Vec<&'static str>,
    },
    /// A sparse matrix whose index arrays contradict each other.
    #[error("sparse matrix: {problem} (column {column})")]
    SparseStructure {
        /// What is wrong.
        problem: &'static str,
        /// The column where it shows.
        column: usize,
    },
    /// Weights that leave no sample.
    #[error(
        "no sample counts: the largest of the {samples} weights is {largest:e}, and its product with gamma = {gamma:e} is \
         0; give at least one sample a larger weight"
    )]
    NoWeight {
        /// The number of samples.
        samples: usize,
        /// The largest weight.
        largest: f64,
        /// The gamma of the problem.
        gamma: f64,
    },
    /// The objective is not a finite number even for the zero model.
    #[error(
        "the objective at w = 0 is {value:e}, which overflows: rescale y (or reduce gamma); the model \
         for c*y is c times the model for y when gamma is changed by c^(p-2) for the squared loss"
    )]
    Overflow {
        /// The sum of `gamma_i L(y_i, 0)`.
        value: f64,
    },
    /// The objective is too small a number even for the zero model.
    #[error("the objective at w = 0 is {value:e}, which underflows: rescale y (or raise gamma)")]
    Underflow {
        /// The sum of `gamma_i L(y_i, 0)`.
        value: f64,
    },
    /// A loss that decreases without end as the intercept grows, because all labels are equal.
    #[error(
        "the {loss} loss with an intercept needs samples of both classes, and all {samples} of positive weight have the \
         label {label}: add samples of the other class, or fit without an intercept"
    )]
    OneClass {
        /// The loss.
        loss: &'static str,
        /// The only label.
        label: f64,
        /// The number of samples of positive weight.
        samples: usize,
    },
    /// A dual vector of a problem with an intercept whose entries do not sum to zero.
    #[error("{what} sums to {sum:e}; with an intercept it must sum to 0: subtract the mean of its entries")]
    Unbalanced {
        /// The name of the vector.
        what: &'static str,
        /// The sum of its entries.
        sum: f64,
    },
    /// No starting point can be represented.
    #[error(
        "the start on the ray t a, with a_i = gamma_i y_i or what an intercept makes of it, has t = {t:e}, which underflows: rescale X or give alpha_0"
    )]
    NoStart {
        /// The best point of the ray.
        t: f64,
    },
    /// The data ask for a gamma that is not a number.
    #[error("the gamma that fits the scale of the data is 1e{log10:.0}, out of range: rescale X or y")]
    GammaRange {
        /// Its decimal logarithm.
        log10: f64,
    },
    /// A number of folds that cannot be.
    #[error("{folds} folds of {samples} samples; allowed: at least 2, at most one per sample")]
    FoldCount {
        /// The number of folds.
        folds: usize,
        /// The number of samples.
        samples: usize,
    },
    /// A fold that holds out nothing or everything.
    #[error("fold {fold} holds out {held_out} samples and leaves {left}; both must be at least 1")]
    FoldSize {
        /// The fold.
        fold: usize,
        /// The samples it holds out.
        held_out: usize,
        /// The samples it leaves.
        left: usize,
    },
    /// A fold with a sample that does not exist or is there twice.
    #[error("fold {fold} names sample {sample}; allowed: each number below {samples} at most once")]
    FoldSample {
        /// The fold.
        fold: usize,
        /// The sample it names.
        sample: usize,
        /// The number of samples.
        samples: usize,
    },
    /// A fold whose fit would see one class only.
    #[error(
        "fold {fold} leaves {samples} samples to fit to, all with the label {label}, from which no class can be told from \
         another: use stratified folds, or fewer"
    )]
    FoldClass {
        /// The fold.
        fold: usize,
        /// The label that is left.
        label: f64,
        /// The number of samples that are left, of positive weight.
        samples: usize,
    },
    /// Folds without a sample whose prediction counts.
    #[error(
        "all {samples} samples that the folds hold out have weight 0, so that nothing would be scored: hold out samples of \
         positive weight"
    )]
    HeldOutWeight {
        /// The number of samples that are held out.
        samples: usize,
    },
    /// A fold whose fit would see no sample.
    #[error("fold {fold} leaves only samples of weight 0 to fit to: use fewer folds, or other weights")]
    FoldWeight {
        /// The fold.
        fold: usize,
    },
    /// A kernel whose values are too small to be told from zero.
    #[error(
        "{kernel} at sample {row} of {what}, whose largest entry is {size:e}, underflows: multiply the columns by \
         a larger number (standardise them)"
    )]
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
    #[error(
        "{what} needs {} and {} are allowed: {instead}, or raise the limit if the machine has more memory",
        bytes(*needed), bytes(*allowed)
    )]
    Memory {
        /// What was to be stored.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// What else would work.
        instead: &'static str,
    },
    /// Threads that the operating system does not give.
    #[error("{} threads cannot be started ({reason}): ask for fewer", threads.map_or("the".to_owned(), |threads| threads.to_string()))]
    Threads {
        /// The number that was asked for; `None` for one per core.
        threads: Option<std::num::NonZero<usize>>,
        /// What the system says.
        reason: String,
    },
    /// A loss that a solver cannot handle.
    #[error("the {solver} solver does not handle the {loss} loss; allowed: {allowed}")]
    Unsupported {
        /// The solver.
        solver: &'static str,
        /// The loss.
        loss: &'static str,
        /// What it can handle.
        allowed: &'static str,
    },
}

fn no_route(refused: &[(&'static str, Error)], admissible: &[&'static str]) -> String {
    let mut lines = vec!["no route can be taken:".to_owned()];
    lines.extend(refused.iter().map(|(route, reason)| format!("{route}: {reason}")));
    if !admissible.is_empty() {
        lines.push(format!("allowed here: {}", admissible.join(", ")));
    }
    lines.join("\n  ")
}

/// Bytes for people to read, and exactly.
fn bytes(count: u64) -> String {
    let words = bytes_in_words(count);
    if count == u64::MAX || words.ends_with("bytes") { words } else { format!("{words} ({count} bytes)") }
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
    pub(crate) fn parameter(name: &'static str, got: f64, allowed: &'static str) -> Self {
        Self::Parameter { name, got: got.to_string(), allowed }
    }
}
