//! Measured figures, each a ratio of two times from one run.
//!
//! Both sides of a ratio are timed in turn, round after round, and the best of each is kept, so that a
//! disturbance of the machine hits both or neither.

mod features;
pub mod fits;
mod gram;
pub mod interactions;
mod memory;
pub mod plan;
mod process;
pub mod scale;
pub mod search;
pub mod solvers;
pub mod supports;
pub mod tiles;
mod timing;

use serde::Serialize;

use crate::{Error, Watch};

/// The size of the measurements.
#[derive(Debug, Clone, Serialize)]
pub struct MachineRequest {
    /// The features route: samples and features.
    pub features: (usize, usize),
    /// The Gram tensor that is built: samples and inputs.
    pub build: (usize, usize),
    /// The Gram tensors that are evaluated: samples of each.
    pub evaluate: Vec<usize>,
    /// Points that are predicted.
    pub points: usize,
    /// The routes whose times are predicted, features, tiles, gram and streamed: samples and inputs of each.
    pub plan: [(usize, usize); 4],
    /// Rounds; the best of each side counts.
    pub rounds: usize,
}

impl Default for MachineRequest {
    fn default() -> Self {
        Self {
            features: (200, 100_000),
            build: (90, 650),
            evaluate: vec![100, 200],
            points: 1000,
            plan: [(200, 20_000), (150, 1500), (90, 650), (60, 650)],
            rounds: 40,
        }
    }
}

/// One side of a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    /// What was timed.
    pub name: &'static str,
    /// The best of its times.
    pub seconds: f64,
    /// The work that was done, in the unit of the other side.
    pub work: f64,
}

impl Side {
    fn new(name: &'static str, best: &timing::Best) -> Self {
        Self { name, seconds: best.seconds, work: 1.0 }
    }

    fn with_work(self, work: f64) -> Self {
        Self { work, ..self }
    }

    fn rate(&self) -> f64 {
        self.work / self.seconds
    }
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What is compared with what.
    pub what: String,
    /// One side.
    pub ours: Side,
    /// The other side.
    pub other: Side,
    /// What the ratio should be.
    pub target: Target,
    /// The ratio that matters: of the rates, or of the times.
    pub ratio: f64,
}

/// What a ratio should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Our rate is at least this many times the other's.
    AtLeast(f64),
    /// Our time is at most this many times the other's.
    AtMost(f64),
    /// Neither time is more than this many times the other.
    Within(f64),
}

impl Figure {
    fn new(what: impl Into<String>, ours: Side, other: Side, target: Target) -> Self {
        let ratio = match target {
            Target::AtLeast(_) => ours.rate() / other.rate(),
            Target::AtMost(_) | Target::Within(_) => ours.seconds / other.seconds,
        };
        Self { what: what.into(), ours, other, target, ratio }
    }

    /// Whether the ratio meets its target.
    pub fn reached(&self) -> bool {
        match self.target {
            Target::AtLeast(bound) => self.ratio >= bound,
            Target::AtMost(bound) => self.ratio <= bound,
            Target::Within(factor) => self.ratio.max(1.0 / self.ratio) <= factor,
        }
    }
}

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub struct MachineFigures {
    /// What was measured.
    pub request: MachineRequest,
    /// Threads at work.
    pub threads: usize,
    /// The figures.
    pub figures: Vec<Figure>,
}

impl MachineFigures {
    /// Measures everything.
    pub fn run(request: MachineRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        let mut figures = features::figures(request.features, request.rounds, watch)?;
        figures.extend(gram::build(request.build, request.rounds, watch)?);
        for &samples in &request.evaluate {
            figures.extend(gram::evaluate(samples, request.rounds, watch)?);
        }
        figures.extend(gram::predict(request.build, request.points, request.rounds, watch)?);
        let [features, tiles, gram, streamed] = request.plan;
        figures.extend(plan::routes::figures(
            &plan::routes::Shapes { features, tiles, gram, streamed },
            request.rounds,
            watch,
        )?);
        Ok(Self { request, threads: rayon::current_num_threads(), figures })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;

    #[test]
    fn every_figure_is_measured_and_its_ratio_is_that_of_the_printed_times() {
        let request = MachineRequest {
            features: (10, 500),
            build: (12, 30),
            evaluate: vec![10, 20],
            points: 20,
            plan: [(10, 500), (12, 30), (12, 30), (12, 30)],
            rounds: 2,
        };
        let bench = MachineFigures::run(request, &mut Count::default()).expect("it runs");
        assert_eq!(bench.figures.len(), 3 + 3 + 2 * 4 + 1 + 5);
        for Figure { what, ours, other, target, ratio } in &bench.figures {
            assert!(ours.seconds > 0.0 && other.seconds > 0.0 && ratio.is_finite(), "{what}");
            let quotient = ours.seconds / other.seconds;
            let expected = match target {
                Target::AtLeast(_) => ours.work / other.work / quotient,
                Target::AtMost(_) | Target::Within(_) => quotient,
            };
            assert!((ratio / expected - 1.0).abs() < 1e-12, "{what}");
        }
        let figure = |ratio, target| Figure { target, ratio, ..bench.figures[0].clone() };
        assert!(figure(0.7, Target::AtLeast(0.7)).reached() && !figure(0.69, Target::AtLeast(0.7)).reached());
        assert!(figure(0.5, Target::Within(2.0)).reached() && !figure(0.49, Target::Within(2.0)).reached());
        assert!(figure(2.0, Target::Within(2.0)).reached() && !figure(2.01, Target::Within(2.0)).reached());
        assert!(figure(2.5, Target::AtMost(2.5)).reached() && !figure(2.51, Target::AtMost(2.5)).reached());
    }

    #[test]
    fn a_watcher_can_stop_every_part() {
        let request = MachineRequest {
            features: (5, 50),
            build: (5, 10),
            evaluate: vec![5],
            points: 5,
            plan: [(5, 50), (5, 10), (5, 10), (5, 10)],
            rounds: 2,
        };
        for stop_in in [1, 2, 3, 4, 5, 6, 7, 8, 9] {
            let mut watch = Count { begun: 0, stop_in: Some(stop_in) };
            assert!(matches!(MachineFigures::run(request.clone(), &mut watch), Err(Error::Stopped)), "{stop_in}");
        }
    }
}
