//! Errors in the words of the command: its flags.

use banach::{
    error::{Parameter, Words},
    report::Note,
};
use banach_io::{FileWords, ModelFileError, Setting};

/// The flags of the command.
#[derive(Debug)]
struct Flags;

impl Words for Flags {
    fn name(&self, parameter: Parameter) -> &'static str {
        match parameter {
            Parameter::Target => "--target",
            Parameter::Gamma => "--gamma",
            Parameter::GammaCount => "--gammas",
            Parameter::P => "--p",
            Parameter::Kernel => "--kernel",
            Parameter::Degree => "--degree",
            Parameter::Coef0 => "--coef0",
            Parameter::Scale => "--scale",
            Parameter::NormalizeKernel => "--normalize-kernel",
            Parameter::Monomials => "--monomials",
            Parameter::Loss => "--loss",
            Parameter::Epsilon => "--epsilon",
            Parameter::Rho => "--rho",
            Parameter::Tau => "--tau",
            Parameter::FitIntercept => "--no-intercept",
            Parameter::Tolerance => "--tolerance",
            Parameter::Solver => "--solver",
            Parameter::Algorithm => "--algorithm",
            Parameter::Rule => "--rule",
            Parameter::Delta => "--delta",
            Parameter::Theta => "--theta",
            Parameter::LambdaBar => "--lambda-bar",
            Parameter::Route => "--route",
            Parameter::MemoryLimit => "--memory-limit",
            Parameter::Threads => "--threads",
            Parameter::Folds => "--cv",
            Parameter::Coverage => "--interval",
            Parameter::Permutations => "--permutations",
            Parameter::ClassWeight => "--class-weight",
            Parameter::Top => "--top",
            Parameter::Nodes => "--max-nodes",
            Parameter::Seconds => "--max-seconds",
            Parameter::Effort => "--effort",
            Parameter::MaxTerms => "--max-terms",
            Parameter::Penalty => "--penalty",
            Parameter::Hierarchy => "--hierarchy",
            // The command has no word for these.
            Parameter::Data
            | Parameter::Resamples
            | Parameter::Columns
            | Parameter::LowerShare
            | Parameter::UpperFactor
            | Parameter::Coefficients
            | Parameter::Series
            | Parameter::Points
            | Parameter::Momentum
            | Parameter::Pairs
            | Parameter::Threshold
            | Parameter::Samples
            | Parameter::Intercept
            | Parameter::Radius
            | Parameter::Status => parameter.name(),
        }
    }

    fn choice(&self, parameter: Parameter, value: &str) -> String {
        format!("{} {value}", self.name(parameter))
    }
}

impl FileWords for Flags {
    fn setting(&self, setting: Setting) -> &'static str {
        match setting {
            Setting::Target => "--target",
            Setting::Features => "--features",
            Setting::Drop => "--drop",
            Setting::Categorical => "--categorical",
            Setting::Impute => "--impute",
            Setting::NoHeader => "--no-header",
            Setting::Delimiter => "--delimiter",
            Setting::Decimal => "--decimal",
            Setting::Format => "--format",
            Setting::Sheet => "--sheet",
            Setting::Id => "--id",
            Setting::Unknown => "--unknown",
            Setting::Phenotypes => "--pheno",
            Setting::CovariateFile => "--covar",
            Setting::Covariates => "--covariates",
            Setting::CountedAllele => "--a2",
            Setting::Chromosomes => "--chr",
            Setting::MinFrequency => "--maf",
            Setting::MaxMissing => "--geno",
        }
    }
}

/// What an error says to the users of the command.
pub(crate) fn message(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<banach::Error>() {
        return error.render(&Flags);
    }
    if let Some(error) = error.downcast_ref::<banach_io::Error>() {
        return error.render(&Flags);
    }
    error.downcast_ref::<ModelFileError>().map_or_else(|| error.to_string(), |error| error.render(&Flags))
}

/// What a remark says to the users of the command.
pub(crate) fn note(note: &Note) -> String {
    note.render(&Flags)
}

/// What a plan says to the users of the command.
pub(crate) fn explain(plan: &banach::form::Plan) -> String {
    plan.render(&Flags)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    /// Every flag of every command.
    fn flags() -> BTreeSet<String> {
        let mut command = Arguments::command();
        command.build();
        let all = command.get_subcommands().flat_map(clap::Command::get_arguments);
        all.filter_map(clap::Arg::get_long).map(|flag| format!("--{flag}")).collect()
    }

    #[test]
    fn what_errors_name_are_flags_that_the_command_has() {
        let flags = flags();
        for setting in Setting::ALL {
            assert!(flags.contains(Flags.setting(setting)), "{setting:?}");
        }
        for &parameter in Parameter::ALL {
            let word = Flags.name(parameter);
            assert!(flags.contains(word) || word == parameter.name(), "{parameter:?}: {word}");
            // A flag of that name would be the word.
            let flag = format!("--{}", parameter.name().replace('_', "-"));
            assert!(word == flag || !flags.contains(&flag), "{parameter:?} is {flag}");
        }
    }

    #[test]
    fn causes_are_told_in_flags_as_well() {
        let cause = banach::Error::Memory { what: "it", needed: 2, allowed: 1, instead: &[] };
        let error = anyhow::Error::from(cause).context("no table");
        let told: Vec<String> = error.chain().map(message).collect();
        assert_eq!(
            told,
            ["no table", "it needs 2 bytes and 1 bytes are allowed: raise --memory-limit if the machine has more"]
        );
    }
}
