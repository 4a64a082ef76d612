//! Columns by the ranks of their values, which no increasing change of units alters.

use rayon::prelude::*;

use super::feature_matrix::FeatureMatrix;
use crate::Error;

/// For each of some columns a function that increases with its values: `ln(u/(1-u))`, where u is the share of the samples below a value, half
/// of its equals among them. Between the values of samples it is linear; beyond them it stays what it is at the last one.
///
/// A salary, its logarithm and its square have the same scores, so that a few very large values do not set the scale of all others, as they
/// do for a mean and a deviation.
#[derive(Debug, Clone, PartialEq)]
pub struct RankScores {
    /// Where the knots of every column end.
    ends: Vec<usize>,
    /// Values of samples, increasing in every column.
    values: Vec<f64>,
    /// Their scores.
    scores: Vec<f64>,
}

/// The most values of a column whose scores are kept; those between them are nearly on a line.
const MOST_KNOTS: usize = 512;
/// Columns whose knots are found together.
const BLOCK: usize = 256;

impl RankScores {
    /// Those of some columns by the samples that count.
    pub(super) fn of(x: &FeatureMatrix<'_>, columns: &[usize], sample_weight: &[f64]) -> Self {
        let most = columns.len() * x.samples().min(MOST_KNOTS);
        let mut found = Self {
            ends: Vec::with_capacity(columns.len()),
            values: Vec::with_capacity(most),
            scores: Vec::with_capacity(most),
        };
        for block in columns.chunks(BLOCK) {
            let knots = block.par_iter().map_init(
                || vec![0.0; x.samples()],
                |values, &column| {
                    x.column_into(column, values);
                    knots(values, sample_weight)
                },
            );
            for column in knots.collect::<Vec<_>>() {
                found.values.extend(column.iter().map(|knot| knot.0));
                found.scores.extend(column.iter().map(|knot| knot.1));
                found.ends.push(found.values.len());
            }
        }
        found
    }

