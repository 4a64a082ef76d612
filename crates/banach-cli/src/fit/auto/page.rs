//! A page on a chosen model: the verdict, what was tried, what matters and the few terms. It needs no other file.

use std::path::Path;

use banach::{
    Target,
    fit::{ContenderScore, Task},
};
use minijinja::{Value, context, value::Serde};

use super::FittedAuto;
use crate::{
    files::write_file,
    fit::{
        page::{
            chart::{Axis, Chart},
            learning,
            readout::pictures,
            rendered, safe,
        },
        sparse::text::differences,
        verdict,
    },
    options::Common,
};

pub(super) fn write(path: &Path, fitted: &FittedAuto, target: &Target<'_>, common: &Common) -> anyhow::Result<()> {
    let largest = fitted.readout.relevance.first().map_or(1.0, |entry| entry.share.max(f64::MIN_POSITIVE));
    let differences: Vec<Option<String>> = fitted.terms.iter().map(|function| differences(&function.table)).collect();
    let recipes: Vec<String> = fitted.choice.standings.iter().map(|standing| standing.recipe.to_string()).collect();
    let left_out: Vec<String> = fitted.choice.left_out.iter().map(|(recipe, why)| format!("{recipe}: {why}")).collect();
    let verdict = verdict::page(fitted.assessment.as_ref(), fitted.test.as_ref());
    let own = context! {
        fitted => Serde(fitted),
        sentence => fitted.choice.sentence(),
        predictions => predictions(fitted, target).as_ref().map(safe),
        terms_sentence => fitted.choice.terms_sentence(),
        told => pictures(&fitted.readout, &fitted.data),
        spreads => spreads(fitted),
        largest, differences, recipes, left_out, verdict,
        ..learning(fitted.learning_curve.as_ref())
    };
    write_file(path, rendered(include_str!("page.html"), own)?, common)
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

/// The error of every contender with its standard error on one scale, which begins at 0; where no row was held out, what evidence claims.
fn spreads(fitted: &FittedAuto) -> Vec<Value> {
    let choice = &fitted.choice;
    let of = |standing: &ContenderScore| match (standing.loss, standing.claimed) {
        (Some(loss), _) => Some((loss.value / choice.constant_loss, loss.standard_error / choice.constant_loss)),
        (None, Some(claimed)) => Some((claimed / choice.constant_loss, 0.0)),
        (None, None) => None,
    };
    let finite = |error: f64| if error.is_finite() { error } else { 0.0 };
    let known = choice.standings.iter().filter_map(of).map(|(error, spread)| error + finite(spread));
    // One that is far off would leave no room for the others.
    let end = known.filter(|end| end.is_finite()).fold(1.0_f64, f64::max).min(2.0);
    let drawn = |standing: &ContenderScore| {
        let Some((error, spread)) = of(standing).filter(|(error, _)| error.is_finite()) else { return Value::from("") };
        let place = |value: f64| 4.0 + 104.0 * (value / end).clamp(0.0, 1.0);
        let (low, middle, high) = (place(error - finite(spread)), place(error), place(error + finite(spread)));
        let class = if standing.weight > 0.0 { "taken" } else { "" };
        Value::from_safe_string(format!(
            "<svg class=\"spread\" viewBox=\"0 0 112 14\" aria-hidden=\"true\"><line x1=\"{low:.1}\" y1=\"7\" x2=\"{high:.1}\" \
             y2=\"7\"/><circle class=\"{class}\" cx=\"{middle:.1}\" cy=\"7\" r=\"3.5\"/></svg>"
        ))
    };
    choice.standings.iter().map(drawn).collect()
}
