//! The largest `|u_k|` of finitely many monomials, by one pass over all of them at the speed of matrix products.
//!
//! A tile is left out where none of its monomials can be among the largest: by Cauchy and Schwarz, for monomials
//! `x_prefix x_j x_k` with coefficients at most c,
//!
//! ```text
//! |u_k| <= c max_i |x_prefix| v_j v_k,    v_j^2 = sum_i |alpha_i| x_ij^2.
//! ```
//!
//! The distance of the optimum adds `radius ||phi_k||_2`, and by Hoelder `||phi_k||_2 <= c prod_j ||x_j||_(2 s)` at degree s.

use std::{iter, ops::Range};

use super::{
    SearchEnd,
    bounds::Bound,
    candidates::{Candidates, MonomialCandidate},
    search::{Found, Meter},
    tree::Tree,
};
use crate::{
    data::Scratch,
    kernel::{Monomial, MonomialScale},
    monomials::{MonomialSweep, Monomials, Place, Tile, Visitor},
    numeric::{largest, scale_by_exp2},
};

/// Solves: the `count` largest `|u_k|`.
/// Given: the monomials of the model that the tree belongs to.
/// Returns: the candidates in units of the tree, evaluated there, and the most that any other can be.
/// Cost: one product per tile that is not left out.
pub(super) fn sweep(tree: &Tree, monomials: &Monomials<'_>, alpha: &[f64], count: usize, meter: &mut Meter) -> Found {
    // In the units of the tree, in which the largest number is about 1.
    let alpha: Vec<f64> = alpha.iter().map(|alpha| scale_by_exp2(*alpha, -tree.alpha_exponent)).collect();
    let limits = TileBounds::new(tree, monomials, &alpha);
    let visitor = Largest { sizes: &limits, meter: &*meter };
    let mut parts: Vec<LargestInStripe> = (0..monomials.stripes()).map(|_| LargestInStripe::new(count)).collect();
    let pass = MonomialSweep { monomials, group: 1, state: 0, output: None };
    pass.run(&alpha, &mut parts, &mut Scratch::new().pass, &visitor, |_, _| {});

    let mut whole = LargestInStripe::new(count);
    parts.into_iter().for_each(|part| whole.merge(part));
    meter.nodes = meter.nodes.saturating_add(whole.looked_at);
    // Both units are powers of two.
    let to_tree = |u: f64| scale_by_exp2(u, tree.alpha_exponent - tree.exponent);
    let mut candidates = Candidates::new(count);
    let mut z = vec![0.0; tree.stride];
    candidates.reject(to_tree(whole.candidates.rejected()));
    for MonomialCandidate { monomial: index, .. } in whole.candidates.into_sorted() {
        let variables: Vec<usize> = monomials.variables(index).iter().map(|&variable| variable as usize).collect();
        let monomial = Monomial::of_sorted(&variables);
        let places = tree.places(&monomial);
        tree.product(&places, &mut z);
        let value = tree.value(&z, places.len());
        candidates.offer(value.u, value.width, || monomial);
    }
    let skipped = Bound { value: to_tree(whole.skipped.value), upper: to_tree(whole.skipped.upper) };
    let end = if whole.stopped { SearchEnd::TimeLimit } else { SearchEnd::Complete };
    Found { candidates, end, skipped }
}

/// The numbers that bounds are made of.
struct TileBounds {
    degrees: Vec<usize>,
    /// `c_k^(1/q)` of the monomials of each degree, at most.
    roots: Vec<f64>,
    /// `max_i |x_ij|`, `v_j`, and `||x_j||_(2 s)` for every degree s.
    most: Vec<f64>,
    weighted: Vec<f64>,
    norms: Vec<Vec<f64>>,
    /// How far the optimal dual vector, and rounding, can move `u_k`, per unit of `||phi_k||_2`; more where monomials have
    /// been centred.
    radius: f64,
    rounding: f64,
    /// `||alpha||_2`, and `||phi_k||_2` where all monomials have one size.
    alpha: f64,
    unit: Option<f64>,
    /// The norm of the constant, at most.
    constant: f64,
}

impl TileBounds {
    fn new(tree: &Tree, monomials: &Monomials<'_>, alpha: &[f64]) -> Self {
        let (n, d) = (monomials.samples(), monomials.inputs());
        let degrees: Vec<usize> = monomials.degrees().collect();
        let highest = degrees.iter().copied().max().unwrap_or(0);
        let norm = alpha.iter().map(|alpha| alpha * alpha).sum::<f64>().sqrt();
        let mut sizes = Self {
            degrees: degrees.clone(),
            roots: degrees.iter().map(|&degree| monomials.typical_root(degree)).collect(),
            most: Vec::with_capacity(d),
            weighted: Vec::with_capacity(d),
            norms: vec![Vec::with_capacity(d); degrees.len()],
            radius: tree.radius,
            rounding: 4.0 * tree.rounding(highest) * norm,
            alpha: norm,
            unit: (monomials.monomial_scale != MonomialScale::Raw).then_some((n as f64).sqrt()),
            constant: (n as f64).sqrt(),
        };
        if sizes.unit.is_some() {
            return sizes;
        }
        let (mut column, mut rows) = (vec![0.0; n], vec![0.0; n]);
        monomials.points.factors_into(&mut rows);
        for j in 0..d {
            monomials.points.x.column_into(j, &mut column);
            let most = largest(&column);
            sizes.most.push(most);
            let inverse = if most > 0.0 { 1.0 / most } else { 0.0 };
            let weighted = column.iter().zip(alpha).zip(&rows);
            let weighted: f64 = weighted.map(|((x, alpha), row)| (alpha * row).abs() * (x * inverse).powi(2)).sum();
            sizes.weighted.push(most * weighted.sqrt());
            for (norms, &degree) in sizes.norms.iter_mut().zip(&degrees) {
                let power = 2 * degree.max(1) as i32;
                let sum: f64 = column.iter().map(|x| (x * inverse).powi(power)).sum();
                norms.push(most * sum.powf(1.0 / f64::from(power)));
            }
        }
        // A normalised kernel divides the samples.
        let rows = largest(&rows);
        sizes.constant *= rows;
        sizes.norms.iter_mut().zip(&degrees).for_each(|(norms, &degree)| {
            let share = rows.powf(1.0 / degree.max(1) as f64);
            norms.iter_mut().for_each(|norm| *norm *= share);
        });
        sizes
    }

