//! The monomials that carry the weight of the Hessian, found in the pass that evaluates Q.
//!
//! A monomial's share in the trace of M is `|u|^(q-2) ||phi||^2 = (|u| rho)^(q-2)` with `rho = ||phi||^(2/(q-2))`. The norms are not at
//! hand in a pass; the product of the root mean squares of the variables stands for them, so that a monomial's *score*
//! `|u| rho` takes a multiplication. The C monomials with the largest scores are kept, exactly; of the others a sample of scores, so
//! that their part of the trace is known.

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rayon::prelude::*;

use super::{
    Tiles,
    evaluate::{Powers, pass},
};
use crate::{
    data::Scratch,
    exponent::{NEGLIGIBLE, copy_in_range},
    form::{
        Evaluation, Expanded, Expansion, Hessian, HessianPart, LocalModel, QForm,
        expansion::Kept,
        heaviest::{Columns, HeaviestFeatures, square_hessian},
    },
    kernel::MonomialScale,
    monomials::{ListedMonomials, Monomials, Place, Tile, Visitor, note_above},
    numeric::{binary_exponent, largest, scale_by_exp2},
};

/// What a pass keeps for second-order steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heaviest {
    /// The numbers of the kept monomials, increasing.
    pub indices: Vec<u64>,
    /// Their u, divided by `2^exponent`.
    pub u: Vec<f64>,
    pub exponent: f64,
    /// Some of the monomials that were not kept; each stands for `each` of them.
    pub left_out: Vec<LeftOut>,
    /// 0 where all monomials are kept.
    pub each: f64,
}

impl Heaviest {
    /// Whether no monomial is left out.
    pub(super) fn is_complete(&self) -> bool {
        self.each == 0.0
    }
}

/// A monomial that was not kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeftOut {
    score: f64,
    /// Its u, divided by `2^exponent`.
    pub u: f64,
    /// The square of its norm, relative to the largest.
    square: f64,
}

/// About how many of the monomials that are left out are sampled: their part of the trace is then known to about a percent.
const JUDGED: u64 = 1 << 14;

/// Estimates of the relative norms of the monomials.
#[derive(Debug, Clone)]
pub(super) struct MonomialNorms {
    /// `rho` of each variable, and the factor that all monomials of a degree share; at most 1.
    variables: Vec<f64>,
    degrees: Vec<f64>,
    /// The squares of the relative norms: of each variable, and the factor that all monomials of a degree share.
    squares: Vec<f64>,
    degree_squares: Vec<f64>,
    /// The square of the largest norm, for entries divided by `2^exponent`.
    largest: f64,
    exponent: f64,
}

impl MonomialNorms {
    pub(super) fn new(monomials: &Monomials<'_>) -> Self {
        let (n, degrees) = (monomials.samples(), monomials.degrees.len());
        if monomials.monomial_scale != MonomialScale::Raw {
            let variables = vec![1.0; monomials.inputs()];
            let (squares, degrees) = (variables.clone(), vec![1.0; degrees]);
            let degree_squares = degrees.clone();
            return Self { variables, degrees, squares, degree_squares, largest: n as f64, exponent: 0.0 };
        }
        let mut column = vec![0.0; n];
        // The binary logarithms of root mean squares: the squares may be out of range.
        let mut mean_of = |fill: &dyn Fn(&mut [f64])| {
            fill(&mut column);
            let size = largest(&column);
            let square = column.iter().map(|x| (x / size) * (x / size)).sum::<f64>() / n as f64;
            if size > 0.0 { size.log2() + 0.5 * square.log2() } else { f64::NEG_INFINITY }
        };
        let x = &monomials.points.x;
        let sizes: Vec<f64> =
            (0..monomials.inputs()).map(|j| mean_of(&|out: &mut [f64]| x.column_into(j, out))).collect();
        let rows = mean_of(&|out: &mut [f64]| monomials.points.factors_into(out));
        let most = sizes.iter().fold(f64::NEG_INFINITY, |most, size| most.max(*size));
        let most = if most.is_finite() { most } else { 0.0 };
        let common = |degree: usize| degree as f64 * most + monomials.typical_root(degree).log2() + rows;
        let sizes_of: Vec<f64> = monomials.degrees.iter().map(|degree| common(degree.degree)).collect();
        let highest = sizes_of.iter().fold(f64::NEG_INFINITY, |highest, size| highest.max(*size));
        // Near q = 2, where norms alone decide, rho is out of range for all but the largest.
        let power = (2.0 / (monomials.exponent.q() - 2.0)).min(1.0);
        let raised = |sizes: &[f64], most: f64, power: f64| -> Vec<f64> {
            sizes.iter().map(|size| ((size - most) * power).exp2()).collect()
        };
        let exponent = highest.floor().clamp(-1000.0, 1000.0);
        Self {
            variables: raised(&sizes, most, power),
            degrees: raised(&sizes_of, highest, power),
            squares: raised(&sizes, most, 2.0),
            degree_squares: raised(&sizes_of, highest, 2.0),
            largest: scale_by_exp2(n as f64, 2.0 * (highest - exponent)),
            exponent,
        }
    }

