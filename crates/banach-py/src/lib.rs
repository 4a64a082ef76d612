//! `banach._core`, the compiled part of the Python package: conversions, and nothing that a user sees.
//!
//! The estimators, their documentation and what scikit-learn asks of them are in `python/banach`. Here arrays become
//! [`FeatureMatrix`](banach::FeatureMatrix) without a copy where their layout allows, errors become exceptions, and long
//! work runs on threads of its own, so that the interpreter stays free and Ctrl-C ends it.

#![expect(clippy::needless_pass_by_value, reason = "arguments come from Python, by value")]

mod auto;
mod background;
mod cells;
mod data;
mod datasets;
mod errors;
mod export;
mod files;
mod genotypes;
mod kernel;
mod model;
mod path;
mod report;
mod scaling;
mod search;
mod selection;
mod sparse;
mod spec;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{
        auto::{AutoModel, fit_auto},
        cells::{cell_label, cell_number},
        command,
        data::by_columns,
        datasets::{blood_cells, make_monomials, make_sparse_linear, make_sparse_quadratic},
        errors::argument_names,
        export::export_sparse,
        files::{load_model, save_auto, save_model, save_sparse},
        genotypes::read_genotypes,
        kernel::{Kernel, gram_tensor},
        model::Model,
        report::{equation, report},
        scaling::{rescale, standardize},
        search::{choose, folds},
        selection::{Halves, expansion, name_terms, stability},
        sparse::{SparseFunction, SparseModel, fit_sparse},
        spec::{Spec, exponent, losses},
    };

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the command line with these arguments and returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| banach_cli::main(arguments))
}
