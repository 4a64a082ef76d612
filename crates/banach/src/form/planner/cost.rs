//! What a route asks of the machine.

use super::{
    super::{
        gram::{PASS as TENSOR_PASS, PASS_INSTEAD as TENSOR_INSTEAD},
        kernel_features::{FEATURES, INSTEAD},
        tiles::{INSTEAD as TILES_INSTEAD, PASS},
    },
    Features, Gram, KernelFeatures, Planner, Rates, Route, Shape, Tiles,
};
use crate::{
    Error, Exponent,
    kernel::{FeatureMap, MonomialScale, TensorKernel, cardinality},
};

/// Predicted seconds and bytes of a route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds before the first evaluation.
    pub setup: f64,
    /// Seconds of an evaluation of `Q` and `omega` for all problems together.
    pub evaluation: f64,
    /// Seconds of the set-up and of all evaluations that are assumed.
    pub total: f64,
    /// Bytes, besides the data.
    pub bytes: u64,
}

/// What is to be computed, and with what.
pub(super) struct Task<'a> {
    pub shape: Shape,
    pub kernel: &'a dyn TensorKernel,
    pub exponent: Exponent,
    pub planner: &'a Planner,
}

impl Task<'_> {
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
            "take fewer features or fewer problems at a time",
            0.0,
            evaluation,
        )
    }

    fn listed_features(&self) -> Result<Cost, Error> {
        let Shape { samples, inputs, .. } = self.shape;
        if cardinality(self.kernel, inputs).is_none() {
            return Err(Error::InfinitelyManyFeatures { kernel: self.kernel.name() });
        }
        let map = FeatureMap::new(self.kernel, inputs, self.exponent, None)?;
        let bytes = KernelFeatures::bytes(&map, self.planner.scale, samples, self.problems());
        let (entries, rates) = (samples as f64 * map.len() as f64, &self.planner.rates);
        let setup = entries / rates.listing + 8.0 * entries / rates.fresh;
        self.within(FEATURES, bytes, INSTEAD, setup, self.dense_pass(entries, map.len()))
    }

    fn tiles(&self) -> Result<Cost, Error> {
        let Shape { samples, inputs, stored, .. } = self.shape;
        let (scale, rates, problems) = (self.planner.scale, &self.planner.rates, self.problems() as f64);
        let bytes = Tiles::bytes(samples, inputs, self.kernel, scale, self.problems())?;
        let (entries, tiles) = Tiles::work(inputs, self.kernel)?;
        // Two products for every problem, and for all together those that find the scale.
        let shared = match scale {
            MonomialScale::Raw => 0.0,
            MonomialScale::Unit => 1.0,
            MonomialScale::Standardized => 2.0,
        };
        let operations = (2.0 * problems + shared) * 2.0 * samples as f64 * entries;
        let overhead = problems * tiles * TILE_OVERHEAD;
        let powers = problems * entries / self.power_rate();
        // Where there are no more tiles than blocks of variables, the data themselves are what takes time.
        let data = 2.0 * reading(stored as f64, self.problems(), 1, rates);
        let setup = if scale == MonomialScale::Raw { 0.0 } else { 8.0 * stored as f64 / rates.fresh };
        self.within(PASS, bytes, TILES_INSTEAD, setup, operations / rates.product + overhead + powers + data)
    }

    /// What keeps a tensor from being taken: it holds the monomials as they are.
    fn tensor_order(&self) -> Result<usize, Error> {
        match self.planner.scale {
            MonomialScale::Raw => self.exponent.order(),
            scale => Err(Error::Parameter {
                name: "monomials",
                got: scale.to_string(),
                allowed: "raw; the Gram tensor cannot scale monomials: use tiles or features",
            }),
        }
    }

    fn gram(&self) -> Result<Cost, Error> {
        let (samples, order) = (self.shape.samples, self.tensor_order()?);
        let (entries, rates) = (tensor_entries(samples, order), &self.planner.rates);
        let setup = self.filling(entries) + 8.0 * entries / rates.fresh;
        let one = Gram::bytes(samples, self.shape.inputs, self.kernel, order);
        let (more, passes) = self.beside_one(one, order);
        let evaluation = reading(entries, self.problems(), passes, rates);
        let instead = "stream the tensor, take fewer samples or a smaller q, or list the features";
        let what = "the Gram tensor, with the working memory of its passes,";
        self.within(what, one.map(|one| one.saturating_add(more)), instead, setup, evaluation)
    }

    fn streamed(&self) -> Result<Cost, Error> {
        let (samples, order) = (self.shape.samples, self.tensor_order()?);
        let (entries, rates) = (tensor_entries(samples, order), &self.planner.rates);
        let one = Gram::streamed_bytes(samples, self.shape.inputs, self.kernel, order);
        let (more, passes) = self.beside_one(one, order);
        // A tile is contracted while it is in cache.
        let evaluation = passes as f64 * self.filling(entries) + self.problems() as f64 * entries / rates.contraction;
        self.within(TENSOR_PASS, one.map(|one| one.saturating_add(more)), TENSOR_INSTEAD, 0.0, evaluation)
    }

    /// What a pass over a tensor takes for all problems beside that for one, and how many passes an evaluation is. Half of what
    /// is left is the solver's.
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
        instead: &'static str,
        setup: f64,
        evaluation: f64,
    ) -> Result<Cost, Error> {
        let Planner { memory, evaluations, .. } = *self.planner;
        memory.check(what, bytes, instead)?;
        let total = setup + evaluations as f64 * evaluation;
        Ok(Cost { setup, evaluation, total, bytes: bytes.unwrap_or(u64::MAX) })
    }

    /// Sums over the inputs, then the kernel entry by entry.
    fn filling(&self, entries: f64) -> f64 {
        let (rates, sums) = (&self.planner.rates, self.kernel.symmetric() as f64);
        entries * sums * (2.0 * self.shape.inputs as f64 / rates.product + 1.0 / rates.kernel)
    }

    fn dense_pass(&self, entries: f64, features: usize) -> f64 {
        reading(entries, self.problems(), 1, &self.planner.rates) + self.powers(features)
    }

    fn sparse_pass(&self, stored: usize, features: usize) -> f64 {
        (self.problems() * stored) as f64 / self.planner.rates.scatter + self.powers(features)
    }

    /// `|u|^(q-1)` of every feature.
    fn powers(&self, features: usize) -> f64 {
        self.problems() as f64 * features as f64 / self.power_rate()
    }

    fn power_rate(&self) -> f64 {
        let rates = &self.planner.rates;
        if self.exponent.is_fast() { rates.power } else { rates.real_power }
    }
}

/// Seconds that a tile takes besides its arithmetic (`banach-lab bench tiles`).
const TILE_OVERHEAD: f64 = 5e-6;

/// The share of the streaming rate that a pass reaches, which does something with what it reads (`banach-lab bench`).
const STREAMING: f64 = 0.7;

/// The first dual vector of a pass waits for memory, the others for the arithmetic.
fn reading(entries: f64, problems: usize, passes: usize, rates: &Rates) -> f64 {
    let first = (8.0 / (STREAMING * rates.stream)).max(1.0 / rates.contraction);
    entries * (passes as f64 * first + problems.saturating_sub(passes) as f64 / rates.contraction)
}

/// `(n+q-1 choose q)`, also where it is no longer a `usize`.
fn tensor_entries(samples: usize, order: usize) -> f64 {
    (0..order).map(|k| (samples + k) as f64 / (k + 1) as f64).product()
}
