//! `Q` near an expanded point, as its heaviest features tell it.

use super::{
    Hessian,
    heaviest::{self, Columns},
};
use crate::{
    Exponent,
    data::{Scratch, stream},
    numeric::{dot, largest, raise, vectorised},
};

/// `Q` near a point `alpha_0`: exact for some features K, and a parabola for the others,
///
/// ```text
/// Q_K(alpha) + <omega(alpha_0) - omega_K(alpha_0), alpha> + (tail/2) ||alpha - alpha_0||^2
/// ```
///
/// up to a constant. At `alpha_0` its gradient is that of Q. A gradient costs `4 n card(K)` operations and no pass over the data.
#[derive(Debug)]
pub struct LocalModel {
    exponent: Exponent,
    /// `alpha_0`.
    origin: Vec<f64>,
    /// The values of the features of K, one after another, and the squares of their norms.
    columns: Vec<f64>,
    squares: Vec<f64>,
    /// Their `u` at the origin.
    start: Vec<f64>,
    /// `omega(alpha_0) - omega_K(alpha_0)`.
    rest: Vec<f64>,
    tail: f64,
    tail_share: f64,
}

/// A point with its products.
#[derive(Debug)]
pub(crate) struct LocalPoint {
    pub alpha: Vec<f64>,
    u: Vec<f64>,
}

/// A direction from a point.
pub(crate) struct LocalLine<'a> {
    model: &'a LocalModel,
    from: &'a LocalPoint,
    d: &'a [f64],
    /// `Phi_K' d`.
    along: Vec<f64>,
}

/// What a [`LocalModel`] is made from: a point, some features there, and what is left out.
pub(super) struct LocalSource<'a> {
    pub alpha: &'a [f64],
    pub omega: &'a [f64],
    /// The features, and their `u`.
    pub matrix: &'a dyn Columns,
    pub columns: &'a [usize],
    pub u: Vec<f64>,
    /// The trace of the Hessian on the features that are left out.
    pub left_out: f64,
}

/// Powers of u beyond this, or below its inverse, are left to passes, which keep the range of their numbers.
const WIDEST: f64 = 1e200;
/// The lightest features, with at most this share of the trace, are not read for second derivatives: a step leaves about this share of
/// the way, and the next one between passes costs less than they would.
const MOST_LIGHT: f64 = 1e-2;
/// How the size is found above which they are not light: it is divided by 4 until it fits.
const CUT: f64 = 0.25;
/// See [`CUT`]: after so many divisions all are read.
const MOST_CUTS: usize = 40;
/// Features whose weight is below this share of the largest are not read for a gradient, which is no certificate.
const LEAST_WEIGHT: f64 = 1e-13;

impl LocalModel {
    /// The model, if powers are in range and the features that are left out have at most the share `most_left_out` of the trace.
    pub(super) fn new(
        exponent: Exponent,
        near: LocalSource<'_>,
        most_left_out: f64,
        scratch: &mut Scratch,
    ) -> Option<Self> {
        let LocalSource { alpha, omega, matrix, columns, u, left_out } = near;
        let (n, q, size) = (alpha.len(), exponent.q(), largest(&u));
        let in_range = |power: f64| (1.0 / WIDEST..WIDEST).contains(&power);
        if !(size > 0.0 && in_range(size.powf(q)) && in_range(size.powf(q - 2.0))) {
            return None;
        }
        let mut values = scratch.spare.take(n * columns.len());
        columns.iter().zip(values.chunks_mut(n)).for_each(|(&column, out)| matrix.column_into(column, out));
        let mut squares = vec![0.0; columns.len()];
        stream::squares(n, &values, &mut squares);
        let (origin, rest, start) = (alpha.to_vec(), vec![0.0; n], u);
        let mut model = Self {
            exponent,
            origin,
            columns: values,
            squares,
            start,
            rest,
            tail: left_out / n as f64,
            tail_share: 0.0,
        };
        let (weights, power) = model.curvatures(&model.start);
        let kept = power * dot(&weights, &model.squares);
        model.tail_share = left_out / (left_out + kept);
        if !(kept > 0.0 && kept.is_finite()) || model.tail_share.is_nan() || model.tail_share > most_left_out {
            return None;
        }
        let own = model.omega(&model.origin());
        model.rest = omega.iter().zip(&own).map(|(omega, own)| omega - own).collect();
        model.rest.iter().all(|rest| rest.is_finite()).then_some(model)
    }

    /// The share of the trace of the Hessian at the origin on the features that are left out.
    pub(crate) fn tail_share(&self) -> f64 {
        self.tail_share
    }

    /// Where it is exact.
    pub(crate) fn origin(&self) -> LocalPoint {
        LocalPoint { alpha: self.origin.clone(), u: self.start.clone() }
    }

