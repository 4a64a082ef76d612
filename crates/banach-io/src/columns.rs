//! Which column plays which part.

use std::collections::HashMap;

use crate::Error;

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

/// What is done with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Target,
    Feature,
    Dropped,
}

impl<'a> Names<'a> {
    pub(crate) fn new(file: &'a str, names: Vec<String>) -> Result<Self, Error> {
        let mut places = HashMap::with_capacity(names.len());
        if names.iter().all(|name| name.parse::<f64>().is_ok()) {
            let first = names.first().cloned().unwrap_or_default();
            return Err(Error::NoHeader { file: file.to_owned(), first });
        }
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

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn name(&self, place: usize) -> &str {
        &self.all[place]
    }

    /// The place of a column by its name, or by its number from 1 where no column has that name.
    pub(crate) fn place(&self, name: &str, role: &'static str) -> Result<usize, Error> {
        if let Some(&place) = self.places.get(name).or_else(|| self.places.get(name.trim())) {
            return Ok(place);
        }
        match name.trim().parse::<usize>() {
            Ok(number) if (1..=self.len()).contains(&number) => Ok(number - 1),
            _ => Err(self.unknown(name, role)),
        }
    }

    /// The places of a list of names; each entry is one name, or several separated by commas.
    fn places(&self, list: &[String], role: &'static str) -> Result<Vec<usize>, Error> {
        let mut places = Vec::new();
        for entry in list {
            // A name may contain a comma.
            if let Some(&place) = self.places.get(entry) {
                places.push(place);
                continue;
            }
            for name in entry.split(',').filter(|name| !name.trim().is_empty()) {
                places.push(self.place(name, role)?);
            }
        }
        Ok(places)
    }

    /// The part of every column. Where features are named, all others are dropped.
    pub(crate) fn parts(&self, target: Option<&str>, features: &[String], drop: &[String]) -> Result<Vec<Part>, Error> {
        let Some(target) = target else { return self.exactly(features) };
        let target = self.place(target, "--target")?;
        let mut parts = vec![if features.is_empty() { Part::Feature } else { Part::Dropped }; self.len()];
        for place in self.places(features, "--features")? {
            if place == target {
                return Err(Error::TargetAsFeature { name: self.name(target).to_owned() });
            }
            parts[place] = Part::Feature;
        }
        for place in self.places(drop, "--drop")? {
            parts[place] = Part::Dropped;
        }
        parts[target] = Part::Target;
        if parts.contains(&Part::Feature) {
            return Ok(parts);
        }
        let (file, target) = (self.file.to_owned(), self.name(target).to_owned());
        Err(Error::NoFeatures { file, target, columns: self.len() })
    }

    /// The columns of these names, each of which must be there; all columns if there is no name.
    fn exactly(&self, names: &[String]) -> Result<Vec<Part>, Error> {
        if names.is_empty() {
            return Ok(vec![Part::Feature; self.len()]);
        }
        let mut parts = vec![Part::Dropped; self.len()];
        let mut missing = Vec::new();
        for name in names {
            match self.places.get(name).or_else(|| self.places.get(name.trim())) {
                Some(&place) => parts[place] = Part::Feature,
                None => missing.push(name.clone()),
            }
        }
        if missing.is_empty() {
            return Ok(parts);
        }
        let unused = (0..self.len()).filter(|place| parts[*place] == Part::Dropped);
        let extra = unused.map(|place| self.name(place).to_owned()).collect();
        Err(Error::MissingColumns { file: self.file.to_owned(), missing, extra })
    }

    fn unknown(&self, name: &str, role: &'static str) -> Error {
        let asked = name.to_lowercase();
        let similarity = |other: &String| strsim::jaro_winkler(&asked, &other.to_lowercase());
        let mut near: Vec<(f64, &String)> = self.all.iter().map(|name| (similarity(name), name)).collect();
        near.retain(|(similarity, _)| *similarity >= SIMILAR);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near = near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.clone()).collect();
        Error::UnknownColumn { file: self.file.to_owned(), role, name: name.to_owned(), near, names: self.all.clone() }
    }
}
