//! From arguments to results.

use anyhow::Context;
use banach_experiments::{
    bench::{self, Bench},
    figure1::{self, Figure1},
    table1::{self, Table1},
};

use crate::{
    args::{self, Arguments, Command, Reproduce},
    files, print,
    progress::Bar,
    report,
};

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    if let Some(threads) = arguments.threads {
        anyhow::ensure!((1..=1024).contains(&threads), "--threads {threads}; allowed: 1 to 1024");
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("starting the threads")?;
    }
    match arguments.command {
        Command::Reproduce(Reproduce::Table1 { experiment, no_baselines, out }) => {
            let args::Experiment { json, seed, repeats, quick } = experiment;
            let request = if quick { table1::Request::quick } else { table1::Request::full };
            let folder = out.map(files::Folder::create).transpose()?;
            let table = Table1::run(request(seed, usize::from(repeats), !no_baselines), &mut Bar::new())?;
            if let Some(folder) = folder {
                folder.write("table1.md", report::table1(&table).markdown())?;
                folder.write("table1.json", print::json(&table)?)?;
            }
            print::out(&if json { print::json(&table)? } else { report::table1(&table).text() })
        }
        Command::Reproduce(Reproduce::Figure1 { experiment, out }) => {
            let args::Experiment { json, seed, repeats, quick } = experiment;
            let request = if quick { figure1::Request::quick } else { figure1::Request::full };
            let folder = files::Folder::create(out)?;
            let figure = Figure1::run(request(seed, usize::from(repeats)), &mut Bar::new())?;
            folder.write("figure1.json", print::json(&figure)?)?;
            for picture in figure.draw()? {
                folder.write(&format!("{}.svg", picture.name), &picture.svg)?;
                folder.write(&format!("{}.png", picture.name), &picture.png)?;
            }
            print::out(&if json { print::json(&figure)? } else { report::figure1(&figure).text() })
        }
        Command::Bench(args::Bench { json, rounds }) => {
            let request = bench::Request { rounds: usize::from(rounds), ..bench::Request::default() };
            let bench = Bench::run(request, &mut Bar::new())?;
            print::out(&if json { print::json(&bench)? } else { report::bench(&bench).text() })
        }
    }
}
