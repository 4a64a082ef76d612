//! What an error says, in the words of any door.

use std::fmt;

use super::{Error, Parameter, Plain, Remedy, Words, bytes_in_words, counted};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Plain))
    }
}

impl Error {
    /// What was got, what is allowed, and how to fix it.
    ///
    /// ```
    /// use banach::{Spec, error::{Parameter, Words}};
    ///
    /// struct Flags;
    ///
    /// impl Words for Flags {
    ///     fn name(&self, parameter: Parameter) -> &'static str {
    ///         if parameter == Parameter::Gamma { "--gamma" } else { parameter.name() }
    ///     }
    ///     fn choice(&self, parameter: Parameter, value: &str) -> String {
    ///         format!("{} {value}", self.name(parameter))
    ///     }
    /// }
    ///
    /// let error = banach::Fit::new(&Spec { gamma: 0.0, ..Spec::default() }).unwrap_err();
    /// assert_eq!(error.to_string(), "gamma = 0; allowed: a finite number > 0");
    /// assert_eq!(error.render(&Flags), "--gamma = 0; allowed: a finite number > 0");
    /// ```
    #[expect(clippy::too_many_lines, reason = "a message for every variant")]
    pub fn render(&self, words: &dyn Words) -> String {
        let name = |parameter| words.name(parameter);
        match self {
            Self::Empty { what } => format!("{what} is empty; at least one entry is needed"),
            Self::Shape { what, got, expected } => format!("{what} has length {got}, expected {expected}"),
            Self::BadEntry { what, row, column, value, limit } => format!(
                "{what}[{row}, {column}] = {value:e}; entries must be finite and at most {limit:e} in magnitude: remove \
                 or impute the row, or rescale the column"
            ),
            Self::CoefficientRange { column, size } => format!(
                "column {column} of X has values up to {size:.1e} in magnitude, so that the coefficient of a term with it is \
                 outside the range of numbers: measure it in a unit in which they are about 1"
            ),
            Self::BadValue { what, row, value, allowed } => format!("{what}[{row}] = {value:e}; allowed: {allowed}"),
            Self::Parameter { parameter, got, allowed } => format!("{} = {got}; allowed: {allowed}", name(*parameter)),
            Self::StepLimit { lambda_bar, limit } => format!(
                "{} = {lambda_bar}; allowed: numbers > 0 below {limit}, the limit of Algorithm 2.1 for this {} and this \
                 {}; without a value it is 99 % of that limit",
                name(Parameter::LambdaBar),
                name(Parameter::Gamma),
                name(Parameter::Delta),
            ),
            Self::KernelRange { kernel, what, row, sum, limit, scale, normalize } => format!(
                "{kernel} at sample {row} of {what}: t = sum_j x_1j ... x_qj reaches {sum:.4e}, and the largest allowed \
                 is {limit:.4e}; {}",
                into_range(*sum, *scale, *normalize, words)
            ),
            Self::TooManyFeatures { kernel, inputs, cardinality } => format!(
                "{kernel} in {} has {cardinality} features, too many to list: {}, or use a {} that does \
                 not list features",
                counted(inputs, "variable", "variables"),
                Remedy::Lower(Parameter::Degree).text(words),
                name(Parameter::Route),
            ),
            Self::InfinitelyManyFeatures { kernel } => format!(
                "{kernel} has infinitely many features: cut its degrees ({}), or {}, which lists no features (q = 2, 4, 6 or 8, and \
                 {})",
                name(Parameter::Degree),
                Remedy::Choose(Parameter::Route, "gram").text(words),
                words.choice(Parameter::Monomials, "raw")
            ),
            Self::TooFewColumns { kernel, degree, inputs } => format!(
                "{kernel} has products of {degree} different variables, and {} = {inputs}: {} to {inputs} or less, or \
                 use a kernel with powers",
                name(Parameter::Columns),
                Remedy::Lower(Parameter::Degree).text(words),
            ),
            Self::OneLabel { label } => format!("every label is {label}; a classifier needs at least two classes"),
            Self::AbsentLabel { label } => format!(
                "all samples with the label {label} have weight 0: leave them out, or give one of them a weight > 0"
            ),
            Self::NoRoute { refused, admissible } => no_route(refused, admissible, words),
            Self::SparseStructure { problem, column } => format!("sparse matrix: {problem} (column {column})"),
            Self::NoWeight { samples, largest, gamma } => format!(
                "no sample counts: the largest of the {samples} weights is {largest:e}, and its product with {} = \
                 {gamma:e} is 0; give at least one sample a larger weight",
                name(Parameter::Gamma)
            ),
            Self::Overflow { value } => format!(
                "the objective at w = 0 is {value:e}, which overflows: rescale y (or reduce {gamma}); the model for c*y \
                 is c times the model for y when {gamma} is changed by c^(p-2) for the squared loss",
                gamma = name(Parameter::Gamma)
            ),
            Self::Underflow { value } => {
                // What is 0 stays 0 for every gamma.
                let raise =
                    if *value > 0.0 { format!(" (or raise {})", name(Parameter::Gamma)) } else { String::new() };
                format!(
                    "the objective at w = 0 is {value:e}, which underflows: multiply y by a number that brings its values near \
                     1{raise}; the model for c*y is c times the model for y"
                )
            }
            Self::OneClass { loss, label, samples } => format!(
                "the {loss} loss with an intercept needs samples of both classes, and all {samples} of positive weight \
                 have the label {label}: add samples of the other class, or fit without an intercept ({})",
                name(Parameter::FitIntercept)
            ),
            Self::NoCounts { fold, samples } => {
                let without = fold.map_or(String::new(), |fold| format!("without fold {fold} "));
                format!(
                    "{without}all {samples} counts of positive weight are 0, and no mean but 0 fits them best: add samples with counts \
                     above 0{}, or fit without an intercept ({})",
                    if fold.is_some() { " or take fewer folds" } else { "" },
                    name(Parameter::FitIntercept)
                )
            }
            Self::Unbalanced { what, sum } => {
                format!("{what} sums to {sum:e}; with an intercept it must sum to 0: subtract the mean of its entries")
            }
            Self::NoStart { t } => {
                format!(
                    "the start, a multiple of the weighted targets, has the factor {t:e}, which underflows: rescale X"
                )
            }
            Self::GammaRange { log10 } => format!(
                "the {} that fits the scale of the data is 1e{log10:.0}, out of range: rescale X or y",
                name(Parameter::Gamma)
            ),
            Self::FoldCount { folds, samples } if *samples < 2 => format!(
                "{} = {folds}; folds need two samples or more, and there is {samples} sample",
                name(Parameter::Folds)
            ),
            Self::FoldCount { folds, samples } => format!(
                "{} = {folds}; allowed: a whole number from 2 to {samples}, at most one fold for every sample",
                name(Parameter::Folds)
            ),
            Self::FoldSize { fold, held_out, left } => {
                let held_out = counted(held_out, "sample", "samples");
                format!("fold {fold} holds out {held_out} and leaves {left}; both must be at least 1")
            }
            Self::FoldSample { fold, sample, samples } => {
                format!("fold {fold} names sample {sample}; allowed: each number below {samples} at most once")
            }
            Self::FoldClass { fold, label, samples } => format!(
                "fold {fold} leaves {} to fit to, with the label {label} alone, from which no class can be \
                 told from another: use stratified folds, or fewer",
                counted(samples, "sample", "samples")
            ),
            Self::HeldOutWeight { samples } => format!(
                "all {samples} samples that the folds hold out have weight 0, so that nothing would be scored: hold out \
                 samples of positive weight"
            ),
            Self::FoldWeight { fold } => {
                format!("fold {fold} leaves only samples of weight 0 to fit to: use fewer folds, or other weights")
            }
            Self::KernelUnderflow { kernel, what, row, size } => format!(
                "{kernel} at sample {row} of {what}, whose largest entry is {size:e}, underflows: multiply the columns \
                 by a larger number (standardise them)"
            ),
            Self::Memory { what, needed, allowed, instead } => format!(
                "{what} needs {} and {} are allowed: {}raise {} if the machine has more",
                bytes(*needed),
                bytes(*allowed),
                alternatives(instead, words),
                name(Parameter::MemoryLimit),
            ),
            Self::Threads { threads, reason } => format!(
                "{} threads cannot be started ({reason}): ask for fewer ({})",
                threads.map_or("the".to_owned(), |threads| threads.to_string()),
                name(Parameter::Threads),
            ),
            Self::NoIntervals { reason, .. } => format!("there are no intervals: {reason}"),
            Self::Unsupported { solver, loss, allowed } => {
                format!("the {solver} solver does not handle the {loss} loss; allowed: {allowed}")
            }
        }
    }
}

