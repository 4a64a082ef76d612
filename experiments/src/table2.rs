//! Table 2 of the paper: the dual algorithm with and without the Gram tensor of a polynomial kernel.

use std::time::Instant;

use banach::{
    Exponent, FeatureMatrix, Memory,
    form::{Features, Gram},
    kernel::{FeatureMap, Polynomial},
    solver::Rule,
    synthetic::SparseQuadratic,
};
use serde::Serialize;

use crate::{
    Comparison, Error, Outcome, Printed, Settings, Watch,
    data::{count_found, count_kept},
    runs::{dual, dual_again},
};

/// What to run.
#[derive(Debug, Clone, Serialize)]
pub struct Table2Request {
    /// The data.
    pub data: SparseQuadratic,
    /// The algorithm's settings.
    pub settings: Settings,
    /// Whether this is the paper's size, so that its numbers apply.
    pub paper_size: bool,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds.
    pub repeats: usize,
}

impl Table2Request {
    /// The paper's setting. What it leaves open is chosen to come near its iteration counts (docs/reproduction.md).
    pub fn full(seed: u64, repeats: usize) -> Self {
        let data = SparseQuadratic { samples: 90, inputs: 650, relevant: 6, noise: 0.05 };
        let settings = Settings { theta: 0.9, lambda_bar: 9.9, rule: Rule::Monotone, ..Settings::default() };
        Self { data, settings, paper_size: true, seed, repeats }
    }

    /// A small setting that takes seconds; the paper's numbers do not apply to it.
    pub fn quick(seed: u64, repeats: usize) -> Self {
        let full = Self::full(seed, repeats);
        let data = SparseQuadratic { samples: 20, inputs: 60, relevant: 3, ..full.data };
        Self { data, paper_size: false, ..full }
    }
}

/// What a row of the table measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The Gram tensor is built.
    BuildGram,
    /// The dual algorithm, on the Gram tensor.
    WithGram,
    /// The dual algorithm, on the listed features.
    WithoutGram,
    /// The feature matrix is built.
    BuildFeatures,
    /// The dual algorithm, on a Gram tensor that is never stored.
    Streamed,
}

