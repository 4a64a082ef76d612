//! Predicted and measured seconds.

use banach_lab::bench::plan::{PlanBench, PlanRow, PlanWork};

use super::{Cell, ResultTable};

pub(crate) fn plan(bench: &PlanBench) -> ResultTable {
    let header = ["work", "fits", "iterations", "predicted", "measured", "measured / predicted", "within 1.5"];
    ResultTable {
        title: "Predicted and measured".to_owned(),
        setting: format!(
            "{} threads; predictions by the rates of this machine, as measured before each. {}",
            bench.threads,
            if bench.threads == 1 { "Time of the processor." } else { "Time by the clock; the best of short ones." }
        ),
        header: header.map(str::to_owned).into(),
        rows: bench.rows.iter().map(|found| row(found).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}

fn row(found: &PlanRow) -> [String; 7] {
    let (task, seconds) = (&found.task, |seconds: f64| format!("{seconds:.3} s"));
    let size = format!("{} x {}", task.samples, task.inputs);
    let what = match &task.work {
        PlanWork::Fit(spec) => format!("{}: {size}, p = {:.3}", task.key, spec.p),
        PlanWork::Search(..) => format!("{}: {size}, 5 folds x 20 gammas", task.key),
        PlanWork::Auto(effort) => format!("{}: {size}, {effort} effort", task.key),
    };
    [
        what,
        if found.fits > 0 { found.fits.to_string() } else { String::new() },
        if found.iterations > 0.0 { format!("{:.1}", found.iterations) } else { String::new() },
        seconds(found.predicted),
        seconds(found.measured()),
        format!("{:.2}", found.ratio()),
        if found.reached() { "reached" } else { "missed" }.to_owned(),
    ]
}
