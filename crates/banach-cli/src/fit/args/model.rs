//! The model that is described, and how its gamma is chosen.

use banach::{
    Exponent,
    fit::Gammas,
    kernel::{Degrees, KernelName, MonomialScale},
    loss::LossSpec,
    sparse::{Hierarchy, SparsePenalty},
};
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

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
    /// Choose gamma by cross-validation with so many folds, over 20 values that the data suggest; 5 folds if neither this nor --gamma is given. The automatic choice has 10 of fewer than 100 rows.
    #[arg(long, value_name = "K")]
    pub cv: Option<usize>,
    /// Take the smallest gamma, and hence the simplest model, within one standard error of the best.
    #[arg(long)]
    pub one_se: bool,
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
