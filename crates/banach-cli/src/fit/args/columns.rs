//! Which columns, and how the file is written.

use std::path::PathBuf;

use banach_io::{Allele, Cohort, Decimal, ExposureColumn, Format, Impute, Unknown};
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

#[derive(Debug, Clone, Args)]
pub(crate) struct Columns {
    /// The column to predict: its name, or its number from 1 if no column has that name. Several with commas have a model each.
    #[arg(long, value_name = "COL,..")]
    pub target: Option<String>,
    /// The column of exposures, with --loss poisson: what every count was collected over, such as days, above 0. The model predicts rates, and counts where this column is known.
    #[arg(long, value_name = "COL")]
    pub exposure: Option<String>,
    /// The same, for a column of their logarithms.
    #[arg(long, value_name = "COL", conflicts_with = "exposure")]
    pub offset: Option<String>,
    /// The columns to predict from; all others if not given. Names, numbers, or patterns such as 'gene_*'. May be repeated, or a list with commas.
    #[arg(long, value_name = "COL,..")]
    pub features: Vec<String>,
    /// Columns to leave out, such as identifiers; in the same way.
    #[arg(long, value_name = "COL,..")]
    pub drop: Vec<String>,
    /// Columns whose numbers are labels; in the same way. Columns of text are so without being named: every label becomes a column of 0 and 1, as color=red.
    #[arg(long, value_name = "COL,..")]
    pub categorical: Vec<String>,
    /// What to do about missing values; they are refused if not given. Rows without a target are left out with any of these.
    #[arg(long, value_parser = imputes(), value_name = "HOW")]
    pub impute: Option<Impute>,
    /// What `banach predict` does about labels that the model has not met, unless told otherwise: error (refuse the file) or ignore (the row counts as one whose label is not known).
    #[arg(long, value_parser = unknowns(), value_name = "HOW", default_value = "error")]
    pub unknown: Unknown,
    /// Leave out the rows of classes that only one row has. Otherwise such a target is refused.
    #[arg(long)]
    pub drop_rare_classes: bool,
    /// Take the columns as they are. Otherwise each gets mean 0 and standard deviation 1, and constant ones are left out.
    #[arg(long)]
    pub no_standardize: bool,
    /// The column that tells rows apart: their group or their time. It is no variable.
    #[arg(skip)]
    pub apart: Option<String>,
    #[command(flatten, next_help_heading = "Genotypes (.bed)")]
    pub genotypes: GenotypeArgs,
    #[command(flatten, next_help_heading = "File")]
    pub file: FileArgs,
}

/// Which genotypes of PLINK, and what is a variable beside them.
#[derive(Debug, Clone, Args)]
pub(crate) struct GenotypeArgs {
    /// Columns of --pheno and --covar that are variables beside the genotypes, and sex of the .fam; in the same way as --features. Samples without one are left out.
    #[arg(long, value_name = "COL,..")]
    pub covariates: Vec<String>,
    /// Count the second allele of the .bim instead of the first.
    #[arg(long)]
    pub a2: bool,
    /// Only these chromosomes: names, numbers and ranges, such as 1-22,X.
    #[arg(long, value_name = "CHR,..")]
    pub chr: Vec<String>,
    /// Leave out variants whose rarer allele has a smaller share, such as 0.01.
    #[arg(long, value_name = "F", value_parser = share)]
    pub maf: Option<f64>,
    /// Leave out variants of which a larger share is missing, such as 0.05.
    #[arg(long, value_name = "F", value_parser = share)]
    pub geno: Option<f64>,
    /// Leave out no variant, not even one that is the same in all samples.
    #[arg(skip)]
    pub all: bool,
}

/// A share of a whole.
fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a number from 0 to 1".to_owned())
}

