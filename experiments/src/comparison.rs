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
    /// The fewest and the most iterations, from two runs on, if all reached the precision.
    pub range: Option<(usize, usize)>,
    /// Our mean less the paper's number, at the paper's size.
    pub difference: Option<f64>,
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
        let iterations = || outcomes.iter().map(|outcome| outcome.iterations);
        let range = deviation.and_then(|_| Some((iterations().min()?, iterations().max()?)));
        let number = match paper {
            Printed::Spread { mean, .. } => Some(mean),
            Printed::Count(count) => Some(count as f64),
            Printed::Above(_) | Printed::Nothing => None,
        };
        let difference = number.zip(mean).filter(|_| paper_size).map(|(paper, mean)| mean - paper);
        let agrees = match paper {
            _ if !paper_size => None,
            Printed::Spread { bracket, .. } => Some(difference.is_some_and(|off| off.abs() <= 2.0 * bracket)),
            Printed::Count(count) => Some(difference.is_some_and(|off| off.abs() <= 0.1 * count as f64)),
            Printed::Above(limit) => Some(outcomes.iter().all(|o| o.end == End::Limit && o.iterations >= limit)),
            Printed::Nothing => None,
        };
        Self { paper, outcomes, mean, deviation, range, difference, agrees }
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
    fn several_runs_have_a_mean_a_deviation_and_a_range() {
        let both = compare(Printed::Nothing, &[(End::Precision, 14), (End::Precision, 10)]);
        assert_eq!((both.mean, both.deviation), (Some(12.0), Some(8.0_f64.sqrt())));
        assert_eq!((both.range, both.difference), (Some((10, 14)), None));
        let one = compare(Printed::Nothing, &[(End::Precision, 10)]);
        assert_eq!((one.mean, one.deviation, one.range), (Some(10.0), None, None));
        let none = compare(Printed::Nothing, &[]);
        assert_eq!((none.mean, none.deviation, none.range), (None, None, None));
        let unfinished = compare(Printed::Count(12), &[(End::Precision, 10), (End::Limit, 14)]);
        assert_eq!((unfinished.range, unfinished.difference), (None, None));
    }

    #[test]
    fn the_difference_is_plain() {
        let spread =
            compare(Printed::Spread { mean: 12.0, bracket: 5.0 }, &[(End::Precision, 10), (End::Precision, 13)]);
        assert_eq!(spread.difference, Some(-0.5));
        assert_eq!(compare(Printed::Count(1158), &[(End::Precision, 1487)]).difference, Some(329.0));
        assert_eq!(compare(Printed::Above(5000), &[(End::Limit, 5000)]).difference, None);
    }
}
