//! What fits are predicted to take by a route: passes over the data, and the steps between them.

use super::{
    Plan, Planner, Route, Shape,
    cost::{SECONDS_OF_COLUMN, Workload},
};
use crate::{
    Memory,
    cost::{PredictedPass, Prediction, Rates, tensor_entries},
    form::{MOST_DENSE, is_in_place, tiles::Tiles},
};

/// Fits over one form, as a solver goes about them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fits {
    /// Fits in all.
    pub count: usize,
    /// Batches, one after another. The fits of one share their passes.
    pub batches: usize,
    /// Evaluations of a fit, on average.
    pub evaluations: f64,
    /// Steps of a fit that solve a system with second derivatives, on average.
    pub steps: f64,
    /// Systems of a step over all samples: a loss with kinks asks for two, the squared loss keeps its first.
    pub systems: f64,
}

/// The evaluations of the fit of a batch that takes most, as a multiple of their mean: the last passes serve few fits.
const LAST_OF_BATCH: f64 = 1.6;
/// The most problems that a pass is counted for: beyond, twice as many take twice as long.
const MOST_TOGETHER: f64 = 1e6;

/// Passes that are made once for all fits: norms and sizes of features, and the weights of the model; where weights are found exactly, also
/// those that judge what rounding has left.
const PASSES_ONCE: f64 = 2.0;
const PASSES_OF_ROUNDING: f64 = 2.0;
/// A pass over tiles that keeps the heaviest monomials, as a multiple of one that does not.
const KEEPING_TILES: f64 = 1.4;
/// Seconds of an evaluation for each sample: copies, roundings and the certificate, by one thread.
const SECONDS_OF_SAMPLE: f64 = 1e-7;
/// Seconds of a step whatever its size, by one thread.
const SECONDS_OF_STEP: f64 = 5e-5;
/// Seconds for each feature that is judged for its place in a Hessian, by one thread.
const SECONDS_OF_FEATURE: f64 = 2e-9;
/// A Hessian keeps more features after steps that gain little, which are more near p = 1: on average so many times as many as at first, for
/// each step after the first and unit of q.
const KEPT_GROWTH: f64 = 0.055;
/// Inner steps that find the weights of listed features, each with a system of its own.
const STEPS_OF_WEIGHTS: f64 = 5.0;
/// Reads of listed features by a step besides its pass.
const READS_OF_STEP: f64 = 8.0;
/// Steps of conjugate gradients that solve a system with features where they are stored, on average, without a barrier and with one. With large
/// gammas they are many more.
const STEPS_IN_PLACE: f64 = 5.0;
const STEPS_UNDER_BARRIER: f64 = 25.0;
/// Reads of these features by a step besides: their squares, the rounding of predictions, and how long a step may be.
const READS_IN_PLACE: f64 = 3.0;
/// The share of these features that precondition the others.
const HEAVY_SHARE: f64 = 0.05;

impl Plan {
    /// What fits by the chosen route are predicted to take on a machine with these rates.
    ///
    /// ```
    /// use banach::{Exponent, Planner, form::{Fits, Rates, Shape}, kernel::Polynomial};
    ///
    /// let plan = Planner::default().plan(Shape::dense(100, 60), Polynomial::new(8, 1.0, 0.0)?, Exponent::new(1.1)?)?;
    /// let fit = Fits { count: 1, batches: 1, evaluations: 10.0, steps: 9.0, systems: 1.0 };
    /// let prediction = plan.prediction(&fit, &Rates::default());
    /// assert!(prediction.is_announced(), "billions of monomials: {prediction}");
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn prediction(&self, fits: &Fits, rates: &Rates) -> Prediction {
        let (count, batches) = (fits.count as f64, fits.batches.max(1) as f64);
        let together = (count / batches).max(1.0);
        let at_a_time = if together > 1.0 { (together / LAST_OF_BATCH).clamp(1.0, MOST_TOGETHER).round() } else { 1.0 };
        let (once, _) = self.pass(1.0, rates);
        let (pass, setup) = self.pass(at_a_time, rates);
        let at_once = PASSES_ONCE + if self.finds_weights() { PASSES_OF_ROUNDING } else { 0.0 };
        let setup = setup + at_once * once + self.square_once(rates);
        let passes = fits.evaluations * count / at_a_time * pass;
        let steps = fits.steps * count * self.step(fits, rates, at_a_time);
        let longest = Some(PredictedPass { seconds: pass, over: self.passed_over() });
        Prediction { seconds: setup + passes + steps, setup, passes, fits: fits.count, longest }
    }

