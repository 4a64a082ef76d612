//! Columns in units of their own: less a centre, times a factor, and by their ranks if that is wanted.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    columns::Column,
    feature_matrix::{FeatureMatrix, Storage},
    rank_scores::RankScores,
};
use crate::Error;

/// Some columns of a table, each less a centre and times a factor: `(x_j - centre_j) factor_j`, where x_j is a value or the score of its rank.
///
/// ```
/// use banach::{FeatureMatrix, data::ColumnScaling};
///
/// let x = FeatureMatrix::from_rows(2, 3, &[1.0, 5.0, 10.0, 3.0, 5.0, 30.0])?;
/// let units = ColumnScaling::standard(&x, None);
/// assert_eq!(units.columns(), [0, 2]); // the second is constant
/// assert!(units.apply(&x)?.row(0).iter().all(|x| (x + 1.0).abs() < 1e-12));
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnScaling {
    columns: Vec<usize>,
    centres: Vec<f64>,
    factors: Vec<f64>,
    /// What the values are replaced by first, if anything.
    ranks: Option<Arc<RankScores>>,
}

/// A column whose deviation is at most this share of its size is constant up to rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl ColumnScaling {
    /// Every column with the mean 0 and the deviation 1, by the samples that count; without the columns that are constant there.
    /// Sparse columns keep their zeros: nothing is taken from them.
    pub fn standard(x: &FeatureMatrix<'_>, sample_weight: Option<&[f64]>) -> Self {
        let (centred, n) = (!x.is_sparse(), x.samples());
        let mut units = Self { columns: vec![], centres: vec![], factors: vec![], ranks: None };
        let mut values = vec![0.0; n];
        for column in 0..x.features() {
            x.column_into(column, &mut values);
            if let Some((mean, deviation)) = moments(&values, sample_weight) {
                units.columns.push(column);
                units.centres.push(if centred { mean } else { 0.0 });
                units.factors.push(1.0 / deviation);
            }
        }
        units
    }

    /// The same columns with the scores of their ranks in the place of their values, with the mean 0 and the deviation 1 by the samples that
    /// count. A column with two values is what it was.
    #[must_use]
    pub(crate) fn ranked(&self, x: &FeatureMatrix<'_>, sample_weight: &[f64]) -> Self {
        let ranks = RankScores::of(x, &self.columns, sample_weight);
        let moments = self.columns.par_iter().enumerate().map_init(
            || vec![0.0; x.samples()],
            |values, (at, &column)| {
                x.column_into(column, values);
                ranks.replace(at, values);
                moments(values, Some(sample_weight))
            },
        );
        // A column whose values have one score, as all others count for nothing, is 0.
        let (centres, factors) =
            moments.map(|found| found.map_or((0.0, 1.0), |(mean, deviation)| (mean, 1.0 / deviation))).unzip();
        Self { columns: self.columns.clone(), centres, factors, ranks: Some(Arc::new(ranks)) }
    }

    /// Units that are known: for each of some columns, in increasing order, a centre and a factor, and the scores of ranks if they are taken.
    pub fn new(
        columns: Vec<usize>,
        centres: Vec<f64>,
        factors: Vec<f64>,
        ranks: Option<RankScores>,
    ) -> Result<Self, Error> {
        if let Some(ranks) = &ranks {
            Error::check_length("the columns with scores", ranks.columns(), columns.len())?;
        }
        Error::check_length("the centres", centres.len(), columns.len())?;
        Error::check_length("the factors", factors.len(), columns.len())?;
        let allowed = "finite numbers";
        Error::check_values("the centres", &centres, allowed, f64::is_finite)?;
        Error::check_values("the factors", &factors, allowed, f64::is_finite)?;
        if !columns.is_sorted_by(|a, b| a < b) {
            return Err(Error::Shape { what: "the columns in increasing order", got: columns.len(), expected: 0 });
        }
        Ok(Self { columns, centres, factors, ranks: ranks.map(Arc::new) })
    }

    /// The columns that are taken, in increasing order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// What is taken from each.
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// What each is then multiplied by.
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// What the values are replaced by first, if anything.
    pub fn ranks(&self) -> Option<&RankScores> {
        self.ranks.as_deref()
    }

    /// With every column multiplied by its scale; without those whose scale is 0.
    #[must_use]
    pub(crate) fn scaled(&self, scales: &[f64]) -> Self {
        let kept = || (0..self.columns.len()).filter(|&at| scales[at] > 0.0);
        Self {
            columns: kept().map(|at| self.columns[at]).collect(),
            centres: kept().map(|at| self.centres[at]).collect(),
            factors: kept().map(|at| self.factors[at] * scales[at]).collect(),
            ranks: self.ranks.as_ref().map(|ranks| Arc::new(ranks.select(kept()))),
        }
    }

    /// The columns in these units. A row needs all columns of the table that the units were made for.
    pub fn apply(&self, x: &FeatureMatrix<'_>) -> Result<FeatureMatrix<'static>, Error> {
        let least = self.columns.last().map_or(1, |last| last + 1);
        if x.features() < least {
            return Err(Error::Shape { what: "a row of X", got: x.features(), expected: least });
        }
        let (n, count) = (x.samples(), self.columns.len());
        if x.is_sparse() && self.ranks.is_none() && self.centres.iter().all(|centre| *centre == 0.0) {
            let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
            let mut buffer = Vec::new();
            for (&column, factor) in self.columns.iter().zip(&self.factors) {
                let Column { rows: places, values: stored } = x.column(column, &mut buffer);
                rows.extend_from_slice(places.unwrap_or_default());
                values.extend(stored.iter().map(|x| x * factor));
                starts.push(values.len());
            }
            return FeatureMatrix::from_sparse_columns(n, count, starts, rows, values);
        }
        if let (Storage::Compact(columns), None) = (&x.storage, &self.ranks) {
            let columns = columns.select_columns(&self.columns).into_rescaled(&self.centres, &self.factors);
            return FeatureMatrix::from_compact(n, count, columns);
        }
        let mut values = vec![0.0; n * count];
        for (at, out) in values.chunks_mut(n).enumerate() {
            x.column_into(self.columns[at], out);
            if let Some(ranks) = &self.ranks {
                ranks.replace(at, out);
            }
            let (centre, factor) = (self.centres[at], self.factors[at]);
            out.iter_mut().for_each(|x| *x = (*x - centre) * factor);
        }
        FeatureMatrix::from_columns(n, count, values)
    }
}

