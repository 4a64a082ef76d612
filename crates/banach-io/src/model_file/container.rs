//! From the bytes of a file to its document and its parts, which can be anything.

use std::{collections::BTreeMap, fmt};

use banach::FeatureMatrix;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};

use super::{
    Flaw,
    auto::MEMBERS,
    parts::{CHECKSUM, DOCUMENT, digest},
};

/// The bytes that tell whether a file can be a container: the length of the header, and the brace that it begins with.
pub(super) const BEGINNING: usize = 9;

/// The longest header of a container.
pub(super) const MAX_HEADER: u64 = 100_000_000;

/// Every part that a model may have.
const KNOWN: [&str; 19] = [
    "alpha",
    "certificate",
    CHECKSUM,
    "intercept",
    MEMBERS,
    "nonzero.features",
    "nonzero.starts",
    "nonzero.weights",
    "omega",
    "radius",
    "scaling.correction",
    "scaling.deviation",
    "scaling.mean",
    "weights",
    "x",
    "x.rows",
    "x.starts",
    "x.values",
    "y",
];

/// Whether a file of so many bytes may begin like this.
pub(super) fn check_beginning(beginning: &[u8], length: u64) -> Result<u64, Flaw> {
    let other = |why: &str| Flaw::NotAModel(why.to_owned());
    let Some((header, brace)) = beginning.split_first_chunk::<8>() else { return Err(other("it is too short")) };
    let header = u64::from_le_bytes(*header);
    if header > MAX_HEADER || brace.first().is_some_and(|byte| *byte != b'{') {
        return Err(other("it does not begin like one"));
    }
    if header + 8 > length || brace.is_empty() {
        return Err(Flaw::Truncated { got: length, expected: header + 8 });
    }
    Ok(header)
}

/// Bytes that a byte of a header takes when it is parsed, about: the text itself, three times, and what it says, where a name of
/// one letter becomes a string.
const PER_BYTE: u64 = 20;

/// The bytes that reading a file takes, given those of its header and its own: arrays are in memory as they are in the file, and as
/// numbers.
pub(super) fn bytes(header: u64, length: u64) -> u64 {
    header.saturating_mul(PER_BYTE).saturating_add(length.saturating_sub(header).saturating_mul(2))
}

/// The header, read strictly: no name twice, and no part beyond the end of the file.
#[derive(Default)]
struct ContainerHeader {
    document: Option<String>,
    /// Where every part ends.
    ends: BTreeMap<String, u64>,
}

impl<'de> Deserialize<'de> for ContainerHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HeaderVisitor;

        #[derive(Deserialize)]
        struct Info {
            data_offsets: (u64, u64),
        }

        impl<'de> Visitor<'de> for HeaderVisitor {
            type Value = ContainerHeader;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of parts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContainerHeader, A::Error> {
                let mut header = ContainerHeader::default();
                let twice = |name: &str| A::Error::custom(format!("{name:?} is there twice"));
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        if header.document.replace(map.next_value::<Metadata>()?.banach).is_some() {
                            return Err(twice(&name));
                        }
                    } else {
                        let end = map.next_value::<Info>()?.data_offsets.1;
                        if header.ends.insert(name.clone(), end).is_some() {
                            return Err(twice(&name));
                        }
                    }
                }
                Ok(header)
            }
        }

        deserializer.deserialize_map(HeaderVisitor)
    }
}

/// What is in `__metadata__`: the document, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    banach: String,
}

const _: () = assert!(matches!(DOCUMENT.as_bytes(), b"banach"));

/// A file that holds a document and parts that fill it without gap or overlap.
pub(super) struct Container<'a> {
    document: String,
    names: Vec<String>,
    tensors: SafeTensors<'a>,
}

