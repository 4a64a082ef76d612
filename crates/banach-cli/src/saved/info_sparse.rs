//! `banach info` of a model of few terms.

use banach::{error::counted, report::SparseFunctionReport, sparse::SparseSpec};
use banach_io::{Encoding, FORMAT, Label, Provenance, Saved, SavedSparse};
use serde::Serialize;

use super::{
    args::Info,
    features::functions_of,
    info::{file, goal},
};
use crate::{
    fit::{
        result::Variable,
        sparse::text::{equation, found, proof},
        text::scaled,
    },
    options::Common,
    print,
    visible::visible_name,
};

/// The JSON object, key by key (docs/command-line.md explains them).
#[derive(Debug, Serialize)]
struct ToldSparse {
    version: &'static str,
    model: String,
    bytes: u64,
    format: &'static str,
    format_version: u64,
    provenance: Provenance,
    spec: SparseSpec,
    data: SparseData,
    functions: Vec<SparseFunctionReport>,
}

#[derive(Debug, Serialize)]
struct SparseData {
    samples: usize,
    weight: Option<f64>,
    target: Option<String>,
    classes: Option<Vec<Label>>,
    variables: Vec<Variable>,
    standardized: bool,
    centred: bool,
    categorical: Vec<Encoding>,
    constant: Vec<String>,
}

pub(super) fn info(what: &Info, saved: &Saved, model: &SavedSparse, bytes: u64, common: &Common) -> anyhow::Result<()> {
    let done = saved.standardization();
    let told = ToldSparse {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        bytes,
        format: FORMAT,
        format_version: saved.version(),
        provenance: model.provenance.clone(),
        spec: model.spec.clone(),
        data: SparseData {
            samples: model.samples,
            weight: model.weight,
            target: model.target.clone(),
            classes: model.labels.clone(),
            variables: Variable::all(&saved.variable_names(), done),
            standardized: done.is_some(),
            centred: done.is_some_and(|done| done.centred),
            categorical: model.encodings.clone(),
            constant: done.map_or_else(Vec::new, |done| done.constant.clone()),
        },
        functions: functions_of(saved, model)?,
    };
    let how = || Ok("The terms are in the file, and no sample is: to look for others takes the data.".to_owned());
    print::result(common, &told, || told.text(), how)
}

impl ToldSparse {
    fn text(&self) -> String {
        let Self { provenance, spec, data, .. } = self;
        let target = data.target.as_ref().map_or_else(String::new, |name| format!(" {name:?}"));
        let goal = goal(data.classes.as_deref(), self.functions.len());
        let mut lines = vec![
            file(&self.model, self.bytes, self.format_version, &provenance.program),
            format!(
                "data:   {}, {} not in the file; target{target}, {goal}; {}{}{}",
                visible_name(provenance.source.as_deref().unwrap_or("not from a file")),
                counted(data.samples, "sample, which is", "samples, which are"),
                counted(data.variables.len(), "variable", "variables"),
                scaled(data.standardized, data.centred),
                data.weight.map_or_else(String::new, |weight| format!("; samples have weights, {weight} together")),
            ),
            format!(
                "model:  few terms by {}, {} loss; K = {}{}",
                spec.penalty,
                spec.loss.name(),
                spec.kernel,
                if spec.fit_intercept { "; and a constant" } else { "" },
            ),
        ];
        for SparseFunctionReport { class, table } in &self.functions {
            lines.push(format!("sparse: {}", found(table, class.as_deref())));
            lines.push(format!("proof:  {}", proof(table)));
            lines.extend((!table.terms.is_empty()).then(|| equation(table)).into_iter().flatten());
        }
        lines.join("\n") + "\n"
    }
}