    /// Scores that are known: how many knots every column has, and the values and scores of all of them, both increasing in every column.
    pub fn new(counts: &[usize], values: Vec<f64>, scores: Vec<f64>) -> Result<Self, Error> {
        let ends = counts.iter().scan(0_usize, |end, count| {
            *end = end.checked_add(*count)?;
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let total = ends.last().copied().unwrap_or(0);
        Error::check_length("the columns with scores", ends.len(), counts.len())?;
        Error::check_length("the values with scores", values.len(), total)?;
        Error::check_length("the scores", scores.len(), total)?;
        let found = Self { ends, values, scores };
        let increases = |numbers: &[f64]| {
            !numbers.is_empty() && numbers.iter().all(|x| x.is_finite()) && numbers.is_sorted_by(|a, b| a < b)
        };
        for at in 0..counts.len() {
            let (values, scores) = found.knots(at);
            if !increases(values) || !increases(scores) {
                return Err(Error::Shape { what: "increasing values with increasing scores", got: 0, expected: 1 });
            }
        }
        Ok(found)
    }

    /// The number of columns.
    pub(super) fn columns(&self) -> usize {
        self.ends.len()
    }

    /// The values of a column whose scores are known, and these.
    pub fn knots(&self, at: usize) -> (&[f64], &[f64]) {
        let first = if at == 0 { 0 } else { self.ends[at - 1] };
        (&self.values[first..self.ends[at]], &self.scores[first..self.ends[at]])
    }

    /// Those of some of the columns.
    pub(super) fn select(&self, kept: impl Iterator<Item = usize>) -> Self {
        let mut found = Self { ends: Vec::new(), values: Vec::new(), scores: Vec::new() };
        for at in kept {
            let (values, scores) = self.knots(at);
            found.values.extend_from_slice(values);
            found.scores.extend_from_slice(scores);
            found.ends.push(found.values.len());
        }
        found
    }

    /// Scores in the place of values of a column.
    pub(super) fn replace(&self, at: usize, column: &mut [f64]) {
        let (values, scores) = self.knots(at);
        let last = values.len() - 1;
        for x in column {
            let above = values.partition_point(|value| value <= x);
            *x = match above {
                0 => scores[0],
                _ if above > last => scores[last],
                _ => {
                    let (left, right) = (values[above - 1], values[above]);
                    let part = (*x - left) / (right - left);
                    scores[above - 1] + part * (scores[above] - scores[above - 1])
                }
            };
        }
    }
}

/// The values of the samples that count, each once, with their scores; evenly chosen ones where they are many.
fn knots(column: &[f64], sample_weight: &[f64]) -> Vec<(f64, f64)> {
    let mut counted: Vec<(f64, f64)> =
        column.iter().copied().zip(sample_weight.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
    counted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let values =
        || counted.chunk_by(|a, b| a.0 == b.0).map(|equal| (equal[0].0, equal.iter().map(|(_, weight)| weight)));
    let weights: Vec<f64> = values().map(|(_, weights)| weights.sum()).collect();
    // Both sums on their own, so that neither is lost beside the other where weights are very unequal.
    let mut above = vec![0.0; weights.len()];
    (1..weights.len()).rev().for_each(|at| above[at - 1] = above[at] + weights[at]);
    let (mut below, mut knots) = (0.0, Vec::<(f64, f64)>::with_capacity(weights.len()));
    for ((value, _), (weight, above)) in values().zip(weights.iter().zip(&above)) {
        let score = ((below + 0.5 * weight) / (above + 0.5 * weight)).ln();
        // A value of next to no weight has the score of its neighbour.
        if score.is_finite() && knots.last().is_none_or(|last| last.1 < score) {
            knots.push((value, score));
        }
        below += weight;
    }
    if knots.is_empty() {
        knots.push((counted.first().map_or(0.0, |first| first.0), 0.0));
    }
    let last = knots.len().saturating_sub(1);
    if last < MOST_KNOTS {
        return knots;
    }
    (0..MOST_KNOTS).map(|at| knots[at * last / (MOST_KNOTS - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(column: &[f64], weights: &[f64], at: &[f64]) -> Vec<f64> {
        let x = FeatureMatrix::from_columns(column.len(), 1, column.to_vec()).expect("in range");
        let mut found = at.to_vec();
        RankScores::of(&x, &[0], weights).replace(0, &mut found);
        found
    }

    #[test]
    fn increasing_changes_of_units_change_nothing() {
        let column = [3.0, -1.0, 0.5, 3.0, 1e6, 2.0];
        let changes: [fn(f64) -> f64; 3] = [|x| x.powi(3), f64::atan, |x| 1e-9 * x - 7.0];
        let plain = scores(&column, &[1.0; 6], &column);
        for change in changes {
            let changed = column.map(change);
            assert_eq!(scores(&changed, &[1.0; 6], &changed), plain);
        }
    }

    #[test]
    fn scores_are_the_odds_of_ranks() {
        let found = scores(&[5.0, 1.0, 5.0, 2.0], &[1.0; 4], &[1.0, 2.0, 5.0, 1.5, -9.0, 9.0]);
        let odds = |share: f64| (share / (1.0 - share)).ln();
        let middle = f64::midpoint(odds(0.125), odds(0.375));
        assert_eq!(found, [odds(0.125), odds(0.375), odds(0.75), middle, odds(0.125), odds(0.75)]);
    }

    #[test]
    fn weights_are_repetitions_and_absent_samples_do_not_count() {
        let found = scores(&[4.0, 1.0, 2.0, 99.0], &[1.0, 2.0, 3.0, 0.0], &[1.0, 2.0, 4.0]);
        assert_eq!(found, scores(&[4.0, 1.0, 1.0, 2.0, 2.0, 2.0], &[1.0; 6], &[1.0, 2.0, 4.0]));
    }

    #[test]
    fn weights_may_be_as_unequal_as_they_like() {
        for weights in [vec![1.0, 1e-20, 1e-20, 1.0], (0..60).map(|k| 0.5_f64.powi(k)).collect(), vec![5e-324; 9]] {
            let column: Vec<f64> = (0..weights.len()).map(|k| k as f64).collect();
            let x = FeatureMatrix::from_columns(column.len(), 1, column).expect("in range");
            let ranks = RankScores::of(&x, &[0], &weights);
            let (values, scores) = ranks.knots(0);
            assert!(
                RankScores::new(&[values.len()], values.to_vec(), scores.to_vec()).is_ok_and(|again| again == ranks)
            );
        }
    }

    /// Also where a column has more values than are kept.
    #[test]
    fn scores_of_larger_values_are_larger() {
        let column: Vec<f64> = (0..2000).map(|i| (f64::from(i * 7919 % 2000) / 300.0).exp()).collect();
        let mut sorted = column.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let found = scores(&column, &vec![1.0; 2000], &sorted);
        assert!(found.is_sorted_by(|a, b| a < b) && found.iter().all(|score| score.is_finite()));
        let exact = |i: usize| ((i as f64 + 0.5) / (1999.5 - i as f64)).ln();
        assert!((100..1900).all(|i| (found[i] - exact(i)).abs() < 1e-2));
    }

    #[test]
    fn what_does_not_increase_is_refused() {
        assert!(RankScores::new(&[2], vec![0.0, 1.0], vec![-1.0, 1.0]).is_ok());
        for (counts, values, scores) in [
            (&[2][..], vec![1.0, 1.0], vec![-1.0, 1.0]),
            (&[2], vec![0.0, 1.0], vec![1.0, f64::NAN]),
            (&[3], vec![0.0, 1.0], vec![-1.0, 1.0]),
            (&[0, 2], vec![0.0, 1.0], vec![-1.0, 1.0]),
            (&[usize::MAX, 3], vec![0.0, 1.0], vec![-1.0, 1.0]),
        ] {
            assert!(RankScores::new(counts, values, scores).is_err());
        }
    }
}
