//! Evaluations to the tolerance: every loss, with and without an intercept, over data sets, routes, p and gamma.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use banach::{
    DualProblem, Exponent, FeatureMatrix, Loss, Memory, QForm, Route, Solver, Status,
    form::Gram,
    kernel::{Linear, Polynomial},
    loss::{LossSpec, Split, Squared, Targets},
    solver::Progress,
    synthetic::{Correlated, Sample, SparseLinear, SparseQuadratic},
};
use serde::Serialize;

use super::ours;
use crate::{Error, Watch};

/// The relative duality gap to reach.
const TOLERANCE: f64 = 1e-8;
/// A run with so many evaluations is given up.
const GIVE_UP: usize = 120;
/// The regularisation parameters.
const GAMMAS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
/// How a run ended that rounding kept from the tolerance.
const ROUNDING: &str = "rounding";
/// Without an intercept, and with one.
const INTERCEPTS: [bool; 2] = [false, true];
/// The exponents at which every loss is solved, and those at which only the squared loss is.
const EXPONENTS: [&str; 4] = ["4/3", "1.2", "1.1", "1.05"];
const NEAR_ONE: [&str; 2] = ["1.02", "1.01"];

/// The regularisation parameters and exponents of every shape, where every loss is solved at every exponent.
const EVERY_GAMMA: [f64; 6] = [1e-3, 1e-1, 1.0, 1e2, 1e4, 1e6];
const EVERY_EXPONENT: [&str; 5] = ["2", "4/3", "1.1", "1.05", "1.01"];
/// Samples and features, from a hundred times as many samples to a hundred times as many features.
const SHAPES: [(usize, usize); 7] = [(300, 3), (442, 10), (200, 20), (60, 6), (100, 100), (50, 500), (20, 2000)];

/// Where data come from.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Independent variables: the data of the paper's Table 1.
    Normal(SparseLinear),
    /// Products of two variables: the data of the paper's Table 2, with the polynomial kernel of degree 2.
    Quadratic(SparseQuadratic),
    /// Correlated variables.
    Correlated(Correlated),
}

impl Source {
    fn sample(&self, seed: u64) -> Sample {
        match self {
            Self::Normal(data) => data.sample(seed),
            Self::Quadratic(data) => data.sample(seed),
            Self::Correlated(data) => data.sample(seed),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Normal(SparseLinear { samples, features, .. }) => format!("normal {samples} x {features}"),
            Self::Quadratic(SparseQuadratic { samples, inputs, .. }) => format!("quadratic {samples} x {inputs}"),
            Self::Correlated(Correlated { samples, features, correlation, .. }) => {
                format!("AR(1) {correlation}, {samples} x {features}")
            }
        }
    }
}

/// A problem with a limit of its own: the squared loss at gamma = 10 without an intercept, as in the paper.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Single {
    /// Its name.
    pub what: &'static str,
    /// The exponent.
    pub p: &'static str,
    /// The most evaluations that are wanted.
    pub limit: usize,
    /// The paper's iterations.
    pub paper: usize,
}

/// One data set on one route.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// The data.
    pub source: Source,
    /// The route: features, or the Gram tensor of the polynomial kernel for [`Source::Quadratic`], of the linear one otherwise.
    pub route: Route,
    /// The exponents.
    pub exponents: Vec<&'static str>,
    /// The regularisation parameters.
    pub gammas: Vec<f64>,
    /// Whether every loss is solved at every exponent.
    pub every_loss: bool,
    /// A problem of this part with a limit of its own.
    pub single: Option<Single>,
}

