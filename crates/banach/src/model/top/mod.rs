//! The largest monomials of a fitted function, by an exact search.
//!
//! The order of the weights `w_k = J_q(u_k)` is that of `u_k = sum_i alpha_i phi_k(x_i)`, so the search looks for the
//! largest `|u_k|` and knows nothing of p but the coefficients `c_k^(1/q)`.

mod bounds;
mod candidates;
mod search;
mod table;
#[cfg(test)]
mod tests;
mod tiled;
mod tree;

use self::{
    bounds::Bounds,
    search::{Found, Limits, Meter, search},
    tree::{SampleNorms, Tree, Value},
};
use super::{
    DualModel,
    endpoint::{entry_of_terms, top_of_terms},
};
use crate::{
    Error, FeatureMatrix,
    cost::{feature_count, passes_over_monomials},
    error::{Parameter, Remedy},
    kernel::{Monomial, MonomialScale},
    monomials::{Monomials, pass_bytes},
    numeric::WidePower,
};
pub(crate) use candidates::MonomialCandidate;

/// Instead of bounds on all monomials.
const FEWER_SAMPLES: &[Remedy] = &[Remedy::Do("take fewer samples")];

/// The highest degree that is searched for a kernel with infinitely many: tables of coefficients grow with it.
const MAX_DEGREE: usize = 512;

/// How much a search may take before it stops with what it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Monomials it may look at, where they are searched in the order of their bounds. More than 100,000, if they are
    /// finitely many, are gone through tile by tile instead, up to 7e10.
    pub nodes: u64,
    /// Seconds it may take; may be infinite. A search that is stopped by the clock does not find the same every time.
    pub seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { nodes: 5_000_000, seconds: f64::INFINITY }
    }
}

