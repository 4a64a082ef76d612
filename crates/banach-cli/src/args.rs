//! What can be asked on the command line.

use std::time::Instant;

use banach::model::Budget;
use clap::{Args, Parser, Subcommand};

use crate::{
    demo::Demo,
    fit::args::FitArgs,
    manual::{Completions, Man},
    options::Common,
    path::args::Path,
    saved::args::{Export, Features, Info, Predict},
};

/// Sparse, nonlinear models from few samples of very many variables.
#[derive(Debug, Parser)]
#[command(name = "banach", version, propagate_version = true, arg_required_else_help = true, max_term_width = 80)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten, next_help_heading = "Every command")]
    pub common: Common,
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
    Fit(Box<FitArgs>),
    /// The models for every gamma of a grid, and how their largest monomials grow.
    Path(Box<Path>),
    /// Predict new samples by a model that `banach fit -o` has written.
    Predict(Predict),
    /// The largest monomials of a model, and how much each variable matters.
    Features(Features),
    /// The equation of a model as code: Python, R, SQL, a spreadsheet's formula, C or JSON.
    Export(Export),
    /// What a model file holds: parameters, certificates, sizes and where it comes from.
    Info(Info),
    /// From a real data set that comes with the program to a table and a page.
    Demo(Demo),
    /// Print what completes the words of this program in a shell.
    Completions(Completions),
    /// Print the manual page, or write one for every command to a folder.
    Man(Man),
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
}
