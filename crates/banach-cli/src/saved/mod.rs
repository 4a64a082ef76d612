//! What is done with a model file: `banach predict`, `banach features`, `banach info`.

pub(crate) mod args;
mod explain;
mod features;
mod info;
mod predict;

use std::path::Path;

use anyhow::ensure;
use banach::Memory;
use banach_io::SavedModel;

pub(crate) use self::{features::features, info::info, predict::predict};

/// Reads a model file that memory has room for.
fn open(path: &Path, memory: Memory) -> anyhow::Result<SavedModel<'static>> {
    // That there is no file is said by whoever reads it.
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    ensure!(
        bytes <= memory.bytes(),
        "{} has {bytes} bytes, which is more memory than is allowed; raise --memory-limit",
        path.display()
    );
    Ok(SavedModel::read(path)?)
}
