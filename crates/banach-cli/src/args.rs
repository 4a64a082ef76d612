//! What can be asked on the command line.

use std::{path::PathBuf, time::Instant};

use banach::{Memory, model::Budget};
use banach_experiments::Settings;
use clap::{Args, Parser, Subcommand};

use crate::{
    demo::Demo,
    fit::args::Fit,
    manual::{Completions, Man},
    path::args::Path,
    print,
    saved::args::{Features, Info, Predict},
};

/// Sparse, nonlinear models from few samples of very many variables.
#[derive(Debug, Parser)]
#[command(name = "banach", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten, next_help_heading = "Every command")]
    pub common: Common,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Print one JSON object, for machines (docs/command-line.md lists its keys).
    #[arg(long, global = true)]
    pub json: bool,
    /// Say how the result comes about: what every route would cost, what a prediction is made of, how a search went.
    #[arg(long, global = true)]
    pub explain: bool,
    /// No progress and no messages on standard error, but for errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Threads to use; all cores if not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// The memory to use, such as 2GB or 500MB; 80 % of what is available if not given.
    #[arg(long, global = true, value_name = "SIZE", value_parser = bytes)]
    pub memory_limit: Option<u64>,
}

impl Common {
    pub(crate) fn memory(&self) -> Memory {
        self.memory_limit.map_or_else(Memory::available, Memory::limit)
    }

    /// Says something on standard error, unless told not to.
    pub(crate) fn say(&self, what: impl std::fmt::Display) {
        if !self.quiet {
            print::message(what);
        }
    }
}

/// How much the searches for the largest monomials of a model file may take. A file from a stranger can ask for searches without
/// end; these stop with what they have, and say what is proven of it.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SearchBudget {
    /// Monomials that the search of a function may look at one by one.
    #[arg(long, value_name = "N", default_value_t = Budget::default().nodes, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_nodes: u64,
    /// Seconds that all searches together may take; inf for no limit.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = seconds)]
    pub max_seconds: f64,
}

impl SearchBudget {
    /// What is left for one more search, when searches have gone on since `begin`.
    pub(crate) fn left(self, begin: Instant) -> Budget {
        // A search ends at once rather than not at all.
        let seconds = (self.max_seconds - begin.elapsed().as_secs_f64()).max(f64::MIN_POSITIVE);
        Budget { nodes: self.max_nodes, seconds }
    }
}

/// A time that a search can have.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 => Ok(seconds),
        _ => Err("a number of seconds > 0, or inf".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a model to a table of data, and name the variables and products that it is made of.
    Fit(Box<Fit>),
    /// The models for every gamma of a grid, and how their largest monomials grow.
    Path(Box<Path>),
    /// Predict new samples by a model that `banach fit -o` has written.
    Predict(Predict),
    /// The largest monomials of a model, and how much each variable matters.
    Features(Features),
    /// What a model file holds: parameters, certificates, sizes and where it comes from.
    Info(Info),
    /// From a real data set that comes with the program to a table and a page.
    Demo(Demo),
    /// Run the experiments of the paper and show its numbers beside ours.
    #[command(subcommand)]
    Reproduce(Reproduce),
    /// Measure the speed of the core against the machine's own limits, and of the solvers against others.
    #[command(args_conflicts_with_subcommands = true)]
    Bench(Bench),
    /// Print what completes the words of this program in a shell.
    Completions(Completions),
    /// Print the manual page, or write one for every command to a folder.
    Man(Man),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    /// Table 1: iterations to relative precision 1e-8, dual against primal algorithms.
    #[command(
        after_help = "Examples:\n  banach reproduce table1 --quick\n  banach reproduce table1 --no-baselines\n  banach reproduce table1 --fista --momentum 2.5\n  banach reproduce table1 --json > table1.json"
    )]
    Table1 {
        #[command(flatten)]
        experiment: Experiment,
        #[command(flatten)]
        primal: Primal,
        /// Write table1.md and table1.json to this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Figure 1: convergence of the dual algorithm against FISTA, and a recovered sparse vector.
    #[command(
        after_help = "Examples:\n  banach reproduce figure1 --out figures\n  banach reproduce figure1 --quick --json"
    )]
    Figure1 {
        #[command(flatten)]
        experiment: Experiment,
        /// Write both panels, as SVG and PNG, and figure1.json to this folder.
        #[arg(long, value_name = "DIR", default_value = "out")]
        out: PathBuf,
    },
    /// Table 2: the dual algorithm with and without the Gram tensor of the polynomial kernel of degree 2.
    #[command(
        after_help = "Examples:\n  banach reproduce table2 --repeats 1\n  banach reproduce table2 --quick --json"
    )]
    Table2 {
        #[command(flatten)]
        experiment: Experiment,
        /// Write table2.md and table2.json to this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Everything, on one page: reproduction.html and reproduction.md.
    #[command(after_help = "Examples:\n  banach reproduce all --out out\n  banach reproduce all --quick --repeats 1")]
    All {
        #[command(flatten)]
        experiment: Experiment,
        #[command(flatten)]
        primal: Primal,
        /// Write the page, the pictures and the results as JSON to this folder.
        #[arg(long, value_name = "DIR", default_value = "out")]
        out: PathBuf,
    },
}

