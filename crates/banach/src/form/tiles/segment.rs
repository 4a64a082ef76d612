//! `Q` near an expanded point, as far as the monomials that were kept see it: no pass.

use super::{Tiles, heaviest::kept};
use crate::{
    data::Scratch,
    exponent::copy_in_range,
    form::{Expanded, Expansion, Hessian, LinePoint, Lines, QForm, features::FeatureLines},
    monomials::ListedMonomials,
    numeric::dot,
};

/// The line from an expanded point in the direction d, on the monomials that a Hessian has kept.
pub(super) fn preview<'a>(
    form: &'a Tiles<'_>,
    at: &Expansion,
    hessian: &Hessian,
    d: &[f64],
    scratch: &'a mut Scratch,
) -> Option<Box<dyn Lines + 'a>> {
    if hessian.columns.is_empty() {
        return None;
    }
    let at = kept(at);
    // The Hessian may be that of another point. Monomials that were kept there and are not kept here weigh little here.
    let places: Vec<usize> =
        hessian.columns.iter().filter_map(|column| at.indices.binary_search(&(*column as u64)).ok()).collect();
    if places.is_empty() {
        return None;
    }
    let indices: Vec<u64> = places.iter().map(|&place| at.indices[place]).collect();
    let u = places.iter().map(|&place| at.u[place]);
    Some(Box::new(line(form, &indices, u, at.exponent, d, scratch)))
}

/// The line of some monomials with the given u.
fn line<'a>(
    form: &'a Tiles<'_>,
    indices: &[u64],
    u_of: impl Iterator<Item = f64>,
    exponent: f64,
    d: &[f64],
    scratch: &'a mut Scratch,
) -> FeatureLines<'a> {
    let (exponents, copy) = scratch.duals.take(2 + d.len()).split_at_mut(2);
    exponents.copy_from_slice(&[exponent, copy_in_range(d, copy)]);
    let products = scratch.per_feature.take(2 * indices.len());
    let (u, products_of_d) = products.split_at_mut(indices.len());
    u.iter_mut().zip(u_of).for_each(|(u, value)| *u = value);
    ListedMonomials::new(&form.monomials, indices).products(copy, products_of_d);
    FeatureLines { exponent: form.exponent(), block: indices.len(), passes: 0, exponents, products }
}

/// The line between two expanded points. It is exact for the monomials that were kept at either end. The slope of the others is
/// monotone, and is interpolated between its values at both ends.
pub(super) fn segment<'a>(
    form: &'a Tiles<'_>,
    (from, at_from): Expanded<'_>,
    (to, at_to): Expanded<'_>,
    scratch: &'a mut Scratch,
) -> Box<dyn Lines + 'a> {
    let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    if form.exponent().q() == 2.0 {
        return Box::new(Parabola::new([at_from, at_to], &d));
    }
    let (kept_from, kept_to) = (kept(at_from), kept(at_to));
    let mut indices = [&kept_from.indices[..], &kept_to.indices].concat();
    indices.sort_unstable();
    indices.dedup();
    let everything = kept_from.is_complete() && kept_to.is_complete();
    if indices.is_empty() {
        return Box::new(Parabola::new([at_from, at_to], &d));
    }
    let mut copy = vec![0.0; from.len()];
    let exponent = copy_in_range(from, &mut copy);
    let mut u = vec![0.0; indices.len()];
    ListedMonomials::new(&form.monomials, &indices).products(&copy, &mut u);
    let heavy = line(form, &indices, u.into_iter(), exponent, &d, scratch);
    if everything {
        return Box::new(heavy);
    }
    let mut others = Parabola::new([at_from, at_to], &d);
    let (start, end) = (heavy.at(0, 0.0), heavy.at(0, 1.0));
    others.value -= start.value;
    others.slopes[0] -= start.slope;
    others.slopes[1] = (others.slopes[1] - end.slope).max(others.slopes[0]);
    Box::new(Segment { heavy, others })
}

struct Segment<'a> {
    heavy: FeatureLines<'a>,
    others: Parabola,
}

impl Lines for Segment<'_> {
    fn at(&self, line: usize, t: f64) -> LinePoint {
        let (heavy, others) = (self.heavy.at(line, t), self.others.at(line, t));
        LinePoint {
            value: heavy.value + others.value,
            slope: heavy.slope + others.slope,
            bregman: heavy.bregman + others.bregman,
        }
    }

    fn passes(&self) -> usize {
        0
    }
}

/// A function with given value at 0 and slopes at 0 and 1, between which the slope is linear.
struct Parabola {
    value: f64,
    slopes: [f64; 2],
}

impl Parabola {
    fn new(ends: [&Expansion; 2], d: &[f64]) -> Self {
        let slope = |at: &Expansion| dot(&at.evaluation.omegas, d);
        Self { value: ends[0].evaluation.values[0], slopes: ends.map(slope) }
    }
}

impl Lines for Parabola {
    fn at(&self, _line: usize, t: f64) -> LinePoint {
        let rise = self.slopes[1] - self.slopes[0];
        let bregman = 0.5 * t * t * rise;
        LinePoint { value: self.value + t * self.slopes[0] + bregman, slope: self.slopes[0] + t * rise, bregman }
    }

    fn passes(&self) -> usize {
        0
    }
}
