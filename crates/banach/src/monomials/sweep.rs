//! One pass over all monomials of a kernel, tile by tile: the products of dual vectors with every monomial, a visitor that
//! looks at them and may turn them into weights, and the functions with these weights.
//!
//! For the monomials `x_prefix x_j x_k`, j in one block of variables and k in another, and a dual vector alpha,
//!
//! ```text
//! A = X_K' diag(alpha . x_prefix) X_J       one product;  u = c A, entry by entry
//! f = x_prefix . rowsum(X_J . (X_K (c W)))  another one, for the weights W that the visitor leaves in place of u
//! ```
//!
//! where c holds the roots of the kernel's coefficients, zero where a monomial of a tile on the diagonal has been met
//! already. Nothing larger than a tile is ever formed. Monomials at another [`MonomialScale`] take one or two more products per
//! tile, for all dual vectors together: the sums of their squares, `(X_K . X_K)' diag(x_prefix^2) (X_J . X_J)`, and their
//! sums, `X_K' diag(x_prefix) X_J`.
//!
//! Stripes of tiles depend on the data alone. Each has its own sums, and they are handed on in order, so results do not
//! depend on the number of threads.

use std::sync::Mutex;

use rayon::prelude::*;

use super::{
    Degree, Monomials, Points, Roots, entries,
    layout::{Cursor, Tiling, WIDTH},
    place::Place,
    products::{PANEL, Summed, backward, forward},
};
use crate::{data::Pool, exponent::Running, kernel::MonomialScale, workers::checkpoint};

/// What a visitor sees of one tile, for one group of dual vectors.
pub(crate) struct Tile<'t> {
    pub place: &'t Place<'t>,
    /// Which group it is.
    pub group: usize,
    /// The product of a monomial with a dual vector is its entry of `u` times this.
    pub factor: f64,
    /// The products, for one dual vector of the group after another. Where functions are wanted, the visitor leaves weights in place
    /// of the first tile of entries.
    pub u: &'t mut [f64],
    /// The largest `(mean/deviation)^2` of a monomial of the tile, where monomials are standardised; otherwise 0. Rounding grows
    /// with it.
    pub spread: f64,
    /// The group's running numbers in this stripe, zero at its start.
    pub state: &'t mut [f64],
    /// The stripe's sum of the function of the group at every point, before this tile is added.
    pub sum: &'t mut [f64],
}

/// Looks at the tiles of a pass.
pub(crate) trait Visitor: Sync {
    /// What the visitor keeps in a stripe besides running numbers.
    type Own: Send;

    /// Whether a tile need not be looked at; it is then not computed.
    fn skip(&self, _place: &Place<'_>, _own: &mut Self::Own) -> bool {
        false
    }

    /// Whether the rest of a stripe need not be looked at.
    fn ended(&self, _own: &mut Self::Own) -> bool {
        false
    }

    /// Looks at a tile; returns whether the weights that it leaves are not all zero.
    fn visit(&self, tile: Tile<'_>, own: &mut Self::Own) -> bool;
}

/// The shape of a pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MonomialSweep<'s, 'a> {
    pub monomials: &'s Monomials<'a>,
    /// Dual vectors that the visitor sees together.
    pub group: usize,
    /// Running numbers of each group in each stripe.
    pub state: usize,
    /// Where the functions of the weights are wanted, if anywhere.
    pub output: Option<&'s Points<'s>>,
}

/// The sizes of the working memory of a stripe.
#[derive(Clone, Copy)]
struct StripeSizes {
    sums: usize,
    states: usize,
    duals: usize,
    factors: usize,
    output_factors: usize,
    tile: usize,
    inverse_sizes: usize,
    panel: usize,
    column: usize,
}

impl StripeSizes {
    /// Numbers that a stripe leaves.
    fn results(self) -> usize {
        // Chunks are not empty, also where a pass leaves nothing but what the visitor keeps.
        (self.sums + self.states).max(1)
    }

    /// Numbers that a stripe needs while it runs.
    fn workspace(self) -> usize {
        let Self { duals, factors, output_factors, tile, inverse_sizes, panel, column, .. } = self;
        duals + factors + output_factors + tile + 2 * inverse_sizes + 2 * panel + 2 * column
    }
}

