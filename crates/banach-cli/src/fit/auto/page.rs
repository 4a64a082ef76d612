//! A page on a chosen model: the verdict, what was tried, what matters and the few terms. It needs no other file.

use std::path::Path;

use anyhow::Context;
use banach::{
    Target,
    fit::Task,
    report::{ClassCurve, EffectCurve},
};
use minijinja::{Value, context, value::Serde};

use super::FittedAuto;
use crate::{
    files::write_file,
    fit::{
        page::{
            chart::{Axis, Chart, Line},
            environment, safe,
        },
        sparse::text::stands_for,
        text::significant,
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
        effects => effects(&fitted.readout.effects, if fitted.data.sparse { "0" } else { "its mean" }),
        positive => positive(&fitted.readout.effects).map(str::to_owned),
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

/// The class whose probability the curves are, of two classes.
fn positive(curves: &[EffectCurve]) -> Option<&str> {
    let curve = curves.first().filter(|curve| curve.curves.len() == 2)?;
    drawn(curve).next()?.class.as_deref()
}

/// Lines of different colours.
const COLOURS: usize = 6;

/// The classes whose curves are drawn: of two the second, as the first is what is left; of more the first six, which have colours.
fn drawn(curve: &EffectCurve) -> impl Iterator<Item = &ClassCurve> {
    let first = usize::from(curve.curves.len() == 2);
    curve.curves.iter().skip(first).take(COLOURS)
}

/// For every variable a chart, and what its lines are where there are several. All have one height: a flat line is a small effect.
fn effects(curves: &[EffectCurve], centre: &str) -> Vec<Value> {
    let lines: Vec<Vec<(String, &[f64])>> = curves.iter().map(|curve| lines(curve, centre)).collect();
    let classes = curves.iter().flat_map(|curve| &curve.curves).any(|one| one.class.is_some());
    let height = if classes {
        Axis::unit("probability")
    } else {
        Axis::linear("predicted", lines.iter().flatten().flat_map(|(_, values)| values.iter().copied()))
    };
    let effect = |(curve, lines): (&EffectCurve, &Vec<(String, &[f64])>)| {
        let along = Axis::linear("value of the variable", curve.values.iter().copied());
        let mut chart = Chart::new(format!("What {} does", curve.variable), along, height.clone());
        chart.legend = false;
        let line = |(label, values): &(String, &[f64])| Line {
            label: label.clone(),
            points: curve.values.iter().copied().zip(values.iter().copied()).collect(),
            errors: Vec::new(),
        };
        chart.lines = lines.iter().map(line).collect();
        let told: Vec<String> = lines.iter().map(|(label, _)| label.clone()).filter(|_| lines.len() > 1).collect();
        context! { chart => safe(&chart), variable => curve.variable.clone(), lines => told }
    };
    curves.iter().zip(&lines).map(effect).collect()
}

/// What is drawn of a variable, each with what it is: the curves of classes, or one curve and those beside its partner.
fn lines<'c>(curve: &'c EffectCurve, centre: &str) -> Vec<(String, &'c [f64])> {
    let label = |class: &ClassCurve| class.class.clone().unwrap_or_default();
    let mut lines: Vec<(String, &[f64])> = drawn(curve).map(|one| (label(one), &one.predictions[..])).collect();
    if let ([(label, _)], Some(partner)) = (&mut lines[..], &curve.partner) {
        *label = format!("{} at {centre}", partner.variable);
        for (value, curves) in [(partner.low, &partner.at_low), (partner.high, &partner.at_high)] {
            let at = curves.last().map_or(&[][..], |one| &one.predictions);
            lines.push((format!("at {}", significant(value)), at));
        }
    }
    lines
}
