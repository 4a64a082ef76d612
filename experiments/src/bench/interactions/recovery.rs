//! Are the true monomials found? Against a Lasso on the same monomials, written out.

use std::path::Path;

use banach::synthetic::SparseQuadratic;
use serde::Serialize;

use super::{
    lasso::{self, Lasso, Versions},
    ratio,
    task::{Done, Gamma, Representation, Selecting, Task},
};
use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct RecoveryRequest {
    /// The data.
    pub data: SparseQuadratic,
    /// The first seed. The settings were chosen on the seeds 0 to 9: others tell how good they are.
    pub first: u64,
    /// The number of seeds.
    pub seeds: u64,
    /// The exponent.
    pub p: &'static str,
    /// Other exponents, of which it is only asked whether the true monomials are first.
    pub others: Vec<&'static str>,
    /// The weight of the loss.
    pub gamma: Gamma,
    /// Select and refit.
    pub select: Selecting,
    /// Rounds; the best time of each side counts.
    pub rounds: usize,
}

impl RecoveryRequest {
    /// The size of the paper's Table 2.
    pub fn full() -> Self {
        Self {
            data: SparseQuadratic { samples: 90, inputs: 650, relevant: 6, noise: 0.05 },
            first: 0,
            seeds: 10,
            p: "1.02",
            others: vec!["1.05", "1.1"],
            gamma: Gamma::Knees(100.0),
            select: Selecting { terms: 12, folds: 10, best: true },
            rounds: 3,
        }
    }

    /// A small size.
    pub fn quick() -> Self {
        let data = SparseQuadratic { samples: 60, inputs: 40, relevant: 3, noise: 0.05 };
        Self { data, seeds: 2, rounds: 1, ..Self::full() }
    }

    fn task(&self, p: &str, seed: u64, select: Option<Selecting>) -> Task {
        Task {
            data: self.data,
            seed,
            representation: Representation::Tiles,
            scale: "standardized".to_owned(),
            p: p.to_owned(),
            gamma: self.gamma,
            tolerance: 1e-8,
            top: self.data.relevant,
            select,
            rounds: self.rounds,
        }
    }
}

/// One draw of the data.
#[derive(Debug, Clone, Serialize)]
pub struct Draw {
    /// Its seed.
    pub seed: u64,
    /// One fit, and its largest monomials.
    pub ours: Done,
    /// Select and refit, which is not told how many there are.
    pub selected: Done,
    /// The Lasso, if there is one.
    pub lasso: Option<Lasso>,
}

/// All draws.
#[derive(Debug, Clone, Serialize)]
pub struct Recovery {
    /// Monomials to find.
    pub relevant: usize,
    /// The versions of the other side.
    pub versions: Option<Versions>,
    /// One for every seed.
    pub draws: Vec<Draw>,
    /// Other exponents, and in how many draws the first monomials are the true ones.
    pub others: Vec<(&'static str, usize)>,
}

impl Recovery {
    pub(super) fn run(
        request: &RecoveryRequest,
        python: Option<&Path>,
        program: Option<&Path>,
        watch: &mut dyn Watch,
    ) -> Result<Self, Error> {
        let mut versions = None;
        let mut draws = Vec::new();
        let seeds = || request.first..request.first + request.seeds;
        for seed in seeds() {
            watch.begin(&format!("the true monomials, seed {seed}"), 0);
            let ours = request.task(request.p, seed, None).measure(program, watch)?;
            let selected = request.task(request.p, seed, Some(request.select)).measure(program, watch)?;
            let lasso = match python {
                None => None,
                Some(python) => {
                    watch.begin(&format!("the Lasso, seed {seed}"), 0);
                    let (its, lasso) = lasso::ask(python, &request.data.sample(seed), request.rounds)?;
                    versions = Some(its);
                    Some(lasso)
                }
            };
            draws.push(Draw { seed, ours, selected, lasso });
        }
        let mut others = Vec::new();
        for p in &request.others {
            watch.begin(&format!("the true monomials, p = {p}"), 0);
            let mut found = 0;
            for seed in seeds() {
                let done = Task { rounds: 1, ..request.task(p, seed, None) }.measure(program, watch)?;
                found += usize::from(done.found == request.data.relevant);
            }
            others.push((*p, found));
        }
        Ok(Self { relevant: request.data.relevant, versions, draws, others })
    }

    /// Draws in which our first monomials are the true ones.
    pub fn found(&self) -> usize {
        self.draws.iter().filter(|draw| draw.ours.found == self.relevant).count()
    }

    /// Draws in which the equation of the selection has all true monomials, and in which it has no other.
    pub fn chosen(&self) -> [usize; 2] {
        let chosen = || self.draws.iter().filter_map(|draw| draw.selected.chosen.as_ref());
        let all = chosen().filter(|chosen| chosen.right == self.relevant);
        let exact = all.clone().filter(|chosen| chosen.terms == self.relevant);
        [all.count(), exact.count()]
    }

    /// Draws in which the Lasso's are.
    pub fn lasso_found(&self) -> Option<usize> {
        let found = self.draws.iter().map(|draw| Some(draw.lasso.as_ref()?.found == self.relevant));
        Some(found.collect::<Option<Vec<bool>>>()?.into_iter().filter(|all| *all).count())
    }

    /// How many times as fast as the Lasso we are, summed over the draws: one fit, and the selection.
    pub fn times_as_fast(&self) -> Option<[f64; 2]> {
        let theirs: f64 = self.draws.iter().map(|draw| Some(draw.lasso.as_ref()?.seconds)).sum::<Option<f64>>()?;
        let ours = |of: fn(&Draw) -> &Done| self.draws.iter().map(|draw| of(draw).seconds).sum::<f64>();
        Some([theirs / ours(|draw| &draw.ours), theirs / ours(|draw| &draw.selected)])
    }

    /// The share of the Lasso's memory that we take, at its largest over the draws: one fit, and the selection.
    pub fn memory_share(&self) -> Option<[f64; 2]> {
        let most = |of: fn(&Draw) -> &Done| {
            let mut shares = self.draws.iter().map(|draw| {
                let theirs = draw.lasso.as_ref().map(|lasso| lasso.peak_bytes);
                ratio(of(draw).peak_bytes, theirs)
            });
            shares.try_fold(0.0, |most: f64, share| Some(most.max(share?)))
        };
        Some([most(|draw| &draw.ours)?, most(|draw| &draw.selected)?])
    }
}
