//! How it is computed.

use banach::{
    Route,
    fit::{PaperAlgorithm, PaperOptions, SolverChoice},
    solver::Rule,
};
use clap::Args;

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
