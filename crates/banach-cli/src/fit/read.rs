//! The data of a fit, and what there is to say about them.

use std::path::Path;

use banach::{FeatureMatrix, Memory, error::counted};
use banach_io::{
    ColumnUnit, Dataset, Decimal, Dialect, Encoding, Genotypes, Renamed, Request, Standardization, Table, Values,
};

use super::args::{Columns, FileArgs};

/// The most names that a note lists.
const SHOWN: usize = 5;

/// So many labels are said to be many.
const MANY_LABELS: usize = 100;

pub(super) fn read(path: &Path, columns: &Columns, memory: Memory) -> Result<Dataset, banach_io::Error> {
    let Columns { target, features, drop, categorical, impute, file, apart, .. } = columns;
    let mut features = features.clone();
    if !features.is_empty() {
        // It is read with the variables, and then taken out.
        features.extend(columns.exposure().map(|exposure| exposure.column));
    }
    let request = Request {
        target: target.clone(),
        features,
        drop: drop.clone(),
        categorical: categorical.clone(),
        impute: *impute,
        memory: memory.bytes(),
        id: apart.clone(),
        cohort: columns.cohort(),
        ..file.request()
    };
    request.read(path)
}

impl FileArgs {
    /// A request for a file that is written so.
    pub(crate) fn request(&self) -> Request {
        let Self { format, delimiter, decimal, sheet, no_header, .. } = self.clone();
        Request { format, delimiter, decimal, sheet, header: !no_header, cohort: self.cohort(), ..Request::default() }
    }

    /// What was found out about a file, where it is not the usual.
    pub(crate) fn found(&self, data: &Dataset) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(Dialect { delimiter, expected, decimal }) = data.dialect {
            let mut told = Vec::new();
            if self.delimiter.is_none() && delimiter != expected {
                let name = if delimiter == b'\t' { "tabs".to_owned() } else { format!("{:?}", char::from(delimiter)) };
                told.push(format!("{name} between fields (--delimiter)"));
            }
            if self.decimal.is_none() && decimal == Decimal::Comma {
                told.push("decimal commas (--decimal)".to_owned());
            }
            if !told.is_empty() {
                notes.push(format!("read with {}", told.join(" and ")));
            }
        }
        notes.extend(data.sheet.iter().map(|sheet| format!("the sheet {sheet:?} was read; --sheet names another one")));
        if !data.renamed.is_empty() {
            let renamed = |one: &Renamed| match &one.before[..] {
                "" => format!("column {} has no name and is called {:?}", one.column, one.name),
                before => format!(
                    "column {} is the second {before:?} or a later one and is called {:?}",
                    one.column, one.name
                ),
            };
            let more = data.renamed.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!("; and {}", counted(more, "other", "others")) } else { String::new() };
            let told: Vec<String> = data.renamed.iter().take(SHOWN).map(renamed).collect();
            notes.push(format!("{}{more}", told.join("; ")));
        }
        for sign in ["%", ""] {
            let own = |one: &&ColumnUnit| (one.unit == "%") == (sign == "%");
            let names: Vec<&str> = data.units.iter().filter(own).map(|one| &one.column[..]).collect();
            if !names.is_empty() {
                let how = if sign == "%" {
                    "per cent, read as hundredths (12 % is 0.12)"
                } else {
                    "amounts of money, read as numbers"
                };
                notes.push(format!("{how}: {}", list(&names)));
            }
        }
        notes
    }
}

/// The matrix of a table, without a copy.
pub(super) fn matrix(table: &Table) -> Result<FeatureMatrix<'_>, banach::Error> {
    let (samples, features) = (table.rows(), table.names().len());
    match table.values() {
        Values::Dense(values) => FeatureMatrix::from_columns(samples, features, &values[..]),
        Values::Sparse { starts, rows, values } => {
            FeatureMatrix::from_sparse_columns(samples, features, &starts[..], &rows[..], &values[..])
        }
    }
}

