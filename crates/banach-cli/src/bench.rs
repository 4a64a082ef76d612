//! The measurements: run, print.

use anyhow::Context;
use banach_experiments::bench::{
    self, Bench,
    interactions::{self, Interactions},
    search::{self, Search},
    solvers::{self, Solvers, grid::Grid, lockstep::Lockstep},
    tiles::{self, TilesBench},
};
use serde::Serialize;

use crate::{
    args::{self, Measured},
    print,
    progress::Bar,
    reading::Reading,
    report,
};

pub(crate) fn bench(args::Bench { what, json, rounds }: args::Bench) -> anyhow::Result<()> {
    match what {
        None => {
            let request = bench::Request { rounds: usize::from(rounds), ..bench::Request::default() };
            let bench = Bench::run(request, &mut Bar::new())?;
            show(json, &bench, || report::bench(&bench).text())
        }
        Some(Measured::Solvers { json, quick, rounds, python }) => {
            let request = if quick { solvers::Request::quick } else { solvers::Request::full };
            let solvers = Solvers::run(request(usize::from(rounds), &python), &mut Bar::new())?;
            show(json, &solvers, || report::solvers(&solvers).text())
        }
        Some(Measured::Lockstep { json, quick, rounds }) => {
            let request = if quick { solvers::lockstep::Request::quick } else { solvers::lockstep::Request::full };
            let lockstep = Lockstep::run(request(usize::from(rounds)), &mut Bar::new())?;
            show(json, &lockstep, || report::lockstep(&lockstep).text())
        }
        Some(Measured::Reading { json, quick, rounds, python }) => {
            let reading = Reading::run(quick, usize::from(rounds), python.as_deref())?;
            show(json, &reading, || reading.table().text())
        }
        Some(Measured::Search { json, quick }) => {
            let request = if quick { search::Request::quick() } else { search::Request::full() };
            let search = Search::run(request, &mut Bar::new())?;
            show(json, &search, || report::search(&search).text())
        }
        Some(Measured::Tiles { json, quick, rounds }) => {
            let request = if quick { tiles::Request::quick } else { tiles::Request::full };
            let tiles = TilesBench::run(request(usize::from(rounds)), &mut Bar::new())?;
            show(json, &tiles, || report::tiles(&tiles).map(|table| table.text()).concat())
        }
        Some(Measured::Interactions { json, quick, seed, python }) => {
            let mut request = if quick { interactions::Request::quick() } else { interactions::Request::full() };
            let program =
                std::env::current_exe().context("finding this program, which measures in processes of its own")?;
            request.recovery.first = seed;
            let request = interactions::Request { python, program: Some(program), ..request };
            let interactions = Interactions::run(request, &mut Bar::new())?;
            show(json, &interactions, || report::interactions(&interactions).map(|table| table.text()).concat())
        }
        Some(Measured::Task) => Ok(interactions::child(std::io::stdin().lock(), std::io::stdout().lock())?),
        Some(Measured::Grid { json, quick }) => {
            let request = if quick { solvers::grid::Request::quick() } else { solvers::grid::Request::full() };
            let grid = Grid::run(request, &mut Bar::new())?;
            show(json, &grid, || report::grid(&grid).text())
        }
    }
}

fn show(json: bool, value: &impl Serialize, text: impl Fn() -> String) -> anyhow::Result<()> {
    print::out(&if json { print::json(value)? } else { text() })
}
