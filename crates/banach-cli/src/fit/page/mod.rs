//! A page on one fit: everything that the JSON object says, with pictures. It needs no other file. A script sorts and saves its tables; nothing
//! else depends on it. Pages of other kinds of fits are made of the same parts.

pub(crate) mod chart;
mod glossary;
pub(crate) mod readout;
mod surface;

use std::path::Path;

use anyhow::Context;
use banach::{
    error::counted,
    fit::{Learner, LearningCurve},
    report::{FunctionReport, HeldOut, RANKINGS, Separation, Validation},
};
use minijinja::{Environment, Error, ErrorKind, HtmlEscape, Value, context, value::Serde};

use self::chart::{Axis, Chart, Line};
use super::{
    result::Fitted,
    text::{leaders, significant, solver_error},
    verdict,
};
use crate::{files::write_file, options::Common};

/// Writes the page.
pub(crate) fn write(path: &Path, fitted: &Fitted, common: &Common) -> anyhow::Result<()> {
    write_file(path, page(fitted)?, common)
}

/// The page.
fn page(fitted: &Fitted) -> anyhow::Result<String> {
    let charts = context! {
        gammas => fitted.report.validation.as_ref().map(|validation| safe(&gammas(validation))),
        predictions => predictions(fitted).as_ref().map(safe),
        roc => separations(fitted).map(|classes| safe(&roc(fitted, classes))),
        calibration => separations(fitted).and_then(|classes| calibration(fitted, classes)).as_ref().map(safe),
        convergence => safe(&convergence(fitted)),
    };
    let functions: Vec<Value> = fitted.report.functions.iter().map(sizes).collect();
    let gap = |at: &usize| fitted.report.functions[*at].certificate.relative_gap;
    let worst = (0..fitted.report.functions.len()).max_by(|a, b| gap(a).total_cmp(&gap(b)));
    let verdict = verdict::page(fitted.report.assessment.as_ref(), fitted.report.test.as_ref());
    let learning = learning(fitted.report.learning_curve.as_ref());
    let told = fitted.report.readout.as_ref().map(|found| readout::pictures(found, &fitted.data));
    let own = context! {
        fitted => Serde(fitted), charts, functions, worst, verdict, told, rankings => RANKINGS, ..learning
    };
    rendered(include_str!("page.html"), own)
}

/// A page of this template, with all parts that pages share.
pub(crate) fn rendered(template: &'static str, own: Value) -> anyhow::Result<String> {
    let mut environment = environment()?;
    // The ending of the name turns escaping on.
    environment.add_template("own.html", template).context("the template of the page")?;
    let page = environment.get_template("own.html").context("the template of the page")?;
    page.render(context! { glossary => glossary::GLOSSARY, ..own }).context("rendering the page")
}

/// The learning curve, and what is fitted to its parts.
pub(crate) fn learning(curve: Option<&LearningCurve>) -> Value {
    let learner = curve.map(|curve| match curve.what {
        Learner::ChosenParameters => "the model sees, its parameters as they were chosen",
        Learner::Terms => "the whole search for terms sees",
        Learner::Choice => "the whole choice of a model sees",
    });
    context! { learning => curve.filter(|curve| curve.points.len() > 1).map(|curve| safe(&learned(curve))), learner }
}

fn learned(curve: &LearningCurve) -> Chart {
    let points: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.samples, point.error)).collect();
    let x = Axis::linear("rows", points.iter().map(|(rows, _)| *rows).chain([0.0]));
    let y = Axis::linear("error", points.iter().map(|(_, error)| *error).chain([0.0]));
    let mut chart = Chart::new("Error on held-out rows for every number of rows", x, y);
    chart.lines.push(Line { label: "error".to_owned(), points, errors: Vec::new() });
    chart
}

/// Nothing is drawn of what is not known.
fn finite(error: f64) -> f64 {
    if error.is_finite() { error } else { 0.0 }
}

/// What every page needs.
fn environment() -> anyhow::Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.add_filter("short", |number: f64| significant(number));
    // What JSON has as null.
    environment.add_test("finite", |number: f64| number.is_finite());
    environment.add_filter("percent", percent);
    // Every number says where it is in the JSON object.
    environment.add_function("number", |path: &str, value: f64| data(path, value, &significant(value)));
    environment.add_function("share", |path: &str, value: f64| data(path, value, &percent(value)));
    environment.add_function("word", word);
    environment.add_function("counted", |number: usize, one: &str, many: &str| counted(number, one, many));
    for (name, part) in [
        ("head.html", include_str!("head.html")),
        ("verdict.html", include_str!("verdict.html")),
        ("readout.html", include_str!("readout.html")),
        ("learning.html", include_str!("learning.html")),
        ("foot.html", include_str!("foot.html")),
        ("style.css", include_str!("style.css")),
        ("script.js", include_str!("script.js")),
    ] {
        environment.add_template(name, part).with_context(|| format!("the part {name} of pages"))?;
    }
    Ok(environment)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn data(path: &str, value: f64, text: &str) -> Value {
    let path = HtmlEscape(path);
    Value::from_safe_string(format!("<data data-path=\"{path}\" value=\"{value:?}\">{text}</data>"))
}

/// A word with its meaning, which is shown where it is pointed at, and a link to it.
fn word(word: &str) -> Result<Value, Error> {
    let unknown = || Error::new(ErrorKind::InvalidOperation, format!("{word} is not in the glossary"));
    let meaning = HtmlEscape(glossary::meaning(word).ok_or_else(unknown)?);
    let place = word.replace(' ', "-");
    Ok(Value::from_safe_string(format!(
        "<a class=\"word\" href=\"#word-{place}\" data-meaning=\"{meaning}\">{word}</a>"
    )))
}