impl Part {
    fn new(source: Source, route: Route, exponents: &[&'static str]) -> Self {
        Self { source, route, exponents: exponents.to_vec(), gammas: GAMMAS.to_vec(), every_loss: false, single: None }
    }

    /// Everything that a shape is asked: every loss and exponent, gammas over nine orders of magnitude.
    fn of_shape((samples, features): (usize, usize)) -> Self {
        let relevant = features.min(5);
        let source = Source::Correlated(Correlated { samples, features, relevant, noise: 2.0, correlation: 0.5 });
        let part = Self::new(source, Route::Features, &EVERY_EXPONENT);
        Self { gammas: EVERY_GAMMA.to_vec(), every_loss: true, ..part }
    }

    /// The most evaluations that are wanted.
    fn limit(&self, loss: &dyn Loss, p: &str) -> usize {
        if self.every_loss { 40 } else { limit(loss, p) }
    }

    fn name(&self) -> String {
        format!("{}, {}", self.source.name(), if self.route == Route::Features { "features" } else { "Gram" })
    }

    fn form<'a>(&self, sample: &'a Sample, p: &str) -> Result<Box<dyn QForm + 'a>, Error> {
        if self.route == Route::Features {
            return Ok(Box::new(crate::data::features(sample, p)?));
        }
        let n = sample.targets.len();
        let matrix = FeatureMatrix::from_columns(n, sample.columns.len() / n, &sample.columns[..])?;
        let (exponent, memory) = (p.parse::<Exponent>()?, Memory::available());
        Ok(Box::new(match self.source {
            Source::Quadratic(_) => Gram::new(matrix, Polynomial::new(2, 1.0, 0.0)?, exponent, memory)?,
            Source::Normal(_) | Source::Correlated(_) => Gram::new(matrix, Linear, exponent, memory)?,
        }))
    }
}

/// What to run.
#[derive(Debug, Clone, Serialize)]
pub struct GridRequest {
    /// The data sets and their routes.
    pub parts: Vec<Part>,
    /// The seed of the data.
    pub seed: u64,
}

impl GridRequest {
    /// The sizes of the paper's tables, and correlated variables. A Gram tensor of order 6 has fewer samples, to fit.
    pub fn full() -> Self {
        Self::sized((200, 100_000), [(90, 650), (40, 650)], [(200, 5000), (40, 5000)], 10)
    }

    /// A small version that takes seconds.
    pub fn quick() -> Self {
        let mut request = Self::sized((20, 200), [(12, 10), (8, 10)], [(20, 100), (8, 100)], 3);
        request.parts.iter_mut().for_each(|part| part.single = None);
        request
    }

    /// Every loss, every exponent and gammas over nine orders of magnitude for every shape.
    pub fn shapes() -> Self {
        Self { parts: SHAPES.map(Part::of_shape).to_vec(), seed: 0 }
    }

    fn sized(
        (samples, features): (usize, usize),
        quadratic: [(usize, usize); 2],
        correlated: [(usize, usize); 2],
        relevant: usize,
    ) -> Self {
        let noise = 0.05;
        let normal = Source::Normal(SparseLinear { samples, features, relevant, noise });
        let quadratic = quadratic
            .map(|(samples, inputs)| Source::Quadratic(SparseQuadratic { samples, inputs, relevant: 6, noise }));
        let correlated = correlated.map(|(samples, features)| {
            Source::Correlated(Correlated { samples, features, relevant, noise: 0.5, correlation: 0.9 })
        });
        let all = [&EXPONENTS[..], &NEAR_ONE[..]].concat();
        let of_table1 = Single { what: "Table 1 at p = 1.05", p: "1.05", limit: 12, paper: 258 };
        let of_table2 = Single { what: "Table 2", p: "4/3", limit: 6, paper: 29 };
        let parts = vec![
            Part { single: Some(of_table1), ..Part::new(normal, Route::Features, &all) },
            Part { single: Some(of_table2), ..Part::new(quadratic[0], Route::Gram, &["4/3"]) },
            Part::new(quadratic[1], Route::Gram, &["1.2"]),
            Part::new(correlated[0], Route::Features, &all),
            Part::new(correlated[0], Route::Gram, &["4/3"]),
            Part::new(correlated[1], Route::Gram, &["1.2"]),
        ];
        Self { parts, seed: 0 }
    }
}

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct GridRun {
    /// The data set and the route.
    pub part: String,
    /// The loss.
    pub loss: &'static str,
    /// The exponent.
    pub p: &'static str,
    /// The regularisation parameter.
    pub gamma: f64,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Passes over the data.
    pub evaluations: usize,
    /// The most that are wanted.
    pub limit: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// How it ended, in words.
    pub end: String,
    /// The relative duality gap; `None` if the problem was refused.
    pub relative_gap: Option<f64>,
    /// Seconds.
    pub seconds: f64,
}

