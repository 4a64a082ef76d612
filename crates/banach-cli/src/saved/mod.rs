//! What is done with a model file: `banach predict`, `banach features`, `banach export`, `banach info`.

pub(crate) mod args;
mod explain;
mod export;
mod features;
mod functions;
mod info;
mod info_auto;
mod info_sparse;
mod predict;

use std::path::Path;

use banach::{
    Account,
    error::counted,
    memory::Taken,
    model::{SearchEnd, TopMonomials},
};
use banach_io::Saved;

pub(crate) use self::{
    export::export,
    features::features,
    info::info,
    predict::{decisions_for, predict},
};
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
        "the search stopped at the end of its budget, after {}: that the weights listed are those of this model is \
         certain, that they are its largest is not, as others may have weights up to {bound}; raise {raise} to search on",
        counted(nodes, "monomial", "monomials")
    ))
}

/// Reads a model file that memory has room for, and what it takes.
fn open(path: &Path, account: &Account) -> anyhow::Result<(Saved, Taken)> {
    let model = Saved::read_within(path, account.left())?;
    let taken = account.take(model.bytes()).map_err(|short| short.error("the model", &[]))?;
    Ok((model, taken))
}
