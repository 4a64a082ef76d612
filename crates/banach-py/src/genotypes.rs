//! Genotypes of PLINK.

use std::{collections::BTreeSet, io, path::PathBuf};

use banach::Memory;
use banach_io::{Allele, At, Cohort, Dataset, Encoding, Error, Format, Impute, ModelColumns, Request, Target, Values};
use numpy::PyArray1;
use pyo3::{
    IntoPyObjectExt as _,
    exceptions::{PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{datasets::matrix, errors::Arguments};

/// What to read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    pheno: Option<PathBuf>,
    target: Option<String>,
    covar: Option<PathBuf>,
    covariates: Vec<String>,
    a2: bool,
    chromosomes: Vec<String>,
    maf: Option<f64>,
    geno: Option<f64>,
}

/// The columns of another cohort: names, means, and columns of labels with these.
type Like = (Vec<String>, Vec<f64>, Vec<(String, Vec<String>)>);

impl Asked {
    fn request(&self) -> Request {
        let cohort = Cohort {
            phenotypes: self.pheno.clone(),
            covariate_file: self.covar.clone(),
            covariates: self.covariates.clone(),
            counted: if self.a2 { Allele::A2 } else { Allele::A1 },
            chromosomes: self.chromosomes.clone(),
            min_frequency: self.maf,
            max_missing: self.geno,
            keep_constant: false,
        };
        let memory = Memory::available().bytes();
        let target = self.target.clone();
        Request {
            format: Some(Format::Plink),
            impute: Some(Impute::Mean),
            target,
            cohort,
            memory,
            ..Request::default()
        }
    }

    /// Whether samples without a phenotype are left out.
    fn has_phenotype(&self) -> bool {
        self.pheno.is_some() || self.target.is_some() || !self.covariates.is_empty()
    }

    /// The table, with what there is to say of everything that was left out.
    fn read(&self, path: PathBuf, like: Option<Like>) -> Result<Dataset, Error> {
        let request = self.request();
        let (columns, told) = match like {
            Some((names, means, encodings)) => {
                let encodings = encodings.into_iter().map(|(column, labels)| Encoding { column, labels }).collect();
                (ModelColumns { names, fills: Some(means), encodings, ..ModelColumns::default() }, None)
            }
            None if self.has_phenotype() => return request.read(&path),
            None => {
                let (columns, told) = request.genotype_columns(&path)?;
                (columns, Some(told))
            }
        };
        let mut data = Request { model: Some(columns), target: None, ..request.clone() }.read(&path)?;
        if let (Some(told), Some(own)) = (told, &mut data.genotypes) {
            let names = std::mem::take(&mut own.names);
            *own = banach_io::Genotypes { second_allele: own.second_allele, names, ..told };
        } else if self.has_phenotype() {
            // The phenotypes of the samples that have one; the other samples are left out.
            let cohort = Cohort { covariates: Vec::new(), ..request.cohort.with_all_variants() };
            let known = Request { features: vec!["1".to_owned()], cohort, ..request }.read(&path)?;
            let rows: BTreeSet<At> = (0..known.table.rows()).map(|row| known.at(row)).collect();
            let kept: Vec<bool> = (0..data.table.rows()).map(|row| rows.contains(&data.at(row))).collect();
            data.keep(&kept);
            data.dropped = known.dropped;
            data.target = known.target;
            if let (Some(own), Some(told)) = (&mut data.genotypes, known.genotypes) {
                own.without_phenotype = told.without_phenotype;
            }
        }
        Ok(data)
    }
}

/// Reads genotypes of PLINK: a dict of `X`, `names`, `ids`, `y`, `target`, `filled` (how many values), `encodings` and what was left out.
#[pyfunction]
#[pyo3(signature = (path, asked, like=None))]
pub(crate) fn read_genotypes(
    py: Python<'_>,
    path: PathBuf,
    asked: Asked,
    like: Option<Like>,
) -> PyResult<Bound<'_, PyDict>> {
    let has_phenotype = asked.has_phenotype();
    let Dataset { table, target, genotypes, fills, encodings, .. } =
        py.detach(|| asked.read(path, like)).map_err(refused)?;
    let told = PyDict::new(py);
    let left_out = genotypes.unwrap_or_default();
    for (name, count) in [
        ("samples", left_out.samples),
        ("without_phenotype", left_out.without_phenotype),
        ("without_covariate", left_out.without_covariate),
        ("unmatched", left_out.unmatched),
        ("variants", left_out.variants),
        ("other_chromosomes", left_out.other_chromosomes),
        ("too_many_missing", left_out.too_many_missing),
        ("too_rare", left_out.too_rare),
        ("constant", left_out.constant),
        ("second_allele", left_out.second_allele),
    ] {
        told.set_item(name, count)?;
    }
    let read = PyDict::new(py);
    read.set_item("told", told)?;
    read.set_item("filled", fills.iter().map(|fill| fill.count).sum::<usize>())?;
    let ids: Vec<(String, String)> = left_out.names.into_iter().map(|[family, name]| (family, name)).collect();
    read.set_item("ids", ids)?;
    let encodings: Vec<(String, Vec<String>)> =
        encodings.into_iter().map(|encoding| (encoding.column, encoding.labels)).collect();
    read.set_item("encodings", encodings)?;
    read.set_item("target", has_phenotype.then(|| target.name()))?;
    read.set_item("y", if has_phenotype { Some(observed(py, &target)?) } else { None })?;
    let rows = table.rows();
    let (names, values) = table.into_parts();
    let Values::Dense(values) = values else { return Err(PyValueError::new_err("genotypes that are sparse")) };
    read.set_item("X", matrix(py, rows, values)?)?;
    read.set_item("names", names)?;
    Ok(read)
}

/// Numbers, or labels.
fn observed(py: Python<'_>, target: &Target) -> PyResult<Py<PyAny>> {
    match (target.numbers(), target.classes()) {
        (Some(numbers), _) => PyArray1::from_slice(py, numbers).into_py_any(py),
        (None, Some(classes)) => {
            classes.rows.iter().map(|class| classes.labels[*class].clone()).collect::<Vec<String>>().into_py_any(py)
        }
        (None, None) => Err(PyValueError::new_err("phenotypes that are neither numbers nor labels")),
    }
}

/// `OSError` where a file cannot be opened, `MemoryError` where it is too large, `ValueError` for what it holds.
fn refused(error: Error) -> PyErr {
    let message = error.render(&Arguments);
    match error {
        Error::Read { source, .. } => match source.kind() {
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            io::ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            _ => PyOSError::new_err(message),
        },
        Error::TooLarge { .. } => PyMemoryError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
