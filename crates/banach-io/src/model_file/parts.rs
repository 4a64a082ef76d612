//! From a model to the parts of its file.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    io::{self, Write},
    path::Path,
};

use banach::{Solution, data::Entries};
use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use sha2::{Digest, Sha256};

use super::{Flaw, ModelFileError, Observed, SavedModel, container::MAX_HEADER, document::Document};
use crate::{Standardization, replace};

/// The entry of `__metadata__` that is the document.
pub(super) const DOCUMENT: &str = "banach";

/// The part with the checksum of all others and of the document.
pub(super) const CHECKSUM: &str = "checksum";

/// The parts that hold the training data.
const DATA: [&str; 6] = ["weights", "x", "x.rows", "x.starts", "x.values", "y"];

/// An array of numbers, as it is in the file.
#[derive(Debug)]
pub(super) struct FileArray<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl<'a> FileArray<'a> {
    /// Bytes as they are.
    pub(super) fn bytes(bytes: Vec<u8>) -> Self {
        Self { dtype: Dtype::U8, shape: vec![bytes.len()], bytes: bytes.into() }
    }

    fn numbers(shape: &[usize], values: &'a [f64]) -> Self {
        let bytes = if cfg!(target_endian = "little") {
            Cow::Borrowed(bytemuck::cast_slice(values))
        } else {
            Cow::Owned(values.iter().flat_map(|value| value.to_le_bytes()).collect())
        };
        Self { dtype: Dtype::F64, shape: shape.to_vec(), bytes }
    }

    fn own_numbers(shape: &[usize], values: impl IntoIterator<Item = f64>) -> Self {
        let bytes: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
        Self { dtype: Dtype::F64, shape: shape.to_vec(), bytes: bytes.into() }
    }

    fn whole(values: &[usize]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| (*value as u64).to_le_bytes()).collect();
        Self { dtype: Dtype::U64, shape: vec![values.len()], bytes: bytes.into() }
    }
}

