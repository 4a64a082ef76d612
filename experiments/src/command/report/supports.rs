//! Supports by evidence.

use banach_lab::bench::supports::{SupportCell, SupportRun, Supports};

use super::{Cell, ResultTable};

pub(crate) fn supports(supports: &Supports) -> ResultTable {
    let header = [
        "data",
        "the truth and nothing else",
        "nothing false",
        "nothing named",
        "true + false, mean",
        "better one missed",
        "proven",
        "processor, mean",
        "processor, most",
        "memory",
        "wanted",
    ];
    let last = supports.cells.iter().map(|cell| cell.task.draws).max().unwrap_or(1);
    ResultTable {
        title: "Few terms by evidence".to_owned(),
        setting: format!(
            "Draws of data whose truth is known, seeds from {} to at most {}; {} threads. Memory is the most of the whole process, with the data.",
            supports.first_seed,
            supports.first_seed + last.saturating_sub(1),
            supports.threads
        ),
        header: header.map(str::to_owned).into(),
        rows: supports.cells.iter().map(|cell| row(cell).map(Cell::from).into()).collect(),
        notes: supports.cells.iter().flat_map(misses).collect(),
    }
}

fn row(SupportCell { task, runs }: &SupportCell) -> [String; 11] {
    let times = |wanted: &dyn Fn(&SupportRun) -> bool| {
        format!("{} of {}", runs.iter().filter(|run| wanted(run)).count(), runs.len())
    };
    let mean = |value: fn(&SupportRun) -> usize| runs.iter().map(value).sum::<usize>() as f64 / runs.len() as f64;
    // Without a time of the processors, that of the clock.
    let seconds = || runs.iter().map(|run| run.processor_seconds.unwrap_or(run.seconds));
    let peak = runs.iter().filter_map(|run| run.peak_bytes).max();
    [
        task.name.to_owned(),
        times(&SupportRun::is_truth),
        times(&|run| run.false_terms == 0),
        times(&|run| run.named + run.false_terms == 0),
        format!("{:.1} + {:.1}", mean(|run| run.named), mean(|run| run.false_terms)),
        times(&SupportRun::missed),
        times(&|run| run.proven),
        format!("{:.1} s", seconds().sum::<f64>() / runs.len() as f64),
        format!("{:.1} s", seconds().fold(0.0, f64::max)),
        peak.map_or_else(String::new, |bytes| format!("{:.0} MB", 1e-6 * bytes as f64)),
        task.wanted.to_owned(),
    ]
}

/// The draws in which the truth has a better criterion than what was found.
fn misses(SupportCell { task, runs }: &SupportCell) -> Vec<String> {
    let note = |run: &SupportRun| {
        let truth = run.criterion_of_truth?;
        let (seed, criterion) = (run.seed, run.criterion);
        Some(format!("{}: seed {seed} ended at {criterion:.1}, and the truth has {truth:.1}.", task.key))
    };
    runs.iter().filter(|run| run.missed()).filter_map(note).collect()
}