/// How a file is written.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileArgs {
    /// The format of the file; that of its name if not given.
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
    /// The character between fields; what the first lines tell if not given: a comma, semicolon, tab or bar.
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// What stands before decimals, point or comma; what the first lines tell if not given. The other one may part thousands.
    #[arg(long, value_name = "MARK", value_parser = decimals())]
    pub decimal: Option<Decimal>,
    /// The sheet of a workbook (.xlsx), by its name or its number from 1; the first one that is not hidden if not given.
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// The first line of a text is a sample, too; the columns are named x1, x2, ...
    #[arg(long)]
    pub no_header: bool,
    /// Of genotypes (.bed) the table of phenotypes, with a column IID, the names of the samples, and FID, those of families. The .fam's own phenotype is the target if not given.
    #[arg(long, value_name = "FILE")]
    pub pheno: Option<PathBuf>,
    /// Of genotypes (.bed) a table of covariates, in the same way.
    #[arg(long, value_name = "FILE")]
    pub covar: Option<PathBuf>,
}

impl Columns {
    /// What is asked of genotypes.
    pub(crate) fn cohort(&self) -> Cohort {
        let GenotypeArgs { covariates, a2, chr, maf, geno, all } = self.genotypes.clone();
        let cohort = Cohort {
            covariates,
            counted: if a2 { Allele::A2 } else { Allele::A1 },
            chromosomes: chr,
            min_frequency: maf,
            max_missing: geno,
            ..self.file.cohort()
        };
        if all { cohort.with_all_variants() } else { cohort }
    }

    /// The column of exposures.
    pub(crate) fn exposure(&self) -> Option<ExposureColumn> {
        let (given, is_offset) = (self.exposure.as_ref().or(self.offset.as_ref()), self.offset.is_some());
        given.map(|column| ExposureColumn { column: column.clone(), is_offset })
    }
}

impl FileArgs {
    /// The tables beside genotypes.
    pub(crate) fn cohort(&self) -> Cohort {
        Cohort { phenotypes: self.pheno.clone(), covariate_file: self.covar.clone(), ..Cohort::default() }
    }
}

/// What can be done about missing values.
fn imputes() -> impl TypedValueParser<Value = Impute> {
    named([
        (Impute::Mean, "mean", "Fill in the mean of the column"),
        (Impute::Median, "median", "Fill in the median of the column"),
        (Impute::Drop, "drop", "Leave out the row"),
    ])
}

/// What can be done about labels that a model has not met.
pub(crate) fn unknowns() -> impl TypedValueParser<Value = Unknown> {
    named([
        (Unknown::Error, "error", "Refuse the file"),
        (Unknown::Ignore, "ignore", "Take the row for one whose label is not known"),
    ])
}

fn decimals() -> impl TypedValueParser<Value = Decimal> {
    named([
        (Decimal::Point, "point", "1.5, and perhaps 1,234.5"),
        (Decimal::Comma, "comma", "1,5, and perhaps 1.234,5"),
    ])
}

/// Values by their names.
fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    known: [(T, &'static str, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(known.map(|(_, name, help)| PossibleValue::new(name).help(help)));
    parser.map(move |text| known.iter().find(|(_, name, _)| *name == text).expect("one of the possible values").0)
}

/// The formats of files, by the names that the reader gives them.
fn formats() -> impl TypedValueParser<Value = Format> {
    let known = Format::ALL.map(|format| {
        let ends: Vec<String> = format.extensions().iter().map(|end| format!(".{end}")).collect();
        PossibleValue::new(format.name()).aliases(format.extensions()).help(format!("Files named {}", ends.join(", ")))
    });
    PossibleValuesParser::new(known).try_map(|name| name.parse::<Format>())
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'"' => Ok(*byte),
        _ => Err("one character, such as ';' or '\\t'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_one_character() {
        assert_eq!((delimiter(";"), delimiter("\\t"), delimiter("\t")), (Ok(b';'), Ok(b'\t'), Ok(b'\t')));
        assert!(delimiter("").is_err() && delimiter("ab").is_err() && delimiter("\"").is_err());
    }
}
