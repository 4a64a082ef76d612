//! The model file: everything that prediction and explanation need, in one file (docs/model-file.md).
//!
//! The container is that of `safetensors`: a JSON header and arrays of numbers. One entry of its `__metadata__`, `banach`,
//! holds a [document](document) that says what the model is; the arrays hold the samples, the targets, the dual vectors
//! and their certificates. A model of few terms ([sparse]) is a document alone, and a
//! chosen model ([auto]) a document and the files of its members. A writer and a reader share one check.

mod auto;
mod check;
mod container;
mod document;
mod error;
mod parts;
mod preparation;
mod saved;
mod sparse;
#[cfg(test)]
mod sparse_tests;
#[cfg(test)]
mod tests;

use std::{fs::File, io::Read, path::Path};

use banach::{
    Account, FeatureMatrix, Fit, Memory, Model, Route, Solution, Spec,
    fit::{Exposure, Residuals, Task},
    model::DualModel,
};

use serde::{Deserialize, Serialize};

pub use self::{
    auto::SavedAuto,
    document::{FORMAT, Label, Provenance, VERSION},
    error::{Flaw, ModelFileError},
    preparation::Preparation,
    saved::Saved,
    sparse::SavedSparse,
};
use self::{container::Container, document::Document, parts::Parts};
use crate::{Encoding, ModelColumns, Standardization};

/// A fitted model as a value: what a file holds.
///
/// ```
/// use banach::{FeatureMatrix, Memory, Spec};
/// use banach_io::{Observed, SavedModel};
///
/// let x = FeatureMatrix::from_rows(4, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 2.0])?;
/// let y = [1.0, 2.0, 3.0, 3.0];
/// let spec = Spec { p: 1.5, gamma: 10.0, ..Spec::default() };
/// let model = spec.fit(&x, &y)?;
///
/// let saved = SavedModel::new(spec, x.view(), Observed::Numbers(vec![y.to_vec()])).with_model(&model);
/// let bytes = saved.to_bytes()?;
///
/// let loaded = SavedModel::from_bytes(&bytes)?.restore(Memory::available())?;
/// assert_eq!(loaded.decisions(&x)?, model.decisions(&x)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SavedModel<'a> {
    /// What was fitted, and how.
    pub spec: Spec,
    /// The route that was taken.
    pub route: Route,
    /// The samples, standardised if they were.
    pub x: FeatureMatrix<'a>,
    /// What was done to the columns; `None` if they were taken as they are.
    pub standardization: Option<Standardization>,
    /// The names of the variables.
    pub names: Option<Vec<String>>,
    /// The columns of labels that some of the variables were made of.
    pub encodings: Vec<Encoding>,
    /// Whether the first column of svmlight has the index 0.
    pub zero_based: bool,
    /// What is done to new samples first.
    pub preparation: Preparation,
    /// The name of the target.
    pub target: Option<String>,
    /// How far the search that chose it was off on held-out samples.
    pub residuals: Option<Residuals>,
    /// What was observed at the samples.
    pub observed: Observed,
    /// What every sample counts; all the same if `None`.
    pub weights: Option<Vec<f64>>,
    /// The column with which predicted rates are multiplied, of counts that were collected over exposures.
    pub exposure: Option<ExposureColumn>,
    /// One solution for every function.
    pub solutions: Vec<Solution>,
    /// For every function a bound on the distance to the optimal dual vector, where there is one.
    pub radii: Vec<Option<f64>>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// A column of exposures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExposureColumn {
    /// Its name.
    pub column: String,
    /// Whether it has the logarithms of exposures.
    pub is_offset: bool,
}

impl ExposureColumn {
    /// The exposures of samples, given the values of the column.
    pub fn of<'v>(&self, values: &'v [f64]) -> Exposure<'v> {
        if self.is_offset { Exposure::Offsets(values) } else { Exposure::Factors(values) }
    }
}

/// What a model was fitted to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Observed {
    /// Numbers, one vector for every output.
    Numbers(Vec<Vec<f64>>),
    /// Classes. Two have one function, positive for the second; more have one each.
    Classes {
        /// The labels, all different and of one kind.
        labels: Vec<Label>,
        /// For every sample the place of its label.
        rows: Vec<usize>,
    },
}

impl Observed {
    /// What such a model predicts: numbers, or the places of labels.
    pub fn task(&self) -> Task {
        match self {
            Self::Numbers(outputs) => Task::Numbers(outputs.len()),
            Self::Classes { labels, .. } => Task::Classes((0..labels.len() as i64).collect()),
        }
    }

    /// The number of functions that such a model has.
    pub fn functions(&self) -> usize {
        self.task().functions()
    }

    /// The labels, of classes.
    pub fn labels(&self) -> Option<&[Label]> {
        match self {
            Self::Numbers(_) => None,
            Self::Classes { labels, .. } => Some(labels),
        }
    }
}

impl<'a> SavedModel<'a> {
    /// A model without its solutions, names and scaling.
    pub fn new(spec: Spec, x: FeatureMatrix<'a>, observed: Observed) -> Self {
        Self {
            spec,
            route: Route::Features,
            x,
            standardization: None,
            names: None,
            encodings: Vec::new(),
            zero_based: false,
            preparation: Preparation::default(),
            target: None,
            residuals: None,
            observed,
            weights: None,
            exposure: None,
            solutions: Vec::new(),
            radii: Vec::new(),
            provenance: Provenance::default(),
        }
    }

