//! From a model to the parts of its file.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    path::Path,
};

use banach::{Entries, Solution};
use safetensors::{Dtype, SafeTensorError, View};
use sha2::{Digest, Sha256};

use super::{Flaw, Observed, SavedModel, document::Document};

/// The entry of `__metadata__` that is the document.
pub(super) const DOCUMENT: &str = "banach";

/// The part with the checksum of all others and of the document.
pub(super) const CHECKSUM: &str = "checksum";

/// The parts that hold the training data.
const DATA: [&str; 6] = ["weights", "x", "x.rows", "x.starts", "x.values", "y"];

/// An array of numbers, as it is in the file.
#[derive(Debug)]
pub(super) struct Part<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Part<'a> {
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

impl View for &Part<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The document and the parts of a model.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    document: String,
    parts: BTreeMap<&'static str, Part<'a>>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(model: &'a SavedModel<'_>) -> Result<Self, Flaw> {
        let (n, d, m) = (model.x.samples(), model.x.features(), model.solutions.len());
        let mut parts = BTreeMap::new();
        match model.x.entries() {
            Entries::Dense(values) => {
                parts.insert("x", Part::numbers(&[d, n], values));
            }
            Entries::Sparse { starts, rows, values } => {
                parts.insert("x.starts", Part::whole(starts));
                parts.insert("x.rows", Part::whole(rows));
                parts.insert("x.values", Part::numbers(&[values.len()], values));
            }
        }
        parts.insert(
            "y",
            match &model.observed {
                Observed::Numbers(outputs) => Part::own_numbers(&[m, n], outputs.iter().flatten().copied()),
                Observed::Classes { rows, .. } => Part::whole(rows),
            },
        );
        if let Some(weights) = &model.weights {
            parts.insert("weights", Part::numbers(&[n], weights));
        }
        if let Some(done) = &model.standardization {
            parts.insert("scaling.mean", Part::numbers(&[d], &done.means));
            parts.insert("scaling.correction", Part::numbers(&[d], &done.corrections));
            parts.insert("scaling.deviation", Part::numbers(&[d], &done.deviations));
        }
        let of_each = |length: usize, values: fn(&Solution) -> &[f64]| {
            Part::own_numbers(&[m, length], model.solutions.iter().flat_map(values).copied())
        };
        parts.insert("alpha", of_each(n, |solution| &solution.alpha));
        parts.insert("omega", of_each(n, |solution| &solution.omega));
        parts.insert("intercept", Part::own_numbers(&[m], model.solutions.iter().map(|solution| solution.intercept)));
        let certificates = model.solutions.iter().map(|solution| solution.certificate);
        let values = certificates.flat_map(|found| [found.primal, found.dual, found.gap, found.distance]);
        parts.insert("certificate", Part::own_numbers(&[m, 4], values));
        let radii = model.radii.iter().map(|radius| radius.unwrap_or(f64::INFINITY));
        parts.insert("radius", Part::own_numbers(&[m], radii));

        let bytes = |part: &&'static str| Some((*part, &parts.get(part)?.bytes[..]));
        let data = hex(&digest("", DATA.iter().filter_map(bytes)));
        let document = Document::of(model, data).json()?;
        let checksum = digest(&document, parts.iter().map(|(name, part)| (*name, &part.bytes[..])));
        let checksum = Part { dtype: Dtype::U8, shape: vec![checksum.len()], bytes: checksum.into() };
        parts.insert(CHECKSUM, checksum);
        Ok(Self { document, parts })
    }

    fn metadata(&self) -> HashMap<String, String> {
        [(DOCUMENT.to_owned(), self.document.clone())].into()
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SafeTensorError> {
        safetensors::serialize(self.parts.iter(), Some(self.metadata()))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), SafeTensorError> {
        safetensors::serialize_to_file(self.parts.iter(), Some(self.metadata()), path)
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
