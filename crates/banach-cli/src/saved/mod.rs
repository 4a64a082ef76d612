//! What is done with a model file: `banach predict`, `banach features`, `banach info`.

pub(crate) mod args;
mod explain;
mod features;
mod info;
mod predict;

use std::path::Path;

use banach::{Account, Taken};
use banach_io::{ModelFileError, SavedModel};

pub(crate) use self::{features::features, info::info, predict::predict};

/// Reads a model file that memory has room for, and what it takes.
fn open(path: &Path, account: &Account) -> anyhow::Result<(SavedModel<'static>, Taken)> {
    let model = SavedModel::read_within(path, account.left()).map_err(|error| match error {
        ModelFileError::TooLarge { .. } => anyhow::anyhow!("{error} (--memory-limit)"),
        other => other.into(),
    })?;
    let taken = account.take(model.bytes()).map_err(|short| short.error("the model", "raise --memory-limit"))?;
    Ok((model, taken))
}
