//! How fast the machine at hand is, by a few short runs of the routes themselves.

use std::{hint::black_box, time::Instant};

use faer::{
    MatMut, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch},
};
use rayon::prelude::*;

use crate::{
    Error, Exponent, FeatureMatrix, Memory, QForm,
    cost::Rates,
    data::Scratch,
    form::{Evaluation, Expansion, Gram},
    kernel::{Exponential, FeatureMap, Polynomial},
};

/// Samples of the tensor that is measured: it has 766,480 entries.
const SAMPLES: usize = 64;
/// Inputs of the tensor whose products are measured: enough that products take most of the time.
const INPUTS: usize = 128;
/// Dual vectors in the batch: enough that the first, which waits for memory, matters little.
const BATCH: usize = 8;
/// Numbers that are read: 42 MB, more than most caches hold.
const NUMBERS: usize = 5 << 20;
/// Numbers raised to a power by each core: 256 KB, which stay in its cache.
const POWERS: usize = 1 << 15;
/// Columns of the sparse matrix, and entries of each: some tens of thousands, which take a fraction of a millisecond.
const COLUMNS: usize = 4096;
const STORED: usize = 16;
/// Rows of the matrix that is factorised: as many as samples have where factorisations matter.
const SIDE: usize = 192;
/// Runs of which the fastest counts: it is the one that other work has disturbed least.
const ROUNDS: usize = 8;

impl Rates {
    /// The rates of this machine as it is now, in about a tenth of a second. Two calls differ, by as much as other work
    /// on the machine does.
    pub fn measure() -> Result<Self, Error> {
        let mut rates = Self { cores: rayon::current_num_threads() as f64, ..Self::default() };
        rates.measure_memory();
        rates.measure_tensor()?;
        rates.measure_features()?;
        rates.measure_powers()?;
        rates.measure_factors();
        Ok(rates)
    }

    fn measure_memory(&mut self) {
        let bytes = (8 * NUMBERS) as f64;
        let started = Instant::now();
        let mut numbers = vec![0.0_f64; NUMBERS];
        numbers.par_chunks_mut(PIECE).for_each(|numbers| numbers.fill(1.0));
        self.fresh = rate(bytes, started.elapsed().as_secs_f64());
        self.stream = rate(bytes, best(|| numbers.par_chunks(PIECE).map(sum).sum::<f64>()));
    }

    fn measure_tensor(&mut self) -> Result<(), Error> {
        let exponent = Exponent::from_fraction(4, 3)?;
        let (memory, kernel) = (Memory::limit(u64::MAX), Exponential::new(0.1)?);
        let narrow = FeatureMatrix::from_columns(SAMPLES, 1, jumble(SAMPLES))?;
        let wide = FeatureMatrix::from_columns(SAMPLES, INPUTS, jumble(SAMPLES * INPUTS))?;
        let stored = Gram::new(narrow.view(), kernel, exponent, memory)?;
        let few = Gram::streamed(narrow.view(), kernel, exponent, memory)?;
        let many = Gram::streamed(wide.view(), kernel, exponent, memory)?;
        let entries = stored.entries() as f64;
        let alphas = jumble(SAMPLES * BATCH);
        let (mut out, mut scratch) = (Evaluation::default(), Scratch::new());
        let mut time =
            |gram: &Gram<'_>, batch| best(|| gram.evaluate(&alphas[..batch * SAMPLES], &mut out, &mut scratch));
        let (one, batch) = (time(&stored, 1), time(&stored, BATCH));
        let (few, many) = (time(&few, 1), time(&many, 1));
        let mut expansions: Vec<Expansion> = (0..BATCH).map(|_| Expansion::default()).collect();
        let expanded = best(|| {
            let mut out: Vec<&mut Expansion> = expansions.iter_mut().collect();
            stored.expand(&alphas, &mut out, &mut scratch);
        });
        self.expansion = rate(entries * BATCH as f64, expanded);
        self.contraction = rate(entries * (BATCH - 1) as f64, beyond(batch, one));
        self.kernel = rate(entries, beyond(few, one));
        self.product = rate(2.0 * (INPUTS - 1) as f64 * entries, beyond(many, few));
        Ok(())
    }

