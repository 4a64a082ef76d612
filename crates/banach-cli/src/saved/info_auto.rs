//! `banach info` and `banach features` of a chosen model.

use banach::{
    Memory,
    error::counted,
    fit::{AutoRecord, SparseModel, TermsStanding},
    report::{Readout, SparseFunctionReport, SparseTable},
};
use banach_io::{FORMAT, Label, Provenance, Saved, SavedAuto};
use serde::Serialize;

use super::{
    args::{Features, Info},
    info::{file, goal},
};
use crate::{
    fit::{auto::text as auto_text, sparse::text as sparse_text, verdict},
    options::Common,
    print,
    table::Table,
    visible::visible_name,
};

/// The JSON object of `banach info`.
#[derive(Debug, Serialize)]
struct ToldAuto {
    version: &'static str,
    model: String,
    bytes: u64,
    format: &'static str,
    format_version: u64,
    provenance: Provenance,
    target: Option<String>,
    classes: Option<Vec<Label>>,
    variables: Vec<String>,
    choice: AutoRecord,
    error: f64,
    /// The few terms that evidence names, and their errors beside that of the model.
    terms: Vec<SparseFunctionReport>,
    terms_standing: Option<TermsStanding>,
}

/// The JSON object of `banach features`.
#[derive(Debug, Serialize)]
struct MatterList {
    version: &'static str,
    model: String,
    #[serde(flatten)]
    readout: Readout,
    terms: Vec<SparseFunctionReport>,
    terms_standing: Option<TermsStanding>,
}

pub(super) fn info(what: &Info, saved: &Saved, model: &SavedAuto, bytes: u64, common: &Common) -> anyhow::Result<()> {
    let record = model.model.record();
    let told = ToldAuto {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        bytes,
        format: FORMAT,
        format_version: saved.version(),
        provenance: model.provenance.clone(),
        target: model.target.clone(),
        classes: model.labels().map(<[Label]>::to_vec),
        variables: saved.variable_names(),
        error: record.error(),
        terms: terms(saved, model)?,
        terms_standing: record.terms_standing(),
        choice: record.clone(),
    };
    let text = || {
        let target = told.target.as_ref().map_or_else(String::new, |name| format!(" {name:?}"));
        let assessment = record.assessment.clone().map(|found| match &told.classes {
            Some(labels) => found.with_labels(&labels.iter().map(ToString::to_string).collect::<Vec<_>>()),
            None => found,
        });
        let mut lines = verdict::lines(assessment.as_ref(), None);
        lines.extend([
            file(&told.model, bytes, told.format_version, &told.provenance.program),
            format!(
                "data:   {}, {}; target{target}, {}; {}",
                visible_name(told.provenance.source.as_deref().unwrap_or("not from a file")),
                counted(record.samples, "sample", "samples"),
                goal(told.classes.as_deref(), 1),
                counted(record.variables, "variable", "variables"),
            ),
            format!("model:  {}", record.sentence()),
        ]);
        lines.push(format!("\n{}", auto_text::contenders(record).text().trim_end()));
        for function in &told.terms {
            let class = function.class.as_ref().filter(|_| told.terms.len() > 1);
            lines.push(class.map_or_else(String::new, |class| format!("\nclass {}:", visible_name(class))));
            lines.extend(sparse_text::equation(&function.table));
        }
        lines.extend(record.terms_sentence());
        lines.join("\n") + "\n"
    };
    let how = || {
        Ok("Every contender was fitted without each of the folds; docs/auto.md has the rule of the choice.".to_owned())
    };
    print::result(common, &told, text, how)
}

pub(super) fn features(
    what: &Features,
    saved: &Saved,
    model: &SavedAuto,
    memory: Memory,
    common: &Common,
) -> anyhow::Result<()> {
    let record = model.model.record();
    let classes: Vec<String> = model.labels().unwrap_or_default().iter().map(ToString::to_string).collect();
    let told = MatterList {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        readout: Readout::of_auto(&model.model, &saved.variable_names(), &classes, None, memory)?,
        terms: terms(saved, model)?,
        terms_standing: record.terms_standing(),
    };
    let text = || {
        let mut lines: Vec<String> = auto_text::matters(&told.readout).iter().map(Table::text).collect();
        lines.extend(auto_text::terms(&told.terms, record));
        lines.join("\n") + "\n"
    };
    let how = || Ok("Shares are means over the members of the model by their weights.".to_owned());
    print::result(common, &told, text, how)
}

/// The few terms that evidence names, with names.
fn terms(saved: &Saved, model: &SavedAuto) -> Result<Vec<SparseFunctionReport>, banach::Error> {
    let names = saved.variable_names();
    let left = saved.target().map_or("y", |name| name);
    let left = if model.labels().is_some() { "decision" } else { left };
    let functions = model.model.record().terms.iter().flat_map(SparseModel::functions).enumerate();
    let one = |(at, function)| {
        let class = saved.class(at).map(ToString::to_string);
        Ok(SparseFunctionReport { class, table: SparseTable::new(function, &names, None, left)? })
    };
    functions.map(one).collect()
}
