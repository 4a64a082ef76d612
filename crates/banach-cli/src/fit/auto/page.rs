//! A page on a chosen model: the verdict, what was tried, what matters and the few terms. It needs no other file.

use std::path::Path;

use anyhow::Context;
use banach::{Target, fit::Task, report::EffectCurve};
use minijinja::{context, value::Serde};

use super::FittedAuto;
use crate::{
    files::write_file,
    fit::{
        page::{
            chart::{Axis, Chart, Line},
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
    let largest = fitted.readout.relevance.first().map_or(1.0, |entry| entry.share.max(f64::MIN_POSITIVE));
    let stands: Vec<Vec<String>> =
        fitted.terms.iter().map(|function| function.table.centres.iter().map(stands_for).collect()).collect();
    let recipes: Vec<String> = fitted.choice.standings.iter().map(|standing| standing.recipe.to_string()).collect();
    let left_out: Vec<String> = fitted.choice.left_out.iter().map(|(recipe, why)| format!("{recipe}: {why}")).collect();
    let page = template.render(context! {
        fitted => Serde(fitted),
        sentence => fitted.choice.sentence(),
        predictions => predictions(fitted, target).as_ref().map(safe),
        terms_sentence => fitted.choice.terms_sentence(),
        effects => effects(&fitted.readout.effects).iter().map(safe).collect::<Vec<_>>(),
        curves => drawn(fitted.readout.effects.first()),
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

/// What of a curve is drawn: of two classes the second, as the first is what is left; of more the first six, which have colours.
fn drawn(curve: Option<&EffectCurve>) -> Vec<String> {
    let classes = curve.into_iter().flat_map(|curve| &curve.curves).filter_map(|one| one.class.clone());
    classes.skip(first(curve)).take(COLOURS).collect()
}

fn first(curve: Option<&EffectCurve>) -> usize {
    usize::from(curve.is_some_and(|curve| curve.curves.len() == 2))
}

/// Lines of different colours.
const COLOURS: usize = 6;

/// A chart for every variable, all of one height: a flat line is a small effect.
fn effects(curves: &[EffectCurve]) -> Vec<Chart> {
    let shown = |curve: &EffectCurve| -> Vec<Vec<f64>> {
        let values = curve.curves.iter().map(|one| one.predictions.clone());
        values.skip(first(Some(curve))).take(COLOURS).collect()
    };
    let classes = curves.iter().flat_map(|curve| &curve.curves).any(|one| one.class.is_some());
    let height = if classes {
        Axis::unit("probability")
    } else {
        Axis::linear("predicted", curves.iter().flat_map(shown).flatten())
    };
    let chart = |curve: &EffectCurve| {
        let along = Axis::linear("value of the variable", curve.values.iter().copied());
        let mut chart = Chart::new(format!("What {} does", curve.variable), along, height.clone());
        chart.legend = false;
        let line = |values: Vec<f64>| Line {
            label: String::new(),
            points: curve.values.iter().copied().zip(values).collect(),
            errors: Vec::new(),
        };
        chart.lines = shown(curve).into_iter().map(line).collect();
        chart
    };
    curves.iter().map(chart).collect()
}
