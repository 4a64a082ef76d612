//! Times, and the machine's own limits.

use std::{hint::black_box, time::Instant};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::{Error, Watch};

/// The best time so far.
pub(super) struct Best {
    pub seconds: f64,
}

impl Best {
    pub(super) fn new() -> Self {
        Self { seconds: f64::INFINITY }
    }

    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> T) {
        let started = Instant::now();
        black_box(work());
        self.note(started.elapsed().as_secs_f64());
    }

    /// A time that was taken elsewhere.
    pub(super) fn note(&mut self, seconds: f64) {
        self.seconds = self.seconds.min(seconds);
    }
}

/// The seconds that all threads of this process have had a processor, where the operating system tells.
pub(super) fn processor_seconds() -> Option<f64> {
    /// Linux counts in these parts of a second for every program, whatever its own clock.
    const TICKS: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold anything; the times are the 12th and 13th field behind it.
    let fields = status.rsplit_once(')')?.1.split_whitespace();
    let times: Vec<f64> = fields.skip(11).take(2).map_while(|field| field.parse().ok()).collect();
    (times.len() == 2).then(|| times.iter().sum::<f64>() / TICKS)
}

/// Runs the rounds of one part of the measurements.
pub(super) fn rounds(what: &str, rounds: usize, watch: &mut dyn Watch, mut round: impl FnMut()) -> Result<(), Error> {
    watch.begin(what, rounds);
    for done in 1..=rounds {
        round();
        if watch.step(done).is_break() {
            return Err(Error::Stopped);
        }
    }
    Ok(())
}

/// Numbers that are read before every pass over data, so that each finds the same, useless, cache: what the
/// last pass left in a cache of 32 MB is a part of the data, and which part is chance.
pub(super) struct ColdCache(Vec<f64>);

const EVICT: usize = 1 << 24;

impl ColdCache {
    pub(super) fn new() -> Self {
        Self(vec![1.0; EVICT])
    }

    pub(super) fn evict(&self) {
        black_box(read(&self.0));
    }
}

/// Reads every number once, with all cores and vectors: the machine's streaming-read rate.
pub(super) fn read(values: &[f64]) -> f64 {
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
