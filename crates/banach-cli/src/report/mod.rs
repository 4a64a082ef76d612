//! Results as tables: described once, shown as text, Markdown or HTML.
//!
//! One file per experiment says what its table holds; one file per format says how a table looks.

mod bench;
mod figure1;
mod markdown;
mod table;
mod table1;
mod text;

pub(crate) use bench::bench;
pub(crate) use figure1::figure1;
pub(crate) use table::{Cell, Table};
pub(crate) use table1::table1;
