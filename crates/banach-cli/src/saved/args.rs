//! What can be asked of a model file.

use std::path::PathBuf;

use banach_io::{Language, Unknown};
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use crate::{
    args::SearchBudget,
    fit::args::{FileArgs, unknowns},
};

const PREDICT: &str = "\
Examples:
  banach predict trial.banach new.csv
  banach predict trial.banach new.csv -o predictions.csv
  banach predict trial.banach new.xlsx --id sample --interval 0.9
  banach predict cells.banach new.tsv --proba --json
  banach predict news.banach new.svm.gz
  banach predict bp.banach new.bed --covar new.tsv --id IID

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
    /// Fill in missing values by what was learned: the mean of the column in the data that the model was fitted to, or its median if that was filled in there. Done without being asked for if it was done then; refused otherwise.
    #[arg(long, value_name = "HOW", value_parser = ["mean"])]
    pub impute: Option<String>,
    /// What to do about labels that the model has not met: error or ignore (the row counts as one whose label is not known); what `banach fit` was told if not given.
    #[arg(long, value_name = "HOW", value_parser = unknowns())]
    pub unknown: Option<Unknown>,
    /// A column that tells rows apart, by its name or number; it is written before the predictions.
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,
    /// Add columns lower and upper, between which so large a share of new rows lies, such as 0.9. It is made of the rows that were held out when the model was fitted.
    #[arg(long, value_name = "SHARE")]
    pub interval: Option<f64>,
    #[command(flatten, next_help_heading = "File")]
    pub file: FileArgs,
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
    /// The K largest monomials; 0 for no table. --explain adds the solver's error.
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub top: usize,
    /// How much each variable and each degree matters.
    #[arg(long)]
    pub relevance: bool,
    #[command(flatten, next_help_heading = "Search")]
    pub budget: SearchBudget,
}

const EXPORT: &str = "\
Examples:
  banach fit trial.csv --target effect --kernel poly --degree 1..2 --sparse -o trial.banach
  banach export trial.banach --as python -o effect.py
  banach export trial.banach --as sql

The model must be an equation of few terms (banach fit --sparse); of a chosen model it is the equation that the choice offers beside it. Code has
all digits, takes columns by their names and in the units of the table, and needs nothing but its language.";

#[derive(Debug, Args)]
#[command(after_help = EXPORT)]
pub(crate) struct Export {
    /// A file that `banach fit -o` or Python's `model.save` has written.
    pub model: PathBuf,
    /// The language.
    #[arg(long = "as", value_name = "LANGUAGE", value_parser = languages())]
    pub language: Language,
    /// Write the code to this file.
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// The languages of equations.
fn languages() -> impl TypedValueParser<Value = Language> {
    let help = |language: Language| match language {
        Language::Python => "Functions of a row or a data frame",
        Language::R => "Functions of a data frame",
        Language::Sql => "A query of a table",
        Language::Excel => "Two lines of cells to paste into a sheet",
        Language::C => "Functions of an array",
        _ => "The equations as data",
    };
    let parser = PossibleValuesParser::new(
        Language::ALL.map(|language| PossibleValue::new(language.name()).help(help(language))),
    );
    parser.map(|text| text.parse().expect("one of the possible values"))
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
