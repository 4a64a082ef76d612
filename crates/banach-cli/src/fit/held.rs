//! Which rows are held out, how much rows count, and whether shuffled targets do as well: flags become what the library takes.

use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use banach::{
    Target,
    error::counted,
    fit::{Assessment, HoldOut, PermutationCheck, Refit},
    solver::Folds,
};
use clap::{Args, ValueEnum};

use super::{
    args::{Columns, FitArgs, positive},
    aside,
    input::Input,
};
use crate::{options::Common, progress::Bar, words};

#[derive(Debug, Clone, Args)]
pub(crate) struct HeldArgs {
    /// Hold out rows with the same value of this column together: rows of one patient, batch or site. It is no variable.
    #[arg(long, value_name = "COL", conflicts_with_all = ["time", "leave_one_out"])]
    pub groups: Option<String>,
    /// Hold out rows only of fits to rows before them, by this column of numbers or of dates such as 2024-05-31. It is no variable.
    #[arg(long, value_name = "COL", conflicts_with_all = ["leave_one_out", "repeats"])]
    pub time: Option<String>,
    /// Hold out each row by itself.
    #[arg(long, conflicts_with_all = ["cv", "repeats"])]
    pub leave_one_out: bool,
    /// Deal the folds so often, each time anew, and take all together; for one model (--model lp) and --sparse.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub repeats: Option<usize>,
    /// Rows of a file of their own, with the same columns: the verdict is on these, which nothing was chosen by.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// Fit so many times to the target in random order, and say how often that is predicted as well; each costs as much as the fit.
    #[arg(long, value_name = "N")]
    pub permutations: Option<usize>,
    /// How much every row counts: a column of numbers >= 0. It is no variable.
    #[arg(long, value_name = "COL")]
    pub weights: Option<String>,
    /// How much classes count: balanced gives every class the same part, however many rows it has.
    #[arg(long, value_name = "HOW")]
    pub class_weight: Option<ClassWeight>,
}

/// How much classes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassWeight {
    /// Every class has the same part.
    Balanced,
}

/// Reads the table without the columns that say how rows are held out and how much they count, and then these.
pub(super) fn read(fit: &FitArgs, columns: &Columns, common: &Common) -> anyhow::Result<Input> {
    let HeldArgs { groups, time, weights, .. } = &fit.held;
    let mut columns = Columns { apart: groups.clone().or_else(|| time.clone()), ..columns.clone() };
    columns.drop.extend(weights.iter().cloned());
    let own_flag = |error: anyhow::Error| {
        // The reader knows the column that tells rows apart by the flag that it has in `banach predict`.
        let (said, flag) = (words::message(error.as_ref()), if groups.is_some() { "--groups" } else { "--time" });
        if columns.apart.is_some() && said.contains("--id") { anyhow!("{}", said.replace("--id", flag)) } else { error }
    };
    let mut input = Input::read(&fit.data, &columns, &fit.model, common.account()?).map_err(own_flag)?;
    let groups = groups.as_ref().map(|name| aside::groups(&input.data, name)).transpose()?;
    let times = time.as_ref().map(|name| aside::times(&input.data, name)).transpose()?;
    let weights = weights.as_ref().map(|name| {
        let found = aside::column(&fit.data, &columns, "--weights", (name, &input.any_column()), input.account.left())?;
        let text = || format!("--weights: {:?} holds text; weights are numbers >= 0", found.target.name());
        let numbers = found.target.numbers().with_context(text)?;
        if let Some(row) = numbers.iter().position(|weight| *weight < 0.0) {
            bail!("--weights: {}, {}: {}; weights are numbers >= 0", found.file, found.at(row), numbers[row]);
        }
        aside::aligned(&input.data, &found, numbers, "--weights")
    });
    let weights = weights.transpose()?;
    // Exposures are weights already.
    let weights = match (weights, input.weights.take()) {
        (Some(own), Some(exposures)) => Some(own.iter().zip(exposures).map(|(a, b)| a * b).collect()),
        (own, exposures) => own.or(exposures),
    };
    (input.groups, input.times) = (groups, times);
    input.weights = match fit.held.class_weight {
        Some(ClassWeight::Balanced) => Some(input.goal.target.balanced(weights.as_deref())?),
        None => weights,
    };
    Ok(input)
}

impl FitArgs {
    /// Whether something was asked for that takes held-out rows.
    pub(super) fn asks_for_held_out_rows(&self) -> bool {
        let held = &self.held;
        self.choice.cv.is_some()
            || held.leave_one_out
            || self.tables.learning_curve
            || [held.groups.is_some(), held.time.is_some(), held.repeats.is_some(), held.permutations.is_some()]
                .contains(&true)
    }
}

/// The folds that were asked for, of one model or a choice among many.
pub(super) fn folds(fit: &FitArgs, input: &Input, among_many: bool) -> Result<Folds, banach::Error> {
    let held = &fit.held;
    let hold_out = HoldOut {
        folds: fit.choice.cv,
        among_many,
        repeats: held.repeats.unwrap_or(1),
        leave_one_out: held.leave_one_out,
        groups: input.groups.clone(),
        times: input.times.clone(),
        seed: fit.running.seed,
    };
    hold_out.folds(&input.goal.target, input.rows())
}

/// The assessment with what became of shuffled targets, if that was asked for; as it was if Ctrl-C has ended them.
pub(super) fn with_permutations(
    assessment: Assessment,
    error: f64,
    fit: &FitArgs,
    input: &Input,
    folds: &Folds,
    common: &Common,
    refit: &mut Refit<'_>,
) -> anyhow::Result<Assessment> {
    let Some(asked) = fit.held.permutations else { return Ok(assessment) };
    let permutations = asked.min(folds.orders_by_chance().unwrap_or(asked));
    if permutations < asked {
        common.say(format_args!(
            "note: rows, groups or blocks of time can be shuffled in {}; --permutations {asked} makes no more",
            counted(permutations, "way", "ways")
        ));
    }
    let (bar, mut done) = (Bar::new(common.quiet), 0);
    bar.begin("shuffled targets", permutations);
    let mut counted = |target: &Target<'_>, weights: Option<&[f64]>| {
        let error = refit(target, weights);
        done += 1;
        bar.step(done);
        error
    };
    let (target, weights) = (&input.goal.target, input.weights.as_deref());
    let check = PermutationCheck::run(target, weights, folds, asked, error, &mut counted)?;
    Ok(match check {
        Some(check) => assessment.with_permutations(check),
        None => assessment,
    })
}