    /// The same with what a fit has found, by the route that it took.
    #[must_use]
    pub fn with_model(self, model: &Model) -> Self {
        let (solutions, radii) = (model.solutions().to_vec(), model.radii().to_vec());
        Self { route: model.plan().chosen(), solutions, radii, residuals: model.residuals().cloned(), ..self }
    }

    /// The bytes that it keeps, about.
    pub fn bytes(&self) -> u64 {
        let (n, d, functions) = (self.x.samples() as u64, self.x.features() as u64, self.solutions.len() as u64);
        let names: u64 = self.names.iter().flatten().map(|name| 56 + name.len() as u64).sum();
        let stored = if self.x.is_sparse() { 16 } else { 8 } * self.x.stored() as u64;
        stored + names + 32 * d + 24 * n * (functions + 1)
    }

    /// The name of every variable: as it is stored, or x0, x1, ...
    pub fn variable_names(&self) -> Vec<String> {
        match &self.names {
            Some(names) => names.clone(),
            None => (0..self.x.features()).map(|variable| format!("x{variable}")).collect(),
        }
    }

    /// How to find the variables in a file of new samples.
    pub fn columns(&self) -> ModelColumns {
        let done = self.standardization.as_ref().filter(|done| done.centred);
        let mut names = self.names.clone().unwrap_or_default();
        // It is read with the variables, after them.
        names.extend(self.exposure.iter().map(|exposure| exposure.column.clone()));
        ModelColumns {
            names,
            encodings: self.encodings.clone(),
            zero_based: self.zero_based,
            fills: self.preparation.fills.clone().or_else(|| done.map(|done| done.means.clone())),
            unknown: self.preparation.unknown,
            exposure: self.exposure.as_ref().map(|exposure| exposure.column.clone()),
        }
    }

    /// The class that a function is positive for.
    pub fn class(&self, function: usize) -> Option<&Label> {
        self.observed.labels().map(|labels| &labels[if labels.len() == 2 { 1 } else { function }])
    }

    /// A function by its dual vector and the samples, which tells its largest monomials and how much every variable matters.
    ///
    /// # Panics
    ///
    /// If there is no such function.
    pub fn function(&self, function: usize) -> Result<DualModel<'_>, banach::Error> {
        Fit::new(&self.spec)?.function(self.x.view(), &self.solutions[function], self.radii[function])
    }

    /// The model, ready to predict, without fitting it again. What that may take is the caller's to say: a small file can
    /// ask for the weights of very many monomials.
    pub fn restore(&self, memory: Memory) -> Result<Model, banach::Error> {
        let (task, solutions, radii) = (self.observed.task(), self.solutions.clone(), self.radii.clone());
        let model =
            Fit::within(&self.spec, Account::new(memory))?.restore(&self.x, task, solutions, radii, self.route)?;
        Ok(model.with_residuals(self.residuals.clone()))
    }

    /// Writes the file under another name in the same folder, then renames it: nobody sees half a file, and a failure leaves
    /// what was there.
    pub fn write(&self, path: &Path) -> Result<(), ModelFileError> {
        let file = path.display().to_string();
        let parts = self.parts().map_err(|flaw| ModelFileError::Invalid { file: file.clone(), flaw })?;
        parts.replace(path, file)
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Flaw> {
        self.parts()?.to_bytes()
    }

    fn parts(&self) -> Result<Parts<'_>, Flaw> {
        check::check(self)?;
        Parts::of(self)
    }
}

impl SavedModel<'static> {
    /// Reads a file of a model of this kind; [`Saved`] reads every kind.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let file = path.display().to_string();
        Self::of_this_kind(Saved::read(path)?).map_err(|flaw| ModelFileError::Invalid { file, flaw })
    }

    /// The model of this kind in the bytes of a file, as [`Saved::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Flaw> {
        Self::of_this_kind(Saved::from_bytes(bytes)?)
    }

    fn of_this_kind(saved: Saved) -> Result<Self, Flaw> {
        match saved {
            Saved::Lp(model) => Ok(*model),
            Saved::Sparse(_) | Saved::Auto(_) => Err(Flaw::Kind),
        }
    }

    fn decode(container: &Container<'_>) -> Result<Self, Flaw> {
        let model = Document::parse(container.document())?.model(container)?;
        check::check(&model)?;
        Ok(model)
    }
}

/// The bytes of a file whose beginning is that of a container: a large file of another kind is not read to its end.
fn contents(path: &Path, file: &str, memory: Memory) -> Result<Vec<u8>, ModelFileError> {
    let unreadable = |source| ModelFileError::Read { file: file.to_owned(), source };
    let mut opened = File::open(path).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "it is a folder; name a file in it" } else { "it is no plain file" };
        return Err(unreadable(std::io::Error::other(what)));
    }
    let mut beginning = Vec::with_capacity(container::BEGINNING);
    { &mut opened }.take(container::BEGINNING as u64).read_to_end(&mut beginning).map_err(unreadable)?;
    let invalid = |flaw| ModelFileError::Invalid { file: file.to_owned(), flaw };
    let header = container::check_beginning(&beginning, metadata.len()).map_err(invalid)?;
    let needed = container::bytes(header, metadata.len());
    let too_large = || ModelFileError::TooLarge { file: file.to_owned(), needed, allowed: memory.bytes() };
    memory.check("a model", Some(needed), &[]).map_err(|_| too_large())?;
    let mut bytes = beginning;
    let more = usize::try_from(metadata.len()).unwrap_or(usize::MAX).saturating_sub(bytes.len());
    bytes.try_reserve_exact(more).map_err(|_| too_large())?;
    let opened = opened.take(more as u64);
    { opened }.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}
