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
    monomials::{Leading, MonomialSweep, Monomials, Place, PricedTerm, Tile, Visitor},
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

    /// The number of monomials, N. A constant among them is no term where there is an intercept.
    pub(crate) fn count(&self) -> f64 {
        let constant = self.constant.is_some() && self.monomials.degrees().next() == Some(0);
        self.monomials.count() as f64 - f64::from(u8::from(constant))
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
}

impl PricedStripe {
    fn new(lists: usize, count: usize) -> Self {
        Self { leading: (0..lists).map(|_| Leading::new(count)).collect(), priced: Priced::default() }
    }
}

/// Brings the products of a tile to columns of unit length: a unit monomial has the mean square 1.
fn scale(tile: &mut Tile<'_>, samples: usize) {
    let factor = tile.factor / (samples as f64).sqrt();
    tile.u.iter_mut().for_each(|u| *u *= factor);
}

/// Looks for the terms with the largest products with each vector.
struct CorrelationPass<'p> {
    vectors: usize,
    known: &'p WorkingColumns,
}

impl Visitor for CorrelationPass<'_> {
    type Own = PricedStripe;

    fn visit(&self, mut tile: Tile<'_>, own: &mut PricedStripe) -> bool {
        scale(&mut tile, self.known.samples());
        let length = tile.place.len();
        let (vectors, constant) = tile.u.split_at(self.vectors * length);
        for (vector, leading) in vectors.chunks(length).zip(&mut own.leading) {
            for (at, product) in vector.iter().enumerate() {
                let rest = 1.0 - constant.get(at).map_or(0.0, |constant| constant * constant);
                offer(leading, gain(product * product, rest), tile.place, at, self.known);
            }
        }
        false
    }
}

/// Looks for the terms that would explain most, given a support: besides it, and in the place of each of its terms.
struct PricingPass<'p> {
    prices: &'p Prices,
    known: &'p WorkingColumns,
}

impl Visitor for PricingPass<'_> {
    type Own = PricedStripe;

    fn visit(&self, mut tile: Tile<'_>, own: &mut PricedStripe) -> bool {
        scale(&mut tile, self.known.samples());
        let (length, PricedStripe { leading, priced }) = (tile.place.len(), own);
        self.prices.price(tile.u, length, priced);
        let lists = iter::once(&priced.additions[..]).chain(priced.exchanges.chunks(length));
        for (list, gains) in leading.iter_mut().zip(lists) {
            gains.iter().enumerate().for_each(|(at, gain)| offer(list, *gain, tile.place, at, self.known));
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
