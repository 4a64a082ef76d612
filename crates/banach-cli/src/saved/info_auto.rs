//! `banach info` and `banach features` of a chosen model.

use banach::{
    Memory,
    fit::{AutoRecord, SparseModel},
    report::{SparseFunctionReport, SparseTable, VariableShare},
};
use banach_io::{FORMAT, Label, Provenance, Saved, SavedAuto};
use serde::Serialize;

use super::{
    args::{Features, Info},
    info::{file, goal},
};
use crate::{
    fit::{
        auto::{relevance, text as auto_text},
        sparse::text as sparse_text,
    },
    options::Common,
    print,
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
}

/// The JSON object of `banach features`.
#[derive(Debug, Serialize)]
struct MatterList {
    version: &'static str,
    model: String,
    relevance: Vec<VariableShare>,
    terms: Vec<SparseFunctionReport>,
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
        choice: record.clone(),
    };
    let text = || {
        let target = told.target.as_ref().map_or_else(String::new, |name| format!(" {name:?}"));
        let mut lines = vec![
            file(&told.model, bytes, told.format_version, &told.provenance.program),
            format!(
                "data:   {}, {} samples; target{target}, {}; {} variables",
                visible_name(told.provenance.source.as_deref().unwrap_or("not from a file")),
                record.samples,
                goal(told.classes.as_deref(), 1),
                record.variables,
            ),
            format!("model:  {}", record.sentence()),
        ];
        lines.extend(auto_text::classes(record));
        lines.push(format!("\n{}", auto_text::contenders(record).text().trim_end()));
        lines.join("\n") + "\n"
    };
    let how = || {
        Ok("Every contender was fitted without each of five folds; docs/auto.md has the rule of the choice.".to_owned())
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
    let names = saved.variable_names();
    let left = saved.target().map_or("y", |name| name);
    let left = if model.labels().is_some() { "decision" } else { left };
    let functions = model.model.record().terms.iter().flat_map(SparseModel::functions).enumerate();
    let one = |(at, function)| -> Result<_, banach::Error> {
        let class = saved.class(at).map(ToString::to_string);
        Ok(SparseFunctionReport { class, table: SparseTable::new(function, &names, left)? })
    };
    let told = MatterList {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        relevance: relevance(&model.model, &names, memory)?,
        terms: functions.map(one).collect::<Result<_, _>>()?,
    };
    let text = || {
        let mut lines: Vec<String> =
            auto_text::variables(&told.relevance).map(|table| table.text()).into_iter().collect();
        told.terms.iter().for_each(|function| lines.extend(sparse_text::tables(&function.table, "")));
        lines.join("\n") + "\n"
    };
    let how = || Ok("Shares are means over the members of the model by their weights.".to_owned());
    print::result(common, &told, text, how)
}
