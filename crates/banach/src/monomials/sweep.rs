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

use std::{ops::Range, sync::Mutex};

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::{
    Degree, Monomials, Points, Roots, entries,
    layout::{Cursor, Tiling, WIDTH},
};
use crate::{FeatureMatrix, data::Pool, exponent::Running, kernel::MonomialScale, workers::checkpoint};

/// Most samples in one product: so many columns of a tile that they fit in the second-level cache.
const PANEL: usize = 512;

/// The monomials of a tile: `x_prefix x_j x_k` for j in `outer` and k in `inner`. An entry of the tile is at
/// `(j - outer.start) inner.len() + (k - inner.start)`. Below degree 2 there is no j and `outer` is empty; the constant
/// has no k either.
#[derive(Debug)]
pub(crate) struct Place<'t> {
    /// The degree of the monomials.
    pub degree: usize,
    /// Where that degree is in the list of those that the kernel has.
    pub block: usize,
    /// The variables that all of them begin with.
    pub prefix: &'t [usize],
    pub outer: Range<usize>,
    pub inner: Range<usize>,
    inputs: usize,
    distinct: bool,
    /// The number of the first monomial with this prefix, and the first variable that may follow it.
    first: u64,
    from: usize,
}

impl Place<'_> {
    /// How many k there are for every j.
    pub(crate) fn inner_len(&self) -> usize {
        self.inner.len().max(1)
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.outer.len().max(1) * self.inner_len()
    }

    /// The number of the monomial in column `j - outer.start` and row `k - inner.start`, which must be one of the tile: on the
    /// diagonal those with j > k are in place of none.
    pub(crate) fn index(&self, column: usize, row: usize) -> u64 {
        match self.degree {
            0 => self.first,
            1 => self.first + (self.inner.start + row) as u64,
            _ => {
                let (j, k) = (self.outer.start + column, self.inner.start + row);
                let step = usize::from(self.distinct);
                // Pairs of variables from m on.
                let pairs = |m: usize| {
                    let count = (self.inputs - m) as u64;
                    if self.distinct { count * count.saturating_sub(1) / 2 } else { count * (count + 1) / 2 }
                };
                self.first + pairs(self.from) - pairs(j) + (k - j - step) as u64
            }
        }
    }

    fn is_diagonal(&self) -> bool {
        self.degree >= 2 && self.outer == self.inner
    }

    /// Whether all monomials have the coefficient of distinct variables.
    fn is_uniform(&self) -> bool {
        !self.is_diagonal() && (self.distinct || self.prefix.is_empty() || self.outer.start > self.from)
    }

    /// Multiplies the entries of a tile that is not uniform by the roots of their coefficients.
    fn weigh(&self, roots: &Roots, entries: &mut [f64]) {
        let last = self.prefix.last().filter(|_| !self.distinct);
        for (column, entries) in entries.chunks_mut(self.inner.len()).enumerate() {
            let is_last = last == Some(&(self.outer.start + column));
            let (pair, square) =
                if is_last { (roots.last_pair, roots.last_square) } else { (roots.pair, roots.square) };
            if self.is_diagonal() {
                entries[..column].fill(0.0);
                entries[column] *= square;
                entries[column + 1..].iter_mut().for_each(|entry| *entry *= pair);
            } else {
                entries.iter_mut().for_each(|entry| *entry *= pair);
            }
        }
    }
}

/// What a visitor sees of one tile, for one group of dual vectors.
pub(crate) struct Tile<'t> {
    pub place: &'t Place<'t>,
    /// Which group it is.
    pub group: usize,
    /// `u` of every monomial of the tile is this times its entry of `u`.
    pub factor: f64,
    /// The products, one tile of entries after another for the dual vectors of the group. Where there are functions, the
    /// visitor leaves weights in place of the first.
    pub u: &'t mut [f64],
    /// The largest square of a mean divided by the deviation, where monomials are standardised; otherwise 0. Rounding grows
    /// with it.
    pub spread: f64,
    /// The group's running numbers in this stripe, zero at its start.
    pub state: &'t mut [f64],
    /// The stripe's sum of the function of the group at every point, before this tile is added.
    pub sum: &'t mut [f64],
}

/// What looks at the tiles.
pub(crate) trait Visitor: Sync {
    /// What it keeps in a stripe besides numbers.
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
    scales: usize,
    panel: usize,
    column: usize,
}

impl StripeSizes {
    /// What a stripe leaves.
    fn results(self) -> usize {
        // Chunks are not empty, also where a pass leaves nothing but what the visitor keeps.
        (self.sums + self.states).max(1)
    }

