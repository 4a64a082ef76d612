//! `banach fit --sparse`: the few terms that explain a number, or tell classes apart.

mod page;
pub(crate) mod text;

use banach::{
    fit::SparseModel,
    report::{SparseFunctionReport, SparseTable},
    sparse::SparseSpec,
};
use banach_io::{Label, Provenance, SavedSparse};
use serde::Serialize;

use super::{
    args::{Columns, FitArgs},
    input::Input,
    resolve,
    result::Data,
};
use crate::{files, options::Common, print};

/// What `banach fit --sparse` prints.
#[derive(Debug, Serialize)]
struct FittedSparse {
    version: &'static str,
    /// What makes it again.
    command: String,
    data: Data,
    /// What could be named, and how it was looked for.
    spec: SparseSpec,
    /// One, or one for every class if there are more than two.
    functions: Vec<SparseFunctionReport>,
    /// The model file, if one was asked for.
    saved: Option<String>,
    /// What the reader should know.
    notes: Vec<String>,
}

pub(super) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<u8> {
    files::check_outputs(fit.output.as_deref(), fit.tables.report.as_deref(), &fit.data)?;
    // Products of variables as they were measured are tried as well as those of centred ones, so nothing is standardised here.
    let columns = Columns { no_standardize: true, ..fit.columns.clone() };
    let input = Input::read(&fit.data, &columns, &fit.model, common.account()?)?;
    let _page = input.page(fit.tables.report.is_some())?;
    let spec = SparseSpec {
        kernel: resolve::kernel(&fit.model).spec()?,
        max_terms: fit.sparse.max_terms,
        fit_intercept: !fit.model.no_intercept,
        loss: input.goal.loss,
        penalty: fit.sparse.penalty,
        hierarchy: fit.sparse.hierarchy,
    };
    let x = input.matrix()?;
    let model =
        spec.model(&x, &input.goal.target, None, &input.account).map_err(|error| input.located(error.into()))?;
    if let Some(path) = &fit.output {
        saved(&input, &spec, &model).write(path)?;
    }
    let fitted = FittedSparse {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        functions: functions(&input, &model)?,
        spec,
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        notes: input.notes,
    };
    if let Some(path) = &fit.tables.report {
        page::write(path, &fitted, common)?;
    }
    print::out(&if common.json { print::json(&fitted)? } else { text::page(&fitted) })?;
    let holds = model.functions().iter().all(|function| function.certificate().holds());
    Ok(u8::from(!holds))
}

/// Every function by the names of its class and of its variables.
pub(super) fn functions(input: &Input, model: &SparseModel) -> Result<Vec<SparseFunctionReport>, banach::Error> {
    let named = input.columns();
    let left = if named.classes.is_some() { "decision" } else { named.target };
    let functions = model.functions().iter().zip(input.goal.positive());
    let report =
        |(function, class)| Ok(SparseFunctionReport { class, table: SparseTable::new(function, named.names, left)? });
    functions.map(report).collect()
}

fn saved(input: &Input, spec: &SparseSpec, model: &SparseModel) -> SavedSparse {
    let labels = input.goal.classes.as_ref().map(|classes| Label::from_texts(&classes.labels));
    SavedSparse {
        names: Some(input.data.table.names().to_vec()),
        encodings: input.data.encodings.clone(),
        zero_based: input.data.zero_based,
        target: Some(input.data.target.name().to_owned()),
        labels,
        provenance: Provenance { source: Some(input.data.file.clone()), ..Provenance::default() },
        ..SavedSparse::new(spec.clone(), model.clone(), (input.rows(), input.data.table.names().len()))
    }
}
