//! Whether the parts of a model fit together; for writers and readers alike.

use std::collections::HashSet;

use banach::{Fit, Solution, loss::Targets};

use super::{Flaw, Label, Observed, SavedModel};
use crate::Standardization;

pub(super) fn check(model: &SavedModel<'_>) -> Result<(), Flaw> {
    parameters(model)?;
    check_columns(model.names.as_deref(), model.standardization.as_ref(), model.x.features())?;
    model.preparation.check(model.x.features())?;
    if let Some(residuals) = &model.residuals {
        let numbers = matches!(model.observed, Observed::Numbers(_));
        if !numbers || residuals.outputs() != model.observed.functions() {
            return Err(Flaw::part("residuals", "they are not those of its outputs"));
        }
    }
    observed(model)?;
    solutions(model)?;
    finite_predictions(model)
}

fn parameters(model: &SavedModel<'_>) -> Result<(), Flaw> {
    Fit::new(&model.spec)?;
    Ok(())
}

/// Whether names and scaling are those of so many variables.
pub(super) fn check_columns(
    names: Option<&[String]>,
    standardization: Option<&Standardization>,
    variables: usize,
) -> Result<(), Flaw> {
    if let Some(names) = names {
        length("names", names.len(), variables)?;
        let mut met = HashSet::with_capacity(names.len());
        if let Some(twice) = names.iter().find(|name| !met.insert(&name[..])) {
            return Err(Flaw::part("names", format!("two variables are named {twice:?}")));
        }
    }
    if let Some(done) = standardization {
        for (part, values) in [
            ("scaling.mean", &done.means),
            ("scaling.correction", &done.corrections),
            ("scaling.deviation", &done.deviations),
        ] {
            length(part, values.len(), variables)?;
            finite(part, values)?;
        }
        if done.deviations.iter().any(|deviation| *deviation <= 0.0) {
            return Err(Flaw::part("scaling.deviation", "it is not positive everywhere"));
        }
    }
    Ok(())
}

fn observed(model: &SavedModel<'_>) -> Result<(), Flaw> {
    let samples = model.x.samples();
    let classes = matches!(model.observed, Observed::Classes { .. });
    if classes != (model.spec.loss.targets() == Targets::Signs) {
        return Err(Flaw::part("y", format!("it is of another kind than the {} loss needs", model.spec.loss.name())));
    }
    match &model.observed {
        Observed::Numbers(outputs) => {
            for y in outputs {
                length("y", y.len(), samples)?;
                finite("y", y)?;
            }
        }
        Observed::Classes { labels, rows } => {
            check_labels(labels)?;
            length("y", rows.len(), samples)?;
            let mut met = vec![false; labels.len()];
            for &class in rows {
                *met.get_mut(class).ok_or_else(|| Flaw::part("y", format!("there is no class {class}")))? = true;
            }
            if let Some(absent) = met.iter().position(|met| !met) {
                return Err(Flaw::part("y", format!("no sample has the label {}", labels[absent])));
            }
        }
    }
    if let Some(weights) = &model.weights {
        length("weights", weights.len(), samples)?;
        finite("weights", weights)?;
        if weights.iter().any(|weight| *weight < 0.0) {
            return Err(Flaw::part("weights", "one is negative"));
        }
    }
    Ok(())
}

pub(super) fn check_labels(labels: &[Label]) -> Result<(), Flaw> {
    if labels.len() < 2 {
        return Err(Flaw::part("classes", format!("{} labels, and at least two are needed", labels.len())));
    }
    let kind = std::mem::discriminant(&labels[0]);
    if labels.iter().any(|label| std::mem::discriminant(label) != kind) {
        return Err(Flaw::part("classes", "labels of different kinds"));
    }
    let mut met = HashSet::with_capacity(labels.len());
    let key = |label: &Label| match label {
        // -0 is 0.
        Label::Number(number) => (number + 0.0).to_bits().to_string(),
        other => other.to_string(),
    };
    match labels.iter().find(|label| !met.insert(key(label))) {
        Some(twice) => Err(Flaw::part("classes", format!("two classes have the label {twice}"))),
        None if matches!(labels[0], Label::Number(_)) => {
            let numbers = labels.iter().map(|label| if let Label::Number(number) = label { *number } else { 0.0 });
            finite("classes", &numbers.collect::<Vec<_>>())
        }
        None => Ok(()),
    }
}

fn solutions(model: &SavedModel<'_>) -> Result<(), Flaw> {
    let (samples, functions) = (model.x.samples(), model.observed.functions());
    if functions == 0 {
        return Err(Flaw::part("y", "it has no output"));
    }
    length("alpha", model.solutions.len(), functions)?;
    length("radius", model.radii.len(), functions)?;
    for (Solution { alpha, omega, intercept, weights, certificate, .. }, radius) in
        model.solutions.iter().zip(&model.radii)
    {
        for (part, values) in [("alpha", alpha), ("omega", omega)] {
            length(part, values.len(), samples)?;
            finite(part, values)?;
        }
        finite("intercept", &[*intercept])?;
        if weights.is_some() != (model.spec.p == 1.0) {
            return Err(Flaw::part("nonzero.weights", "they belong to p = 1, which has them"));
        }
        let bounds = [certificate.gap, certificate.distance];
        if certificate.primal.is_nan() || certificate.dual.is_nan() || !bounds.iter().all(|bound| *bound >= 0.0) {
            return Err(Flaw::part("certificate", "it proves nothing: a value is no number, or a bound is negative"));
        }
        if radius.is_some_and(|radius| !(0.0..f64::INFINITY).contains(&radius)) {
            return Err(Flaw::part("radius", "it is negative or no number"));
        }
    }
    Ok(())
}

/// Refuses what cannot predict a finite number at the samples of the model: no new sample would fare better.
fn finite_predictions(model: &SavedModel<'_>) -> Result<(), Flaw> {
    for (at, Solution { omega, intercept, .. }) in model.solutions.iter().enumerate() {
        if let Some(row) = omega.iter().position(|value| !(value + intercept).is_finite()) {
            let problem = format!("with {} it makes the prediction for sample {row} infinite", omega[row]);
            return Err(Flaw::part("intercept", problem));
        }
        model.function(at)?.check_finite()?;
    }
    let Some(done) = &model.standardization else { return Ok(()) };
    let mut column = vec![0.0; model.x.samples()];
    for (variable, (mean, deviation)) in done.means.iter().zip(&done.deviations).enumerate() {
        model.x.column_into(variable, &mut column);
        // As they were before they were scaled.
        if column.iter().any(|x| !(x * deviation + mean).is_finite()) {
            let problem = format!("{deviation:e} makes values of the variable {variable} infinite");
            return Err(Flaw::part("scaling.deviation", problem));
        }
    }
    Ok(())
}

fn length(part: &'static str, got: usize, expected: usize) -> Result<(), Flaw> {
    if got == expected { Ok(()) } else { Err(Flaw::part(part, format!("{got} entries instead of {expected}"))) }
}

fn finite(part: &'static str, values: &[f64]) -> Result<(), Flaw> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Flaw::part(part, format!("{value} is not a finite number"))),
        None => Ok(()),
    }
}
