//! Errors as the exceptions that Python users expect, in their words.

use banach::{
    Error,
    error::{Parameter, Plain, Words},
};
use banach_io::{FileWords, Setting};
use pyo3::{
    PyErr,
    exceptions::{PyMemoryError, PyRuntimeError, PyValueError},
    pyfunction,
};

/// The arguments of Python's functions.
#[derive(Debug)]
pub(crate) struct Arguments;

impl Words for Arguments {
    fn name(&self, parameter: Parameter) -> &'static str {
        match parameter {
            Parameter::Columns => "n_features",
            Parameter::Gamma => "C",
            Parameter::GammaCount => "Cs",
            Parameter::NormalizeKernel => "normalize_kernel",
            Parameter::Tau => "quantile",
            Parameter::Tolerance => "tol",
            Parameter::Algorithm => "solver_options['algorithm']",
            Parameter::Rule => "solver_options['rule']",
            Parameter::Delta => "solver_options['delta']",
            Parameter::Theta => "solver_options['theta']",
            Parameter::LambdaBar => "solver_options['lambda_bar']",
            Parameter::MemoryLimit => "memory_limit",
            Parameter::Threads => "n_jobs",
            Parameter::Folds => "cv",
            Parameter::Coverage => "coverage",
            Parameter::Permutations => "permutations",
            Parameter::ClassWeight => "class_weight",
            Parameter::Top => "k",
            Parameter::Nodes => "max_nodes",
            Parameter::Seconds => "max_seconds",
            Parameter::Pairs => "n_pairs",
            Parameter::Resamples => "n_resamples",
            Parameter::Series => "name",
            // Python has the word of the library, or none.
            Parameter::Data
            | Parameter::Effort
            | Parameter::MaxTerms
            | Parameter::Penalty
            | Parameter::Hierarchy
            | Parameter::Target
            | Parameter::P
            | Parameter::Kernel
            | Parameter::Degree
            | Parameter::Coef0
            | Parameter::Scale
            | Parameter::Coefficients
            | Parameter::Monomials
            | Parameter::Loss
            | Parameter::Epsilon
            | Parameter::Rho
            | Parameter::FitIntercept
            | Parameter::Solver
            | Parameter::Route
            | Parameter::Threshold
            | Parameter::LowerShare
            | Parameter::UpperFactor
            | Parameter::Points
            | Parameter::Momentum
            | Parameter::Samples
            | Parameter::Intercept
            | Parameter::Radius
            | Parameter::Status => parameter.name(),
        }
    }

    fn choice(&self, parameter: Parameter, value: &str) -> String {
        format!("{}={value:?}", self.name(parameter))
    }
}

impl FileWords for Arguments {
    fn setting(&self, setting: Setting) -> &'static str {
        match setting {
            Setting::Target => "target",
            Setting::Phenotypes => "pheno",
            Setting::CovariateFile => "covar",
            Setting::Covariates => "covariates",
            Setting::CountedAllele => "count",
            Setting::Chromosomes => "chromosomes",
            Setting::MinFrequency => "maf",
            Setting::MaxMissing => "geno",
            // Of other files Python reads none by itself.
            Setting::Features
            | Setting::Drop
            | Setting::Categorical
            | Setting::Impute
            | Setting::NoHeader
            | Setting::Delimiter
            | Setting::Decimal
            | Setting::Format
            | Setting::Sheet
            | Setting::Id
            | Setting::Unknown => Plain.setting(setting),
        }
    }
}

/// For every parameter of the library, by its name there, the argument that errors name.
#[pyfunction]
pub(crate) fn argument_names() -> Vec<(&'static str, &'static str)> {
    Parameter::ALL.iter().map(|parameter| (parameter.name(), Arguments.name(*parameter))).collect()
}

/// `MemoryError` for what was refused for want of memory, `ValueError` for every other input that cannot work.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = error.render(&Arguments);
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(message),
        // A route that could be taken with more memory.
        Error::NoRoute { refused, .. } if refused.iter().any(|(_, why)| matches!(why, Error::Memory { .. })) => {
            PyMemoryError::new_err(message)
        }
        Error::Threads { .. } => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
