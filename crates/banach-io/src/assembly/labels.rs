//! Columns of text: which hold labels, and the columns of 0 and 1 that these become.

use std::collections::HashMap;

use super::{Assembly, Dictionary, MISSING, Role, bytes_of_names, label};
use crate::{
    At, Encoding, Error, FileRemedy, Unknown, UnknownLabels,
    date::is_date,
    field::{Field, shown},
    room::reserve,
    written::decimal_comma,
};

/// What columns of labels have become.
#[derive(Default)]
pub(super) struct Encoded {
    /// The names of all columns.
    pub names: Vec<String>,
    pub encodings: Vec<Encoding>,
    pub unknown: Vec<UnknownLabels>,
}

impl<'a> Assembly<'a> {
    /// Decides for every column with text whether it holds labels, or numbers some of which are missing; a column that
    /// holds both, or a different text in every row, is refused.
    pub(super) fn settle_texts(&mut self) -> Result<(), Error> {
        let (mut wrong, mut identifiers, mut dates) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = Vec::new();
        for (feature, &place) in self.features.iter().enumerate() {
            let Some(dictionary) = self.dictionaries.get(&place) else { continue };
            if matches!(self.roles[place], Role::Label(_)) {
                continue;
            }
            let column = &self.values[feature * self.rows..(feature + 1) * self.rows];
            let has_numbers = column.iter().any(|x| !x.is_nan());
            let is_text = |(text, _): &&(String, usize)| !Field::is_missing_number(text);
            let text = dictionary.labels.iter().find(is_text);
            let comma = || dictionary.labels.iter().find(|(text, _)| decimal_comma(text));
            match (text, if has_numbers { text } else { comma() }) {
                (None, _) => numbers.push(place),
                (_, Some((text, row))) => wrong.push((*row, place, shown(text.as_bytes()))),
                // A model knows which columns hold labels.
                (Some((text, row)), None) if self.request.model.is_some() => {
                    wrong.push((*row, place, shown(text.as_bytes())));
                }
                (Some((text, _)), None) if dictionary.labels.iter().all(|(text, _)| is_date(text)) => {
                    dates.push((place, shown(text.as_bytes())));
                }
                (Some((text, _)), None) => {
                    let labelled = column.iter().filter(|x| label(**x).is_some()).count();
                    if labelled > 2 && labelled == dictionary.labels.len() {
                        identifiers.push((place, shown(text.as_bytes())));
                    }
                }
            }
        }
        let name = |place: usize| self.names.name(place);
        let file = self.file.to_owned();
        if let Some((row, place, value)) = wrong.iter().min() {
            if self.request.model.is_some() {
                let instead = if decimal_comma(value) { FileRemedy::DecimalComma } else { FileRemedy::FittedToNumbers };
                return Err(self.unfit(*row, *place, format!("{value:?} is not a number"), instead));
            }
            let drop = wrong.iter().map(|(_, place, _)| name(*place)).collect::<Vec<_>>().join(",");
            let (at, column, value) = (self.lines.at(*row), name(*place).to_owned(), value.clone());
            return Err(Error::NotANumber { file, at, column, value, drop });
        }
        if let Some((place, value)) = dates.first() {
            let drop = dates.iter().map(|(place, _)| name(*place)).collect::<Vec<_>>().join(",");
            return Err(Error::Dates { file, column: name(*place).to_owned(), value: value.clone(), drop });
        }
        if let Some((place, value)) = identifiers.first() {
            let drop = identifiers.iter().map(|(place, _)| name(*place)).collect::<Vec<_>>().join(",");
            return Err(Error::Identifiers { file, column: name(*place).to_owned(), value: value.clone(), drop });
        }
        for place in numbers {
            for (text, row) in self.dictionaries.remove(&place).into_iter().flat_map(|column| column.labels) {
                self.note_missing(place, row, &text);
            }
        }
        Ok(())
    }

