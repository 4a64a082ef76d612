//! Which route to take to `Q`: what each would cost, what keeps it from being taken, and why.
//!
//! `cost.rs` says what a route takes, `measure.rs` how fast the machine is, `table.rs` how a plan explains itself, `fits.rs`
//! how long fits will take, `paper_rule.rs` what the paper would do.

mod cost;
mod fits;
mod measure;
mod paper_rule;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use cost::Cost;
pub use fits::Fits;

use serde::{Deserialize, Serialize};

use self::cost::Workload;
use super::{Endpoint, Features, Gram, KernelFeatures, QForm, Tiles};
use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    cost::{Rates, feature_count},
    data::ExcludedProducts,
    error::{Parameter, names},
    kernel::{Block, MonomialScale, TensorKernel, check_columns, lists_inputs},
};

/// A way to hold `Q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Route {
    /// The features, as given or listed for a kernel.
    Features,
    /// The features of a kernel, formed a tile at a time in every pass.
    Tiles,
    /// The Gram tensor, stored.
    Gram,
    /// The Gram tensor, recomputed in every pass.
    Streamed,
}

// Sums over fewer terms, which lose fewer digits, come first.
names! {
    Route, Parameter::Route, "features, tiles, gram or streamed";
    Features "features", Tiles "tiles", Gram "gram", Streamed "streamed"
}

/// The size of a table of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of samples, n.
    pub samples: usize,
    /// The number of variables, d.
    pub inputs: usize,
    /// The number of entries that are stored.
    pub stored: usize,
    /// Whether they are stored with their rows.
    pub sparse: bool,
}

impl Shape {
    /// A table with all its entries.
    pub fn dense(samples: usize, inputs: usize) -> Self {
        Self { samples, inputs, stored: samples.saturating_mul(inputs), sparse: false }
    }
}

impl From<&FeatureMatrix<'_>> for Shape {
    fn from(x: &FeatureMatrix<'_>) -> Self {
        Self { samples: x.samples(), inputs: x.features(), stored: x.stored(), sparse: x.is_sparse() }
    }
}

/// What a plan is made for.
#[derive(Debug, Clone, PartialEq)]
pub struct Planner {
    /// How fast the machine is.
    pub rates: Rates,
    /// The memory that may be taken, besides the data.
    pub memory: Memory,
    /// The scale of the monomials.
    pub monomial_scale: MonomialScale,
    /// Problems that are solved together.
    pub problems: usize,
    /// Evaluations that the fit is assumed to take. Newton's method takes 5 to 30, the paper's algorithm 20 to 500.
    pub evaluations: usize,
    /// The only route to be considered; `None` for all.
    pub route: Option<Route>,
    /// Products of columns that are no monomials. A tensor holds all products, so that it cannot be taken for finitely many monomials.
    pub excluded: Option<Arc<ExcludedProducts>>,
}

impl Default for Planner {
    fn default() -> Self {
        Self::within(Memory::available())
    }
}

impl Planner {
    /// One problem, by any route, within some memory.
    pub fn within(memory: Memory) -> Self {
        Self {
            rates: Rates::default(),
            memory,
            monomial_scale: MonomialScale::Raw,
            problems: 1,
            evaluations: 50,
            route: None,
            excluded: None,
        }
    }
}

/// Predictions are good to about this factor. A route displaces one that loses fewer digits only if it is cheaper by more.
const MARGIN: f64 = 2.0;

impl Planner {
    /// What every route would cost, and the cheapest that can be taken. Listed features as they are given have the
    /// kernel [`Linear`](crate::kernel::Linear).
    ///
    /// ```
    /// use banach::{Exponent, Memory, Planner, Route, form::Shape, kernel::Exponential};
    ///
    /// // A tensor of 2.8 GB.
    /// let planner = Planner { memory: Memory::limit(1 << 30), ..Planner::default() };
    /// let plan = planner.plan(Shape::dense(300, 20), Exponential::new(0.1)?, Exponent::new(4.0 / 3.0)?)?;
    /// assert_eq!(plan.chosen(), Route::Streamed);
    /// println!("{plan}");
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn plan(&self, shape: Shape, kernel: impl TensorKernel + 'static, exponent: Exponent) -> Result<Plan, Error> {
        let kernel: Arc<dyn TensorKernel> = Arc::new(kernel);
        check_columns(&*kernel, shape.inputs)?;
        let task = Workload { shape, kernel: &*kernel, exponent, planner: self };
        let routes = Route::ALL.map(|route| RoutePlan { route, outcome: task.cost(route) }).to_vec();
        let chosen = self.choose(&routes)?;
        Ok(Plan { shape, kernel, exponent, planner: self.clone(), routes, chosen })
    }

    /// Whether the features are the columns of the data as they are.
    fn lists_inputs(&self, kernel: &dyn TensorKernel) -> bool {
        self.monomial_scale == MonomialScale::Raw && lists_inputs(kernel)
    }

