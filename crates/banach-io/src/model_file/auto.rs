//! A chosen model: a document, and the file of every member that has samples.

use std::{collections::BTreeMap, path::Path};

use banach::{
    Memory,
    data::{ColumnScaling, RankScores},
    fit::{AutoMember, AutoModel, AutoRecord, DenseMember, MemberKind, Recipe, SparseModel, Task, VariableRanges},
};
use serde::{Deserialize, Serialize};

use super::{
    FORMAT, Flaw, Label, ModelFileError, Observed, Preparation, Provenance, SavedModel,
    check::{check_columns, check_labels},
    container::Container,
    document::{LP_VERSION, program, version},
    parts::{FileArray, Parts},
};
use crate::{Encoding, ModelColumns};

/// The version of the format that has chosen models.
pub(super) const VERSION: u64 = 3;

/// The part with the files of the members.
pub(super) const MEMBERS: &str = "members";

/// A chosen model as a value: what a file holds of it.
///
/// ```
/// use banach::{Account, FeatureMatrix, Memory, Target, fit::Auto};
/// use banach_io::{Observed, Saved, SavedAuto};
///
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..40 * 3).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = x[..40].iter().map(|x| (3.0 * x).sin() + 1.0).collect();
/// let x = FeatureMatrix::from_columns(40, 3, x)?;
/// let model = Auto::default().fit(&x, &Target::from(&y), None, &Account::new(Memory::available()))?;
///
/// let bytes = SavedAuto::new(model.clone(), Observed::Numbers(vec![y])).to_bytes()?;
/// let Saved::Auto(loaded) = Saved::from_bytes(&bytes)? else { panic!("another kind of model") };
/// assert_eq!(loaded.model.predictions(&x)?, model.predictions(&x)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SavedAuto {
    /// The model.
    pub model: AutoModel,
    /// What was observed at the samples.
    pub observed: Observed,
    /// What every sample counts; all the same if `None`.
    pub weights: Option<Vec<f64>>,
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
    /// Where it comes from.
    pub provenance: Provenance,
}

/// The JSON in the header.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AutoDocument {
    format: String,
    version: u64,
    record: AutoRecord,
    members: Vec<MemberDocument>,
    ranges: VariableRanges,
    names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categorical: Vec<Encoding>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    zero_based: bool,
    #[serde(default, skip_serializing_if = "Preparation::is_nothing")]
    preparation: Preparation,
    target: Option<String>,
    /// Numbers, or labels and the place of the label of every sample.
    observed: Observed,
    weights: Option<Vec<f64>>,
    provenance: Provenance,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberDocument {
    recipe: Recipe,
    weight: f64,
    kind: KindDocument,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum KindDocument {
    Constant(Vec<f64>),
    /// A file of so many bytes among those of the members, and behind it the values and then the scores of the ranks.
    Dense {
        units: UnitsDocument,
        bytes: usize,
    },
    Terms {
        model: SparseModel,
        shares: Vec<(Vec<usize>, f64)>,
    },
}

/// What is done to the columns first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitsDocument {
    columns: Vec<usize>,
    centres: Vec<f64>,
    factors: Vec<f64>,
    /// The number of values of every column whose ranks are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ranks: Option<Vec<usize>>,
}

impl UnitsDocument {
    /// What the document says of units, whose ranks join the files.
    fn of(units: &ColumnScaling, files: &mut Vec<u8>) -> Self {
        let knots = |ranks: &RankScores| -> Vec<usize> {
            let columns = 0..units.columns().len();
            let mut add = |numbers: &[f64]| files.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            columns.clone().for_each(|at| add(ranks.knots(at).0));
            columns.clone().for_each(|at| add(ranks.knots(at).1));
            columns.map(|at| ranks.knots(at).0.len()).collect()
        };
        Self {
            columns: units.columns().to_vec(),
            centres: units.centres().to_vec(),
            factors: units.factors().to_vec(),
            ranks: units.ranks().map(knots),
        }
    }

    /// The units, with the ranks that the files begin with.
    fn units(self, files: &mut &[u8]) -> Result<ColumnScaling, Flaw> {
        let mut numbers = |count: usize| -> Result<Vec<f64>, Flaw> {
            let short = || Flaw::part(MEMBERS, format!("too few bytes are left for the ranks of {count} values"));
            let (own, rest) = files.split_at_checked(count.checked_mul(8).ok_or_else(short)?).ok_or_else(short)?;
            *files = rest;
            Ok(own.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect())
        };
        let ranks = match self.ranks {
            Some(counts) => {
                let total = counts.iter().fold(0_usize, |sum, count| sum.saturating_add(*count));
                Some(RankScores::new(&counts, numbers(total)?, numbers(total)?)?)
            }
            None => None,
        };
        Ok(ColumnScaling::new(self.columns, self.centres, self.factors, ranks)?)
    }
}

/// The model in the file of a member, which has no members of its own.
fn member_file(bytes: &[u8]) -> Result<SavedModel<'static>, Flaw> {
    let container = Container::open(bytes)?;
    if version(container.document())? != LP_VERSION {
        return Err(Flaw::Kind);
    }
    container.check_names()?;
    container.verify()?;
    SavedModel::decode(&container)
}

impl SavedAuto {
    /// A model without names.
    pub fn new(model: AutoModel, observed: Observed) -> Self {
        Self {
            model,
            observed,
            weights: None,
            names: None,
            encodings: Vec::new(),
            zero_based: false,
            preparation: Preparation::default(),
            target: None,
            provenance: Provenance::default(),
        }
    }

