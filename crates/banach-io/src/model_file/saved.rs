//! What a file can hold: a model of one kind or the other.

use std::path::Path;

use banach::Memory;

use super::{
    ExposureColumn, Flaw, Label, ModelFileError, Preparation, SavedAuto, SavedModel, SavedSparse, auto,
    container::Container, contents, document, sparse,
};
use crate::{ModelColumns, Standardization};

/// A model from a file, whatever its kind.
#[derive(Debug, Clone)]
pub enum Saved {
    /// Functions of all features, with the samples that they are made of.
    Lp(Box<SavedModel<'static>>),
    /// Functions of few terms.
    Sparse(Box<SavedSparse>),
    /// A chosen model.
    Auto(Box<SavedAuto>),
}

impl Saved {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        Self::read_within(path, Memory::available())
    }

    /// Reads a file, if memory has room for it.
    pub fn read_within(path: &Path, memory: Memory) -> Result<Self, ModelFileError> {
        let file = path.display().to_string();
        let bytes = contents(path, &file, memory)?;
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
        let version = document::version(container.document())?;
        container.check_names()?;
        if verify {
            container.verify()?;
        }
        Ok(match version {
            sparse::VERSION => Self::Sparse(Box::new(SavedSparse::decode(&container)?)),
            auto::VERSION => Self::Auto(Box::new(SavedAuto::decode(&container)?)),
            _ => Self::Lp(Box::new(SavedModel::decode(&container)?)),
        })
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Flaw> {
        match self {
            Self::Lp(model) => model.to_bytes(),
            Self::Sparse(model) => model.to_bytes(),
            Self::Auto(model) => model.to_bytes(),
        }
    }

    /// The version of the format that it is written in.
    pub fn version(&self) -> u64 {
        match self {
            Self::Lp(_) => document::LP_VERSION,
            Self::Sparse(_) => sparse::VERSION,
            Self::Auto(_) => auto::VERSION,
        }
    }

    /// The bytes that it keeps, about.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Lp(model) => model.bytes(),
            // Of every variable there may be a name, a centre and how it was scaled.
            Self::Sparse(model) => 120 * model.variables as u64,
            Self::Auto(model) => model.bytes(),
        }
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        match self {
            Self::Lp(model) => model.x.features(),
            Self::Sparse(model) => model.variables,
            Self::Auto(model) => model.model.record().variables,
        }
    }

    /// The number of functions.
    pub fn functions(&self) -> usize {
        match self {
            Self::Lp(model) => model.solutions.len(),
            Self::Sparse(model) => model.model.functions().len(),
            Self::Auto(model) => model.model.record().task.functions(),
        }
    }

    /// The names of the variables, if they have any.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Self::Lp(model) => model.names.as_deref(),
            Self::Sparse(model) => model.names.as_deref(),
            Self::Auto(model) => model.names.as_deref(),
        }
    }

    /// The name of every variable: as it is stored, or x0, x1, ...
    pub fn variable_names(&self) -> Vec<String> {
        let numbered = || (0..self.variables()).map(|variable| format!("x{variable}")).collect();
        self.names().map_or_else(numbered, <[String]>::to_vec)
    }

    /// What was done to the columns, if anything was.
    pub fn standardization(&self) -> Option<&Standardization> {
        match self {
            Self::Lp(model) => model.standardization.as_ref(),
            Self::Sparse(model) => model.standardization.as_ref(),
            Self::Auto(_) => None,
        }
    }

    /// How to find the variables in a file of new samples.
    pub fn columns(&self) -> ModelColumns {
        match self {
            Self::Lp(model) => model.columns(),
            Self::Sparse(model) => model.columns(),
            Self::Auto(model) => model.columns(),
        }
    }

    /// What is done to new samples first.
    pub fn preparation(&self) -> &Preparation {
        match self {
            Self::Lp(model) => &model.preparation,
            Self::Sparse(model) => &model.preparation,
            Self::Auto(model) => &model.preparation,
        }
    }

    /// The name of the target.
    pub fn target(&self) -> Option<&String> {
        match self {
            Self::Lp(model) => model.target.as_ref(),
            Self::Sparse(model) => model.target.as_ref(),
            Self::Auto(model) => model.target.as_ref(),
        }
    }

    /// The column of exposures, of counts.
    pub fn exposure(&self) -> Option<&ExposureColumn> {
        match self {
            Self::Lp(model) => model.exposure.as_ref(),
            Self::Sparse(_) | Self::Auto(_) => None,
        }
    }

    /// The labels, of classes.
    pub fn labels(&self) -> Option<&[Label]> {
        match self {
            Self::Lp(model) => model.observed.labels(),
            Self::Sparse(model) => model.labels.as_deref(),
            Self::Auto(model) => model.labels(),
        }
    }

    /// The class that a function is positive for.
    pub fn class(&self, function: usize) -> Option<&Label> {
        self.labels().map(|labels| &labels[if labels.len() == 2 { 1 } else { function }])
    }
}

impl SavedSparse {
    /// Writes the file under another name in the same folder, then renames it: nobody sees half a file, and a failure leaves
    /// what was there.
    pub fn write(&self, path: &Path) -> Result<(), ModelFileError> {
        let file = path.display().to_string();
        let parts = self.parts().map_err(|flaw| ModelFileError::Invalid { file: file.clone(), flaw })?;
        parts.replace(path, file)
    }
}
