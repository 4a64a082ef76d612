//! `Q` around a point: what one pass leaves for a second-order step.

use super::{Evaluation, tiles::Heaviest};

/// `Q` at one dual vector, with what its route needs to give the Hessian there, or the line to another such point, without
/// another pass over the data. Only the form that made it can read it.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// `Q`, `omega` and their rounding.
    pub evaluation: Evaluation,
    /// What the route keeps besides.
    pub(crate) kept: Kept,
}

/// What a route keeps of a pass.
#[derive(Debug, Clone, Default)]
pub(crate) enum Kept {
    /// The value and omega are all.
    #[default]
    Nothing,
    /// `u` of every feature.
    Products(Products),
    /// M, which is homogeneous of degree q - 2 in alpha.
    Curvature(Vec<f64>),
    /// The monomials that carry the Hessian.
    Heaviest(Heaviest),
}

/// `u = Phi_n* alpha`, divided by `2^exponent`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Products {
    pub u: Vec<f64>,
    pub exponent: f64,
}

impl Expansion {
    /// The products of the features, to be written by a route that lists them.
    pub(super) fn products_mut(&mut self) -> &mut Products {
        if !matches!(self.kept, Kept::Products(_)) {
            self.kept = Kept::Products(Products::default());
        }
        match &mut self.kept {
            Kept::Products(products) => products,
            _ => unreachable!("set above"),
        }
    }

    /// The products of the features.
    pub(super) fn products(&self) -> &Products {
        match &self.kept {
            Kept::Products(products) => products,
            _ => panic!("an expansion is read by the form that made it"),
        }
    }

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
        match &mut self.kept {
            Kept::Nothing => {}
            Kept::Products(products) => multiply(&mut products.u, 1.0),
            Kept::Curvature(entries) => multiply(entries, q - 2.0),
            Kept::Heaviest(heaviest) => {
                multiply(&mut heaviest.u, 1.0);
                multiply(&mut heaviest.left_out, 1.0);
            }
        }
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
    /// The numbers of the features that were kept, where features have numbers. A Hessian may serve at other points too.
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
