//! The formats, by their names and first bytes.

use std::{fmt, str::FromStr};

/// How a file is written. Each may be packed by gzip, which its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Fields with commas between them.
    Csv,
    /// Fields with tabs between them.
    Tsv,
    /// Parquet.
    Parquet,
    /// The file format of Arrow IPC, which is also Feather's second version.
    Arrow,
    /// An array of NumPy.
    Npy,
    /// Several arrays of NumPy.
    Npz,
    /// svmlight and LIBSVM: sparse rows.
    Svmlight,
    /// A workbook of Excel, of which one sheet is read.
    Xlsx,
    /// Genotypes of PLINK 1: a `.bed` with a `.bim` and a `.fam` beside it.
    Plink,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Csv,
        Self::Tsv,
        Self::Parquet,
        Self::Arrow,
        Self::Npy,
        Self::Npz,
        Self::Svmlight,
        Self::Xlsx,
        Self::Plink,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Svmlight => "svmlight",
            Self::Xlsx => "xlsx",
            Self::Plink => "plink",
        }
    }

    /// The ends of the names of such files.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Csv => &["csv"],
            Self::Tsv => &["tsv", "tab"],
            Self::Parquet => &["parquet", "pq"],
            Self::Arrow => &["arrow", "feather", "ipc"],
            Self::Npy => &["npy"],
            Self::Npz => &["npz"],
            Self::Svmlight => &["svmlight", "svm", "libsvm"],
            Self::Xlsx => &["xlsx", "xlsm"],
            Self::Plink => &["bed", "bim", "fam"],
        }
    }

    /// The format of a file by its name, also with `.gz` behind it; `None` for names that do not tell.
    pub(super) fn of_name(file: &str) -> Option<Self> {
        let name = file.to_ascii_lowercase();
        let (_, end) = name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?;
        Self::ALL.into_iter().find(|format| format.extensions().contains(&end))
    }

    /// The format that the first bytes tell, for formats that have a mark there.
    pub(super) fn of_bytes(head: &[u8]) -> Option<Self> {
        let marks: [(&[u8], Self); 4] =
            [(b"PAR1", Self::Parquet), (b"ARROW1", Self::Arrow), (b"\x93NUMPY", Self::Npy), (b"\x6c\x1b", Self::Plink)];
        if head.starts_with(b"PK\x03\x04") {
            // An archive: the name of its first part tells of what.
            let first = head.get(30..).unwrap_or_default();
            let of_workbook =
                ["[Content", "_rels", "docProps", "xl/"].iter().any(|name| first.starts_with(name.as_bytes()));
            return Some(if of_workbook { Self::Xlsx } else { Self::Npz });
        }
        marks.into_iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, format)| format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        let known = Self::ALL.into_iter().find(|format| format.name() == text || format.extensions().contains(&text));
        known.ok_or_else(|| format!("one of {}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        assert_eq!(Format::of_name("a.b/data.CSV"), Some(Format::Csv));
        assert_eq!(Format::of_name("data.tab.gz"), Some(Format::Tsv));
        assert_eq!((Format::of_name("data.txt"), Format::of_name("csv"), Format::of_name(".gz")), (None, None, None));
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(Format::of_name(&format!("x.{}", format.extensions()[0])), Some(format));
        }
        assert!("xls".parse::<Format>().is_err_and(|error| error.contains("csv")));
    }
}
