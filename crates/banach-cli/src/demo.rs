//! `banach demo`: from a real data set to a table and a page, by the command that anybody would type.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::{
    args::{Arguments, Command},
    files::Folder,
    fit::fit,
    options::Common,
    typed,
};

/// Counts of 765 genes in 326 blood cells of four types, a packed CSV file; `data/README.md` has source and licence.
pub const BLOOD_CELLS: &[u8] = include_bytes!("../data/blood_cells.csv.gz");

const ABOUT: &str = "\
326 single blood cells of four types, and how often each of 765 genes was read in them. Which genes tell the types apart?
The data: \"Fresh 68k PBMCs (Donor A)\", 10x Genomics, CC BY 4.0; Zheng et al., Nature Communications 8, 14049 (2017);
a choice of cells and genes by way of scanpy (BSD 3-clause).
";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  banach demo\n  banach demo --out /tmp/cells --json")]
pub(crate) struct Demo {
    /// Write the data, the model and the page to this folder.
    #[arg(long, value_name = "DIR", default_value = "banach-demo")]
    pub out: PathBuf,
}

pub(crate) fn demo(what: &Demo, common: &Common) -> anyhow::Result<u8> {
    let folder = Folder::create(what.out.clone(), common)?;
    let path = |name: &str| folder.file(name).into_os_string();
    let (data, model, page) = (path("blood_cells.csv.gz"), path("blood_cells.banach"), path("blood_cells.html"));
    common.say(ABOUT);
    folder.write("blood_cells.csv.gz", BLOOD_CELLS)?;
    let options = ["--target", "cell_type", "--drop", "total_count", "--p", "1.1", "--top", "5", "-o"];
    let mut words: Vec<_> = ["banach".into(), "fit".into(), data.clone()].into();
    words.extend(options.map(Into::into));
    words.extend([model.clone(), "--report".into(), page.clone()]);
    let command = typed(&words);
    common.say(format_args!("{command}\n"));
    let Command::Fit(asked) = Arguments::try_parse_from(&words)?.command else {
        anyhow::bail!("{command} is no fit");
    };
    let end = fit(&asked, common, &command)?;
    common.say(format_args!(
        "\nLook at {}. Then:\n  {}\n  {}",
        page.display(),
        typed(&["banach".into(), "features".into(), model.clone(), "--relevance".into()]),
        typed(&["banach".into(), "predict".into(), model, data, "--explain".into()]),
    ));
    Ok(end)
}
