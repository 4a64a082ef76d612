//! A model of few terms: a document without samples.

use std::collections::{BTreeMap, HashSet};

use banach::{
    fit::{SparseModel, Task},
    sparse::{SparseFunction, SparseSpec},
};
use serde::{Deserialize, Serialize};

use super::{
    FORMAT, Flaw, Label, Preparation, Provenance,
    check::{check_columns, check_labels},
    container::Container,
    document::{program, scaling},
    parts::Parts,
};
use crate::{Encoding, ModelColumns, Standardization};

/// The version of the format that has models of few terms.
pub(super) const VERSION: u64 = 2;

/// A model of few terms as a value: what a file holds of it. The samples are no part of it.
///
/// ```
/// use banach::{Account, FeatureMatrix, Memory, sparse::SparseSpec};
/// use banach_io::{Saved, SavedSparse};
///
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..40 * 3).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = x[..40].iter().map(|x| 3.0 * x + 1.0).collect();
/// let x = FeatureMatrix::from_columns(40, 3, x)?;
/// let spec = SparseSpec::default();
/// let model = spec.model(&x, &(&y).into(), None, &Account::new(Memory::available()))?;
///
/// let bytes = SavedSparse::new(spec, model.clone(), (40, 3)).to_bytes()?;
/// let Saved::Sparse(loaded) = Saved::from_bytes(&bytes)? else { panic!("another kind of model") };
/// assert_eq!(loaded.model.decisions(&x)?, model.decisions(&x)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SavedSparse {
    /// What was looked for.
    pub spec: SparseSpec,
    /// What was found.
    pub model: SparseModel,
    /// The number of variables.
    pub variables: usize,
    /// The number of samples that it was fitted to.
    pub samples: usize,
    /// What all of them count together; `None` if they have no weights.
    pub weight: Option<f64>,
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
    /// The labels of the classes, in the order of their numbers; `None` for numbers.
    pub labels: Option<Vec<Label>>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// The JSON in the header.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SparseDocument {
    format: String,
    version: u64,
    spec: SparseSpec,
    model: SparseModel,
    variables: usize,
    samples: usize,
    weight: Option<f64>,
    names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categorical: Vec<Encoding>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    zero_based: bool,
    #[serde(default, skip_serializing_if = "Preparation::is_nothing")]
    preparation: Preparation,
    target: Option<String>,
    classes: Option<Vec<Label>>,
    constant: Vec<String>,
    provenance: Provenance,
}

impl SavedSparse {
    /// A model that was fitted to so many samples of so many variables, without names.
    pub fn new(spec: SparseSpec, model: SparseModel, (samples, variables): (usize, usize)) -> Self {
        Self {
            spec,
            model,
            variables,
            samples,
            weight: None,
            standardization: None,
            names: None,
            encodings: Vec::new(),
            zero_based: false,
            preparation: Preparation::default(),
            target: None,
            labels: None,
            provenance: Provenance::default(),
        }
    }

