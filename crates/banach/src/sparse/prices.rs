//! What other terms would explain, given a support: in its place, or besides it.
//!
//! Let r be what the support leaves of the target, Q its basis, `d_i` the direction that only its i-th column has, and
//! `c_i = <d_i, target>` ([`OwnDirections`](super::support::OwnDirections)). For a column a of unit length, with
//! `rest = 1 - ||Q'a||^2`,
//!
//! ```text
//! besides the support, a explains           <a, r>^2 / rest                              more;
//! in the place of column i, it explains     (<a, r> + c_i <a, d_i>)^2 / (rest + <a, d_i>^2) - c_i^2   more.
//! ```
//!
//! So the products of a with r and Q price every addition and every exchange: `<a, d_i>` is a combination of `Q'a`.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::{
    WorkingColumns,
    support::{DEPENDENT, OwnDirections, Support},
};
use crate::workers::checkpoint;

/// WorkingColumns that are priced together: the products with a basis of a few dozen vectors stay in the second-level cache.
const BLOCK: usize = 256;

/// A column in the place of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exchange {
    /// Which column of the support leaves.
    pub leaves: usize,
    /// Which column comes.
    pub comes: usize,
    /// How much more is explained.
    pub gain: f64,
}

/// What columns of one block would explain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Priced {
    /// Besides the support, for each column.
    pub additions: Vec<f64>,
    /// In the place of each column of the support, one after another: `length` numbers for the first, `length` for the second, and so on.
    pub exchanges: Vec<f64>,
    /// What the support and the intercept leave of each column.
    rest: Vec<f64>,
}

/// The support in the form in which columns are priced.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    own: OwnDirections,
}

impl Prices {
    pub(crate) fn new(support: &Support, target: &[f64]) -> Self {
        Self { own: support.own_directions(target) }
    }

    /// What each column of the support does that the others cannot.
    pub(crate) fn own(&self) -> &OwnDirections {
        &self.own
    }

    /// Prices `length` columns by their products, one vector of products after another: with r, then with every vector of Q, and then
    /// with the constant where the columns are not orthogonal to it.
    pub(crate) fn price(&self, products: &[f64], length: usize, out: &mut Priced) {
        let (residual, basis) = products.split_at(length);
        let k = self.own.explained.len();
        out.additions.resize(length, 0.0);
        out.exchanges.resize(k * length, 0.0);
        out.rest.clear();
        out.rest.resize(length, 1.0);
        Arch::new().dispatch(PricingLoop { own: &self.own, residual, basis, out });
    }

    /// What columns at hand would explain, a block at a time. WorkingColumns of the support itself are not among them.
    pub(crate) fn of_columns<T: Send>(
        &self,
        support: &Support,
        columns: &WorkingColumns,
        look: impl Fn(usize, &Priced) -> T + Sync,
    ) -> Vec<T> {
        let (n, k) = (columns.samples(), support.len());
        let vectors = [support.residual(), support.basis()].concat();
        let blocks: Vec<usize> = (0..columns.len()).step_by(BLOCK).collect();
        let one = |&first: &usize| {
            checkpoint();
            let length = BLOCK.min(columns.len() - first);
            let mut products = vec![0.0; (k + 1) * length];
            let block = MatRef::from_column_major_slice(&columns.values()[first * n..][..length * n], n, length);
            matmul(
                MatMut::from_column_major_slice_mut(&mut products, length, k + 1),
                Accum::Replace,
                block.transpose(),
                MatRef::from_column_major_slice(&vectors, n, k + 1),
                1.0,
                Par::Seq,
            );
            let mut priced = Priced::default();
            self.price(&products, length, &mut priced);
            for &place in support.places() {
                if (first..first + length).contains(&place) {
                    let own = place - first;
                    priced.additions[own] = f64::NEG_INFINITY;
                    priced.exchanges.iter_mut().skip(own).step_by(length).for_each(|gain| *gain = f64::NEG_INFINITY);
                }
            }
            look(first, &priced)
        };
        blocks.par_iter().map(one).collect()
    }

