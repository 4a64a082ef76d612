//! Which of two ways to read a fitted function takes less.

use super::tensor_entries;

/// Nanoseconds that the share of a feature takes, per sample and by itself, and that of an entry of the tensor, per variable,
/// measured beside each other on a busy machine: only their ratio counts.
const FEATURE_PER_SAMPLE: f64 = 0.1;
const FEATURE: f64 = 5.0;
const ENTRY_PER_VARIABLE: f64 = 12.0;
/// Sums over features keep more digits than those over a tensor: they are worth this factor.
const WORTH_OF_FEATURES: f64 = 20.0;

/// Whether to find shares by going through so many features rather than through the tensor.
pub(crate) fn reads_features(features: f64, samples: usize, inputs: usize, order: usize) -> bool {
    let listing = features * (FEATURE_PER_SAMPLE * samples as f64 + FEATURE);
    let reading = tensor_entries(samples, order) * ENTRY_PER_VARIABLE * inputs as f64;
    listing <= WORTH_OF_FEATURES * reading
}

/// Up to so many monomials, a search in the order of their bounds takes less time than a pass over all of them.
const MOST_BY_SEARCH: f64 = 100_000.0;
/// So many monomials, `2^36`, a pass goes through in minutes, 1e9 per second and core or so; more are searched.
const MOST_BY_PASS: f64 = 68_719_476_736.0;

/// Whether the largest of so many monomials are found by a pass over all of them rather than by a search.
pub(crate) fn passes_over_monomials(features: f64) -> bool {
    features > MOST_BY_SEARCH && features <= MOST_BY_PASS
}

/// Entries of a feature matrix or a tensor that are looked at in a fraction of a second.
const ENTRIES_OF_A_MOMENT: f64 = 3e7;

/// Whether a function is soon evaluated at its own samples from so many features, or entries of a tensor times the inputs of
/// each.
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
