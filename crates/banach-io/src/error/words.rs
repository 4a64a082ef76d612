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
    /// The format.
    Format,
}

impl Setting {
    /// Every setting.
    pub const ALL: [Self; 8] = [
        Self::Target,
        Self::Features,
        Self::Drop,
        Self::Categorical,
        Self::Impute,
        Self::NoHeader,
        Self::Delimiter,
        Self::Format,
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
            Setting::Format => "format",
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
                "{} mean fills in the mean of the data that the model was fitted to; or leave the row out",
                words.setting(Setting::Impute)
            ),
            Self::Do(text) => text.to_owned(),
        }
    }
}