    /// The factor that `rho` of all monomials of a tile has in common.
    fn common(&self, place: &Place<'_>) -> f64 {
        self.degrees[place.block] * place.prefix.iter().map(|&variable| self.variables[variable]).product::<f64>()
    }

    /// `rho` of a monomial, and the square of its relative norm.
    fn of(&self, monomials: &Monomials<'_>, variables: &[u32]) -> (f64, f64) {
        let block = monomials.degrees.iter().position(|degree| degree.degree == variables.len()).unwrap_or(0);
        let product = |of: &[f64]| variables.iter().map(|&variable| of[variable as usize]).product::<f64>();
        (self.degrees[block] * product(&self.variables), self.degree_squares[block] * product(&self.squares))
    }

    /// The square of the relative norm of an entry of a tile.
    fn square(&self, place: &Place<'_>, column: usize, row: usize) -> f64 {
        let prefix: f64 = place.prefix.iter().map(|&variable| self.squares[variable]).product();
        let of = |range: &Range<usize>, at: usize| if range.is_empty() { 1.0 } else { self.squares[range.start + at] };
        self.degree_squares[place.block] * prefix * of(&place.outer, column) * of(&place.inner, row)
    }
}

/// A monomial that may be kept.
#[derive(Debug, Clone, Copy)]
struct HeavyMonomial {
    score: f64,
    u: f64,
    index: u64,
}

impl HeavyMonomial {
    /// Heavier ones first; those of equal score by their number.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        other.score.total_cmp(&self.score).then(self.index.cmp(&other.index))
    }
}

/// What one stripe has found for one dual vector.
#[derive(Debug, Clone, Default)]
struct FoundInStripe {
    candidates: Vec<HeavyMonomial>,
    left_out: Vec<LeftOut>,
    /// Entries until the next one that is sampled.
    until: usize,
    /// Working memory: rows of one column.
    places: Vec<u32>,
}

/// Evaluates and keeps the heaviest.
struct Collect<'c> {
    powers: Powers,
    norms: &'c MonomialNorms,
    capacity: usize,
    every: usize,
    /// One for each dual vector.
    pools: &'c [Shared],
}

/// What all stripes together have found for one dual vector.
#[derive(Debug, Default)]
struct Shared {
    candidates: Mutex<Vec<HeavyMonomial>>,
    /// The bits of a score that as many monomials reach as can be kept. What is below it is never kept, so the result does not
    /// depend on when the threshold is raised, nor by which stripe.
    threshold: AtomicU64,
}

/// About how many candidates a stripe hands in at a time: enough that stripes seldom wait for the lock.
const HANDED_IN: usize = 512;

impl Shared {
    fn threshold(&self) -> f64 {
        f64::from_bits(self.threshold.load(Ordering::Relaxed))
    }

    fn take_in(&self, candidates: &mut Vec<HeavyMonomial>, capacity: usize) {
        let mut all = self.candidates.lock().unwrap_or_else(PoisonError::into_inner);
        all.append(candidates);
        if all.len() >= 2 * capacity {
            let reached = cut(&mut all, capacity);
            self.threshold.fetch_max(reached.to_bits(), Ordering::Relaxed);
        }
    }
}

/// Keeps the heaviest of more than `capacity` candidates; returns the least of their scores.
fn cut(candidates: &mut Vec<HeavyMonomial>, capacity: usize) -> f64 {
    candidates.select_nth_unstable_by(capacity - 1, HeavyMonomial::compare);
    candidates.truncate(capacity);
    candidates[capacity - 1].score
}

