//! Table 1 of the paper: iterations to relative precision 1e-8 of the dual algorithm and two primal ones.

use banach::synthetic::SparseLinear;
use serde::Serialize;

use crate::{
    Algorithm, Comparison, Error, Outcome, Printed, Settings, Watch, data,
    runs::{dual, primal},
};

/// Which primal algorithms to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Baselines {
    /// None.
    None,
    /// FISTA on every seed, for the exponents for which the paper prints its count.
    Fista,
    /// The same, and on the first seed gradient descent for every exponent and FISTA for the others.
    All,
}

/// What to run.
#[derive(Debug, Clone, Serialize)]
pub struct Table1Request {
    /// The data.
    pub data: SparseLinear,
    /// The algorithms' settings.
    pub settings: Settings,
    /// Whether this is the paper's size, so that its numbers apply.
    pub paper_size: bool,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds.
    pub repeats: usize,
    /// The primal algorithms.
    pub baselines: Baselines,
}

impl Table1Request {
    /// The paper's setting.
    pub fn full(seed: u64, repeats: usize, baselines: Baselines) -> Self {
        let data = SparseLinear { samples: 200, features: 100_000, relevant: 10, noise: 0.05 };
        Self { data, settings: Settings::default(), paper_size: true, seed, repeats, baselines }
    }

    /// A small setting that takes seconds; the paper's numbers do not apply to it.
    pub fn quick(seed: u64, repeats: usize, baselines: Baselines) -> Self {
        let data = SparseLinear { samples: 60, features: 3000, relevant: 4, noise: 0.05 };
        let settings = Settings { limit: 1000, ..Settings::default() };
        Self { data, settings, paper_size: false, seed, repeats, baselines }
    }
}

impl Table1Request {
    /// The primal algorithms for one seed, given what the paper prints of FISTA. What the paper gives one count for and
    /// takes long runs on the first seed only.
    fn primal(&self, first: bool, printed: Printed) -> Vec<Algorithm> {
        let (all, counted) = (self.baselines == Baselines::All && first, printed != Printed::Nothing);
        let mut algorithms = vec![];
        algorithms.extend(all.then_some(Algorithm::PrimalGradient));
        if counted && self.baselines != Baselines::None {
            algorithms.extend([Algorithm::Fista, Algorithm::FistaMomentum]);
        } else if all {
            algorithms.push(Algorithm::Fista);
        }
        algorithms
    }
}

/// The rows of Table 1. The paper has one for FISTA.
const ROWS: [Algorithm; 4] =
    [Algorithm::DualGradient, Algorithm::PrimalGradient, Algorithm::Fista, Algorithm::FistaMomentum];

/// Columns of Table 1: p and the paper's three rows.
const PAPER: [(&str, [Printed; 3]); 4] = [
    ("4/3", [Printed::Spread { mean: 12.0, bracket: 5.0 }, Printed::Above(5000), Printed::Count(1158)]),
    ("5/4", [Printed::Spread { mean: 15.0, bracket: 4.0 }, Printed::Above(5000), Printed::Count(1542)]),
    ("1.1", [Printed::Spread { mean: 63.0, bracket: 22.0 }, Printed::Above(5000), Printed::Nothing]),
    ("1.05", [Printed::Spread { mean: 258.0, bracket: 55.0 }, Printed::Above(5000), Printed::Nothing]),
];

/// One cell of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Table1Count {
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
    pub request: Table1Request,
    /// Its cells, column by column.
    pub cells: Vec<Table1Count>,
}

