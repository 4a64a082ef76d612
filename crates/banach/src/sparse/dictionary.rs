//! All terms that can be named: the monomials of a kernel over the samples, none of which is stored.

use std::{iter, sync::Arc};

use rayon::prelude::*;

use super::{
    Design, Prices, Subsets, Support, WorkingColumns,
    design::{project_out, unit},
    prices::{Priced, gain},
    support::DEPENDENT,
};
use crate::{
    Error, Exponent, FeatureMatrix,
    data::Scratch,
    error::Parameter,
    kernel::{Monomial, MonomialScale, TensorKernel},
    monomials::{Leading, MonomialSweep, Monomials, Place, PricedTerm, Tile, Visitor, note_above, note_beyond},
    numeric::vectorised,
};

/// The monomials of a kernel with finitely many, in the geometry of a [`Design`]: as columns of unit length, orthogonal to the constant.
#[derive(Debug)]
pub(crate) struct Dictionary<'x> {
    monomials: Monomials<'x>,
    constant: Option<Vec<f64>>,
}

/// What the terms that are not at hand would explain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offers {
    /// Those that would explain most besides the support, the best first.
    pub additions: Vec<PricedTerm>,
    /// Those that would explain most more in the place of each term of the support.
    pub exchanges: Vec<Vec<PricedTerm>>,
}

impl Offers {
    /// All terms that are offered.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &PricedTerm> {
        self.additions.iter().chain(self.exchanges.iter().flatten())
    }

    /// The smallest criterion that an addition leads to from a support, and that of an exchange; infinite where there is none.
    pub(crate) fn best_criteria(&self, subsets: &Subsets, support: &Support) -> (f64, f64) {
        let after = |more: usize, terms: &[PricedTerm]| {
            let best = terms.first();
            best.map_or(f64::INFINITY, |term| {
                subsets.criterion_of(support.unexplained() - term.gain, support.len() + more)
            })
        };
        let exchange = self.exchanges.iter().map(|terms| after(0, terms)).fold(f64::INFINITY, f64::min);
        (after(1, &self.additions), exchange)
    }
}

impl<'x> Dictionary<'x> {
    /// The terms of a kernel over samples.
    pub(crate) fn new(x: FeatureMatrix<'x>, kernel: Arc<dyn TensorKernel>, design: &Design) -> Result<Self, Error> {
        if kernel.normalized() {
            let allowed = "a kernel that is not normalised: with one that is, f is no sum of monomials";
            return Err(Error::Parameter { parameter: Parameter::Kernel, got: kernel.name(), allowed });
        }
        // WorkingColumns have unit length, whatever the coefficients of the kernel are, so no exponent matters.
        let monomials = Monomials::new(x, kernel, MonomialScale::Unit, Exponent::new(2.0)?)?;
        let monomials = monomials.with_row_factors(design.roots().to_vec());
        Ok(Self { monomials, constant: design.constant().map(<[f64]>::to_vec) })
    }

    /// The number of monomials that are not excluded, N. A constant among them is no term where there is an intercept.
    pub(crate) fn count(&self) -> f64 {
        let constant = self.constant.is_some() && self.monomials.degrees().next() == Some(0);
        self.monomials.possible() as f64 - f64::from(u8::from(constant))
    }

    /// The number of samples, n.
    pub(crate) fn samples(&self) -> usize {
        self.monomials.samples()
    }

    /// The numbers in a matrix of all monomials.
    pub(crate) fn entries(&self) -> u64 {
        self.monomials.count().saturating_mul(self.monomials.samples() as u64)
    }

    /// The variables of a term, each as often as it occurs, in increasing order.
    pub(crate) fn variables(&self, number: u64) -> Vec<usize> {
        self.monomials.variables(number).iter().map(|&variable| variable as usize).collect()
    }

    /// A term by its number.
    pub(crate) fn monomial(&self, number: u64) -> Monomial {
        Monomial::of_sorted(&self.variables(number))
    }

    /// The number of the term of these variables; `None` if it is not in the dictionary.
    pub(crate) fn number(&self, variables: &[usize]) -> Option<u64> {
        self.monomials.number(variables)
    }

    /// The number of variables, d.
    pub(crate) fn inputs(&self) -> usize {
        self.monomials.inputs()
    }

    /// Terms are numbered up to this.
    pub(crate) fn numbers(&self) -> u64 {
        self.monomials.count()
    }