impl Collect<'_> {
    fn collect(&self, tile: &Tile<'_>, size: f64, found: &mut FoundInStripe) {
        let place = tile.place;
        let inner = if place.inner.is_empty() { &[1.0][..] } else { &self.norms.variables[place.inner.clone()] };
        let outer = |column: usize| {
            if place.outer.is_empty() { 1.0 } else { self.norms.variables[place.outer.start + column] }
        };
        let common = tile.factor * self.norms.common(place);
        if self.every > 0 {
            let mut at = found.until;
            while at < tile.u.len() {
                let (column, row) = (at / inner.len(), at % inner.len());
                let score = tile.u[at].abs() * inner[row] * outer(column) * common;
                if score > 0.0 {
                    let u = tile.factor * tile.u[at].abs();
                    found.left_out.push(LeftOut { score, u, square: self.norms.square(place, column, row) });
                }
                at += self.every;
            }
            found.until = at - tile.u.len();
        }
        // No rho is above 1, so that no score is above the largest |u|.
        let mut least = self.pools[tile.group].threshold();
        if size < least {
            return;
        }
        for (column, u) in tile.u.chunks(inner.len()).enumerate() {
            let common = common * outer(column);
            if common == 0.0 {
                continue;
            }
            // Rounding must not lose one that is as heavy as the threshold; it is compared exactly below.
            let limit = (least / common * (1.0 - 1e-12)).max(f64::MIN_POSITIVE);
            found.places.clear();
            note_above(u, inner, limit, &mut found.places);
            for &row in &found.places {
                let (u, rho) = (u[row as usize], inner[row as usize]);
                let score = u.abs() * rho * common;
                if score >= least && score > 0.0 {
                    let index = place.index(column, row as usize);
                    found.candidates.push(HeavyMonomial { score, u: tile.factor * u, index });
                }
            }
            if found.candidates.len() >= HANDED_IN {
                self.pools[tile.group].take_in(&mut found.candidates, self.capacity);
                least = self.pools[tile.group].threshold();
            }
        }
    }
}

impl Visitor for Collect<'_> {
    /// One for each dual vector.
    type Own = Vec<FoundInStripe>;

    fn visit(&self, mut tile: Tile<'_>, own: &mut Self::Own) -> bool {
        let size = tile.factor * largest(tile.u);
        if size > 0.0 {
            self.collect(&tile, size, &mut own[tile.group]);
        }
        self.powers.raise(&mut tile, size)
    }
}

/// Evaluates a batch and keeps the heaviest monomials of each.
pub(super) fn expand(form: &Tiles<'_>, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
    let (monomials, n, batch) = (&form.monomials, form.samples(), out.len());
    let (powers, mut together) = (Powers { exponent: monomials.exponent }, Evaluation::default());
    if monomials.exponent.q() == 2.0 {
        form.evaluate(alphas, &mut together, scratch);
        for (problem, at) in out.iter_mut().enumerate() {
            at.evaluation.copy_from(&together, problem, n);
            at.kept = Kept::Nothing;
        }
        return;
    }
    let (capacity, count) = (form.capacity(), monomials.count());
    let every = if capacity as u64 == count { 0 } else { (count / JUDGED).max(1) as usize };
    let pools: Vec<Shared> = (0..batch).map(|_| Shared::default()).collect();
    let visitor = Collect { powers, norms: form.norms(), capacity, every, pools: &pools };
    let mut own = vec![vec![FoundInStripe::default(); batch]; monomials.stripes()];
    pass(monomials, alphas, &visitor, &mut own, &mut together, scratch);
    let copy = scratch.duals.take(n);
    for (problem, (at, alpha)) in out.iter_mut().zip(alphas.chunks(n)).enumerate() {
        at.evaluation.copy_from(&together, problem, n);
        for stripe in &mut own {
            pools[problem].take_in(&mut stripe[problem].candidates, capacity);
        }
        let mut candidates =
            std::mem::take(&mut *pools[problem].candidates.lock().unwrap_or_else(PoisonError::into_inner));
        let least =
            if candidates.len() > capacity { cut(&mut candidates, capacity) } else { pools[problem].threshold() };
        candidates.sort_unstable_by_key(|candidate| candidate.index);
        let left_out = own.iter().flat_map(|stripe| &stripe[problem].left_out).copied();
        at.kept = Kept::Heaviest(Heaviest {
            indices: candidates.iter().map(|candidate| candidate.index).collect(),
            u: candidates.iter().map(|candidate| candidate.u).collect(),
            exponent: copy_in_range(alpha, copy),
            // Some of the monomials that are as heavy as the last kept one are left out.
            left_out: left_out.filter(|one| one.score <= least).collect(),
            each: every as f64,
        });
    }
}

