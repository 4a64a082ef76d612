//! Fits against the machine's limit.

use banach_lab::bench::fits::Fits;

use super::{Cell, ResultTable, bench::figure_row};

pub(crate) fn fits(fits: &Fits) -> ResultTable {
    ResultTable {
        title: "Fits against the machine's limit".to_owned(),
        setting: format!(
            "Best of {} rounds. The limit on one thread: a read of the matrix for every evaluation, and the product of a Hessian for every step. \
             The check of the entries and the final weights, a read each, are in the time of the fit.",
            fits.request.rounds
        ),
        header: ["figure", "ours", "other", "ratio", "target", ""].map(str::to_owned).into(),
        rows: fits.figures.iter().map(|figure| figure_row(figure).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
