//! What `banach fit` can be asked.

use std::path::PathBuf;

use banach::{
    Exponent, Route,
    fit::{Effort, Gammas, PaperAlgorithm, PaperOptions, SolverChoice},
    kernel::{Degrees, KernelName, MonomialScale},
    loss::LossSpec,
    solver::Rule,
    sparse::{Hierarchy, SparsePenalty},
};
use banach_io::{Decimal, ExposureColumn, Format, Impute, Unknown};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
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
  tail -n 500 log.csv | banach fit - --no-header --target 1

Exit codes: 0 done, 1 not converged or interrupted (the results are printed all the same), 2 wrong input.
Ctrl-C ends the fit with the best iterate so far and its certificate; a second one ends the program.";

#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct FitArgs {
    /// A table: CSV whose first line names the columns (with any delimiter), Excel (.xlsx), Parquet, Arrow, NumPy or svmlight by the end of its name, also packed (.gz), or `-` for standard input.
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
pub(crate) struct Columns {
    /// The column to predict: its name, or its number from 1 if no column has that name. Several with commas have a model each.
    #[arg(long, value_name = "COL,..")]
    pub target: Option<String>,
    /// The column of exposures, with --loss poisson: what every count was collected over, such as days, above 0. The model predicts rates, and counts where this column is known.
    #[arg(long, value_name = "COL")]
    pub exposure: Option<String>,
    /// The same, for a column of their logarithms.
    #[arg(long, value_name = "COL", conflicts_with = "exposure")]
    pub offset: Option<String>,
    /// The columns to predict from; all others if not given. Names, numbers, or patterns such as 'gene_*'. May be repeated, or a list with commas.
    #[arg(long, value_name = "COL,..")]
    pub features: Vec<String>,
    /// Columns to leave out, such as identifiers; in the same way.
    #[arg(long, value_name = "COL,..")]
    pub drop: Vec<String>,
    /// Columns whose numbers are labels; in the same way. Columns of text are so without being named: every label becomes a column of 0 and 1, as color=red.
    #[arg(long, value_name = "COL,..")]
    pub categorical: Vec<String>,
    /// What to do about missing values; they are refused if not given. Rows without a target are left out with any of these.
    #[arg(long, value_parser = imputes(), value_name = "HOW")]
    pub impute: Option<Impute>,
    /// What `banach predict` does about labels that the model has not met, unless told otherwise: error (refuse the file) or ignore (the row counts as one whose label is not known).
    #[arg(long, value_parser = unknowns(), value_name = "HOW", default_value = "error")]
    pub unknown: Unknown,
    /// Leave out the rows of classes that only one row has. Otherwise such a target is refused.
    #[arg(long)]
    pub drop_rare_classes: bool,
    /// Take the columns as they are. Otherwise each gets mean 0 and standard deviation 1, and constant ones are left out.
    #[arg(long)]
    pub no_standardize: bool,
    /// The column that tells rows apart: their group or their time. It is no variable.
    #[arg(skip)]
    pub apart: Option<String>,
    #[command(flatten, next_help_heading = "File")]
    pub file: FileArgs,
}

/// How a file is written.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileArgs {
    /// The format of the file; that of its name if not given.
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
    /// The character between fields; what the first lines tell if not given: a comma, semicolon, tab or bar.
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// What stands before decimals, point or comma; what the first lines tell if not given. The other one may part thousands.
    #[arg(long, value_name = "MARK", value_parser = decimals())]
    pub decimal: Option<Decimal>,
    /// The sheet of a workbook (.xlsx), by its name or its number from 1; the first one that is not hidden if not given.
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// The first line of a text is a sample, too; the columns are named x1, x2, ...
    #[arg(long)]
    pub no_header: bool,
}

