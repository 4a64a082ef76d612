//! What `banach path` can be asked.

use std::path::PathBuf;

use clap::Args;

use crate::fit::args::{Columns, ModelArgs, Running};

const EXAMPLES: &str = "\
Examples:
  banach path trial.csv --target effect
  banach path trial.csv --target effect --kernel poly --degree 1..2 --p 1.05 --cv 5 --report path.html
  banach path trial.csv --target effect --gamma 0.01,0.1,1,10 --json

Exit codes: 0 done, 1 a fit did not converge or was interrupted (the results are printed all the same), 2 wrong input.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct Path {
    /// A table in any format that `banach fit` reads, also packed (.gz), or `-` for standard input.
    pub data: PathBuf,

    #[command(flatten, next_help_heading = "Columns")]
    pub columns: Columns,

    #[command(flatten, next_help_heading = "Model")]
    pub model: ModelArgs,

    #[command(flatten, next_help_heading = "Path")]
    pub grid: Grid,

    #[command(flatten, next_help_heading = "Running")]
    pub running: Running,
}

#[derive(Debug, Args)]
pub(crate) struct Grid {
    /// So many values of gamma, which the data suggest; 20 if not given.
    #[arg(long, value_name = "N")]
    pub gammas: Option<usize>,
    /// These values of gamma instead.
    #[arg(long, value_name = "G,..", value_delimiter = ',', conflicts_with = "gammas")]
    pub gamma: Vec<f64>,
    /// Loss and score on held-out samples beside every gamma, with so many folds.
    #[arg(long, value_name = "K")]
    pub cv: Option<usize>,
    /// Follow the K monomials with the largest share of the norm at any gamma.
    #[arg(long, value_name = "K", default_value_t = 5)]
    pub top: usize,
    /// Write a page with pictures of the path; it needs no other file.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}
