//! The tiles route: evaluations against the matrix products they consist of, and fits with millions of monomials.

use std::{hint::black_box, ops::ControlFlow, time::Instant};

use banach::{
    DualProblem, Exponent, FeatureMatrix, Memory, Newton, QForm, Solver, Stopping,
    data::Scratch,
    form::{Evaluation, Tiles},
    kernel::{MonomialScale, Polynomial},
    loss::Squared,
    solver::Progress,
    synthetic::SparseQuadratic,
};
use faer::{Accum, Mat, Par, linalg::matmul::matmul};
use rayon::prelude::*;
use serde::Serialize;

use super::{
    Figure, Side, Target,
    memory::peak_bytes,
    timing::{Best, rounds},
};
use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct TilesRequest {
    /// The data.
    pub data: SparseQuadratic,
    /// The seed of the data.
    pub seed: u64,
    /// The exponents at which an evaluation is timed.
    pub exponents: Vec<&'static str>,
    /// The exponents at which a model is fitted.
    pub fits: Vec<&'static str>,
    /// The scales of the monomials that are fitted.
    pub scales: Vec<&'static str>,
    /// The weight of the loss.
    pub gamma: f64,
    /// The relative duality gap of a fit.
    pub tolerance: f64,
    /// The size of the matrix product beside an evaluation.
    pub product: usize,
    /// Rounds; the best of each side counts.
    pub rounds: usize,
}

impl TilesRequest {
    /// Fifty million monomials.
    pub fn full(rounds: usize) -> Self {
        Self {
            data: SparseQuadratic { samples: 150, inputs: 10_000, relevant: 6, noise: 0.05 },
            seed: 0,
            exponents: vec!["4/3", "1.05", "1.27"],
            fits: vec!["1.05", "4/3"],
            scales: vec!["raw", "standardized"],
            gamma: 10.0,
            tolerance: 1e-8,
            product: 1024,
            rounds,
        }
    }

    /// A small size that takes seconds; its ratios say little.
    pub fn quick(rounds: usize) -> Self {
        let data = SparseQuadratic { samples: 30, inputs: 300, relevant: 3, noise: 0.05 };
        Self { data, product: 256, ..Self::full(rounds) }
    }
}

/// One fit.
#[derive(Debug, Clone, Serialize)]
pub struct TilesFit {
    /// The exponent.
    pub p: &'static str,
    /// The scale of the monomials.
    pub scale: &'static str,
    /// Passes over all monomials.
    pub passes: usize,
    /// Seconds.
    pub seconds: f64,
    /// The relative duality gap after every iteration, with the passes until then.
    pub gaps: Vec<(usize, f64)>,
    /// The most memory that the process has taken until then, with the data and all that was measured before, where the
    /// operating system tells.
    pub peak_bytes: Option<u64>,
}

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub struct TilesBench {
    /// What was measured.
    pub request: TilesRequest,
    /// Threads at work.
    pub threads: usize,
    /// Evaluations against matrix products.
    pub figures: Vec<Figure>,
    /// The fits.
    pub fits: Vec<TilesFit>,
}

impl TilesBench {
    /// Measures everything.
    pub fn run(request: TilesRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        watch.begin("data", 0);
        let sample = request.data.sample(request.seed);
        let (n, d) = (request.data.samples, request.data.inputs);
        let x = FeatureMatrix::from_columns(n, d, &sample.columns[..])?;
        let mut fits = Vec::new();
        for p in &request.fits {
            for scale in &request.scales {
                fits.push(fit(&request, &x, &sample.targets, p, scale, watch)?);
            }
        }
        let figures = of_data(&request, &x, watch)?;
        Ok(Self { request, threads: rayon::current_num_threads(), figures, fits })
    }
}

/// Evaluations against matrix products alone, without a fit.
pub(super) fn evaluations(request: &TilesRequest, watch: &mut dyn Watch) -> Result<Vec<Figure>, Error> {
    let sample = request.data.sample(request.seed);
    let x = FeatureMatrix::from_columns(request.data.samples, request.data.inputs, &sample.columns[..])?;
    of_data(request, &x, watch)
}

fn of_data(request: &TilesRequest, x: &FeatureMatrix<'_>, watch: &mut dyn Watch) -> Result<Vec<Figure>, Error> {
    let figures = request.exponents.iter().map(|p| evaluation(request, x, p, watch));
    Ok(figures.collect::<Result<Vec<_>, Error>>()?.concat())
}