/// A chart is markup already.
pub(crate) fn safe(chart: &Chart) -> Value {
    Value::from_safe_string(chart.svg())
}

/// What the bars of a function are drawn in proportion to, and how often its largest monomials were found in halves.
fn sizes(function: &FunctionReport) -> Value {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN_POSITIVE, f64::max);
    let top = function.top.as_ref();
    let weights = &mut top.into_iter().flat_map(|top| &top.monomials).map(|entry| entry.weight.abs());
    let relevance = function.relevance.as_ref();
    let shares = &mut relevance.into_iter().flat_map(|found| &found.variables).map(|entry| entry.share);
    let frequency = |monomial: &str| {
        let found = function.stability.as_ref()?.monomials.iter().find(|entry| entry.monomial == monomial);
        Some(found.map_or(0.0, |entry| entry.frequency))
    };
    let frequencies: Vec<Option<f64>> =
        top.into_iter().flat_map(|top| &top.monomials).map(|entry| frequency(&entry.monomial)).collect();
    context! {
        weight => largest(weights),
        share => largest(shares),
        frequencies,
        solver_error => top.map(solver_error),
        leaders => leaders(function),
    }
}

/// The held-out loss against gamma.
pub(crate) fn gammas(validation: &Validation) -> Chart {
    let known = || validation.candidates.iter().filter(|candidate| candidate.loss.value.is_finite());
    let losses = known().map(|candidate| (candidate.gamma, candidate.loss.value));
    let line = Line {
        label: "held-out loss".to_owned(),
        points: losses.collect(),
        errors: known().map(|candidate| finite(candidate.loss.standard_error)).collect(),
    };
    let ends = line.points.iter().zip(&line.errors).flat_map(|((_, y), error)| [y - error, y + error]);
    let y = Axis::linear("loss on held-out samples", ends);
    let x = Axis::logarithmic("gamma", line.points.iter().map(|(x, _)| *x));
    let mut chart = Chart::new("Loss on held-out samples for every gamma, with its standard error", x, y);
    chart.mark = validation.taken().map(|taken| (taken.gamma, format!("taken: {}", significant(taken.gamma))));
    chart.lines.push(line);
    chart
}

fn held_out(fitted: &Fitted) -> Option<&HeldOut> {
    fitted.report.validation.as_ref()?.held_out.as_ref()
}

/// Predictions of held-out samples against the targets, for numbers.
fn predictions(fitted: &Fitted) -> Option<Chart> {
    let samples = &held_out(fitted).filter(|_| fitted.data.classes.is_none())?.samples;
    let points = || samples.iter().map(|sample| (sample.targets[0], sample.predictions[0]));
    // One scale for both, so that the diagonal means what it says.
    let ends = || points().flat_map(|(target, predicted)| [target, predicted]);
    let (x, y) = (Axis::linear("actual", ends()), Axis::linear("predicted without this sample", ends()));
    let mut chart = Chart::new("Predicted against actual values of held-out samples", x, y);
    chart.diagonal = true;
    chart.dots = samples
        .iter()
        .map(|sample| {
            let (target, predicted) = (sample.targets[0], sample.predictions[0]);
            let what = format!("row {}: {} predicted as {}", sample.row, significant(target), significant(predicted));
            (target, predicted, what)
        })
        .collect();
    Some(chart)
}

fn separations(fitted: &Fitted) -> Option<&[Separation]> {
    held_out(fitted).map(|held_out| &held_out.classes[..]).filter(|classes| !classes.is_empty())
}

/// What a function is called.
fn label(fitted: &Fitted, function: usize) -> String {
    fitted.report.functions[function].class.clone().unwrap_or_else(|| fitted.data.target.clone())
}

fn roc(fitted: &Fitted, classes: &[Separation]) -> Chart {
    let title = "Receiver operating characteristic of held-out samples";
    let mut chart = Chart::new(title, Axis::unit("share of false positives"), Axis::unit("share of true positives"));
    chart.diagonal = true;
    let line = |(at, class): (usize, &Separation)| Line {
        label: format!("{}: {:.3}", label(fitted, at), class.auc),
        points: class.roc.clone(),
        errors: Vec::new(),
    };
    chart.lines = classes.iter().enumerate().map(line).collect();
    chart
}

fn calibration(fitted: &Fitted, classes: &[Separation]) -> Option<Chart> {
    let title = "Observed frequency against predicted probability of held-out samples";
    let mut chart = Chart::new(title, Axis::unit("predicted probability"), Axis::unit("observed frequency"));
    chart.diagonal = true;
    let line = |(at, class): (usize, &Separation)| Line {
        label: label(fitted, at),
        points: class.calibration.iter().map(|bin| (bin.predicted, bin.observed)).collect(),
        errors: Vec::new(),
    };
    chart.lines = classes.iter().enumerate().filter(|(_, class)| !class.calibration.is_empty()).map(line).collect();
    (!chart.lines.is_empty()).then_some(chart)
}

/// The relative gap after every pass.
fn convergence(fitted: &Fitted) -> Chart {
    let steps = || fitted.report.functions.iter().flat_map(|function| &function.history);
    let x = Axis::linear("passes over the data", steps().map(|step| step.passes as f64).chain([0.0]));
    let y = Axis::logarithmic("relative duality gap", steps().map(|step| step.relative_gap));
    let mut chart = Chart::new("Relative duality gap after every pass over the data", x, y);
    let line = |(at, function): (usize, &FunctionReport)| {
        let seen = function.history.iter().filter(|step| step.relative_gap.is_finite());
        let points = seen.map(|step| (step.passes as f64, step.relative_gap)).collect();
        Line { label: label(fitted, at), points, errors: Vec::new() }
    };
    chart.lines = fitted.report.functions.iter().enumerate().map(line).collect();
    chart
}
