//! Results as tables and pictures: described once, shown as text, Markdown or HTML.
//!
//! One file per experiment says what its table holds; one file per format says how a table looks.

mod agreement;
mod bench;
mod conditions;
mod counts;
mod figure1;
mod fits;
mod grid;
mod interactions;
mod lockstep;
mod markdown;
mod page;
mod plan;
mod scale;
mod search;
mod stress;
mod supports;
mod table;
mod table1;
mod table2;
mod tiles;

pub(crate) use agreement::agreement;
pub(crate) use bench::bench;
pub(crate) use conditions::conditions;
pub(crate) use figure1::figure1;
pub(crate) use fits::fits;
pub(crate) use grid::grid;
pub(crate) use interactions::interactions;
pub(crate) use lockstep::lockstep;
pub(crate) use page::{Page, Section, Shown};
pub(crate) use plan::plan;
pub(crate) use scale::scale;
pub(crate) use search::search;
pub(crate) use stress::stress;
pub(crate) use supports::supports;
pub(crate) use table::{Cell, ResultTable};
pub(crate) use table1::table1;
pub(crate) use table2::table2;
pub(crate) use tiles::tiles;
