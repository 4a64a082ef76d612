//! The paper's experiments: run, write, print.

use banach_cli::{files::Folder, options::Common, print, progress::Bar};
use banach_lab::{
    Picture,
    figure1::{Figure1, Figure1Request},
    table1::{Baselines, Table1, Table1Request},
    table2::{Table2, Table2Request},
};
use serde::Serialize;

use crate::{
    args::{Experiment, Primal, Reproduce},
    report::{self, Page},
};

/// How Table 1 comes about, and so on.
const TABLE1: &str = "\
How: Algorithm 2.1 of the paper on the dual, gradient descent and FISTA on the primal, all on the same data of the size of the paper, \
drawn anew for every seed. A reference solution to a gap near rounding comes first; the iterations are those until the objective is \
within a relative 1e-8 of it. Settings that the paper leaves open are in docs/reproduction.md.";
const FIGURE1: &str = "\
How: the precision of every iterate is its objective less that of a reference solution, relative to it. The right panel shows the \
true weights beside those of the fit. Settings that the paper leaves open are in docs/reproduction.md.";
const TABLE2: &str = "\
How: the same problem three times, on features that are listed, on the Gram tensor (built once, timed apart) and on the tensor made \
anew in every pass. All three have the same iterates up to rounding. Settings that the paper leaves open are in docs/reproduction.md.";

pub(crate) fn reproduce(what: Reproduce, common: &Common) -> anyhow::Result<()> {
    anyhow::ensure!(
        common.memory_limit.is_none(),
        "--memory-limit: the experiments have the size that the paper gives; --quick is small"
    );
    // Folders are made before the work starts, so that a wrong name does not cost the result.
    let folder = |out| Folder::create(out, common);
    match what {
        Reproduce::Table1 { experiment, primal, out } => {
            let folder = out.map(folder).transpose()?;
            let table = run_table1(&experiment, &primal, folder.as_ref(), common)?;
            print::result(common, &table, || report::table1(&table).text(), || Ok(TABLE1.to_owned()))
        }
        Reproduce::Figure1 { experiment, out } => {
            let (figure, _) = run_figure1(&experiment, &folder(out)?, common)?;
            print::result(common, &figure, || report::figure1(&figure).text(), || Ok(FIGURE1.to_owned()))
        }
        Reproduce::Table2 { experiment, out } => {
            let folder = out.map(folder).transpose()?;
            let table = run_table2(&experiment, folder.as_ref(), common)?;
            print::result(common, &table, || report::table2(&table).text(), || Ok(TABLE2.to_owned()))
        }
        Reproduce::All { experiment, primal, out } => {
            let all = All::run(&experiment, &primal, &folder(out)?, common)?;
            let how = || Ok(format!("Table 1. {TABLE1}\n\nFigure 1. {FIGURE1}\n\nTable 2. {TABLE2}"));
            print::result(common, &all, || all.page(&experiment).text(), how)
        }
    }
}

fn run_table1(
    experiment: &Experiment,
    primal: &Primal,
    folder: Option<&Folder<'_>>,
    common: &Common,
) -> anyhow::Result<Table1> {
    let baselines = match primal {
        Primal { no_baselines: true, .. } => Baselines::None,
        Primal { fista: true, .. } => Baselines::Fista,
        _ => Baselines::All,
    };
    let request = if experiment.quick { Table1Request::quick } else { Table1Request::full };
    let mut request = request(experiment.seed, usize::from(experiment.repeats), baselines);
    request.settings.momentum = primal.momentum;
    let table = Table1::run(request, &mut Bar::new(common.quiet))?;
    if let Some(folder) = folder {
        folder.write("table1.md", report::table1(&table).markdown())?;
        folder.write("table1.json", print::json(&table)?)?;
    }
    Ok(table)
}

fn run_figure1(
    experiment: &Experiment,
    folder: &Folder<'_>,
    common: &Common,
) -> anyhow::Result<(Figure1, [Picture; 2])> {
    let request = if experiment.quick { Figure1Request::quick } else { Figure1Request::full };
    let request = request(experiment.seed, usize::from(experiment.repeats));
    let figure = Figure1::run(request, &mut Bar::new(common.quiet))?;
    let pictures = figure.draw()?;
    folder.write("figure1.json", print::json(&figure)?)?;
    for picture in &pictures {
        folder.write(&format!("{}.svg", picture.name), &picture.svg)?;
        folder.write(&format!("{}.png", picture.name), &picture.png)?;
    }
    Ok((figure, pictures))
}

fn run_table2(experiment: &Experiment, folder: Option<&Folder<'_>>, common: &Common) -> anyhow::Result<Table2> {
    let request = if experiment.quick { Table2Request::quick } else { Table2Request::full };
    let request = request(experiment.seed, usize::from(experiment.repeats));
    let table = Table2::run(request, &mut Bar::new(common.quiet))?;
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
    fn run(experiment: &Experiment, primal: &Primal, folder: &Folder<'_>, common: &Common) -> anyhow::Result<Self> {
        let table1 = run_table1(experiment, primal, Some(folder), common)?;
        let (figure1, pictures) = run_figure1(experiment, folder, common)?;
        let table2 = run_table2(experiment, Some(folder), common)?;
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
