//! What every page shows of what a model does: which variables act together, and what it predicts along and over the leading ones.

use banach::report::{ClassCurve, EffectCurve, EffectSurface, Quantity, Readout, ShownSamples};
use minijinja::{Value, context};

use super::{
    chart::{Axis, COLOURS, Chart, Line},
    safe,
    surface::{LEVELS, Surface},
};
use crate::fit::{result::Data, text::significant};

/// The pictures.
pub(crate) fn pictures(readout: &Readout, data: &Data) -> Value {
    let classes: Vec<&str> = data.classes.iter().flatten().map(|class| &class.label[..]).collect();
    let page = Pictures { readout, classes, target: &data.target, centre: if data.sparse { "0" } else { "its mean" } };
    let dotted = readout.samples.is_some() && readout.quantity == Quantity::Number;
    context! {
        heat => heat(readout),
        effects => readout.effects.iter().map(|effect| page.effect(effect)).collect::<Vec<_>>(),
        surfaces => readout.surfaces.iter().map(|surface| page.surface(surface)).collect::<Vec<_>>(),
        positive => page.positive(),
        quantity => match readout.quantity {
            Quantity::Probability => "the probability of",
            _ => "the value of the function of",
        },
        dots => if dotted { "Dots are rows of the data." } else { "Marks on the axis are rows of the data." },
        points => if dotted {
            "Dots are rows of the data, in the colour of their targets: a dot that differs from what surrounds it is badly predicted, or moved by \
             other variables."
        } else {
            "Dots are rows of the data; pointing at one tells its class."
        },
    }
}

struct Pictures<'a> {
    readout: &'a Readout,
    classes: Vec<&'a str>,
    target: &'a str,
    centre: &'a str,
}

/// Which variables act together: for every variable of a pair its shares with all of them.
fn heat(readout: &Readout) -> Vec<Value> {
    let pairs = &readout.pairs;
    let in_pair = |variable: &str| pairs.iter().any(|pair| pair.first == variable || pair.second == variable);
    let variables: Vec<&str> =
        { readout.relevance.iter().map(|entry| &entry.variable[..]) }.take(10).filter(|one| in_pair(one)).collect();
    let largest = pairs.iter().map(|pair| pair.share).fold(f64::MIN_POSITIVE, f64::max);
    let cell = |a: &str, b: &str| {
        let both = |pair: &&banach::report::PairShare| {
            (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a)
        };
        let share = if a == b { return None } else { pairs.iter().find(both).map_or(0.0, |pair| pair.share) };
        let level = (share / largest * (LEVELS - 1) as f64).round() as usize;
        let text = if share >= 0.1 { format!("{:.0}", 100.0 * share) } else { format!("{:.1}", 100.0 * share) };
        Some(context! { level, text, variable => b })
    };
    let row = |a: &&str| {
        let cells: Vec<Option<Value>> = variables.iter().map(|b| cell(a, b)).collect();
        context! { variable => *a, cells }
    };
    if largest < 1e-3 { Vec::new() } else { variables.iter().map(row).collect() }
}

/// The classes whose curves are drawn: of two probabilities the second, as the first is what is left; of more the first six, which have
/// colours.
fn drawn(curves: &[ClassCurve]) -> impl Iterator<Item = &ClassCurve> {
    curves.iter().skip(usize::from(curves.len() == 2)).take(COLOURS)
}

/// The values of a variable in the samples that are shown.
fn values<'s>(samples: &'s ShownSamples, variable: &str) -> &'s [f64] {
    samples.variables.iter().find(|one| one.variable == variable).map_or(&[], |one| &one.values)
}

