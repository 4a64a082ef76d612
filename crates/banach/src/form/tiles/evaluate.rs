//! `Q` and omega in one pass.

use super::roundings;
use crate::{
    Exponent,
    data::{Pool, Scratch},
    exponent::{Running, copy_in_range},
    form::Evaluation,
    monomials::{MonomialSweep, Monomials, Points, Tile, Visitor},
    numeric::largest,
};

/// Turns u into `J_q(u)`, relative to the largest `|u|` met so far.
pub(super) struct Powers {
    pub exponent: Exponent,
}

impl Powers {
    /// As [`Visitor::visit`], given the largest `|u|` of the tile.
    pub(super) fn raise(&self, tile: &mut Tile<'_>, size: f64) -> bool {
        let mut running = Running::load(tile.state);
        running.raise(size, self.exponent.q(), tile.sum);
        running.power_sum += self.exponent.duality_map(tile.u, tile.factor * running.inverse());
        running.spread = running.spread.max(tile.spread);
        running.store(tile.state);
        size > 0.0
    }

    /// As [`Visitor::visit`].
    pub(super) fn raise_largest(&self, tile: &mut Tile<'_>) -> bool {
        let size = tile.factor * largest(tile.u);
        self.raise(tile, size)
    }
}

impl Visitor for Powers {
    type Own = ();

    fn visit(&self, mut tile: Tile<'_>, (): &mut ()) -> bool {
        self.raise_largest(&mut tile)
    }
}

/// The functions `f = <w, Phi(.)>`, `w = J_q(u)`, of dual vectors at some points.
pub(super) struct Functions<'f> {
    /// The running sums of each, as [`Running`] keeps them.
    pub totals: &'f mut [f64],
    /// The values of each at all points, relative to its running size.
    pub sums: &'f mut [f64],
}

impl Functions<'_> {
    /// Finds the functions in one pass, with a visitor that raises powers.
    pub(super) fn find<V: Visitor>(
        self,
        monomials: &Monomials<'_>,
        points: &Points<'_>,
        alphas: &[f64],
        (visitor, own): (&V, &mut [V::Own]),
        pool: &mut Pool,
    ) {
        let (q, m, Self { totals, sums }) = (monomials.exponent.q(), points.x.samples(), self);
        totals.fill(0.0);
        sums.fill(0.0);
        let pass = MonomialSweep { monomials, group: 1, state: Running::LENGTH, output: Some(points) };
        pass.run(alphas, own, pool, visitor, |states, stripe_sums| {
            let stripes = states.chunks(Running::LENGTH).zip(stripe_sums.chunks(m));
            let functions = totals.chunks_mut(Running::LENGTH).zip(sums.chunks_mut(m));
            for ((state, stripe), (total, sum)) in stripes.zip(functions) {
                let mut whole = Running::load(total);
                whole.merge(Running::load(state), stripe, q, sum);
                whole.store(total);
            }
        });
    }
}

/// Evaluates a batch with a visitor that raises powers.
pub(super) fn pass<V: Visitor>(
    monomials: &Monomials<'_>,
    alphas: &[f64],
    visitor: &V,
    own: &mut [V::Own],
    out: &mut Evaluation,
    scratch: &mut Scratch,
) {
    let (n, q) = (monomials.samples(), monomials.exponent.q());
    let batch = alphas.len() / n;
    out.resize(n, batch);
    let (copies, rest) = scratch.duals.take((n + 1 + Running::LENGTH) * batch).split_at_mut(n * batch);
    let (exponents, totals) = rest.split_at_mut(batch);
    for ((alpha, copy), exponent) in alphas.chunks(n).zip(copies.chunks_mut(n)).zip(&mut *exponents) {
        *exponent = copy_in_range(alpha, copy);
    }
    let functions = Functions { totals, sums: &mut out.omegas };
    functions.find(monomials, &monomials.points, copies, (visitor, own), &mut scratch.pass);
    for (problem, (total, exponent)) in totals.chunks(Running::LENGTH).zip(&*exponents).enumerate() {
        let total = Running::load(total);
        out.finish(problem, total, *exponent, q);
        let (alpha, ln_value) = (&alphas[problem * n..][..n], out.ln_values[problem]);
        roundings::bound(monomials, alpha, ln_value, total.spread, &mut out.roundings[problem * n..][..n]);
    }
}

/// `Q` and omega of a batch.
pub(super) fn evaluate(monomials: &Monomials<'_>, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
    let visitor = Powers { exponent: monomials.exponent };
    // Nothing is kept, which takes no memory.
    let mut own = vec![(); monomials.stripes()];
    pass(monomials, alphas, &visitor, &mut own, out, scratch);
}