impl Step {
    /// The paper's name for it, where it has one.
    pub fn title(self) -> &'static str {
        match self {
            Self::BuildGram => "build the Gram tensor K",
            Self::WithGram => "dual GD + linesearch (with K)",
            Self::WithoutGram => "dual GD + linesearch (without K)",
            Self::BuildFeatures => "build the feature matrix",
            Self::Streamed => "dual GD + linesearch (K streamed)",
        }
    }

    /// What the paper prints: CPU seconds and iterations.
    fn paper(self) -> (Option<f64>, Printed) {
        match self {
            Self::BuildGram => (Some(2.73), Printed::Nothing),
            Self::WithGram => (Some(2.49), Printed::Count(29)),
            Self::WithoutGram => (Some(9.87), Printed::Count(28)),
            Self::BuildFeatures | Self::Streamed => (None, Printed::Nothing),
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// What was measured.
    pub step: Step,
    /// The paper's CPU seconds, on the machine of its time.
    pub paper_seconds: Option<f64>,
    /// Our seconds by the clock, one per seed.
    pub seconds: Vec<f64>,
    /// The paper's iterations beside ours; no runs where something is built.
    #[serde(flatten)]
    pub count: Comparison,
}

impl Row {
    /// Something was built.
    fn built(request: &Table2Request, step: Step, runs: &[Table2Seed], seconds: fn(&Table2Seed) -> f64) -> Self {
        let (paper_seconds, paper) = step.paper();
        let seconds = runs.iter().map(seconds).collect();
        Self { step, paper_seconds, seconds, count: Comparison::new(paper, vec![], request.paper_size) }
    }

    /// The algorithm was run.
    fn solved(request: &Table2Request, step: Step, runs: &[Table2Seed], outcome: fn(&Table2Seed) -> &Outcome) -> Self {
        let (paper_seconds, paper) = step.paper();
        let seconds = runs.iter().map(|run| outcome(run).seconds).collect();
        let outcomes = runs.iter().map(|run| outcome(run).clone()).collect();
        Self { step, paper_seconds, seconds, count: Comparison::new(paper, outcomes, request.paper_size) }
    }
}

/// The whole table.
#[derive(Debug, Clone, Serialize)]
pub struct Table2 {
    /// What was run.
    pub request: Table2Request,
    /// Threads at work.
    pub threads: usize,
    /// Its rows.
    pub rows: Vec<Row>,
    /// For each seed, how many relevant features are among as many largest estimated weights.
    pub found: Vec<usize>,
    /// For each seed, how many weights are left by the largest threshold that keeps every relevant feature.
    pub kept: Vec<usize>,
}

/// p, for which q = 4.
const P: &str = "4/3";

impl Table2 {
    /// Runs everything.
    pub fn run(request: Table2Request, watch: &mut dyn Watch) -> Result<Self, Error> {
        let seeds = (0..request.repeats).map(|repeat| request.seed.wrapping_add(repeat as u64));
        let runs = seeds.map(|seed| Table2Seed::new(&request, seed, watch)).collect::<Result<Vec<_>, _>>()?;
        let rows = vec![
            Row::built(&request, Step::BuildGram, &runs, |run| run.build_gram),
            Row::solved(&request, Step::WithGram, &runs, |run| &run.with_gram),
            Row::solved(&request, Step::WithoutGram, &runs, |run| &run.without_gram),
            Row::built(&request, Step::BuildFeatures, &runs, |run| run.build_features),
            Row::solved(&request, Step::Streamed, &runs, |run| &run.streamed),
        ];
        let (found, kept) = runs.iter().map(|run| (run.found, run.kept)).unzip();
        Ok(Self { request, threads: rayon::current_num_threads(), rows, found, kept })
    }
}

/// What came out for one seed.
struct Table2Seed {
    build_gram: f64,
    with_gram: Outcome,
    without_gram: Outcome,
    build_features: f64,
    streamed: Outcome,
    found: usize,
    kept: usize,
}

impl Table2Seed {
    fn new(request: &Table2Request, seed: u64, watch: &mut dyn Watch) -> Result<Self, Error> {
        let Table2Request { data, settings, .. } = request;
        let exponent = P.parse::<Exponent>()?;
        let begin = |watch: &mut dyn Watch, what: &str| watch.begin(&format!("{what}, seed {seed}"), 0);

        begin(watch, "data");
        let sample = data.sample(seed);
        let kernel = Polynomial::new(2, 1.0, 0.0)?;
        let inputs = FeatureMatrix::from_columns(data.samples, data.inputs, &sample.columns[..])?;

        begin(watch, Step::BuildFeatures.title());
        let started = Instant::now();
        let map = FeatureMap::new(&kernel, data.inputs, exponent, None)?;
        let features = Features::new(map.matrix(&inputs, Memory::available())?, exponent);
        let build_features = started.elapsed().as_secs_f64();

        begin(watch, Step::WithoutGram.title());
        let reference = dual(settings, &features, &sample.targets, seed, watch)?;
        let weights = features.weights(&reference.solution.alpha);
        let (found, kept) = (count_found(&sample.truth, &weights), count_kept(&sample.truth, &weights));
        drop(features);

        begin(watch, Step::BuildGram.title());
        let started = Instant::now();
        let gram = Gram::new(inputs.clone(), kernel, exponent, Memory::available())?;
        let build_gram = started.elapsed().as_secs_f64();

        begin(watch, Step::WithGram.title());
        let with_gram = dual_again(settings, &gram, &sample.targets, &reference, watch)?;
        drop(gram);

        begin(watch, Step::Streamed.title());
        let gram = Gram::streamed(inputs, kernel, exponent, Memory::available())?;
        let streamed = dual_again(settings, &gram, &sample.targets, &reference, watch)?;

        let without_gram = reference.outcome;
        Ok(Self { build_gram, with_gram, without_gram, build_features, streamed, found, kept })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    fn tiny(repeats: usize) -> Table2Request {
        let full = Table2Request::full(3, repeats);
        let data = SparseQuadratic { samples: 12, inputs: 20, relevant: 2, ..full.data };
        Table2Request { data, paper_size: false, ..full }
    }

    #[test]
    fn every_row_is_filled() {
        let table = Table2::run(tiny(2), &mut Count::default()).expect("it runs");
        assert_eq!(table.found.len(), 2);
        for row in &table.rows {
            let built = matches!(row.step, Step::BuildGram | Step::BuildFeatures);
            assert_eq!(row.seconds.len(), 2, "{row:?}");
            assert_eq!(row.count.outcomes.len(), if built { 0 } else { 2 }, "{row:?}");
            assert_eq!(row.count.mean.is_some(), !built, "{row:?}");
            assert_eq!(row.count.agrees, None, "the paper's numbers do not apply to this size");
        }
        // The three routes are one function: they take the same steps.
        let counts = |step: Step| -> Vec<usize> {
            let row = table.rows.iter().find(|row| row.step == step).expect("it is in the table");
            row.count.outcomes.iter().map(|outcome| outcome.iterations).collect()
        };
        assert_eq!(counts(Step::WithGram), counts(Step::WithoutGram));
        assert_eq!(counts(Step::WithGram), counts(Step::Streamed));
    }

    #[test]
    fn a_watcher_can_stop_every_run() {
        for stop_in in [3, 5, 6] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(Table2::run(tiny(1), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }

    /// The paper's size, where the first five seeds take 33, 27, 32, 31 and 28 iterations: on the last of them every
    /// count is within 10 % of the paper's.
    #[test]
    fn the_papers_iteration_counts_are_reproduced() {
        let table = Table2::run(Table2Request::full(4, 1), &mut Count::default()).expect("it runs");
        let verdicts: Vec<Option<bool>> = table.rows.iter().map(|row| row.count.agrees).collect();
        assert_eq!(verdicts, [None, Some(true), Some(true), None, None], "{:?}", table.rows);
    }
}
