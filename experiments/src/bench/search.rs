//! The search for the largest monomials of the exponential kernel: monomials looked at, and seconds.

use std::time::Instant;

use banach::{
    DualProblem, Exponent, FeatureMatrix, Memory, Newton, Solver, Unobserved,
    form::Gram,
    kernel::Exponential,
    loss::Squared,
    model::{Budget, DualModel, SearchEnd},
    synthetic::{EntryDistribution, SparseMonomials},
};
use serde::Serialize;

use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct SearchRequest {
    /// The data, one row of the table for every kind.
    pub data: Vec<SparseMonomials>,
    /// The first seeds.
    pub seeds: u64,
    /// The scales of the kernel.
    pub scales: Vec<f64>,
    /// The regularisation parameters.
    pub gammas: Vec<f64>,
    /// How many monomials are looked for.
    pub count: usize,
    /// Most monomials that may be looked at.
    pub nodes: u64,
}

impl SearchRequest {
    /// Sixty samples of twenty variables, none above 1.
    pub fn full() -> Self {
        let data = |entries| SparseMonomials { samples: 60, inputs: 20, relevant: 5, noise: 0.1, entries };
        Self {
            data: [EntryDistribution::Uniform, EntryDistribution::Positive, EntryDistribution::Normal].map(data).into(),
            seeds: 5,
            scales: vec![0.05, 0.1, 0.3, 1.0],
            gammas: vec![1.0, 100.0],
            count: 20,
            nodes: 5_000_000,
        }
    }

    /// A small version that takes seconds.
    pub fn quick() -> Self {
        let data = |entries| SparseMonomials { samples: 20, inputs: 6, relevant: 3, noise: 0.1, entries };
        let data =
            [EntryDistribution::Uniform, EntryDistribution::Positive, EntryDistribution::Normal].map(data).into();
        Self { data, seeds: 2, count: 10, ..Self::full() }
    }
}

/// The search in one fitted function.
#[derive(Debug, Clone, Serialize)]
pub struct SearchRun {
    /// The seed of the data.
    pub seed: u64,
    /// The regularisation parameter.
    pub gamma: f64,
    /// The relative duality gap of the fit.
    pub gap: f64,
    /// Monomials looked at.
    pub nodes: u64,
    /// Seconds of the search.
    pub seconds: f64,
    /// Whether nothing can be missing.
    pub complete: bool,
    /// Whether the list is proven to be that of the optimum.
    pub set_proven: bool,
    /// Whether its order is.
    pub order_proven: bool,
    /// The highest degree in the list.
    pub degree: usize,
    /// How many of the true monomials are in the list.
    pub found: usize,
}

/// All runs of one kind of data and one scale.
#[derive(Debug, Clone, Serialize)]
pub struct SearchCell {
    /// The data.
    pub data: SparseMonomials,
    /// The scale of the kernel.
    pub scale: f64,
    /// For every seed and gamma.
    pub runs: Vec<SearchRun>,
}

impl SearchCell {
    /// Whether every search was complete within the budget.
    pub fn reached(&self) -> bool {
        self.runs.iter().all(|run| run.complete)
    }
}

/// All searches.
#[derive(Debug, Clone, Serialize)]
pub struct Search {
    /// What was measured.
    pub request: SearchRequest,
    /// Threads at work.
    pub threads: usize,
    /// One for every kind of data and every scale.
    pub cells: Vec<SearchCell>,
}

impl Search {
    /// Measures everything.
    pub fn run(request: SearchRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let mut cells = Vec::new();
        for data in &request.data {
            for &scale in &request.scales {
                watch.begin(&format!("{}, scale {scale}", data.entries.name()), request.seeds as usize);
                let mut runs = Vec::new();
                for seed in 0..request.seeds {
                    for &gamma in &request.gammas {
                        runs.push(one(&request, data, scale, gamma, seed)?);
                    }
                    if watch.step(seed as usize + 1).is_break() {
                        return Err(Error::Stopped);
                    }
                }
                cells.push(SearchCell { data: *data, scale, runs });
            }
        }
        Ok(Self { request, threads: rayon::current_num_threads(), cells })
    }
}

fn one(request: &SearchRequest, data: &SparseMonomials, scale: f64, gamma: f64, seed: u64) -> Result<SearchRun, Error> {
    let sample = data.sample(seed);
    let matrix = FeatureMatrix::from_columns(data.samples, data.inputs, &sample.columns[..])?;
    let (kernel, exponent) = (Exponential::new(scale)?, Exponent::from_fraction(4, 3)?);
    let form = Gram::new(matrix.view(), kernel, exponent, Memory::available())?;
    let problem = DualProblem::new(&form, &Squared, &sample.targets, gamma)?.with_intercept()?;
    let solution = Newton::default().solve(&problem, &mut Unobserved)?;
    let model = DualModel::new(matrix.view(), kernel, exponent, &solution.alpha)?;
    let model = match problem.radius(&solution.alpha, &solution.certificate) {
        Some(radius) => model.with_radius(radius)?,
        None => model,
    };
    let started = Instant::now();
    let top = model.top_monomials(request.count, Budget { nodes: request.nodes, ..Budget::default() })?;
    let seconds = started.elapsed().as_secs_f64();
    let listed = |truth: &[(usize, usize)]| top.entries.iter().any(|entry| entry.monomial.factors() == truth);
    Ok(SearchRun {
        seed,
        gamma,
        gap: solution.certificate.relative_gap(),
        nodes: top.nodes,
        seconds,
        complete: top.end == SearchEnd::Complete,
        set_proven: top.set_proven,
        order_proven: top.order_proven,
        degree: top.entries.iter().map(|entry| entry.monomial.degree()).max().unwrap_or(0),
        found: sample.truth.iter().filter(|(factors, _)| listed(factors)).count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn every_search_is_complete_and_a_watcher_can_stop_it() {
        let request = SearchRequest { seeds: 1, scales: vec![0.1, 1.0], ..SearchRequest::quick() };
        let search = Search::run(request.clone(), &mut Count::default()).expect("it runs");
        assert_eq!(search.cells.len(), 6);
        assert!(search.cells.iter().all(|cell| cell.reached() && cell.runs.len() == 2));
        assert!(search.cells.iter().flat_map(|cell| &cell.runs).any(|run| run.found > 0));
        let mut watch = Count { begun: 0, stop_in: Some(2) };
        assert!(matches!(Search::run(request, &mut watch), Err(Error::Stopped)));
    }
}