    /// What it needs while it runs.
    fn workspace(self) -> usize {
        let Self { duals, factors, output_factors, tile, scales, panel, column, .. } = self;
        duals + factors + output_factors + tile + 2 * scales + 2 * panel + 2 * column
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
    /// The means of the monomials, and the factors that bring them to their scale.
    means: &'w mut [f64],
    scales: &'w mut [f64],
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
            means: take(area.scales),
            scales: take(area.scales),
            left: take(area.panel),
            right: take(area.panel),
            column: take(area.column),
            other_column: take(area.column),
        }
    }
}

impl MonomialSweep<'_, '_> {
    /// Numbers that a pass of so many dual vectors takes.
    pub(crate) fn memory(
        samples: usize,
        inputs: usize,
        count: u64,
        batch: usize,
        points: usize,
        scaled: bool,
    ) -> Option<usize> {
        let width = WIDTH.min(inputs.next_multiple_of(8));
        let area = Self::sizes(samples, points, width, batch, 1, Running::LENGTH, scaled);
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
        scaled: bool,
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
            scales: if scaled { width * width } else { 0 },
            panel: panel * width,
            column: panel,
        }
    }

    fn area(&self, inputs: usize) -> StripeSizes {
        let (monomials, points) = (self.monomials, self.output.map_or(0, |points| points.x.samples()));
        let width = monomials.layout.width.min(monomials.inputs().next_multiple_of(8));
        let scaled = monomials.scale != MonomialScale::Raw;
        Self::sizes(monomials.samples(), points, width, inputs, self.group, self.state, scaled)
    }

    /// Runs the pass for dual vectors, n-vectors one after another, with what the visitor keeps in each stripe, and hands the
    /// running numbers and the sums of every stripe, in order, to `reduce`.
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
        let (n, uniform, scaled) = (monomials.samples(), place.is_uniform(), monomials.scale != MonomialScale::Raw);
        if uniform && roots.pair == 0.0 {
            return;
        }
        let spread = if scaled { self.scale(place, roots, work) } else { 0.0 };
        let factor = if uniform && !scaled { roots.pair } else { 1.0 };
        let groups = alphas.len() / n / self.group;
        for group in 0..groups {
            for member in 0..self.group {
                let dual = (group * self.group + member) * n..(group * self.group + member + 1) * n;
                let (u, dual_factors) = (&mut work.tile[member * length..][..length], &work.duals[dual.clone()]);
                forward(&monomials.points.x, place, dual_factors, u, work.left, work.right);
                if scaled {
                    let total: f64 =
                        if monomials.scale == MonomialScale::Standardized { alphas[dual].iter().sum() } else { 0.0 };
                    entries::standardize(u, total, work.means, work.scales);
                } else if !uniform {
                    place.weigh(roots, u);
                }
            }
            let sum = sum_of(work.sums, groups, group);
            let state = &mut work.states[group * self.state..][..self.state];
            let u = &mut work.tile[..self.group * length];
            let weighs = visitor.visit(Tile { place, group, factor, u, spread, state, sum: &mut *sum }, own);
            let Some(points) = self.output.filter(|_| weighs) else { continue };
            let w = &mut work.tile[..length];
            if scaled {
                let centre = entries::rescale(w, &work.means[..length], &work.scales[..length]);
                sum.iter_mut().for_each(|sum| *sum -= centre);
            } else if !uniform {
                place.weigh(roots, w);
            }
            let buffers = [&mut *work.left, &mut *work.right, &mut *work.column, &mut *work.other_column];
            backward(&points.x, place, work.output_factors, w, factor, sum, buffers);
        }
    }

    /// The means of the monomials of a tile, and the factors that bring them to their scale; returns [`Tile::spread`].
    fn scale(&self, place: &Place<'_>, roots: &Roots, work: &mut StripeBuffers<'_>) -> f64 {
        let (monomials, length) = (self.monomials, place.len());
        let (x, n) = (&monomials.points.x, monomials.samples() as f64);
        let (means, scales) = (&mut work.means[..length], &mut work.scales[..length]);
        squares(x, place, work.factors, scales, work.left, work.right);
        if monomials.scale == MonomialScale::Standardized {
            forward(x, place, work.factors, means, work.left, work.right);
        } else {
            means.fill(0.0);
        }
        entries::factors(monomials.scale, n, scales, means);
        if !place.is_uniform() {
            place.weigh(roots, scales);
        }
        let ratios = means.iter().zip(&*scales).map(|(mean, scale)| (mean * scale) * (mean * scale));
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

/// Samples that go into one product.
fn panels(samples: usize) -> impl Iterator<Item = Range<usize>> {
    (0..samples).step_by(PANEL).map(move |start| start..(start + PANEL).min(samples))
}

/// `diag(factors) X_J` over some samples, one column after another; the factors themselves where there is no j.
fn weighted_left(x: &FeatureMatrix<'_>, place: &Place<'_>, samples: &Range<usize>, factors: &[f64], left: &mut [f64]) {
    let n = samples.len();
    let factors = &factors[samples.clone()];
    if place.outer.is_empty() {
        left.copy_from_slice(factors);
        return;
    }
    for (j, left) in place.outer.clone().zip(left.chunks_mut(n)) {
        if x.is_sparse() {
            x.column_part(j, samples.clone(), left);
            left.iter_mut().zip(factors).for_each(|(left, factor)| *left *= factor);
        } else {
            entries::multiply(left, x.column_part(j, samples.clone(), &mut []), factors);
        }
    }
}

/// `X_K` over some samples; ones where there is no k.
fn right_panel<'b>(
    x: &'b FeatureMatrix<'_>,
    place: &Place<'_>,
    samples: Range<usize>,
    buffer: &'b mut [f64],
) -> MatRef<'b, f64> {
    if place.inner.is_empty() {
        buffer[..samples.len()].fill(1.0);
        return MatRef::from_column_major_slice(&buffer[..samples.len()], samples.len(), 1);
    }
    x.panel(place.inner.clone(), samples, buffer)
}