    fn choose(&self, routes: &[RoutePlan]) -> Result<Route, Error> {
        let asked = |route: Route| self.route.is_none_or(|only| only == route);
        let mut best: Option<(Route, f64)> = None;
        for RoutePlan { route, outcome } in routes.iter().filter(|plan| asked(plan.route)) {
            if let Ok(cost) = outcome
                && best.is_none_or(|(_, total)| MARGIN * cost.total < total)
            {
                best = Some((*route, cost.total));
            }
        }
        let refused = || {
            let refusal = |plan: &RoutePlan| Some((plan.route.name(), plan.outcome.clone().err()?));
            let possible = routes.iter().filter(|plan| plan.outcome.is_ok());
            Error::NoRoute {
                refused: routes.iter().filter(|plan| asked(plan.route)).filter_map(refusal).collect(),
                admissible: possible.map(|plan| plan.route.name()).collect(),
            }
        };
        best.map(|(route, _)| route).ok_or_else(refused)
    }
}

/// What a route would cost, or what keeps it from being taken.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutePlan {
    /// The route.
    pub route: Route,
    /// Its cost, or the reason why not.
    pub outcome: Result<Cost, Error>,
}

/// Every route with its cost, and the one that was chosen.
#[derive(Debug, Clone)]
pub struct Plan {
    shape: Shape,
    kernel: Arc<dyn TensorKernel>,
    exponent: Exponent,
    planner: Planner,
    routes: Vec<RoutePlan>,
    chosen: Route,
}

impl Plan {
    /// Every route.
    pub fn routes(&self) -> &[RoutePlan] {
        &self.routes
    }

    /// The route that was chosen.
    pub fn chosen(&self) -> Route {
        self.chosen
    }

    /// The predicted cost of the chosen route.
    ///
    /// # Panics
    ///
    /// Never: the chosen route can be taken.
    pub fn cost(&self) -> Cost {
        let chosen = self.routes.iter().find(|plan| plan.route == self.chosen);
        *chosen.and_then(|plan| plan.outcome.as_ref().ok()).expect("the chosen route can be taken")
    }

    /// The size of the data.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The kernel.
    pub fn kernel(&self) -> &dyn TensorKernel {
        &*self.kernel
    }

    /// The kernel, to keep.
    pub(crate) fn shared_kernel(&self) -> Arc<dyn TensorKernel> {
        self.kernel.clone()
    }

    /// The exponents p and q.
    pub fn exponent(&self) -> Exponent {
        self.exponent
    }

    /// Whether the features are the columns of the data as they are.
    pub(crate) fn lists_inputs(&self) -> bool {
        self.planner.lists_inputs(&*self.kernel)
    }

    /// The scale of the monomials.
    pub fn monomial_scale(&self) -> MonomialScale {
        self.planner.monomial_scale
    }

    /// The products that are no monomials, of a kernel with finitely many.
    pub fn excluded(&self) -> Option<&Arc<ExcludedProducts>> {
        self.planner.excluded.as_ref().filter(|_| self.kernel.degrees().1.is_some_and(|highest| highest >= 2))
    }

    /// The number of monomials; `None` for infinitely many.
    pub fn monomials(&self) -> Option<f64> {
        let excluded = self.excluded();
        let count = |excluded: &ExcludedProducts| {
            let blocks = Block::all(&*self.kernel, self.kernel.degrees().1?);
            Some(blocks.map(|block| excluded.count(block.degree, block.distinct) as f64).sum())
        };
        excluded.map_or_else(|| feature_count(&*self.kernel, self.shape.inputs), |excluded| count(excluded))
    }

    /// The form of the data for which the plan was made. The data are not copied.
    pub fn build<'a>(&self, x: &'a FeatureMatrix<'_>) -> Result<Box<dyn QForm + 'a>, Error> {
        let Shape { samples, inputs, .. } = self.shape;
        Error::check_length("X", x.samples(), samples)?;
        Error::check_length("a row of X", x.features(), inputs)?;
        let (kernel, exponent) = (self.kernel.clone(), self.exponent);
        let monomial_scale = self.planner.monomial_scale;
        let x = x.view().with_excluded(self.excluded().cloned());
        // A form takes what the plan says, and leaves the rest to the solver.
        let memory = Memory::limit(self.cost().bytes);
        if exponent.is_endpoint() {
            return Ok(Box::new(Endpoint::new(x, kernel, monomial_scale)?));
        }
        Ok(match self.chosen {
            Route::Features if self.lists_inputs() => Box::new(Features::new(x, exponent)),
            Route::Features => {
                Box::new(KernelFeatures::with_monomial_scale(&x, kernel, monomial_scale, exponent, memory)?)
            }
            Route::Tiles => Box::new(Tiles::new(x, kernel, monomial_scale, exponent, memory)?),
            Route::Gram => Box::new(Gram::new(x, kernel, exponent, memory)?),
            Route::Streamed => Box::new(Gram::streamed(x, kernel, exponent, memory)?),
        })
    }
}
