//! Under which conditions a page came about.

use std::env::consts::{ARCH, OS};

use super::{Cell, ResultTable};
use crate::args::Experiment;

pub(crate) fn conditions(experiment: &Experiment) -> ResultTable {
    let Experiment { seed, repeats, quick, .. } = experiment;
    let last = seed.wrapping_add(u64::from(*repeats) - 1);
    let facts = [
        ("banach", env!("CARGO_PKG_VERSION").to_owned()),
        ("compiler", env!("BANACH_RUSTC").to_owned()),
        ("system", format!("{OS}, {ARCH}")),
        ("threads", rayon::current_num_threads().to_string()),
        ("seeds", if *repeats == 1 { seed.to_string() } else { format!("{seed} to {last}") }),
        ("size", if *quick { "small" } else { "the paper's" }.to_owned()),
    ];
    ResultTable {
        title: "Conditions".to_owned(),
        setting: "Results depend on the seeds alone, seconds on the machine.".to_owned(),
        header: ["what", "value"].map(str::to_owned).into(),
        rows: facts.map(|(name, value)| vec![Cell::from(name), value.into()]).into(),
        notes: vec![],
    }
}
