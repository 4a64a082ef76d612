//! `banach predict`: read both files, match the columns, scale, predict, print.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    path::Path,
};

use anyhow::{Context, anyhow, bail, ensure};
use banach::{
    Error, FeatureMatrix, Memory,
    error::{Parameter, Remedy, counted},
};
use banach_io::{Dataset, Fill, Impute, Label, Request, Saved, Standardization, UnknownLabels, Values};
use serde::Serialize;

use super::{
    args::Predict,
    explain::{Explanation, explain},
    functions::Functions,
    open,
};
use crate::{
    files,
    fit::{
        args::Columns,
        read::{filled, list},
    },
    options::Common,
    print,
};

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
    /// What was filled in for missing values.
    imputed: Vec<Fill>,
    /// Labels that the model has not met and that were ignored.
    unknown: Vec<UnknownLabels>,
    /// The column that tells rows apart, and its values.
    id: Option<String>,
    ids: Option<Vec<String>>,
    outputs: Vec<Output>,
    /// What is predicted of every row: the label, of classes.
    labels: Option<Vec<Label>>,
    /// For every output the share of rows that its interval holds, and how far it reaches to both sides.
    intervals: Option<Vec<Interval>>,
    probabilities: Option<Vec<Probability>>,
    /// What the values of every function are made of.
    explanations: Option<Vec<Explanation>>,
}

