//! What every column of a file is used for.

use std::collections::HashMap;

use glob::Pattern;

use crate::{Error, ModelColumns, Request, Setting};

/// Names that look alike are at least this similar.
const SIMILAR: f64 = 0.8;

/// The most names to suggest.
const SUGGESTIONS: usize = 3;

/// The names of the columns of a file, all different.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    file: &'a str,
    all: Vec<String>,
    places: HashMap<String, usize>,
}

/// What a column is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnUse {
    Target,
    Feature,
    /// A feature whose values are labels, whatever they look like.
    Label,
    Dropped,
}

impl ColumnUse {
    pub(crate) fn is_feature(self) -> bool {
        matches!(self, Self::Feature | Self::Label)
    }
}

impl<'a> Names<'a> {
    /// The names `x1`, `x2`, ... for columns that have none.
    pub(crate) fn numbered(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("x{number}")).collect()
    }

    pub(crate) fn new(file: &'a str, names: Vec<String>) -> Result<Self, Error> {
        let mut places = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(Error::EmptyName { file: file.to_owned(), column: place + 1, columns: names.len() });
            }
            if let Some(first) = places.insert(name.clone(), place) {
                let (name, first, second) = (name.clone(), first + 1, place + 1);
                return Err(Error::DuplicateName { file: file.to_owned(), name, first, second });
            }
        }
        Ok(Self { file, all: names, places })
    }

    /// Forgets which name is where: once the use of every column is known, nobody asks.
    pub(crate) fn forget_places(&mut self) {
        self.places = HashMap::new();
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn name(&self, place: usize) -> &str {
        &self.all[place]
    }

    /// The place of a column by its name, or by its number from 1 where no column has that name.
    pub(crate) fn place(&self, name: &str, setting: Setting) -> Result<usize, Error> {
        if let Some(&place) = self.places.get(name).or_else(|| self.places.get(name.trim())) {
            return Ok(place);
        }
        match name.trim().parse::<usize>() {
            Ok(number) if (1..=self.len()).contains(&number) => Ok(number - 1),
            _ => Err(self.unknown(name, setting)),
        }
    }

    /// The places of a list of names; each entry is one name, or several separated by commas.
    fn places(&self, list: &[String], setting: Setting) -> Result<Vec<usize>, Error> {
        let mut places = Vec::new();
        for entry in list {
            // A name may contain a comma.
            if let Some(&place) = self.places.get(entry) {
                places.push(place);
                continue;
            }
            for name in entry.split(',').filter(|name| !name.trim().is_empty()) {
                match self.place(name, setting) {
                    Ok(place) => places.push(place),
                    Err(unknown) => places.extend(self.matching(name.trim()).ok_or(unknown)?),
                }
            }
        }
        Ok(places)
    }

    /// The columns that a pattern with `*`, `?` or `[a-z]` matches; `None` if there are none.
    fn matching(&self, name: &str) -> Option<Vec<usize>> {
        let pattern = Pattern::new(name).ok()?;
        let places: Vec<usize> = (0..self.len()).filter(|&place| pattern.matches(&self.all[place])).collect();
        (!places.is_empty()).then_some(places)
    }

    /// Whether an entry of a list is the very name of a column, or its number.
    fn names_one(&self, list: &[String], place: usize) -> bool {
        let names = |name: &str| self.place(name, Setting::Features).is_ok_and(|named| named == place);
        list.iter().any(|entry| names(entry) || entry.split(',').any(names))
    }

    /// What every column is used for. Where features are named, all others are dropped.
    pub(crate) fn uses(&self, request: &Request) -> Result<Vec<ColumnUse>, Error> {
        let Request { features, drop, categorical, model, .. } = request;
        if let Some(model) = model {
            return self.of_model(model);
        }
        let Some(target) = &request.target else {
            return Err(Error::NoTarget { file: self.file.to_owned(), names: self.all.clone() });
        };
        let target = self.place(target, Setting::Target)?;
        let mut uses = vec![if features.is_empty() { ColumnUse::Feature } else { ColumnUse::Dropped }; self.len()];
        for place in self.places(features, Setting::Features)? {
            if place == target && self.names_one(features, target) {
                return Err(Error::TargetAsFeature { name: self.name(target).to_owned() });
            }
            uses[place] = ColumnUse::Feature;
        }
        for place in self.places(categorical, Setting::Categorical)? {
            if uses[place] == ColumnUse::Feature {
                uses[place] = ColumnUse::Label;
            }
        }
        for place in self.places(drop, Setting::Drop)? {
            uses[place] = ColumnUse::Dropped;
        }
        uses[target] = ColumnUse::Target;
        if uses.iter().any(|column| column.is_feature()) {
            return Ok(uses);
        }
        let (file, target) = (self.file.to_owned(), self.name(target).to_owned());
        Err(Error::NoFeatures { file, target, columns: self.len() })
    }

    /// The columns that a model was fitted to, each of which must be there; all columns if it has no names.
    fn of_model(&self, model: &ModelColumns) -> Result<Vec<ColumnUse>, Error> {
        if model.names.is_empty() {
            return Ok(vec![ColumnUse::Feature; self.len()]);
        }
        let mut uses = vec![ColumnUse::Dropped; self.len()];
        // For every variable that is made of labels their column.
        let mut sources = HashMap::new();
        for encoding in &model.encodings {
            sources.extend(encoding.variables().map(|name| (name, &encoding.column)));
        }
        let mut missing: Vec<String> = Vec::new();
        for name in &model.names {
            let source = sources.get(name);
            let labels = source.and_then(|column| self.places.get(*column));
            match (labels, self.places.get(name).or_else(|| self.places.get(name.trim()))) {
                (Some(&place), _) => uses[place] = ColumnUse::Label,
                // Somebody else has made numbers of the labels.
                (None, Some(&place)) => uses[place] = ColumnUse::Feature,
                (None, None) => {
                    let name = source.map_or(name, |column| *column);
                    if missing.last() != Some(name) {
                        missing.push(name.clone());
                    }
                }
            }
        }
        if missing.is_empty() {
            return Ok(uses);
        }
        let unused = (0..self.len()).filter(|place| uses[*place] == ColumnUse::Dropped);
        let extra = unused.map(|place| self.name(place).to_owned()).collect();
        Err(Error::MissingColumns { file: self.file.to_owned(), missing, extra })
    }

    fn unknown(&self, name: &str, setting: Setting) -> Error {
        let asked = name.to_lowercase();
        let similarity = |other: &String| strsim::jaro_winkler(&asked, &other.to_lowercase());
        let mut near: Vec<(f64, &String)> = self.all.iter().map(|name| (similarity(name), name)).collect();
        near.retain(|(similarity, _)| *similarity >= SIMILAR);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near = near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.clone()).collect();
        Error::UnknownColumn {
            file: self.file.to_owned(),
            setting,
            name: name.to_owned(),
            near,
            names: self.all.clone(),
        }
    }
}
