//! The JSON document in the header: what the model is, as far as it is not numbers.

use std::fmt;

use banach::{Certificate, Route, Solution, Spec, Status, fit::Residuals, form::SparseWeights};
use serde::{Deserialize, Serialize};

use super::{ExposureColumn, Flaw, Observed, Preparation, SavedModel, container::Container};
use crate::{Encoding, Standardization};

/// What the document calls its format.
pub const FORMAT: &str = "banach-model";

/// The latest version that is read.
pub const VERSION: u64 = super::auto::VERSION;

/// The version of models with a penalty, which programs of that version read.
pub(super) const LP_VERSION: u64 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    format: String,
    version: u64,
    spec: Spec,
    route: Route,
    names: Option<Vec<String>>,
    /// Columns of labels that variables were made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categorical: Vec<Encoding>,
    /// Whether columns of svmlight count from 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    zero_based: bool,
    #[serde(default, skip_serializing_if = "Preparation::is_nothing")]
    preparation: Preparation,
    target: Option<String>,
    /// How far predictions of held-out samples were off, for every output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    residuals: Option<Residuals>,
    /// The column of exposures, of counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exposure: Option<ExposureColumn>,
    classes: Option<Vec<Label>>,
    /// Names of columns that were left out because they are constant.
    constant: Vec<String>,
    functions: Vec<Run>,
    provenance: Provenance,
}

/// How the fit of one function went.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    status: Status,
    iterations: usize,
    passes: usize,
}

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The program that wrote the file; filled in when it is written.
    pub program: String,
    /// The name of the file of the training data.
    pub source: Option<String>,
    /// The SHA-256 of the training data; filled in when the file is written.
    pub data: String,
}

/// The label of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Label {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
}

impl Label {
    /// Labels from the texts of a file: numbers if all of them are.
    pub fn from_texts(texts: &[String]) -> Vec<Self> {
        fn all<T>(texts: &[String], label: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
            texts.iter().map(|text| label(text)).collect()
        }
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Number);
        all(texts, |text| text.parse().ok().map(Self::Integer))
            .or_else(|| all(texts, number))
            .unwrap_or_else(|| texts.iter().cloned().map(Self::Text).collect())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => f.pad(&value.to_string()),
            Self::Integer(value) => f.pad(&value.to_string()),
            // A whole number keeps its point.
            Self::Number(value) => f.pad(&format!("{value:?}")),
            Self::Text(text) => f.pad(text),
        }
    }
}

/// The version of a document, if it is one that is known.
pub(super) fn version(document: &str) -> Result<u64, Flaw> {
    #[derive(Deserialize)]
    struct Stamp {
        format: String,
        version: u64,
    }
    let Stamp { format, version } = serde_json::from_str(document).map_err(|error| Flaw::Header(error.to_string()))?;
    if format != FORMAT {
        return Err(Flaw::NotAModel(format!("its format is {format:?}")));
    }
    match version {
        LP_VERSION..=VERSION => Ok(version),
        0 => Err(Flaw::Header("there is no version 0 of the format".to_owned())),
        _ => Err(Flaw::Version { found: version, known: VERSION }),
    }
}

/// The program that writes.
pub(super) fn program() -> String {
    format!("banach {}", env!("CARGO_PKG_VERSION"))
}

/// What was done to the columns, if anything was. Whether means were taken off is told by the means.
pub(super) fn scaling(
    container: &Container<'_>,
    variables: usize,
    constant: Vec<String>,
    centred: impl Fn(&[f64]) -> bool,
) -> Result<Option<Standardization>, Flaw> {
    if !container.has("scaling.mean") {
        return Ok(None);
    }
    let means = container.numbers("scaling.mean", &[variables])?;
    Ok(Some(Standardization {
        centred: centred(&means),
        means,
        corrections: container.numbers("scaling.correction", &[variables])?,
        deviations: container.numbers("scaling.deviation", &[variables])?,
        constant,
    }))
}

