//! Genotypes of PLINK 1: a `.bed`, with its variants in a `.bim` and its samples in a `.fam`, and tables beside them.
//!
//! Samples are left out first, for want of a phenotype or a covariate, then variants by what the samples that are left have. A
//! genotype becomes a number in one place, [`Calls::decode`].

mod calls;
mod chromosomes;
mod cohort;
mod field_lines;
mod known;
mod samples;
mod sieve;
mod traits;
mod variants;

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
};

pub use self::cohort::{Allele, Cohort, Genotypes};
use self::{
    calls::Calls,
    field_lines::FieldLines,
    known::{Counted, Known, twice},
    samples::Samples,
    sieve::{Sieved, sieve},
    traits::Traits,
    variants::Variants,
};
use super::{Impute, ModelColumns, Request, failed, input::Input};
use crate::{
    At, Dataset, Error, FileRemedy,
    assembly::{Assembly, Role},
    at::Lines,
    room::{Held, Room},
};

/// Reads a `.bed` and what lies beside it.
pub(super) fn read_beside(path: &Path, request: &Request) -> Result<Dataset, Error> {
    let (inputs, names) = open(path)?;
    CohortFiles::open(inputs, &names, request)?.read(request)
}

/// The same from bytes.
pub(super) fn read_bytes(files: [&[u8]; 3], file: &str, request: &Request) -> Result<Dataset, Error> {
    let names = [file.to_owned(), format!("the .bim of {file}"), format!("the .fam of {file}")];
    CohortFiles::open(files.map(|bytes| Input::Stream(Box::new(bytes))), &names, request)?.read(request)
}

/// The variables, with their means over all samples.
pub(super) fn columns(path: &Path, request: &Request) -> Result<(ModelColumns, Genotypes), Error> {
    let (inputs, names) = open(path)?;
    let mut parts = CohortFiles::open(inputs, &names, request)?;
    let mut told = parts.told();
    let all: Vec<usize> = (0..parts.samples.len()).collect();
    let cohort = &request.cohort;
    let sieved = sieve((&mut parts.calls, &parts.variants), &all, cohort, &mut told, &parts.room)?;
    let names = parts.names(&sieved, cohort, &told)?;
    let mean = |frequency: f64| 2.0 * if cohort.counted == Allele::A1 { frequency } else { 1.0 - frequency };
    let fills = Some(sieved.counts.iter().map(|counts| mean(counts.frequency())).collect());
    Ok((ModelColumns { names, fills, ..ModelColumns::default() }, told))
}

/// What is wrong with genotypes that come by themselves.
pub(super) fn alone(file: &str, head: &[u8]) -> Error {
    let problem = "its .bim and its .fam are files beside it, which one stream does not have";
    let alone = || Error::unsupported(file, "its format", problem, FileRemedy::Do("name the .bed itself"));
    calls::check_head(file, head).err().unwrap_or_else(alone)
}

/// The three files, by the name of any of them or by what their names begin with.
fn open(path: &Path) -> Result<([Input<'static>; 3], [String; 3]), Error> {
    let ends = [".bed.gz", ".bed", ".bim", ".fam"];
    let begin = ends.iter().find_map(|end| path.to_str()?.strip_suffix(end)).map_or(path.to_path_buf(), PathBuf::from);
    let with = |end: &str| {
        let mut whole = begin.clone().into_os_string();
        whole.push(end);
        PathBuf::from(whole)
    };
    let bed = if path.extension().is_some_and(|end| end == "gz") { path.to_path_buf() } else { with(".bed") };
    let paths = [bed, with(".bim"), with(".fam")];
    let names = paths.clone().map(|path| path.display().to_string());
    let open = |at: usize| -> Result<Input<'static>, Error> {
        let unreadable = |source| Error::Read { file: names[at].clone(), source };
        Ok(Input::File(File::open(&paths[at]).map_err(unreadable)?))
    };
    Ok(([open(0)?, open(1)?, open(2)?], names))
}

/// The three files, read as far as needed to know that they belong together.
struct CohortFiles<'a> {
    room: Room<'a>,
    samples: Samples,
    variants: Variants,
    calls: Calls<'a>,
    _texts: [Held<'a>; 2],
}