    /// The terms of the degrees above a degree, of at least 1, in which there are none.
    pub(crate) fn without_parents(&self) -> Vec<u64> {
        let degrees: Vec<(usize, u64)> =
            self.monomials.degrees.iter().map(|degree| (degree.degree, degree.first)).collect();
        let mut numbers = Vec::new();
        for (at, &(degree, first)) in degrees.iter().enumerate() {
            let end = degrees.get(at + 1).map_or(self.numbers(), |(_, first)| *first);
            if at == 0 || degrees[at - 1].0 + 1 < degree || degree == 1 {
                numbers.extend(first..end);
            }
        }
        numbers
    }

    /// The same terms in the geometry of other weights.
    pub(crate) fn reweighted(&self, design: &Design) -> Dictionary<'_> {
        Dictionary {
            monomials: self.monomials.reweighted(design.roots().to_vec()),
            constant: design.constant().map(<[f64]>::to_vec),
        }
    }

    /// The column of a term; `None` if it cannot be told from the constant.
    pub(crate) fn column(&self, number: u64) -> Option<Vec<f64>> {
        let mut column = vec![0.0; self.monomials.samples()];
        self.monomials.column_into(&self.monomials.variables(number), &mut column);
        let (mut column, _) = unit(column);
        project_out(self.constant.as_deref(), &mut column);
        let (column, length) = unit(column);
        (length * length > DEPENDENT).then_some(column)
    }

    /// Writes out terms that are not at hand yet, and can be told from the constant.
    pub(crate) fn list(&self, numbers: impl IntoIterator<Item = u64>, columns: &mut WorkingColumns) {
        let mut new: Vec<u64> = numbers.into_iter().filter(|number| columns.place(*number).is_none()).collect();
        new.sort_unstable();
        new.dedup();
        let written: Vec<Option<Vec<f64>>> = new.par_iter().map(|&number| self.column(number)).collect();
        for (number, column) in new.into_iter().zip(written) {
            if let Some(column) = column {
                columns.push(number, &column);
            }
        }
    }

    /// Writes out all terms.
    pub(crate) fn list_all(&self, columns: &mut WorkingColumns) {
        self.list(0..self.monomials.count(), columns);
    }

    /// For each of several vectors, orthogonal to the constant, the terms with the largest products that are not at hand: one pass for all.
    pub(crate) fn correlated(&self, vectors: &[f64], count: usize, known: &WorkingColumns) -> Vec<Vec<PricedTerm>> {
        let lists = vectors.len() / self.monomials.samples();
        self.pass(vectors, lists, count, &CorrelationPass { vectors: lists, known })
    }

    /// What all terms that are not at hand would explain, given a support: one pass.
    pub(crate) fn offers(&self, support: &Support, prices: &Prices, count: usize, known: &WorkingColumns) -> Offers {
        let vectors = [support.residual(), support.basis()].concat();
        let mut lists = self.pass(&vectors, 1 + support.len(), count, &PricingPass { prices, known });
        let additions = lists.remove(0);
        Offers { additions, exchanges: lists }
    }

    /// The working memory of a pass with so many vectors, in bytes.
    pub(crate) fn pass_bytes(&self, vectors: usize) -> u64 {
        self.sweep(vectors + 1).bytes(vectors + 1)
    }

    fn sweep(&self, group: usize) -> MonomialSweep<'_, 'x> {
        MonomialSweep { monomials: &self.monomials, group, state: 0, output: None }
    }

    /// One pass that shows the products of all vectors, and after them those of the constant where there is one.
    fn pass<V: Visitor<Own = PricedStripe>>(
        &self,
        vectors: &[f64],
        lists: usize,
        count: usize,
        visitor: &V,
    ) -> Vec<Vec<PricedTerm>> {
        let vectors = [vectors, self.constant.as_deref().unwrap_or(&[])].concat();
        let group = vectors.len() / self.monomials.samples();
        let mut stripes: Vec<PricedStripe> =
            (0..self.monomials.stripes()).map(|_| PricedStripe::new(lists, count)).collect();
        self.sweep(group).run(&vectors, &mut stripes, &mut Scratch::new().pass, visitor, |_, _| {});
        let mut whole = PricedStripe::new(lists, count);
        for stripe in stripes {
            whole.leading.iter_mut().zip(stripe.leading).for_each(|(whole, part)| whole.merge(part));
        }
        whole.leading.into_iter().map(Leading::into_sorted).collect()
    }
}