    fn measure_features(&mut self) -> Result<(), Error> {
        let exponent = Exponent::from_fraction(4, 3)?;
        let kernel = Polynomial::new(2, 1.0, 0.0)?;
        let map = FeatureMap::new(&kernel, SAMPLES, exponent, None)?;
        let x = FeatureMatrix::from_columns(SAMPLES, SAMPLES, jumble(SAMPLES * SAMPLES))?;
        let seconds = best(|| map.matrix(&x, Memory::limit(u64::MAX)));
        let values = (SAMPLES * map.len()) as f64;
        self.listing = rate(values, beyond(seconds, 8.0 * values / self.fresh));

        let rows: Vec<usize> = (0..COLUMNS).flat_map(|k| (0..STORED).map(move |i| 8 * i + k % 8)).collect();
        let starts: Vec<usize> = (0..=COLUMNS).map(|k| k * STORED).collect();
        let sparse = FeatureMatrix::from_sparse_columns(8 * STORED, COLUMNS, starts, rows, jumble(COLUMNS * STORED))?;
        let form = crate::form::Features::new(sparse, exponent);
        let alpha = jumble(8 * STORED);
        let (mut out, mut scratch) = (Evaluation::default(), Scratch::new());
        self.scatter = rate((COLUMNS * STORED) as f64, best(|| form.evaluate(&alpha, &mut out, &mut scratch)));
        Ok(())
    }

    fn measure_powers(&mut self) -> Result<(), Error> {
        let threads = rayon::current_num_threads();
        let numbers = jumble(POWERS * threads);
        let mut powers = numbers.clone();
        let mut time = |exponent: Exponent| {
            best(|| {
                let pieces = powers.par_chunks_mut(POWERS).zip(numbers.par_chunks(POWERS));
                pieces.for_each(|(powers, numbers)| {
                    powers.copy_from_slice(numbers);
                    exponent.j_q(powers);
                });
            })
        };
        self.power = rate(numbers.len() as f64, time(Exponent::from_fraction(4, 3)?));
        self.real_power = rate(numbers.len() as f64, time(Exponent::new(1.27)?));
        Ok(())
    }

    fn measure_factors(&mut self) {
        let mut all = vec![0.0; SIDE * SIDE * rayon::current_num_threads()];
        let seconds = best(|| {
            all.par_chunks_mut(SIDE * SIDE).for_each(|matrix| {
                // Nearly the identity, so that it is definite.
                matrix.fill(1.0 / SIDE as f64);
                matrix.iter_mut().step_by(SIDE + 1).for_each(|entry| *entry = 2.0);
                let mut buffer = MemBuffer::new(cholesky_in_place_scratch::<f64>(SIDE, Par::Seq, Spec::default()));
                let (matrix, stack) =
                    (MatMut::from_column_major_slice_mut(matrix, SIDE, SIDE), MemStack::new(&mut buffer));
                let found = cholesky_in_place(matrix, LltRegularization::default(), Par::Seq, stack, Spec::default());
                debug_assert!(found.is_ok(), "it is definite");
            });
        });
        let matrices = all.len() / (SIDE * SIDE);
        self.factor = rate(matrices as f64 * (SIDE * SIDE * SIDE) as f64 / 3.0, seconds);
    }
}

/// Numbers in one task: 1 MB, enough to hide its start.
const PIECE: usize = 1 << 17;

fn sum(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; 32];
    for chunk in numbers.as_chunks::<32>().0 {
        lanes.iter_mut().zip(chunk).for_each(|(lane, number)| *lane += number);
    }
    lanes.iter().sum()
}

/// Work per second. No clock has finer ticks than a nanosecond.
fn rate(work: f64, seconds: f64) -> f64 {
    work / seconds.max(1e-9)
}

/// The least that the difference of two times counts for, as a share of the larger one. Disturbances can make the difference
/// vanish; a rate is then at most twenty times what the whole time shows.
const LEAST_SHARE: f64 = 0.05;

/// The part of a time that is beyond another one, which it contains.
fn beyond(whole: f64, part: f64) -> f64 {
    (whole - part).max(LEAST_SHARE * whole)
}

fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut time = || {
        let started = Instant::now();
        black_box(work());
        started.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| time()).fold(f64::INFINITY, f64::min)
}

/// Numbers in (-1, 1) without a pattern.
fn jumble(count: usize) -> Vec<f64> {
    (1..=count).map(|k| 2.0 * (0.618_033_988_749_895 * (k * (k + 6)) as f64).fract() - 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_times_give_no_absurd_rates() {
        assert_eq!(rate(100.0, beyond(3.0, 1.0)), 50.0);
        for part in [3.0, 2.999_999, 10.0] {
            assert!((rate(3.0, beyond(3.0, part)) - 20.0).abs() < 1e-9, "{part}");
        }
        assert!(rate(1.0, beyond(0.0, 0.0)).is_finite());
    }

    #[test]
    fn every_rate_is_a_positive_number() {
        for rates in [Rates::default(), Rates::measure().expect("it runs anywhere")] {
            let Rates {
                cores,
                stream,
                fresh,
                product,
                factor,
                contraction,
                expansion,
                scatter,
                kernel,
                listing,
                power,
                real_power,
            } = rates;
            let all = [
                cores,
                stream,
                fresh,
                product,
                factor,
                contraction,
                expansion,
                scatter,
                kernel,
                listing,
                power,
                real_power,
            ];
            assert!(all.iter().all(|rate| *rate > 0.0 && rate.is_finite()), "{rates:?}");
        }
    }
}
