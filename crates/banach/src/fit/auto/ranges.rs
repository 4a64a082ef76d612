//! Where the samples of every variable lie, in the units of the table.

use serde::{Deserialize, Serialize};

use crate::{Error, FeatureMatrix, data::ColumnScaling};

/// For every variable its centre and its ends over the samples that count. A model needs them to say what a variable does: members keep
/// samples in units of their own, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableRanges {
    /// Where the others stand while some are looked at: the mean, and 0 for the columns of a sparse table, as in the units of the members.
    pub centres: Vec<f64>,
    /// The least value.
    pub least: Vec<f64>,
    /// The largest value.
    pub largest: Vec<f64>,
    /// The variables that take two values alone, in increasing order.
    pub two_valued: Vec<usize>,
}

impl VariableRanges {
    /// Those of a table by its units, over the samples of a positive weight.
    pub(super) fn new(x: &FeatureMatrix<'_>, weights: &[f64], units: &ColumnScaling) -> Self {
        let mut ranges = Self { centres: vec![], least: vec![], largest: vec![], two_valued: vec![] };
        let mut values = vec![0.0; x.samples()];
        for column in 0..x.features() {
            x.column_into(column, &mut values);
            let counted = || values.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(value, _)| *value);
            let (least, largest) =
                counted().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            // Without a sample that counts nothing is fitted.
            let (least, largest) = if least <= largest { (least, largest) } else { (0.0, 0.0) };
            ranges.centres.push(if x.is_sparse() { 0.0 } else { least });
            ranges.least.push(least);
            ranges.largest.push(largest);
            if least < largest && counted().all(|value| value == least || value == largest) {
                ranges.two_valued.push(column);
            }
        }
        for (&column, centre) in units.columns().iter().zip(units.centres()) {
            ranges.centres[column] = *centre;
        }
        ranges
    }

    /// Those of a table over the samples of a positive weight.
    pub(crate) fn of(x: &FeatureMatrix<'_>, weights: &[f64]) -> Self {
        Self::new(x, weights, &ColumnScaling::standard(x, Some(weights)))
    }

    /// Whether these are numbers for so many variables.
    pub(super) fn check(&self, variables: usize) -> Result<(), Error> {
        for (what, values) in
            [("the centres", &self.centres), ("the least values", &self.least), ("the largest values", &self.largest)]
        {
            Error::check_length(what, values.len(), variables)?;
            // As the entries of a table.
            Error::check_values(what, values, "finite numbers up to 1e200 in magnitude", |value| value.abs() <= 1e200)?;
        }
        let last = self.two_valued.last().map_or(0, |last| last + 1);
        if last > variables || !self.two_valued.is_sorted_by(|a, b| a < b) {
            return Err(Error::Shape { what: "the variables of two values", got: last, expected: variables });
        }
        Ok(())
    }

    /// Points in which all variables are at their centres, but for some, whose values are given.
    pub(crate) fn moved(&self, points: usize, moved: &[(usize, &[f64])]) -> Result<FeatureMatrix<'static>, Error> {
        let mut values = Vec::with_capacity(points * self.centres.len());
        for (variable, centre) in self.centres.iter().enumerate() {
            match moved.iter().find(|(other, _)| *other == variable) {
                Some((_, column)) => values.extend_from_slice(column),
                None => values.resize(values.len() + points, *centre),
            }
        }
        FeatureMatrix::from_columns(points, self.centres.len(), values)
    }

    /// Values of a variable from its least to its largest, at equal distances; both alone where it takes no others.
    pub(crate) fn grid(&self, variable: usize, points: usize) -> Vec<f64> {
        let (least, largest) = (self.least[variable], self.largest[variable]);
        let points = if self.two_valued.binary_search(&variable).is_ok() { 2 } else { points.max(2) };
        let last = (points - 1) as f64;
        (0..points).map(|at| at as f64 / last).map(|at| least * (1.0 - at) + largest * at).collect()
    }

    /// A small and a large value of a variable: halfway from its centre to its ends, or its two values.
    pub fn low_and_high(&self, variable: usize) -> Option<(f64, f64)> {
        let (least, largest) = (*self.least.get(variable)?, *self.largest.get(variable)?);
        if self.two_valued.binary_search(&variable).is_ok() {
            return Some((least, largest));
        }
        let centre = *self.centres.get(variable)?;
        Some((f64::midpoint(least, centre), f64::midpoint(centre, largest)))
    }
}