impl Budget {
    fn check(self) -> Result<Self, Error> {
        Parameter::Nodes.check(self.nodes, self.nodes > 0, "a whole number > 0")?;
        Parameter::Seconds.check(self.seconds, self.seconds > 0.0, "a number > 0, which may be infinite")?;
        Ok(self)
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// No monomial that is not listed has a larger weight.
    Complete,
    /// As many monomials were looked at as the budget allows, or as many wait as memory allows.
    NodeLimit,
    /// The time of the budget was over.
    TimeLimit,
    /// The power series falls off so slowly that monomials of a very high degree cannot be ruled out.
    DegreeLimit,
}

/// One of the largest monomials.
#[derive(Debug, Clone, PartialEq)]
pub struct TopMonomial {
    /// Its variables and exponents.
    pub monomial: Monomial,
    /// The weight `w_k` of its feature.
    pub weight: f64,
    /// What `x^k` is multiplied with in f: `c_k^(1/q) w_k`, or `w_k` divided by the size of the monomial on the samples. A
    /// normalised kernel divides all of f by `||Phi(x)||_q` besides.
    pub coefficient: f64,
    /// `|w_k|^p` as a part of `||w||_p^p`, where that is known ([`DualModel::with_omega`]).
    pub share: Option<f64>,
    /// An interval that contains the weight at the optimum, where something is known of it ([`DualModel::with_radius`]).
    pub interval: Option<(f64, f64)>,
}

/// The monomials with the largest weights, in order, and what is proven of them.
#[derive(Debug, Clone, PartialEq)]
pub struct TopMonomials {
    /// The largest first; of equals, that of the lower degree, or the first in a dictionary. Monomials of weight 0 are not
    /// listed.
    pub entries: Vec<TopMonomial>,
    /// How the search ended.
    pub end: SearchEnd,
    /// Monomials that were looked at.
    pub nodes: u64,
    /// A bound on the weights, in modulus, of all monomials that are not listed. It holds for this dual vector, and for the optimal one
    /// if its distance is known.
    pub unlisted: f64,
    /// Whether it is proven that the same monomials are the largest at the optimum.
    pub set_proven: bool,
    /// Whether it is proven that they are so in this order.
    pub order_proven: bool,
}

impl DualModel<'_> {
    /// The `count` monomials with the largest weights `|w_k|`.
    ///
    /// Exact unless the budget ends the search, for kernels with infinitely many features too: monomials are left out only
    /// by bounds on their weights, which hold in floating point. `docs/interactions.md` has the bounds and their proofs.
    ///
    /// Features that are 1e300 times smaller than others count as 0.
    ///
    /// ```
    /// use banach::{Exponent, FeatureMatrix, kernel::Exponential, model::{Budget, DualModel}};
    ///
    /// let x = FeatureMatrix::from_rows(3, 2, &[0.5, 1.0, -0.5, 0.8, 0.9, -0.6])?;
    /// let model = DualModel::new(x, Exponential::new(1.0)?, Exponent::from_fraction(4, 3)?, &[0.4, -0.7, 0.3])?;
    /// let top = model.top_monomials(2, Budget::default())?;
    /// let names: Vec<String> = top.entries.iter().map(|entry| entry.monomial.with_names(&["age", "dose"])).collect();
    /// assert_eq!(names, ["age", "age * dose^2"]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn top_monomials(&self, count: usize, budget: Budget) -> Result<TopMonomials, Error> {
        let mut meter = Meter::new(budget.check()?);
        if let Some(terms) = &self.terms {
            return Ok(top_of_terms(terms, count));
        }
        if feature_count(&*self.kernel, self.samples.features()).is_some_and(passes_over_monomials) {
            return self.top_by_tiles(&self.monomials()?, count, &mut meter);
        }
        let (tree, found) = match self.kernel.degrees() {
            (_, Some(highest)) => self.search_to(highest, &SampleNorms::new(self)?, count, &mut meter)?,
            (lowest, None) => self.search_deeper(lowest, count, &mut meter)?,
        };
        Ok(self.listed(&tree, found, meter.nodes))
    }

    /// What is known of given monomials, in their order; those that the kernel does not have get the weight 0.
    ///
    /// ```
    /// use banach::{Exponent, FeatureMatrix, kernel::Exponential, model::{Budget, DualModel}};
    ///
    /// let x = FeatureMatrix::from_rows(3, 2, &[0.5, 1.0, -0.5, 0.8, 0.9, -0.6])?;
    /// let model = DualModel::new(x, Exponential::new(1.0)?, Exponent::from_fraction(4, 3)?, &[0.4, -0.7, 0.3])?;
    /// let top = model.top_monomials(2, Budget::default())?.entries;
    /// let again = model.entries_of(&[top[1].monomial.clone(), top[0].monomial.clone()])?;
    /// assert_eq!((again[0].weight, again[1].weight), (top[1].weight, top[0].weight));
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn entries_of(&self, monomials: &[Monomial]) -> Result<Vec<TopMonomial>, Error> {
        super::explicit::check_variables(monomials, &self.samples)?;
        if let Some(terms) = &self.terms {
            return Ok(monomials.iter().map(|monomial| entry_of_terms(terms, monomial)).collect());
        }
        let excluded = self.samples.excluded().filter(|_| self.kernel.degrees().1.is_some());
        if let Some(excluded) =
            excluded.filter(|excluded| monomials.iter().any(|one| excluded.excludes(&one.variables())))
        {
            let (none, some): (Vec<_>, Vec<_>) =
                monomials.iter().cloned().partition(|monomial| excluded.excludes(&monomial.variables()));
            let mut some = self.entries_of(&some)?.into_iter();
            let nothing = |monomial: &Monomial| TopMonomial {
                monomial: monomial.clone(),
                weight: 0.0,
                coefficient: 0.0,
                share: self.ln_norm.map(|_| 0.0),
                interval: self.radius.map(|_| (0.0, 0.0)),
            };
            let entry =
                |monomial: &Monomial| if none.contains(monomial) { Some(nothing(monomial)) } else { some.next() };
            return Ok(monomials.iter().filter_map(entry).collect());
        }
        if self.kernel.normalized() {
            // The divisor is that of all features.
            return self.entries_in_order(monomials);
        }
        let mut variables: Vec<usize> =
            monomials.iter().flat_map(Monomial::factors).map(|&(variable, _)| variable).collect();
        variables.sort_unstable();
        variables.dedup();
        let n = self.samples.samples();
        let mut columns = vec![0.0; n * variables.len().max(1)];
        let chunks = columns.chunks_mut(n.max(1)).zip(&variables);
        chunks.for_each(|(column, &variable)| self.samples.column_into(variable, column));
        let samples = FeatureMatrix::from_columns(n, variables.len().max(1), columns)?;
        let place = |variable: usize| variables.partition_point(|&own| own < variable);
        let among = |monomial: &Monomial| {
            let factors = monomial.factors().iter();
            let places: Vec<usize> =
                factors.flat_map(|&(variable, power)| std::iter::repeat_n(place(variable), power)).collect();
            Monomial::of_sorted(&places)
        };
        let among: Vec<Monomial> = monomials.iter().map(among).collect();
        let entries = DualModel { samples, ..self.clone() }.entries_in_order(&among)?;
        let named = entries.into_iter().zip(monomials);
        Ok(named.map(|(entry, monomial)| TopMonomial { monomial: monomial.clone(), ..entry }).collect())
    }

    fn entries_in_order(&self, monomials: &[Monomial]) -> Result<Vec<TopMonomial>, Error> {
        let highest = monomials.iter().map(Monomial::degree).max().unwrap_or(0);
        let tree = Tree::new(self, &SampleNorms::new(self)?, highest)?;
        let mut z = vec![0.0; tree.stride];
        let mut entry = |monomial: &Monomial| {
            let exponents: Vec<usize> = monomial.factors().iter().map(|&(_, exponent)| exponent).collect();
            let (places, degree) = (tree.places(monomial), monomial.degree());
            let Value { u, width, .. } =
                if degree <= tree.highest() && self.kernel.unscaled_coefficient(&exponents) > 0.0 {
                    tree.product(&places, &mut z);
                    tree.value(&z, degree)
                } else {
                    Value { u: 0.0, width: 0.0, divisor: 1.0 }
                };
            self.entry(&tree, MonomialCandidate { monomial: monomial.clone(), u, width })
        };
        Ok(monomials.iter().map(&mut entry).collect())
    }

    /// Goes through all monomials, tile by tile.
    fn top_by_tiles(&self, monomials: &Monomials<'_>, count: usize, meter: &mut Meter) -> Result<TopMonomials, Error> {
        let highest = monomials.degrees().last().unwrap_or(0);
        let (n, d) = (monomials.samples(), monomials.inputs());
        let pass = pass_bytes(n, d, &*self.kernel, self.monomial_scale, 1)?;
        self.memory.less(Tree::bytes(self)).check("a pass over all monomials", pass, tree::INSTEAD)?;
        let tree = Tree::new(self, &SampleNorms::new(self)?, highest)?;
        let found = tiled::sweep(&tree, monomials, &self.alpha, count, meter);
        Ok(self.listed(&tree, found, meter.nodes))
    }

    fn monomials(&self) -> Result<Monomials<'_>, Error> {
        Monomials::new(self.samples.view(), self.kernel.clone(), self.monomial_scale, self.exponent)
    }

    /// Searches the monomials up to a degree.
    fn search_to(
        &self,
        highest: usize,
        diagonal: &SampleNorms,
        count: usize,
        meter: &mut Meter,
    ) -> Result<(Tree, Found), Error> {
        let tree = Tree::new(self, diagonal, highest)?;
        // If all features have one size, no bound tells one subtree from another.
        let raw = self.monomial_scale == MonomialScale::Raw;
        let bytes = if raw { Bounds::bytes(&tree) } else { 0 };
        let left = self.memory.less(Tree::bytes(self));
        left.check("bounds on all monomials", Some(bytes), FEWER_SAMPLES)?;
        meter.set_memory(left.less(bytes));
        let found = match raw.then(|| Bounds::new(&tree, meter)).transpose() {
            Ok(bounds) => search(&tree, bounds.as_ref(), count, meter),
            Err(end) => Found::nothing(count, end),
        };
        Ok((tree, found))
    }

    /// Searches a kernel without a highest degree: low degrees first, then up to where the tail of the series is below what has
    /// been found.
    fn search_deeper(&self, lowest: usize, count: usize, meter: &mut Meter) -> Result<(Tree, Found), Error> {
        if self.monomial_scale != MonomialScale::Raw {
            return Err(Error::InfinitelyManyFeatures { kernel: self.kernel.name() });
        }
        if self.kernel.symmetric() > 1 {
            let allowed = "a function of the one sum p_1, or one with a highest degree";
            return Err(Error::parameter(Parameter::Kernel, self.kernel.name(), allowed));
        }
        let diagonal = SampleNorms::new(self)?;
        let mut highest = lowest.max(2);
        let mut lower: Option<(Tree, Found)> = None;
        loop {
            let (tree, mut found) = self.search_to(highest, &diagonal, count, meter)?;
            let limits = Limits::new(&found.candidates);
            let tail = diagonal.tail(self, &tree, tree.highest());
            let most = tree.highest_in_range().min(MAX_DEGREE);
            let at_limit = tree.highest() < highest || highest >= most;
            if found.end != SearchEnd::Complete || !limits.wants(tail) || at_limit {
                if found.end == SearchEnd::Complete && limits.wants(tail) {
                    found.end = SearchEnd::DegreeLimit;
                }
                found.skipped = found.skipped.max(tail);
                // A search that was cut short may know less than the one before it. Both have the same units.
                return Ok(match lower {
                    Some((tree, lower)) if lower.candidates.threshold() > found.candidates.threshold() => {
                        (tree, Found { end: found.end, ..lower })
                    }
                    _ => (tree, found),
                });
            }
            // The first degree whose tail is below what has been found. While places are left it can be far too high.
            let (mut low, mut high) = (highest, most);
            while low + 1 < high && found.candidates.is_full() {
                let middle = low.midpoint(high);
                if limits.wants(diagonal.tail(self, &tree, middle)) { low = middle } else { high = middle }
            }
            highest = if found.candidates.is_full() { high } else { most.min(2 * highest) };
            found.skipped = found.skipped.max(tail);
            lower = Some((tree, found));
        }
    }

    /// What a search has found, in terms of weights.
    fn listed(&self, tree: &Tree, found: Found, nodes: u64) -> TopMonomials {
        let Found { candidates, end, skipped } = found;
        let (unlisted, least) = (candidates.rejected().max(skipped.upper), candidates.least());
        let kept = candidates.into_sorted();
        let set_proven = self.radius.is_some() && unlisted < least && (!kept.is_empty() || unlisted == 0.0);
        TopMonomials {
            end,
            nodes,
            unlisted: self.weight(tree, unlisted),
            set_proven,
            order_proven: set_proven && kept.windows(2).all(|pair| pair[1].upper() < pair[0].lower()),
            entries: kept.into_iter().map(|candidate| self.entry(tree, candidate)).collect(),
        }
    }

    /// `J_q(u)`, for u in units of the tree.
    fn weight(&self, tree: &Tree, u: f64) -> f64 {
        if u == 0.0 || !u.is_finite() {
            return u;
        }
        WidePower::new(u.abs(), tree.exponent, self.exponent.q() - 1.0).times(u.signum())
    }

    fn entry(&self, tree: &Tree, MonomialCandidate { monomial, u, width }: MonomialCandidate) -> TopMonomial {
        let (q, kernel) = (self.exponent.q(), &*self.kernel);
        let weight = WidePower::new(u.abs(), tree.exponent, q - 1.0);
        let places = tree.places(&monomial);
        let coefficient = if self.monomial_scale == MonomialScale::Raw {
            let exponents: Vec<usize> = monomial.factors().iter().map(|&(_, exponent)| exponent).collect();
            // c_k itself may be out of range.
            let log2_factor = kernel.scale().unwrap_or(1.0).log2() * monomial.degree() as f64 / q;
            weight.scaled_by_exp2(log2_factor).times(u.signum() * kernel.unscaled_coefficient(&exponents).powf(1.0 / q))
        } else {
            let mut z = vec![0.0; tree.stride];
            tree.product(&places, &mut z);
            let Value { divisor, .. } = tree.value(&z, places.len());
            weight.scaled_by_exp2(-tree.exponent_of(&places)).times(u.signum() / divisor)
        };
        let ln_power = WidePower::new(u.abs(), tree.exponent, q).ln_times(1.0);
        TopMonomial {
            monomial,
            weight: self.weight(tree, u),
            coefficient,
            share: self.ln_norm.map(|ln_norm| (ln_power - ln_norm).exp()),
            interval: self.radius.map(|_| (self.weight(tree, u - width), self.weight(tree, u + width))),
        }
    }
}
