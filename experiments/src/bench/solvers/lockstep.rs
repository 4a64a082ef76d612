//! Cross-validation with all folds abreast against the same fits one after another.

use banach::{
    DualProblem, Exponent, FeatureMatrix, Observer, Solution, Solver, Unobserved,
    form::Features,
    loss::Squared,
    solver::{CrossValidation, Folds, GammaGrid, Start, cross_validate},
    synthetic::SparseLinear,
};
use serde::Serialize;

use super::{
    super::{
        Figure, Side, Target,
        timing::{Best, rounds},
    },
    ours,
};
use crate::{Error, Watch};

/// How far the held-out losses may differ, relative to their size.
const AGREEMENT: f64 = 1e-8;

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct LockstepRequest {
    /// The data.
    pub data: SparseLinear,
    /// The seed of the data and of the folds.
    pub seed: u64,
    /// Folds.
    pub folds: usize,
    /// Values of gamma.
    pub gammas: usize,
    /// The relative duality gap of every fit.
    pub tolerance: f64,
    /// The exponents.
    pub exponents: Vec<&'static str>,
    /// How many times faster than one fold after another we want to be.
    pub wanted: f64,
    /// Rounds; the best of each side counts.
    pub rounds: usize,
}

impl LockstepRequest {
    /// The size of the paper's Table 1.
    pub fn full(rounds: usize) -> Self {
        Self {
            data: SparseLinear { samples: 200, features: 100_000, relevant: 10, noise: 0.05 },
            seed: 0,
            folds: 5,
            gammas: 20,
            tolerance: 1e-8,
            exponents: vec!["4/3", "1.05"],
            wanted: 3.0,
            rounds,
        }
    }

    /// A small size that takes seconds; its ratios say little.
    pub fn quick(rounds: usize) -> Self {
        let data = SparseLinear { samples: 20, features: 200, relevant: 3, noise: 0.05 };
        Self { data, folds: 3, gammas: 4, ..Self::full(rounds) }
    }
}

/// Both ways at one exponent.
#[derive(Debug, Clone, Serialize)]
pub struct Pace {
    /// The exponent.
    pub p: &'static str,
    /// The times and their ratio.
    pub figure: Figure,
    /// The largest relative difference of two held-out losses.
    pub difference: f64,
    /// Fits, in both ways together, that did not reach the tolerance.
    pub failures: usize,
}

impl Pace {
    /// Whether both ways give the same scores.
    pub fn agree(&self) -> bool {
        self.failures == 0 && self.difference <= AGREEMENT
    }
}

/// All exponents.
#[derive(Debug, Clone, Serialize)]
pub struct Lockstep {
    /// What was measured.
    pub request: LockstepRequest,
    /// Threads at work.
    pub threads: usize,
    /// One for every exponent.
    pub paces: Vec<Pace>,
}

impl Lockstep {
    /// Measures everything.
    pub fn run(request: LockstepRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        watch.begin("data", 0);
        let LockstepRequest { data, seed, .. } = &request;
        let sample = data.sample(*seed);
        let matrix = FeatureMatrix::from_columns(data.samples, data.features, &sample.columns[..])?;
        let mut paces = Vec::new();
        for p in &request.exponents {
            let form = Features::new(matrix.clone(), p.parse::<Exponent>()?);
            let problem = DualProblem::new(&form, &Squared, &sample.targets, 1.0)?;
            paces.push(pace(&request, p, &problem, watch)?);
        }
        Ok(Self { request, threads: rayon::current_num_threads(), paces })
    }
}

fn pace(
    request: &LockstepRequest,
    p: &'static str,
    problem: &DualProblem<'_>,
    watch: &mut dyn Watch,
) -> Result<Pace, Error> {
    let LockstepRequest { data, seed, folds, gammas, tolerance, wanted, .. } = request;
    let grid = GammaGrid::from_data(problem, *gammas)?;
    let all = Folds::shuffled(data.samples, *folds, *seed)?;
    let single = all.held_out().iter().map(|fold| Folds::new(data.samples, vec![fold.clone()]));
    let single = single.collect::<Result<Vec<_>, _>>()?;
    let solver = ours(*tolerance);
    let solver: &dyn Solver = &solver;
    let validate = |folds: &Folds, solver: &dyn Solver| cross_validate(problem, &grid, folds, solver, &mut Unobserved);
    let alone = OneByOne(solver);
    let one_by_one = || single.iter().map(|fold| validate(fold, &alone)).collect::<Result<Vec<_>, _>>();
    let (mut abreast, mut after) = (Best::new(), Best::new());
    let (mut together, mut apart) = (None, None);
    rounds(&format!("cross-validation, p = {p}"), request.rounds, watch, || {
        abreast.time(|| together = Some(validate(&all, solver)));
        after.time(|| apart = Some(one_by_one()));
    })?;
    let (Some(together), Some(apart)) = (together, apart) else { return Err(Error::Stopped) };
    let (together, apart) = (together?, apart?);
    let failures = together.unconverged().count() + apart.iter().map(|fold| fold.unconverged().count()).sum::<usize>();
    let title = format!("p = {p}, n = {}, d = {}, {folds} folds, {gammas} gammas", data.samples, data.features);
    let (ours, other) = (Side::new("all folds abreast", &abreast), Side::new("one fit after another", &after));
    let figure = Figure::new(title, ours, other, Target::AtLeast(*wanted));
    Ok(Pace { p, figure, difference: difference(&together, &apart), failures })
}

/// A solver that is given one problem at a time; every fit starts where it does in a batch.
#[derive(Debug)]
struct OneByOne<'a>(&'a dyn Solver);

impl Solver for OneByOne<'_> {
    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, banach::Error> {
        self.0.solve_from(problem, start, observer)
    }

    fn shares_passes(&self) -> bool {
        self.0.shares_passes()
    }
}

/// The largest relative difference of two held-out losses.
fn difference(together: &CrossValidation, apart: &[CrossValidation]) -> f64 {
    let pairs =
        together.fits.iter().enumerate().flat_map(|(gamma, fits)| {
            fits.iter().zip(apart).map(move |(fit, fold)| (fit.loss, fold.fits[gamma][0].loss))
        });
    let differences = pairs.map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()) });
    // NaN is the largest of all.
    differences.max_by(f64::total_cmp).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn both_ways_give_the_same_scores() {
        let request = LockstepRequest { exponents: vec!["4/3", "1.5"], ..LockstepRequest::quick(1) };
        let lockstep = Lockstep::run(request, &mut Count::default()).expect("it runs");
        assert_eq!(lockstep.paces.len(), 2);
        for pace in &lockstep.paces {
            assert!(pace.agree() && pace.figure.ratio.is_finite(), "{pace:?}");
        }
    }

    #[test]
    fn a_watcher_can_stop_it() {
        let mut watch = Count { begun: 0, stop_in: Some(2) };
        assert!(matches!(Lockstep::run(LockstepRequest::quick(2), &mut watch), Err(Error::Stopped)));
    }
}
