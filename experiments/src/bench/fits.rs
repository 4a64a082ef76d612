//! Whole fits against the machine's limit, and two threads against one.
//!
//! The limit of a fit is what its passes and its Hessians must take: one read of the matrix for every evaluation, at the rate at which it
//! can be read, and the multiplications of a Hessian for every step, at the rate of a matrix product. Both are measured beside the fits.

use banach::{FeatureMatrix, Fit, Spec, Target as Targets, Unobserved, synthetic::SparseLinear};
use faer::{
    Accum, Mat, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;

use super::{
    Figure, Side, Target,
    timing::{Best, ColdCache, read, rounds},
};
use crate::{Error, Watch};

/// How many times its limit a fit may take.
const MOST: f64 = 2.0;
/// How many times as fast two threads should be.
const FASTER: f64 = 1.6;

/// One fit: linear features, squared loss, no intercept.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct FitTask {
    /// Samples, n.
    pub samples: usize,
    /// Features, d.
    pub features: usize,
    /// The exponent.
    pub p: f64,
    /// The weight of the loss.
    pub gamma: f64,
    /// The relative duality gap.
    pub tolerance: f64,
}

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct FitsRequest {
    /// The fits.
    pub tasks: Vec<FitTask>,
    /// Rounds; the best of each side counts.
    pub rounds: usize,
}

impl FitsRequest {
    /// The sizes people have, with columns of norm 1.
    pub fn full(rounds: usize) -> Self {
        let task = |samples, features, p, gamma, tolerance| FitTask { samples, features, p, gamma, tolerance };
        let tasks = vec![
            task(60, 600, 4.0 / 3.0, 500.0, 1e-6),
            task(200, 20_000, 4.0 / 3.0, 400.0, 1e-6),
            task(200, 20_000, 4.0 / 3.0, 4.0, 1e-6),
            task(200, 20_000, 1.1, 900.0, 1e-6),
            task(200, 100_000, 4.0 / 3.0, 10.0, 1e-8),
            task(200, 100_000, 1.05, 10.0, 1e-8),
            task(1_000, 50_000, 4.0 / 3.0, 10.0, 1e-8),
        ];
        Self { tasks, rounds }
    }

    /// Small sizes that take a second; their ratios say little.
    pub fn quick(rounds: usize) -> Self {
        let task = FitTask { samples: 20, features: 300, p: 4.0 / 3.0, gamma: 10.0, tolerance: 1e-6 };
        Self { tasks: vec![task, FitTask { p: 1.1, ..task }], rounds }
    }
}

/// All fits.
#[derive(Debug, Clone, Serialize)]
pub struct Fits {
    /// What was measured.
    pub request: FitsRequest,
    /// Two figures for every fit: against its limit on one thread, and two threads against one.
    pub figures: Vec<Figure>,
}

impl Fits {
    /// Measures everything.
    ///
    /// # Panics
    ///
    /// If the operating system has no threads left.
    pub fn run(request: FitsRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of a few threads");
        let [one, two] = [1, 2].map(pool);
        let mut figures = Vec::new();
        for task in &request.tasks {
            figures.extend(task.figures(&one, &two, request.rounds, watch)?);
        }
        Ok(Self { request, figures })
    }
}

impl FitTask {
    fn figures(
        &self,
        one: &ThreadPool,
        two: &ThreadPool,
        count: usize,
        watch: &mut dyn Watch,
    ) -> Result<[Figure; 2], Error> {
        let &Self { samples, features, p, gamma, tolerance } = self;
        let what = format!("n = {samples}, d = {features}, p = {p:.2}, gamma = {gamma}, gap {tolerance:e}");
        let sample = SparseLinear { samples, features, relevant: 6, noise: 0.05 }.sample(0);
        let spec = Spec { p, gamma, tolerance, fit_intercept: false, ..Spec::default() };
        let fit = || {
            let x = FeatureMatrix::from_columns(samples, features, &sample.columns[..])?;
            Fit::new(&spec)?.run(&x, &Targets::from(&sample.targets[..]), None, &mut Unobserved)
        };
        let solution = fit()?.solutions()[0].clone();
        // What a Hessian keeps at first; see docs/solvers.md.
        let kept = (features / samples).max(4 * samples).min(features);
        let columns = Mat::from_fn(samples, kept, |i, k| sample.columns[k * samples + i]);
        let mut square = Mat::<f64>::zeros(samples, samples);
        let mut multiply = || {
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            let (left, right) = (columns.as_ref(), columns.transpose());
            triangular::matmul(square.as_mut(), lower, Accum::Replace, left, full, right, full, 1.0, Par::Seq);
        };
        let cache = ColdCache::new();
        let [mut reading, mut product, mut alone, mut together] = [(); 4].map(|()| Best::new());
        // A matrix that a cache holds is read from there by fits too.
        let evict = samples * features > CACHED;
        rounds(&what, count, watch, || {
            for pool in [one, two] {
                if evict {
                    cache.evict();
                }
                let best = if pool.current_num_threads() == 1 { &mut alone } else { &mut together };
                best.time(|| pool.install(fit));
            }
            if evict {
                cache.evict();
            }
            reading.time(|| one.install(|| read(&sample.columns)));
            product.time(&mut multiply);
        })?;
        let (evaluations, steps) = (solution.passes as f64, solution.iterations as f64);
        let limit = Best { seconds: evaluations * reading.seconds + steps * product.seconds };
        let seen = format!("{what}: {evaluations} evaluations, {steps} steps");
        Ok([
            Figure::new(
                format!("{seen}, against their limit"),
                Side::new("fit", &alone),
                Side::new("reads and products", &limit),
                Target::AtMost(MOST),
            ),
            Figure::new(
                format!("{what}, two threads against one"),
                Side::new("two threads", &together),
                Side::new("one thread", &alone),
                Target::AtLeast(FASTER),
            ),
        ])
    }
}

/// Numbers that a last-level cache of 32 MB holds.
const CACHED: usize = 1 << 22;