/// What was done to the table while it was read, and columns that may be identifiers.
pub(super) fn notes(data: &Dataset, file: &FileArgs) -> Vec<String> {
    let mut notes = file.found(data);
    if !data.encodings.is_empty() {
        let names: Vec<&str> = data.encodings.iter().map(|column| &column.column[..]).collect();
        notes.push(format!("columns of labels, each of which became a column of 0 and 1: {}", list(&names)));
    }
    notes.extend(data.encodings.iter().filter_map(|column| many_labels(column, data.table.rows())));
    notes.extend(data.genotypes.iter().flat_map(|told| genotypes(told, data)));
    if data.dropped > 0 && data.genotypes.is_none() {
        notes.push(format!("rows with missing values that were left out: {}", data.dropped));
    }
    notes.extend(filled(data));
    let counters = data.table.counters();
    if !counters.is_empty() {
        notes.push(format!("columns that only count the rows: {}; leave identifiers out with --drop", list(&counters)));
    }
    notes
}

/// What is to be said of a column with very many labels, or with hardly a row for each.
fn many_labels(Encoding { column, labels }: &Encoding, rows: usize) -> Option<String> {
    let (count, each) = (labels.len(), rows as f64 / labels.len() as f64);
    (count >= MANY_LABELS || count >= 10 && each < 3.0).then(|| {
        format!(
            "column {column:?} has {count} labels, {each:.1} rows each: as many columns of 0 and 1, of which little can be learned; \
             leave it out with --drop {column:?}, or put labels together"
        )
    })
}

/// Which samples and variants were left out.
fn genotypes(told: &Genotypes, data: &Dataset) -> Vec<String> {
    let parts = |parts: &[(usize, &str)]| -> Vec<String> {
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect()
    };
    let (phenotype, covariate) = (told.without_phenotype, told.without_covariate);
    let gaps = data.dropped.saturating_sub(phenotype + covariate);
    let mut samples = vec![format!("samples: {} of {}", data.table.rows(), told.samples)];
    samples.extend(parts(&[
        (phenotype, "without a phenotype"),
        (covariate, "without a covariate"),
        (gaps, "with missing genotypes left out"),
    ]));
    let mut notes = vec![samples.join("; ")];
    if told.unmatched > 0 {
        notes.push(format!("rows of --pheno and --covar whose sample the .fam does not have: {}", told.unmatched));
    }
    let left_out = [
        (told.other_chromosomes, "on other chromosomes"),
        (told.too_many_missing, "missing too often (--geno)"),
        (told.too_rare, "too rare (--maf)"),
        (told.constant, "the same in all samples"),
    ];
    let left = told.variants - left_out.iter().map(|(count, _)| count).sum::<usize>();
    let mut variants = vec![format!("variants: {left} of {}", told.variants)];
    variants.extend(parts(&left_out));
    notes.push(variants.join("; "));
    notes
}

/// How many missing values were filled in, if any.
pub(crate) fn filled(data: &Dataset) -> Option<String> {
    let (count, columns) = (data.fills.iter().map(|fill| fill.count).sum::<usize>(), data.fills.len());
    (columns > 0).then(|| format!("missing values that were filled in: {count}, in {columns} of the variables"))
}

/// What standardising did beyond the usual.
pub(super) fn standardized(done: &Standardization) -> Vec<String> {
    let mut notes = Vec::new();
    if !done.constant.is_empty() {
        let names: Vec<&str> = done.constant.iter().map(|name| &name[..]).collect();
        notes.push(format!("constant columns are left out: {}", list(&names)));
    }
    if !done.centred {
        notes.push("the table is sparse: its columns were scaled to standard deviation 1 and not centred".to_owned());
    }
    notes
}

/// The first few names.
pub(crate) fn list(names: &[&str]) -> String {
    let more = if names.len() > SHOWN {
        format!(" and {}", counted(names.len() - SHOWN, "other", "others"))
    } else {
        String::new()
    };
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    format!("{}{more}", shown.join(", "))
}