    /// Seconds of a pass that expands Q around a point of so many problems, and of what comes before the first. What memory allows was
    /// decided by the plan.
    fn pass(&self, problems: f64, rates: &Rates) -> (f64, f64) {
        let (planner, n) = (&self.planner, self.shape.samples);
        let planner =
            Planner { problems: problems as usize, rates: *rates, memory: Memory::limit(u64::MAX), ..planner.clone() };
        let task = Workload { shape: self.shape, kernel: &*self.kernel, exponent: self.exponent, planner: &planner };
        let Ok(cost) = task.cost(self.chosen) else { return (0.0, 0.0) };
        let expanded = match (self.chosen, self.exponent.order()) {
            (Route::Gram | Route::Streamed, Ok(order)) if order > 2 => {
                let filled = if self.chosen == Route::Streamed { cost.evaluation } else { 0.0 };
                filled + problems * tensor_entries(n, order) / rates.expansion
            }
            (Route::Tiles, _) => KEEPING_TILES * cost.evaluation,
            _ => cost.evaluation,
        };
        (expanded + problems * SECONDS_OF_SAMPLE * n as f64 * rates.share(problems), cost.setup)
    }

    /// For q = 2 the Hessian of listed features is the same everywhere, and found once.
    fn square_once(&self, rates: &Rates) -> f64 {
        let (n, features) = (self.shape.samples as f64, self.monomials().unwrap_or(0.0));
        let listed = matches!(self.chosen, Route::Features | Route::Tiles) && features > n && !self.is_in_place();
        if listed && self.exponent.q() == 2.0 { rates.square(n, features, 1.0) } else { 0.0 }
    }

    /// Whether Newton's method finds the weights of the features exactly, as it does where they are listed and not many
    /// (`solver/newton/listed`).
    pub(crate) fn finds_weights(&self) -> bool {
        let (n, features) = (self.shape.samples as f64, self.monomials().unwrap_or(f64::INFINITY));
        self.chosen == Route::Features && features <= 2.0 * n && !self.is_in_place()
    }

    /// Whether the Hessian is made of listed features where they are stored.
    fn is_in_place(&self) -> bool {
        let features = self.monomials().unwrap_or(0.0);
        self.chosen == Route::Features && is_in_place(self.shape.samples, features as usize)
    }

    /// Seconds of a step of one fit, where so many take one at a time.
    fn step(&self, fits: &Fits, rates: &Rates, at_a_time: f64) -> f64 {
        let n = self.shape.samples as f64;
        let features = self.monomials().unwrap_or(f64::INFINITY);
        let system = match self.chosen {
            Route::Gram | Route::Streamed => rates.factorisation(n, at_a_time),
            _ if self.finds_weights() => self.step_of_weights(features, fits, rates, at_a_time),
            _ if self.is_in_place() => self.step_in_place(features, fits, rates, at_a_time),
            _ if self.exponent.q() == 2.0 => rates.factorisation(n, at_a_time),
            _ => self.step_of_heaviest(features, fits, rates, at_a_time),
        };
        system + SECONDS_OF_STEP * rates.share(at_a_time)
    }

