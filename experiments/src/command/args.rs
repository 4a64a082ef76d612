//! What can be asked of the laboratory.

use std::{ffi::OsString, path::PathBuf};

use banach_cli::options::Common;
use banach_lab::Settings;
use clap::{Args, Parser, Subcommand};

/// The laboratory of banach: the experiments of the paper, and measurements.
#[derive(Debug, Parser)]
#[command(name = "banach-lab", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten, next_help_heading = "Every command")]
    pub common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the experiments of the paper and show its numbers beside ours.
    #[command(subcommand)]
    Reproduce(Reproduce),
    /// Measure the speed of the core against the machine's own limits, and of the solvers against others.
    #[command(args_conflicts_with_subcommands = true)]
    Bench(BenchArguments),
    /// The `banach` command, for measurements that give it a process of its own.
    #[command(hide = true, disable_help_flag = true)]
    Banach {
        /// Its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    /// Table 1: iterations to relative precision 1e-8, dual against primal algorithms.
    #[command(
        after_help = "Examples:\n  banach-lab reproduce table1 --quick\n  banach-lab reproduce table1 --no-baselines\n  banach-lab reproduce table1 --fista --momentum 2.5\n  banach-lab reproduce table1 --json > table1.json"
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
        after_help = "Examples:\n  banach-lab reproduce figure1 --out figures\n  banach-lab reproduce figure1 --quick --json"
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
        after_help = "Examples:\n  banach-lab reproduce table2 --repeats 1\n  banach-lab reproduce table2 --quick --json"
    )]
    Table2 {
        #[command(flatten)]
        experiment: Experiment,
        /// Write table2.md and table2.json to this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Everything, on one page: reproduction.html and reproduction.md.
    #[command(
        after_help = "Examples:\n  banach-lab reproduce all --out out\n  banach-lab reproduce all --quick --repeats 1"
    )]
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
pub(crate) struct BenchArguments {
    /// What to measure; the core if not given.
    #[command(subcommand)]
    pub what: Option<BenchCommand>,
    /// Rounds; the best time of each side counts.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=10_000), value_name = "N")]
    pub rounds: u16,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Cross-validation with all folds abreast against one fold after another.
    Lockstep {
        /// A small size that takes seconds; its ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds; the best time of each side counts.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
        rounds: u16,
    },
    /// Whole fits against what their passes and Hessians must take, and two threads against one.
    Fits {
        /// Small sizes that take a second; their ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds; the best time of each side counts.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
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
    /// What fits and searches are predicted to take, against what they take. With --threads 1 processor time is measured, also on a busy machine.
    Plan {
        /// A small version that takes seconds; what it says is little.
        #[arg(long)]
        quick: bool,
        /// Only these, such as table1 or search-wide; may be repeated. square-large (20,000 x 20,000) is measured only if it is named.
        #[arg(long, value_name = "KEY")]
        only: Vec<String>,
    },
    /// Supports by evidence on data whose truth is known: what is found, what is false, and seconds.
    Supports {
        /// A small version that takes seconds.
        #[arg(long)]
        quick: bool,
        /// The seed of the first draw of every kind of data; the others follow.
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
        seed: u64,
        /// Only these kinds of data, such as wide or table2; may be repeated.
        #[arg(long, value_name = "KIND")]
        only: Vec<String>,
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
    /// Columns in fewer bytes than f64: f32 on the features route, and genotypes of two bits in products of degree 2, with their memory.
    Scale {
        /// Small sizes that take a second; their ratios say little.
        #[arg(long)]
        quick: bool,
        /// Rounds of the features route; the best time of each side counts.
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
        rounds: u16,
    },
    /// Finding interactions among very many variables: against the matrix of all monomials, and with up to 1.25 billion of them.
    Interactions {
        /// Small sizes that take seconds; what they say of speed and memory is little.
        #[arg(long)]
        quick: bool,
    },
    /// One measurement, read as JSON from standard input: how `interactions` gives each a process of its own.
    #[command(hide = true)]
    Task,
    /// The same for `scale`.
    #[command(hide = true)]
    ScaleTask,
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
