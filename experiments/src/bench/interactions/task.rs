//! One fit and what is asked of it, in a process of its own, so that its memory can be told from that of everything else.

use std::{
    io::{self, BufRead, Write},
    ops::ControlFlow,
    path::Path,
    process::Command,
    time::Instant,
};

use banach::{
    DualProblem, Exponent, FeatureMatrix, Memory, Newton, QForm, Solution, Solver, Status, Stopping,
    form::{KernelFeatures, Tiles},
    kernel::{Monomial, MonomialScale, Polynomial},
    loss::Squared,
    model::{Budget, DualModel},
    solver::Progress,
    synthetic::{Sample, SparseQuadratic},
};
use serde::{Deserialize, Serialize};

use super::super::{memory::peak_bytes, process::Process};
use crate::{Error, Watch};

/// How the monomials are represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Representation {
    /// Tile by tile, none of them stored.
    Tiles,
    /// As the matrix of all of them.
    Features,
}

/// What to do: squared loss with an intercept, raw monomials of degree 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The data.
    pub data: SparseQuadratic,
    /// Their seed.
    pub seed: u64,
    /// How the monomials are represented.
    pub representation: Representation,
    /// The exponent.
    pub p: String,
    /// The weight of the loss.
    pub gamma: f64,
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// How many of the largest monomials are listed.
    pub top: usize,
    /// How often all of it is done; the best time counts.
    pub rounds: usize,
}

/// What was found, and at what cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Seconds from the data to the list: the best of all rounds.
    pub seconds: f64,
    /// Of those, seconds of the list alone.
    pub top_seconds: f64,
    /// Passes over all monomials.
    pub passes: usize,
    /// The relative duality gap.
    pub gap: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// How many of the true monomials are first in the list, in any order.
    pub found: usize,
    /// Whether the list is proven to be that of the optimum.
    pub set_proven: bool,
    /// Whether its order is.
    pub order_proven: bool,
    /// The most memory of the process when it had the data, and in the end, where the operating system tells.
    pub data_bytes: Option<u64>,
    /// In the end.
    pub peak_bytes: Option<u64>,
}

/// What the process says: how far it is, then what it has found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Passes(usize),
    Done(Done),
    Failed(String),
}

/// Does one task: reads it as one line, writes a line of JSON for every iteration and one for the end.
pub fn child(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut say = |line: &Line| -> io::Result<()> {
        serde_json::to_writer(&mut output, line)?;
        writeln!(output)?;
        output.flush()
    };
    let task: Task = serde_json::from_str(&line)?;
    let end = task.run(&mut |passes| match say(&Line::Passes(passes)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    say(&end.map_or_else(|error| Line::Failed(error.to_string()), Line::Done))
}

impl Task {
    /// Does the task in a new process of the program whose arguments `bench task` lead to [`child`], or here if there is none.
    pub(super) fn measure(&self, program: Option<&Path>, watch: &mut dyn Watch) -> Result<Done, Error> {
        let Some(program) = program else {
            let mut stopped = false;
            let done = self.run(&mut |passes| {
                let flow = watch.step(passes);
                stopped |= flow.is_break();
                flow
            });
            return if stopped { Err(Error::Stopped) } else { done };
        };
        let refuse = |reason: String| Error::Child { program: program.to_owned(), reason };
        let mut command = Command::new(program);
        command.args(["bench", "task", "--threads", &rayon::current_num_threads().to_string()]);
        let mut process = Process::start(command)?;
        let question = serde_json::to_string(self).map_err(|error| refuse(error.to_string()))?;
        let mut line = process.ask(&question)?;
        loop {
            match line {
                Line::Passes(passes) if watch.step(passes).is_break() => return Err(Error::Stopped),
                Line::Passes(_) => line = process.listen()?,
                Line::Done(done) => return Ok(done),
                Line::Failed(reason) => return Err(refuse(reason)),
            }
        }
    }

    fn run(&self, report: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<Done, Error> {
        let sample = self.data.sample(self.seed);
        let x = FeatureMatrix::from_columns(self.data.samples, self.data.inputs, &sample.columns[..])?;
        let data_bytes = peak_bytes();
        let mut best = f64::INFINITY;
        let mut done = Done::default();
        for _ in 0..self.rounds.max(1) {
            let started = Instant::now();
            done = self.once(&x, &sample, report)?;
            best = best.min(started.elapsed().as_secs_f64());
        }
        Ok(Done { seconds: best, data_bytes, peak_bytes: peak_bytes(), ..done })
    }

    /// From the data to the list.
    fn once(
        &self,
        x: &FeatureMatrix<'_>,
        sample: &Sample,
        report: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Done, Error> {
        let (exponent, scale) = (self.p.parse::<Exponent>()?, MonomialScale::Raw);
        let (kernel, memory) = (Polynomial::new(2, 1.0, 0.0)?, Memory::available());
        match self.representation {
            Representation::Tiles => {
                let form = Tiles::new(x.view(), kernel, scale, exponent, memory)?;
                let problem = self.problem(&form, &sample.targets)?;
                let solution = self.solve(&problem, report)?;
                let started = Instant::now();
                let mut model = DualModel::new(x.view(), kernel, exponent, &solution.alpha)?.with_monomial_scale(scale);
                if let Some(radius) = problem.radius(&solution.alpha, &solution.certificate) {
                    model = model.with_radius(radius)?;
                }
                let top = model.top_monomials(self.top, Budget::default())?;
                let top_seconds = started.elapsed().as_secs_f64();
                let listed: Vec<Monomial> = top.entries.into_iter().map(|entry| entry.monomial).collect();
                Ok(Done {
                    top_seconds,
                    found: self.found(&listed, sample),
                    set_proven: top.set_proven,
                    order_proven: top.order_proven,
                    ..fitted(&solution)
                })
            }
            Representation::Features => {
                let form = KernelFeatures::with_monomial_scale(x, kernel, scale, exponent, memory)?;
                let problem = self.problem(&form, &sample.targets)?;
                let solution = self.solve(&problem, report)?;
                let started = Instant::now();
                let weights = form.features().weights(&solution.alpha);
                let found = crate::data::count_found(&sample.truth, &weights);
                Ok(Done { top_seconds: started.elapsed().as_secs_f64(), found, ..fitted(&solution) })
            }
        }
    }

    fn problem<'p>(&self, form: &'p dyn QForm, targets: &'p [f64]) -> Result<DualProblem<'p>, Error> {
        Ok(DualProblem::new(form, &Squared, targets, self.gamma)?.with_intercept()?)
    }

    fn solve(
        &self,
        problem: &DualProblem<'_>,
        report: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Solution, Error> {
        let stopping = Stopping { tolerance: self.tolerance, max_iterations: 200 };
        let solver = Newton { stopping, memory: Memory::available() };
        Ok(solver.solve(problem, &mut |progress: &Progress| report(progress.passes))?)
    }

    /// How many of the true monomials are the first of a list.
    fn found(&self, listed: &[Monomial], sample: &Sample) -> usize {
        let first = &listed[..sample.truth.len().min(listed.len())];
        let is_first = |factors: &[(usize, usize)]| first.iter().any(|monomial| monomial.factors() == factors);
        sample.truth.iter().filter(|(feature, _)| is_first(&self.data.factors(*feature))).count()
    }
}

fn fitted(solution: &Solution) -> Done {
    Done {
        passes: solution.passes,
        gap: solution.certificate.relative_gap(),
        converged: solution.status == Status::Converged,
        ..Done::default()
    }
}