    /// The weights of few features are found exactly.
    fn step_of_weights(&self, features: f64, fits: &Fits, rates: &Rates, at_a_time: f64) -> f64 {
        let n = self.shape.samples as f64;
        let reading = rates.reading(self.shape.stored.max(1) as f64, 1, 1);
        let (once, inner) = if features < n {
            (rates.square(features, n, at_a_time), rates.factorisation(features, at_a_time))
        } else {
            (0.0, rates.square(n, features, at_a_time) + rates.factorisation(n, at_a_time))
        };
        fits.systems.min(1.0) * once + fits.systems.max(1.0) * (STEPS_OF_WEIGHTS * inner + READS_OF_STEP * reading)
    }

    /// The system is solved by conjugate gradients, which read the features.
    fn step_in_place(&self, features: f64, fits: &Fits, rates: &Rates, at_a_time: f64) -> f64 {
        let n = self.shape.samples as f64;
        let reading = rates.reading(self.shape.stored.max(1) as f64, 1, 1);
        let heavy = HEAVY_SHARE * features;
        let preconditioner = rates.square(heavy, n, at_a_time) + rates.factorisation(heavy, at_a_time);
        let steps = if fits.systems > 1.0 { STEPS_UNDER_BARRIER } else { STEPS_IN_PLACE };
        fits.systems.max(1.0) * (steps * reading + preconditioner) + READS_IN_PLACE * reading
    }

    /// The Hessian is that of the heaviest features.
    fn step_of_heaviest(&self, features: f64, fits: &Fits, rates: &Rates, at_a_time: f64) -> f64 {
        let (n, q) = (self.shape.samples as f64, self.exponent.q());
        let tiles = self.chosen == Route::Tiles;
        let most = if tiles { Tiles::kept(features.min(1e18) as u64, self.shape.samples) as f64 } else { features };
        let growth = 1.0 + KEPT_GROWTH * q * (fits.steps - 1.0).max(0.0);
        let kept = (growth * (features / n).max(4.0 * n)).min(most).min(features);
        let alone = SECONDS_OF_FEATURE * most + if tiles { SECONDS_OF_COLUMN * kept } else { 0.0 };
        // Beyond, a Hessian is its columns.
        let side = n.min(MOST_DENSE as f64);
        let square = rates.square(side, kept, at_a_time).min(self.scattered_square(kept, rates));
        square + rates.factorisation(side, at_a_time) + alone * rates.share(at_a_time)
    }

    /// Seconds for a Hessian from the pairs of stored entries of so many features.
    fn scattered_square(&self, kept: f64, rates: &Rates) -> f64 {
        let Shape { inputs, stored, sparse, .. } = self.shape;
        let scattered = sparse && self.chosen == Route::Features && self.lists_inputs();
        if scattered { kept * (stored as f64 / inputs as f64).powi(2) / rates.scatter } else { f64::INFINITY }
    }

    /// What a pass goes through.
    fn passed_over(&self) -> String {
        match self.chosen {
            Route::Features if self.lists_inputs() => "the data".to_owned(),
            Route::Features | Route::Tiles => {
                self.monomials().map_or_else(String::new, |count| format!("{count:.1e} monomials"))
            }
            Route::Gram | Route::Streamed => "the Gram tensor".to_owned(),
        }
    }
}

#[cfg(test)]
mod laws {
    use super::*;
    use crate::{
        Exponent,
        kernel::{Exponential, Linear, Polynomial, TensorKernel},
    };

    fn plan(shape: Shape, kernel: impl TensorKernel + 'static, p: f64, route: Option<Route>) -> Plan {
        let planner = Planner { memory: Memory::limit(1 << 33), route, ..Planner::default() };
        planner.plan(shape, kernel, Exponent::new(p).expect("inside")).expect("a route")
    }

