//! Fits with very many monomials.

use std::path::Path;

use banach::synthetic::SparseQuadratic;
use serde::Serialize;

use super::task::{Done, Representation, Task};
use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct LargeRequest {
    /// The data.
    pub data: SparseQuadratic,
    /// The exponent.
    pub p: &'static str,
    /// The weight of the loss.
    pub gamma: f64,
    /// How many of the largest monomials are listed.
    pub top: usize,
    /// The passes that are wanted at most, where there is a limit.
    pub passes: Option<usize>,
    /// The bytes of memory that are wanted at most.
    pub bytes: u64,
}

impl LargeRequest {
    /// Fifty million monomials and 1.25 billion.
    pub fn full() -> Vec<Self> {
        let data = |samples, inputs| SparseQuadratic { samples, inputs, relevant: 6, noise: 0.05 };
        let one = |data, passes, bytes| Self { data, p: "1.05", gamma: 10.0, top: 20, passes, bytes };
        // X, and a gigabyte.
        let with_x = 8 * 100 * 50_000 + 1_000_000_000;
        vec![one(data(150, 10_000), Some(15), 500_000_000), one(data(100, 50_000), None, with_x)]
    }

    /// A small size.
    pub fn quick() -> Vec<Self> {
        let data = SparseQuadratic { samples: 60, inputs: 100, relevant: 3, noise: 0.05 };
        Self::full().into_iter().take(1).map(|full| Self { data, ..full }).collect()
    }

    pub(super) fn task(&self) -> Task {
        Task {
            data: self.data,
            seed: 0,
            representation: Representation::Tiles,
            p: self.p.to_owned(),
            gamma: self.gamma,
            tolerance: 1e-8,
            top: self.top,
            rounds: 1,
        }
    }
}

/// One fit.
#[derive(Debug, Clone, Serialize)]
pub struct Large {
    /// What was fitted.
    pub request: LargeRequest,
    /// What was found.
    pub done: Done,
}

impl Large {
    pub(super) fn run(request: &LargeRequest, program: Option<&Path>, watch: &mut dyn Watch) -> Result<Self, Error> {
        watch.begin(&format!("{} monomials, passes", request.data.features()), 0);
        Ok(Self { request: request.clone(), done: request.task().measure(program, watch)? })
    }

    /// Whether the passes and the memory are within their limits, and the certificate is.
    pub fn reached(&self) -> bool {
        let Self { request, done } = self;
        done.converged
            && request.passes.is_none_or(|most| done.passes <= most)
            && done.peak_bytes.is_some_and(|bytes| bytes <= request.bytes)
    }
}