/// For every function the weights that are not 0, for p = 1; none for other p.
fn nonzero(container: &Container<'_>, functions: usize) -> Result<Vec<SparseWeights>, Flaw> {
    if !container.has("nonzero.starts") {
        return Ok(Vec::new());
    }
    let starts = container.whole("nonzero.starts", &[functions + 1])?;
    let count = *starts.last().unwrap_or(&0);
    let features = container.whole("nonzero.features", &[count])?;
    let values = container.numbers("nonzero.weights", &[count])?;
    if starts[0] != 0 || !starts.is_sorted() {
        return Err(Flaw::part("nonzero.starts", "it does not begin at 0 and grow"));
    }
    let of_function = |ends: &[usize]| SparseWeights {
        features: features[ends[0]..ends[1]].iter().map(|feature| *feature as u64).collect(),
        values: values[ends[0]..ends[1]].to_vec(),
    };
    Ok(starts.windows(2).map(of_function).collect())
}

impl Document {
    /// What is said of a model beside its numbers; `data` is the hash of those that it was fitted to.
    pub(super) fn of(model: &SavedModel<'_>, data: String) -> Self {
        let run = |solution: &Solution| Run {
            status: solution.status,
            iterations: solution.iterations,
            passes: solution.passes,
        };
        Self {
            format: FORMAT.to_owned(),
            version: LP_VERSION,
            spec: model.spec.clone(),
            route: model.route,
            names: model.names.clone(),
            categorical: model.encodings.clone(),
            zero_based: model.zero_based,
            preparation: model.preparation.clone(),
            target: model.target.clone(),
            residuals: model.residuals.clone(),
            exposure: model.exposure.clone(),
            classes: model.observed.labels().map(<[Label]>::to_vec),
            constant: model.standardization.as_ref().map_or_else(Vec::new, |done| done.constant.clone()),
            functions: model.solutions.iter().map(run).collect(),
            provenance: Provenance { program: program(), source: model.provenance.source.clone(), data },
        }
    }

    pub(super) fn json(&self) -> Result<String, Flaw> {
        serde_json::to_string(self).map_err(|error| Flaw::Header(error.to_string()))
    }

    /// The document of a model with a penalty.
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        serde_json::from_str(text).map_err(|error| Flaw::Header(error.to_string()))
    }

    /// The model, with the numbers of the container.
    pub(super) fn model(self, container: &Container<'_>) -> Result<SavedModel<'static>, Flaw> {
        let functions = self.functions.len();
        let [_, samples] = container.shape("alpha")?;
        let (x, variables) = container.matrix(samples)?;
        let observed = match self.classes {
            Some(labels) => Observed::Classes { labels, rows: container.whole("y", &[samples])? },
            None => Observed::Numbers(container.vectors("y", functions, samples)?),
        };
        // Sparse samples are not moved.
        let standardization = scaling(container, variables, self.constant, |means| {
            !x.is_sparse() || means.iter().any(|mean| *mean != 0.0)
        })?;
        let weights = if container.has("weights") { Some(container.numbers("weights", &[samples])?) } else { None };
        let alphas = container.vectors("alpha", functions, samples)?;
        let omegas = container.vectors("omega", functions, samples)?;
        let intercepts = container.numbers("intercept", &[functions])?;
        let certificates = container.vectors("certificate", functions, 4)?;
        let radii = container.numbers("radius", &[functions])?;
        let mut nonzero = nonzero(container, functions)?.into_iter();
        let runs = self.functions.iter().zip(alphas.into_iter().zip(omegas)).zip(intercepts.iter().zip(&certificates));
        let mut solution = |((run, (alpha, omega)), (&intercept, values)): ((&Run, _), (_, &Vec<f64>))| Solution {
            alpha,
            omega,
            intercept,
            weights: nonzero.next(),
            certificate: Certificate { primal: values[0], dual: values[1], gap: values[2], distance: values[3] },
            status: run.status,
            iterations: run.iterations,
            passes: run.passes,
        };
        Ok(SavedModel {
            solutions: runs.map(&mut solution).collect(),
            // Infinite: no bound is known.
            radii: radii.into_iter().map(|radius| (radius != f64::INFINITY).then_some(radius)).collect(),
            spec: self.spec,
            route: self.route,
            x,
            standardization,
            names: self.names,
            encodings: self.categorical,
            zero_based: self.zero_based,
            preparation: self.preparation,
            target: self.target,
            residuals: self.residuals,
            exposure: self.exposure,
            observed,
            weights,
            provenance: self.provenance,
        })
    }
}
