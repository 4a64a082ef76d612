//! What is asked of genotypes, and what is said of them.

use std::path::PathBuf;

use serde::Serialize;

use crate::Setting;

/// One of the two alleles of a variant, as a `.bim` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Allele {
    /// The first, which PLINK counts: the rarer one where PLINK has written the file.
    #[default]
    A1,
    /// The second.
    A2,
}

/// What to read of genotypes, and the files that lie beside them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cohort {
    /// A table of phenotypes with a column `IID`, and `FID` if families matter; the sixth column of the `.fam` if there is none.
    pub phenotypes: Option<PathBuf>,
    /// The same for covariates, which may also be in the table of phenotypes.
    pub covariate_file: Option<PathBuf>,
    /// The columns of these tables that are variables beside the genotypes; `sex` is that of the `.fam` if no table has it. An
    /// entry may be a list separated by commas, and a name a pattern with `*`, `?` and `[a-z]`.
    pub covariates: Vec<String>,
    /// Which allele is counted. New samples of a model are counted as the model was fitted, whatever is said here.
    pub counted: Allele,
    /// The chromosomes to read, each a name, a number or a range such as `1-22`; all if empty. An entry may be a list separated by commas.
    pub chromosomes: Vec<String>,
    /// Variants whose rarer allele is less frequent are left out.
    pub min_frequency: Option<f64>,
    /// Variants of which a larger share is missing are left out.
    pub max_missing: Option<f64>,
    /// Whether variants that are the same in all samples stay.
    pub keep_constant: bool,
}

impl Cohort {
    /// What was set that only genotypes have.
    pub(crate) fn first_setting(&self) -> Option<Setting> {
        let set = [
            (self.phenotypes.is_some(), Setting::Phenotypes),
            (self.covariate_file.is_some(), Setting::CovariateFile),
            (!self.covariates.is_empty(), Setting::Covariates),
            (self.counted == Allele::A2, Setting::CountedAllele),
            (!self.chromosomes.is_empty(), Setting::Chromosomes),
            (self.min_frequency.is_some(), Setting::MinFrequency),
            (self.max_missing.is_some(), Setting::MaxMissing),
        ];
        set.into_iter().find_map(|(is_set, setting)| is_set.then_some(setting))
    }

    /// The same without anything that leaves variants out.
    #[must_use]
    pub fn with_all_variants(&self) -> Self {
        Self { chromosomes: Vec::new(), min_frequency: None, max_missing: None, keep_constant: true, ..self.clone() }
    }
}

/// What was read of genotypes and what was left out. A variant counts where it was left out first: in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Genotypes {
    /// The samples of the `.fam`.
    pub samples: usize,
    /// Those that were left out for want of a phenotype.
    pub without_phenotype: usize,
    /// Those that have one, and were left out for want of a covariate.
    pub without_covariate: usize,
    /// Rows of the tables beside them whose sample the `.fam` does not have.
    pub unmatched: usize,
    /// The variants of the `.bim`.
    pub variants: usize,
    /// Those on chromosomes that were not asked for.
    pub other_chromosomes: usize,
    /// Those of which too much is missing.
    pub too_many_missing: usize,
    /// Those whose rarer allele is too rare.
    pub too_rare: usize,
    /// Those that are the same in all samples.
    pub constant: usize,
    /// Variables that count the second allele of the `.bim`: as was asked for, or as a model was fitted.
    pub second_allele: usize,
    /// The family and the name of the sample of every row.
    #[serde(skip)]
    pub names: Vec<[String; 2]>,
}
