//! A path for people to read.

use banach::Status;

use super::{Followed, FollowedFunction, Growth, PathFit};
use crate::{
    fit::text::{data, model, route, scaling, significant, with_error},
    table::Table,
};

pub(super) fn text(followed: &Followed) -> String {
    let gammas = &followed.gammas;
    let grid = format!("gamma = {} to {}", significant(gammas[0]), significant(gammas[gammas.len() - 1]));
    let mut lines = vec![data(&followed.data), model(&followed.model, &grid), route(&followed.route)];
    lines.extend(followed.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(followed.explained.iter().map(|table| format!("\n{table}")));
    for function in &followed.functions {
        lines.push(format!("\n{}", table(function, followed).trim_end()));
    }
    lines.join("\n") + "\n"
}

fn table(function: &FollowedFunction, followed: &Followed) -> String {
    let validation = followed.validation.as_ref();
    let mut header = vec![String::new(), "gamma".to_owned()];
    header.extend(validation.map(|found| found.metric.name().to_owned()));
    header.extend(["||w||_p^p", "gap"].map(str::to_owned));
    header.extend(function.monomials.iter().map(|growth| growth.monomial.clone()));
    let row = |(at, fit): (usize, &PathFit)| {
        let best = validation.is_some_and(|found| found.chosen == Some(at));
        let mut row = vec![if best { ">" } else { "" }.to_owned(), significant(fit.gamma)];
        row.extend(validation.map(|found| {
            let score = found.candidates[at].score;
            score.map_or(String::new(), |score| with_error(score, |value| format!("{value:.4}")))
        }));
        let end = if fit.status == Status::Converged { "" } else { " NOT CONVERGED" };
        row.extend([significant(fit.norm), format!("{:.1e}{end}", fit.certificate.relative_gap)]);
        row.extend(function.monomials.iter().map(|growth: &Growth| significant(growth.coefficients[at])));
        row
    };
    let mut notes = Vec::new();
    let unsolved = function.fits.iter().filter(|fit| fit.status != Status::Converged).count();
    if unsolved > 0 {
        notes.push(format!("NOT CONVERGED at {unsolved} of {} values of gamma.", function.fits.len()));
    }
    if let Some(stands) = scaling(followed.data.standardized, followed.data.centred) {
        notes.push(format!("Coefficients are those of standardised variables, {stands}."));
    }
    let several = followed.functions.len() > 1;
    Table {
        title: match &function.class {
            Some(class) if several => format!("Path of class {class:?}"),
            _ => "Path".to_owned(),
        },
        setting: match validation {
            Some(found) => {
                format!(
                    "Coefficients along gamma; score on held-out samples, {} folds. > the best loss there.",
                    found.folds
                )
            }
            None => "Coefficients along gamma.".to_owned(),
        },
        header,
        rows: function.fits.iter().enumerate().map(row).collect(),
        notes,
    }
    .text()
}