impl GridRun {
    /// Whether rounding kept it from the tolerance.
    pub fn is_rounded(&self) -> bool {
        self.end == ROUNDING
    }
}

/// The runs of one data set, loss and exponent, over gamma and the intercept.
#[derive(Debug, Clone, Serialize)]
pub struct GridCell {
    /// The data set and the route.
    pub part: String,
    /// The loss.
    pub loss: &'static str,
    /// The exponent.
    pub p: &'static str,
    /// The number of runs.
    pub runs: usize,
    /// Those that did not reach the tolerance, although rounding was not in the way.
    pub failures: usize,
    /// Those that rounding kept from the tolerance.
    pub rounded: usize,
    /// The most evaluations of a run.
    pub worst: usize,
    /// The most that are wanted.
    pub limit: usize,
}

impl GridCell {
    fn new(runs: &[GridRun]) -> Option<Self> {
        let GridRun { part, loss, p, limit, .. } = runs.first()?;
        Some(Self {
            part: part.clone(),
            loss,
            p,
            runs: runs.len(),
            failures: runs.iter().filter(|run| !run.converged && !run.is_rounded()).count(),
            rounded: runs.iter().filter(|run| run.is_rounded()).count(),
            worst: runs.iter().map(|run| run.evaluations).max().unwrap_or_default(),
            limit: *limit,
        })
    }

    /// Whether every run reached the tolerance within the limit.
    pub fn within(&self) -> bool {
        self.failures == 0 && self.worst <= self.limit
    }
}

/// All runs.
#[derive(Debug, Clone, Serialize)]
pub struct Grid {
    /// What was run.
    pub request: GridRequest,
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// Threads at work.
    pub threads: usize,
    /// A summary, in the order of the runs.
    pub cells: Vec<GridCell>,
    /// The problems with limits of their own, and their runs.
    pub singles: Vec<(Single, GridRun)>,
    /// The run that needed most evaluations; one that did not reach the tolerance is worse than one that did.
    pub worst: Option<GridRun>,
    /// Every run.
    pub runs: Vec<GridRun>,
}

impl Grid {
    /// Runs everything.
    pub fn run(request: GridRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let (mut runs, mut cells, mut singles) = (Vec::new(), Vec::new(), Vec::new());
        for part in &request.parts {
            watch.begin(&format!("data of {}", part.name()), 0);
            let sample = part.source.sample(request.seed);
            let size = spread(&sample.targets);
            let counts: Vec<f64> = sample.targets.iter().map(|y| (2.0 * y / size).exp().round()).collect();
            let signs: Vec<f64> = sample.targets.iter().map(|y| y.signum()).collect();
            for p in &part.exponents {
                let form = part.form(&sample, p)?;
                let losses = losses(p, size, part.every_loss)?;
                watch.begin(&format!("{}, p = {p}", part.name()), losses.len());
                for (done, loss) in losses.iter().enumerate() {
                    let targets = match loss.targets() {
                        Targets::Signs => &signs,
                        Targets::Counts => &counts,
                        Targets::Real => &sample.targets,
                    };
                    let first = runs.len();
                    for intercept in INTERCEPTS {
                        for &gamma in &part.gammas {
                            runs.push(run(part, &*form, &**loss, targets, p, gamma, intercept));
                        }
                    }
                    cells.extend(GridCell::new(&runs[first..]));
                    let of_paper = |run: &&GridRun| run.loss == Squared.name() && run.gamma == 10.0 && !run.intercept;
                    if let Some(single) = part.single.filter(|single| single.p == *p) {
                        singles.extend(runs[first..].iter().find(of_paper).map(|run| (single, run.clone())));
                    }
                    if watch.step(done + 1).is_break() {
                        return Err(Error::Stopped);
                    }
                }
            }
        }
        let worst = runs.iter().max_by_key(|run| (!run.converged, run.evaluations)).cloned();
        let threads = rayon::current_num_threads();
        Ok(Self { request, tolerance: TOLERANCE, threads, cells, singles, worst, runs })
    }
}

