//! What can be set about a file, by ids; every door spells them in its own words.

use banach::error::{Plain, Words};

/// Something that callers set about a file; see [`Request`](crate::Request).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// The column to predict.
    Target,
    /// The columns to predict from.
    Features,
    /// The columns to leave out.
    Drop,
    /// The columns of labels.
    Categorical,
    /// What to do about missing values.
    Impute,
    /// That no line names the columns.
    NoHeader,
    /// What separates fields.
    Delimiter,
    /// What stands before decimals.
    Decimal,
    /// The format.
    Format,
    /// The sheet of a workbook.
    Sheet,
    /// The column that tells rows apart.
    Id,
    /// What to do about labels that a model has not met.
    Unknown,
    /// The table of phenotypes.
    Phenotypes,
    /// The table of covariates.
    CovariateFile,
    /// The columns that are covariates.
    Covariates,
    /// Which allele is counted.
    CountedAllele,
    /// The chromosomes.
    Chromosomes,
    /// The least frequency of the rarer allele.
    MinFrequency,
    /// The largest share that is missing of a variant.
    MaxMissing,
}

impl Setting {
    /// Every setting.
    pub const ALL: [Self; 19] = [
        Self::Target,
        Self::Features,
        Self::Drop,
        Self::Categorical,
        Self::Impute,
        Self::NoHeader,
        Self::Delimiter,
        Self::Decimal,
        Self::Format,
        Self::Sheet,
        Self::Id,
        Self::Unknown,
        Self::Phenotypes,
        Self::CovariateFile,
        Self::Covariates,
        Self::CountedAllele,
        Self::Chromosomes,
        Self::MinFrequency,
        Self::MaxMissing,
    ];
}

/// How the users of a door spell what they set about a file.
pub trait FileWords: Words {
    /// The setting.
    fn setting(&self, setting: Setting) -> &'static str;
}

impl FileWords for Plain {
    fn setting(&self, setting: Setting) -> &'static str {
        match setting {
            Setting::Target => "target",
            Setting::Features => "features",
            Setting::Drop => "drop",
            Setting::Categorical => "categorical",
            Setting::Impute => "impute",
            Setting::NoHeader => "no header",
            Setting::Delimiter => "delimiter",
            Setting::Decimal => "decimal",
            Setting::Format => "format",
            Setting::Sheet => "sheet",
            Setting::Id => "id",
            Setting::Unknown => "unknown",
            Setting::Phenotypes => "phenotypes",
            Setting::CovariateFile => "covariate file",
            Setting::Covariates => "covariates",
            Setting::CountedAllele => "counted allele",
            Setting::Chromosomes => "chromosomes",
            Setting::MinFrequency => "minimal frequency",
            Setting::MaxMissing => "maximal missing share",
        }
    }
}

/// What to do about something that a table cannot be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRemedy {
    /// Not to set what was set.
    Unset(Setting),
    /// To have another type of column, or none.
    ConvertOrDrop,
    /// To fill in the mean.
    FillMean,
    /// To correct what is no number.
    FittedToNumbers,
    /// To say that decimals have a comma.
    DecimalComma,
    /// To ignore labels that a model has not met.
    IgnoreUnknown,
    /// To name a sheet.
    NameSheet,
    /// To name something else.
    Name(Setting),
    /// What no setting can say.
    Do(&'static str),
}

impl FileRemedy {
    /// As advice.
    pub(super) fn text(self, words: &dyn FileWords) -> String {
        match self {
            Self::Unset(setting) => format!("leave {} out", words.setting(setting)),
            Self::ConvertOrDrop => {
                format!("convert it to numbers or text, or leave it out with {}", words.setting(Setting::Drop))
            }
            Self::FillMean => format!(
                "{} mean fills in what the data that the model was fitted to have on average; or leave the row out",
                words.setting(Setting::Impute)
            ),
            Self::FittedToNumbers => "the model was fitted to numbers in this column; correct it".to_owned(),
            Self::DecimalComma => format!("say {} comma if this is a decimal comma", words.setting(Setting::Decimal)),
            Self::IgnoreUnknown => format!(
                "correct it, leave the row out, fit the model to data that have it, or say {} ignore: then the row counts as one \
                 of which this column is not known",
                words.setting(Setting::Unknown)
            ),
            Self::NameSheet => format!("name another one with {}", words.setting(Setting::Sheet)),
            Self::Name(setting) => format!("name others with {}", words.setting(setting)),
            Self::Do(text) => text.to_owned(),
        }
    }
}
