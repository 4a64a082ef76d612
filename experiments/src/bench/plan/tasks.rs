//! What is fitted: the problems of the benchmark, and searches as users make them.

use banach::{
    FeatureMatrix, Search, Spec, Target,
    fit::{Effort, Gammas, KernelSpace},
    kernel::{KernelName, KernelSpec},
    loss::LossSpec,
    synthetic::SparseLinear,
};
use serde::Serialize;

use crate::Error;

/// What is measured.
#[derive(Debug, Clone, Serialize)]
pub struct PlanTask {
    /// A short name.
    pub key: &'static str,
    /// Samples.
    pub samples: usize,
    /// Variables.
    pub inputs: usize,
    /// Whether two classes are told apart.
    pub classes: bool,
    /// What is done.
    pub work: PlanWork,
}

/// What is done with the data.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanWork {
    /// One fit.
    Fit(Spec),
    /// A search with five folds, and the fit of what it takes.
    Search(Spec, Search),
    /// The automatic choice.
    Auto(Effort),
}

/// Folds of every search.
pub(super) const FOLDS: usize = 5;

impl PlanTask {
    fn fit(key: &'static str, (samples, inputs): (usize, usize), p: f64, gamma: f64) -> Self {
        let spec = Spec { p, gamma, fit_intercept: false, ..Spec::default() };
        Self { key, samples, inputs, classes: false, work: PlanWork::Fit(spec) }
    }

    fn logistic(key: &'static str, shape: (usize, usize), p: f64, gamma: f64) -> Self {
        Self::classes(key, shape, p, gamma, LossSpec::Logistic)
    }

    fn hinge(key: &'static str, shape: (usize, usize), p: f64, gamma: f64) -> Self {
        Self::classes(key, shape, p, gamma, LossSpec::Hinge)
    }

    fn classes(key: &'static str, (samples, inputs): (usize, usize), p: f64, gamma: f64, loss: LossSpec) -> Self {
        let spec = Spec { p, gamma, loss, fit_intercept: false, ..Spec::default() };
        Self { key, samples, inputs, classes: true, work: PlanWork::Fit(spec) }
    }

    fn search(key: &'static str, (samples, inputs): (usize, usize), kernel: KernelSpace, exponents: &[f64]) -> Self {
        let search = Search { exponents: exponents.to_vec(), gammas: Gammas::Count(20), ..Search::new(kernel) };
        Self { key, samples, inputs, classes: false, work: PlanWork::Search(Spec::default(), search) }
    }

    fn auto(key: &'static str, (samples, inputs): (usize, usize)) -> Self {
        Self { key, samples, inputs, classes: false, work: PlanWork::Auto(Effort::Normal) }
    }

    /// Its columns and targets, which are many: columns have deviation 1 where there are more samples than variables.
    pub(super) fn data(&self) -> Result<(FeatureMatrix<'static>, Vec<f64>), Error> {
        let Self { samples, inputs, classes, .. } = *self;
        let sample = SparseLinear { samples, features: inputs, relevant: 5.min(inputs), noise: 0.05 }.sample(0);
        let size = if samples > inputs { (samples as f64).sqrt() } else { 1.0 };
        let columns: Vec<f64> = sample.columns.into_iter().map(|entry| size * entry).collect();
        let noise = |i: usize| ((i * i + 7) as f64 * 0.618_033_988).fract() - 0.5;
        // Kernels with products have some to find.
        let product = |i: usize| if self.has_products() { columns[i] * columns[samples + i] + noise(i) } else { 0.0 };
        let target = |(i, y): (usize, f64)| match () {
            () if classes => {
                if size * y + noise(i) > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            () => size * y + product(i),
        };
        let targets: Vec<f64> = sample.targets.into_iter().enumerate().map(target).collect();
        Ok((FeatureMatrix::from_columns(samples, inputs, columns)?, targets))
    }

    fn has_products(&self) -> bool {
        match &self.work {
            PlanWork::Fit(spec) => spec.kernel != KernelSpec::Linear,
            PlanWork::Search(_, search) => search.kernels != [KernelSpace::Fixed(KernelSpec::Linear)],
            PlanWork::Auto(_) => true,
        }
    }

    /// The targets as they are asked for.
    pub(super) fn target<'t>(&self, targets: &'t [f64]) -> Target<'t> {
        if self.classes { Target::Labels(targets.iter().map(|y| *y as i64).collect()) } else { Target::from(targets) }
    }
}