/// The mean and the deviation of the samples that count; `None` for a constant, up to rounding.
fn moments(values: &[f64], sample_weight: Option<&[f64]>) -> Option<(f64, f64)> {
    let weight = |i: usize| sample_weight.map_or(1.0, |weights| weights[i]);
    let counted = || values.iter().enumerate().map(|(i, x)| (weight(i), *x)).filter(|(weight, _)| *weight > 0.0);
    let (total, size) = counted().fold((0.0, 0.0_f64), |(sum, size), (weight, x)| (sum + weight, size.max(x.abs())));
    // In units of the largest entry, squares stay in range.
    let mean = counted().map(|(weight, x)| weight / total * (x / size)).sum::<f64>();
    let variance = counted().map(|(weight, x)| weight / total * (x / size - mean).powi(2)).sum::<f64>();
    let deviation = variance.sqrt();
    let varies = size > 0.0 && deviation > ROUNDING && (1.0 / (deviation * size)).is_normal();
    varies.then_some((mean * size, deviation * size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_mean_0_and_deviation_1_whatever_their_size() {
        let columns =
            [vec![1e150, 3e150, 2e150], vec![7.0; 3], vec![1e9, 1e9 + 1.0, 1e9 + 2.0], vec![1e-150, 0.0, 2e-150]];
        let x = FeatureMatrix::from_columns(3, 4, columns.concat()).expect("in range");
        let units = ColumnScaling::standard(&x, None);
        assert_eq!(units.columns(), [0, 2, 3]);
        let done = units.apply(&x).expect("the same columns");
        for column in 0..3 {
            let values: Vec<f64> = (0..3).map(|row| done.row(row)[column]).collect();
            let mean = values.iter().sum::<f64>() / 3.0;
            let variance = values.iter().map(|x| x * x).sum::<f64>() / 3.0;
            assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-6, "{column}: {values:?}");
        }
    }

    #[test]
    fn ranks_of_two_values_are_the_values_and_others_follow_any_increasing_change() {
        let n = 5;
        let columns = [vec![0.0, 1.0, 1.0, 0.0, 1.0], vec![1.0, 8.0, 2.0, 4.0, 1e9]].concat();
        let x = FeatureMatrix::from_columns(n, 2, columns.clone()).expect("in range");
        let other: Vec<f64> = columns[..n].iter().copied().chain(columns[n..].iter().map(|x| x.ln())).collect();
        let other = FeatureMatrix::from_columns(n, 2, other).expect("in range");
        let ranked = |x: &FeatureMatrix<'_>| ColumnScaling::standard(x, None).ranked(x, &[1.0; 5]);
        let (plain, done) =
            (ColumnScaling::standard(&x, None).apply(&x).expect("rows"), ranked(&x).apply(&x).expect("rows"));
        let changed = ranked(&other).apply(&other).expect("rows");
        for row in 0..n {
            assert!((plain.row(row)[0] - done.row(row)[0]).abs() < 1e-12);
            assert!((changed.row(row)[1] - done.row(row)[1]).abs() < 1e-12);
        }
        let kept = ranked(&x).scaled(&[0.0, 2.0]).apply(&x).expect("rows");
        assert!((0..n).all(|row| kept.row(row)[0] == 2.0 * done.row(row)[1]));
    }

    #[test]
    fn absent_samples_do_not_count_and_zeros_of_sparse_columns_stay() {
        let x = FeatureMatrix::from_columns(3, 1, vec![1.0, 3.0, 1e6]).expect("in range");
        let units = ColumnScaling::standard(&x, Some(&[2.0, 2.0, 0.0]));
        assert_eq!((units.centres(), units.factors()), (&[2.0][..], &[1.0][..]));
        let sparse = FeatureMatrix::from_sparse_columns(4, 1, vec![0, 1], vec![2], vec![4.0]).expect("in range");
        let units = ColumnScaling::standard(&sparse, None);
        let done = units.apply(&sparse).expect("the same columns");
        assert!(done.is_sparse() && done.stored() == 1);
        assert!((done.row(2)[0] - 4.0 / 3.0_f64.sqrt()).abs() < 1e-12);
    }
}