impl<'a> CohortFiles<'a> {
    fn open([bed, bim, fam]: [Input<'_>; 3], names: &'a [String; 3], request: &Request) -> Result<Self, Error> {
        let room = Room::new(&names[0], request.memory);
        let (bed, head) = bed.unpacked().map_err(|error| failed(&names[0], error))?;
        // The commonest mistake is another kind of file.
        calls::check_head(&names[0], &head)?;
        let (fam, fam_held) = FieldLines::read(fam, &room.of(&names[2]))?;
        let samples = Samples::new(fam)?;
        let (bim, bim_held) = FieldLines::read(bim, &room.of(&names[1]))?;
        let variants = Variants::new(bim)?;
        let calls = Calls::open(bed, &room, samples.len(), variants.len())?;
        Ok(Self { room, samples, variants, calls, _texts: [fam_held, bim_held] })
    }

    fn told(&self) -> Genotypes {
        Genotypes { samples: self.samples.len(), variants: self.variants.len(), ..Genotypes::default() }
    }

    fn read(mut self, request: &Request) -> Result<Dataset, Error> {
        match &request.model {
            Some(model) => self.for_model(model, request),
            None => self.for_fit(request),
        }
    }

    /// The names of the variables of variants, no two of which may be the same.
    fn names(&self, sieved: &Sieved<'_>, cohort: &Cohort, told: &Genotypes) -> Result<Vec<String>, Error> {
        if sieved.variants.is_empty() {
            let Genotypes { variants, other_chromosomes, too_many_missing, too_rare, constant, .. } = told;
            let problem = format!(
                "none of {variants} is left: {other_chromosomes} are on other chromosomes, {too_many_missing} are missing too often, \
                 {too_rare} are too rare, {constant} are the same in all samples"
            );
            let instead = FileRemedy::Do("ask for more of them");
            return Err(Error::unsupported(self.room.file, "its variants", problem, instead));
        }
        let name = |variant: &usize| self.variants.variable(*variant, cohort.counted);
        let names: Vec<String> = sieved.variants.iter().map(name).collect();
        let mut known = HashMap::with_capacity(names.len());
        for (name, variant) in names.iter().zip(&sieved.variants) {
            if let Some(first) = known.insert(&name[..], *variant) {
                return Err(twice(&self.variants, name, first, *variant));
            }
        }
        Ok(names)
    }

    /// The family and the name of the sample of every row.
    fn names_of_rows(&self, data: &Dataset) -> Vec<[String; 2]> {
        let names = |row: usize| {
            let (At::Line(place) | At::Row(place)) = data.at(row);
            let sample = place as usize - 1;
            [self.samples.family(sample).to_owned(), self.samples.name(sample).to_owned()]
        };
        (0..data.table.rows()).map(names).collect()
    }

    /// What a model is fitted to: the variants that are left, the covariates and the phenotype.
    fn for_fit(&mut self, request: &Request) -> Result<Dataset, Error> {
        let (samples, cohort) = (&self.samples, &request.cohort);
        let traits = Traits::read(cohort, samples, &self.room)?;
        let mut covariates = traits.covariates(&cohort.covariates)?;
        let target = traits.target(request.target.as_deref(), &covariates)?;
        covariates.retain(|place| *place != target);
        let mut told = Genotypes { unmatched: traits.unmatched(), ..self.told() };
        let mut kept = Vec::new();
        for sample in 0..samples.len() {
            if traits.value(sample, target).is_none() {
                told.without_phenotype += 1;
            } else if covariates.iter().any(|place| traits.value(sample, *place).is_none()) {
                told.without_covariate += 1;
            } else {
                kept.push(sample);
            }
        }
        traits.check_target(target, &kept)?;
        let sieved = sieve((&mut self.calls, &self.variants), &kept, cohort, &mut told, &self.room)?;
        let names = self.names(&sieved, cohort, &told)?;
        told.second_allele = if cohort.counted == Allele::A2 { names.len() } else { 0 };
        let own = |places: &mut dyn Iterator<Item = usize>| -> Vec<String> {
            places.map(|place| traits.name(place).to_owned()).collect()
        };
        let unused = own(&mut (0..traits.len()).filter(|place| *place != target && !covariates.contains(place)));
        let mut features = request.features.clone();
        if !features.is_empty() {
            features.extend(own(&mut covariates.iter().copied()));
        }
        let whole = Request {
            target: Some(traits.name(target).to_owned()),
            features,
            drop: request.drop.iter().cloned().chain(unused).collect(),
            impute: Some(request.impute.unwrap_or(Impute::Mean)),
            ..request.clone()
        };
        let wanted: Vec<Counted> = sieved.variants.iter().map(|variant| (*variant, cohort.counted)).collect();
        let places: Vec<usize> = (0..traits.len()).collect();
        let table = Chosen { traits: &traits, places: &places, wanted: &wanted, samples: &kept };
        let data = table.assemble(names, &mut self.calls, &whole, &self.room)?;
        let dropped = told.samples - data.table.rows();
        told.names = self.names_of_rows(&data);
        Ok(Dataset { columns: self.variants.len() + traits.len(), dropped, genotypes: Some(told), ..data })
    }

    /// New samples of a model: its variants, each counted as it was, and its covariates.
    fn for_model(&mut self, model: &ModelColumns, request: &Request) -> Result<Dataset, Error> {
        let traits = Traits::read(&request.cohort, &self.samples, &self.room)?;
        let mut told = Genotypes { unmatched: traits.unmatched(), ..self.told() };
        let (wanted, names, places): (Vec<Counted>, Vec<String>, Vec<usize>) = if model.names.is_empty() {
            let counted = request.cohort.counted;
            let all = (0..self.variants.len()).map(|variant| (variant, counted)).collect();
            let names = (0..self.variants.len()).map(|variant| self.variants.variable(variant, counted)).collect();
            let id = request.id.as_ref().map(|id| traits.covariates(std::slice::from_ref(id))).transpose()?;
            (all, names, id.unwrap_or_default())
        } else {
            let known = Known::new(&model.names, &self.variants)?;
            traits.check_known(model, &known.others, self.room.file)?;
            let names = known.found.iter().map(|(_, at)| model.names[*at].clone()).collect();
            (known.found.into_iter().map(|(counted, _)| counted).collect(), names, (0..traits.len()).collect())
        };
        told.second_allele = wanted.iter().filter(|(_, counted)| *counted == Allele::A2).count();
        let samples: Vec<usize> = (0..self.samples.len()).collect();
        let table = Chosen { traits: &traits, places: &places, wanted: &wanted, samples: &samples };
        let mut data = table.assemble(names, &mut self.calls, request, &self.room)?;
        told.names = self.names_of_rows(&data);
        data.others.retain(|name| places.iter().any(|place| traits.name(*place) == name && traits.is_of_table(*place)));
        Ok(Dataset { columns: self.variants.len() + traits.len(), genotypes: Some(told), ..data })
    }
}

/// The part of everything that becomes a table.
struct Chosen<'a> {
    traits: &'a Traits<'a>,
    /// Columns of the traits.
    places: &'a [usize],
    wanted: &'a [Counted],
    samples: &'a [usize],
}

