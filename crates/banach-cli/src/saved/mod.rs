//! What is done with a model file: `banach predict`, `banach features`, `banach info`.

pub(crate) mod args;
mod explain;
mod features;
mod info;
mod predict;

use std::path::Path;

use anyhow::ensure;
use banach::{
    Memory,
    model::{SearchEnd, TopMonomials},
};
use banach_io::SavedModel;

pub(crate) use self::{features::features, info::info, predict::predict};
use crate::fit::text::significant;

/// What is to be said of a search that was ended by its budget.
fn stopped(found: &TopMonomials) -> Option<String> {
    let raise = match found.end {
        SearchEnd::NodeLimit => "--max-nodes",
        SearchEnd::TimeLimit => "--max-seconds",
        SearchEnd::Complete | SearchEnd::DegreeLimit => return None,
    };
    let TopMonomials { nodes, unlisted, .. } = found;
    let bound = if unlisted.is_finite() { significant(*unlisted) } else { "any size".to_owned() };
    Some(format!(
        "the search stopped at the end of its budget, after {nodes} monomials: that the weights listed are those of this model is \
         certain, that they are its largest is not, as others may have weights up to {bound}; raise {raise} to search on"
    ))
}

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
