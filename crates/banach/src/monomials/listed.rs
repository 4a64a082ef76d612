//! A few monomials, one by one.

use rayon::prelude::*;

use super::Monomials;
use crate::numeric::dot;

/// Monomials that one task handles: enough to hide its start.
const PIECE: usize = 512;

/// Some monomials by their numbers, as columns.
pub(crate) struct ListedMonomials<'m, 'a> {
    pub(crate) monomials: &'m Monomials<'a>,
    variables: Vec<Vec<u32>>,
}

impl<'m, 'a> ListedMonomials<'m, 'a> {
    pub(crate) fn new(monomials: &'m Monomials<'a>, indices: &[u64]) -> Self {
        Self { monomials, variables: indices.iter().map(|&index| monomials.variables(index)).collect() }
    }

    /// The variables of one monomial.
    pub(crate) fn variables(&self, column: usize) -> &[u32] {
        &self.variables[column]
    }

    /// The products of all these monomials with a vector.
    pub(crate) fn products(&self, vector: &[f64], out: &mut [f64]) {
        self.variables.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE)).for_each(|(variables, out)| {
            let mut column = vec![0.0; vector.len()];
            for (variables, out) in variables.iter().zip(out) {
                self.monomials.column_into(variables, &mut column);
                *out = dot(&column, vector);
            }
        });
    }
}
