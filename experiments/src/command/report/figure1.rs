//! Figure 1: what its panels show, as numbers.

use banach::synthetic::SparseLinear;
use banach_lab::figure1::{Curve, Figure1};

use super::{
    ResultTable,
    counts::{CHOSEN, algorithm_settings, list},
};

pub(crate) fn figure1(figure: &Figure1) -> ResultTable {
    let SparseLinear { samples, features, .. } = figure.request.left;
    let precision = figure.request.settings.precision;
    let row = |curve: &Curve| {
        let iterations = curve.precision.len() - 1;
        let last = curve.precision.iter().rev().find(|precision| **precision > 0.0).copied().unwrap_or(0.0);
        let reached = curve.iterations_to(precision).map_or(format!("> {iterations}"), |m| m.to_string());
        [curve.algorithm.title().to_owned(), curve.p.clone(), reached, format!("{last:.0e} after {iterations}")]
    };
    let (count, right) = (figure.truth.len(), figure.request.right);
    ResultTable {
        title: "Figure 1".to_owned(),
        setting: format!(
            "The curves of the left panel; n = {samples}, d = {features}, {}.",
            algorithm_settings(&figure.request.settings)
        ),
        header: vec![
            "algorithm".to_owned(),
            "p".to_owned(),
            format!("iterations to {precision:.0e}"),
            "end of the curve".to_owned(),
        ],
        rows: figure.curves.iter().map(|curve| row(curve).map(super::Cell::from).into()).collect(),
        notes: vec![
            format!(
                "Right panel, n = {}, d = {}: of the {count} relevant features, among the {count} largest weights, seed by \
                 seed: {}.",
                right.samples,
                right.features,
                list(&figure.found)
            ),
            CHOSEN.to_owned(),
        ],
    }
}
