//! Supports by evidence.

use banach_lab::bench::supports::{SupportCell, SupportRun, Supports};

use super::{Cell, ResultTable};

pub(crate) fn supports(supports: &Supports) -> ResultTable {
    let row = |SupportCell { task, runs }: &SupportCell| {
        let times = |wanted: &dyn Fn(&SupportRun) -> bool| {
            format!("{} of {}", runs.iter().filter(|run| wanted(run)).count(), runs.len())
        };
        let mean = |value: fn(&SupportRun) -> usize| runs.iter().map(value).sum::<usize>() as f64 / runs.len() as f64;
        let slowest = runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
        [
            task.name.to_owned(),
            times(&|run| run.named == run.truth && run.false_terms == 0),
            times(&|run| run.false_terms == 0),
            format!("{:.1} + {:.1}", mean(|run| run.named), mean(|run| run.false_terms)),
            times(&|run| run.proven),
            format!("{slowest:.1} s"),
        ]
    };
    let header = ["data", "the truth and nothing else", "nothing false", "true + false, mean", "proven", "slowest"];
    ResultTable {
        title: "Few terms by evidence".to_owned(),
        setting: format!("Draws of data whose truth is known; {} threads.", supports.threads),
        header: header.map(str::to_owned).into(),
        rows: supports.cells.iter().map(|cell| row(cell).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