    /// The columns at hand that would explain most besides the support, the best first.
    pub(crate) fn best_additions(
        &self,
        support: &Support,
        columns: &WorkingColumns,
        count: usize,
    ) -> Vec<(usize, f64)> {
        let best_of = |first: usize, priced: &Priced| {
            largest(numbered(first, &priced.additions).filter(|(_, gain)| *gain > 0.0).collect(), count)
        };
        largest(self.of_columns(support, columns, best_of).concat(), count)
    }

    /// The exchange with a column at hand that explains most more.
    pub(crate) fn best_exchange(&self, support: &Support, columns: &WorkingColumns) -> Option<Exchange> {
        let better = |best: Exchange, next: Exchange| if next.gain > best.gain { next } else { best };
        let best_of = |first: usize, priced: &Priced| {
            let length = priced.additions.len();
            let exchange =
                |(at, &gain): (usize, &f64)| Exchange { leaves: at / length, comes: first + at % length, gain };
            priced.exchanges.iter().enumerate().map(exchange).reduce(better)
        };
        let best = self.of_columns(support, columns, best_of).into_iter().flatten().reduce(better);
        best.filter(|best| best.gain > 0.0)
    }

    /// For each column of the support the columns at hand that would stand best in its place, the best first.
    pub(crate) fn best_exchanges(
        &self,
        support: &Support,
        columns: &WorkingColumns,
        count: usize,
    ) -> Vec<Vec<(usize, f64)>> {
        let best_of = |first: usize, priced: &Priced| -> Vec<Vec<(usize, f64)>> {
            let of_place =
                |gains: &[f64]| largest(numbered(first, gains).filter(|(_, gain)| gain.is_finite()).collect(), count);
            priced.exchanges.chunks(priced.additions.len()).map(of_place).collect()
        };
        let blocks = self.of_columns(support, columns, best_of);
        let of_term = |term: usize| largest(blocks.iter().flat_map(|block| block[term].clone()).collect(), count);
        (0..support.len()).map(of_term).collect()
    }
}

/// Gains with the numbers of their columns, of which the first is known.
fn numbered(first: usize, gains: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    gains.iter().enumerate().map(move |(at, gain)| (first + at, *gain))
}

/// The largest of numbered gains, the largest first; of equals the first.
fn largest(mut gains: Vec<(usize, f64)>, count: usize) -> Vec<(usize, f64)> {
    gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    gains.truncate(count);
    gains
}

/// What a column explains by its squared product with a residual, given what others leave of its squared length. A column that others leave
/// nothing of, or that explains nothing, is not worth looking at: minus infinity.
#[inline(always)]
pub(crate) fn gain(squared_product: f64, rest: f64) -> f64 {
    let gain = squared_product / rest.max(DEPENDENT);
    if rest > DEPENDENT && gain > 0.0 { gain } else { f64::NEG_INFINITY }
}

/// The loop over columns, at the width of the machine's vectors.
struct PricingLoop<'p> {
    own: &'p OwnDirections,
    residual: &'p [f64],
    basis: &'p [f64],
    out: &'p mut Priced,
}

impl WithSimd for PricingLoop<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { own, residual, basis, out: Priced { additions, exchanges, rest } } = self;
        let (length, k) = (rest.len(), own.explained.len());
        for q in basis.chunks(length) {
            rest.iter_mut().zip(q).for_each(|(rest, q)| *rest -= q * q);
        }
        for ((addition, residual), rest) in additions.iter_mut().zip(residual).zip(&*rest) {
            *addition = gain(residual * residual, *rest);
        }
        let terms = own.combinations.chunks(k.max(1)).zip(&own.explained).zip(exchanges.chunks_mut(length));
        for ((combination, &explained), gains) in terms {
            // First the product with the direction that only this term has.
            gains.fill(0.0);
            for (factor, q) in combination.iter().zip(basis.chunks(length)).filter(|(factor, _)| **factor != 0.0) {
                gains.iter_mut().zip(q).for_each(|(direction, q)| *direction += factor * q);
            }
            for ((gain, residual), rest) in gains.iter_mut().zip(residual).zip(&*rest) {
                let direction = *gain;
                let size = rest + direction * direction;
                let product = residual + explained * direction;
                *gain = self::gain(product * product, size) - explained * explained;
            }
        }
    }
}
