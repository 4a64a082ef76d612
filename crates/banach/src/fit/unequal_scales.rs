//! Columns of so different scales that the penalty does not treat them alike.

use std::fmt;

use rayon::prelude::*;

use super::Spec;
use crate::{FeatureMatrix, data::ColumnMoments, kernel::MonomialScale};

/// Deviations that differ by more than this factor are unequal.
const FACTOR: f64 = 100.0;

/// Two columns whose standard deviations differ by more than a factor of 100.
///
/// A penalty on the weights asks little of a column of large numbers, whose weight is small, and much of one of small numbers, whatever they tell
/// of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnequalScales {
    /// The column with the smallest deviation above 0, and that deviation.
    pub smallest: (usize, f64),
    /// The column with the largest.
    pub largest: (usize, f64),
}

impl Spec {
    /// Whether columns have so different scales that a fit should have them standardised first, by one pass over the table. Constant columns do
    /// not count, and where monomials are scaled by themselves no columns do.
    ///
    /// ```
    /// use banach::{FeatureMatrix, Spec, kernel::MonomialScale};
    ///
    /// let x = FeatureMatrix::from_rows(2, 3, &[0.1, 5.0, 1000.0, 0.3, 5.0, 3000.0])?;
    /// let found = Spec::default().unequal_scales(&x).expect("0.1 and 1000");
    /// assert_eq!((found.smallest.0, found.largest.0), (0, 2));
    /// assert_eq!(Spec { monomials: MonomialScale::Unit, ..Spec::default() }.unequal_scales(&x), None);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn unequal_scales(&self, x: &FeatureMatrix<'_>) -> Option<UnequalScales> {
        if self.monomials != MonomialScale::Raw {
            return None;
        }
        if alike(x) {
            return None;
        }
        let samples = x.samples();
        let moments = |buffer: &mut Vec<f64>, column: usize| {
            let stored = x.column(column, buffer).values;
            ColumnMoments::of(stored, samples - stored.len())
        };
        let deviations: Vec<Option<ColumnMoments>> =
            (0..x.features()).into_par_iter().map_init(Vec::new, moments).collect();
        let deviations = || {
            let known =
                |(column, moments): (usize, &Option<ColumnMoments>)| Some((column, moments.as_ref()?.deviation));
            deviations.iter().enumerate().filter_map(known)
        };
        let smallest = deviations().min_by(|a, b| a.1.total_cmp(&b.1))?;
        // Of several, the first.
        let largest = deviations().min_by(|a, b| b.1.total_cmp(&a.1))?;
        (largest.1 / FACTOR > smallest.1).then_some(UnequalScales { smallest, largest })
    }
}

/// Whether a rough look already tells that no two deviations are far apart: one read of dense columns, where their exact moments take
/// several. Where it says no they may still be alike.
fn alike(x: &FeatureMatrix<'_>) -> bool {
    if x.is_sparse() {
        return false;
    }
    let none = (f64::INFINITY, 0.0_f64);
    let deviation = |buffer: &mut Vec<f64>, column: usize| match rough_deviation(x.column(column, buffer).values)? {
        0.0 => Some(none),
        deviation => Some((deviation, deviation)),
    };
    let deviations = (0..x.features()).into_par_iter().map_init(Vec::new, deviation);
    let widest = deviations.try_reduce(|| none, |a, b| Some((a.0.min(b.0), a.1.max(b.1))));
    // A hundredth is far more than a rough deviation is wrong by.
    widest.is_some_and(|(smallest, largest)| 1.01 * largest < FACTOR * smallest)
}

/// The standard deviation of a column to a few digits, 0 for a constant one, by the sums of its entries from the first one and of their
/// squares. `None` where the difference of the sums has lost these digits.
fn rough_deviation(column: &[f64]) -> Option<f64> {
    let first = *column.first()?;
    let (mut sums, mut squares) = ([0.0_f64; LANES], [0.0_f64; LANES]);
    let (lanes, rest) = column.as_chunks::<LANES>();
    for entries in lanes {
        for lane in 0..LANES {
            let from_first = entries[lane] - first;
            sums[lane] += from_first;
            squares[lane] += from_first * from_first;
        }
    }
    let rest_from_first = || rest.iter().map(|entry| entry - first);
    let sum = sums.iter().sum::<f64>() + rest_from_first().sum::<f64>();
    let square = squares.iter().sum::<f64>() + rest_from_first().map(|entry| entry * entry).sum::<f64>();
    let (mean, mean_square) = (sum / column.len() as f64, square / column.len() as f64);
    if column.iter().all(|entry| *entry == first) {
        return Some(0.0);
    }
    let variance = mean_square - mean * mean;
    let digits_left = variance > 1e-6 * mean_square && variance > 1e-24 * first * first;
    (digits_left && mean_square > 1e-200 && mean_square.is_finite()).then(|| variance.sqrt())
}

/// Sums that run beside each other.
const LANES: usize = 8;

impl UnequalScales {
    /// The same with the names of the columns.
    pub fn with_names<'a>(&'a self, names: &'a [String]) -> impl fmt::Display + 'a {
        NamedScales { scales: self, names }
    }
}

struct NamedScales<'a> {
    scales: &'a UnequalScales,
    names: &'a [String],
}

impl fmt::Display for NamedScales<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |column: usize| self.names.get(column).map_or_else(|| format!("x{column}"), |name| format!("{name:?}"));
        let ((small, low), (large, high)) = (self.scales.smallest, self.scales.largest);
        write!(
            f,
            "the scales of columns differ by more than {FACTOR}: the standard deviation is {low:.3e} in {} and {high:.3e} in {}; the penalty \
             favours columns of large numbers, whatever they tell of the target",
            name(small),
            name(large)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extreme_columns_are_found_of_tables_of_every_kind() {
        let spec = Spec::default();
        let near = FeatureMatrix::from_columns(3, 2, vec![0.0, 1.0, 2.0, 0.0, 99.0, 198.0]).expect("valid");
        assert_eq!(spec.unequal_scales(&near), None);
        let columns = vec![0.0, 0.0, 2e-9, 7.0, 7.0, 7.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0];
        let dense = FeatureMatrix::from_columns(3, 4, columns).expect("valid");
        let found = spec.unequal_scales(&dense).expect("far apart");
        assert_eq!((found.smallest.0, found.largest.0), (0, 2));
        let stored = (vec![0, 1, 4, 6, 6], vec![2, 0, 1, 2, 1, 2], vec![2e-9, 7.0, 7.0, 7.0, 1.0, 2.0]);
        let sparse = FeatureMatrix::from_sparse_columns(3, 4, stored.0, stored.1, stored.2).expect("valid");
        assert_eq!(spec.unequal_scales(&sparse), Some(found));
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let told = found.with_names(&names).to_string();
        assert!(told.contains("e-10 in \"a\" and 8.165e-1 in \"c\""), "{told}");
    }
}