    /// Turns every column of labels into one column of 0 and 1 for every label, or for the second of two.
    pub(super) fn one_hot(&mut self) -> Result<Encoded, Error> {
        let name = |place: &usize| self.names.name(*place).to_owned();
        if self.dictionaries.is_empty() && self.features.iter().all(|place| self.known(*place).is_none()) {
            return Ok(Encoded { names: self.features.iter().map(name).collect(), ..Encoded::default() });
        }
        let rows = self.rows;
        let (mut names, mut sources, mut encodings) = (Vec::new(), Vec::new(), Vec::new());
        // For every feature its first new column, and the labels of those that have any.
        let mut plan: Vec<(usize, Option<Vec<usize>>)> = Vec::with_capacity(self.features.len());
        let mut unknown = Vec::new();
        let nothing = Dictionary::default();
        for (feature, place) in self.features.iter().enumerate() {
            let first = names.len();
            // All labels of a column that a model knows may be missing.
            let known = self.known(*place);
            let Some(dictionary) = self.dictionaries.get(place).or(known.map(|_| &nothing)) else {
                plan.push((first, None));
                names.push(name(place));
                sources.push(*place);
                continue;
            };
            if let Some(known) = known {
                let labels = self.as_known(*place, dictionary, known)?;
                unknown.extend(self.unknown_labels(feature, dictionary, known));
                names.extend(known.variables());
                sources.extend(labels.iter().map(|_| *place));
                encodings.push(known.clone());
                plan.push((first, Some(labels)));
                continue;
            }
            let mut met = vec![false; dictionary.labels.len()];
            let column = &self.values[feature * rows..(feature + 1) * rows];
            column.iter().filter_map(|x| label(*x)).for_each(|label| met[label] = true);
            let mut order: Vec<usize> = (0..met.len()).filter(|label| met[*label]).collect();
            let text = |label: usize| &dictionary.labels[label].0;
            order.sort_by(|a, b| text(*a).cmp(text(*b)));
            if order.is_empty() {
                return Err(Error::AllMissing { file: self.file.to_owned(), column: name(place) });
            }
            let labels = order.iter().map(|label| text(*label).clone()).collect();
            encodings.push(Encoding { column: name(place), labels });
            if order.len() == 2 {
                order.remove(0);
            }
            names.extend(order.iter().map(|label| format!("{}={}", self.names.name(*place), text(*label))));
            sources.extend(order.iter().map(|_| *place));
            plan.push((first, Some(order)));
        }
        let mut places = HashMap::new();
        for (name, place) in names.iter().zip(&sources) {
            if let Some(first) = places.insert(name, *place) {
                let (name, first, second) = (name.clone(), first + 1, place + 1);
                return Err(Error::DuplicateName { file: self.file.to_owned(), name, first, second });
            }
        }
        let (at, old) = (At::Row(rows as u64), self.values.len());
        self.rows_held.set(8 * (rows as u64).saturating_mul(names.len() as u64), at)?;
        self.names_held.set(bytes_of_names(&names), at)?;
        // From the last to the first, so that nothing is overwritten before it has moved.
        reserve(&mut self.values, (names.len() * rows).saturating_sub(old), self.file, at)?;
        self.values.resize(names.len() * rows, 0.0);
        for (feature, (first, labels)) in plan.into_iter().enumerate().rev() {
            let column = feature * rows..(feature + 1) * rows;
            let Some(labels) = labels else {
                self.values.copy_within(column, first * rows);
                continue;
            };
            let codes = self.values[column].to_vec();
            for (at, wanted) in labels.into_iter().enumerate() {
                let new = &mut self.values[(first + at) * rows..(first + at + 1) * rows];
                for (new, code) in new.iter_mut().zip(&codes) {
                    *new = label(*code).map_or(MISSING, |label| f64::from(u8::from(label == wanted)));
                }
            }
        }
        self.fill_unknown(&names, &unknown);
        Ok(Encoded { names, encodings, unknown })
    }

    /// What a model knows of a column of labels.
    fn known(&self, place: usize) -> Option<&'a Encoding> {
        let encodings = &self.request.model.as_ref()?.encodings;
        encodings.iter().find(|encoding| encoding.column == self.names.name(place))
    }

    /// For every variable that a model has made of a column of labels the place of its label in the dictionary, beyond
    /// its end if the label is not there. A label that the model has not met is refused, unless it is to be ignored.
    fn as_known(&self, place: usize, dictionary: &Dictionary, known: &Encoding) -> Result<Vec<usize>, Error> {
        let ignored = self.request.model.as_ref().is_some_and(|model| model.unknown == Unknown::Ignore);
        let new = dictionary.labels.iter().find(|(label, _)| !known.labels.contains(label));
        if let Some((label, row)) = new.filter(|_| !ignored) {
            let problem = format!("the model was fitted without the label {:?}", shown(label.as_bytes()));
            return Err(self.unfit(*row, place, problem, FileRemedy::IgnoreUnknown));
        }
        let find = |label: &String| dictionary.places.get(label).copied().unwrap_or(usize::MAX);
        Ok(known.shown().iter().map(find).collect())
    }
    /// The labels of a column that a model has not met, and the rows that have them.
    fn unknown_labels(&self, feature: usize, dictionary: &Dictionary, known: &Encoding) -> Option<UnknownLabels> {
        let new: Vec<bool> = dictionary.labels.iter().map(|(label, _)| !known.labels.contains(label)).collect();
        let column = &self.values[feature * self.rows..(feature + 1) * self.rows];
        let is_new = |x: &f64| label(*x).is_some_and(|label| new[label]);
        let rows: Vec<usize> = (0..self.rows).filter(|row| is_new(&column[*row])).collect();
        let labels = dictionary.labels.iter().zip(&new).filter(|(_, new)| **new).map(|((label, _), _)| label.clone());
        let (column, variables) = (known.column.clone(), known.variables().collect());
        (!rows.is_empty()).then(|| UnknownLabels { column, labels: labels.collect(), rows, variables })
    }

    /// Gives the variables of labels that a model has not met the values that they have on average, as if the label were missing.
    fn fill_unknown(&mut self, names: &[String], unknown: &[UnknownLabels]) {
        let Some(model) = self.request.model.as_ref().filter(|_| !unknown.is_empty()) else { return };
        let fills = model.fills_of(names);
        for UnknownLabels { rows, variables, .. } in unknown {
            for (at, _) in names.iter().enumerate().filter(|(_, name)| variables.contains(name)) {
                rows.iter().for_each(|row| self.values[at * self.rows + row] = fills[at].unwrap_or(0.0));
            }
        }
    }
}
