//! Iteration counts: what the paper prints, what we measured, and whether they agree.

use serde::Serialize;

use crate::runs::{End, Outcome};

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

/// The paper's count beside ours.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// What the paper prints.
    pub paper: Printed,
    /// Our runs, one per seed.
    pub outcomes: Vec<Outcome>,
    /// Their mean number of iterations, if all reached the precision.
    pub mean: Option<f64>,
    /// Their sample standard deviation, from two runs on.
    pub deviation: Option<f64>,
    /// Whether our mean agrees with the paper: within twice the bracket, within 10 % of a single count, or above
    /// the same limit. `None` where the paper prints nothing, or for another size.
    pub agrees: Option<bool>,
}

impl Comparison {
    /// Compares the runs with the paper, whose numbers apply to its own size only.
    pub(crate) fn new(paper: Printed, outcomes: Vec<Outcome>, paper_size: bool) -> Self {
        let count = |outcome: &Outcome| (outcome.end == End::Precision).then_some(outcome.iterations as f64);
        let counts: Option<Vec<f64>> = outcomes.iter().map(count).collect();
        let counts = counts.filter(|counts| !counts.is_empty());
        let mean = counts.as_ref().map(|counts| counts.iter().sum::<f64>() / counts.len() as f64);
        let deviation = counts.zip(mean).filter(|(counts, _)| counts.len() > 1).map(|(counts, mean)| {
            let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
            (squares / (counts.len() - 1) as f64).sqrt()
        });
        let agrees = match paper {
            _ if !paper_size => None,
            Printed::Spread { mean: paper, bracket } => Some(mean.is_some_and(|m| (m - paper).abs() <= 2.0 * bracket)),
            Printed::Count(count) => Some(mean.is_some_and(|mean| (mean / count as f64 - 1.0).abs() <= 0.1)),
            Printed::Above(limit) => Some(outcomes.iter().all(|o| o.end == End::Limit && o.iterations >= limit)),
            Printed::Nothing => None,
        };
        Self { paper, outcomes, mean, deviation, agrees }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(paper: Printed, runs: &[(End, usize)]) -> Comparison {
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
        Comparison::new(paper, runs.iter().map(outcome).collect(), true)
    }

    #[test]
    fn agreement_is_twice_the_bracket_or_a_tenth_of_a_count() {
        let reached = |count| (End::Precision, count);
        let spread = Printed::Spread { mean: 12.0, bracket: 5.0 };
        assert_eq!(compare(spread, &[reached(20), reached(24)]).agrees, Some(true));
        assert_eq!(compare(spread, &[reached(20), reached(25)]).agrees, Some(false));
        assert_eq!(compare(spread, &[reached(12), (End::Limit, 12)]).agrees, Some(false));
        assert_eq!(compare(Printed::Above(5000), &[(End::Limit, 5000)]).agrees, Some(true));
        assert_eq!(compare(Printed::Above(5000), &[(End::Stalled, 5000)]).agrees, Some(false));
        assert_eq!(compare(Printed::Above(5000), &[(End::Limit, 1000)]).agrees, Some(false));
        assert_eq!(compare(Printed::Above(5000), &[reached(4999)]).agrees, Some(false));
        assert_eq!(compare(Printed::Count(1158), &[reached(1250)]).agrees, Some(true));
        assert_eq!(compare(Printed::Count(1158), &[reached(1309)]).agrees, Some(false));
        assert_eq!(compare(Printed::Nothing, &[reached(1)]).agrees, None);
    }

    #[test]
    fn several_runs_have_a_mean_and_a_deviation() {
        let both = compare(Printed::Nothing, &[(End::Precision, 10), (End::Precision, 14)]);
        assert_eq!((both.mean, both.deviation), (Some(12.0), Some(8.0_f64.sqrt())));
        let one = compare(Printed::Nothing, &[(End::Precision, 10)]);
        assert_eq!((one.mean, one.deviation), (Some(10.0), None));
        let none = compare(Printed::Nothing, &[]);
        assert_eq!((none.mean, none.deviation), (None, None));
    }
}
