//! Missing values: refused, filled in, or left out with their rows.

use super::{Assembly, label};
use crate::{Error, FileRemedy, Fill, Impute, Target};

impl Assembly<'_> {
    /// Leaves out columns without a name and without a value: spreadsheets write delimiters behind the last column.
    pub(super) fn drop_empty_columns(&mut self) {
        if self.request.model.is_some() || self.missing.is_none() || self.names.nameless().is_empty() {
            return;
        }
        let rows = self.rows;
        let empty = |(feature, place): (usize, &usize)| {
            self.names.nameless().contains(place)
                && self.values[feature * rows..(feature + 1) * rows].iter().all(|x| x.is_nan() && label(*x).is_none())
        };
        let empty: Vec<bool> = self.features.iter().enumerate().map(empty).collect();
        let left = empty.iter().filter(|empty| !**empty).count();
        if left == empty.len() || left == 0 {
            return;
        }
        for (place, _) in self.features.iter().zip(&empty).filter(|(_, empty)| **empty) {
            self.names.forget_nameless(*place);
        }
        let mut at = 0..;
        self.values.retain(|_| at.next().is_some_and(|at: usize| !empty[at / rows]));
        let mut marks = empty.iter();
        self.features.retain(|_| marks.next() == Some(&false));
        // The first missing value may have been one of them.
        let first = (0..rows).find_map(|row| {
            let missing = |feature: &usize| self.is_missing(*feature, self.values[feature * rows + row]);
            Some((row, self.features[(0..left).find(missing)?], String::new()))
        });
        let untargeted = self.untargeted.first().map(|row| (*row, self.target_place, String::new()));
        self.missing = first.into_iter().chain(untargeted).min();
    }

    /// Whether the value of a feature is missing; labels are not.
    fn is_missing(&self, feature: usize, value: f64) -> bool {
        value.is_nan() && (label(value).is_none() || !self.dictionaries.contains_key(&self.features[feature]))
    }

    pub(super) fn refuse_missing(&self) -> Result<(), Error> {
        let Some((row, place, value)) = &self.missing else { return Ok(()) };
        let model = self.request.model.as_ref();
        let filled = match model {
            Some(model) => model.fills.is_some() && self.request.impute.is_some(),
            None => self.request.impute.is_some(),
        };
        if filled {
            return Ok(());
        }
        if let Some(model) = model {
            if model.is_exposure(self.names.name(*place)) {
                return Err(self.no_exposure(*row, self.names.name(*place)));
            }
            let instead = match model.fills {
                Some(_) => FileRemedy::FillMean,
                None => FileRemedy::Do(
                    "a model needs every value, and this one knows no means; fill it in, or leave the row out",
                ),
            };
            return Err(self.unfit(*row, *place, format!("the value is missing ({value:?})"), instead));
        }
        let mut counts: Vec<usize> = self
            .values
            .chunks(self.rows)
            .enumerate()
            .map(|(feature, column)| column.iter().filter(|x| self.is_missing(feature, **x)).count())
            .collect();
        counts.push(self.untargeted.len());
        Err(Error::Missing {
            file: self.file.to_owned(),
            at: self.lines.at(*row),
            column: self.names.name(*place).to_owned(),
            value: value.clone(),
            count: counts.iter().sum(),
            columns: counts.iter().filter(|count| **count > 0).count(),
        })
    }

    /// Leaves out the rows without a target, and those with missing values if that was asked for; says which are left, if not all are.
    pub(super) fn drop_rows(&mut self, target: &mut Target) -> Result<Option<Vec<bool>>, Error> {
        if self.missing.is_none() {
            return Ok(None);
        }
        let mut kept = vec![true; self.rows];
        if self.request.impute == Some(Impute::Drop) {
            for (feature, column) in self.values.chunks(self.rows).enumerate() {
                for (kept, &x) in kept.iter_mut().zip(column) {
                    *kept &= !self.is_missing(feature, x);
                }
            }
        }
        // The target has only the rows that have one.
        let mut targeted = vec![true; self.rows];
        self.untargeted.iter().for_each(|&row| targeted[row] = false);
        let among: Vec<bool> =
            kept.iter().zip(&targeted).filter(|(_, targeted)| **targeted).map(|(kept, _)| *kept).collect();
        target.keep(&among);
        kept.iter_mut().zip(&targeted).for_each(|(kept, targeted)| *kept &= targeted);
        let left = kept.iter().filter(|kept| **kept).count();
        self.too_few(left)?;
        let mut at = 0..;
        let rows = self.rows;
        self.values.retain(|_| at.next().is_some_and(|at: usize| kept[at % rows]));
        self.rows = left;
        Ok(Some(kept))
    }

    /// Fills in what is missing.
    pub(super) fn fill(&mut self, names: &[String]) -> Result<Vec<Fill>, Error> {
        let mut fills = Vec::new();
        let Some(impute) = self.request.impute.filter(|_| self.missing.is_some()) else { return Ok(fills) };
        let model = self.request.model.as_ref();
        if let Some(at) = names.iter().position(|name| model.is_some_and(|model| model.is_exposure(name)))
            && let Some(row) = (0..self.rows).find(|row| self.values[at * self.rows + row].is_nan())
        {
            return Err(self.no_exposure(row, &names[at]));
        }
        let learned = model.map(|model| model.fills_of(names));
        for (at, (name, column)) in names.iter().zip(self.values.chunks_mut(self.rows)).enumerate() {
            let count = column.iter().filter(|x| x.is_nan()).count();
            if count == 0 {
                continue;
            }
            let value = match &learned {
                // A column that no term of the model is made of, such as that of another label: its value is without effect.
                Some(learned) if learned[at].is_none() => {
                    column.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
                    continue;
                }
                Some(learned) => learned[at],
                None => impute.value(&mut column.iter().copied().filter(|x| !x.is_nan()).collect::<Vec<f64>>()),
            };
            let Some(value) = value else {
                return Err(Error::AllMissing { file: self.file.to_owned(), column: name.clone() });
            };
            column.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = value);
            fills.push(Fill { column: name.clone(), value, count });
        }
        Ok(fills)
    }

    /// Refuses a row of a model of counts that does not say what they are collected over.
    fn no_exposure(&self, row: usize, column: &str) -> Error {
        let place = format!("{}, column {column:?}", self.lines.at(row));
        let instead = "counts are predicted as a multiple of it, so that nothing can stand for it; fill it in, or leave the row out";
        Error::unsupported(self.file, place, "the exposure is missing", FileRemedy::Do(instead))
    }
}

impl Impute {
    /// What to fill in among these values.
    pub(crate) fn value(self, present: &mut [f64]) -> Option<f64> {
        let n = present.len();
        if n == 0 {
            return None;
        }
        if self == Self::Median {
            present.sort_by(f64::total_cmp);
            // Halves first, as a sum may leave the range.
            return Some(if n % 2 == 1 { present[n / 2] } else { 0.5 * present[n / 2 - 1] + 0.5 * present[n / 2] });
        }
        let mean = present.iter().map(|x| x / n as f64).sum::<f64>();
        let correction = present.iter().map(|x| (x - mean) / n as f64).sum::<f64>();
        Some(if correction.is_finite() { mean + correction } else { mean })
    }
}