impl Chosen<'_> {
    /// The genotypes, whose columns have these names, and behind them the traits.
    fn assemble(
        &self,
        mut names: Vec<String>,
        calls: &mut Calls<'_>,
        request: &Request,
        room: &Room<'_>,
    ) -> Result<Dataset, Error> {
        let Self { traits, places, wanted, samples } = *self;
        names.extend(places.iter().map(|place| traits.name(*place).to_owned()));
        let mut assembly = Assembly::new(room.file, request, room, names)?;
        assembly.lines = Lines::of_rows();
        samples.iter().for_each(|sample| assembly.lines.push(*sample as u64 + 1));
        assembly.allocate(samples.len())?;
        let roles = assembly.roles().to_vec();
        let feature = |role: &Role| matches!(role, Role::Number(_) | Role::Label(_));
        let used: Vec<usize> = (0..wanted.len()).filter(|place| feature(&roles[*place])).collect();
        let counted: Vec<Counted> = used.iter().map(|place| wanted[*place]).collect();
        let rows = samples.len();
        let columns = assembly.columns_mut(used.len());
        calls.decode(&counted, samples, columns)?;
        let first = |(feature, column): (usize, &[f64])| {
            column.iter().position(|copies| copies.is_nan()).map(|row| (row, used[feature]))
        };
        let missing = columns.chunks(rows.max(1)).enumerate().filter_map(first).min();
        missing.into_iter().for_each(|(row, place)| assembly.note_missing(place, row, "no genotype"));
        for (feature, place) in used.iter().enumerate().filter(|(_, place)| matches!(roles[**place], Role::Label(_))) {
            let column = assembly.columns_mut(used.len())[feature * rows..(feature + 1) * rows].to_vec();
            column.into_iter().enumerate().try_for_each(|(row, copies)| assembly.number(*place, row, copies))?;
        }
        for (at, place) in places.iter().enumerate() {
            let (column, role) = (wanted.len() + at, roles[wanted.len() + at]);
            for (row, sample) in samples.iter().enumerate() {
                match (traits.value(*sample, *place), role) {
                    (_, Role::Dropped) => break,
                    (value, Role::Id) => assembly.id(value.unwrap_or_default()),
                    (None, _) => assembly.missing(column, row, ""),
                    (Some(text), Role::Target) => assembly.target_text(row, text.as_bytes())?,
                    (Some(text), _) => assembly.text_or_number(column, row, text)?,
                }
            }
        }
        assembly.count_rows(rows)?;
        assembly.finish()
    }
}

#[cfg(test)]
mod tests;
