//! What is known of the samples beside their genotypes: tables of phenotypes and covariates, and what the `.fam` says.

use std::{collections::HashMap, fs::File, path::Path};

use super::{
    cohort::Cohort,
    field_lines::FieldLines,
    samples::{Samples, given},
};
use crate::{
    At, Error, FileRemedy, ModelColumns, Setting,
    columns::Names,
    field::Field,
    read::input::Input,
    room::{Held, Room},
};

/// What the `.fam` has of every sample: its family, its name, its sex, and the phenotype where no table has it.
const FAMILY: &str = "FID";
const NAME: &str = "IID";
const SEX: &str = "sex";
const PHENOTYPE: &str = "phenotype";

/// Bytes that a sample takes in the index of a table.
const INDEX: u64 = 96;

/// Where the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A table, and the column there.
    Table(usize, usize),
    Family,
    Name,
    Sex,
    Phenotype,
}

/// All columns that are no genotypes.
pub(super) struct Traits<'a> {
    file: &'a str,
    samples: &'a Samples,
    tables: Vec<TraitTable<'a>>,
    origins: Vec<Origin>,
    names: Names<'a>,
    /// The columns that can be predicted come first: so many.
    phenotypes: usize,
}

/// A text with a row for some of the samples.
struct TraitTable<'a> {
    text: FieldLines,
    /// The line of every sample.
    lines: Vec<Option<usize>>,
    unmatched: usize,
    _held: Held<'a>,
}

impl<'a> Traits<'a> {
    pub(super) fn read(cohort: &'a Cohort, samples: &'a Samples, room: &Room<'a>) -> Result<Self, Error> {
        let (mut tables, mut origins, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut phenotypes = 0;
        let files = [(&cohort.phenotypes, "PHENO"), (&cohort.covariate_file, "COVAR")];
        for (path, nameless) in files {
            if let Some(path) = path {
                let (table, columns) = TraitTable::read(path, nameless, samples, room)?;
                for (column, name) in columns {
                    origins.push(Origin::Table(tables.len(), column));
                    names.push(name);
                }
                tables.push(table);
            }
            if nameless == "PHENO" {
                phenotypes = names.len();
            }
        }
        for (origin, name) in
            [(Origin::Phenotype, PHENOTYPE), (Origin::Sex, SEX), (Origin::Family, FAMILY), (Origin::Name, NAME)]
        {
            let known = names.iter().any(|known| known.eq_ignore_ascii_case(name));
            if !known && (origin != Origin::Phenotype || cohort.phenotypes.is_none()) {
                names.push(name.to_owned());
                origins.push(origin);
            }
        }
        if cohort.phenotypes.is_none() {
            // A table of covariates may be all that there is.
            phenotypes = names.len();
        }
        // What has no such column is the table, if there is one.
        let tables_of = cohort.phenotypes.as_deref().or(cohort.covariate_file.as_deref());
        let file = tables_of.and_then(Path::to_str).unwrap_or(samples.file());
        Ok(Self { file, samples, tables, origins, names: Names::new(file, names), phenotypes })
    }

    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    /// The name of a column; no other has it.
    pub(super) fn name(&self, place: usize) -> &str {
        self.names.name(place)
    }

    /// Whether a column is one of a table, and not of the `.fam`.
    pub(super) fn is_of_table(&self, place: usize) -> bool {
        matches!(self.origins[place], Origin::Table(..))
    }

    /// The rows of tables whose sample the `.fam` does not have.
    pub(super) fn unmatched(&self) -> usize {
        self.tables.iter().map(|table| table.unmatched).sum()
    }

    /// The column to predict: as named, or the only one that there is.
    pub(super) fn target(&self, asked: Option<&str>, covariates: &[usize]) -> Result<usize, Error> {
        if let Some(name) = asked {
            return self.names.place(name, Setting::Target);
        }
        let of_table = |place: &usize| self.is_of_table(*place) && !covariates.contains(place);
        let mut free = (0..self.phenotypes).filter(of_table);
        let of_fam = self.origins.iter().position(|origin| *origin == Origin::Phenotype);
        match (of_fam, free.next(), free.next()) {
            (Some(place), ..) | (None, Some(place), None) => Ok(place),
            _ => {
                let names = (0..self.len()).map(|place| self.name(place).to_owned()).collect();
                Err(Error::NoTarget { file: self.file.to_owned(), names })
            }
        }
    }

    /// The columns that are variables.
    pub(super) fn covariates(&self, asked: &[String]) -> Result<Vec<usize>, Error> {
        self.names.places(asked, Setting::Covariates)
    }

    /// What a sample has in a column, unless it is missing.
    pub(super) fn value(&self, sample: usize, place: usize) -> Option<&str> {
        match self.origins[place] {
            Origin::Family => Some(self.samples.family(sample)),
            Origin::Name => Some(self.samples.name(sample)),
            Origin::Sex => self.samples.sex(sample),
            Origin::Phenotype => self.samples.phenotype(sample),
            Origin::Table(table, column) => {
                let TraitTable { text, lines, .. } = &self.tables[table];
                given(text.field(lines[sample]?, column))
            }
        }
    }

    /// Refuses new samples of which something is not known that a model is made of, beside variants.
    pub(super) fn check_known(&self, model: &ModelColumns, names: &[usize], file: &str) -> Result<(), Error> {
        let is_known = |name: &str| (0..self.len()).any(|place| self.name(place) == name.trim());
        let of_labels = |name: &String| {
            let columns = model.encodings.iter().filter(|encoding| encoding.variables().any(|own| own == *name));
            columns.into_iter().any(|encoding| is_known(&encoding.column))
        };
        let missing: Vec<String> = names
            .iter()
            .map(|at| &model.names[*at])
            .filter(|name| !is_known(name) && !of_labels(name))
            .cloned()
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::MissingColumns { file: file.to_owned(), missing, extra: Vec::new() })
    }