/// The most numbers that an expansion keeps of the monomials that it leaves out.
pub(super) fn left_out_length(form: &Tiles<'_>) -> usize {
    let (capacity, count) = (form.capacity() as u64, form.monomials.count());
    if capacity == count { 0 } else { size_of::<LeftOut>() / 8 * (count / (count / JUDGED).max(1)) as usize }
}

/// The most numbers that stripes collect for one dual vector before an expansion is made of them: the sample of what is left out,
/// twice as many candidates as are kept, and those that are not handed in yet. Lists grow by doubling.
pub(super) fn collected_length(form: &Tiles<'_>) -> usize {
    let (each, stripes) = (size_of::<HeavyMonomial>() / 8, form.monomials.stripes());
    2 * (left_out_length(form) + each * (2 * form.capacity() + HANDED_IN * stripes))
}

/// What an expansion of this form has kept.
pub(super) fn kept(at: &Expansion) -> &Heaviest {
    match &at.kept {
        Kept::Heaviest(heaviest) => heaviest,
        _ => panic!("an expansion is read by the form that made it"),
    }
}

/// The Hessian at an expansion, on the `keep` heaviest monomials.
pub(super) fn hessian(form: &Tiles<'_>, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
    let q = form.exponent().q();
    if q == 2.0 {
        return square_hessian(&form.square, || form.find_square(scratch));
    }
    let at = kept(at);
    let Some((selection, listed)) = select(form, at, keep) else {
        return Hessian::exact(HessianPart::Factor(Vec::new()));
    };
    let mut hessian = selection.hessian(&listed, q, scratch);
    hessian.columns.iter_mut().for_each(|column| *column = at.indices[*column] as usize);
    hessian
}

/// `Q` near an expansion, from the `keep` heaviest monomials.
pub(super) fn local(
    form: &Tiles<'_>,
    (alpha, expansion): Expanded<'_>,
    keep: usize,
    most_left_out: f64,
    scratch: &mut Scratch,
) -> Option<LocalModel> {
    let exponent = form.exponent();
    if exponent.q() == 2.0 {
        return None;
    }
    let at = kept(expansion);
    let (selection, listed) = select(form, at, keep)?;
    selection.local(exponent, (alpha, &expansion.evaluation.omegas), &listed, &at.u, most_left_out, scratch)
}

/// The `keep` heaviest of the monomials that an expansion has kept, as places in its list; `None` where all are 0.
fn select<'m, 'a>(
    form: &'m Tiles<'a>,
    at: &Heaviest,
    keep: usize,
) -> Option<(HeaviestFeatures, ListedMonomials<'m, 'a>)> {
    let (q, norms) = (form.exponent().q(), form.norms());
    let size = largest(&at.u);
    if size < NEGLIGIBLE {
        return None;
    }
    let listed = ListedMonomials::new(&form.monomials, &at.indices);
    let share = |u: f64, square: f64| (u / size).powf(q - 2.0) * square;
    let mut tail = at.each * at.left_out.iter().map(|one| share(one.u, one.square)).sum::<f64>();
    let mut columns: Vec<usize> = (0..at.u.len()).collect();
    if keep < columns.len() {
        let norms: Vec<(f64, f64)> =
            columns.iter().map(|&column| norms.of(&form.monomials, listed.variables(column))).collect();
        let scores: Vec<f64> = norms.iter().zip(&at.u).map(|((rho, _), u)| rho * u.abs()).collect();
        columns.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        tail += columns[keep..].iter().map(|&column| share(at.u[column].abs(), norms[column].1)).sum::<f64>();
        columns.truncate(keep);
        columns.sort_unstable();
    }
    let weights = columns.iter().map(|&column| (at.u[column].abs() / size).powf(q - 2.0)).collect();
    let selection = HeaviestFeatures {
        columns,
        weights,
        size,
        exponent: at.exponent,
        tail: norms.largest * tail,
        tail_exponent: norms.exponent,
    };
    Some((selection, listed))
}

impl Columns for ListedMonomials<'_, '_> {
    fn samples(&self) -> usize {
        self.monomials.samples()
    }

    fn column_into(&self, column: usize, out: &mut [f64]) {
        self.monomials.column_into(self.variables(column), out);
    }

    fn exponent(&self) -> Option<f64> {
        None
    }

    fn exponent_of(&self, columns: &[usize]) -> f64 {
        let size = |column: &mut Vec<f64>, at: &usize| {
            self.column_into(*at, column);
            largest(column)
        };
        let sizes = columns.par_iter().with_min_len(64).map_init(|| vec![0.0; self.samples()], size);
        f64::from(binary_exponent(sizes.reduce(|| 0.0, f64::max)))
    }
}
