//! `Q` around a point: what one pass leaves for a second-order step.

use super::{Evaluation, InPlace, tiles::Heaviest};
use crate::{data::Scratch, numeric::dot};

/// `Q` at one dual vector, with what its route needs to give the Hessian there, or the line to another such point, without
/// another pass over the data. Only the form that made it can read it.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// `Q`, `omega` and their rounding.
    pub evaluation: Evaluation,
    /// What the route keeps besides.
    pub(crate) kept: Kept,
}

/// A dual vector with the expansion there.
pub type Expanded<'a> = (&'a [f64], &'a Expansion);

/// What a route keeps of a pass.
#[derive(Debug, Clone, Default)]
pub(crate) enum Kept {
    /// Nothing but the value and omega.
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

    /// Moves from alpha to `t alpha`, `t > 0`, without a pass: `Q` is homogeneous of degree q.
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
                heaviest.left_out.iter_mut().for_each(|one| one.u *= t);
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
    /// The share of the trace on the features that were left out.
    pub tail_share: f64,
    /// The numbers of the features that were kept, where features have numbers. A Hessian may serve at other points too.
    pub(crate) columns: Vec<usize>,
}

impl Hessian {
    /// The Hessian itself.
    pub(crate) fn exact(main: HessianPart) -> Self {
        Self { main, tail: 0.0, tail_share: 0.0, columns: Vec::new() }
    }

    /// Gives its memory to those who come next.
    pub(crate) fn end(self, scratch: &mut Scratch) {
        if let HessianPart::Dense(entries) | HessianPart::Factor(entries) = self.main {
            scratch.spare.give(entries);
        }
    }

    /// The update of Broyden, Fletcher, Goldfarb and Shanno: makes this a positive model that maps s to y. A model that is not known
    /// entry by entry, or is not positive along s, stays as it is.
    pub(crate) fn correct(&mut self, s: &[f64], y: &[f64]) {
        let HessianPart::Dense(main) = &mut self.main else { return };
        let n = s.len();
        let mut image: Vec<f64> = s.iter().map(|s| self.tail * s).collect();
        for j in 0..n {
            for i in j..n {
                let a = main[j * n + i];
                image[i] += a * s[j];
                if i > j {
                    image[j] += a * s[i];
                }
            }
        }
        let (expected, found) = (dot(s, y), dot(s, &image));
        if !(expected.is_normal() && expected > 0.0 && found.is_normal() && found > 0.0) {
            return;
        }
        for j in 0..n {
            let (a, b) = (y[j] / expected, image[j] / found);
            for i in j..n {
                main[j * n + i] += a * y[i] - b * image[i];
            }
        }
    }
}

/// Beyond this many rows a matrix is not formed. To factorise one of 4096 rows takes 2e10 operations, as much as many passes.
pub(crate) const MOST_DENSE: usize = 4096;

/// Listed features of which there are more than this, over more samples than this, are read where they are stored. A formed matrix of n
/// rows takes about n^2 k operations for k features, conjugate gradients a multiple of n k for each of their steps, so that n alone decides.
/// At 1000 x 1000 and 1500 x 1500 those took 1/60 to 2/3 of the time of formed ones, the last of these where gamma is so large that steps
/// are many (docs/solvers.md).
const MOST_FORMED: usize = 1024;

/// Whether the Hessian of listed features is made of these where they are stored: both sides are large.
pub(crate) fn is_in_place(samples: usize, features: usize) -> bool {
    samples.min(features) > MOST_FORMED
}

/// A positive semidefinite matrix.
#[derive(Debug, Clone)]
pub enum HessianPart {
    /// Its n x n entries; only those on and below the diagonal need be read.
    Dense(Vec<f64>),
    /// `C C'` for an n x k matrix C, column by column.
    Factor(Vec<f64>),
    /// `C C'` where the columns of C are kept features times numbers. The features are read where they are stored.
    InPlace(InPlace),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_model_maps_the_step_to_its_image_and_stays_positive() {
        let n = 3;
        // A positive matrix below its diagonal; the rest is never read.
        let main = vec![2.0, 0.5, -0.3, f64::NAN, 1.0, 0.2, f64::NAN, f64::NAN, 0.7];
        let mut model = Hessian { tail: 0.4, tail_share: 0.5, ..Hessian::exact(HessianPart::Dense(main)) };
        let (s, y) = ([1.0, -0.5, 2.0], [0.3, 0.1, 1.5]);
        model.correct(&s, &y);
        let HessianPart::Dense(main) = &model.main else { unreachable!() };
        let entry = |i: usize, j: usize| main[i.min(j) * n + i.max(j)] + if i == j { model.tail } else { 0.0 };
        for (i, y) in y.iter().enumerate() {
            let image: f64 = s.iter().enumerate().map(|(j, s)| entry(i, j) * s).sum();
            assert!((image - y).abs() < 1e-14, "{image} {y}");
        }
        let minor = entry(0, 0) * entry(1, 1) - entry(0, 1) * entry(0, 1);
        let determinant = entry(2, 2) * minor - entry(1, 2) * (entry(0, 0) * entry(1, 2) - entry(0, 1) * entry(0, 2))
            + entry(0, 2) * (entry(0, 1) * entry(1, 2) - entry(1, 1) * entry(0, 2));
        assert!(entry(0, 0) > 0.0 && minor > 0.0 && determinant > 0.0);
        let before = main.iter().map(|entry| entry.to_bits()).collect::<Vec<_>>();
        model.correct(&s, &[-1.0, 0.0, 0.0]);
        model.correct(&[0.0; 3], &[0.0; 3]);
        let HessianPart::Dense(main) = &model.main else { unreachable!() };
        assert_eq!(before, main.iter().map(|entry| entry.to_bits()).collect::<Vec<_>>());
    }
}