/// The working memory of a stripe.
struct StripeBuffers<'w> {
    sums: &'w mut [f64],
    states: &'w mut [f64],
    /// The dual vectors times the factors, one after another.
    duals: &'w mut [f64],
    /// `x_prefix` of every sample, and of every point.
    factors: &'w mut [f64],
    output_factors: &'w mut [f64],
    tile: &'w mut [f64],
    /// The means of the monomials of the tile, and the factors that bring them to their scale.
    means: &'w mut [f64],
    inverse_sizes: &'w mut [f64],
    left: &'w mut [f64],
    right: &'w mut [f64],
    column: &'w mut [f64],
    other_column: &'w mut [f64],
}

impl<'w> StripeBuffers<'w> {
    fn new(area: StripeSizes, results: &'w mut [f64], mut numbers: &'w mut [f64]) -> Self {
        let mut take = |length: usize| {
            let (own, rest) = std::mem::take(&mut numbers).split_at_mut(length);
            numbers = rest;
            own
        };
        let (sums, states) = results.split_at_mut(area.sums);
        Self {
            sums,
            states,
            duals: take(area.duals),
            factors: take(area.factors),
            output_factors: take(area.output_factors),
            tile: take(area.tile),
            means: take(area.inverse_sizes),
            inverse_sizes: take(area.inverse_sizes),
            left: take(area.panel),
            right: take(area.panel),
            column: take(area.column),
            other_column: take(area.column),
        }
    }
}

impl MonomialSweep<'_, '_> {
    /// Numbers of working memory that a pass for `batch` dual vectors takes.
    pub(crate) fn memory(
        samples: usize,
        inputs: usize,
        count: u64,
        batch: usize,
        points: usize,
        rescales: bool,
    ) -> Option<usize> {
        let width = WIDTH.min(inputs.next_multiple_of(8));
        let area = Self::sizes(samples, points, width, batch, 1, Running::LENGTH, rescales);
        let stripes = Tiling::stripes(samples, count);
        samples.checked_mul(points.max(batch))?;
        // Every stripe leaves its sums; as many run at a time as there are threads.
        let workspaces = area.workspace().checked_mul(stripes.min(rayon::current_num_threads()))?;
        area.results().checked_mul(stripes)?.checked_add(workspaces)?.checked_add(batch)
    }

    fn sizes(
        samples: usize,
        points: usize,
        width: usize,
        inputs: usize,
        group: usize,
        state: usize,
        rescales: bool,
    ) -> StripeSizes {
        let panel = samples.max(points).min(PANEL);
        let groups = inputs / group;
        StripeSizes {
            sums: points.saturating_mul(groups),
            states: state * groups,
            duals: samples.saturating_mul(inputs),
            factors: samples,
            output_factors: points,
            tile: group * width * width,
            inverse_sizes: if rescales { width * width } else { 0 },
            panel: panel * width,
            column: panel,
        }
    }

    fn area(&self, inputs: usize) -> StripeSizes {
        let (monomials, points) = (self.monomials, self.output.map_or(0, |points| points.x.samples()));
        let width = monomials.layout.width.min(monomials.inputs().next_multiple_of(8));
        let rescales = monomials.monomial_scale != MonomialScale::Raw;
        Self::sizes(monomials.samples(), points, width, inputs, self.group, self.state, rescales)
    }

    /// The bytes of working memory that this pass takes for so many dual vectors.
    pub(crate) fn bytes(&self, inputs: usize) -> u64 {
        let (area, stripes) = (self.area(inputs), self.monomials.stripes());
        let numbers = area.results() * stripes + area.workspace() * stripes.min(rayon::current_num_threads());
        8 * numbers as u64
    }

