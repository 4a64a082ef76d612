//! Supports by evidence on data whose truth is known: what is found, what is false, and seconds.

use std::time::Instant;

use banach::{
    FeatureMatrix,
    kernel::{Degrees, KernelChoice, KernelName, Monomial},
    sparse::SparseSpec,
    synthetic::{Correlated, EntryDistribution, SparseMonomials, SparseQuadratic},
};
use serde::Serialize;

use crate::{Error, Watch};

/// Data with a truth.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportData {
    /// A few columns.
    Linear(Correlated),
    /// A few products of two variables, and squares.
    Quadratic(SparseQuadratic),
    /// A few products of up to three variables.
    Cubic(SparseMonomials),
}

/// One kind of data.
#[derive(Debug, Clone, Serialize)]
pub struct SupportTask {
    /// What it is, in a few words.
    pub name: &'static str,
    /// The data.
    pub data: SupportData,
    /// Draws: seeds from 0.
    pub draws: u64,
}

/// What was found in one draw.
#[derive(Debug, Clone, Serialize)]
pub struct SupportRun {
    /// True terms that were named.
    pub named: usize,
    /// Terms that were named and are not true.
    pub false_terms: usize,
    /// Terms that are true.
    pub truth: usize,
    /// The monomials that could have been named.
    pub dictionary: f64,
    /// Whether no step of one monomial makes a better support.
    pub proven: bool,
    /// Seconds.
    pub seconds: f64,
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
    /// One for every kind of data.
    pub cells: Vec<SupportCell>,
}

/// The tasks at full size, and one of 46 million monomials.
pub fn full() -> Vec<SupportTask> {
    let linear = |samples, features, relevant: usize, noise: f64| {
        // The signal has the variance of so many columns of weight 1.
        let noise = noise * (relevant as f64).sqrt();
        SupportData::Linear(Correlated { samples, features, relevant, noise, correlation: 0.5 })
    };
    let quadratic =
        |samples, inputs| SupportData::Quadratic(SparseQuadratic { samples, inputs, relevant: 6, noise: 0.05 });
    let cubic = |samples, inputs| {
        let entries = EntryDistribution::Normal;
        SupportData::Cubic(SparseMonomials { samples, inputs, relevant: 5, noise: 0.1, entries })
    };
    vec![
        SupportTask {
            name: "wide: 10 of 10,000 columns, noise a fifth",
            data: linear(100, 10_000, 10, 0.2),
            draws: 20,
        },
        SupportTask { name: "products: 6 of 20,300", data: quadratic(150, 200), draws: 10 },
        SupportTask { name: "Table 2: 6 of 212,225", data: quadratic(90, 650), draws: 30 },
        SupportTask { name: "degree 3: 5 of 176,850", data: cubic(200, 100), draws: 10 },
        SupportTask { name: "degree 3: 5 of 46 million", data: cubic(200, 650), draws: 1 },
        SupportTask {
            name: "weak: 10 of 2,000, noise as large as the signal",
            data: linear(150, 2000, 10, 1.0),
            draws: 20,
        },
        SupportTask { name: "many: 50 of 2,000, noise a half", data: linear(100, 2000, 50, 0.5), draws: 20 },
    ]
}

/// Small versions that take seconds.
pub fn quick() -> Vec<SupportTask> {
    let linear = Correlated { samples: 40, features: 100, relevant: 2, noise: 0.2, correlation: 0.5 };
    let quadratic = SparseQuadratic { samples: 40, inputs: 10, relevant: 2, noise: 0.05 };
    let entries = EntryDistribution::Normal;
    let cubic = SparseMonomials { samples: 60, inputs: 8, relevant: 3, noise: 0.05, entries };
    vec![
        SupportTask { name: "linear", data: SupportData::Linear(linear), draws: 3 },
        SupportTask { name: "quadratic", data: SupportData::Quadratic(quadratic), draws: 3 },
        SupportTask { name: "cubic", data: SupportData::Cubic(cubic), draws: 3 },
    ]
}

impl Supports {
    /// Finds the supports of every task.
    pub fn run(tasks: Vec<SupportTask>, watch: &mut dyn Watch) -> Result<Self, Error> {
        let mut cells = Vec::new();
        for task in tasks {
            watch.begin(task.name, task.draws as usize);
            let mut runs = Vec::new();
            for seed in 0..task.draws {
                runs.push(one(task.data, seed)?);
                if watch.step(seed as usize + 1).is_break() {
                    return Err(Error::Stopped);
                }
            }
            cells.push(SupportCell { task, runs });
        }
        Ok(Self { threads: rayon::current_num_threads(), cells })
    }
}

fn one(data: SupportData, seed: u64) -> Result<SupportRun, Error> {
    let (samples, inputs, degree, columns, targets, truth) = match data {
        SupportData::Linear(data) => {
            let sample = data.sample(seed);
            let truth = sample.truth.iter().map(|(feature, _)| Monomial::new(&[(*feature, 1)])).collect();
            (data.samples, data.features, 1, sample.columns, sample.targets, truth)
        }
        SupportData::Quadratic(data) => {
            let sample = data.sample(seed);
            let truth = sample.truth.iter().map(|(feature, _)| Monomial::new(&data.factors(*feature))).collect();
            (data.samples, data.inputs, 2, sample.columns, sample.targets, truth)
        }
        SupportData::Cubic(data) => {
            let sample = data.sample(seed);
            let truth: Vec<Monomial> = sample.truth.iter().map(|(factors, _)| Monomial::new(factors)).collect();
            (data.samples, data.inputs, 3, sample.columns, sample.targets, truth)
        }
    };
    let x = FeatureMatrix::from_columns(samples, inputs, columns)?;
    let choice = KernelChoice { degree: Some(Degrees::range(1, degree)?), ..KernelChoice::new(KernelName::Poly) };
    let spec = SparseSpec { kernel: choice.spec()?, ..SparseSpec::default() };
    let started = Instant::now();
    let found = spec.fit(&x, &targets)?;
    let seconds = started.elapsed().as_secs_f64();
    let named = found.terms().iter().filter(|term| truth.contains(&term.monomial)).count();
    Ok(SupportRun {
        named,
        false_terms: found.terms().len() - named,
        truth: truth.len(),
        dictionary: found.dictionary(),
        proven: found.optimality().holds(),
        seconds,
    })
}
