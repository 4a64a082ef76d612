//! Seconds to the tolerance against SciPy's L-BFGS-B on the same dual: squared loss, no intercept.

use std::{
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use banach::{
    DualProblem, Exponent, FeatureMatrix, Solution, Solver, Status, Unobserved, form::Features, loss::Squared,
    synthetic::SparseLinear,
};
use serde::Serialize;

use super::{
    super::{Figure, Side, Target, timing::Best},
    Answer, Hello, ours,
    peer::Peer,
};
use crate::{Error, Watch};

/// The waiting threads of both sides spin for a while before they sleep; nothing is timed meanwhile.
const SETTLE: Duration = Duration::from_millis(150);
/// How far the two optimal values may differ, relative to their size.
const AGREEMENT: f64 = 1e-7;

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// The data.
    pub data: SparseLinear,
    /// Their seed.
    pub seed: u64,
    /// The regularisation parameter.
    pub gamma: f64,
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// The exponents, and how many times faster than SciPy we want to be.
    pub exponents: Vec<(&'static str, f64)>,
    /// Rounds; the best of each side counts.
    pub rounds: usize,
    /// The Python interpreter, with the packages of `experiments/peers/requirements.txt`.
    #[serde(skip)]
    pub python: PathBuf,
}

impl Request {
    /// The size of the paper's Table 1.
    pub fn full(rounds: usize, python: &Path) -> Self {
        let data = SparseLinear { samples: 200, features: 100_000, relevant: 10, noise: 0.05 };
        let exponents = vec![("4/3", 3.0), ("1.05", 8.0)];
        Self { data, seed: 0, gamma: 10.0, tolerance: 1e-8, exponents, rounds, python: python.to_owned() }
    }

    /// A small size that takes seconds; its ratios say little.
    pub fn quick(rounds: usize, python: &Path) -> Self {
        let full = Self::full(rounds, python);
        Self { data: SparseLinear { samples: 50, features: 2000, relevant: 4, ..full.data }, ..full }
    }
}

/// What one side did.
#[derive(Debug, Clone, Serialize)]
pub struct Contender {
    /// Passes over the data.
    pub evaluations: usize,
    /// The relative duality gap that was reached.
    pub relative_gap: f64,
    /// The value of the dual there.
    pub dual: f64,
}

/// Both sides on one problem.
#[derive(Debug, Clone, Serialize)]
pub struct Race {
    /// The exponent.
    pub p: &'static str,
    /// The times and their ratio.
    pub figure: Figure,
    /// What we did.
    pub ours: Contender,
    /// What SciPy did.
    pub theirs: Answer,
    /// Whether both reached the tolerance, at values of the dual that agree to 1e-7.
    pub agree: bool,
}

/// All races.
#[derive(Debug, Clone, Serialize)]
pub struct Solvers {
    /// What was measured.
    pub request: Request,
    /// Threads at work on each side.
    pub threads: usize,
    /// The other side.
    pub peer: Hello,
    /// One for every exponent.
    pub races: Vec<Race>,
}

impl Solvers {
    /// Runs all races.
    pub fn run(request: Request, watch: &mut dyn Watch) -> Result<Self, Error> {
        let Request { data, seed, exponents, python, .. } = &request;
        watch.begin("data", 0);
        let sample = data.sample(*seed);
        watch.begin("starting SciPy", 0);
        let (mut peer, hello) = Peer::start(python, &sample.columns, &sample.targets)?;
        let matrix = FeatureMatrix::from_columns(data.samples, data.features, &sample.columns[..])?;
        let mut races = Vec::new();
        for &(p, wanted) in exponents {
            let form = Features::new(matrix.clone(), p.parse::<Exponent>()?);
            let problem = DualProblem::new(&form, &Squared, &sample.targets, request.gamma)?;
            races.push(race(&request, p, wanted, &problem, &mut peer, watch)?);
        }
        Ok(Self { threads: rayon::current_num_threads(), peer: hello, races, request })
    }
}

/// Ours, theirs, ours, theirs, and so on; the best of each counts.
fn race(
    request: &Request,
    p: &'static str,
    wanted: f64,
    problem: &DualProblem<'_>,
    peer: &mut Peer,
    watch: &mut dyn Watch,
) -> Result<Race, Error> {
    let Request { data, gamma, tolerance, rounds, .. } = request;
    let exponent = problem.form().exponent().p();
    let solver = ours(*tolerance);
    let solver: &dyn Solver = &solver;
    watch.begin(&format!("p = {p}"), *rounds);
    // Both sides warm up, and the peer chooses its settings.
    let (mut ours, mut theirs) = (solve(solver, problem)?, peer.solve(exponent, *gamma, *tolerance)?);
    let (mut our_best, mut their_best) = (Best::new(), Best::new());
    for done in 1..=*rounds {
        sleep(SETTLE);
        let started = Instant::now();
        ours = solve(solver, problem)?;
        our_best.note(started.elapsed().as_secs_f64());
        sleep(SETTLE);
        theirs = peer.solve(exponent, *gamma, *tolerance)?;
        their_best.note(theirs.seconds);
        if watch.step(done).is_break() {
            return Err(Error::Stopped);
        }
    }
    theirs.seconds = their_best.seconds;
    let certificate = ours.certificate;
    let agree = ours.status == Status::Converged
        && theirs.relative_gap <= *tolerance
        && (certificate.dual - theirs.dual).abs() <= AGREEMENT * theirs.dual.abs();
    Ok(Race {
        p,
        figure: Figure::new(
            format!("p = {p}, n = {}, d = {}, gamma = {gamma}, gap {tolerance:e}", data.samples, data.features),
            Side::new("banach", &our_best),
            Side::new("L-BFGS-B", &their_best),
            Target::AtLeast(wanted),
        ),
        ours: Contender { evaluations: ours.passes, relative_gap: certificate.relative_gap(), dual: certificate.dual },
        theirs,
        agree,
    })
}

fn solve(solver: &dyn Solver, problem: &DualProblem<'_>) -> Result<Solution, Error> {
    Ok(solver.solve(problem, &mut Unobserved)?)
}
