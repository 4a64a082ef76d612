//! A page on few terms: the verdict, the terms, the evidence for every number of terms and the certificate. It needs no other file.

use std::path::Path;

use banach::report::SparseTable;
use minijinja::{Value, context, value::Serde};

use super::{
    FittedSparse,
    text::{differences, found, proof},
};
use crate::{
    files::write_file,
    fit::{
        page::{
            chart::{Axis, Chart, Line},
            learning,
            readout::pictures,
            rendered, safe,
        },
        text::significant,
        verdict,
    },
    options::Common,
};

pub(super) fn write(path: &Path, fitted: &FittedSparse, common: &Common) -> anyhow::Result<()> {
    let functions: Vec<Value> = fitted
        .functions
        .iter()
        .map(|function| {
            let (table, class) = (&function.table, function.class.as_deref());
            let most = table.terms.iter().map(|term| term.evidence).fold(f64::MIN_POSITIVE, f64::max);
            context! {
                verdict => found(table, class.filter(|_| fitted.functions.len() > 1)),
                proof => proof(table),
                holds => table.certificate.holds(),
                shrinks => table.shrinks(),
                differences => differences(table),
                most,
                evidence => safe(&evidence(table)),
                unexplained => safe(&unexplained(table)),
            }
        })
        .collect();
    let verdict = verdict::page(fitted.assessment.as_ref(), fitted.test.as_ref());
    let told = fitted.readout.as_ref().map(|found| pictures(found, &fitted.data));
    let learning = learning(fitted.learning_curve.as_ref());
    let own = context! { fitted => Serde(fitted), functions, verdict, told, ..learning };
    write_file(path, rendered(include_str!("page.html"), own)?, common)
}

/// The evidence of the best equation of every number of terms.
fn evidence(table: &SparseTable) -> Chart {
    let known = || table.sizes.iter().filter(|size| size.criterion.is_finite());
    // 0 - x has no sign where x is 0.
    let points: Vec<(f64, f64)> = known().map(|size| (size.terms as f64, 0.0 - size.criterion)).collect();
    let x = Axis::linear("terms", points.iter().map(|(terms, _)| *terms));
    let y = Axis::linear("evidence against a constant", points.iter().map(|(_, evidence)| *evidence).chain([0.0]));
    let mut chart = Chart::new("Evidence of the best equation of every number of terms", x, y);
    chart.lines.push(Line { label: "evidence".to_owned(), points, errors: Vec::new() });
    let terms = table.terms.len();
    chart.mark = Some((terms as f64, format!("taken: {terms}, evidence {}", significant(0.0 - table.criterion))));
    chart
}

/// What the best equation of every number of terms leaves unexplained.
fn unexplained(table: &SparseTable) -> Chart {
    let points: Vec<(f64, f64)> = table.sizes.iter().map(|size| (size.terms as f64, size.unexplained)).collect();
    let x = Axis::linear("terms", points.iter().map(|(terms, _)| *terms));
    let (label, shares) = ("share that is left unexplained", || points.iter().map(|(_, share)| *share));
    // Less than a decade has no room for two ticks.
    let least = shares().fold(1.0, f64::min);
    let y = if least < 0.05 { Axis::logarithmic(label, shares()) } else { Axis::unit(label) };
    let mut chart = Chart::new("What the best equation of every number of terms leaves unexplained", x, y);
    chart.lines.push(Line { label: "unexplained".to_owned(), points, errors: Vec::new() });
    chart.mark = Some((table.terms.len() as f64, "taken".to_owned()));
    chart
}
