//! Files of data and the tables they become, and model files; the only crate that opens files.
//!
//! ```
//! use banach_io::Request;
//!
//! let file = "age,dose,effect\n31,0.5,1.2\n44,1.5,3.9\n";
//! let data = Request::new("effect").read_from(file.as_bytes(), "trial.csv")?;
//! assert_eq!(data.table.names(), ["age", "dose"]);
//! assert_eq!(data.table.column(1), [0.5, 1.5]);
//! assert_eq!(data.target.numbers(), Some(&[1.2, 3.9][..]));
//! # Ok::<(), banach_io::Error>(())
//! ```

mod assembly;
mod at;
mod columns;
mod error;
mod field;
mod growing;
mod model_file;
mod read;
mod replace;
mod room;
mod table;
mod target;

pub use at::At;
pub use error::{Error, FileRemedy, FileWords, Setting};
pub use model_file::{
    FORMAT, Flaw, Label, ModelFileError, Observed, Provenance, Saved, SavedAuto, SavedModel, SavedSparse, VERSION,
};
pub use read::{Dataset, Encoding, Fill, Format, Impute, ModelColumns, Request};
pub use replace::{destination, replace};
pub use table::{Standardization, Table, Values};
pub use target::{Classes, FirstText, Target};