fn form<'a>(x: &'a FeatureMatrix<'_>, p: &str, scale: MonomialScale) -> Result<Tiles<'a>, Error> {
    Ok(Tiles::new(x.view(), Polynomial::new(2, 1.0, 0.0)?, scale, p.parse::<Exponent>()?, Memory::available())?)
}

/// An evaluation, and one of standardised monomials, against matrix products on all cores.
fn evaluation(
    request: &TilesRequest,
    x: &FeatureMatrix<'_>,
    p: &'static str,
    watch: &mut dyn Watch,
) -> Result<Vec<Figure>, Error> {
    let (n, m) = (x.samples(), request.product);
    let [raw, standardized] = [form(x, p, MonomialScale::Raw)?, form(x, p, MonomialScale::Standardized)?];
    let alpha: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    let (mut out, mut scratch) = (Evaluation::default(), Scratch::new());
    let left = Mat::<f64>::from_fn(m, m, |i, j| ((i + 3 * j) as f64).sin());
    // One product per thread, none of which waits for another: the most that the machine can do.
    let mut products = vec![Mat::<f64>::zeros(m, m); rayon::current_num_threads()];
    let multiply = |product: &mut Mat<f64>| {
        matmul(product.as_mut(), Accum::Replace, left.as_ref(), left.as_ref(), 1.0, Par::Seq);
    };
    let (mut one, mut scaled, mut gemm) = (Best::new(), Best::new(), Best::new());
    rounds(&format!("evaluations of tiles, p = {p}"), request.rounds, watch, || {
        gemm.time(|| products.par_iter_mut().for_each(multiply));
        black_box(&products);
        one.time(|| raw.evaluate(&alpha, &mut out, &mut scratch));
        scaled.time(|| standardized.evaluate(&alpha, &mut out, &mut scratch));
    })?;
    let (monomials, work) = (request.data.features() as f64, (products.len() * m * m * m) as f64);
    let figure = |what: &str, best: &Best, products: f64| {
        Figure::new(
            format!("tiles, n = {n}, d = {}, p = {p}: {what} against a matrix product", x.features()),
            Side::new("one evaluation", best).with_work(products * n as f64 * monomials),
            Side::new("a product on every thread", &gemm).with_work(work),
            Target::AtLeast(0.5),
        )
    };
    Ok(vec![figure("Q and omega", &one, 2.0), figure("of standardised monomials", &scaled, 4.0)])
}

fn fit(
    request: &TilesRequest,
    x: &FeatureMatrix<'_>,
    y: &[f64],
    p: &'static str,
    scale: &'static str,
    watch: &mut dyn Watch,
) -> Result<TilesFit, Error> {
    watch.begin(&format!("fit of {scale} monomials, p = {p}"), 0);
    let started = Instant::now();
    let form = form(x, p, scale.parse()?)?;
    let problem = DualProblem::new(&form, &Squared, y, request.gamma)?.with_intercept()?;
    let stopping = Stopping { tolerance: request.tolerance, max_iterations: 200 };
    let mut gaps = Vec::new();
    let mut observer = |progress: &Progress| {
        gaps.push((progress.passes, progress.certificate.relative_gap()));
        ControlFlow::Continue(())
    };
    let solution = Newton { stopping, memory: Memory::available() }.solve(&problem, &mut observer)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(TilesFit { p, scale, passes: solution.passes, seconds, gaps, peak_bytes: peak_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn evaluations_and_fits_are_measured() {
        let data = SparseQuadratic { samples: 12, inputs: 20, relevant: 2, noise: 0.05 };
        let request = TilesRequest { data, product: 16, ..TilesRequest::quick(2) };
        let bench = TilesBench::run(request, &mut Count::default()).expect("it runs");
        assert_eq!((bench.figures.len(), bench.fits.len()), (6, 4));
        assert!(bench.figures.iter().all(|figure| figure.ratio > 0.0 && figure.ratio.is_finite()));
        for fit in &bench.fits {
            assert!(fit.gaps.last().is_some_and(|(passes, gap)| *gap <= 1e-8 && *passes == fit.passes), "{fit:?}");
        }
    }
}