/// The primal algorithms of Table 1.
#[derive(Debug, Args)]
pub(crate) struct Primal {
    /// Leave out the primal algorithms of Table 1, which take most of the time.
    #[arg(long)]
    pub no_baselines: bool,
    /// Of the primal algorithms run FISTA alone, at the two p for which the paper prints its count.
    #[arg(long, conflicts_with = "no_baselines")]
    pub fista: bool,
    /// a >= 2 in the momentum (k-1)/(k+a), a row of FISTA beside that with the original momentum.
    #[arg(long, value_name = "A", default_value_t = Settings::MOMENTUM)]
    pub momentum: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Experiment {
    /// The first seed of the data.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The number of seeds: of the dual algorithm in Tables 1 and 2, of FISTA where the paper has its count, of the right panel in Figure 1.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
    pub repeats: u16,
    /// A small size that takes seconds; the paper's numbers do not apply to it.
    #[arg(long)]
    pub quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// What to measure; the core if not given.
    #[command(subcommand)]
    pub what: Option<Measured>,
    /// Rounds; the best time of each side counts.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=10_000), value_name = "N")]
    pub rounds: u16,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Measured {
    /// The solver against SciPy's L-BFGS-B on the same dual: seconds to a relative duality gap of 1e-8.
    #[command(after_help = "`make bench-solvers` installs SciPy and runs this.")]
    Solvers {
        /// A small size that takes seconds; its ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds; the best time of each side counts.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
        rounds: u16,
        /// A Python interpreter with the packages of experiments/peers/requirements.txt.
        #[arg(long, default_value = "python3", value_name = "PATH")]
        python: PathBuf,
    },
    /// Cross-validation with all folds abreast against one fold after another.
    Lockstep {
        /// A small size that takes seconds; its ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds; the best time of each side counts.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
        rounds: u16,
    },
    /// Reading a CSV file of 200 x 100,000 numbers, against counting its lines and against pandas and polars.
    Reading {
        /// A small size that takes a second; its ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds; the best time of each side counts.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
        rounds: u16,
        /// A Python interpreter with pandas or polars; without one they are left out.
        #[arg(long, value_name = "PATH")]
        python: Option<PathBuf>,
    },
    /// The exact search for the largest monomials of the exponential kernel: monomials looked at, and seconds.
    Search {
        /// A small version that takes seconds.
        #[arg(long)]
        quick: bool,
    },
    /// The tiles route: an evaluation against a matrix product of the same work, and fits with millions of monomials.
    Tiles {
        /// A small size that takes seconds; its ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds; the best time of each side counts.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
        rounds: u16,
    },
    /// Finding interactions among very many variables: against a Lasso on monomials that are written out, against the matrix of
    /// all monomials, and with up to 1.25 billion of them.
    #[command(after_help = "`make bench-interactions` installs the Lasso and runs this.")]
    Interactions {
        /// Small sizes that take seconds; what they say of speed and memory is little.
        #[arg(long)]
        quick: bool,
        /// The first seed of the comparison with the Lasso. Its settings were chosen on the seeds 0 to 9.
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
        seed: u64,
        /// A Python interpreter with the packages of experiments/peers/requirements.txt; without one the Lasso is left out.
        #[arg(long, value_name = "PATH")]
        python: Option<PathBuf>,
    },
    /// One measurement, read as JSON from standard input: how `interactions` gives each a process of its own.
    #[command(hide = true)]
    Task,
    /// Random problems, many of them hostile, whose certificates are computed again with 32 digits.
    #[command(after_help = "Exits with 1 if a certificate is false, routes disagree or a run stalls without rounding.")]
    Stress {
        /// Problems; each is fitted by every route that can hold it.
        #[arg(long, default_value_t = 20_000, value_name = "N")]
        problems: u64,
        /// The seed of the first problem; the others follow.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
        seed: u64,
    },
    /// Evaluations to a relative duality gap of 1e-8: every loss over data sets, routes, p, gamma and the intercept.
    Grid {
        /// A small version that takes seconds.
        #[arg(long)]
        quick: bool,
        /// Shapes instead, from a hundred times as many samples as features to the opposite: every loss at every p from 2 to 1.01, gamma from
        /// 1e-3 to 1e6.
        #[arg(long, conflicts_with = "quick")]
        shapes: bool,
    },
}

/// Bytes from `2GB`, `1.5 GiB`, `500MB` or `1000000`.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1.0),
        "kb" | "k" => Some(1e3),
        "mb" | "m" => Some(1e6),
        "gb" | "g" => Some(1e9),
        "tb" | "t" => Some(1e12),
        "kib" => Some(1024.0),
        "mib" => Some(1_048_576.0),
        "gib" => Some(1_073_741_824.0),
        _ => None,
    };
    match (text[..digits].parse::<f64>(), unit) {
        (Ok(number), Some(unit)) if number * unit >= 1.0 => Ok((number * unit) as u64),
        _ => Err("a size such as 2GB, 500MB or 1.5GiB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_are_positive() {
        assert_eq!((seconds("0.5"), seconds("inf")), (Ok(0.5), Ok(f64::INFINITY)));
        for text in ["", "0", "-1", "nan", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        let budget = SearchBudget { max_nodes: 7, max_seconds: 1e-9 };
        let begin = Instant::now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let left = budget.left(begin);
        assert!(left.nodes == 7 && left.seconds > 0.0 && left.seconds < 1e-300);
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [("2GB", 2_000_000_000), ("1.5 GiB", 1_610_612_736), ("500mb", 500_000_000), ("7", 7)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "GB", "2XB", "-1GB", "0", "1e9"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
