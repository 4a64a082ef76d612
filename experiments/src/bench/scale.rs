//! Columns in fewer bytes than dense f64: how fast passes and fits over them are, and in how much memory.
//!
//! Genotypes and sparse columns are measured in processes of their own, one for each storage, so that the memory is that of the data and what is
//! done with them.

use std::{
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use banach::{
    Exponent, FeatureMatrix, Memory, QForm, Spec,
    data::{Genotypes, Scratch},
    form::{Evaluation, Features, Tiles},
    kernel::{MonomialScale, Polynomial},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{
    Figure, Side, Target,
    memory::peak_bytes,
    process::Process,
    timing::{Best, ColdCache, rounds},
};
use crate::{Error, Watch};

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleRequest {
    /// The features route over f32 and f64: samples and features.
    pub numbers: (usize, usize),
    /// Products of two genotypes: samples and variants.
    pub genotypes: (usize, usize),
    /// A linear fit of sparse columns and of the same made dense: samples and features. Of a hundred entries one is stored.
    pub sparse: (usize, usize),
    /// Rounds of the features route; the best time of each side counts.
    pub rounds: usize,
    /// Rounds of what is measured in processes of its own.
    pub process_rounds: usize,
    /// The program whose arguments `bench scale-task` lead to [`child`]; without one, everything shares this process, and the peak of
    /// its memory.
    #[serde(skip)]
    pub program: Option<PathBuf>,
}

impl ScaleRequest {
    /// 20 million numbers, 1.25 billion products of genotypes, and half a million stored entries; minutes.
    pub fn full(rounds: usize) -> Self {
        let (numbers, genotypes, sparse) = ((200, 100_000), (500, 50_000), (500, 100_000));
        Self { numbers, genotypes, sparse, rounds, process_rounds: 1, program: None }
    }

    /// Small sizes that take a second; their ratios say little.
    pub fn quick(rounds: usize) -> Self {
        Self { numbers: (20, 2000), genotypes: (60, 300), sparse: (60, 600), ..Self::full(rounds) }
    }
}

/// The peaks of the memory of two processes that do the same with data in two kinds of storage.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleMemory {
    /// What they do.
    pub name: String,
    /// The kinds of storage.
    pub labels: [&'static str; 2],
    /// The peaks, where the operating system tells.
    pub peaks: [Option<u64>; 2],
    /// What the first should stay below.
    pub most: MostMemory,
}

/// A limit on memory.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum MostMemory {
    /// In bytes.
    Bytes(u64),
    /// As a share of the other process.
    Share(f64),
}

/// All measurements.
#[derive(Debug, Clone, Serialize)]
pub struct Scale {
    /// What was measured.
    pub request: ScaleRequest,
    /// Threads at work on each side.
    pub threads: usize,
    /// The speeds.
    pub figures: Vec<Figure>,
    /// The memory.
    pub memory: Vec<ScaleMemory>,
}

impl Scale {
    /// Measures everything.
    pub fn run(request: ScaleRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let of_numbers = numbers(request.numbers, request.rounds, watch)?;
        let (of_genotypes, genotypes) = GENOTYPES.measure(request.genotypes, &request, watch)?;
        let (of_sparse, sparse) = SPARSE.measure(request.sparse, &request, watch)?;
        let (threads, figures) = (rayon::current_num_threads(), vec![of_numbers, of_genotypes, of_sparse]);
        Ok(Self { request, threads, figures, memory: vec![genotypes, sparse] })
    }
}

/// The same work on the same data, compact and as dense f64.
struct Pair {
    data: Data,
    name: &'static str,
    labels: [&'static str; 2],
    speed: f64,
    memory: MostMemory,
}

const GENOTYPES: Pair = Pair {
    data: Data::Genotypes,
    name: "products of two genotypes, an evaluation",
    labels: ["two bits", "f64"],
    speed: 0.8,
    memory: MostMemory::Bytes(200_000_000),
};

const SPARSE: Pair = Pair {
    data: Data::Sparse,
    name: "1 % of the entries, a linear fit",
    labels: ["sparse", "dense"],
    speed: 20.0,
    memory: MostMemory::Share(0.05),
};

/// One evaluation over f32 against one over f64.
fn numbers((n, d): (usize, usize), count: usize, watch: &mut dyn Watch) -> Result<Figure, Error> {
    let narrow: Vec<f32> = (0..n * d).map(|at| (at as f64 * 0.618_033_988_749_895).fract() as f32 - 0.5).collect();
    let wide: Vec<f64> = narrow.iter().map(|x| f64::from(*x)).collect();
    let exponent = Exponent::from_fraction(4, 3)?;
    let narrow = Features::new(FeatureMatrix::from_columns_f32(n, d, narrow)?, exponent);
    let wide = Features::new(FeatureMatrix::from_columns(n, d, wide)?, exponent);
    let alpha = dual(n);
    let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
    let (cache, mut ours, mut other) = (ColdCache::new(), Best::new(), Best::new());
    rounds("features in f32 and f64", count, watch, || {
        for (form, best) in [(&narrow, &mut ours), (&wide, &mut other)] {
            cache.evict();
            best.time(|| form.evaluate(&alpha, &mut evaluation, &mut scratch));
        }
    })?;
    let work = 2.0 * (n * d) as f64;
    Ok(Figure::new(
        format!("features, n = {n}, d = {d}: f32 against f64"),
        Side::new("f32", &ours).with_work(work),
        Side::new("f64", &other).with_work(work),
        Target::AtLeast(1.4),
    ))
}

impl Pair {
    fn measure(
        &self,
        (samples, features): (usize, usize),
        request: &ScaleRequest,
        watch: &mut dyn Watch,
    ) -> Result<(Figure, ScaleMemory), Error> {
        let (mut best, mut peaks, mut failed) = ([Best::new(), Best::new()], [None; 2], None);
        rounds(self.name, request.process_rounds, watch, || {
            for (compact, (best, peak)) in [true, false].into_iter().zip(best.iter_mut().zip(&mut peaks)) {
                let task = ScaleTask { data: self.data, samples, features, compact };
                match task.measure(request.program.as_deref()) {
                    Ok(done) => {
                        best.note(done.seconds);
                        *peak = done.peak_bytes;
                    }
                    Err(error) => failed = Some(error),
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let name = format!("{}, n = {samples}, d = {features}", self.name);
        let [ours, other] = [0, 1].map(|at| Side::new(self.labels[at], &best[at]));
        let memory = ScaleMemory { name: name.clone(), labels: self.labels, peaks, most: self.memory };
        Ok((Figure::new(name, ours, other, Target::AtLeast(self.speed)), memory))
    }
}

/// A dual vector without a pattern.
fn dual(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7).sin()).collect()
}

/// What there are to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Data {
    /// One evaluation over all products of two genotypes.
    Genotypes,
    /// A linear fit of columns with few entries.
    Sparse,
}

/// Work on data in one kind of storage.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ScaleTask {
    data: Data,
    samples: usize,
    features: usize,
    compact: bool,
}

/// What it took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ScaleDone {
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// Does one task: reads it as one line, and writes one.
pub fn child(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let task: ScaleTask = serde_json::from_str(&line)?;
    serde_json::to_writer(&mut output, &task.run().map_err(io::Error::other)?)?;
    writeln!(output)
}

impl ScaleTask {
    /// Does the task in a new process of a program, or here if there is none.
    fn measure(self, program: Option<&Path>) -> Result<ScaleDone, Error> {
        let Some(program) = program else { return self.run() };
        let mut command = Command::new(program);
        command.args(["bench", "scale-task", "--threads", &rayon::current_num_threads().to_string()]);
        let question = serde_json::to_string(&self)
            .map_err(|error| Error::Child { program: program.to_owned(), reason: error.to_string() })?;
        Process::start(command)?.ask(&question)
    }

    fn run(self) -> Result<ScaleDone, Error> {
        let seconds = match self.data {
            Data::Genotypes => self.evaluate_products()?,
            Data::Sparse => self.fit_sparse()?,
        };
        Ok(ScaleDone { seconds, peak_bytes: peak_bytes() })
    }

    fn evaluate_products(self) -> Result<f64, Error> {
        let Self { samples, features, compact, .. } = self;
        let codes = |at: usize| ((at as f64 * 0.618_033_988_749_895).fract() * 256.0) as u8;
        let bytes: Vec<u8> = (0..samples.div_ceil(4) * features).map(codes).collect();
        let levels = Genotypes::of(samples, &bytes)?.levels;
        let mut x = FeatureMatrix::from_two_bit(samples, features, bytes, levels)?;
        if !compact {
            let mut values = vec![0.0; samples * features];
            values.chunks_mut(samples).enumerate().for_each(|(j, column)| x.column_into(j, column));
            x = FeatureMatrix::from_columns(samples, features, values)?;
        }
        let exponent = Exponent::from_fraction(4, 3)?;
        let form = Tiles::new(x, Polynomial::new(2, 1.0, 0.0)?, MonomialScale::Raw, exponent, Memory::available())?;
        let (alpha, mut evaluation, mut scratch) = (dual(samples), Evaluation::default(), Scratch::new());
        let started = Instant::now();
        form.evaluate(&alpha, &mut evaluation, &mut scratch);
        Ok(started.elapsed().as_secs_f64())
    }

    fn fit_sparse(self) -> Result<f64, Error> {
        let Self { samples, features, compact, .. } = self;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut dense = if compact { Vec::new() } else { vec![0.0; samples * features] };
        for j in 0..features {
            for i in (0..samples).filter(|_| rng.random_bool(STORED)).collect::<Vec<_>>() {
                let value = rng.random_range(0.5..2.5);
                if compact {
                    rows.push(i);
                    values.push(value);
                } else {
                    dense[j * samples + i] = value;
                }
            }
            starts.push(values.len());
        }
        let x = if compact {
            FeatureMatrix::from_sparse_columns(samples, features, starts, rows, values)?
        } else {
            FeatureMatrix::from_columns(samples, features, dense)?
        };
        let spec = Spec { p: 1.2, gamma: 10.0, ..Spec::default() };
        let started = Instant::now();
        spec.fit(&x, &dual(samples))?;
        Ok(started.elapsed().as_secs_f64())
    }
}

/// The share of entries that are stored.
const STORED: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn both_sides_are_measured() {
        let scale = Scale::run(ScaleRequest::quick(1), &mut Count::default()).expect("it runs");
        assert_eq!((scale.figures.len(), scale.memory.len()), (3, 2));
        assert!(scale.figures.iter().all(|figure| figure.ours.seconds > 0.0 && figure.ratio.is_finite()));
    }

    #[test]
    fn a_watcher_can_stop_it() {
        for stop_in in [1, 2, 3] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(Scale::run(ScaleRequest::quick(1), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }

    #[test]
    fn a_task_travels_as_a_line() {
        for data in [Data::Genotypes, Data::Sparse] {
            let task = ScaleTask { data, samples: 9, features: 40, compact: true };
            let question = serde_json::to_string(&task).expect("a line");
            let mut said = Vec::new();
            child(format!("{question}\n").as_bytes(), &mut said).expect("it runs");
            let done: ScaleDone = serde_json::from_slice(&said).expect("a line");
            assert!(done.seconds >= 0.0);
        }
    }
}
