//! What every column of a file is used for.

use std::collections::HashMap;

use glob::Pattern;

use crate::{Error, FileRemedy, ModelColumns, Request, Setting};

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
    /// The columns that have no name in the file.
    nameless: Vec<usize>,
    /// Names that several columns have in the file.
    twice: HashMap<String, Vec<usize>>,
}

/// A column whose name is not the one in the file, where it has none or that of another column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The column, counted from 1.
    pub column: usize,
    /// The name in the file, which may be empty.
    pub before: String,
    /// Its name.
    pub name: String,
}

/// What a column is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnUse {
    Target,
    Feature,
    /// A feature whose values are labels, whatever they look like.
    Label,
    /// What tells rows apart.
    Id,
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

    /// A column without a name is called by its number, as `x3`; of those with the same name the second is `name.1`, the third
    /// `name.2` and so on, as data frames have it.
    pub(crate) fn new(file: &'a str, mut names: Vec<String>) -> Self {
        let mut places = HashMap::with_capacity(names.len());
        let (mut nameless, mut again) = (Vec::new(), Vec::new());
        for (place, name) in names.iter().enumerate() {
            if name.is_empty() {
                nameless.push(place);
            } else if places.contains_key(name) {
                again.push(place);
            } else {
                places.insert(name.clone(), place);
            }
        }
        let mut twice: HashMap<String, Vec<usize>> = HashMap::new();
        for &place in nameless.iter().chain(&again) {
            let own = std::mem::take(&mut names[place]);
            let all = twice.entry(own.clone()).or_insert_with(|| places.get(&own).copied().into_iter().collect());
            all.push(place);
            let first = if own.is_empty() { format!("x{}", place + 1) } else { format!("{own}.{}", all.len() - 1) };
            let others = (1..).map(|number| format!("{first}.{number}"));
            let free = std::iter::once(first.clone()).chain(others).find(|name| !places.contains_key(name));
            let name = free.unwrap_or(first);
            places.insert(name.clone(), place);
            names[place] = name;
        }
        twice.remove("");
        Self { file, all: names, places, nameless, twice }
    }

    /// The columns that have no name in the file.
    pub(crate) fn nameless(&self) -> &[usize] {
        &self.nameless
    }

    /// Speaks no more of a column without a name that is not used.
    pub(crate) fn forget_nameless(&mut self, place: usize) {
        self.nameless.retain(|nameless| *nameless != place);
    }

    /// The columns whose names are not those of the file.
    pub(crate) fn into_renamed(self) -> Vec<Renamed> {
        let Self { mut all, nameless, twice, .. } = self;
        let again =
            twice.iter().flat_map(|(before, places)| places[1..].iter().map(move |place| (*place, &before[..])));
        let mut renamed: Vec<(usize, &str)> = nameless.iter().map(|place| (*place, "")).chain(again).collect();
        renamed.sort_unstable();
        let mut name = |place: usize| std::mem::take(&mut all[place]);
        renamed
            .into_iter()
            .map(|(place, before)| Renamed { column: place + 1, before: before.to_owned(), name: name(place) })
            .collect()
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
        if let Some(places) = self.twice.get(name.trim()) {
            let (file, name) = (self.file.to_owned(), name.trim().to_owned());
            return Err(Error::AmbiguousColumn { file, setting, name, first: places[0] + 1, second: places[1] + 1 });
        }
        if let Some(&place) = self.places.get(name).or_else(|| self.places.get(name.trim())) {
            return Ok(place);
        }
        match name.trim().parse::<usize>() {
            Ok(number) if (1..=self.len()).contains(&number) => Ok(number - 1),
            _ => Err(self.unknown(name, setting)),
        }
    }

    /// The places of a list of names; each entry is one name, or several separated by commas.
    pub(crate) fn places(&self, list: &[String], setting: Setting) -> Result<Vec<usize>, Error> {
        let mut places = Vec::new();
        for entry in list {
            // A name may contain a comma, and be that of several columns.
            if let Some(all) = self.twice.get(entry) {
                places.extend(all);
                continue;
            }
            if let Some(&place) = self.places.get(entry) {
                places.push(place);
                continue;
            }
            for name in entry.split(',').filter(|name| !name.trim().is_empty()) {
                match self.place(name, setting) {
                    Ok(place) => places.push(place),
                    Err(Error::AmbiguousColumn { name, .. }) => places.extend(&self.twice[&name]),
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
            return self.with_id(self.of_model(model, request.id.as_deref())?, request);
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
        if let Some(id) = &request.id {
            uses[self.place(id, Setting::Id)?] = ColumnUse::Dropped;
        }
        uses[target] = ColumnUse::Target;
        let uses = self.with_id(uses, request)?;
        if uses.iter().any(|column| column.is_feature()) {
            return Ok(uses);
        }
        let (file, target) = (self.file.to_owned(), self.name(target).to_owned());
        Err(Error::NoFeatures { file, target, columns: self.len() })
    }

    /// The same with the column that tells rows apart, which is nothing else.
    fn with_id(&self, mut uses: Vec<ColumnUse>, request: &Request) -> Result<Vec<ColumnUse>, Error> {
        let Some(id) = &request.id else { return Ok(uses) };
        let place = self.place(id, Setting::Id)?;
        if uses[place] != ColumnUse::Dropped {
            let what = if uses[place] == ColumnUse::Target { "it is the target" } else { "the model is made of it" };
            let place = format!("column {:?}", self.name(place));
            return Err(Error::unsupported(self.file, place, what, FileRemedy::Unset(Setting::Id)));
        }
        uses[place] = ColumnUse::Id;
        Ok(uses)
    }

    /// The columns that a model was fitted to, each of which must be there; all columns but the one that tells rows apart if it
    /// has no names.
    fn of_model(&self, model: &ModelColumns, id: Option<&str>) -> Result<Vec<ColumnUse>, Error> {
        if model.names.is_empty() {
            let mut uses = vec![ColumnUse::Feature; self.len()];
            if let Some(id) = id {
                uses[self.place(id, Setting::Id)?] = ColumnUse::Dropped;
            }
            return Ok(uses);
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
