//! The model file: everything that prediction and explanation need, in one file (docs/model-file.md).
//!
//! The container is that of `safetensors`: a JSON header and arrays of numbers. One entry of its `__metadata__`, `banach`,
//! holds a [document](document) that says what the model is; the arrays hold the samples, the targets, the dual vectors
//! and their certificates. A writer and a reader share one [check](check).

mod check;
mod container;
mod document;
mod error;
mod parts;
mod spec;
#[cfg(test)]
mod tests;

use std::{fs::File, io::Read, path::Path};

use banach::{DualModel, Exponent, FeatureMatrix, Memory, Route, Solution};

use self::{container::Container, document::Document, parts::Parts};
pub use self::{
    document::{FORMAT, Label, Provenance, VERSION},
    error::{Flaw, ModelFileError},
    spec::{Fitted, ModelSpec},
};
use crate::{Encoding, ModelColumns, Standardization, replace};

/// A fitted model as a value: what a file holds.
///
/// ```
/// use banach::{FeatureMatrix, Memory, Regressor, kernel::KernelSpec, loss::LossSpec};
/// use banach_io::{Fitted, ModelSpec, Observed, Provenance, SavedModel};
///
/// let x = FeatureMatrix::from_rows(4, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 2.0])?;
/// let y = [1.0, 2.0, 3.0, 3.0];
/// let model = Regressor::new().p(1.5).gamma(10.0).fit(&x, &y)?;
///
/// let mut spec = ModelSpec::new(KernelSpec::Linear, LossSpec::Squared);
/// (spec.p, spec.gamma) = (1.5, 10.0);
/// let saved = SavedModel::new(spec, x.view(), Observed::Numbers(vec![y.to_vec()]))
///     .with_solutions(model.plan().chosen(), model.solutions(), model.radii());
/// let bytes = saved.to_bytes()?;
///
/// let Fitted::Regression(loaded) = SavedModel::from_bytes(&bytes)?.restore(Memory::available())? else { panic!() };
/// assert_eq!(loaded.predict(&x)?, model.predict(&x)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SavedModel<'a> {
    /// What was fitted, and how.
    pub spec: ModelSpec,
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
    /// The name of the target.
    pub target: Option<String>,
    /// What was observed at the samples.
    pub observed: Observed,
    /// What every sample counts; all the same if `None`.
    pub weights: Option<Vec<f64>>,
    /// One solution for every function.
    pub solutions: Vec<Solution>,
    /// For every function a bound on the distance to the optimal dual vector, where there is one.
    pub radii: Vec<Option<f64>>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// What a model was fitted to.
#[derive(Debug, Clone, PartialEq)]
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
    /// The number of functions that such a model has.
    pub fn functions(&self) -> usize {
        match self {
            Self::Numbers(outputs) => outputs.len(),
            Self::Classes { labels, .. } if labels.len() == 2 => 1,
            Self::Classes { labels, .. } => labels.len(),
        }
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
    pub fn new(spec: ModelSpec, x: FeatureMatrix<'a>, observed: Observed) -> Self {
        Self {
            spec,
            route: Route::Features,
            x,
            standardization: None,
            names: None,
            encodings: Vec::new(),
            zero_based: false,
            target: None,
            observed,
            weights: None,
            solutions: Vec::new(),
            radii: Vec::new(),
            provenance: Provenance::default(),
        }
    }

    /// The same with what a solver has found, by the route that it took.
    #[must_use]
    pub fn with_solutions(self, route: Route, solutions: &[Solution], radii: &[Option<f64>]) -> Self {
        Self { route, solutions: solutions.to_vec(), radii: radii.to_vec(), ..self }
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
        ModelColumns {
            names: self.names.clone().unwrap_or_default(),
            encodings: self.encodings.clone(),
            zero_based: self.zero_based,
            means: done.map(|done| done.means.clone()),
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
        let (spec, solution) = (&self.spec, &self.solutions[function]);
        let model = DualModel::new(self.x.view(), spec.kernel.build()?, Exponent::new(spec.p)?, &solution.alpha)?;
        let model = model.with_scale(spec.monomials).with_omega(&solution.omega)?;
        match self.radii[function] {
            Some(radius) => model.with_radius(radius),
            None => Ok(model),
        }
    }

    /// The model, ready to predict, without fitting it again. What that may take is the caller's to say: a small file can
    /// ask for the weights of very many monomials.
    pub fn restore(&self, memory: Memory) -> Result<Fitted, banach::Error> {
        self.spec.restore(self, memory)
    }

    /// Writes the file under another name in the same folder, then renames it: nobody sees half a file, and a failure leaves
    /// what was there.
    pub fn write(&self, path: &Path) -> Result<(), ModelFileError> {
        let file = path.display().to_string();
        let invalid = |flaw| ModelFileError::Invalid { file: file.clone(), flaw };
        let parts = self.parts().map_err(invalid)?;
        let header = parts.header().map_err(invalid)?;
        replace(path, |out| parts.write(&header, out)).map_err(|source| ModelFileError::Write { file, source })
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Flaw> {
        let parts = self.parts()?;
        let header = parts.header()?;
        let mut bytes = Vec::with_capacity(parts.bytes(&header));
        // A vector takes every byte.
        parts.write(&header, &mut bytes).map_err(|error| Flaw::Header(error.to_string()))?;
        Ok(bytes)
    }

    fn parts(&self) -> Result<Parts<'_>, Flaw> {
        check::check(self)?;
        Parts::of(self)
    }
}

impl SavedModel<'static> {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let file = path.display().to_string();
        let bytes = contents(path, &file)?;
        Self::from_bytes(&bytes).map_err(|flaw| ModelFileError::Invalid { file, flaw })
    }

    /// The model in the bytes of a file. Whatever the bytes are, the answer is a model whose parts fit together or an
    /// error, in memory of a small multiple of their length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Flaw> {
        Self::decode(bytes, true)
    }

    /// As [`from_bytes`](Self::from_bytes), whatever the checksum: for fuzzing, which could not get past it.
    pub fn from_bytes_ignoring_checksum(bytes: &[u8]) -> Result<Self, Flaw> {
        Self::decode(bytes, false)
    }

    fn decode(bytes: &[u8], verify: bool) -> Result<Self, Flaw> {
        let container = Container::open(bytes)?;
        let document = Document::parse(container.document())?;
        container.check_names()?;
        if verify {
            container.verify()?;
        }
        let model = document.model(&container)?;
        check::check(&model)?;
        Ok(model)
    }
}

/// The bytes of a file whose beginning is that of a container: a large file of another kind is not read to its end.
fn contents(path: &Path, file: &str) -> Result<Vec<u8>, ModelFileError> {
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
    container::check_beginning(&beginning, metadata.len()).map_err(invalid)?;
    let mut bytes = beginning;
    bytes.reserve_exact(usize::try_from(metadata.len()).unwrap_or(0).saturating_sub(bytes.len()));
    opened.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}