    /// Plans of every route, with few features and with many.
    fn plans() -> Vec<Plan> {
        let squares = || Polynomial::new(2, 1.0, 0.0).expect("valid");
        let mut plans: Vec<Plan> =
            Route::ALL.map(|route| plan(Shape::dense(60, 40), squares(), 4.0 / 3.0, Some(route))).to_vec();
        plans.push(plan(Shape::dense(60, 8), Exponential::new(0.1).expect("valid"), 4.0 / 3.0, None));
        let shapes = [(50, 2000), (50, 2000), (3000, 20), (3000, 20), (60, 90), (1500, 2000), (1500, 6000)];
        for (shape, p) in shapes.into_iter().zip([1.05, 2.0, 1.1, 2.0, 1.5, 1.1, 2.0]) {
            plans.push(plan(Shape::dense(shape.0, shape.1), Linear, p, None));
        }
        plans.push(plan(Shape { samples: 500, inputs: 9000, stored: 30_000, sparse: true }, Linear, 1.1, None));
        plans
    }

    const ONE: Fits = Fits { count: 1, batches: 1, evaluations: 6.0, steps: 5.0, systems: 1.0 };

    #[test]
    fn more_work_takes_longer() {
        let rates = Rates::default();
        for plan in plans() {
            let seconds = |fits: Fits| plan.prediction(&fits, &rates).seconds;
            let one = seconds(ONE);
            assert!(one > 0.0 && one.is_finite(), "{plan}");
            let more = [
                Fits { count: 5, ..ONE },
                Fits { count: 5, batches: 5, ..ONE },
                Fits { evaluations: 7.0, ..ONE },
                Fits { steps: 6.0, ..ONE },
            ];
            assert!(more.iter().all(|fits| seconds(*fits) > one), "{plan}");
            // Fits of one batch share their passes.
            let (together, apart) = (Fits { count: 40, ..ONE }, Fits { count: 40, batches: 40, ..ONE });
            assert!(seconds(together) <= (1.0 + 1e-9) * seconds(apart), "{plan}");
            assert!(seconds(together) > 5.0 * one.min(seconds(Fits { count: 5, ..ONE })), "{plan}");
        }
    }

    #[test]
    fn twice_as_fast_a_machine_takes_no_longer() {
        let usual = Rates::default();
        let fast = Rates {
            cores: 4.0,
            stream: 2.0 * usual.stream,
            fresh: 2.0 * usual.fresh,
            product: 2.0 * usual.product,
            factor: 2.0 * usual.factor,
            contraction: 2.0 * usual.contraction,
            expansion: 2.0 * usual.expansion,
            scatter: 2.0 * usual.scatter,
            kernel: 2.0 * usual.kernel,
            listing: 2.0 * usual.listing,
            power: 2.0 * usual.power,
            real_power: 2.0 * usual.real_power,
        };
        for plan in plans() {
            for fits in [ONE, Fits { count: 100, batches: 5, ..ONE }] {
                let [usual, fast] = [&usual, &fast].map(|rates| plan.prediction(&fits, rates));
                assert!(fast.seconds <= usual.seconds * (1.0 + 1e-9), "{plan}");
                assert!(usual.setup + usual.passes <= usual.seconds && usual.fits == fits.count);
            }
        }
    }

    #[test]
    fn counts_without_end_do_not_overflow() {
        for plan in plans() {
            for fits in [
                Fits { count: usize::MAX, ..ONE },
                Fits { count: usize::MAX, batches: usize::MAX, ..ONE },
                Fits { count: 0, batches: 0, ..ONE },
            ] {
                let seconds = plan.prediction(&fits, &Rates::default()).seconds;
                assert!(seconds >= 0.0 && !seconds.is_nan(), "{plan}");
            }
        }
    }

    /// Billions of monomials, by the pass.
    #[test]
    fn hours_are_told_with_what_takes_them() {
        let kernel = Polynomial::new(8, 1.0, 0.0).expect("valid");
        let told = plan(Shape::dense(100, 60), kernel, 1.1, None).prediction(&ONE, &Rates::default());
        assert!(told.is_announced() && told.is_left_to_ask());
        let text = told.to_string();
        assert!(
            text.contains("hours (1 fit, a pass over 6.5e9 monomials takes") && text.contains("minutes)"),
            "{text}"
        );
    }
}