    /// The variables that the terms are made of, in increasing order.
    pub fn used(&self) -> Vec<usize> {
        let functions = self.model.functions().iter();
        let terms = functions.flat_map(SparseFunction::terms);
        let mut used: Vec<usize> =
            terms.flat_map(|term| term.monomial.factors()).map(|(variable, _)| *variable).collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// How to find the variables that matter in a file of new samples; all of them where they have no names.
    pub fn columns(&self) -> ModelColumns {
        let mut used = self.used();
        if used.is_empty() && self.variables > 0 {
            // A constant: one column tells how many rows there are.
            used.push(0);
        }
        let names: Vec<String> = self.names.iter().flat_map(|names| used.iter().map(|at| names[*at].clone())).collect();
        let of_labels = |encoding: &&Encoding| {
            let own = |label: &String| names.contains(&format!("{}={label}", encoding.column));
            encoding.labels.iter().any(own)
        };
        let done = self.standardization.as_ref().filter(|done| done.centred);
        let fills = self.preparation.fills.as_ref().or(done.map(|done| &done.means)).filter(|_| self.names.is_some());
        ModelColumns {
            encodings: self.encodings.iter().filter(of_labels).cloned().collect(),
            zero_based: self.zero_based,
            fills: fills.map(|fills| used.iter().map(|at| fills[*at]).collect()),
            unknown: self.preparation.unknown,
            exposure: None,
            names,
        }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Flaw> {
        self.parts()?.to_bytes()
    }

    pub(super) fn parts(&self) -> Result<Parts<'_>, Flaw> {
        self.check()?;
        let document = SparseDocument {
            format: FORMAT.to_owned(),
            version: VERSION,
            spec: self.spec.clone(),
            model: self.model.clone(),
            variables: self.variables,
            samples: self.samples,
            weight: self.weight,
            names: self.names.clone(),
            categorical: self.encodings.clone(),
            zero_based: self.zero_based,
            preparation: self.preparation.clone(),
            target: self.target.clone(),
            classes: self.labels.clone(),
            constant: self.standardization.as_ref().map_or_else(Vec::new, |done| done.constant.clone()),
            provenance: Provenance { program: program(), ..self.provenance.clone() },
        };
        let document = serde_json::to_string(&document).map_err(|error| Flaw::Header(error.to_string()))?;
        let mut parts = BTreeMap::new();
        Parts::of_scaling(self.standardization.as_ref(), &mut parts);
        Ok(Parts::new(document, parts))
    }

    pub(super) fn decode(container: &Container<'_>) -> Result<Self, Flaw> {
        let document: SparseDocument =
            serde_json::from_str(container.document()).map_err(|error| Flaw::Header(error.to_string()))?;
        let saved = Self {
            spec: document.spec,
            model: document.model,
            standardization: scaling(container, document.variables, document.constant, |means| {
                means.iter().any(|mean| *mean != 0.0)
            })?,
            variables: document.variables,
            samples: document.samples,
            weight: document.weight,
            names: document.names,
            encodings: document.categorical,
            zero_based: document.zero_based,
            preparation: document.preparation,
            target: document.target,
            labels: document.classes,
            provenance: document.provenance,
        };
        saved.check()?;
        Ok(saved)
    }

    /// Whether its parts fit together; for the writer and the reader alike.
    fn check(&self) -> Result<(), Flaw> {
        let kernel = self.spec.kernel.build()?;
        check_columns(self.names.as_deref(), self.standardization.as_ref(), self.variables)?;
        self.preparation.check(self.variables)?;
        let task = self.model.task();
        match (task, &self.labels) {
            (Task::Numbers(_), None) => {}
            (Task::Classes(classes), Some(labels)) if classes.len() == labels.len() => check_labels(labels)?,
            _ => return Err(Flaw::part("classes", "labels that are not those of the model")),
        }
        let functions = self.model.functions();
        if functions.is_empty() || functions.len() != task.functions() {
            return Err(Flaw::part("model", format!("{} functions instead of {}", functions.len(), task.functions())));
        }
        let highest = kernel.degrees().1.unwrap_or(0);
        functions.iter().try_for_each(|function| self.check_function(function, highest))
    }

    fn check_function(&self, function: &SparseFunction, highest: usize) -> Result<(), Flaw> {
        let wrong = |problem: String| Err(Flaw::part("model", problem));
        let centres = function.centres();
        if !centres.is_empty() && centres.len() != self.variables {
            return wrong(format!("{} centres instead of {}", centres.len(), self.variables));
        }
        let mut met = HashSet::new();
        for term in function.terms() {
            let others = term.alternatives.iter().map(|other| &other.monomial);
            for monomial in others.chain([&term.monomial]) {
                if monomial.degree() > highest {
                    return wrong(format!(
                        "a monomial of the degree {}, and {highest} is the highest",
                        monomial.degree()
                    ));
                }
                if let Some((variable, _)) = monomial.factors().iter().find(|(variable, _)| *variable >= self.variables)
                {
                    return wrong(format!("there is no variable {variable}"));
                }
            }
            if !met.insert(&term.monomial) {
                return wrong(format!("the term {} is there twice", term.monomial));
            }
        }
        // Values at the centres and around them bound what overflow can do to a sum: no term is infinite there.
        let centre = |variable: usize| centres.get(variable).map_or(0.0, |centre| centre.abs());
        let size = |&(variable, power): &(usize, usize)| (1.0 + centre(variable)).powi(power as i32);
        let largest = function
            .terms()
            .iter()
            .map(|term| term.coefficient.abs() * term.monomial.factors().iter().map(size).product::<f64>());
        if (function.intercept().abs() + largest.sum::<f64>()).is_finite() {
            return Ok(());
        }
        wrong("its values are infinite where all variables are 0 or 1".to_owned())
    }
}
