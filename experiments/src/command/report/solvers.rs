//! The solver against SciPy's.

use banach_lab::bench::solvers::{Race, Solvers};

use super::{Cell, Table, bench::target};

pub(crate) fn solvers(solvers: &Solvers) -> Table {
    let row = |Race { p: _, figure, ours, theirs, agree }: &Race| {
        let side = |seconds: f64, evaluations: usize, gap: f64| {
            format!("{:.1} ms, {evaluations} evaluations, gap {gap:.0e}", 1e3 * seconds)
        };
        let verdict = match (agree, figure.reached()) {
            (false, _) => "no: the answers differ",
            (true, true) => "reached",
            (true, false) => "missed",
        };
        [
            figure.what.clone(),
            side(figure.ours.seconds, ours.evaluations, ours.relative_gap),
            format!(
                "{}; from {}, {} corrections",
                side(figure.other.seconds, theirs.evaluations, theirs.relative_gap),
                theirs.start,
                theirs.corrections
            ),
            format!("{:.2}", figure.ratio),
            target(figure),
            verdict.to_owned(),
        ]
    };
    let (peer, threads, rounds) = (&solvers.peer, solvers.threads, solvers.request.rounds);
    Table {
        title: "The dual of the squared loss against SciPy's L-BFGS-B".to_owned(),
        setting: format!("{threads} threads on each side, in turn, best of {rounds} rounds."),
        header: ["problem", "banach", "L-BFGS-B", "times as fast", "target", ""].map(str::to_owned).into(),
        rows: solvers.races.iter().map(|race| row(race).map(Cell::from).into()).collect(),
        notes: vec![format!(
            "SciPy {}, numpy {}, {} matrix, {:.1} ms for one evaluation alone. Both stop at the first evaluation whose \
             relative gap is at most {:e}.",
            peer.scipy,
            peer.numpy,
            peer.layout,
            1e3 * peer.evaluation_seconds,
            solvers.request.tolerance,
        )],
    }
}
