//! The tiles route against the matrix of all monomials.

use std::path::Path;

use banach::synthetic::SparseQuadratic;
use serde::Serialize;

use super::task::{Done, Representation, Task};
use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct RoutesRequest {
    /// The data.
    pub data: SparseQuadratic,
    /// The first seeds, on which the tiles route looks for the true monomials.
    pub seeds: u64,
    /// The exponent.
    pub p: &'static str,
    /// The weight of the loss.
    pub gamma: f64,
    /// Rounds on the first seed, each route in turn in a new process, which does it as often; the best time of each counts.
    pub rounds: usize,
}

impl RoutesRequest {
    /// 211,575 monomials, 6 of them true.
    pub fn full() -> Self {
        let data = SparseQuadratic { samples: 150, inputs: 650, relevant: 6, noise: 0.05 };
        Self { data, seeds: 10, p: "1.05", gamma: 10.0, rounds: 3 }
    }

    /// A small size.
    pub fn quick() -> Self {
        let data = SparseQuadratic { samples: 60, inputs: 40, relevant: 3, noise: 0.05 };
        Self { data, seeds: 2, rounds: 2, ..Self::full() }
    }

    fn task(&self, seed: u64, representation: Representation) -> Task {
        Task {
            data: self.data,
            seed,
            representation,
            p: self.p.to_owned(),
            gamma: self.gamma,
            tolerance: 1e-8,
            top: self.data.relevant,
            rounds: 1,
        }
    }
}

/// Both routes.
#[derive(Debug, Clone, Serialize)]
pub struct Routes {
    /// Monomials to find.
    pub relevant: usize,
    /// The tiles route on every seed.
    pub draws: Vec<Done>,
    /// The tiles route on the first seed, with its best time.
    pub tiles: Done,
    /// The features route there.
    pub features: Done,
}

impl Routes {
    pub(super) fn run(request: &RoutesRequest, program: Option<&Path>, watch: &mut dyn Watch) -> Result<Self, Error> {
        watch.begin("tiles, every seed", 0);
        let draw = |seed| request.task(seed, Representation::Tiles).measure(program, &mut *watch);
        let draws = (0..request.seeds).map(draw).collect::<Result<Vec<Done>, Error>>()?;
        let mut best: [Option<Done>; 2] = [None, None];
        for round in 1..=request.rounds.max(1) {
            watch.begin(&format!("tiles and features, round {round}"), 0);
            for (best, representation) in best.iter_mut().zip([Representation::Tiles, Representation::Features]) {
                let task = Task { rounds: request.rounds, ..request.task(0, representation) };
                let done = task.measure(program, watch)?;
                // The best time, but the memory of every round.
                let peak = best.as_ref().and_then(|best| best.peak_bytes).max(done.peak_bytes);
                let faster = best.as_ref().is_none_or(|best| done.seconds < best.seconds);
                let kept = if faster { done } else { best.take().unwrap_or(done) };
                *best = Some(Done { peak_bytes: peak, ..kept });
            }
        }
        let [tiles, features] = best.map(Option::unwrap_or_default);
        Ok(Self { relevant: request.data.relevant, draws, tiles, features })
    }

    /// Draws in which the first monomials are the true ones.
    pub fn found(&self) -> usize {
        self.draws.iter().filter(|draw| draw.found == self.relevant).count()
    }

    /// How many times as fast the tiles route is.
    pub fn times_as_fast(&self) -> f64 {
        self.features.seconds / self.tiles.seconds
    }

    /// How many times as much memory the features route takes.
    pub fn times_the_memory(&self) -> Option<f64> {
        Some(self.features.peak_bytes? as f64 / self.tiles.peak_bytes? as f64)
    }
}
