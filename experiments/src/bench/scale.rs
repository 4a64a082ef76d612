//! Columns in fewer bytes than f64: how fast passes over them are, and in how much memory.
//!
//! Genotypes are measured in processes of their own, one for each storage, so that the memory is that of the data and one pass.

use std::{
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use banach::{
    Exponent, FeatureMatrix, Memory, QForm,
    data::{Genotypes, Scratch},
    form::{Evaluation, Features, Tiles},
    kernel::{MonomialScale, Polynomial},
};
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
    /// Rounds of the features route; the best time of each side counts.
    pub rounds: usize,
    /// Rounds of the genotypes.
    pub genotype_rounds: usize,
    /// The program whose arguments `bench scale-task` lead to [`child`]; without one, everything shares this process, and the peak of
    /// its memory.
    #[serde(skip)]
    pub program: Option<PathBuf>,
}

impl ScaleRequest {
    /// 20 million numbers, and 1.25 billion products of genotypes; minutes.
    pub fn full(rounds: usize) -> Self {
        Self { numbers: (200, 100_000), genotypes: (500, 50_000), rounds, genotype_rounds: 1, program: None }
    }

    /// Small sizes that take a second; their ratios say little.
    pub fn quick(rounds: usize) -> Self {
        Self { numbers: (20, 2000), genotypes: (60, 300), ..Self::full(rounds) }
    }
}

/// The memory of processes that evaluate the same function of the same genotypes.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleMemory {
    /// Two bits for every entry, where the operating system tells.
    pub two_bit: Option<u64>,
    /// 64 bits for every entry.
    pub f64: Option<u64>,
    /// What the first should stay below.
    pub limit: u64,
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
    pub memory: ScaleMemory,
}

/// Memory of a process with 500 x 50,000 genotypes.
const LIMIT: u64 = 200_000_000;

impl Scale {
    /// Measures everything.
    pub fn run(request: ScaleRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let of_numbers = numbers(request.numbers, request.rounds, watch)?;
        let (of_genotypes, memory) = genotypes(&request, watch)?;
        let (threads, figures) = (rayon::current_num_threads(), vec![of_numbers, of_genotypes]);
        Ok(Self { request, threads, figures, memory })
    }
}

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

/// One evaluation over all products of two genotypes in two bits, against 64.
fn genotypes(request: &ScaleRequest, watch: &mut dyn Watch) -> Result<(Figure, ScaleMemory), Error> {
    let (samples, variants) = request.genotypes;
    let (mut best, mut peaks, mut failed) = ([Best::new(), Best::new()], [None; 2], None);
    rounds("genotypes in two bits and 64", request.genotype_rounds, watch, || {
        for (two_bit, (best, peak)) in [true, false].into_iter().zip(best.iter_mut().zip(&mut peaks)) {
            match (ScaleTask { samples, variants, two_bit }).measure(request.program.as_deref()) {
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
    let work = (samples * variants) as f64 * (variants + 1) as f64;
    let figure = Figure::new(
        format!("products of two genotypes, n = {samples}, d = {variants}: two bits against f64"),
        Side::new("two bits", &best[0]).with_work(work),
        Side::new("f64", &best[1]).with_work(work),
        Target::AtLeast(0.8),
    );
    Ok((figure, ScaleMemory { two_bit: peaks[0], f64: peaks[1], limit: LIMIT }))
}

/// A dual vector without a pattern.
fn dual(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7).sin()).collect()
}

/// One evaluation over genotypes, in one storage.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ScaleTask {
    samples: usize,
    variants: usize,
    two_bit: bool,
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
        let Self { samples, variants, two_bit } = self;
        let codes = |at: usize| ((at as f64 * 0.618_033_988_749_895).fract() * 256.0) as u8;
        let bytes: Vec<u8> = (0..samples.div_ceil(4) * variants).map(codes).collect();
        let levels = Genotypes::of(samples, &bytes)?.levels;
        let mut x = FeatureMatrix::from_two_bit(samples, variants, bytes, levels)?;
        if !two_bit {
            let mut values = vec![0.0; samples * variants];
            values.chunks_mut(samples).enumerate().for_each(|(j, column)| x.column_into(j, column));
            x = FeatureMatrix::from_columns(samples, variants, values)?;
        }
        let exponent = Exponent::from_fraction(4, 3)?;
        let form = Tiles::new(x, Polynomial::new(2, 1.0, 0.0)?, MonomialScale::Raw, exponent, Memory::available())?;
        let (alpha, mut evaluation, mut scratch) = (dual(samples), Evaluation::default(), Scratch::new());
        let started = Instant::now();
        form.evaluate(&alpha, &mut evaluation, &mut scratch);
        Ok(ScaleDone { seconds: started.elapsed().as_secs_f64(), peak_bytes: peak_bytes() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn both_sides_are_measured() {
        let scale = Scale::run(ScaleRequest::quick(1), &mut Count::default()).expect("it runs");
        assert_eq!(scale.figures.len(), 2);
        assert!(scale.figures.iter().all(|figure| figure.ours.seconds > 0.0 && figure.ratio.is_finite()));
    }

    #[test]
    fn a_watcher_can_stop_it() {
        for stop_in in [1, 2] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(Scale::run(ScaleRequest::quick(1), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }

    #[test]
    fn a_task_travels_as_a_line() {
        let question = serde_json::to_string(&ScaleTask { samples: 9, variants: 4, two_bit: true }).expect("a line");
        let mut said = Vec::new();
        child(format!("{question}\n").as_bytes(), &mut said).expect("it runs");
        let done: ScaleDone = serde_json::from_slice(&said).expect("a line");
        assert!(done.seconds >= 0.0);
    }
}