impl Columns {
    /// The column of exposures.
    pub(crate) fn exposure(&self) -> Option<ExposureColumn> {
        let (given, is_offset) = (self.exposure.as_ref().or(self.offset.as_ref()), self.offset.is_some());
        given.map(|column| ExposureColumn { column: column.clone(), is_offset })
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ModelChoice {
    /// auto (the best model that can be found, by held-out rows) or lp (the one that the parameters below describe); auto if none of these is given.
    #[arg(long = "model", value_name = "NAME")]
    pub name: Option<ModelName>,
    /// How much is tried: quick, normal or thorough.
    #[arg(long, value_name = "HOW", default_value_t = Effort::Normal)]
    pub effort: Effort,
    /// Nothing new is tried after so many seconds.
    #[arg(long, value_name = "S")]
    pub max_seconds: Option<f64>,
}

/// Who decides what is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    /// Held-out rows.
    Auto,
    /// The user.
    Lp,
}

impl FitArgs {
    /// Whether the model is to be chosen: nothing is said of it.
    pub(super) fn is_auto(&self) -> anyhow::Result<bool> {
        let told = self.told();
        match (self.choice_of_model.name, &told[..]) {
            (Some(ModelName::Auto) | None, []) => Ok(true),
            (Some(ModelName::Lp) | None, _) => Ok(false),
            (Some(ModelName::Auto), told) => anyhow::bail!(
                "--model auto chooses everything by itself; leave {} out, or take --model lp",
                told.join(" and ")
            ),
        }
    }