    /// How to find the variables in a file of new samples.
    pub fn columns(&self) -> ModelColumns {
        ModelColumns {
            names: self.names.clone().unwrap_or_default(),
            encodings: self.encodings.clone(),
            zero_based: self.zero_based,
            fills: self.preparation.fills.clone(),
            unknown: self.preparation.unknown,
            exposure: None,
        }
    }

    /// The bytes that it keeps, about.
    pub fn bytes(&self) -> u64 {
        let of_member = |member: &AutoMember| match &member.kind {
            // With ranks, at most the values and scores of every sample besides.
            MemberKind::Dense(member) => {
                let each = if member.units.ranks().is_some() { 56 } else { 24 };
                each * member.x.stored() as u64
            }
            MemberKind::Constant(_) | MemberKind::Terms { .. } => 0,
        };
        let samples = 8 * (self.model.record().samples as u64);
        120 * self.model.record().variables as u64 + samples + self.model.members().iter().map(of_member).sum::<u64>()
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

    fn parts(&self) -> Result<Parts<'static>, Flaw> {
        self.check()?;
        let mut files = Vec::new();
        let members = self.model.members().iter().map(|member| self.member(member, &mut files));
        let document = AutoDocument {
            format: FORMAT.to_owned(),
            version: VERSION,
            record: self.model.record().clone(),
            members: members.collect::<Result<_, _>>()?,
            ranges: self.model.ranges().clone(),
            names: self.names.clone(),
            categorical: self.encodings.clone(),
            zero_based: self.zero_based,
            preparation: self.preparation.clone(),
            target: self.target.clone(),
            observed: self.observed.clone(),
            weights: self.weights.clone(),
            provenance: Provenance { program: program(), ..self.provenance.clone() },
        };
        let document = serde_json::to_string(&document).map_err(|error| Flaw::Header(error.to_string()))?;
        let mut parts = BTreeMap::new();
        parts.insert(MEMBERS, FileArray::bytes(files));
        Ok(Parts::new(document, parts))
    }

    /// What the document says of a member, whose file joins the others.
    fn member(&self, member: &AutoMember, files: &mut Vec<u8>) -> Result<MemberDocument, Flaw> {
        let kind = match &member.kind {
            MemberKind::Constant(values) => KindDocument::Constant(values.clone()),
            MemberKind::Terms { model, shares } => KindDocument::Terms { model: model.clone(), shares: shares.clone() },
            MemberKind::Dense(dense) => {
                let own = SavedModel {
                    weights: self.weights.clone(),
                    ..SavedModel::new(dense.spec.clone(), dense.x.view(), self.observed.clone())
                };
                let file = own.with_model(&dense.model).to_bytes()?;
                let bytes = file.len();
                files.extend(file);
                KindDocument::Dense { units: UnitsDocument::of(&dense.units, files), bytes }
            }
        };
        Ok(MemberDocument { recipe: member.recipe.clone(), weight: member.weight, kind })
    }

    pub(super) fn decode(container: &Container<'_>) -> Result<Self, Flaw> {
        let document: AutoDocument =
            serde_json::from_str(container.document()).map_err(|error| Flaw::Header(error.to_string()))?;
        let mut files = container.raw(MEMBERS)?;
        let mut members = Vec::with_capacity(document.members.len());
        for MemberDocument { recipe, weight, kind } in document.members {
            let kind = match kind {
                KindDocument::Constant(values) => MemberKind::Constant(values),
                KindDocument::Terms { model, shares } => MemberKind::Terms { model, shares },
                KindDocument::Dense { units, bytes } => {
                    let Some((file, rest)) = files.split_at_checked(bytes) else {
                        return Err(Flaw::part(MEMBERS, format!("{} bytes are left of {bytes}", files.len())));
                    };
                    files = rest;
                    let saved = member_file(file)?;
                    if saved.observed != document.observed {
                        return Err(Flaw::part(MEMBERS, "one was fitted to other targets"));
                    }
                    let units = units.units(&mut files)?;
                    let model = saved.restore(Memory::available())?;
                    MemberKind::Dense(Box::new(DenseMember { units, spec: saved.spec, x: saved.x, model }))
                }
            };
            members.push(AutoMember { recipe, weight, kind });
        }
        if !files.is_empty() {
            return Err(Flaw::part(MEMBERS, format!("{} bytes belong to no member", files.len())));
        }
        let saved = Self {
            model: AutoModel::new(document.record, members, document.ranges)?,
            observed: document.observed,
            weights: document.weights,
            names: document.names,
            encodings: document.categorical,
            zero_based: document.zero_based,
            preparation: document.preparation,
            target: document.target,
            provenance: document.provenance,
        };
        saved.check()?;
        Ok(saved)
    }

    /// Whether its parts fit together; for the writer and the reader alike.
    fn check(&self) -> Result<(), Flaw> {
        let record = self.model.record();
        check_columns(self.names.as_deref(), None, record.variables)?;
        self.preparation.check(record.variables)?;
        let (samples, fits) = match (&record.task, &self.observed) {
            (Task::Numbers(1), Observed::Numbers(outputs)) if outputs.len() == 1 => (outputs[0].len(), true),
            (Task::Classes(classes), Observed::Classes { labels, rows }) => {
                check_labels(labels)?;
                (rows.len(), classes.len() == labels.len())
            }
            _ => (0, false),
        };
        if !fits || samples != record.samples {
            return Err(Flaw::part("observed", "targets that are not those of the model"));
        }
        if self.weights.as_ref().is_some_and(|weights| weights.len() != samples) {
            return Err(Flaw::part("weights", "not one for every sample"));
        }
        Ok(())
    }

    /// The labels, of classes.
    pub fn labels(&self) -> Option<&[Label]> {
        self.observed.labels()
    }
}
