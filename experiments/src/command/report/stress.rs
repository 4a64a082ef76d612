//! Random problems and their certificates.

use banach_lab::stress::{Ends, Kind, Stress};

use super::{Cell, ResultTable};

/// Failures that are shown one by one.
const SHOWN: usize = 40;

pub(crate) fn stress(stress: &Stress) -> ResultTable {
    let row = |ends: &Ends| {
        let Ends { route, fits, converged, rounding, limit, refused, passes } = ends;
        let numbers = [fits, converged, rounding, limit, refused, passes].map(ToString::to_string);
        std::iter::once(format!("{route:?}").to_lowercase()).chain(numbers).map(Cell::from).collect()
    };
    let header = ["route", "fits", "converged", "rounding", "limit", "refused", "most passes"];
    let counts = [
        (Kind::FalseCertificate, "false certificates"),
        (Kind::Disagreement, "disagreements of routes"),
        (Kind::Stall, "stalls that rounding does not explain"),
    ];
    let counts = counts.map(|(kind, name)| format!("{} {name}", stress.failed(kind))).join(", ");
    let failures = stress.failures.iter().take(SHOWN);
    let shown = failures.map(|failure| format!("seed {} ({:?}): {}", failure.seed, failure.kind, failure.what));
    ResultTable {
        title: "Certificates against 32 digits".to_owned(),
        setting: format!(
            "{} random problems from seed {} on, each by every route that can hold it.",
            stress.request.problems, stress.request.seed
        ),
        header: header.map(str::to_owned).into(),
        rows: stress.routes.iter().map(row).collect(),
        notes: std::iter::once(counts).chain(shown).collect(),
    }
}