/// The problems of the benchmark, searches with folds, and automatic choices.
pub fn full() -> Vec<PlanTask> {
    let linear = || KernelSpace::Fixed(KernelSpec::Linear);
    let products = || KernelSpace::Fixed(KernelSpec::poly(2));
    let exp = || KernelSpace::named(KernelName::Exp);
    let third = 4.0 / 3.0;
    vec![
        PlanTask::fit("small", (60, 600), third, 500.0),
        PlanTask::fit("wide", (200, 20_000), third, 400.0),
        PlanTask::fit("wide-loose", (200, 20_000), third, 4.0),
        PlanTask::fit("wide-near-one", (200, 20_000), 1.1, 900.0),
        PlanTask::fit("wide-nearer-one", (200, 20_000), 1.05, 900.0),
        PlanTask::fit("table1", (200, 100_000), third, 10.0),
        PlanTask::fit("table1-near-one", (200, 100_000), 1.1, 10.0),
        PlanTask::fit("table1-nearer-one", (200, 100_000), 1.05, 10.0),
        PlanTask::logistic("logistic", (100, 2_000), third, 3.0),
        PlanTask::logistic("tall-logistic-small", (1_070, 17), 2.0, 1.0),
        PlanTask::logistic("tall-logistic", (100_000, 50), 2.0, 1.0),
        PlanTask::fit("tall", (1_000_000, 50), 1.1, 1.0),
        PlanTask::search("search-wide", (100, 10_000), linear(), &[1.1]),
        PlanTask::search("search-small", (60, 600), linear(), &[third]),
        PlanTask::search("search-tall", (2_000, 30), linear(), &[1.1]),
        PlanTask::search("search-products", (150, 200), products(), &[1.1]),
        PlanTask::search("search-exp-60", (60, 10), exp(), &[third]),
        PlanTask::search("search-exp-100", (100, 10), exp(), &[third]),
        PlanTask::search("search-exp-default", (60, 10), exp(), &[]),
        PlanTask::search("search-products-wide", (150, 1_000), products(), &[1.1]),
        PlanTask::search("search-exp-150", (150, 10), exp(), &[third]),
        PlanTask::hinge("hinge", (200, 2_000), third, 3.0),
        PlanTask::auto("auto-small", (100, 10)),
        PlanTask::auto("auto-wide", (100, 2_000)),
        PlanTask::fit("square", (6_000, 6_000), third, 10.0),
        PlanTask::fit("square-near-one", (6_000, 6_000), 1.1, 10.0),
        PlanTask::logistic("square-logistic", (6_000, 6_000), third, 10.0),
    ]
}

/// What takes gigabytes and minutes, and is measured only where it is asked for.
pub fn on_request() -> Vec<PlanTask> {
    let third = 4.0 / 3.0;
    vec![
        PlanTask::fit("square-large", (20_000, 20_000), third, 10.0),
        PlanTask::fit("square-large-near-one", (20_000, 20_000), 1.1, 10.0),
        PlanTask::logistic("square-large-logistic", (20_000, 20_000), third, 10.0),
    ]
}

/// A few small ones, in seconds.
pub fn quick() -> Vec<PlanTask> {
    vec![
        PlanTask::fit("small", (20, 60), 4.0 / 3.0, 10.0),
        PlanTask::logistic("tall-logistic-small", (60, 5), 2.0, 1.0),
        PlanTask::search("search-small", (20, 60), KernelSpace::Fixed(KernelSpec::Linear), &[1.1]),
        PlanTask::auto("auto-small", (30, 3)),
    ]
}