/// Every loss, with kinks in proportion to the targets; near p = 1 the squared loss alone, unless every loss is asked for.
fn losses(p: &str, spread: f64, every: bool) -> Result<Vec<Arc<dyn Loss>>, Error> {
    if NEAR_ONE.contains(&p) && !every {
        return Ok(vec![Arc::new(Squared)]);
    }
    let parameters = [("epsilon", 0.1 * spread), ("rho", 1.35 * spread), ("tau", 0.8)];
    let scaled = |loss: LossSpec| parameters.iter().find_map(|(name, value)| loss.with(name, *value)).unwrap_or(loss);
    LossSpec::ALL.into_iter().map(|loss| Ok(scaled(loss).build()?)).collect()
}

/// The root of the mean square of the targets.
fn spread(targets: &[f64]) -> f64 {
    (targets.iter().map(|y| y * y).sum::<f64>() / targets.len() as f64).sqrt()
}

/// The most evaluations that are wanted.
fn limit(loss: &dyn Loss, p: &str) -> usize {
    match p {
        _ if NEAR_ONE.contains(&p) => 45,
        "1.05" if loss.split() == Split::Proximal => 40,
        _ => 30,
    }
}

fn problem<'a>(
    form: &'a dyn QForm,
    loss: &'a dyn Loss,
    targets: &'a [f64],
    gamma: f64,
    intercept: bool,
) -> Result<DualProblem<'a>, banach::Error> {
    let problem = DualProblem::new(form, loss, targets, gamma)?;
    if intercept { problem.with_intercept() } else { Ok(problem) }
}

