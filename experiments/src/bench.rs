//! Measured figures, each a ratio of two times from one run.
//!
//! Both sides of a ratio are timed in turn, round after round, and the best of each is kept, so that a
//! disturbance of the machine hits both or neither.

use std::{hint::black_box, ops::ControlFlow, time::Instant};

use banach::{Evaluation, Exponent, FeatureMatrix, Features, QForm, Scratch};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::Serialize;

use crate::{Error, Watch, data::SparseLinear};

/// The size of the measurements.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Request {
    /// Samples, n.
    pub samples: usize,
    /// Features, d.
    pub features: usize,
    /// Rounds; the best of each side counts.
    pub rounds: usize,
}

impl Default for Request {
    fn default() -> Self {
        Self { samples: 200, features: 100_000, rounds: 40 }
    }
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What is compared with what.
    pub what: &'static str,
    /// One side and its seconds.
    pub ours: (&'static str, f64),
    /// The other side and its seconds.
    pub other: (&'static str, f64),
    /// The ratio that matters.
    pub ratio: f64,
    /// What it should be.
    pub target: Target,
}

/// What a ratio should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Figure {
    /// Whether the ratio meets its target.
    pub fn reached(&self) -> bool {
        match self.target {
            Target::AtLeast(bound) => self.ratio >= bound,
            Target::AtMost(bound) => self.ratio <= bound,
        }
    }
}

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub struct Bench {
    /// What was measured.
    pub request: Request,
    /// Threads at work.
    pub threads: usize,
    /// The machine's streaming-read bandwidth in bytes per second, measured in the same run.
    pub bandwidth: f64,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// Numbers that are read before every pass over the matrix, so that each finds the same, useless, cache: what the
/// last pass left in a cache of 32 MB is a fifth of the matrix, and which fifth is chance.
const EVICT: usize = 1 << 24;
/// Dual vectors in the batch.
const BATCH: usize = 8;
/// An exponent whose q - 1 is neither a whole nor a half number.
const REAL_P: f64 = 1.27;
/// Elements of the power measurement: they fit in the second-level cache.
const ELEMENTS: usize = 1 << 14;

impl Bench {
    /// Measures everything.
    pub fn run(request: Request, watch: &mut dyn Watch) -> Result<Self, Error> {
        watch.begin("data", 0);
        let Request { samples, features, rounds } = request;
        let data = SparseLinear { samples, features, relevant: 1.min(features), noise: 0.05 };
        let sample = data.sample(0);
        let matrix = FeatureMatrix::from_columns(samples, features, &sample.columns[..])?;
        let form = Features::new(matrix, Exponent::from_fraction(4, 3)?);
        let alphas: Vec<f64> = (0..samples * BATCH).map(|i| (i as f64 * 0.7).sin()).collect();
        let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());

        let real = Exponent::new(REAL_P)?;
        let powers: Vec<f64> = (0..ELEMENTS).map(|k| 0.01 + (k as f64 * 0.618).fract() * 2.0).collect();
        let mut buffer = powers.clone();

        let other = vec![1.0; EVICT];
        watch.begin("measuring", rounds);
        let (mut stream, mut one, mut many, mut vector, mut scalar) =
            (Best::new(), Best::new(), Best::new(), Best::new(), Best::new());
        for round in 0..rounds {
            black_box(read(&other));
            stream.time(|| read(&sample.columns));
            black_box(read(&other));
            one.time(|| form.evaluate(&alphas[..samples], &mut evaluation, &mut scratch));
            black_box(read(&other));
            many.time(|| form.evaluate(&alphas, &mut evaluation, &mut scratch));
            buffer.copy_from_slice(&powers);
            vector.time(|| real.j_q(black_box(&mut buffer)));
            buffer.copy_from_slice(&powers);
            scalar.time(|| black_box(&mut buffer).iter_mut().for_each(|u| *u = u.powf(real.q() - 1.0)));
            if let ControlFlow::Break(()) = watch.step(round + 1) {
                return Err(Error::Stopped);
            }
        }
        let bytes = 8.0 * (samples * features) as f64;
        let figures = vec![
            Figure {
                what: "Q and omega against reading the matrix",
                ours: ("one evaluation", one.seconds),
                other: ("streaming read", stream.seconds),
                ratio: stream.seconds / one.seconds,
                target: Target::AtLeast(0.7),
            },
            Figure {
                what: "a batch of 8 dual vectors against one",
                ours: ("batch of 8", many.seconds),
                other: ("one evaluation", one.seconds),
                ratio: many.seconds / one.seconds,
                target: Target::AtMost(2.5),
            },
            Figure {
                what: "|u|^(q-1) for real q against powf",
                ours: ("vectorised, 16384 elements", vector.seconds),
                other: ("powf, 16384 elements", scalar.seconds),
                ratio: scalar.seconds / vector.seconds,
                target: Target::AtLeast(2.0),
            },
        ];
        Ok(Self { request, threads: rayon::current_num_threads(), bandwidth: bytes / stream.seconds, figures })
    }
}

/// The best time so far.
struct Best {
    seconds: f64,
}

impl Best {
    fn new() -> Self {
        Self { seconds: f64::INFINITY }
    }

    fn time<T>(&mut self, work: impl FnOnce() -> T) {
        let started = Instant::now();
        black_box(work());
        self.seconds = self.seconds.min(started.elapsed().as_secs_f64());
    }
}

/// Reads every number once, with all cores and vectors: the machine's streaming-read rate.
fn read(values: &[f64]) -> f64 {
    values.par_chunks(1 << 17).map(|values| Arch::new().dispatch(Sum(values))).sum()
}

struct Sum<'a>(&'a [f64]);

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut lanes = [0.0; 32];
        for chunk in self.0.as_chunks::<32>().0 {
            for lane in 0..32 {
                lanes[lane] += chunk[lane];
            }
        }
        lanes.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn ratios_are_those_of_the_printed_times() {
        let bench =
            Bench::run(Request { samples: 10, features: 500, rounds: 2 }, &mut Count::default()).expect("it runs");
        assert!(bench.bandwidth > 0.0 && bench.figures.len() == 3);
        for figure in &bench.figures {
            let quotient = figure.ours.1 / figure.other.1;
            let expected = match figure.target {
                Target::AtLeast(_) => 1.0 / quotient,
                Target::AtMost(_) => quotient,
            };
            assert!((figure.ratio / expected - 1.0).abs() < 1e-12);
        }
        let figure = |ratio, target| Figure { ratio, target, ..bench.figures[0].clone() };
        assert!(figure(0.7, Target::AtLeast(0.7)).reached() && !figure(0.69, Target::AtLeast(0.7)).reached());
        assert!(figure(2.5, Target::AtMost(2.5)).reached() && !figure(2.51, Target::AtMost(2.5)).reached());
    }
}