    /// Runs the pass for dual vectors, n-vectors one after another. `own` is what the visitor keeps, one for each stripe. The
    /// running numbers and the sums of every stripe are handed to `reduce` in order.
    pub(crate) fn run<V: Visitor>(
        &self,
        alphas: &[f64],
        own: &mut [V::Own],
        pool: &mut Pool,
        visitor: &V,
        mut reduce: impl FnMut(&[f64], &[f64]),
    ) {
        let inputs = alphas.len() / self.monomials.samples();
        let stripes = &self.monomials.layout.stripes;
        assert_eq!(own.len(), stripes.len(), "something is kept in every stripe");
        let area = self.area(inputs);
        let together = stripes.len().min(rayon::current_num_threads());
        let numbers = pool.take(area.results() * stripes.len() + area.workspace() * together);
        let (results, workspaces) = numbers.split_at_mut(area.results() * stripes.len());
        let run_stripe = |at: usize, results: &mut [f64], workspace: &mut [f64], own: &mut V::Own| {
            results.fill(0.0);
            let mut work = StripeBuffers::new(area, results, workspace);
            self.run_stripe(stripes[at], alphas, &mut work, visitor, own);
        };
        if let [own] = own {
            run_stripe(0, results, workspaces, own);
        } else {
            // As many stripes run at a time as there are threads; each takes a workspace that is free, whichever it is.
            let workspaces: Vec<Mutex<&mut [f64]>> = workspaces.chunks_mut(area.workspace()).map(Mutex::new).collect();
            let free = || workspaces.iter().find_map(|workspace| workspace.try_lock().ok());
            let parts = results.par_chunks_mut(area.results()).zip(own.par_iter_mut()).with_max_len(1);
            parts.enumerate().for_each(|(at, (results, own))| {
                checkpoint();
                let mut workspace = free().expect("a stripe does not begin while its thread is in another");
                run_stripe(at, results, &mut workspace, own);
            });
        }
        for results in results.chunks(area.results()) {
            let (sums, states) = results.split_at(area.sums);
            reduce(states, sums);
        }
    }

    fn run_stripe<V: Visitor>(
        &self,
        (begin, tiles): (Cursor, u64),
        alphas: &[f64],
        work: &mut StripeBuffers<'_>,
        visitor: &V,
        own: &mut V::Own,
    ) {
        let Monomials { degrees, layout, .. } = self.monomials;
        let mut at = Some(begin);
        let mut prefix: Option<Prefix> = None;
        for _ in 0..tiles {
            checkpoint();
            if visitor.ended(own) {
                break;
            }
            let cursor = at.expect("a stripe ends before the tiles do");
            let degree = degrees[cursor.degree];
            let variables = cursor.prefix(&degree);
            let [outer, inner] = layout.ranges(degrees, &cursor);
            if prefix.is_none() || cursor.begins_prefix() {
                prefix = Some(self.begin(degree, variables, alphas, work));
            }
            let Prefix { roots, first, from } = prefix.expect("set above");
            let place = Place {
                degree: degree.degree,
                block: cursor.degree,
                prefix: variables,
                outer,
                inner,
                inputs: self.monomials.inputs(),
                distinct: degree.distinct,
                first,
                from,
            };
            if !visitor.skip(&place, own) {
                self.tile(&place, &roots, alphas, work, visitor, own);
            }
            at = layout.next(degrees, cursor);
        }
    }

