//! Figure 1: what its panels show, as numbers.

use banach_experiments::{data::SparseLinear, figure1::Figure1};

use super::Table;

pub(crate) fn figure1(figure: &Figure1) -> Table {
    let SparseLinear { samples, features, .. } = figure.request.left;
    let row = |curve: &banach_experiments::figure1::Curve| {
        let iterations = curve.precision.len() - 1;
        let last = curve.precision.iter().rev().find(|precision| **precision > 0.0).copied().unwrap_or(0.0);
        [curve.algorithm.title().to_owned(), curve.p.clone(), iterations.to_string(), format!("{last:.0e}")]
    };
    let found: Vec<String> = figure.found.iter().map(usize::to_string).collect();
    let (count, right) = (figure.truth.len(), figure.request.right);
    Table {
        title: "Figure 1".to_owned(),
        setting: format!("the curves of the left panel; n = {samples}, d = {features}"),
        header: ["algorithm", "p", "iterations", "relative precision"].map(str::to_owned).into(),
        rows: figure.curves.iter().map(|curve| row(curve).map(super::Cell::from).into()).collect(),
        notes: vec![format!(
            "Right panel, n = {}, d = {}: of the {count} relevant features, among the {count} largest weights, seed by \
             seed: {}.",
            right.samples,
            right.features,
            found.join(" ")
        )],
    }
}