impl<'a> Container<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Flaw> {
        let got = bytes.len() as u64;
        let length = check_beginning(&bytes[..bytes.len().min(BEGINNING)], got)?;
        let header: ContainerHeader = serde_json::from_slice(&bytes[8..8 + length as usize]).map_err(|error| {
            // Another program's container has other entries, or none.
            let text = error.to_string();
            if text.contains("`banach`") { Flaw::NotAModel(text) } else { Flaw::Header(text) }
        })?;
        let ContainerHeader { document: Some(document), ends } = header else {
            return Err(Flaw::NotAModel("it does not say what it is".to_owned()));
        };
        let end = ends.values().copied().max().unwrap_or(0);
        if end > got - 8 - length {
            return Err(Flaw::Truncated { got, expected: end.saturating_add(8 + length) });
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| Flaw::Header(error.to_string()))?;
        Ok(Self { document, names: ends.into_keys().collect(), tensors })
    }

    pub(super) fn document(&self) -> &str {
        &self.document
    }

    /// No part is there that a model does not have.
    pub(super) fn check_names(&self) -> Result<(), Flaw> {
        match self.names.iter().find(|name| !KNOWN.contains(&&name[..])) {
            Some(name) => Err(Flaw::Header(format!("there is no part {:?}", shortened(name)))),
            None => Ok(()),
        }
    }

    /// Whether nothing has changed since the file was written.
    pub(super) fn verify(&self) -> Result<(), Flaw> {
        let stored = self.part(CHECKSUM, Dtype::U8)?.data();
        let others = self.names.iter().filter(|name| *name != CHECKSUM);
        let bytes = |name: &'_ String| self.tensors.tensor(name).map_or(&[][..], |part| part.data());
        let found = digest(&self.document, others.map(|name| (&name[..], bytes(name))));
        if found == stored { Ok(()) } else { Err(Flaw::Checksum) }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    fn part(&self, name: &'static str, dtype: Dtype) -> Result<TensorView<'a>, Flaw> {
        let part = self.tensors.tensor(name).map_err(|_| Flaw::part(name, "it is missing"))?;
        if part.dtype() == dtype {
            return Ok(part);
        }
        Err(Flaw::part(name, format!("numbers of type {:?} instead of {dtype:?}", part.dtype())))
    }

    /// The shape of a table of numbers.
    pub(super) fn shape(&self, name: &'static str) -> Result<[usize; 2], Flaw> {
        let part = self.part(name, Dtype::F64)?;
        let wrong = |_| Flaw::part(name, format!("{} dimensions instead of 2", part.shape().len()));
        part.shape().try_into().map_err(wrong)
    }

    fn bytes(&self, name: &'static str, dtype: Dtype, shape: &[usize]) -> Result<&'a [u8], Flaw> {
        let part = self.part(name, dtype)?;
        if part.shape() == shape {
            return Ok(part.data());
        }
        Err(Flaw::part(name, format!("its shape is {}, and {} is needed", sizes(part.shape()), sizes(shape))))
    }

    /// Bytes as they are.
    pub(super) fn raw(&self, name: &'static str) -> Result<&'a [u8], Flaw> {
        Ok(self.part(name, Dtype::U8)?.data())
    }

    pub(super) fn numbers(&self, name: &'static str, shape: &[usize]) -> Result<Vec<f64>, Flaw> {
        let bytes = self.bytes(name, Dtype::F64, shape)?;
        Ok(bytes.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect())
    }

    /// As many vectors of one length.
    pub(super) fn vectors(&self, name: &'static str, count: usize, length: usize) -> Result<Vec<Vec<f64>>, Flaw> {
        let numbers = self.numbers(name, &[count, length])?;
        Ok(if length == 0 { Vec::new() } else { numbers.chunks(length).map(<[f64]>::to_vec).collect() })
    }

    pub(super) fn whole(&self, name: &'static str, shape: &[usize]) -> Result<Vec<usize>, Flaw> {
        let bytes = self.bytes(name, Dtype::U64, shape)?;
        let number = |number: &[u8; 8]| {
            let number = u64::from_le_bytes(*number);
            usize::try_from(number).map_err(|_| Flaw::part(name, format!("{number} is too large")))
        };
        bytes.as_chunks().0.iter().map(number).collect()
    }

    /// The samples, and the number of variables.
    pub(super) fn matrix(&self, samples: usize) -> Result<(FeatureMatrix<'static>, usize), Flaw> {
        let sparse = ["x.starts", "x.rows", "x.values"];
        if !self.has(sparse[0]) {
            let [variables, _] = self.shape("x")?;
            let values = self.numbers("x", &[variables, samples])?;
            return Ok((FeatureMatrix::from_columns(samples, variables, values)?, variables));
        }
        if self.has("x") {
            return Err(Flaw::part("x", "the samples are there twice, dense and sparse"));
        }
        let size = |name, dtype| match self.part(name, dtype)?.shape() {
            &[size] => Ok(size),
            shape => Err(Flaw::part(name, format!("{} dimensions instead of 1", shape.len()))),
        };
        let (starts, stored) = (size(sparse[0], Dtype::U64)?, size(sparse[2], Dtype::F64)?);
        let variables = starts.saturating_sub(1);
        let x = FeatureMatrix::from_sparse_columns(
            samples,
            variables,
            self.whole(sparse[0], &[starts])?,
            self.whole(sparse[1], &[stored])?,
            self.numbers(sparse[2], &[stored])?,
        )?;
        Ok((x, variables))
    }
}

fn sizes(shape: &[usize]) -> String {
    let all: Vec<String> = shape.iter().take(4).map(ToString::to_string).collect();
    format!("[{}{}]", all.join(", "), if shape.len() > 4 { ", ..." } else { "" })
}

fn shortened(name: &str) -> String {
    name.chars().take(40).collect()
}