impl Pictures<'_> {
    /// The class whose curves are drawn, if it is one.
    fn positive(&self) -> Option<String> {
        let curves = &self.readout.effects.first()?.curves;
        let mut drawn = drawn(curves);
        drawn.next().filter(|_| drawn.next().is_none())?.class.clone()
    }

    /// One height for all curves and samples: a flat line is a small effect.
    fn height(&self) -> Axis {
        if self.readout.quantity == Quantity::Probability {
            return Axis::unit("probability");
        }
        let partners = self.readout.effects.iter().filter_map(|effect| effect.partner.as_ref());
        let curves = self.readout.effects.iter().flat_map(|effect| &effect.curves);
        let curves = curves.chain(partners.flat_map(|partner| partner.at_low.iter().chain(&partner.at_high)));
        let numbers = self.readout.quantity == Quantity::Number;
        let targets = self.readout.samples.iter().filter(|_| numbers).flat_map(|samples| &samples.targets);
        let label = if numbers { self.target } else { "decision" };
        Axis::linear(label, curves.flat_map(|curve| &curve.predictions).chain(targets).copied())
    }

    fn effect(&self, curve: &EffectCurve) -> Value {
        let samples = self.readout.samples.as_ref();
        let own = samples.map_or(&[][..], |samples| values(samples, &curve.variable));
        let along = Axis::linear(&curve.variable, curve.values.iter().copied());
        let mut chart = Chart::new(format!("What {} does", curve.variable), along, self.height());
        let line = |(label, values): (String, &[f64])| Line {
            label,
            points: curve.values.iter().copied().zip(values.iter().copied()).collect(),
            errors: Vec::new(),
        };
        chart.lines = self.lines(curve).into_iter().map(line).collect();
        match samples.filter(|_| self.readout.quantity == Quantity::Number) {
            Some(samples) => {
                let dot = |((row, x), y): ((&usize, &f64), &f64)| (*x, *y, format!("row {row}: {}", significant(*y)));
                chart.dots = samples.rows.iter().zip(own).zip(&samples.targets).map(dot).collect();
            }
            None => chart.rug = own.to_vec(),
        }
        context! { chart => safe(&chart), variable => curve.variable.clone() }
    }

    /// What is drawn of a variable, each with what it is: the curves of classes, or one curve and those beside its partner.
    fn lines<'c>(&self, curve: &'c EffectCurve) -> Vec<(String, &'c [f64])> {
        let label = |class: &ClassCurve| class.class.clone().unwrap_or_default();
        let mut lines: Vec<(String, &[f64])> =
            drawn(&curve.curves).map(|one| (label(one), &one.predictions[..])).collect();
        if let ([(label, _)], Some(partner)) = (&mut lines[..], &curve.partner) {
            *label = format!("{} at {}", partner.variable, self.centre);
            for (value, curves) in [(partner.low, &partner.at_low), (partner.high, &partner.at_high)] {
                let at = curves.last().map_or(&[][..], |one| &one.predictions);
                lines.push((format!("at {}", significant(value)), at));
            }
        }
        lines
    }

    fn surface(&self, surface: &EffectSurface) -> Value {
        let EffectSurface { first, second, first_values, second_values, surfaces, .. } = surface;
        // Of several classes the one that changes most.
        let span = |one: &&ClassCurve| {
            let known = || one.predictions.iter().copied().filter(|value| value.is_finite());
            known().fold(f64::NEG_INFINITY, f64::max) - known().fold(f64::INFINITY, f64::min)
        };
        let shown = drawn(surfaces).max_by(|a, b| span(a).total_cmp(&span(b)));
        let numbers = self.readout.quantity == Quantity::Number;
        let sample = |samples: &ShownSamples, at: usize| {
            let (x, y) = (values(samples, first).get(at)?, values(samples, second).get(at)?);
            let target = *samples.targets.get(at)?;
            let told = if numbers { significant(target) } else { (*self.classes.get(target as usize)?).to_owned() };
            Some((*x, *y, numbers.then_some(target), format!("row {}: {told}", samples.rows.get(at)?)))
        };
        let samples = self.readout.samples.as_ref();
        let picture = Surface {
            title: format!("Predictions over {first} and {second}"),
            x: first_values,
            y: second_values,
            x_label: first,
            y_label: second,
            values: shown.map_or(&[], |shown| &shown.predictions),
            samples: samples
                .map(|samples| (0..samples.rows.len()).filter_map(|at| sample(samples, at)).collect())
                .unwrap_or_default(),
        };
        context! {
            chart => Value::from_safe_string(picture.svg()),
            first, second,
            class => shown.and_then(|shown| shown.class.clone()),
        }
    }
}