#[derive(Debug, Serialize)]
struct Interval {
    coverage: f64,
    half_width: f64,
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

pub(crate) fn predict(what: &Predict, common: &Common) -> anyhow::Result<()> {
    let account = common.account()?;
    files::check_output("-o", what.output.as_deref(), &[&what.model, &what.data])?;
    let (model, _model) = open(&what.model, &account)?;
    let data = read(what, &model, account.left())?;
    let _data = account.take(data.bytes()).map_err(|short| short.error("the data", FEWER))?;
    let ignored = ignored(&model, &data);
    if !ignored.is_empty() {
        let names: Vec<&str> = ignored.iter().map(|name| &name[..]).collect();
        common.say(format_args!("note: columns that the model does not use: {}", list(&names)));
    }
    let notes = what
        .file
        .found(&data)
        .into_iter()
        .chain(genotypes(&data))
        .chain(filled(&data))
        .chain(data.unknown.iter().map(unknown));
    notes.for_each(|note| common.say(format_args!("note: {note}")));
    let (imputed, unknown, ids) = (data.fills.clone(), data.unknown.clone(), data.ids.clone());
    let _matrix = account.take(matrix_bytes(&model, &data)).map_err(|short| short.error("the data, scaled,", FEWER))?;
    let exposure = exposures(&model, &data);
    let (file, x) = (data.file.clone(), matrix(&model, data)?);
    let functions = model.functions() + model.labels().map_or(0, <[Label]>::len);
    let each = if common.explain { EXPLAINED } else { PREDICTION };
    let bytes = each.saturating_mul((x.samples() * functions) as u64);
    let _predictions = account.take(bytes).map_err(|short| short.error("the predictions", FEWER))?;
    let fitted = Functions::of(&model, account.left())?;
    let explained = common.explain.then(|| explain(&model, &fitted, &x, what.budget, account.left())).transpose()?;
    let (explanations, searches) = explained.map_or((None, Vec::new()), |(found, notes)| (Some(found), notes));
    searches.iter().for_each(|note| common.say(format_args!("note: {note}")));
    let predicted = Predicted {
        version: env!("CARGO_PKG_VERSION"),
        model: what.model.display().to_string(),
        data: file,
        rows: x.samples(),
        target: model.target().cloned(),
        task: if model.labels().is_some() { "classification" } else { "regression" },
        ignored,
        imputed,
        unknown,
        id: what.id.clone(),
        ids,
        explanations,
        outputs: outputs(&model, &fitted, &x, exposure.as_deref())?,
        labels: labels(&model, &fitted, &x)?,
        intervals: what.interval.map(|coverage| intervals(&model, &fitted, coverage)).transpose()?,
        probabilities: what.proba.then(|| probabilities(&model, &fitted, &x)).transpose()?,
    };
    let infinite =
        predicted.outputs.iter().flat_map(|output| &output.values).filter(|value| !value.is_finite()).count();
    if infinite > 0 {
        common.say(format_args!(
            "note: {} beyond the range of numbers: such samples are too far from those of the training data",
            counted(infinite, "value is", "values are")
        ));
    }
    let text = if common.json { print::json(&predicted)? } else { predicted.csv(what.raw_labels) };
    match &what.output {
        None => print::data(&text),
        Some(path) => files::write_file(path, text, common),
    }
}

/// The decisions of a model about the rows of a file, one function after another, and the rows.
pub(crate) fn decisions_for(
    model: &Saved,
    path: &Path,
    columns: &Columns,
    memory: Memory,
) -> anyhow::Result<(Dataset, Vec<f64>)> {
    let request = Request {
        impute: columns.impute.as_ref().map(|_| Impute::Mean).or(model.preparation().usual()),
        model: Some(model.columns()),
        memory: memory.bytes(),
        ..columns.file.request()
    };
    let data = request.read(path)?;
    let decisions = Functions::of(model, memory)?.decisions(&matrix(model, data.clone())?)?;
    Ok((data, decisions))
}

fn read(what: &Predict, model: &Saved, memory: Memory) -> anyhow::Result<Dataset> {
    let mut columns = model.columns();
    columns.unknown = what.unknown.unwrap_or(columns.unknown);
    let request = Request {
        id: what.id.clone(),
        impute: what.impute.as_ref().map(|_| Impute::Mean).or(model.preparation().usual()),
        model: Some(columns),
        memory: memory.bytes(),
        ..what.file.request()
    };
    let data = request.read(&what.data)?;
    let (got, needed) = (data.table.names().len(), model.variables());
    // The last columns of a sparse file may have no entry.
    ensure!(
        model.names().is_some() || got == needed || data.table.is_sparse() && got < needed,
        "the model has no names of variables, so {} must have its {} in their order and no other; it has {got}",
        data.file,
        counted(needed, "column", "columns")
    );
    Ok(data)
}

/// Columns of the file that nobody has met; the target, constant columns and variables without a part in any term were there when the
/// model was fitted.
fn ignored(model: &Saved, data: &Dataset) -> Vec<String> {
    let constant = model.standardization().map_or(&[][..], |done| &done.constant);
    let variables = model.names().unwrap_or_default();
    let known: HashSet<&String> = constant.iter().chain(variables).chain(model.target()).collect();
    data.others.iter().filter(|name| !known.contains(name)).cloned().collect()
}

/// What a prediction takes: as a number, and as text that grows by doubling.
const PREDICTION: u64 = 120;
/// The same with what it is made of.
const EXPLAINED: u64 = 1200;

/// What to do where memory is too small.
const FEWER: &[Remedy] = &[Remedy::Do("predict fewer rows at a time")];

/// The bytes of the columns in the order of the model.
fn matrix_bytes(model: &Saved, data: &Dataset) -> u64 {
    let (rows, variables) = (data.table.rows() as u64, model.variables() as u64);
    match model {
        // A number and its row.
        Saved::Sparse(model) => 16 * rows.saturating_mul(model.used().len() as u64) + 8 * variables,
        Saved::Lp(_) | Saved::Auto(_) if stays_sparse(model, data) => 2 * data.table.bytes() as u64 + 8 * variables,
        Saved::Lp(_) | Saved::Auto(_) => 8 * rows.saturating_mul(variables),
    }
}

/// Whether the columns of a sparse file stay sparse.
fn stays_sparse(model: &Saved, data: &Dataset) -> bool {
    data.table.is_sparse() && !model.standardization().is_some_and(moves)
}

/// Whether means are taken off, so that zeros do not stay zeros.
fn moves(done: &Standardization) -> bool {
    done.means.iter().chain(&done.corrections).any(|mean| *mean != 0.0)
}

/// The columns in the order of the model, scaled as those of the training data were. Those of a sparse file stay sparse if
/// no means are taken off. Of a model of few terms only the columns that it uses are there.
fn matrix(model: &Saved, data: Dataset) -> anyhow::Result<FeatureMatrix<'static>> {
    let (sparse, table, variables) = (stays_sparse(model, &data), data.table, model.variables());
    let rows = table.rows();
    let places: HashMap<&str, usize> = table.names().iter().enumerate().map(|(at, name)| (&name[..], at)).collect();
    let place = |variable: usize| match model.names() {
        Some(names) => {
            let name = &names[variable];
            let place = places.get(&name[..]).or_else(|| places.get(name.trim()));
            place.copied().map(Some).with_context(|| format!("two variables of the model are the column {name:?}"))
        }
        // Beyond the end of a sparse file all is 0.
        None => Ok(Some(variable).filter(|variable| *variable < table.names().len())),
    };
    let scale = |variable: usize, values: &mut [f64]| {
        model.standardization().iter().for_each(|done| done.apply(variable, values));
    };
    if let Saved::Sparse(model) = model {
        let (mut starts, mut values, used) = (vec![0], Vec::new(), model.used());
        for variable in 0..variables {
            if used.binary_search(&variable).is_ok() {
                let from = values.len();
                match place(variable)? {
                    Some(place) => values.extend(table.column(place)),
                    None => values.resize(from + rows, 0.0),
                }
                scale(variable, &mut values[from..]);
            }
            starts.push(values.len());
        }
        let of_rows: Vec<usize> = (0..used.len()).flat_map(|_| 0..rows).collect();
        return Ok(FeatureMatrix::from_sparse_columns(rows, variables, starts, of_rows, values)?);
    }
    match table.values() {
        Values::Sparse { starts, rows: of_rows, values } if sparse => {
            let (mut new_starts, mut new_rows, mut new_values) = (vec![0], Vec::new(), Vec::new());
            for variable in 0..variables {
                if let Some(place) = place(variable)? {
                    let (stored, from) = (starts[place]..starts[place + 1], new_values.len());
                    new_rows.extend_from_slice(&of_rows[stored.clone()]);
                    new_values.extend_from_slice(&values[stored]);
                    scale(variable, &mut new_values[from..]);
                }
                new_starts.push(new_values.len());
            }
            Ok(FeatureMatrix::from_sparse_columns(rows, variables, new_starts, new_rows, new_values)?)
        }
        _ => {
            let mut values = Vec::with_capacity(rows * variables);
            for variable in 0..variables {
                let from = values.len();
                match place(variable)? {
                    Some(place) => values.extend(table.column(place)),
                    None => values.resize(from + rows, 0.0),
                }
                scale(variable, &mut values[from..]);
            }
            Ok(FeatureMatrix::from_columns(rows, variables, values)?)
        }
    }
}

