//! Supports by evidence on data whose truth is known: what is found, what is false, what a better search would have found, and what it costs.

mod draw;
mod tasks;

use std::time::Instant;

use banach::sparse::SparseSpec;
use serde::Serialize;

use self::draw::SupportDraw;
pub use self::tasks::{SupportData, SupportTask, full, quick};
use super::{
    memory::{forget_peak, peak_bytes},
    timing::processor_seconds,
};
use crate::{Error, Watch};

/// What was found in one draw.
#[derive(Debug, Clone, Serialize)]
pub struct SupportRun {
    /// The draw.
    pub seed: u64,
    /// True terms that were named.
    pub named: usize,
    /// Terms that were named and are not true.
    pub false_terms: usize,
    /// Terms that are true.
    pub truth: usize,
    /// The monomials that could have been named.
    pub dictionary: f64,
    /// The criterion of what was found.
    pub criterion: f64,
    /// The criterion of the true terms, if they are not too many for a support.
    pub criterion_of_truth: Option<f64>,
    /// Whether no step of one monomial makes a better support.
    pub proven: bool,
    /// Seconds.
    pub seconds: f64,
    /// Seconds of all processors together, where the operating system tells.
    pub processor_seconds: Option<f64>,
    /// The most memory of the process during the search, with data and program and what earlier draws left.
    pub peak_bytes: Option<u64>,
}

/// A criterion that is larger by more than rounding.
const LARGER: f64 = 1e-6;

impl SupportRun {
    /// Whether every true term was named, and nothing else. Products of variables less their means have the same names as those of the
    /// truth and explain less, so that names alone do not tell.
    pub fn is_truth(&self) -> bool {
        self.named == self.truth && self.false_terms == 0 && !self.missed()
    }

    /// Whether the search missed a better support, the truth.
    pub fn missed(&self) -> bool {
        self.criterion_of_truth.is_some_and(|truth| self.criterion > truth + LARGER)
    }
}

/// All draws of one kind of data.
#[derive(Debug, Clone, Serialize)]
pub struct SupportCell {
    /// The data.
    pub task: SupportTask,
    /// Its draws.
    pub runs: Vec<SupportRun>,
}

/// All kinds of data.
#[derive(Debug, Clone, Serialize)]
pub struct Supports {
    /// Threads at work.
    pub threads: usize,
    /// The seed of the first draw of each; the others follow.
    pub first_seed: u64,
    /// One for every kind of data.
    pub cells: Vec<SupportCell>,
}

impl Supports {
    /// Finds the supports of every task.
    pub fn run(tasks: Vec<SupportTask>, first_seed: u64, watch: &mut dyn Watch) -> Result<Self, Error> {
        let mut cells = Vec::new();
        for task in tasks {
            watch.begin(task.name, task.draws as usize);
            let mut runs = Vec::new();
            for draw in 0..task.draws {
                runs.push(one(task.data, first_seed + draw)?);
                if watch.step(draw as usize + 1).is_break() {
                    return Err(Error::Stopped);
                }
            }
            cells.push(SupportCell { task, runs });
        }
        Ok(Self { threads: rayon::current_num_threads(), first_seed, cells })
    }
}

fn one(data: SupportData, seed: u64) -> Result<SupportRun, Error> {
    let draw = SupportDraw::new(data, seed);
    let x = draw.matrix()?;
    let spec = SparseSpec { kernel: draw.kernel()?, ..SparseSpec::default() };
    forget_peak();
    let (started, processor) = (Instant::now(), processor_seconds());
    let found = spec.fit(&x, &draw.targets)?;
    let seconds = started.elapsed().as_secs_f64();
    let processor = processor_seconds().zip(processor).map(|(after, before)| after - before);
    let peak_bytes = peak_bytes();
    let named = found.terms().iter().filter(|term| draw.truth.contains(&term.monomial)).count();
    Ok(SupportRun {
        seed,
        named,
        false_terms: found.terms().len() - named,
        truth: draw.truth.len(),
        dictionary: found.dictionary(),
        criterion: found.criterion(),
        criterion_of_truth: draw.criterion_of_truth(found.dictionary()),
        proven: found.certificate().holds(),
        seconds,
        processor_seconds: processor,
        peak_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    /// The library's criterion, which it does not tell of supports that it did not choose, is that of the formula.
    #[test]
    fn the_truth_has_the_criterion_of_its_formula() {
        let supports = Supports::run(quick(), 0, &mut Count::default()).expect("it runs");
        let runs: Vec<&SupportRun> = supports.cells.iter().flat_map(|cell| &cell.runs).collect();
        let found: Vec<&&SupportRun> = runs.iter().filter(|run| run.is_truth() && run.truth > 0).collect();
        assert!(found.len() >= 6, "{runs:?}");
        for run in found {
            let truth = run.criterion_of_truth.expect("few terms");
            assert!((run.criterion - truth).abs() < 1e-6 * truth.abs(), "{run:?}");
        }
        assert!(!runs.iter().any(|run| run.missed()), "{runs:?}");
    }

    #[test]
    fn a_watcher_can_stop_it() {
        let mut watch = Count { begun: 0, stop_in: Some(1) };
        assert!(matches!(Supports::run(quick(), 0, &mut watch), Err(Error::Stopped)));
    }
}
