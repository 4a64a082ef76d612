//! Table 1 of the paper: iterations to relative precision 1e-8 of the dual algorithm and two primal ones.

use banach::{Exponent, FeatureMatrix, Features};
use serde::Serialize;

pub use crate::runs::{Algorithm, End, Outcome, Settings};
use crate::{
    Error, Watch,
    data::SparseLinear,
    runs::{dual, primal},
};

/// What to run.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// The data.
    pub data: SparseLinear,
    /// The algorithms' settings.
    pub settings: Settings,
    /// Whether this is the paper's size, so that its numbers apply.
    pub paper_size: bool,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds for the dual algorithm.
    pub repeats: usize,
    /// Whether to run the primal algorithms, on the first seed.
    pub baselines: bool,
}

impl Request {
    /// The paper's setting.
    pub fn full(seed: u64, repeats: usize, baselines: bool) -> Self {
        let data = SparseLinear { samples: 200, features: 100_000, relevant: 10, noise: 0.05 };
        Self { data, settings: Settings::default(), paper_size: true, seed, repeats, baselines }
    }

    /// A small setting that takes seconds; the paper's numbers do not apply to it.
    pub fn quick(seed: u64, repeats: usize, baselines: bool) -> Self {
        let data = SparseLinear { samples: 60, features: 3000, relevant: 4, noise: 0.05 };
        let settings = Settings { limit: 1000, ..Settings::default() };
        Self { data, settings, paper_size: false, seed, repeats, baselines }
    }
}

/// A number of iterations as the paper prints it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Printed {
    /// `mean(bracket)`.
    Spread {
        /// The mean.
        mean: f64,
        /// The number in brackets.
        bracket: f64,
    },
    /// A single count.
    Count(usize),
    /// `> limit`.
    Above(usize),
    /// A dash.
    Nothing,
}

/// Columns of Table 1: p and the paper's three rows.
const PAPER: [(&str, [Printed; 3]); 4] = [
    ("4/3", [Printed::Spread { mean: 12.0, bracket: 5.0 }, Printed::Above(5000), Printed::Count(1158)]),
    ("5/4", [Printed::Spread { mean: 15.0, bracket: 4.0 }, Printed::Above(5000), Printed::Count(1542)]),
    ("1.1", [Printed::Spread { mean: 63.0, bracket: 22.0 }, Printed::Above(5000), Printed::Nothing]),
    ("1.05", [Printed::Spread { mean: 258.0, bracket: 55.0 }, Printed::Above(5000), Printed::Nothing]),
];

/// One cell of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The exponent, as the paper writes it.
    pub p: String,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What the paper prints.
    pub paper: Printed,
    /// Our runs, one per seed.
    pub outcomes: Vec<Outcome>,
    /// Their mean number of iterations, if all reached the precision.
    pub mean: Option<f64>,
    /// Their sample standard deviation, from two runs on.
    pub deviation: Option<f64>,
    /// Whether our mean agrees with the paper: within twice the bracket, within 10 % of a single count, or above
    /// the same limit. `None` where the paper prints nothing.
    pub agrees: Option<bool>,
}

impl Cell {
    fn new(request: &Request, p: &str, algorithm: Algorithm, paper: Printed, outcomes: Vec<Outcome>) -> Self {
        let count = |outcome: &Outcome| (outcome.end == End::Precision).then_some(outcome.iterations as f64);
        let counts: Option<Vec<f64>> = outcomes.iter().map(count).collect();
        let mean = counts.as_ref().map(|counts| counts.iter().sum::<f64>() / counts.len() as f64);
        let deviation = counts.zip(mean).filter(|(counts, _)| counts.len() > 1).map(|(counts, mean)| {
            let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
            (squares / (counts.len() - 1) as f64).sqrt()
        });
        let agrees = match paper {
            _ if !request.paper_size => None,
            Printed::Spread { mean: paper, bracket } => Some(mean.is_some_and(|m| (m - paper).abs() <= 2.0 * bracket)),
            Printed::Count(count) => Some(mean.is_some_and(|mean| (mean / count as f64 - 1.0).abs() <= 0.1)),
            Printed::Above(limit) => Some(outcomes.iter().all(|o| o.end == End::Limit && o.iterations >= limit)),
            Printed::Nothing => None,
        };
        Self { p: p.to_owned(), algorithm, paper, outcomes, mean, deviation, agrees }
    }
}

/// The whole table.
#[derive(Debug, Clone, Serialize)]
pub struct Table1 {
    /// What was run.
    pub request: Request,
    /// Its cells, column by column.
    pub cells: Vec<Cell>,
}

