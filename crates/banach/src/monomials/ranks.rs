//! Numbers of monomials, and their place among all monomials of their degree in the order of a dictionary.

use super::degrees::Degree;

/// The number of ways to choose `size` of `inputs` variables, with repetition unless they are distinct; `None` beyond 2^64.
pub(super) fn ways(inputs: usize, size: usize, distinct: bool) -> Option<u64> {
    if size == 0 {
        return Some(1);
    }
    if inputs == 0 || distinct && size > inputs {
        return Some(0);
    }
    // C(d, s), or C(d+s-1, s) with repetition.
    let first = if distinct { inputs - size } else { inputs - 1 } as u128;
    let mut ways: u128 = 1;
    for i in 1..=size as u128 {
        ways = ways.checked_mul(first + i)? / i;
        if ways > u128::from(u64::MAX) {
            return None;
        }
    }
    u64::try_from(ways).ok()
}

/// As [`ways`], where it was found to be in range.
fn known_ways(inputs: usize, size: usize, distinct: bool) -> u64 {
    match (size, inputs as u64, distinct) {
        (0, _, _) => 1,
        (1, d, _) => d,
        (2, d, false) => d * (d + 1) / 2,
        (2, d, true) => d * d.saturating_sub(1) / 2,
        _ => ways(inputs, size, distinct).expect("fewer than all monomials, which were counted"),
    }
}

/// The number of monomials of all degrees, the last of which is known to be in range.
pub(super) fn count(inputs: usize, degrees: &[Degree]) -> u64 {
    degrees.last().map_or(0, |last| last.first + known_ways(inputs, last.degree, last.distinct))
}

/// The place of some leading variables of a product of `size` of `inputs` variables: how many products come before the
/// first that begins with them.
pub(super) fn place(inputs: usize, size: usize, distinct: bool, variables: &[usize]) -> u64 {
    let mut first = 0;
    let mut before = 0;
    for (taken, &variable) in variables.iter().enumerate() {
        // Those whose next variable is at least `first`, less those in which it is at least `variable`.
        let rest = size - taken;
        before += known_ways(inputs - first, rest, distinct) - known_ways(inputs - variable, rest, distinct);
        first = variable + usize::from(distinct);
    }
    before
}

/// The variables of the product at a place.
pub(super) fn variables(inputs: usize, distinct: bool, mut place: u64, variables: &mut [u32]) {
    let (mut first, size) = (0, variables.len());
    for (taken, variable) in variables.iter_mut().enumerate() {
        let rest = size - taken;
        let all = known_ways(inputs - first, rest, distinct);
        let before = |variable: usize| all - known_ways(inputs - variable, rest, distinct);
        let (mut low, mut high) = (first, inputs);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if before(middle) <= place { low = middle } else { high = middle }
        }
        place -= before(low);
        *variable = low as u32;
        first = low + usize::from(distinct);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Anova, FeatureMap, Polynomial, TensorKernel};

    #[test]
    fn places_are_those_of_the_feature_map() {
        for inputs in [1, 2, 3, 7] {
            for size in 1..5 {
                let all = Polynomial::new(size, 1.0, 0.0).expect("valid");
                let some = Anova::new(size, size).expect("valid");
                for (kernel, distinct) in [(&all as &dyn TensorKernel, false), (&some, true)] {
                    let count = ways(inputs, size, distinct).expect("small");
                    assert_eq!(Some(count.into()), crate::kernel::cardinality(kernel, inputs));
                    let exponent = crate::Exponent::new(1.5).expect("inside");
                    let Ok(map) = FeatureMap::new(kernel, inputs, exponent, None) else { continue };
                    for at in 0..count {
                        let factors = map.monomial(at as usize).expect("listed").factors().to_vec();
                        let listed: Vec<usize> =
                            factors.iter().flat_map(|&(variable, times)| vec![variable; times]).collect();
                        assert_eq!(place(inputs, size, distinct, &listed), at);
                        let mut found = vec![0; size];
                        variables(inputs, distinct, at, &mut found);
                        assert!(found.iter().zip(&listed).all(|(found, listed)| *found as usize == *listed));
                    }
                }
            }
        }
        assert_eq!(ways(10_000, 2, false), Some(50_005_000));
        assert_eq!(ways(usize::MAX / 2, 2, false), None);
        assert_eq!((ways(3, 4, true), ways(0, 0, true)), (Some(0), Some(1)));
    }
}