    /// Refuses a target that no sample has.
    pub(super) fn check_target(&self, target: usize, kept: &[usize]) -> Result<(), Error> {
        if !kept.is_empty() {
            return Ok(());
        }
        let (file, column) = (self.file, format!("column {:?}", self.names.name(target)));
        let problem = "no sample of the .fam has this phenotype together with all covariates";
        Err(Error::unsupported(file, column, problem, FileRemedy::Name(Setting::Phenotypes)))
    }
}

impl<'a> TraitTable<'a> {
    /// The table, and the columns of it that are no names of samples.
    fn read(
        path: &Path,
        nameless: &str,
        samples: &Samples,
        room: &Room<'a>,
    ) -> Result<(Self, Vec<(usize, String)>), Error> {
        let file = path.display().to_string();
        let opened = File::open(path).map_err(|source| Error::Read { file: file.clone(), source })?;
        let (text, text_held) = FieldLines::read(Input::File(opened), &room.of(&file))?;
        let text = text.separated();
        let mut held = room.whole_part();
        // What the text took counts on with its index.
        drop(text_held);
        held.set(INDEX * (samples.len() + text.lines()) as u64 + text.bytes(), At::Line(1))?;
        let first: Vec<&str> = text.fields(0).map(|name| name.trim_start_matches('#')).collect();
        let find = |name: &str| first.iter().position(|own| own.eq_ignore_ascii_case(name));
        let (family, name) = (find(FAMILY), find(NAME));
        // Tables of PLINK 1 need no names of columns.
        let headless = name.is_none()
            && first.len() > 2
            && first[2..]
                .iter()
                .all(|field| matches!(Field::parse(field.as_bytes()), Field::Number(_) | Field::Missing));
        let (family, name) = match name {
            Some(name) => (family, name),
            None if headless => (Some(0), 1),
            None => {
                let problem = "no column is called IID, the name of the sample";
                let instead =
                    FileRemedy::Do("name the columns in the first line: FID IID and phenotypes, or IID and phenotypes");
                return Err(Error::unsupported(&file, At::Line(1), problem, instead));
            }
        };
        let names: Vec<(usize, String)> = (0..first.len())
            .filter(|column| Some(*column) != family && *column != name)
            .enumerate()
            .map(|(at, column)| {
                (column, if headless { format!("{nameless}{}", at + 1) } else { first[column].to_owned() })
            })
            .collect();
        let fields = first.len();
        let index = Index::new(samples, family.is_some());
        let (mut lines, mut unmatched) = (vec![None; samples.len()], 0);
        for line in usize::from(!headless)..text.lines() {
            let at = At::Line(line as u64 + 1);
            let count = text.fields(line).count();
            if count != fields {
                return Err(Error::Ragged { file, at, got: count, expected: fields });
            }
            let own = text.field(line, name);
            let family = family.map(|column| text.field(line, column));
            match index.find(family, own) {
                Found::One(sample) => {
                    if let Some(before) = lines[sample].replace(line) {
                        let problem = format!("the sample {own:?} is also in line {}", before + 1);
                        let instead = FileRemedy::Do("a table has one row for a sample; keep one of them");
                        return Err(Error::unsupported(&file, at, problem, instead));
                    }
                }
                Found::Several => {
                    let problem =
                        format!("several samples of {} are called {own:?}, in different families", samples.file());
                    return Err(Error::unsupported(
                        &file,
                        at,
                        problem,
                        FileRemedy::Do("add the column FID, the family"),
                    ));
                }
                Found::None => unmatched += 1,
            }
        }
        if lines.iter().all(Option::is_none) {
            let told = |line: usize| {
                let family = family.map_or(String::new(), |column| format!("{} ", text.field(line, column)));
                format!("{family}{}", text.field(line, name))
            };
            let problem = format!(
                "none of its samples is in {}: here {:?}, there \"{} {}\"",
                samples.file(),
                told(usize::from(!headless).min(text.lines() - 1)),
                samples.family(0),
                samples.name(0)
            );
            let instead = FileRemedy::Do(
                "samples are found by FID and IID, or by IID where there is no FID; write them as the .fam does",
            );
            return Err(Error::unsupported(&file, "its samples", problem, instead));
        }
        Ok((Self { text, lines, unmatched, _held: held }, names))
    }
}

/// The samples by their names.
enum Index<'a> {
    Pairs(HashMap<(&'a str, &'a str), usize>),
    /// None of a name that several have.
    Names(HashMap<&'a str, Option<usize>>),
}

enum Found {
    One(usize),
    Several,
    None,
}

impl<'a> Index<'a> {
    fn new(samples: &'a Samples, families: bool) -> Self {
        let all = 0..samples.len();
        if families {
            return Self::Pairs(all.map(|sample| ((samples.family(sample), samples.name(sample)), sample)).collect());
        }
        let mut names = HashMap::with_capacity(samples.len());
        for sample in all {
            names.entry(samples.name(sample)).and_modify(|known| *known = None).or_insert(Some(sample));
        }
        Self::Names(names)
    }

    fn find(&self, family: Option<&str>, name: &str) -> Found {
        match self {
            Self::Pairs(pairs) => {
                pairs.get(&(family.unwrap_or_default(), name)).map_or(Found::None, |at| Found::One(*at))
            }
            Self::Names(names) => match names.get(name) {
                Some(Some(sample)) => Found::One(*sample),
                Some(None) => Found::Several,
                None => Found::None,
            },
        }
    }
}