impl Table1 {
    /// Runs everything.
    pub fn run(request: Request, watch: &mut dyn Watch) -> Result<Self, Error> {
        let mut outcomes: Vec<[Vec<Outcome>; 3]> = vec![Default::default(); PAPER.len()];
        for repeat in 0..request.repeats {
            let seed = request.seed.wrapping_add(repeat as u64);
            let baselines = request.baselines && repeat == 0;
            watch.begin(&format!("data, seed {seed}"), 0);
            let sample = request.data.sample(seed);
            let SparseLinear { samples, features, .. } = request.data;
            for ((p, _), column) in PAPER.iter().zip(&mut outcomes) {
                let matrix = FeatureMatrix::from_columns(samples, features, &sample.columns[..])?;
                let form = Features::new(matrix, p.parse::<Exponent>()?);
                watch.begin(&format!("{}, p = {p}, seed {seed}", Algorithm::DualGradient.title()), 0);
                let reference = dual(&request.settings, &form, &sample, seed, watch)?;
                if baselines {
                    for (algorithm, outcomes) in [(Algorithm::PrimalGradient, 1), (Algorithm::Fista, 2)] {
                        watch.begin(&format!("{}, p = {p}", algorithm.title()), request.settings.limit);
                        let outcome = primal(algorithm, &request.settings, &form, &sample, &reference, watch)?;
                        column[outcomes].push(outcome);
                    }
                }
                column[0].push(reference.outcome);
            }
        }
        let algorithms = [Algorithm::DualGradient, Algorithm::PrimalGradient, Algorithm::Fista];
        let cells = PAPER.iter().zip(outcomes).flat_map(|((p, paper), column)| {
            let rows = algorithms.into_iter().zip(paper).zip(column).filter(|(_, outcomes)| !outcomes.is_empty());
            rows.map(|((algorithm, paper), outcomes)| Cell::new(&request, p, algorithm, *paper, outcomes))
                .collect::<Vec<_>>()
        });
        let cells = cells.collect();
        Ok(Self { request, cells })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    /// Counts the parts of the work, and stops in the one it is told.
    struct Count {
        begun: usize,
        stop_in: Option<usize>,
    }

    impl Watch for Count {
        fn begin(&mut self, _what: &str, _steps: usize) {
            self.begun += 1;
        }

        fn step(&mut self, _done: usize) -> ControlFlow<()> {
            if self.stop_in == Some(self.begun) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    fn tiny(repeats: usize, baselines: bool) -> Request {
        let data = SparseLinear { samples: 15, features: 200, relevant: 2, noise: 0.05 };
        let settings = Settings { limit: 50, ..Settings::default() };
        Request { data, settings, paper_size: false, seed: 3, repeats, baselines }
    }

    #[test]
    fn every_cell_is_filled() {
        let mut watch = Count { begun: 0, stop_in: None };
        let table = Table1::run(tiny(2, true), &mut watch).expect("it runs");
        assert_eq!(table.cells.len(), 12);
        assert_eq!(watch.begun, 2 * (1 + 4) + 4 * 2);
        for cell in &table.cells {
            let dual = cell.algorithm == Algorithm::DualGradient;
            assert_eq!(cell.outcomes.len(), if dual { 2 } else { 1 });
            assert_eq!(cell.agrees, None, "the paper's numbers do not apply to this size");
            for outcome in &cell.outcomes {
                let reached = outcome.history.iter().position(|&precision| precision <= 1e-8);
                assert_eq!((outcome.end == End::Precision).then_some(outcome.iterations), reached, "{cell:?}");
                assert!(outcome.passes > outcome.iterations && outcome.relative_gap > 0.0 && outcome.distance > 0.0);
            }
            if dual {
                assert!(cell.mean.is_some() && cell.deviation.is_some());
            }
        }
    }

    #[test]
    fn a_watcher_can_stop_it_in_any_part() {
        for stop_in in [2, 3, 4] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(Table1::run(tiny(1, true), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }

    #[test]
    fn agreement_is_twice_the_bracket() {
        let request = Request { paper_size: true, settings: Settings::default(), ..tiny(1, false) };
        let outcome = |&(end, iterations): &(End, usize)| Outcome {
            seed: 0,
            iterations,
            end,
            precision: 0.0,
            relative_gap: 0.0,
            distance: 0.0,
            passes: 1,
            seconds: 0.0,
            history: vec![],
        };
        let cell = |paper, runs: &[(End, usize)]| {
            Cell::new(&request, "4/3", Algorithm::DualGradient, paper, runs.iter().map(outcome).collect())
        };
        let reached = |count| (End::Precision, count);
        let spread = Printed::Spread { mean: 12.0, bracket: 5.0 };
        assert_eq!(cell(spread, &[reached(20), reached(24)]).agrees, Some(true));
        assert_eq!(cell(spread, &[reached(20), reached(25)]).agrees, Some(false));
        assert_eq!(cell(spread, &[reached(12), (End::Limit, 12)]).agrees, Some(false));
        assert_eq!(cell(Printed::Above(5000), &[(End::Limit, 5000)]).agrees, Some(true));
        assert_eq!(cell(Printed::Above(5000), &[(End::Stalled, 5000)]).agrees, Some(false));
        assert_eq!(cell(Printed::Above(5000), &[(End::Limit, 1000)]).agrees, Some(false));
        assert_eq!(cell(Printed::Above(5000), &[reached(4999)]).agrees, Some(false));
        assert_eq!(cell(Printed::Count(1158), &[reached(1250)]).agrees, Some(true));
        assert_eq!(cell(Printed::Count(1158), &[reached(1309)]).agrees, Some(false));
        assert_eq!(cell(Printed::Nothing, &[reached(1)]).agrees, None);
        let both = cell(spread, &[reached(10), reached(14)]);
        assert_eq!((both.mean, both.deviation), (Some(12.0), Some(8.0_f64.sqrt())));
    }

    /// The paper's size, one seed: every count of the dual algorithm is within the paper's mean plus or minus
    /// twice its bracket.
    #[test]
    fn the_papers_iteration_counts_are_reproduced() {
        let mut watch = Count { begun: 0, stop_in: None };
        let table = Table1::run(Request::full(0, 1, false), &mut watch).expect("it runs");
        assert_eq!(table.cells.len(), 4);
        for cell in &table.cells {
            assert_eq!(cell.agrees, Some(true), "p = {}: {:?}, paper {:?}", cell.p, cell.mean, cell.paper);
        }
    }
}
