//! Which of two ways to read a fitted function takes less.

use super::tensor_entries;

/// Nanoseconds for the share of a feature: for each sample, and once. Measured beside [`NANOSECONDS_PER_ENTRY_AND_VARIABLE`] on a
/// busy machine: only their ratio counts.
const NANOSECONDS_PER_FEATURE_AND_SAMPLE: f64 = 0.1;
const NANOSECONDS_PER_FEATURE: f64 = 5.0;
/// Nanoseconds for an entry of the tensor and each variable.
const NANOSECONDS_PER_ENTRY_AND_VARIABLE: f64 = 12.0;
/// Features are read even if they take this many times as long: sums over them keep more digits than sums over a tensor. The number is
/// a judgement, not a measurement.
const WORTH_OF_FEATURES: f64 = 20.0;

/// Whether to find shares from the features, given their number, rather than from the tensor.
pub(crate) fn reads_features(features: f64, samples: usize, inputs: usize, order: usize) -> bool {
    let listing = features * (NANOSECONDS_PER_FEATURE_AND_SAMPLE * samples as f64 + NANOSECONDS_PER_FEATURE);
    let reading = tensor_entries(samples, order) * NANOSECONDS_PER_ENTRY_AND_VARIABLE * inputs as f64;
    listing <= WORTH_OF_FEATURES * reading
}

/// Up to this many monomials, a search in the order of their bounds takes less time than a pass over all of them.
const MOST_BY_SEARCH: f64 = 100_000.0;
/// Up to this many monomials, `2^36`, a pass takes minutes: it goes through about 1e9 per second and core. More are searched.
const MOST_BY_PASS: f64 = 68_719_476_736.0;

/// Whether the largest monomials are found by a pass over all of them, given their number, rather than by a search.
pub(crate) fn passes_over_monomials(features: f64) -> bool {
    features > MOST_BY_SEARCH && features <= MOST_BY_PASS
}

/// Entries of a feature matrix or a tensor that can be looked at in a fraction of a second: about 1e9 per second.
const ENTRIES_OF_A_MOMENT: f64 = 3e7;

/// Whether a function can be evaluated at its own samples in a fraction of a second, given the number of entries: of the feature
/// matrix, or of the tensor times the number of inputs.
pub(crate) fn evaluates_soon(entries: f64) -> bool {
    entries <= ENTRIES_OF_A_MOMENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_can_go_either_way() {
        assert!(reads_features(1e5, 100, 50, 4) && !reads_features(1e15, 10, 50, 4));
        assert!(!passes_over_monomials(1e5) && passes_over_monomials(1e6) && !passes_over_monomials(1e11));
        assert!(evaluates_soon(1e6) && !evaluates_soon(1e9));
    }
}
