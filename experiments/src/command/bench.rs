//! The measurements: run, print.

use std::path::PathBuf;

use anyhow::Context;
use banach_cli::{options::Common, print, progress::Bar};
use banach_lab::{
    bench::{
        MachineFigures, MachineRequest,
        fits::{Fits, FitsRequest},
        interactions::{self, Interactions, InteractionsRequest},
        plan::{self, PlanBench},
        scale::{self, Scale, ScaleRequest},
        search::{Search, SearchRequest},
        solvers::{
            grid::{Grid, GridRequest},
            lockstep::{Lockstep, LockstepRequest},
        },
        supports::{self, Supports},
        tiles::{TilesBench, TilesRequest},
    },
    stress::{Stress, StressRequest},
};
use serde::Serialize;

use crate::{
    args::{BenchArguments, BenchCommand},
    reading::Reading,
    report,
};

/// How every figure is measured.
const HOW: &str = "\
How: both sides of a ratio are timed in turn, round after round, and the best time of each counts, so that a disturbance of the \
machine hits both or neither. Processes that memory is measured of are started anew. docs/benchmarks.md and docs/solvers.md say what \
the other side is.";

pub(crate) fn bench(BenchArguments { what, rounds }: BenchArguments, common: &Common) -> anyhow::Result<()> {
    anyhow::ensure!(
        common.memory_limit.is_none(),
        "--memory-limit: what is measured has a fixed size; --quick is small"
    );
    let bar = &mut Bar::new(common.quiet);
    match what {
        None => {
            let request = MachineRequest { rounds: usize::from(rounds), ..MachineRequest::default() };
            let bench = MachineFigures::run(request, bar)?;
            show(common, &bench, || report::bench(&bench).text())
        }
        Some(BenchCommand::Lockstep { quick, rounds }) => {
            let request = if quick { LockstepRequest::quick } else { LockstepRequest::full };
            let lockstep = Lockstep::run(request(usize::from(rounds)), bar)?;
            show(common, &lockstep, || report::lockstep(&lockstep).text())
        }
        Some(BenchCommand::Fits { quick, rounds }) => {
            let request = if quick { FitsRequest::quick } else { FitsRequest::full };
            let fits = Fits::run(request(usize::from(rounds)), bar)?;
            show(common, &fits, || report::fits(&fits).text())
        }
        Some(BenchCommand::Reading { quick, rounds, python }) => {
            let reading = Reading::run(quick, usize::from(rounds), python.as_deref())?;
            show(common, &reading, || reading.tables().map(|table| table.text()).concat())
        }
        Some(BenchCommand::Search { quick }) => {
            let request = if quick { SearchRequest::quick() } else { SearchRequest::full() };
            let search = Search::run(request, bar)?;
            show(common, &search, || report::search(&search).text())
        }
        Some(BenchCommand::Plan { quick, only }) => {
            let mut tasks = if quick { plan::quick() } else { plan::full() };
            let usual = tasks.len();
            tasks.extend(plan::on_request());
            let known: Vec<&str> = tasks.iter().map(|task| task.key).collect();
            check_only(&only, &known)?;
            if only.is_empty() {
                tasks.truncate(usual);
            } else {
                tasks.retain(|task| only.iter().any(|asked| asked == task.key));
            }
            let bench = PlanBench::run(tasks, bar)?;
            show(common, &bench, || report::plan(&bench).text())
        }
        Some(BenchCommand::Supports { quick, seed, only }) => {
            let mut tasks = if quick { supports::quick() } else { supports::full() };
            let known: Vec<&str> = tasks.iter().map(|task| task.key).collect();
            check_only(&only, &known)?;
            tasks.retain(|task| only.is_empty() || only.iter().any(|asked| asked == task.key));
            let supports = Supports::run(tasks, seed, bar)?;
            show(common, &supports, || report::supports(&supports).text())
        }
        Some(BenchCommand::Tiles { quick, rounds }) => {
            let request = if quick { TilesRequest::quick } else { TilesRequest::full };
            let tiles = TilesBench::run(request(usize::from(rounds)), bar)?;
            show(common, &tiles, || report::tiles(&tiles).map(|table| table.text()).concat())
        }
        Some(BenchCommand::Interactions { quick }) => {
            let request = if quick { InteractionsRequest::quick() } else { InteractionsRequest::full() };
            let request = InteractionsRequest { program: Some(this_program()?), ..request };
            let interactions = Interactions::run(request, bar)?;
            show(common, &interactions, || report::interactions(&interactions).map(|table| table.text()).concat())
        }
        Some(BenchCommand::Scale { quick, rounds }) => {
            let request = if quick { ScaleRequest::quick } else { ScaleRequest::full };
            let request = ScaleRequest { program: Some(this_program()?), ..request(usize::from(rounds)) };
            let scale = Scale::run(request, bar)?;
            show(common, &scale, || report::scale(&scale).text())
        }
        Some(BenchCommand::ScaleTask) => Ok(scale::child(std::io::stdin().lock(), std::io::stdout().lock())?),
        Some(BenchCommand::Task) => Ok(interactions::child(std::io::stdin().lock(), std::io::stdout().lock())?),
        Some(BenchCommand::Stress { problems, seed }) => {
            let stress = Stress::run(StressRequest { problems, seed }, bar)?;
            show(common, &stress, || report::stress(&stress).text())?;
            let failures = stress.failures.len();
            anyhow::ensure!(failures == 0, "{failures} of these must not be");
            Ok(())
        }
        Some(BenchCommand::Grid { quick, shapes }) => {
            let request = match () {
                () if shapes => GridRequest::shapes(),
                () if quick => GridRequest::quick(),
                () => GridRequest::full(),
            };
            let grid = Grid::run(request, bar)?;
            show(common, &grid, || report::grid(&grid).text())
        }
    }
}

/// Whether there is what was asked for.
fn check_only(only: &[String], known: &[&str]) -> anyhow::Result<()> {
    match only.iter().find(|asked| !known.contains(&&asked[..])) {
        Some(asked) => anyhow::bail!("--only {asked}: there are {}", known.join(", ")),
        None => Ok(()),
    }
}

/// Measurements in processes of their own are made by it.
pub(crate) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("finding this program, which measures in processes of its own")
}

fn show(common: &Common, value: &impl Serialize, text: impl Fn() -> String) -> anyhow::Result<()> {
    print::result(common, value, text, || Ok(HOW.to_owned()))
}