impl Table1 {
    /// Runs everything.
    pub fn run(request: Table1Request, watch: &mut dyn Watch) -> Result<Self, Error> {
        // A wrong momentum does not cost the first runs.
        request.settings.fista().check()?;
        let mut outcomes: Vec<[Vec<Outcome>; ROWS.len()]> = vec![Default::default(); PAPER.len()];
        for repeat in 0..request.repeats {
            let seed = request.seed.wrapping_add(repeat as u64);
            watch.begin(&format!("data, seed {seed}"), 0);
            let sample = request.data.sample(seed);
            for ((p, printed), column) in PAPER.iter().zip(&mut outcomes) {
                let form = data::features(&sample, p)?;
                watch.begin(&format!("{}, p = {p}, seed {seed}", Algorithm::DualGradient.title()), 0);
                let reference = dual(&request.settings, &form, &sample.targets, seed, watch)?;
                let wanted = request.primal(repeat == 0, printed[2]);
                for (row, &algorithm) in ROWS.iter().enumerate().filter(|(_, algorithm)| wanted.contains(algorithm)) {
                    watch.begin(&format!("{}, p = {p}, seed {seed}", algorithm.title()), request.settings.limit);
                    let outcome = primal(algorithm, &request.settings, &form, &sample.targets, &reference, watch)?;
                    column[row].push(outcome);
                }
                column[0].push(reference.outcome);
            }
        }
        let cells = PAPER.iter().zip(outcomes).flat_map(|((p, paper), column)| {
            // Both momenta are compared with the paper's one row of FISTA.
            let printed = paper.iter().chain(&paper[2..]);
            let rows = ROWS.into_iter().zip(printed).zip(column).filter(|(_, outcomes)| !outcomes.is_empty());
            rows.map(|((algorithm, paper), outcomes)| {
                let count = Comparison::new(*paper, outcomes, request.paper_size);
                Table1Count { p: (*p).to_owned(), algorithm, count }
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

    fn tiny(repeats: usize, baselines: Baselines) -> Table1Request {
        let data = SparseLinear { samples: 15, features: 200, relevant: 2, noise: 0.05 };
        let settings = Settings { limit: 50, ..Settings::default() };
        Table1Request { data, settings, paper_size: false, seed: 3, repeats, baselines }
    }

    /// The dual algorithm and FISTA where the paper has a count on every seed, the rest on the first.
    #[test]
    fn every_cell_is_filled() {
        for (baselines, cells) in [(Baselines::None, 4), (Baselines::Fista, 4 + 2 * 2), (Baselines::All, 4 + 4 + 4 + 2)]
        {
            let mut watch = Count::default();
            let table = Table1::run(tiny(2, baselines), &mut watch).expect("it runs");
            assert_eq!(table.cells.len(), cells);
            let runs: usize = table.cells.iter().map(|cell| cell.count.outcomes.len()).sum();
            assert_eq!(watch.begun, 2 + runs);
            for cell in &table.cells {
                let counted = cell.p == "4/3" || cell.p == "5/4";
                let every_seed = match cell.algorithm {
                    Algorithm::DualGradient => true,
                    Algorithm::PrimalGradient => false,
                    Algorithm::Fista | Algorithm::FistaMomentum => counted,
                };
                assert_eq!(cell.count.outcomes.len(), if every_seed { 2 } else { 1 });
                assert_eq!(cell.count.agrees, None, "the paper's numbers do not apply to this size");
                for outcome in &cell.count.outcomes {
                    let reached = outcome.history.iter().position(|&precision| precision <= 1e-8);
                    assert_eq!((outcome.end == End::Precision).then_some(outcome.iterations), reached, "{cell:?}");
                    assert!(
                        outcome.passes > outcome.iterations && outcome.relative_gap > 0.0 && outcome.distance > 0.0
                    );
                }
                if cell.algorithm == Algorithm::DualGradient {
                    assert!(cell.count.mean.is_some() && cell.count.deviation.is_some() && cell.count.range.is_some());
                }
            }
        }
    }

    /// Another momentum is another run.
    #[test]
    fn the_momentum_of_fista_can_be_chosen() {
        let counts = |a: f64| -> Vec<(Algorithm, usize)> {
            let mut request = tiny(1, Baselines::Fista);
            (request.settings.limit, request.settings.momentum) = (1000, a);
            let table = Table1::run(request, &mut Count::default()).expect("it runs");
            let primal = table.cells.iter().filter(|cell| cell.algorithm != Algorithm::DualGradient);
            primal.map(|cell| (cell.algorithm, cell.count.outcomes[0].iterations)).collect()
        };
        let [few, many] = [2.0, 20.0].map(counts);
        for (few, many) in few.iter().zip(&many) {
            assert_eq!(few.1 == many.1, few.0 == Algorithm::Fista, "{few:?} {many:?}");
        }
        let mut request = tiny(1, Baselines::Fista);
        request.settings.momentum = 1.5;
        assert!(matches!(Table1::run(request, &mut Count::default()), Err(Error::Banach(_))));
    }

    /// Why the step of FISTA does not explain its counts: with the mean eigenvalue of X X' in place of the largest it would be
    /// 1.09 times as long, and the counts shrink as the square root of the step grows, that is by 4 %. A step 1.65 times as long
    /// is needed.
    #[test]
    fn the_spectrum_leaves_the_step_no_room() {
        let data = Table1Request::full(0, 1, Baselines::None).data;
        let (n, columns) = (data.samples, data.sample(0).columns);
        let mut gram = vec![0.0; n * n];
        for column in columns.chunks(n) {
            for (row, x) in gram.chunks_mut(n).zip(column) {
                row.iter_mut().zip(column).for_each(|(entry, other)| *entry += x * other);
            }
        }
        let mean = (0..n).map(|i| gram[i * n + i]).sum::<f64>() / n as f64;
        // The power method.
        let (mut v, mut largest) = (vec![1.0; n], 0.0);
        for _ in 0..2000 {
            let image: Vec<f64> = gram.chunks(n).map(|row| row.iter().zip(&v).map(|(a, v)| a * v).sum()).collect();
            largest = image.iter().map(|x| x * x).sum::<f64>().sqrt();
            v = image.iter().map(|x| x / largest).collect();
        }
        let ratio = largest / mean;
        assert!((1.08..1.10).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_watcher_can_stop_it_in_any_part() {
        for stop_in in [2, 3, 4] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(Table1::run(tiny(1, Baselines::All), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }

    /// The paper's size, one seed: every count of the dual algorithm is within the paper's mean plus or minus
    /// twice its bracket.
    #[test]
    fn the_papers_iteration_counts_are_reproduced() {
        let mut watch = Count::default();
        let table = Table1::run(Table1Request::full(0, 1, Baselines::None), &mut watch).expect("it runs");
        assert_eq!(table.cells.len(), 4);
        for cell in &table.cells {
            assert_eq!(cell.count.agrees, Some(true), "{cell:?}");
        }
    }
}