    /// Bounds over all monomials of a tile.
    fn bound(&self, place: &Place<'_>) -> Bound {
        let margin = 1.0 + 1e-10;
        // A tile that was not computed may hold a monomial that is nearly constant.
        let width = margin * self.width(place, if self.unit.is_some() { 1e9 } else { 0.0 });
        let value = match self.unit {
            Some(norm) => self.alpha * norm,
            None if place.degree < 2 => self.alpha * self.norm(place),
            None => {
                let prefix: f64 = place.prefix.iter().map(|&j| self.most[j]).product();
                let of = |range: &Range<usize>| largest(&self.weighted[range.clone()]);
                self.roots[place.block] * prefix * of(&place.outer) * of(&place.inner)
            }
        };
        Bound { value: margin * value, upper: margin * value + width }
    }

    /// Bounds over all monomials.
    fn everything(&self) -> Bound {
        let all = |(block, &degree): (usize, &usize)| {
            let power = |size: f64, times: usize| iter::repeat_n(size, times).product::<f64>();
            let constant = if degree == 0 { self.constant } else { 1.0 };
            let norm = || constant * self.roots[block] * power(largest(&self.norms[block]), degree);
            let norm = self.unit.unwrap_or_else(norm);
            let value = if self.unit.is_some() || degree < 2 {
                self.alpha * norm
            } else {
                let most = power(largest(&self.most), degree - 2);
                self.roots[block] * most * power(largest(&self.weighted), 2)
            };
            let spread = if self.unit.is_some() { 1e9 } else { 0.0 };
            let width = (self.radius + self.rounding * (1.0 + spread)) * norm;
            let margin = 1.0 + 1e-10;
            Bound { value: margin * value, upper: margin * (value + width) }
        };
        self.degrees.iter().enumerate().map(all).fold(Bound::NONE, Bound::max)
    }

    /// How far `u_k` of a monomial of the tile can be from that of the optimum.
    fn width(&self, place: &Place<'_>, spread: f64) -> f64 {
        (self.radius + self.rounding * (1.0 + spread)) * self.unit.unwrap_or_else(|| self.norm(place))
    }

    /// `||phi_k||_2` of the monomials of a tile, at most.
    fn norm(&self, place: &Place<'_>) -> f64 {
        let norms = &self.norms[place.block];
        let prefix: f64 = place.prefix.iter().map(|&j| norms[j]).product();
        let of = |range: &Range<usize>| if range.is_empty() { 1.0 } else { largest(&norms[range.clone()]) };
        let constant = if place.degree == 0 { self.constant } else { 1.0 };
        constant * self.roots[place.block] * prefix * of(&place.outer) * of(&place.inner)
    }
}

/// Looks for the largest in every tile.
struct Largest<'s> {
    sizes: &'s TileBounds,
    meter: &'s Meter,
}

/// What one stripe has found.
struct LargestInStripe {
    /// By their numbers.
    candidates: Candidates<u64>,
    /// Bounds over the tiles that were left out.
    skipped: Bound,
    looked_at: u64,
    stopped: bool,
}

impl LargestInStripe {
    fn new(count: usize) -> Self {
        Self { candidates: Candidates::new(count), skipped: Bound::NONE, looked_at: 0, stopped: false }
    }

    fn merge(&mut self, other: Self) {
        self.candidates.merge(other.candidates);
        self.skipped = self.skipped.max(other.skipped);
        self.looked_at += other.looked_at;
        self.stopped |= other.stopped;
    }
}

impl Visitor for Largest<'_> {
    type Own = LargestInStripe;

    fn skip(&self, place: &Place<'_>, part: &mut LargestInStripe) -> bool {
        let bound = self.sizes.bound(place);
        let skipped = bound.value < part.candidates.threshold();
        if skipped {
            part.skipped = part.skipped.max(bound);
        }
        skipped
    }

    fn ended(&self, part: &mut LargestInStripe) -> bool {
        if self.meter.check_time().is_err() {
            part.stopped = true;
            part.skipped = part.skipped.max(self.sizes.everything());
        }
        part.stopped
    }

    fn visit(&self, tile: Tile<'_>, part: &mut LargestInStripe) -> bool {
        let width = self.sizes.width(tile.place, tile.spread);
        part.looked_at += tile.place.len() as u64;
        for (column, u) in tile.u.chunks(tile.place.inner_len()).enumerate() {
            let most = tile.factor * largest(u);
            if most < part.candidates.threshold() {
                part.candidates.reject(most + width);
                continue;
            }
            for (row, u) in u.iter().enumerate() {
                part.candidates.offer(tile.factor * u.abs(), width, || tile.place.index(column, row));
            }
        }
        false
    }
}