/// `X_K' diag(factors) X_J`.
fn forward(
    x: &FeatureMatrix<'_>,
    place: &Place<'_>,
    factors: &[f64],
    out: &mut [f64],
    left: &mut [f64],
    right: &mut [f64],
) {
    let (outer, inner) = (place.outer.len().max(1), place.inner_len());
    let mut out = MatMut::from_column_major_slice_mut(out, inner, outer);
    for samples in panels(x.samples()) {
        let n = samples.len();
        let left = &mut left[..n * outer];
        weighted_left(x, place, &samples, factors, left);
        let accumulate = if samples.start == 0 { Accum::Replace } else { Accum::Add };
        let right = right_panel(x, place, samples, right);
        let left = MatRef::from_column_major_slice(left, n, outer);
        matmul(out.as_mut(), accumulate, right.transpose(), left, 1.0, Par::Seq);
    }
}

/// `(X_K . X_K)' diag(factors^2) (X_J . X_J)`.
fn squares(
    x: &FeatureMatrix<'_>,
    place: &Place<'_>,
    factors: &[f64],
    out: &mut [f64],
    left: &mut [f64],
    right: &mut [f64],
) {
    let (outer, inner) = (place.outer.len().max(1), place.inner_len());
    let mut out = MatMut::from_column_major_slice_mut(out, inner, outer);
    for samples in panels(x.samples()) {
        let n = samples.len();
        let (left, right) = (&mut left[..n * outer], &mut right[..n * inner]);
        weighted_left(x, place, &samples, factors, left);
        entries::square(left);
        if place.inner.is_empty() {
            right.fill(1.0);
        }
        for (k, right) in place.inner.clone().zip(right.chunks_mut(n)) {
            if x.is_sparse() {
                x.column_part(k, samples.clone(), right);
                entries::square(right);
            } else {
                let column = x.column_part(k, samples.clone(), &mut []);
                entries::multiply(right, column, column);
            }
        }
        let accumulate = if samples.start == 0 { Accum::Replace } else { Accum::Add };
        let right = MatRef::from_column_major_slice(right, n, inner);
        let left = MatRef::from_column_major_slice(left, n, outer);
        matmul(out.as_mut(), accumulate, right.transpose(), left, 1.0, Par::Seq);
    }
}

/// `sum += factor (factors . rowsum(X_J . (X_K W)))`.
fn backward(
    x: &FeatureMatrix<'_>,
    place: &Place<'_>,
    factors: &[f64],
    w: &[f64],
    factor: f64,
    sum: &mut [f64],
    [left, right, column, rows]: [&mut [f64]; 4],
) {
    let (outer, inner) = (place.outer.len().max(1), place.inner_len());
    let w = MatRef::from_column_major_slice(w, inner, outer);
    for samples in panels(x.samples()) {
        let n = samples.len();
        let values = &mut left[..n * outer];
        let right = right_panel(x, place, samples.clone(), right);
        matmul(MatMut::from_column_major_slice_mut(values, n, outer), Accum::Replace, right, w, factor, Par::Seq);
        let rows = &mut rows[..n];
        if place.outer.is_empty() {
            rows.copy_from_slice(values);
        } else {
            rows.fill(0.0);
            for (j, values) in place.outer.clone().zip(values.chunks(n)) {
                let x = x.column_part(j, samples.clone(), column);
                entries::add_products(rows, x, values);
            }
        }
        for ((sum, row), factor) in sum[samples.clone()].iter_mut().zip(&*rows).zip(&factors[samples]) {
            *sum += row * factor;
        }
    }
}