fn run(
    part: &Part,
    form: &dyn QForm,
    loss: &dyn Loss,
    targets: &[f64],
    p: &'static str,
    gamma: f64,
    intercept: bool,
) -> GridRun {
    let mut patience = |progress: &Progress| {
        if progress.passes < GIVE_UP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let started = Instant::now();
    let solution = problem(form, loss, targets, gamma, intercept)
        .and_then(|problem| ours(TOLERANCE).solve(&problem, &mut patience));
    let (evaluations, converged, end, relative_gap) = match solution {
        Ok(solution) => {
            let end = match solution.status {
                Status::Converged => "converged",
                Status::IterationLimit => "iteration limit",
                Status::Rounding => ROUNDING,
                Status::Stalled => "stalled",
                Status::Interrupted => "given up",
            };
            let gap = Some(solution.certificate.relative_gap());
            (solution.passes, solution.status == Status::Converged, end.to_owned(), gap)
        }
        Err(error) => (0, false, error.to_string(), None),
    };
    GridRun {
        part: part.name(),
        loss: loss.name(),
        p,
        gamma,
        intercept,
        evaluations,
        limit: part.limit(loss, p),
        converged,
        end,
        relative_gap,
        seconds: started.elapsed().as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use banach::loss::{Hinge, Huber, Logistic};

    use super::*;
    use crate::watch::Count;

    fn tiny() -> GridRequest {
        let GridRequest { mut parts, seed } = GridRequest::quick();
        parts.truncate(2);
        parts[0].source = Source::Normal(SparseLinear { samples: 6, features: 20, relevant: 2, noise: 0.05 });
        parts[0].exponents = vec!["4/3", "1.02"];
        parts[0].single = Some(Single { what: "one", p: "1.02", limit: 12, paper: 258 });
        GridRequest { parts, seed }
    }

    #[test]
    fn every_problem_is_run_and_summed_up() {
        let grid = Grid::run(tiny(), &mut Count::default()).expect("it runs");
        let per_cell = GAMMAS.len() * INTERCEPTS.len();
        assert_eq!(grid.cells.len(), 9 + 1 + 9);
        assert_eq!(grid.runs.len(), grid.cells.len() * per_cell);
        for (cell, runs) in grid.cells.iter().zip(grid.runs.chunks(per_cell)) {
            assert!(runs.iter().all(|run| (&run.part, run.loss, run.p) == (&cell.part, cell.loss, cell.p)));
            assert_eq!(cell.failures + cell.rounded, runs.iter().filter(|run| !run.converged).count());
            assert!(runs.iter().all(|run| run.evaluations <= cell.worst));
            assert!(runs.iter().all(|run| !run.converged || run.relative_gap.is_some_and(|gap| gap <= TOLERANCE)));
        }
        let worst = grid.worst.expect("there are runs");
        assert!(grid.runs.iter().all(|run| (!run.converged, run.evaluations) <= (!worst.converged, worst.evaluations)));
        let [(single, run)] = &grid.singles[..] else { panic!("{:?}", grid.singles) };
        assert_eq!((single.what, run.p, run.loss, run.gamma, run.intercept), ("one", "1.02", "squared", 10.0, false));
    }

    /// Every loss, route, exponent and gamma, with and without an intercept, within the limits that were set.
    #[test]
    fn the_quick_grid_is_within_its_limits() {
        let grid = Grid::run(GridRequest::quick(), &mut Count::default()).expect("it runs");
        assert_eq!(grid.cells.len(), 112);
        for run in &grid.runs {
            // Beside a kink, the bound on rounding in a tensor of order 6 can be above the tolerance.
            let rounded = run.is_rounded() && run.part.contains("Gram");
            assert!(rounded || run.converged && run.relative_gap.is_some_and(|gap| gap <= TOLERANCE), "{run:?}");
            assert!(run.evaluations <= run.limit, "{run:?}");
        }
        assert!(grid.cells.iter().all(GridCell::within));
    }

    /// Shapes from tall to wide, every loss at p = 4/3 and 1.05, gammas up to 1e6.
    #[test]
    fn small_shapes_are_within_their_limits() {
        let mut parts: Vec<Part> = [(60, 3), (40, 8), (20, 40)].map(Part::of_shape).to_vec();
        parts.iter_mut().for_each(|part| part.exponents = vec!["4/3", "1.05"]);
        let grid = Grid::run(GridRequest { parts, seed: 0 }, &mut Count::default()).expect("it runs");
        assert_eq!(grid.cells.len(), 3 * 2 * 9);
        for run in &grid.runs {
            assert!(run.converged || (run.is_rounded() && run.gamma >= 1e4), "{run:?}");
            assert!(run.evaluations <= run.limit && run.limit == 40, "{run:?}");
        }
        assert!(grid.cells.iter().all(GridCell::within));
    }

    #[test]
    fn limits_are_those_that_were_set() {
        let huber = Huber::new(1.0).expect("rho > 0");
        for (loss, p, expected) in [
            (&Squared as &dyn Loss, "4/3", 30),
            (&Squared, "1.05", 30),
            (&Logistic, "1.05", 30),
            (&Hinge, "1.1", 30),
            (&Hinge, "1.05", 40),
            (&huber, "1.05", 40),
            (&Squared, "1.01", 45),
        ] {
            assert_eq!(limit(loss, p), expected, "{} at {p}", loss.name());
        }
    }

    #[test]
    fn a_watcher_can_stop_it() {
        let mut watch = Count { begun: 0, stop_in: Some(2) };
        assert!(matches!(Grid::run(tiny(), &mut watch), Err(Error::Stopped)));
    }
}
