//! Who decides what is fitted: the user, or held-out rows.

use banach::{fit::Effort, loss::LossSpec};
use clap::{Args, ValueEnum};

use super::FitArgs;

#[derive(Debug, Clone, Args)]
pub(crate) struct ModelChoice {
    /// auto (the best model that can be found, by held-out rows) or lp (the one that the parameters below describe); auto if none of these is given.
    #[arg(long = "model", value_name = "NAME")]
    pub name: Option<ModelName>,
    /// How much is tried: quick, normal or thorough; normal if not given.
    #[arg(long, value_name = "HOW")]
    pub effort: Option<Effort>,
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
    /// Refuses what says who chooses, or how much is tried, where nothing is chosen.
    pub(in crate::fit) fn check_choice(&self) -> anyhow::Result<()> {
        let name = self.choice_of_model.name.filter(|_| self.sparse.sparse);
        if let Some(name) = name.as_ref().and_then(ValueEnum::to_possible_value) {
            anyhow::bail!("--model {}: --sparse is a model of its own; leave one of the two out", name.get_name());
        }
        let ModelChoice { effort, max_seconds, .. } = self.choice_of_model;
        let given = effort.map(|effort| format!("--effort {effort}"));
        let Some(given) = given.or_else(|| max_seconds.map(|seconds| format!("--max-seconds {seconds}"))) else {
            return Ok(());
        };
        let chosen_by = match (self.sparse.sparse, self.choice_of_model.name, self.told().first()) {
            (true, ..) => "--sparse",
            (_, Some(ModelName::Lp), _) => "--model lp",
            (_, None, Some(flag)) => flag,
            _ => return Ok(()),
        };
        anyhow::bail!(
            "{given}: it says how much the automatic choice tries, and {chosen_by} leaves nothing to it; leave one of the two out"
        )
    }

    /// Whether the model is to be chosen: nothing is said of it.
    pub(in crate::fit) fn is_auto(&self) -> anyhow::Result<bool> {
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