    /// The line from a point in the direction d.
    pub(crate) fn line<'a>(&'a self, from: &'a LocalPoint, d: &'a [f64]) -> LocalLine<'a> {
        let mut along = vec![0.0; self.start.len()];
        stream::adjoint(d.len(), &self.columns, d, &mut along);
        LocalLine { model: self, from, d, along }
    }

    /// The gradient at a point.
    pub(crate) fn omega(&self, LocalPoint { alpha, u }: &LocalPoint) -> Vec<f64> {
        let n = alpha.len();
        let parts = self.rest.iter().zip(alpha.iter().zip(&self.origin));
        let mut omega: Vec<f64> = parts.map(|(rest, (alpha, origin))| rest + self.tail * (alpha - origin)).collect();
        let mut weights = u.clone();
        let power = self.weigh(&mut weights);
        for (column, weight) in self.columns.chunks_exact(n).zip(&weights) {
            if weight.abs() >= LEAST_WEIGHT {
                let (omega, weight) = (&mut omega[..], power * weight);
                vectorised(
                    #[inline(always)]
                    move || omega.iter_mut().zip(column).for_each(|(omega, x)| *omega += weight * x),
                );
            }
        }
        omega
    }

    /// `J_q(u)` in place for u divided by its size, and the power of that size.
    fn weigh(&self, u: &mut [f64]) -> f64 {
        let size = largest(u);
        if size > 0.0 {
            self.exponent.duality_map(u, 1.0 / size);
        }
        size.powf(self.exponent.q() - 1.0)
    }

    /// `(q-1) |u|^(q-2)` without a factor, and this factor.
    fn curvatures(&self, u: &[f64]) -> (Vec<f64>, f64) {
        let (q, size) = (self.exponent.q(), largest(u));
        let inverse = 1.0 / size.max(f64::MIN_POSITIVE);
        let mut weights: Vec<f64> = u.iter().map(|u| inverse * u.abs()).collect();
        raise(&mut weights, q - 2.0);
        (weights, (q - 1.0) * size.powf(q - 2.0))
    }

    /// Gives its memory to those who come next.
    pub(crate) fn end(self, scratch: &mut Scratch) {
        scratch.spare.give(self.columns);
    }

    /// The second derivatives at a point. The features that hardly count are a multiple of the identity, as those that are left out.
    pub(crate) fn hessian(&self, at: &LocalPoint, scratch: &mut Scratch) -> Hessian {
        let (weights, power) = self.curvatures(&at.u);
        let parts: Vec<f64> = weights.iter().zip(&self.squares).map(|(weight, square)| weight * square).collect();
        let (least, light) = least_part(&parts);
        let columns: Vec<usize> = (0..parts.len()).filter(|&k| parts[k] > least).collect();
        let weights: Vec<f64> = columns.iter().map(|&k| weights[k]).collect();
        let mut hessian = Hessian::exact(heaviest::weighted(self, &columns, &weights, power, scratch));
        hessian.tail = self.tail + power * light / self.origin.len() as f64;
        hessian
    }
}

/// A size such that the parts above it hold nearly all of their sum, and the sum of the others.
fn least_part(parts: &[f64]) -> (f64, f64) {
    let all: f64 = parts.iter().sum();
    let mut least = largest(parts);
    for _ in 0..MOST_CUTS {
        least *= CUT;
        let light: f64 = parts.iter().filter(|part| **part <= least).sum();
        if light <= MOST_LIGHT * all {
            return (least, light);
        }
    }
    (0.0, 0.0)
}

impl LocalLine<'_> {
    /// The slope of the model at the share t of the way.
    pub(crate) fn slope(&self, t: f64) -> f64 {
        let Self { model, from, d, along } = self;
        let moved: f64 = from.alpha.iter().zip(&model.origin).zip(*d).map(|((to, from), d)| (to - from) * d).sum();
        let mut weights = self.products(t);
        let power = model.weigh(&mut weights);
        dot(&model.rest, d) + model.tail * (moved + t * dot(d, d)) + power * dot(&weights, along)
    }

    /// The point at the share t of the way.
    pub(crate) fn end(&self, t: f64) -> LocalPoint {
        let alpha = self.from.alpha.iter().zip(self.d).map(|(alpha, d)| alpha + t * d).collect();
        LocalPoint { alpha, u: self.products(t) }
    }

    fn products(&self, t: f64) -> Vec<f64> {
        self.from.u.iter().zip(&self.along).map(|(u, along)| u + t * along).collect()
    }
}

impl Columns for LocalModel {
    fn samples(&self) -> usize {
        self.origin.len()
    }

    fn column_into(&self, column: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.columns[column * out.len()..][..out.len()]);
    }

    fn scaled_column_into(&self, column: usize, factor: f64, out: &mut [f64]) {
        let values = &self.columns[column * out.len()..][..out.len()];
        vectorised(
            #[inline(always)]
            move || out.iter_mut().zip(values).for_each(|(out, x)| *out = factor * x),
        );
    }

    fn exponent(&self) -> Option<f64> {
        None
    }

    fn exponent_of(&self, _columns: &[usize]) -> f64 {
        0.0
    }
}