/// What one stripe of a pass keeps.
struct PricedStripe {
    leading: Vec<Leading>,
    priced: Priced,
    /// What the products with the monomials of a tile are multiplied with.
    scales: Vec<f64>,
    /// Where in a tile there are candidates for a list.
    places: Vec<u32>,
}

impl PricedStripe {
    fn new(lists: usize, count: usize) -> Self {
        let leading = (0..lists).map(|_| Leading::new(count)).collect();
        Self { leading, priced: Priced::default(), scales: Vec::new(), places: Vec::new() }
    }
}

/// What brings the products of a tile to columns of unit length: a unit monomial has the mean square 1.
fn unit_factor(tile: &Tile<'_>, samples: usize) -> f64 {
    tile.factor / (samples as f64).sqrt()
}

/// Looks for the terms with the largest products with each vector.
struct CorrelationPass<'p> {
    vectors: usize,
    known: &'p WorkingColumns,
}

/// The gain of a term is the square of its product with a vector times a scale, but for ten roundings of a part in 10^16 each. So a term with a
/// larger gain than another is not passed over where its product times the scale is compared with the root of the other gain, less this share.
const ROUNDING_OF_ROOTS: f64 = 1e-14;

impl Visitor for CorrelationPass<'_> {
    type Own = PricedStripe;

    fn visit(&self, tile: Tile<'_>, own: &mut PricedStripe) -> bool {
        let (length, factor) = (tile.place.len(), unit_factor(&tile, self.known.samples()));
        let PricedStripe { leading, scales, places, .. } = own;
        let (vectors, constant) = tile.u.split_at(self.vectors * length);
        let rest = |at: usize| 1.0 - constant.get(at).map_or(0.0, |constant| (constant * factor).powi(2));
        scales.clear();
        scales.resize(length, factor);
        root_scales(constant, factor, scales);
        for (vector, leading) in vectors.chunks(length).zip(leading) {
            let threshold = leading.threshold();
            // Below the smallest normal number roundings are no share of it, and nothing is passed over.
            let root = if threshold < f64::MIN_POSITIVE { 0.0 } else { threshold.sqrt() };
            places.clear();
            note_above(vector, scales, (root * (1.0 - ROUNDING_OF_ROOTS)).max(f64::MIN_POSITIVE), places);
            for at in places.iter().map(|&at| at as usize) {
                offer(leading, gain((vector[at] * factor).powi(2), rest(at)), tile.place, at, self.known);
            }
        }
        false
    }
}

/// Divides factors by the root of what the constant leaves of each column; 0 where that is nothing.
fn root_scales(constant: &[f64], factor: f64, scales: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for (scale, constant) in scales.iter_mut().zip(constant) {
                let rest = 1.0 - (constant * factor) * (constant * factor);
                *scale = if rest > DEPENDENT { *scale / rest.max(DEPENDENT).sqrt() } else { 0.0 };
            }
        },
    );
}

/// Looks for the terms that would explain most, given a support: besides it, and in the place of each of its terms.
struct PricingPass<'p> {
    prices: &'p Prices,
    known: &'p WorkingColumns,
}

impl Visitor for PricingPass<'_> {
    type Own = PricedStripe;

    fn visit(&self, tile: Tile<'_>, own: &mut PricedStripe) -> bool {
        let (length, factor) = (tile.place.len(), unit_factor(&tile, self.known.samples()));
        let PricedStripe { leading, priced, places, .. } = own;
        tile.u.iter_mut().for_each(|u| *u *= factor);
        self.prices.price(tile.u, length, priced);
        let lists = iter::once(&priced.additions[..]).chain(priced.exchanges.chunks(length));
        for (list, gains) in leading.iter_mut().zip(lists) {
            places.clear();
            note_beyond(gains, list.threshold(), places);
            for at in places.iter().map(|&at| at as usize) {
                offer(list, gains[at], tile.place, at, self.known);
            }
        }
        false
    }
}

/// Keeps the term at a place of a tile if it is among the largest and not at hand.
#[inline]
fn offer(leading: &mut Leading, gain: f64, place: &Place<'_>, at: usize, known: &WorkingColumns) {
    if gain > leading.threshold() {
        let number = place.index(at / place.inner_len(), at % place.inner_len());
        if known.place(number).is_none() {
            leading.insert(PricedTerm { number, gain });
        }
    }
}
