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
mod date;
mod error;
mod export;
mod field;
mod growing;
mod model_file;
mod read;
mod replace;
mod room;
mod table;
mod target;
mod written;

pub use at::At;
pub use error::{Error, FileRemedy, FileWords, Setting};
pub use export::{EquationFactor, EquationSum, EquationTerm, Equations, ExportError, InputColumn, Language, Outcome};
pub use field::{cell_label, cell_number};
pub use model_file::{
    ExposureColumn, FORMAT, Flaw, Label, ModelFileError, Observed, Preparation, Provenance, Saved, SavedAuto,
    SavedModel, SavedSparse, VERSION,
};
pub use read::{
    Allele, Cohort, ColumnUnit, Dataset, Dialect, Encoding, Fill, Format, Genotypes, Impute, ModelColumns, Renamed,
    Request, Unknown, UnknownLabels,
};
pub use replace::{destination, replace};
pub use table::{Standardization, Table, Values};
pub use target::{Classes, FirstText, Target};
pub use written::Decimal;
