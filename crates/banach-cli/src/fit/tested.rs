//! `--test FILE`: the verdict on rows of their own, which nothing was chosen by.

use anyhow::{Context, ensure};
use banach::{Target, fit::Assessment};
use banach_io::{Dataset, Saved};

use super::{args::FitArgs, aside, input::Input};
use crate::saved::decisions_for;

/// How well a model predicts the rows of a test, if there is one. The bytes are those of its file.
pub(super) fn assessed(
    fit: &FitArgs,
    input: &Input,
    model: impl FnOnce() -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<Option<Assessment>> {
    let Some(path) = &fit.held.test else { return Ok(None) };
    ensure!(input.exposure.is_none(), "--test knows no exposures; predict the rows of the test with `banach predict`");
    let (saved, memory) = (Saved::from_bytes(&model()?)?, input.account.left());
    let (rows, decisions) = decisions_for(&saved, path, &fit.columns, memory)?;
    let column = aside::column(path, &fit.columns, "--test", (input.data.target.name(), &input.any_column()), memory)?;
    let target = target(input, &rows, &column)?;
    let (task, _) = input.goal.target.outputs(input.rows(), input.goal.loss.targets(), None)?;
    let fitted = (&input.goal.target, input.weights.as_deref());
    let how = format!("the test {}", rows.file);
    let found = Assessment::of_test(&task, input.goal.loss, fitted, (&target, &decisions), how)?;
    Ok(Some(input.named(found)))
}

/// The targets of the test: numbers, or the places of its labels among those of the fit.
fn target(input: &Input, rows: &Dataset, column: &Dataset) -> anyhow::Result<Target<'static>> {
    let (name, flag) = (column.target.name(), "--test");
    let Some(known) = &input.goal.classes else {
        let numbers = column.target.numbers();
        let numbers = numbers.with_context(|| format!("{flag}: the target {name:?} of {} holds text", column.file))?;
        return Ok(Target::Numbers(vec![aside::aligned(rows, column, numbers, flag)?.into()]));
    };
    let classes = column.target.classes();
    let classes = classes.with_context(|| format!("{flag}: the target {name:?} of {} has no labels", column.file))?;
    let place = |label: &String| {
        // A label is its text, or the number that it is.
        let number = |text: &String| text.parse::<f64>().ok();
        let same = |known: &String| known == label || number(known).is_some_and(|known| number(label) == Some(known));
        let place = known.labels.iter().position(same);
        place.with_context(|| format!("{flag}: the rows that were fitted have no label {label:?} of {name:?}"))
    };
    let places = classes.labels.iter().map(place).collect::<anyhow::Result<Vec<usize>>>()?;
    let codes: Vec<i64> = classes.rows.iter().map(|&row| places[row] as i64).collect();
    Ok(Target::Labels(aside::aligned(rows, column, &codes, flag)?.into()))
}