/// The document and the parts of a model.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    document: String,
    parts: BTreeMap<&'static str, FileArray<'a>>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(model: &'a SavedModel<'_>) -> Result<Self, Flaw> {
        let (n, d, m) = (model.x.samples(), model.x.features(), model.solutions.len());
        let mut parts = BTreeMap::new();
        match model.x.entries() {
            Entries::Dense(values) => {
                parts.insert("x", FileArray::numbers(&[d, n], values));
            }
            Entries::Sparse { starts, rows, values } => {
                parts.insert("x.starts", FileArray::whole(starts));
                parts.insert("x.rows", FileArray::whole(rows));
                parts.insert("x.values", FileArray::numbers(&[values.len()], values));
            }
            Entries::Compact => {
                let column = |j| {
                    let mut column = vec![0.0; n];
                    model.x.column_into(j, &mut column);
                    column
                };
                parts.insert("x", FileArray::own_numbers(&[d, n], (0..d).flat_map(column)));
            }
        }
        parts.insert(
            "y",
            match &model.observed {
                Observed::Numbers(outputs) => FileArray::own_numbers(&[m, n], outputs.iter().flatten().copied()),
                Observed::Classes { rows, .. } => FileArray::whole(rows),
            },
        );
        if let Some(weights) = &model.weights {
            parts.insert("weights", FileArray::numbers(&[n], weights));
        }
        Self::of_scaling(model.standardization.as_ref(), &mut parts);
        let of_each = |length: usize, values: fn(&Solution) -> &[f64]| {
            FileArray::own_numbers(&[m, length], model.solutions.iter().flat_map(values).copied())
        };
        parts.insert("alpha", of_each(n, |solution| &solution.alpha));
        parts.insert("omega", of_each(n, |solution| &solution.omega));
        parts.insert(
            "intercept",
            FileArray::own_numbers(&[m], model.solutions.iter().map(|solution| solution.intercept)),
        );
        Self::of_weights(&model.solutions, &mut parts);
        let certificates = model.solutions.iter().map(|solution| solution.certificate);
        let values = certificates.flat_map(|found| [found.primal, found.dual, found.gap, found.distance]);
        parts.insert("certificate", FileArray::own_numbers(&[m, 4], values));
        let radii = model.radii.iter().map(|radius| radius.unwrap_or(f64::INFINITY));
        parts.insert("radius", FileArray::own_numbers(&[m], radii));

        let bytes = |part: &&'static str| Some((*part, &parts.get(part)?.bytes[..]));
        let data = hex(&digest("", DATA.iter().filter_map(bytes)));
        Ok(Self::new(Document::of(model, data).json()?, parts))
    }

    /// The weights that are not 0, for p = 1.
    fn of_weights(solutions: &[Solution], parts: &mut BTreeMap<&'static str, FileArray<'a>>) {
        let Some(weights) = solutions.iter().map(|found| found.weights.as_ref()).collect::<Option<Vec<_>>>() else {
            return;
        };
        let features: Vec<usize> =
            weights.iter().flat_map(|weights| &weights.features).map(|feature| *feature as usize).collect();
        let ends = weights.iter().scan(0, |end, weights| {
            *end += weights.features.len();
            Some(*end)
        });
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let values = weights.iter().flat_map(|weights| &weights.values).copied();
        parts.insert("nonzero.weights", FileArray::own_numbers(&[features.len()], values));
        parts.insert("nonzero.features", FileArray::whole(&features));
        parts.insert("nonzero.starts", FileArray::whole(&starts));
    }

    /// The parts that say what was done to the columns.
    pub(super) fn of_scaling(done: Option<&'a Standardization>, parts: &mut BTreeMap<&'static str, FileArray<'a>>) {
        let Some(done) = done else { return };
        for (name, values) in [
            ("scaling.mean", &done.means),
            ("scaling.correction", &done.corrections),
            ("scaling.deviation", &done.deviations),
        ] {
            parts.insert(name, FileArray::numbers(&[values.len()], values));
        }
    }

    /// A document and parts, with their checksum.
    pub(super) fn new(document: String, mut parts: BTreeMap<&'static str, FileArray<'a>>) -> Self {
        let checksum = digest(&document, parts.iter().map(|(name, part)| (*name, &part.bytes[..])));
        parts.insert(CHECKSUM, FileArray::bytes(checksum));
        Self { document, parts }
    }

    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Flaw> {
        let header = self.header()?;
        let mut bytes = Vec::with_capacity(self.bytes(&header));
        // A vector takes every byte.
        self.write(&header, &mut bytes).map_err(|error| Flaw::Header(error.to_string()))?;
        Ok(bytes)
    }

    /// Writes the file as a whole, or leaves what was there.
    pub(super) fn replace(&self, path: &Path, file: String) -> Result<(), ModelFileError> {
        match self.header() {
            Ok(header) => {
                replace(path, |out| self.write(&header, out)).map_err(|source| ModelFileError::Write { file, source })
            }
            Err(flaw) => Err(ModelFileError::Invalid { file, flaw }),
        }
    }

    /// The parts in the order of the file: by decreasing alignment, then by name.
    fn in_order(&self) -> Vec<(&'static str, &FileArray<'a>)> {
        let mut parts: Vec<_> = self.parts.iter().map(|(name, part)| (*name, part)).collect();
        parts.sort_by_key(|(_, part)| Reverse(part.dtype));
        parts
    }

    /// The header of the container, with its length.
    fn header(&self) -> Result<Vec<u8>, Flaw> {
        let wrong = |error: &dyn std::fmt::Display| Flaw::Header(error.to_string());
        let mut end = 0;
        let info = |(name, part): (&str, &FileArray<'_>)| {
            let begin = end;
            end += part.bytes.len();
            (name.to_owned(), TensorInfo { dtype: part.dtype, shape: part.shape.clone(), data_offsets: (begin, end) })
        };
        let infos = self.in_order().into_iter().map(info).collect();
        let document: HashMap<String, String> = [(DOCUMENT.to_owned(), self.document.clone())].into();
        let metadata = Metadata::new(Some(document), infos).map_err(|error| wrong(&error))?;
        let mut text = serde_json::to_vec(&metadata).map_err(|error| wrong(&error))?;
        // The arrays begin at a multiple of 8.
        text.resize(text.len().next_multiple_of(8), b' ');
        if text.len() as u64 > MAX_HEADER {
            return Err(Flaw::Header(format!("it has {} bytes, and {MAX_HEADER} are the most", text.len())));
        }
        Ok([&(text.len() as u64).to_le_bytes()[..], &text].concat())
    }

    /// The length of the file.
    fn bytes(&self, header: &[u8]) -> usize {
        header.len() + self.parts.values().map(|part| part.bytes.len()).sum::<usize>()
    }

    /// Writes the file with its header.
    fn write(&self, header: &[u8], out: &mut impl Write) -> io::Result<()> {
        out.write_all(header)?;
        self.in_order().into_iter().try_for_each(|(_, part)| out.write_all(&part.bytes))
    }
}

/// The SHA-256 of a document and of the names and bytes of parts in alphabetical order.
pub(super) fn digest<'a>(document: &str, parts: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(document);
    for (name, bytes) in parts {
        hash.update(name);
        hash.update(bytes);
    }
    hash.finalize().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold("sha256:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
