//! `Q` around a point: what one pass leaves for a second-order step.

use super::Evaluation;

/// `Q` at one dual vector, with what its route needs to give the Hessian there, or the line to another such point, without
/// another pass over the data. Only the form that made it can read it.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// `Q`, `omega` and their rounding.
    pub evaluation: Evaluation,
    /// The route's own numbers: `u` divided by a power of two, or M.
    pub(crate) kept: Vec<f64>,
    /// That power of two.
    pub(crate) exponent: f64,
    /// The degree of homogeneity of `kept` in alpha.
    pub(crate) degree: f64,
}

impl Expansion {
    /// Moves from alpha to `t alpha`, `t > 0`, for nothing: `Q` is homogeneous of degree q.
    pub(crate) fn stretch(&mut self, t: f64, q: f64) {
        let Evaluation { values, ln_values, omegas, roundings, .. } = &mut self.evaluation;
        let multiply = |numbers: &mut [f64], power: f64| {
            let factor = t.powf(power);
            numbers.iter_mut().for_each(|number| *number *= factor);
        };
        multiply(values, q);
        ln_values.iter_mut().for_each(|ln_value| *ln_value += q * t.ln());
        multiply(omegas, q - 1.0);
        multiply(roundings, q - 1.0);
        multiply(&mut self.kept, self.degree);
    }
}

/// The Hessian of Q, or a model of it, as an n x n matrix `A` plus a multiple of the identity.
#[derive(Debug, Clone)]
pub struct Hessian {
    /// The part that is known entry by entry.
    pub main: HessianPart,
    /// The multiple of the identity that stands for the features that were left out.
    pub tail: f64,
    /// Their share of the trace.
    pub tail_share: f64,
    /// The features that were kept, where features are listed.
    pub(crate) columns: Vec<usize>,
}

impl Hessian {
    /// The Hessian itself.
    pub(crate) fn exact(main: HessianPart) -> Self {
        Self { main, tail: 0.0, tail_share: 0.0, columns: Vec::new() }
    }
}

/// Beyond this many rows a matrix is not formed: it would take longer to factorise than many passes.
pub(crate) const MOST_DENSE: usize = 4096;

/// A positive semidefinite matrix.
#[derive(Debug, Clone)]
pub enum HessianPart {
    /// Its n x n entries; only those on and below the diagonal need be read.
    Dense(Vec<f64>),
    /// `C C'` for an n x k matrix C, column by column.
    Factor(Vec<f64>),
}
