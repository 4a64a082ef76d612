//! `banach predict`: read both files, match the columns, scale, predict, print.

use std::{collections::HashMap, fmt::Write as _};

use anyhow::{Context, bail, ensure};
use banach::{FeatureMatrix, Memory};
use banach_io::{Dataset, Fitted, Label, Request, SavedModel};
use serde::Serialize;

use super::args::Predict;
use crate::{files, fit::list, print};

/// The JSON object, key by key (docs/command-line.md explains them).
#[derive(Debug, Serialize)]
struct Predicted {
    version: &'static str,
    model: String,
    data: String,
    rows: usize,
    target: Option<String>,
    task: &'static str,
    /// Columns that the model does not use.
    ignored: Vec<String>,
    outputs: Vec<Output>,
    /// What is predicted of every row: the label, of classes.
    labels: Option<Vec<Label>>,
    probabilities: Option<Vec<Probability>>,
}

/// The values of one function.
#[derive(Debug, Serialize)]
struct Output {
    /// The class that it is positive for.
    class: Option<Label>,
    values: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Probability {
    class: Label,
    values: Vec<f64>,
}

pub(crate) fn predict(what: &Predict) -> anyhow::Result<()> {
    let memory = what.memory_limit.map_or_else(Memory::available, Memory::limit);
    let model = SavedModel::read(&what.model)?;
    let data = read(what, &model, memory)?;
    let ignored = ignored(&model, &data);
    if !ignored.is_empty() && !what.quiet {
        let names: Vec<&str> = ignored.iter().map(|name| &name[..]).collect();
        eprintln!("note: columns that the model does not use: {}", list(&names));
    }
    let (file, x) = (data.file.clone(), matrix(&model, data)?);
    let fitted = model.restore(memory)?;
    let predicted = Predicted {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        data: file,
        rows: x.samples(),
        target: model.target.clone(),
        task: if model.observed.labels().is_some() { "classification" } else { "regression" },
        ignored,
        outputs: outputs(&model, &fitted, &x)?,
        labels: labels(&model, &fitted, &x)?,
        probabilities: what.proba.then(|| probabilities(&model, &fitted, &x)).transpose()?,
    };
    let text = if what.json { print::json(&predicted)? } else { predicted.csv() };
    match &what.output {
        None => print::out(&text),
        Some(path) => {
            files::replace(path, text.as_bytes())?;
            if !what.quiet {
                eprintln!("wrote {}", path.display());
            }
            Ok(())
        }
    }
}

fn read(what: &Predict, model: &SavedModel<'_>, memory: Memory) -> anyhow::Result<Dataset> {
    let names = model.names.clone().unwrap_or_default();
    let mut request = Request::of_columns(names);
    (request.delimiter, request.memory) = (what.delimiter, memory.bytes());
    let data = request.read(&what.data)?;
    let (got, needed) = (data.table.names().len(), model.x.features());
    ensure!(
        got == needed,
        "the model has no names of variables, so {} must have its {needed} columns in their order and no other; it has {got}",
        data.file
    );
    Ok(data)
}

/// Columns of the file that nobody has met; the target and constant columns were there when the model was fitted.
fn ignored(model: &SavedModel<'_>, data: &Dataset) -> Vec<String> {
    let constant = model.standardization.as_ref().map_or(&[][..], |done| &done.constant);
    let known = |name: &String| model.target.as_ref() == Some(name) || constant.contains(name);
    data.others.iter().filter(|name| !known(name)).cloned().collect()
}

/// The columns in the order of the model, scaled as those of the training data were.
fn matrix(model: &SavedModel<'_>, data: Dataset) -> anyhow::Result<FeatureMatrix<'static>> {
    let (rows, table) = (data.table.rows(), data.table);
    let places: HashMap<&str, usize> = table.names().iter().enumerate().map(|(at, name)| (&name[..], at)).collect();
    let mut values = Vec::with_capacity(table.values().len());
    for variable in 0..model.x.features() {
        let place = match &model.names {
            Some(names) => {
                let name = &names[variable];
                let place = places.get(&name[..]).or_else(|| places.get(name.trim()));
                *place.with_context(|| format!("two variables of the model are the column {name:?}"))?
            }
            None => variable,
        };
        let from = values.len();
        values.extend_from_slice(table.column(place));
        if let Some(done) = &model.standardization {
            done.apply(variable, &mut values[from..]);
        }
    }
    Ok(FeatureMatrix::from_columns(rows, model.x.features(), values)?)
}

fn outputs(model: &SavedModel<'_>, fitted: &Fitted, x: &FeatureMatrix<'_>) -> anyhow::Result<Vec<Output>> {
    let decisions = fitted.decisions(x)?;
    let functions = decisions.chunks(x.samples()).enumerate();
    Ok(functions.map(|(at, values)| Output { class: model.class(at).cloned(), values: values.to_vec() }).collect())
}

fn labels(model: &SavedModel<'_>, fitted: &Fitted, x: &FeatureMatrix<'_>) -> anyhow::Result<Option<Vec<Label>>> {
    let (Fitted::Classification(classifier), Some(labels)) = (fitted, model.observed.labels()) else { return Ok(None) };
    let label = |class: &i64| labels[*class as usize].clone();
    Ok(Some(classifier.predict(x)?.iter().map(label).collect()))
}

fn probabilities(model: &SavedModel<'_>, fitted: &Fitted, x: &FeatureMatrix<'_>) -> anyhow::Result<Vec<Probability>> {
    let (Fitted::Classification(classifier), Some(labels)) = (fitted, model.observed.labels()) else {
        bail!("--proba is for classes, and this model predicts a number");
    };
    let values = classifier.predict_proba(x)?;
    let of_each = labels.iter().zip(values.chunks(x.samples()));
    Ok(of_each.map(|(class, values)| Probability { class: class.clone(), values: values.to_vec() }).collect())
}

impl Predicted {
    /// A column `prediction`, or one for every output, and one for the probability of every class.
    fn csv(&self) -> String {
        let mut header = match (&self.labels, self.outputs.len()) {
            (Some(_), _) | (None, 1) => vec!["prediction".to_owned()],
            (None, outputs) => (0..outputs).map(|output| format!("prediction_{output}")).collect(),
        };
        let probabilities = self.probabilities.as_deref().unwrap_or_default();
        header.extend(probabilities.iter().map(|of| quoted(&format!("probability_{}", of.class))));
        let mut text = header.join(",") + "\n";
        for row in 0..self.rows {
            let mut fields: Vec<String> = match &self.labels {
                Some(labels) => vec![quoted(&labels[row].to_string())],
                None => self.outputs.iter().map(|output| number(output.values[row])).collect(),
            };
            fields.extend(probabilities.iter().map(|of| number(of.values[row])));
            let _ = writeln!(text, "{}", fields.join(","));
        }
        text
    }
}

/// The fewest digits that give the number back.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
