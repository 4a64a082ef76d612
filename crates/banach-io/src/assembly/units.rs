//! What is written beside numbers, which must be the same in a whole column.

use std::collections::HashMap;

use super::Assembly;
use crate::{Error, read::ColumnUnit, written::Unit};

/// For every column and unit the first row that has it, and how many have.
#[derive(Debug, Default)]
pub(crate) struct UnitCounts(HashMap<(usize, Unit), (usize, usize)>);

impl UnitCounts {
    pub(crate) fn count(&mut self, place: usize, unit: Unit, row: usize, more: usize) {
        let (first, count) = self.0.entry((place, unit)).or_insert((row, 0));
        *first = row.min(*first);
        *count += more;
    }

    /// Those of rows that come behind so many others.
    pub(crate) fn add(&mut self, others: &Self, before: usize) {
        others.0.iter().for_each(|(&(place, unit), &(row, count))| self.count(place, unit, before + row, count));
    }
}

impl Assembly<'_> {
    /// The unit of every column that has one. Two currencies are two different numbers, and so are 12 and 12 %.
    pub(super) fn one_unit(&self) -> Result<Vec<ColumnUnit>, Error> {
        let mut found: Vec<_> = self.units.0.iter().map(|((place, unit), told)| (*place, *told, *unit)).collect();
        found.sort_unstable();
        for of_column in found.chunk_by(|a, b| a.0 == b.0) {
            let (place, (row, count), unit) = of_column[0];
            let mixed = |row: usize, units: [&'static str; 2]| Error::MixedUnits {
                file: self.file.to_owned(),
                at: self.lines.at(row),
                column: self.names.name(place).to_owned(),
                units,
            };
            if let Some((_, (other, _), second)) = of_column.get(1) {
                return Err(mixed(*other, [unit.sign(), second.sign()]));
            }
            if unit == Unit::Percent && count < self.present(place) {
                return Err(mixed(row, [unit.sign(), ""]));
            }
        }
        let unit = |(place, _, unit): &(usize, (usize, usize), Unit)| ColumnUnit {
            column: self.names.name(*place).to_owned(),
            unit: unit.sign().to_owned(),
        };
        Ok(found.iter().map(unit).collect())
    }

    /// The numbers in a column.
    fn present(&self, place: usize) -> usize {
        match self.features.iter().position(|feature| *feature == place) {
            Some(at) => self.values[at * self.rows..(at + 1) * self.rows].iter().filter(|x| !x.is_nan()).count(),
            None => self.rows - self.untargeted.len(),
        }
    }
}