/// Which genotypes were found, and how.
fn genotypes(data: &Dataset) -> Vec<String> {
    let Some(told) = &data.genotypes else { return Vec::new() };
    let mut notes = Vec::new();
    if told.second_allele > 0 {
        notes.push(format!(
            "variants of which the second allele of the .bim is counted, as it was when the model was fitted: {}",
            told.second_allele
        ));
    }
    if told.unmatched > 0 {
        notes.push(format!("rows of --pheno and --covar whose sample the .fam does not have: {}", told.unmatched));
    }
    notes
}

/// Which labels were ignored.
fn unknown(found: &UnknownLabels) -> String {
    let labels: Vec<&str> = found.labels.iter().map(|label| &label[..]).collect();
    format!(
        "labels of {:?} that the model has not met were ignored, in {}: {}",
        found.column,
        counted(found.rows.len(), "row", "rows"),
        list(&labels)
    )
}

fn intervals(model: &Saved, fitted: &Functions, coverage: f64) -> anyhow::Result<Vec<Interval>> {
    let widths = fitted.half_widths(coverage).map_err(|error| match error {
        // What to do is to be said in flags of `banach fit`, which this command does not have.
        Error::NoIntervals { reason, held_out: false } if model.labels().is_some() => {
            anyhow!("--interval: {reason} (--proba)")
        }
        Error::NoIntervals { reason, held_out: false } => anyhow!("--interval: {reason}"),
        Error::NoIntervals { reason, held_out: true } => anyhow!(
            "--interval: {reason} (`banach fit`, with --sparse or --model lp --cv 5 or without, holds rows out and makes a model with intervals)"
        ),
        other => other.into(),
    })?;
    Ok(widths.into_iter().map(|half_width| Interval { coverage, half_width }).collect())
}

/// The values of the column of exposures, of a model that has one.
fn exposures(model: &Saved, data: &Dataset) -> Option<Vec<f64>> {
    let column = &model.exposure()?.column;
    let place = data.table.names().iter().position(|name| name == column || name == column.trim())?;
    Some(data.table.column(place))
}

fn outputs(
    model: &Saved,
    fitted: &Functions,
    x: &FeatureMatrix<'_>,
    exposure: Option<&[f64]>,
) -> anyhow::Result<Vec<Output>> {
    let exposed = model.exposure().zip(exposure).map(|(column, values)| column.of(values));
    let responses = fitted.responses(x, exposed)?;
    let functions = responses.chunks(x.samples()).enumerate();
    Ok(functions.map(|(at, values)| Output { class: model.class(at).cloned(), values: values.to_vec() }).collect())
}

