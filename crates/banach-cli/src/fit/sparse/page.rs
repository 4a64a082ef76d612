//! A page on few terms: the verdict, the terms, the evidence for every number of terms and the certificate. It needs no other file.

use std::path::Path;

use anyhow::Context;
use banach::report::SparseTable;
use minijinja::{Value, context, value::Serde};

use super::{
    FittedSparse,
    text::{proof, stands_for, verdict},
};
use crate::{
    files::write_file,
    fit::{
        page::{
            chart::{Axis, Chart, Line},
            environment, safe,
        },
        text::significant,
    },
    options::Common,
};

pub(super) fn write(path: &Path, fitted: &FittedSparse, common: &Common) -> anyhow::Result<()> {
    let mut environment = environment()?;
    environment.add_template("sparse.html", include_str!("page.html")).context("the template of few terms")?;
    let template = environment.get_template("sparse.html").context("the template of few terms")?;
    let functions: Vec<Value> = fitted
        .functions
        .iter()
        .map(|function| {
            let (table, class) = (&function.table, function.class.as_deref());
            let most = table.terms.iter().map(|term| term.evidence).fold(f64::MIN_POSITIVE, f64::max);
            context! {
                verdict => verdict(table, class.filter(|_| fitted.functions.len() > 1)),
                proof => proof(table),
                holds => table.certificate.holds(),
                shrinks => table.shrinks(),
                stand => table.centres.iter().map(stands_for).collect::<Vec<_>>(),
                most,
                evidence => safe(&evidence(table)),
                unexplained => safe(&unexplained(table)),
            }
        })
        .collect();
    let page = template.render(context! { fitted => Serde(fitted), functions }).context("rendering the terms")?;
    write_file(path, page, common)
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
