//! What can be chosen by name: how terms are found, and which supports are allowed.

use serde::{Deserialize, Serialize};

use crate::error::{Parameter, names};

/// What keeps a function to few terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SparsePenalty {
    /// The criterion alone: the best support that was found, and nothing shrunk.
    #[default]
    Evidence,
    /// The sum of the moduli of the weights (the Lasso), at the point of its path with the best criterion.
    L1,
    /// The minimax concave penalty, which does not shrink large weights, at the point of its path with the best criterion.
    Mcp,
    /// The smoothly clipped absolute deviation, likewise.
    Scad,
}

names! {
    SparsePenalty, Parameter::Penalty, "evidence, l1, mcp or scad";
    Evidence "evidence", L1 "l1", Mcp "mcp", Scad "scad"
}

/// Which supports are allowed, by the factors of their products.
///
/// The parents of a monomial are what is left of it without one of its variables, as far as the kernel has them: those of `x0^2 x1` are `x0 x1`
/// and `x0^2`. A monomial without parents can always be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hierarchy {
    /// All.
    #[default]
    None,
    /// Those in which every term has a parent among the terms, if it has parents.
    Weak,
    /// Those in which all parents of every term are terms.
    Strong,
}

names! {
    Hierarchy, Parameter::Hierarchy, "none, weak or strong";
    None "none", Weak "weak", Strong "strong"
}