    /// The flags of one model that are given.
    fn told(&self) -> Vec<&'static str> {
        let Self { model, choice, tables, running, .. } = self;
        let known_loss = matches!(model.loss, None | Some(LossSpec::Squared | LossSpec::Logistic));
        let given = [
            ("--kernel", !model.kernel.is_empty()),
            ("--degree", model.degree.is_some()),
            ("--coef0", model.coef0.is_some()),
            ("--scale", model.scale.is_some()),
            ("--monomials", model.monomials.is_some()),
            ("--normalize-kernel", model.normalize_kernel.is_some()),
            ("--p", model.p.is_some()),
            ("--loss", !known_loss),
            ("--no-intercept", model.no_intercept),
            ("--no-standardize", self.columns.no_standardize),
            ("--gamma", choice.gamma.is_some()),
            ("--one-se", choice.one_se),
            ("--top", tables.top.is_some()),
            ("--relevance", tables.relevance),
            ("--select", tables.select.is_some()),
            ("--stability", tables.stability.is_some()),
            ("--tolerance", running.tolerance.is_some()),
            ("--max-iterations", running.max_iterations.is_some()),
            ("--route", running.route.is_some()),
            ("--solver", running.algorithm.solver.is_some()),
        ];
        given.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgs {
    /// Which products of variables the model is made of; linear if another parameter of the model is given, and this one is not. Several with commas are searched, as gamma is.
    #[arg(long, value_parser = kernels(), value_name = "NAME,..", value_delimiter = ',')]
    pub kernel: Vec<KernelName>,
    /// The degree of the products: one number, or a range such as 1..2; 1..2 for poly and anova if not given.
    #[arg(long, value_name = "N|MIN..MAX")]
    pub degree: Option<Degrees>,
    /// The constant c of the polynomial (c + t)^degree; 0 with one degree, 1 with a range of degrees, if not given.
    #[arg(long, value_name = "C")]
    pub coef0: Option<f64>,
    /// The scale of the kernel; if not given, 1, and a search for exp tries several. Smaller values favour low degrees.
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// The size of monomials on the samples: raw, unit (mean square 1) or standardized (mean 0, variance 1); raw if not given.
    #[arg(long, value_name = "SIZE")]
    pub monomials: Option<MonomialScale>,
    /// Divide the features of a sample by their norm, or (=false) do not; if not given, a search does so for exp alone.
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub normalize_kernel: Option<bool>,
    /// The exponent of the penalty, 1 <= p <= 2, as 1.5 or 1.05; if not given, 4/3, and a search for exp tries several. Nearer to 1, fewer monomials matter; at 1 most weights are exactly 0.
    #[arg(long, value_parser = Exponent::parse_penalty)]
    pub p: Option<Exponent>,
    /// The loss; squared for numbers, logistic for text and for two different values, if not given.
    #[arg(long, value_parser = losses())]
    pub loss: Option<LossSpec>,
    /// The width of the epsilon-insensitive loss, in units of the target; 0.1 if not given.
    #[arg(long, value_name = "E")]
    pub epsilon: Option<f64>,
    /// Where the huber loss becomes linear, in units of the target; 1.35 if not given.
    #[arg(long, value_name = "R")]
    pub rho: Option<f64>,
    /// The quantile of the quantile loss; 0.5 if not given.
    #[arg(long, value_name = "T")]
    pub tau: Option<f64>,
    /// Leave out the constant.
    #[arg(long)]
    pub no_intercept: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SparseArgs {
    /// Name the few monomials of the kernel that explain the target, by evidence on all rows; all other coefficients are exactly 0. No gamma and no p is chosen.
    #[arg(long, conflicts_with_all = [
        "gamma", "one_se", "p", "coef0", "scale", "monomials", "normalize_kernel", "epsilon", "rho", "tau", "top",
        "relevance", "select", "stability", "tolerance", "max_iterations", "route", "solver", "no_standardize",
    ])]
    pub sparse: bool,
    /// What keeps the terms few: evidence (nothing is shrunk), mcp, scad or l1, each at the point of its path with the most evidence.
    #[arg(long, value_name = "NAME", default_value_t = SparsePenalty::Evidence, requires = "sparse")]
    pub penalty: SparsePenalty,
    /// Which products may be terms of --sparse, --select and --stability: none (all), weak (one of its factors is a term) or strong (all are).
    #[arg(long, value_name = "NAME", default_value_t = Hierarchy::None)]
    pub hierarchy: Hierarchy,
    /// The most terms; a third of the rows if not given, and never more.
    #[arg(long, value_name = "K", requires = "sparse")]
    pub max_terms: Option<usize>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct GammaChoice {
    /// The weight of the loss. Several values with commas, or a range as 0.01..100 (20 values in equal ratios) or 0.01..100:9, are tried instead of those that the data suggest.
    #[arg(long, value_name = "G,..|MIN..MAX")]
    pub gamma: Option<Gammas>,
    /// Choose gamma by cross-validation with so many folds, over 20 values that the data suggest; 5 folds if neither this nor --gamma is given.
    #[arg(long, value_name = "K")]
    pub cv: Option<usize>,
    /// Take the smallest gamma, and hence the simplest model, within one standard error of the best.
    #[arg(long)]
    pub one_se: bool,
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

impl GammaChoice {
    /// The one value that was given, if it is one.
    pub(crate) fn one(&self) -> Option<f64> {
        match &self.gamma {
            Some(Gammas::Given(gammas)) if gammas.len() == 1 => Some(gammas[0]),
            _ => None,
        }
    }
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

#[derive(Debug, Clone, Args)]
pub(crate) struct Running {
    /// The relative duality gap to reach; 1e-8 if not given. Fits of a cross-validation end at 1e-6.
    #[arg(long, value_name = "GAP")]
    pub tolerance: Option<f64>,
    /// The most iterations of a fit; 1000 if not given.
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<usize>,
    /// The way to the solution: features, tiles, gram or streamed; the cheapest if not given.
    #[arg(long)]
    pub route: Option<Route>,
    /// The seed of the folds and of the random halves.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub algorithm: AlgorithmChoice,
}

/// The solver and what it may be told.
#[derive(Debug, Clone, Args)]
pub(crate) struct AlgorithmChoice {
    /// The algorithm: auto, newton or paper, whose options are the five that follow; auto if not given.
    #[arg(long, value_name = "NAME")]
    pub solver: Option<SolverChoice>,
    /// Of --solver paper: Algorithm 3.3, for every loss, or 2.1, for the squared one; 3.3 if not given.
    #[arg(long, value_name = "2.1|3.3")]
    pub algorithm: Option<PaperAlgorithm>,
    /// Of --solver paper: where the search for a step starts, restart (from --lambda-bar) or monotone (from the last step); restart in 3.3, monotone in 2.1 if not given.
    #[arg(long, value_name = "RULE")]
    pub rule: Option<Rule>,
    /// Of --solver paper: how much of the linear decrease a step may lose, 0 < delta < 1; 0.5 if not given.
    #[arg(long, value_name = "D")]
    pub delta: Option<f64>,
    /// Of --solver paper: the factor from one trial step to the next, 0 < theta < 1; 0.5 if not given.
    #[arg(long, value_name = "T")]
    pub theta: Option<f64>,
    /// Of --solver paper: the first trial step; gamma in 3.3, 99 % of its limit gamma/(2(1-delta)) in 2.1 if not given.
    #[arg(long, value_name = "L")]
    pub lambda_bar: Option<f64>,
}

impl AlgorithmChoice {
    /// What was asked for, if it goes together.
    pub(crate) fn choice(&self) -> Result<SolverChoice, banach::Error> {
        let Self { solver, algorithm, rule, delta, theta, lambda_bar } = *self;
        solver.unwrap_or(SolverChoice::Auto).with_options(PaperOptions { algorithm, rule, delta, theta, lambda_bar })
    }
}

/// What can be done about missing values.
fn imputes() -> impl TypedValueParser<Value = Impute> {
    named([
        (Impute::Mean, "mean", "Fill in the mean of the column"),
        (Impute::Median, "median", "Fill in the median of the column"),
        (Impute::Drop, "drop", "Leave out the row"),
    ])
}

/// What can be done about labels that a model has not met.
pub(crate) fn unknowns() -> impl TypedValueParser<Value = Unknown> {
    named([
        (Unknown::Error, "error", "Refuse the file"),
        (Unknown::Ignore, "ignore", "Take the row for one whose label is not known"),
    ])
}

fn decimals() -> impl TypedValueParser<Value = Decimal> {
    named([
        (Decimal::Point, "point", "1.5, and perhaps 1,234.5"),
        (Decimal::Comma, "comma", "1,5, and perhaps 1.234,5"),
    ])
}

/// Values by their names.
fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    known: [(T, &'static str, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(known.map(|(_, name, help)| PossibleValue::new(name).help(help)));
    parser.map(move |text| known.iter().find(|(_, name, _)| *name == text).expect("one of the possible values").0)
}

/// The formats of files, by the names that the reader gives them.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    let known = Format::ALL.map(|format| {
        let ends: Vec<String> = format.extensions().iter().map(|end| format!(".{end}")).collect();
        PossibleValue::new(format.name()).aliases(format.extensions()).help(format!("Files named {}", ends.join(", ")))
    });
    PossibleValuesParser::new(known).try_map(|name| name.parse::<Format>())
}

/// The kernels, by the names and with the help of the library.
fn kernels() -> impl TypedValueParser<Value = KernelName> {
    let known = KernelName::ALL.map(|kernel| PossibleValue::new(kernel.name()).help(kernel.help()));
    PossibleValuesParser::new(known).map(|name| name.parse().expect("one of the possible values"))
}

/// The losses, by the names and with the help of the library.
fn losses() -> impl TypedValueParser<Value = LossSpec> {
    let known = LossSpec::ALL
        .map(|loss| PossibleValue::new(loss.name().replace('_', "-")).alias(loss.name()).help(loss.help()));
    PossibleValuesParser::new(known).map(|name| {
        let name = name.replace('-', "_");
        LossSpec::ALL.into_iter().find(|loss| loss.name() == name).expect("one of the possible values")
    })
}

/// A whole number above 0.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a whole number > 0".to_owned())
}

pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'"' => Ok(*byte),
        _ => Err("one character, such as ';' or '\\t'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_one_character() {
        assert_eq!((delimiter(";"), delimiter("\\t"), delimiter("\t")), (Ok(b';'), Ok(b'\t'), Ok(b'\t')));
        assert!(delimiter("").is_err() && delimiter("ab").is_err() && delimiter("\"").is_err());
    }
}