/// What to change so that a sample comes into the range of a kernel.
fn into_range(sum: f64, scale: Option<f64>, normalize: bool, words: &dyn Words) -> String {
    let rescale = "standardise the columns (or divide them by a larger number)".to_owned();
    if !sum.is_finite() {
        return format!("it overflows: {rescale}");
    }
    let scale = scale.map(|scale| format!("{} to {scale:e} or less", Remedy::Lower(Parameter::Scale).text(words)));
    let normalize = normalize.then(|| format!("normalise the kernel ({})", words.name(Parameter::NormalizeKernel)));
    scale.into_iter().chain([rescale]).chain(normalize).collect::<Vec<_>>().join(", or ")
}

fn no_route(refused: &[(&'static str, Error)], admissible: &[&'static str], words: &dyn Words) -> String {
    let mut lines = vec!["no route can be taken:".to_owned()];
    lines.extend(refused.iter().map(|(route, reason)| format!("{route}: {}", reason.render(words))));
    if !admissible.is_empty() {
        lines.push(format!("allowed here: {}", admissible.join(", ")));
    }
    lines.join("\n  ")
}

/// The remedies before the last one.
fn alternatives(remedies: &[Remedy], words: &dyn Words) -> String {
    let texts: Vec<String> = remedies.iter().map(|remedy| remedy.text(words)).collect();
    if texts.is_empty() { String::new() } else { format!("{}, or ", texts.join(", ")) }
}

/// Bytes for people to read, and exactly.
fn bytes(count: u64) -> String {
    let words = bytes_in_words(count);
    if count == u64::MAX || words.ends_with("bytes") { words } else { format!("{words} ({count} bytes)") }
}