    /// What the tiles of one prefix share.
    fn begin(&self, degree: Degree, variables: &[usize], alphas: &[f64], work: &mut StripeBuffers<'_>) -> Prefix {
        let monomials = self.monomials;
        let products = |points: &Points<'_>, out: &mut [f64]| {
            points.factors_into(out);
            variables.iter().for_each(|&variable| points.x.multiply_by_column(variable, out));
        };
        products(&monomials.points, work.factors);
        if let Some(points) = self.output {
            products(points, work.output_factors);
        }
        let n = monomials.samples();
        for (dual, alpha) in work.duals.chunks_mut(n).zip(alphas.chunks(n)) {
            for ((dual, alpha), factor) in dual.iter_mut().zip(alpha).zip(&*work.factors) {
                *dual = alpha * factor;
            }
        }
        let roots = if degree.degree >= 2 {
            monomials.roots(variables)
        } else {
            let root = monomials.typical_root(degree.degree);
            Roots { pair: root, square: root, last_pair: root, last_square: root }
        };
        let from = variables.last().map_or(0, |last| last + usize::from(degree.distinct));
        Prefix { roots, first: monomials.place(degree, variables), from }
    }

    /// One tile: products, visitor, functions.
    fn tile<V: Visitor>(
        &self,
        place: &Place<'_>,
        roots: &Roots,
        alphas: &[f64],
        work: &mut StripeBuffers<'_>,
        visitor: &V,
        own: &mut V::Own,
    ) {
        let (monomials, length) = (self.monomials, place.len());
        let (n, uniform, rescales) =
            (monomials.samples(), place.is_uniform(), monomials.monomial_scale != MonomialScale::Raw);
        if uniform && roots.pair == 0.0 {
            return;
        }
        // Monomials of their own scale are masked by their sizes.
        let mask = monomials.excluded.as_deref().filter(|_| !rescales);
        if monomials.excludes(place.prefix) {
            return;
        }
        let spread = if rescales { self.measure(place, roots, work) } else { 0.0 };
        let factor = if uniform && !rescales { roots.pair } else { 1.0 };
        let groups = alphas.len() / n / self.group;
        for group in 0..groups {
            for member in 0..self.group {
                let dual = (group * self.group + member) * n..(group * self.group + member + 1) * n;
                let (u, dual_factors) = (&mut work.tile[member * length..][..length], &work.duals[dual.clone()]);
                forward(Summed::Values, &monomials.points.x, place, dual_factors, u, [work.left, work.right]);
                if rescales {
                    let total: f64 = if monomials.monomial_scale == MonomialScale::Standardized {
                        alphas[dual].iter().sum()
                    } else {
                        0.0
                    };
                    entries::standardize(u, total, work.means, work.inverse_sizes);
                } else if !uniform {
                    place.weigh(roots, u);
                }
                mask.iter().for_each(|excluded| place.mask(excluded, u));
            }
            let sum = sum_of(work.sums, groups, group);
            let state = &mut work.states[group * self.state..][..self.state];
            let u = &mut work.tile[..self.group * length];
            let weighs = visitor.visit(Tile { place, group, factor, u, spread, state, sum: &mut *sum }, own);
            let Some(points) = self.output.filter(|_| weighs) else { continue };
            let w = &mut work.tile[..length];
            if rescales {
                let centre = entries::unstandardize(w, &work.means[..length], &work.inverse_sizes[..length]);
                sum.iter_mut().for_each(|sum| *sum -= centre);
            } else if !uniform {
                place.weigh(roots, w);
            }
            mask.iter().for_each(|excluded| place.mask(excluded, w));
            let buffers = [&mut *work.left, &mut *work.right, &mut *work.column, &mut *work.other_column];
            backward(&points.x, place, work.output_factors, w, factor, sum, buffers);
        }
    }

    /// Finds the means of the monomials of a tile and the factors that bring them to their scale. Returns [`Tile::spread`].
    fn measure(&self, place: &Place<'_>, roots: &Roots, work: &mut StripeBuffers<'_>) -> f64 {
        let (monomials, length) = (self.monomials, place.len());
        let (x, n) = (&monomials.points.x, monomials.samples() as f64);
        let (means, inverse_sizes) = (&mut work.means[..length], &mut work.inverse_sizes[..length]);
        forward(Summed::Squares, x, place, work.factors, inverse_sizes, [work.left, work.right]);
        if monomials.monomial_scale == MonomialScale::Standardized {
            forward(Summed::Values, x, place, work.factors, means, [work.left, work.right]);
        } else {
            means.fill(0.0);
        }
        entries::inverse_sizes(monomials.monomial_scale, n, inverse_sizes, means);
        if !place.is_uniform() {
            place.weigh(roots, inverse_sizes);
        }
        monomials.excluded.iter().for_each(|excluded| place.mask(excluded, inverse_sizes));
        let ratios =
            means.iter().zip(&*inverse_sizes).map(|(mean, inverse_size)| (mean * inverse_size) * (mean * inverse_size));
        ratios.fold(0.0, f64::max)
    }
}

/// What the tiles of one prefix share.
#[derive(Clone, Copy)]
struct Prefix {
    roots: Roots,
    first: u64,
    from: usize,
}

/// The sum of one group; none where there are no functions.
fn sum_of(sums: &mut [f64], groups: usize, group: usize) -> &mut [f64] {
    let length = sums.len() / groups;
    &mut sums[group * length..][..length]
}
