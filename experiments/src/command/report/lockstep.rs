//! Cross-validation in lockstep.

use banach_lab::bench::solvers::lockstep::{Lockstep, Pace};

use super::{Cell, ResultTable, bench::target};

pub(crate) fn lockstep(lockstep: &Lockstep) -> ResultTable {
    let row = |pace: &Pace| {
        let Pace { figure, difference, failures, .. } = pace;
        let verdict = match (pace.agree(), figure.reached()) {
            (false, _) if *failures > 0 => format!("no: {failures} fits failed"),
            (false, _) => "no: the scores differ".to_owned(),
            (true, true) => "reached".to_owned(),
            (true, false) => "missed".to_owned(),
        };
        [
            figure.what.clone(),
            format!("{:.2} s", figure.ours.seconds),
            format!("{:.2} s", figure.other.seconds),
            format!("{difference:.0e}"),
            format!("{:.2}", figure.ratio),
            target(figure),
            verdict,
        ]
    };
    let header = ["problem", "abreast", "one by one", "scores differ by", "times as fast", "target", ""];
    ResultTable {
        title: "Cross-validation, all folds abreast against one after another".to_owned(),
        setting: format!(
            "Squared loss, every fit to a relative gap of {:e}; {} threads, best of {} rounds.",
            lockstep.request.tolerance, lockstep.threads, lockstep.request.rounds
        ),
        header: header.map(str::to_owned).into(),
        rows: lockstep.paces.iter().map(|pace| row(pace).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
