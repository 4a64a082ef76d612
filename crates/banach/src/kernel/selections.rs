//! All ways to choose s of d variables, in the order of a dictionary.

use num_bigint::BigUint;

/// One choice of variables in increasing order, with repetition unless they are `distinct`.
#[derive(Debug, Clone)]
pub(super) struct Selections {
    inputs: usize,
    distinct: bool,
    variables: Vec<usize>,
}

/// The number of ways.
pub(super) fn count(inputs: usize, size: usize, distinct: bool) -> BigUint {
    if distinct && size > inputs || inputs == 0 && size > 0 {
        return BigUint::ZERO;
    }
    // C(d, s), or C(d+s-1, s) with repetition.
    let first = if distinct { inputs - size } else { inputs.saturating_sub(1) };
    (1..=size).fold(BigUint::from(1_u32), |ways, i| ways * (first + i) / i)
}

impl Selections {
    /// The first choice; `None` if there is none.
    pub(super) fn new(inputs: usize, size: usize, distinct: bool) -> Option<Self> {
        let variables = if distinct { (0..size).collect() } else { vec![0; size] };
        (size == 0 || variables[size - 1] < inputs).then_some(Self { inputs, distinct, variables })
    }

    /// The present choice.
    pub(super) fn variables(&self) -> &[usize] {
        &self.variables
    }

    /// Moves to the next choice and returns the first place that changed; `None` after the last choice.
    pub(super) fn advance(&mut self) -> Option<usize> {
        let (size, step) = (self.variables.len(), usize::from(self.distinct));
        let place =
            (0..size).rev().find(|&place| self.variables[place] + step * (size - 1 - place) + 1 < self.inputs)?;
        let next = self.variables[place] + 1;
        for (offset, variable) in self.variables[place..].iter_mut().enumerate() {
            *variable = next + step * offset;
        }
        Some(place)
    }

    /// The choice with this index, which must be below [`count`].
    pub(super) fn nth(self, mut index: BigUint) -> Vec<usize> {
        let (mut variables, mut first) = (self.variables, 0);
        let step = usize::from(self.distinct);
        for place in 0..variables.len() {
            let rest = variables.len() - 1 - place;
            let mut variable = first;
            loop {
                let ways = count(self.inputs - variable - step, rest, self.distinct);
                if index < ways {
                    break;
                }
                index -= ways;
                variable += 1;
            }
            variables[place] = variable;
            first = variable + step;
        }
        variables
    }
}
