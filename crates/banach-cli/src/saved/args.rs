//! What can be asked of a model file.

use std::path::PathBuf;

use banach_io::Format;
use clap::Args;

use crate::{
    args::SearchBudget,
    fit::args::{delimiter, formats},
};

const PREDICT: &str = "\
Examples:
  banach predict trial.banach new.csv
  banach predict trial.banach new.csv -o predictions.csv
  banach predict cells.banach new.tsv --proba --json
  banach predict news.banach new.svm.gz

Columns are found by their names; the others, and the target if it is there, are not looked at. What was done to the columns
before the fit is done to the new ones: labels become columns of 0 and 1, and all columns are scaled. Exit codes: 0 done, 2 wrong input.";

#[derive(Debug, Args)]
#[command(after_help = PREDICT)]
pub(crate) struct Predict {
    /// A file that `banach fit -o` or Python's `model.save` has written.
    pub model: PathBuf,
    /// A table in any format that `banach fit` reads, also packed (.gz), or `-` for standard input.
    pub data: PathBuf,
    /// Write the predictions to this file.
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Add the probability of every class, for models with the logistic loss.
    #[arg(long)]
    pub proba: bool,
    /// Keep labels that a spreadsheet would take for formulas as they are. Otherwise text that begins with = + - @ gets an apostrophe before it.
    #[arg(long)]
    pub raw_labels: bool,
    /// Fill in missing values, which are refused otherwise: the mean of the column in the data that the model was fitted to.
    #[arg(long, value_name = "HOW", value_parser = ["mean"])]
    pub impute: Option<String>,
    /// The character between fields; a comma, or a tab for files named .tsv or .tab.
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The format of the file; that of its name if not given.
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
    /// The first line of a text is a sample, too; the columns are named x1, x2, ...
    #[arg(long)]
    pub no_header: bool,
    #[command(flatten, next_help_heading = "Search (--explain)")]
    pub budget: SearchBudget,
}

const FEATURES: &str = "\
Examples:
  banach features trial.banach
  banach features trial.banach --top 5 --relevance
  banach features trial.banach --json";

#[derive(Debug, Args)]
#[command(after_help = FEATURES)]
pub(crate) struct Features {
    /// A file that `banach fit -o` or Python's `model.save` has written.
    pub model: PathBuf,
    /// The K largest monomials, with what is proven of them; 0 for no table.
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub top: usize,
    /// How much each variable and each degree matters.
    #[arg(long)]
    pub relevance: bool,
    #[command(flatten, next_help_heading = "Search")]
    pub budget: SearchBudget,
}

const INFO: &str = "\
Examples:
  banach info trial.banach
  banach info trial.banach --json";

#[derive(Debug, Args)]
#[command(after_help = INFO)]
pub(crate) struct Info {
    /// A file that `banach fit -o` or Python's `model.save` has written.
    pub model: PathBuf,
}
