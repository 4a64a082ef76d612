//! What is done with a model file: `banach predict`, `banach features`, `banach info`.

pub(crate) mod args;
mod features;
mod info;
mod predict;

pub(crate) use self::{features::features, info::info, predict::predict};
