//! The paper's experiments: run, write, print.

use banach_experiments::{
    Picture,
    figure1::{self, Figure1},
    table1::{self, Table1},
    table2::{self, Table2},
};
use serde::Serialize;

use crate::{
    args::{Experiment, Reproduce},
    files::Folder,
    print,
    progress::Bar,
    report::{self, Page},
};

pub(crate) fn reproduce(what: Reproduce) -> anyhow::Result<()> {
    // Folders are made before the work starts, so that a wrong name does not cost the result.
    match what {
        Reproduce::Table1 { experiment, no_baselines, out } => {
            let folder = out.map(Folder::create).transpose()?;
            let table = run_table1(&experiment, !no_baselines, folder.as_ref())?;
            print::result(&experiment, &table, || report::table1(&table).text())
        }
        Reproduce::Figure1 { experiment, out } => {
            let folder = Folder::create(out)?;
            let (figure, _) = run_figure1(&experiment, &folder)?;
            print::result(&experiment, &figure, || report::figure1(&figure).text())
        }
        Reproduce::Table2 { experiment, out } => {
            let folder = out.map(Folder::create).transpose()?;
            let table = run_table2(&experiment, folder.as_ref())?;
            print::result(&experiment, &table, || report::table2(&table).text())
        }
        Reproduce::All { experiment, no_baselines, out } => {
            let folder = Folder::create(out)?;
            let all = All::run(&experiment, !no_baselines, &folder)?;
            print::result(&experiment, &all, || all.page(&experiment).text())
        }
    }
}

fn run_table1(experiment: &Experiment, baselines: bool, folder: Option<&Folder>) -> anyhow::Result<Table1> {
    let request = if experiment.quick { table1::Request::quick } else { table1::Request::full };
    let request = request(experiment.seed, usize::from(experiment.repeats), baselines);
    let table = Table1::run(request, &mut Bar::new())?;
    if let Some(folder) = folder {
        folder.write("table1.md", report::table1(&table).markdown())?;
        folder.write("table1.json", print::json(&table)?)?;
    }
    Ok(table)
}

fn run_figure1(experiment: &Experiment, folder: &Folder) -> anyhow::Result<(Figure1, [Picture; 2])> {
    let request = if experiment.quick { figure1::Request::quick } else { figure1::Request::full };
    let figure = Figure1::run(request(experiment.seed, usize::from(experiment.repeats)), &mut Bar::new())?;
    let pictures = figure.draw()?;
    folder.write("figure1.json", print::json(&figure)?)?;
    for picture in &pictures {
        folder.write(&format!("{}.svg", picture.name), &picture.svg)?;
        folder.write(&format!("{}.png", picture.name), &picture.png)?;
    }
    Ok((figure, pictures))
}

fn run_table2(experiment: &Experiment, folder: Option<&Folder>) -> anyhow::Result<Table2> {
    let request = if experiment.quick { table2::Request::quick } else { table2::Request::full };
    let table = Table2::run(request(experiment.seed, usize::from(experiment.repeats)), &mut Bar::new())?;
    if let Some(folder) = folder {
        folder.write("table2.md", report::table2(&table).markdown())?;
        folder.write("table2.json", print::json(&table)?)?;
    }
    Ok(table)
}

/// Every experiment.
#[derive(Serialize)]
struct All {
    table1: Table1,
    figure1: Figure1,
    #[serde(skip)]
    pictures: [Picture; 2],
    table2: Table2,
}

impl All {
    /// Runs everything, and writes what is done as soon as it is.
    fn run(experiment: &Experiment, baselines: bool, folder: &Folder) -> anyhow::Result<Self> {
        let table1 = run_table1(experiment, baselines, Some(folder))?;
        let (figure1, pictures) = run_figure1(experiment, folder)?;
        let table2 = run_table2(experiment, Some(folder))?;
        let all = Self { table1, figure1, pictures, table2 };
        let page = all.page(experiment);
        folder.write("reproduction.md", page.markdown())?;
        folder.write("reproduction.html", page.html()?)?;
        Ok(all)
    }

    fn page(&self, experiment: &Experiment) -> Page {
        let [left, right] = &self.pictures;
        Page {
            title: "The paper's experiments, reproduced".to_owned(),
            sections: vec![
                report::agreement(&self.table1, &self.figure1, &self.table2).into(),
                report::conditions(experiment).into(),
                report::table1(&self.table1).into(),
                report::Section {
                    table: report::figure1(&self.figure1),
                    pictures: vec![
                        report::Shown::new(left, "Left: precision against iterations, dual algorithm and FISTA."),
                        report::Shown::new(right, "Right: true and estimated weights."),
                    ],
                },
                report::table2(&self.table2).into(),
            ],
        }
    }
}
