//! What a route asks of the machine.

use super::{
    super::{
        gram::{INSTEAD as TENSOR_INSTEAD, PASS as TENSOR_PASS, PASS_INSTEAD as TENSOR_PASS_INSTEAD},
        kernel_features::FEATURES,
        tiles::{INSTEAD as TILES_INSTEAD, PASS},
    },
    Features, Gram, KernelFeatures, Planner, Route, Shape, Tiles,
};
use crate::{
    Error, Exponent,
    cost::tensor_entries,
    error::{Parameter, Remedy},
    kernel::{FeatureMap, INSTEAD, MonomialScale, TensorKernel, cardinality},
    monomials::PassSize,
};

/// Predicted seconds and bytes of a route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds before the first evaluation.
    pub setup: f64,
    /// Seconds of an evaluation of `Q` and `omega` for all problems together.
    pub evaluation: f64,
    /// Seconds of the set-up, of all evaluations that are assumed, and of Hessians where these cost more than a part of them.
    pub total: f64,
    /// Bytes, besides the data.
    pub bytes: u64,
}

/// Seconds to make the column of one monomial, whose variables are found from its number: hardly more for more samples, up to some
/// hundreds. Measured on 21 x 268, where they are most of a fit.
pub(super) const SECONDS_OF_COLUMN: f64 = 7e-7;

/// A computation whose cost is asked for: the data, the kernel and exponent, and what a planner knows of the machine.
pub(super) struct Workload<'a> {
    pub shape: Shape,
    pub kernel: &'a dyn TensorKernel,
    pub exponent: Exponent,
    pub planner: &'a Planner,
}

