//! `Q` along lines: a pass for every point, as the products of all monomials are too many to be kept.

use std::cell::{Cell, RefCell};

use crate::{
    Exponent,
    data::{Pool, Scratch},
    exponent::{NEGLIGIBLE, RunningLine, copy_in_range},
    form::{LinePoint, Lines},
    monomials::{MonomialSweep, Monomials, Tile, Visitor},
    numeric::{WidePower, ZERO_EXPONENT, binary_exponent, largest_on_line, scale_by_exp2},
};

/// Copies of alpha and of the directions, and the working memory of a pass.
pub(super) struct TileLines<'a, 'm> {
    monomials: &'a Monomials<'m>,
    /// Powers of two by which alpha and each direction were divided.
    exponents: &'a [f64],
    copies: &'a [f64],
    /// The two vectors of one line, and the memory of their pass.
    work: RefCell<(&'a mut [f64], &'a mut Pool)>,
    passes: Cell<usize>,
}

impl<'a, 'm> TileLines<'a, 'm> {
    pub(super) fn new(
        monomials: &'a Monomials<'m>,
        alpha: &[f64],
        directions: &[f64],
        scratch: &'a mut Scratch,
    ) -> Self {
        let n = alpha.len();
        let count = 1 + directions.len() / n;
        let (copies, rest) = scratch.duals.take((n + 1) * count + 2 * n).split_at_mut(n * count);
        let (exponents, pair) = rest.split_at_mut(count);
        let vectors = std::iter::once(alpha).chain(directions.chunks(n));
        for ((vector, copy), exponent) in vectors.zip(copies.chunks_mut(n)).zip(&mut *exponents) {
            *exponent = copy_in_range(vector, copy);
        }
        let work = RefCell::new((pair, &mut scratch.pass));
        Self { monomials, exponents, copies, work, passes: Cell::new(0) }
    }
}

impl Lines for TileLines<'_, '_> {
    fn at(&self, line: usize, t: f64) -> LinePoint {
        let (n, exponent) = (self.monomials.samples(), self.monomials.exponent);
        let (u_exponent, d_exponent) = (self.exponents[0], self.exponents[1 + line]);
        let step_exponent = if t == 0.0 { ZERO_EXPONENT } else { d_exponent + f64::from(binary_exponent(t.abs())) };
        let common = u_exponent.max(step_exponent);
        let (u_factor, d_factor) = (scale_by_exp2(1.0, u_exponent - common), scale_by_exp2(t, d_exponent - common));
        let (pair, pool) = &mut *self.work.borrow_mut();
        pair[..n].copy_from_slice(&self.copies[..n]);
        pair[n..].copy_from_slice(&self.copies[(1 + line) * n..][..n]);
        let visitor = Step { exponent, u_factor, d_factor };
        let mut own = vec![(); self.monomials.stripes()];
        let pass = MonomialSweep { monomials: self.monomials, group: 2, state: RunningLine::LENGTH, output: None };
        let (q, mut total) = (exponent.q(), RunningLine::default());
        pass.run(pair, &mut own, pool, &visitor, |state, _| total.merge(RunningLine::load(state), q));
        self.passes.set(self.passes.get() + 1);
        if total.size < NEGLIGIBLE {
            return LinePoint { value: 0.0, slope: 0.0, bregman: 0.0 };
        }
        let power = WidePower::new(total.size, common, q);
        LinePoint {
            value: power.times(total.sums.power / q),
            slope: WidePower::new(total.size, common, q - 1.0).scaled_by_exp2(d_exponent).times(total.sums.slope),
            bregman: power.times(total.sums.bregman),
        }
    }

    fn passes(&self) -> usize {
        self.passes.get()
    }
}

/// Sums `|v|^q`, the slope and the Bregman distance from `u u_factor` to `v = u u_factor + d d_factor`.
struct Step {
    exponent: Exponent,
    u_factor: f64,
    d_factor: f64,
}

impl Visitor for Step {
    type Own = ();

    fn visit(&self, tile: Tile<'_>, (): &mut ()) -> bool {
        let (u, d) = tile.u.split_at(tile.u.len() / 2);
        let size = tile.factor * largest_on_line(u, d, self.u_factor, self.d_factor);
        let mut running = RunningLine::load(tile.state);
        running.raise(size, self.exponent.q());
        if running.size >= NEGLIGIBLE {
            let factor = tile.factor / running.size;
            let mut sums = self.exponent.line_sums(u, d, factor * self.u_factor, factor * self.d_factor);
            sums.slope *= tile.factor;
            running.sums = running.sums + sums;
        }
        running.store(tile.state);
        false
    }
}
