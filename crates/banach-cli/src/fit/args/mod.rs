//! What `banach fit` can be asked.

mod choice;
mod columns;
mod model;
mod running;

use std::path::PathBuf;

use clap::Args;

pub(crate) use self::{
    choice::ModelChoice,
    columns::{Columns, FileArgs, GenotypeArgs, unknowns},
    model::{GammaChoice, ModelArgs, SparseArgs},
    running::Running,
};
use super::held::HeldArgs;

const EXAMPLES: &str = "\
Examples:
  banach fit trial.csv --target effect
  banach fit trial.csv --target effect -o trial.banach
  banach fit trial.csv --target effect --kernel poly --degree 1..2 --p 1.05 --top 20 --relevance
  banach fit trial.csv --target effect --kernel anova --degree 1..3 --p 1.1 --select 8
  banach fit trial.csv --target effect --kernel poly --degree 1..2 --sparse
  banach fit cells.tsv --target type --drop id,batch --p 1.1 --stability 10
  banach fit trial.csv --target effect --kernel poly --degree 1..2 --p 1.05 --report trial.html
  banach fit trial.csv --target effect --gamma 10 --json > fit.json
  banach fit trial.csv --target effect --effort quick --permutations 50
  banach fit trial.csv --target effect --gamma 10 --solver paper --algorithm 2.1 --theta 0.9
  banach fit genes.csv.gz --target y --features 'gene_*' --drop 'gene_9?' --impute median
  banach fit messwerte.xlsx --sheet Versuch2 --target Ausbeute --drop Datum
  banach fit cohort.bed --pheno pheno.tsv --target bp --covariates age,sex,'PC*' --chr 1-22 --maf 0.01 --geno 0.05
  tail -n 500 log.csv | banach fit - --no-header --target 1

Exit codes: 0 done, 1 not converged or interrupted (the results are printed all the same), 2 wrong input.
Ctrl-C ends the fit with the best iterate so far and its certificate; a second one ends the program.";

#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct FitArgs {
    /// A table: CSV whose first line names the columns (with any delimiter), Excel (.xlsx), Parquet, Arrow, NumPy, svmlight or genotypes of PLINK (.bed) by the end of its name, also packed (.gz), or `-` for standard input.
    pub data: PathBuf,

    /// Write the model to this file, for `banach predict`, `features` and `info` and for Python's `banach.load`.
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Columns")]
    pub columns: Columns,

    #[command(flatten, next_help_heading = "Choice of the model")]
    pub choice_of_model: ModelChoice,

    #[command(flatten, next_help_heading = "Model")]
    pub model: ModelArgs,

    #[command(flatten, next_help_heading = "Few terms")]
    pub sparse: SparseArgs,

    #[command(flatten, next_help_heading = "Choice of gamma")]
    pub choice: GammaChoice,

    #[command(flatten, next_help_heading = "Rows that are held out")]
    pub held: HeldArgs,

    #[command(flatten, next_help_heading = "Tables")]
    pub tables: Tables,

    #[command(flatten, next_help_heading = "Running")]
    pub running: Running,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Tables {
    /// The K largest monomials; 10 if not given, 0 for no table. --explain adds the solver's error.
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// How much each variable and each degree matters.
    #[arg(long)]
    pub relevance: bool,
    /// An equation of at most K terms, those that evidence on all rows names (--sparse), with coefficients that nothing shrinks.
    #[arg(long, value_name = "K", value_parser = positive)]
    pub select: Option<usize>,
    /// Write the equation of --select, or that of a chosen model, to a model file of its own: `predict`, `export`, `info` and `features` use it like a model of --sparse.
    #[arg(long, value_name = "MODEL", conflicts_with = "sparse")]
    pub save_equation: Option<PathBuf>,
    /// How often each monomial is named, of at most K, where only a random half of the rows is known.
    #[arg(long, value_name = "K", value_parser = positive)]
    pub stability: Option<usize>,
    /// How the error on held-out rows falls with the number of rows: fits again to a quarter, a half and three quarters of the rows outside of each fold. It costs three times what holding out costs; of one model with folds (--model lp) little, so that its page has it in any case.
    #[arg(long)]
    pub learning_curve: bool,
    /// Write a page with pictures of everything, relevance and what variables do included; it needs no other file.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

impl Tables {
    /// The largest monomials, unless told otherwise.
    pub(crate) fn top(&self) -> usize {
        self.top.unwrap_or(10)
    }

    /// A report has it in any case.
    pub(crate) fn wants_relevance(&self) -> bool {
        self.relevance || self.report.is_some()
    }
}

/// A whole number above 0.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a whole number > 0".to_owned())
}