impl Workload<'_> {
    /// The cost of a route, or what keeps it from being taken.
    pub(super) fn cost(&self, route: Route) -> Result<Cost, Error> {
        match route {
            Route::Features if self.planner.lists_inputs(self.kernel) => self.given_features(),
            Route::Features => self.listed_features(),
            Route::Tiles => self.tiles(),
            Route::Gram => self.gram(),
            Route::Streamed => self.streamed(),
        }
    }

    fn given_features(&self) -> Result<Cost, Error> {
        let Shape { samples, inputs, stored, sparse } = self.shape;
        let bytes = Features::working_bytes(samples, inputs, stored, self.problems());
        let evaluation = if sparse { self.sparse_pass(stored, inputs) } else { self.dense_pass(stored as f64, inputs) };
        self.within(
            "a pass over the features",
            bytes,
            &[Remedy::Do("take fewer features or fewer problems at a time")],
            0.0,
            evaluation,
        )
    }

    fn listed_features(&self) -> Result<Cost, Error> {
        let Shape { samples, inputs, .. } = self.shape;
        if self.exponent.is_endpoint() {
            let allowed =
                "above 1 for a matrix of all features; tiles, which lists only those that matter, takes p = 1";
            return Err(Error::parameter(Parameter::P, self.exponent, allowed));
        }
        if cardinality(self.kernel, inputs).is_none() {
            return Err(Error::InfinitelyManyFeatures { kernel: self.kernel.name() });
        }
        let map = FeatureMap::new(self.kernel, inputs, self.exponent, None)?;
        let bytes = KernelFeatures::bytes(&map, self.planner.monomial_scale, samples, self.problems());
        let (entries, rates) = (samples as f64 * map.len() as f64, &self.planner.rates);
        let setup = entries / rates.listing + 8.0 * entries / rates.fresh;
        self.within(FEATURES, bytes, INSTEAD, setup, self.dense_pass(entries, map.len()))
    }

    fn tiles(&self) -> Result<Cost, Error> {
        let Shape { samples, inputs, stored, .. } = self.shape;
        let (monomial_scale, rates) = (self.planner.monomial_scale, &self.planner.rates);
        let bytes = Tiles::bytes(samples, inputs, self.kernel, monomial_scale, self.problems())?;
        let size = PassSize::new(inputs, self.kernel)?;
        let pass = rates.monomials(samples, size, monomial_scale, self.problems(), self.exponent);
        // Where there are no more tiles than blocks of variables, the data themselves are what takes time.
        let data = 2.0 * rates.reading(stored as f64, self.problems(), 1);
        let setup = if monomial_scale == MonomialScale::Raw { 0.0 } else { 8.0 * stored as f64 / rates.fresh };
        let cost = self.within(PASS, bytes, TILES_INSTEAD, setup, pass + data)?;
        let hessians = self.planner.evaluations as f64 * self.columns_of_hessian(size.entries);
        Ok(Cost { total: cost.total + hessians, ..cost })
    }

    /// The seconds in which the columns that a Hessian keeps are made out of their variables.
    fn columns_of_hessian(&self, monomials: f64) -> f64 {
        let n = self.shape.samples as f64;
        if self.exponent.q() == 2.0 || self.exponent.is_endpoint() {
            return 0.0;
        }
        let most = (Tiles::kept(monomials as u64, self.shape.samples) as f64).min(monomials);
        self.problems() as f64 * (monomials / n).max(4.0 * n).min(most) * SECONDS_OF_COLUMN
    }

    /// What keeps a tensor from being taken: it holds the monomials as they are.
    fn tensor_order(&self) -> Result<usize, Error> {
        if self.planner.excluded.is_some() && self.kernel.degrees().1.is_some_and(|highest| highest >= 2) {
            let allowed =
                "tiles or features: the columns have labels or two values, and a tensor would hold all their products";
            return Err(Error::parameter(Parameter::Route, "a Gram tensor", allowed));
        }
        match self.planner.monomial_scale {
            MonomialScale::Raw => self.exponent.order(),
            monomial_scale => Err(Error::parameter(
                Parameter::Monomials,
                monomial_scale,
                "raw; the Gram tensor cannot scale monomials, and the routes tiles and features can those of finitely many degrees",
            )),
        }
    }

    fn gram(&self) -> Result<Cost, Error> {
        let (samples, order) = (self.shape.samples, self.tensor_order()?);
        let (entries, rates) = (tensor_entries(samples, order), &self.planner.rates);
        let setup = self.filling(entries) + 8.0 * entries / rates.fresh;
        let one = Gram::bytes(samples, self.shape.inputs, self.kernel, order);
        let (more, passes) = self.beside_one(one, order);
        let evaluation = rates.reading(entries, self.problems(), passes);
        let what = "the Gram tensor, with the working memory of its passes,";
        self.within(what, one.map(|one| one.saturating_add(more)), TENSOR_INSTEAD, setup, evaluation)
    }

    fn streamed(&self) -> Result<Cost, Error> {
        let (samples, order) = (self.shape.samples, self.tensor_order()?);
        let (entries, rates) = (tensor_entries(samples, order), &self.planner.rates);
        let one = Gram::streamed_bytes(samples, self.shape.inputs, self.kernel, order);
        let (more, passes) = self.beside_one(one, order);
        // A tile is contracted while it is in cache.
        let evaluation = passes as f64 * self.filling(entries) + self.problems() as f64 * entries / rates.contraction;
        self.within(TENSOR_PASS, one.map(|one| one.saturating_add(more)), TENSOR_PASS_INSTEAD, 0.0, evaluation)
    }

    /// The bytes that a pass over a tensor takes for all problems beyond those for one, and the passes of an evaluation. Half of the
    /// memory that is left belongs to the solver.
    fn beside_one(&self, one: Option<u64>, order: usize) -> (u64, usize) {
        let room = self.planner.memory.less(one.unwrap_or(u64::MAX)).bytes() / 2;
        Gram::more_bytes(self.shape.samples, order, self.problems(), room)
    }

    fn problems(&self) -> usize {
        self.planner.problems.max(1)
    }

    fn within(
        &self,
        what: &'static str,
        bytes: Option<u64>,
        instead: &'static [Remedy],
        setup: f64,
        evaluation: f64,
    ) -> Result<Cost, Error> {
        let Planner { memory, evaluations, .. } = *self.planner;
        memory.check(what, bytes, instead)?;
        let total = setup + evaluations as f64 * evaluation;
        Ok(Cost { setup, evaluation, total, bytes: bytes.unwrap_or(u64::MAX) })
    }

    fn filling(&self, entries: f64) -> f64 {
        self.planner.rates.filling(entries, self.shape.inputs, self.kernel)
    }

    fn dense_pass(&self, entries: f64, features: usize) -> f64 {
        self.planner.rates.reading(entries, self.problems(), 1) + self.powers(features)
    }

    fn sparse_pass(&self, stored: usize, features: usize) -> f64 {
        (self.problems() * stored) as f64 / self.planner.rates.scatter + self.powers(features)
    }

    fn powers(&self, features: usize) -> f64 {
        self.planner.rates.powers(self.problems() as f64 * features as f64, self.exponent)
    }
}
