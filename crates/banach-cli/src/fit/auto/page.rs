//! A page on a chosen model: the verdict, what was tried, what matters and the few terms. It needs no other file.

use std::path::Path;

use anyhow::Context;
use banach::{Target, fit::Task};
use minijinja::{context, value::Serde};

use super::{FittedAuto, text::terms_error};
use crate::{
    files::write_file,
    fit::{
        page::{
            chart::{Axis, Chart},
            environment, safe,
        },
        sparse::text::stands_for,
    },
    options::Common,
};

pub(super) fn write(path: &Path, fitted: &FittedAuto, target: &Target<'_>, common: &Common) -> anyhow::Result<()> {
    let mut environment = environment()?;
    environment.add_template("auto.html", include_str!("page.html")).context("the template of a chosen model")?;
    let template = environment.get_template("auto.html").context("the template of a chosen model")?;
    let largest = fitted.relevance.first().map_or(1.0, |entry| entry.share.max(f64::MIN_POSITIVE));
    let stands: Vec<Vec<String>> =
        fitted.terms.iter().map(|function| function.table.centres.iter().map(stands_for).collect()).collect();
    let recipes: Vec<String> = fitted.choice.standings.iter().map(|standing| standing.recipe.to_string()).collect();
    let left_out: Vec<String> = fitted.choice.left_out.iter().map(|(recipe, why)| format!("{recipe}: {why}")).collect();
    let page = template.render(context! {
        fitted => Serde(fitted),
        sentence => fitted.choice.sentence(),
        predictions => predictions(fitted, target).as_ref().map(safe),
        terms_error => terms_error(&fitted.choice),
        largest, stands, recipes, left_out,
    });
    write_file(path, page.context("rendering the chosen model")?, common)
}

/// Held-out predictions of numbers against what was observed.
fn predictions(fitted: &FittedAuto, target: &Target<'_>) -> Option<Chart> {
    let (Task::Numbers(_), Some(predicted), Target::Numbers(outputs)) =
        (&fitted.choice.task, &fitted.choice.held_out, target)
    else {
        return None;
    };
    let points: Vec<(f64, f64)> = outputs[0].iter().copied().zip(predicted.iter().copied()).collect();
    let both = || points.iter().flat_map(|(y, t)| [*y, *t]);
    let mut chart =
        Chart::new("Held-out predictions", Axis::linear("observed", both()), Axis::linear("predicted", both()));
    chart.diagonal = true;
    chart.dots = points.iter().enumerate().map(|(row, (y, t))| (*y, *t, format!("row {}", row + 1))).collect();
    Some(chart)
}