fn labels(model: &Saved, fitted: &Functions, x: &FeatureMatrix<'_>) -> anyhow::Result<Option<Vec<Label>>> {
    let Some(labels) = model.labels() else { return Ok(None) };
    let label = |class: &usize| labels[*class].clone();
    Ok(Some(fitted.labels(x)?.iter().map(label).collect()))
}

fn probabilities(model: &Saved, fitted: &Functions, x: &FeatureMatrix<'_>) -> anyhow::Result<Vec<Probability>> {
    let Some(labels) = model.labels() else {
        bail!("--proba is for classes, and this model predicts a number");
    };
    let values = fitted.probabilities(x).map_err(|error| match error {
        // Of the flags of `banach fit`, which this command does not have.
        Error::Parameter { parameter: Parameter::Loss, got, .. } => anyhow!(
            "--proba is for models with the logistic loss, and this one has the {got} loss; leave it out, or fit the model again with \
             `banach fit --loss logistic`"
        ),
        other => other.into(),
    })?;
    let of_each = labels.iter().zip(values.chunks(x.samples()));
    Ok(of_each.map(|(class, values)| Probability { class: class.clone(), values: values.to_vec() }).collect())
}

impl Predicted {
    /// A column `prediction`, or one for every output, and one for the probability of every class.
    fn csv(&self, raw_labels: bool) -> String {
        let outputs = self.outputs.len();
        let mut header: Vec<String> = self.id.iter().map(|id| quoted(id)).collect();
        match &self.labels {
            Some(_) => header.push("prediction".to_owned()),
            None => header.extend(numbered("prediction", outputs)),
        }
        let intervals = self.intervals.as_deref().unwrap_or_default();
        if !intervals.is_empty() {
            header.extend(numbered("lower", outputs).into_iter().chain(numbered("upper", outputs)));
        }
        let probabilities = self.probabilities.as_deref().unwrap_or_default();
        header.extend(probabilities.iter().map(|of| quoted(&format!("probability_{}", of.class))));
        let explanations = self.explanations.as_deref().unwrap_or_default();
        header.extend(explanations.iter().map(|of| quoted(&of.header(self.outputs.len()))));
        let mut text = header.join(",") + "\n";
        for row in 0..self.rows {
            let id = self.ids.iter().map(|ids| quoted(&harmless(&ids[row], raw_labels)));
            let mut fields: Vec<String> = id.collect();
            match &self.labels {
                Some(labels) => fields.push(quoted(&label(&labels[row], raw_labels))),
                None => fields.extend(self.outputs.iter().map(|output| number(output.values[row]))),
            }
            for sign in [-1.0, 1.0] {
                let ends = self.outputs.iter().zip(intervals);
                fields.extend(ends.map(|(output, interval)| number(output.values[row] + sign * interval.half_width)));
            }
            fields.extend(probabilities.iter().map(|of| number(of.values[row])));
            fields.extend(explanations.iter().map(|of| quoted(&of.because(row))));
            let _ = writeln!(text, "{}", fields.join(","));
        }
        text
    }
}

/// The name of a column for every output, or for the only one.
fn numbered(name: &str, outputs: usize) -> Vec<String> {
    if outputs == 1 { vec![name.to_owned()] } else { (0..outputs).map(|output| format!("{name}_{output}")).collect() }
}

/// A label as it is written.
fn label(label: &Label, raw: bool) -> String {
    harmless(&label.to_string(), raw || !matches!(label, Label::Text(_)))
}

/// A text as it is written. A spreadsheet takes text that begins as a formula does for one, and runs it; an apostrophe keeps it text.
fn harmless(text: &str, raw: bool) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    if !raw && formula && !number() { format!("'{text}") } else { text.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_spreadsheets_would_run_are_text() {
        let text = |text: &str| Label::Text(text.to_owned());
        for formula in ["=1+1", "+A1", "-cmd", "@sum", "\t=1", "\r=1", "-inf", "-", "＝1"] {
            assert_eq!(label(&text(formula), false), format!("'{formula}"));
            assert_eq!(label(&text(formula), true), formula);
        }
        for harmless in ["a=b", "", "-1", "+2.5e3", "'=1"] {
            assert_eq!(label(&text(harmless), false), harmless);
        }
        assert_eq!(
            (label(&Label::Integer(-1), false), label(&Label::Number(-0.5), false)),
            ("-1".into(), "-0.5".into())
        );
    }
}
