//! Table 1 of the paper: iterations to relative precision 1e-8 of the dual algorithm and two primal ones.

use serde::Serialize;

use crate::{
    Algorithm, Comparison, Error, Outcome, Printed, Settings, Watch,
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
    /// The paper's count beside ours.
    #[serde(flatten)]
    pub count: Comparison,
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
            for ((p, _), column) in PAPER.iter().zip(&mut outcomes) {
                let form = sample.form(p)?;
                watch.begin(&format!("{}, p = {p}, seed {seed}", Algorithm::DualGradient.title()), 0);
                let reference = dual(&request.settings, &form, &sample.targets, seed, watch)?;
                if baselines {
                    for (algorithm, outcomes) in [(Algorithm::PrimalGradient, 1), (Algorithm::Fista, 2)] {
                        watch.begin(&format!("{}, p = {p}", algorithm.title()), request.settings.limit);
                        let outcome = primal(algorithm, &request.settings, &form, &sample.targets, &reference, watch)?;
                        column[outcomes].push(outcome);
                    }
                }
                column[0].push(reference.outcome);
            }
        }
        let algorithms = [Algorithm::DualGradient, Algorithm::PrimalGradient, Algorithm::Fista];
        let cells = PAPER.iter().zip(outcomes).flat_map(|((p, paper), column)| {
            let rows = algorithms.into_iter().zip(paper).zip(column).filter(|(_, outcomes)| !outcomes.is_empty());
            rows.map(|((algorithm, paper), outcomes)| {
                let count = Comparison::new(*paper, outcomes, request.paper_size);
                Cell { p: (*p).to_owned(), algorithm, count }
            })
            .collect::<Vec<_>>()
        });
        let cells = cells.collect();
        Ok(Self { request, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, watch::Count};

    fn tiny(repeats: usize, baselines: bool) -> Request {
        let data = SparseLinear { samples: 15, features: 200, relevant: 2, noise: 0.05 };
        let settings = Settings { limit: 50, ..Settings::default() };
        Request { data, settings, paper_size: false, seed: 3, repeats, baselines }
    }

    #[test]
    fn every_cell_is_filled() {
        let mut watch = Count::default();
        let table = Table1::run(tiny(2, true), &mut watch).expect("it runs");
        assert_eq!(table.cells.len(), 12);
        assert_eq!(watch.begun, 2 * (1 + 4) + 4 * 2);
        for cell in &table.cells {
            let dual = cell.algorithm == Algorithm::DualGradient;
            assert_eq!(cell.count.outcomes.len(), if dual { 2 } else { 1 });
            assert_eq!(cell.count.agrees, None, "the paper's numbers do not apply to this size");
            for outcome in &cell.count.outcomes {
                let reached = outcome.history.iter().position(|&precision| precision <= 1e-8);
                assert_eq!((outcome.end == End::Precision).then_some(outcome.iterations), reached, "{cell:?}");
                assert!(outcome.passes > outcome.iterations && outcome.relative_gap > 0.0 && outcome.distance > 0.0);
            }
            if dual {
                assert!(cell.count.mean.is_some() && cell.count.deviation.is_some());
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

    /// The paper's size, one seed: every count of the dual algorithm is within the paper's mean plus or minus
    /// twice its bracket.
    #[test]
    fn the_papers_iteration_counts_are_reproduced() {
        let mut watch = Count::default();
        let table = Table1::run(Request::full(0, 1, false), &mut watch).expect("it runs");
        assert_eq!(table.cells.len(), 4);
        for cell in &table.cells {
            assert_eq!(cell.count.agrees, Some(true), "{cell:?}");
        }
    }
}
