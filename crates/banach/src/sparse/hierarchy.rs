//! Supports that have the factors of their products.

use super::{Dictionary, Hierarchy};

/// Lines of parents of a term that are tried, at most: all for products of four variables.
const MOST_LINES: usize = 24;

impl Dictionary<'_> {
    /// What is left of a monomial without one of its variables, as far as it is in the dictionary. The constant is no parent.
    pub(crate) fn parents(&self, number: u64) -> Vec<u64> {
        let variables = self.variables(number);
        if variables.len() < 2 {
            return Vec::new();
        }
        let without = |at: usize| {
            let mut rest = variables.clone();
            rest.remove(at);
            self.number(&rest)
        };
        // Of equal variables the first.
        let first = |at: &usize| *at == 0 || variables[at - 1] != variables[*at];
        (0..variables.len()).filter(first).filter_map(without).collect()
    }

    /// The products of a monomial with one more variable, as far as they are in the dictionary.
    fn children(&self, number: u64) -> Vec<u64> {
        let variables = self.variables(number);
        let with = |variable: usize| {
            let mut more = variables.clone();
            more.insert(more.partition_point(|other| *other <= variable), variable);
            self.number(&more)
        };
        (0..self.inputs()).filter_map(with).collect()
    }
}

impl Hierarchy {
    /// Whether a term may stand in a support.
    fn allows_term(self, dictionary: &Dictionary<'_>, support: &[u64], number: u64) -> bool {
        let parents = || dictionary.parents(number);
        match self {
            Self::None => true,
            Self::Weak => {
                let parents = parents();
                parents.is_empty() || parents.iter().any(|parent| support.contains(parent))
            }
            Self::Strong => parents().iter().all(|parent| support.contains(parent)),
        }
    }

    /// Whether a support is allowed.
    pub(crate) fn allows(self, dictionary: &Dictionary<'_>, support: &[u64]) -> bool {
        support.iter().all(|&number| self.allows_term(dictionary, support, number))
    }

    /// The terms with which a support is allowed, in increasing order; `None` for all.
    ///
    /// A term that can be named has no parents or has one in the support, so that products of the support with one variable are all that there
    /// are.
    pub(crate) fn additions(self, dictionary: &Dictionary<'_>, support: &[u64]) -> Option<Vec<u64>> {
        if self == Self::None {
            return None;
        }
        let mut candidates = dictionary.without_parents();
        support.iter().for_each(|&number| candidates.extend(dictionary.children(number)));
        candidates.sort_unstable();
        candidates.dedup();
        let allowed = |number: &u64| {
            let more = [support, &[*number]].concat();
            !support.contains(number) && self.allows(dictionary, &more)
        };
        candidates.retain(allowed);
        Some(candidates)
    }

    /// The least supports that are allowed and hold a term besides those of a support: with all that it stands on, or, where one parent is
    /// enough, with each of its lines of parents.
    pub(crate) fn closures(self, dictionary: &Dictionary<'_>, support: &[u64], number: u64) -> Vec<Vec<u64>> {
        if support.contains(&number) {
            return vec![support.to_vec()];
        }
        let parents = dictionary.parents(number);
        let with = |mut below: Vec<u64>| {
            below.push(number);
            below
        };
        match self {
            Self::None => vec![with(support.to_vec())],
            Self::Weak if parents.is_empty() || parents.iter().any(|parent| support.contains(parent)) => {
                vec![with(support.to_vec())]
            }
            Self::Weak => {
                let lines = parents.iter().flat_map(|&parent| self.closures(dictionary, support, parent));
                lines.take(MOST_LINES).map(with).collect()
            }
            Self::Strong => {
                let below = |support: Vec<u64>, parent: &u64| self.closures(dictionary, &support, *parent).remove(0);
                vec![with(parents.iter().fold(support.to_vec(), below))]
            }
        }
    }
}
